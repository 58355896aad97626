"""Time `harness.spark.evaluate` beside RePlay's: ``python benchmarks/spark_evaluate.py``.

Prints Markdown. Both read the Parquet files of `evaluate.py` with Spark's own reader, on
``local[2]``, so reading counts; starting a session does not. RePlay needs an environment of its
own, with an older PySpark (peers/requirements-spark.txt); name its interpreter in PEERS_PYTHON.
"""

import importlib.util
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from evaluate import METRICS, Peer, has, read_frames, run_peer, write_frames
from measure import Bound, announce, bounds, once, sized, spread, table

import harness

USERS = sized(1_000_000, 200)
ROUNDS, PEER_ROUNDS = sized((3, 1), (1, 1))
REPLAY = Peer("RePlay on Spark", "replay", "replay_spark_evaluate", 3, {USERS: PEER_ROUNDS})


def main() -> None:
    announce()
    if importlib.util.find_spec("pyspark") is None:
        print("Left out: PySpark is not installed (make spark).\n")
        return
    warnings.simplefilter("ignore", FutureWarning)  # of PySpark over pandas 3
    from harness.spark.session import session

    with tempfile.TemporaryDirectory() as scratch:
        folder = write_frames(Path(scratch) / "frames", USERS)
        start = time.perf_counter()
        with session("local[2]") as spark:
            started = time.perf_counter() - start
            print(f"local[2], Spark {spark.version}; {USERS:,} users with lists of 12, text ids;")
            print(f"three metrics. The session started in {started:.1f} s.\n", flush=True)
            measure(spark, folder)


def measure(spark: Any, folder: Path) -> None:
    check(spark, folder)
    frames = read_frames(folder)
    local = [once(lambda: harness.evaluate(*frames, METRICS)) for _ in range(ROUNDS)]
    before = rounds(lambda: ours(spark, folder))
    seen = peer(folder)
    times = before + rounds(lambda: ours(spark, folder))
    middle = statistics.median(times)
    rows = [
        ("this harness on Spark", f"{middle:.1f}", spread(times, 1), "1"),
        row("this harness in memory, frames read", statistics.median(local), middle),
    ]
    rows += [row(REPLAY.name, seen["seconds"], middle)] if seen else []
    table((f"{12 * USERS:,} rows, three metrics", "s", "range", "× ours on Spark"), rows)
    if seen:
        most = 1 / REPLAY.factor
        bounds(Bound(f"ours ÷ {REPLAY.name}, {USERS:,} users", middle / seen["seconds"], most))


def row(name: str, seconds: float, ours: float) -> tuple[str, ...]:
    return name, f"{seconds:.2f}", "", f"{seconds / ours:.2f}"


def rounds(call: Callable[[], Any]) -> list[float]:
    return [once(call) for _ in range(ROUNDS)]


def ours(spark: Any, folder: Path) -> pd.Series:
    sides = (spark.read.parquet(str(folder / f"{name}.parquet")) for name in ("recs", "truth"))
    from harness.spark import evaluate

    found = evaluate(*sides, METRICS)
    assert isinstance(found, pd.Series)  # noqa: S101
    return found


def check(spark: Any, folder: Path) -> None:
    """End where the values are not those of `harness.evaluate`, to the last bit."""
    found, expected = ours(spark, folder), harness.evaluate(*read_frames(folder), METRICS)
    if found.to_dict() != expected.to_dict():
        raise SystemExit(f"on Spark {found.to_dict()}, in memory {expected.to_dict()}")


def peer(folder: Path) -> dict[str, Any] | None:
    """Return what RePlay's script says of itself."""
    interpreter = os.environ.get("PEERS_PYTHON")
    if not interpreter or not all(has(interpreter, name) for name in ("replay", "pyspark")):
        print("RePlay left out: PEERS_PYTHON names no interpreter that has it and PySpark.\n")
        return None
    seen = run_peer(interpreter, REPLAY, PEER_ROUNDS, folder)
    for metric, value in harness.evaluate(*read_frames(folder), METRICS).items():
        if abs(seen["values"][metric] - value) > 1e-6:
            raise SystemExit(f"RePlay, {metric}: {seen['values'][metric]} is not {value}")
    return seen


if __name__ == "__main__":
    main()
