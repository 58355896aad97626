"""Time `harness.evaluate` on frames of text ids beside others: ``python benchmarks/evaluate.py``.

Prints Markdown. The frames are written to Parquet in a temporary folder, from which this harness,
hand-written Polars and the peers read them; reading is never counted. RePlay, RecTools and ranx
need an environment of their own, pandas 2 among them; name its interpreter in PEERS_PYTHON. A tool
that is not there is left out.
"""

import ctypes
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
from measure import (
    ROOT,
    Bound,
    announce,
    bounds,
    exponent,
    interleaved,
    median,
    once,
    sized,
    spread,
    table,
)

from harness import evaluate

K, ITEMS = 12, 100_000
SMALL, MIDDLE, LARGE = sized((10_000, 100_000, 1_000_000), (200, 1_000, 2_000))
SIZES = [SMALL, MIDDLE, LARGE]
ROUNDS, PEER_ROUNDS = sized((5, 3), (1, 1))
METRICS = [f"{name}@{K}" for name in ("MAP", "NDCG", "Recall")]
OTHERS = ("Precision", "F1", "HitRate", "MRR", "RPrecision", "pFound", "MAP(divisor=trec)")
TEN = METRICS + [f"{name}@{K}" for name in OTHERS]
OURS, OURS_MAP, OURS_TEN = (f"this harness, {what}" for what in ("three metrics", "MAP", "ten"))
Frames = tuple[pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True)
class Peer:
    """A tool, its module, the script that times it, how many times faster we are to be, and where.

    `rounds` maps the numbers of users that it is measured at to how often.
    """

    name: str
    module: str
    script: str
    factor: int
    rounds: dict[int, int]


ALL_SIZES = {MIDDLE: PEER_ROUNDS, LARGE: PEER_ROUNDS}
PEERS = (
    Peer("RePlay on Polars frames", "replay", "replay_evaluate", 3, ALL_SIZES),
    Peer("RecTools", "rectools", "rectools_evaluate", 5, ALL_SIZES),
    Peer("ranx", "ranx", "ranx_evaluate", 50, ALL_SIZES | {LARGE: 1}),
)


def main() -> None:
    if sys.argv[1:2] == ["memory"]:
        measure_memory(Path(sys.argv[2]), sys.argv[3])
        return
    announce()
    print(
        f"{os.cpu_count()} processors, Polars {pl.__version__}, pandas {pd.__version__}. Lists of"
    )
    print(f"{K} as a pandas frame of user, item and rank; truth of three rows a user or so, in any")
    print("order; all ids are text. Medians of rounds in turn.\n", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folders = {users: write_frames(Path(scratch) / str(users), users) for users in SIZES}
        memory(folders[LARGE])
        against_polars(folders)
        more_metrics(read_frames(folders[LARGE]))
        growth(folders)
        against_peers(folders)


def write_frames(folder: Path, users: int) -> Path:
    """Write lists (users in random order) and truth (rows in random order) as Parquet files."""
    draw = np.random.default_rng(2020)
    lists = distinct_items(draw, users)
    owner = np.concatenate((np.arange(users), draw.integers(0, users, 2 * users)))
    true = skewed_items(draw, len(owner))
    hit = draw.random(len(owner)) < 0.1
    true[hit] = lists[owner[hit], draw.integers(0, K, hit.sum())]
    order, rank = draw.permutation(users), np.tile(np.arange(1, K + 1), users)
    folder.mkdir()
    recs = {"user": np.repeat(order, K), "item": lists[order].ravel(), "rank": rank}
    with_text(pl.DataFrame(recs)).write_parquet(folder / "recs.parquet")
    truth = with_text(pl.DataFrame({"user": owner, "item": true})).unique()
    truth.sample(fraction=1, shuffle=True, seed=2020).write_parquet(folder / "truth.parquet")
    return folder


def skewed_items(draw: np.random.Generator, shape: int | tuple[int, int]) -> Any:
    """Return items, the first ones the most popular."""
    return (ITEMS * draw.random(shape) ** 2).astype(np.int32)


def distinct_items(draw: np.random.Generator, users: int) -> Any:
    """Return lists in which no item stands twice: those where one does are drawn again."""
    lists = skewed_items(draw, (users, K))
    again = np.arange(users)
    while len(again) > 0:
        ordered = np.sort(lists[again], axis=1)
        again = again[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        lists[again] = skewed_items(draw, (len(again), K))
    return lists


def with_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with ids such as u000000123 and 0108000123."""
    user, item = pl.col("user").cast(pl.String), (pl.col("item") + 108_000_000).cast(pl.String)
    return frame.with_columns(user=pl.lit("u") + user.str.zfill(9), item=item.str.zfill(10))


def read_frames(folder: Path) -> Frames:
    """Return lists and truth; pandas keeps their text in Arrow arrays."""
    recs, truth = (pd.read_parquet(folder / f"{name}.parquet") for name in ("recs", "truth"))
    return recs, truth


def ours(frames: Frames, metrics: str | list[str]) -> dict[str, float]:
    values: dict[str, float] = evaluate(*frames, metrics).to_dict()
    return values


# Hand-written Polars: MAP alone. To its advantage the queries trust what `evaluate` checks: that
# ids are there, ranks whole numbers from 1 to k, and none given twice.


def grouped(recs: pl.LazyFrame, truth: pl.LazyFrame) -> pl.LazyFrame:
    """Keep the hits, sum each user's P(i) over the sorted ranks of the hits."""
    truth = truth.unique()
    hits = recs.join(truth, on=["user", "item"], how="semi")
    return mean_precision(hits, truth.group_by("user").len("relevant"))


def hashed(recs: pl.LazyFrame, truth: pl.LazyFrame) -> pl.LazyFrame:
    """Do as `grouped` does with 64-bit hashes for ids, which are equal for equal ids at least."""
    user, item = pl.col("user").hash(), pl.col("item").hash(1)
    recs = recs.select("rank", user=user, pair=user ^ item)
    truth = truth.select(user=user, pair=user ^ item).unique()
    hits = recs.join(truth, on="pair", how="semi")
    return mean_precision(hits, truth.group_by("user").len("relevant"))


def mean_precision(hits: pl.LazyFrame, users: pl.LazyFrame) -> pl.LazyFrame:
    """Return the mean of AP@k over all users, those without a hit included."""
    precision = pl.int_range(1, pl.len() + 1) / pl.col("rank").sort()
    sums = hits.group_by("user").agg(sum=precision.sum())
    value = pl.col("sum") / pl.col("relevant").clip(upper_bound=K)
    return users.join(sums, on="user", how="left").select(value.fill_null(0).mean())


def windowed(recs: pl.LazyFrame, truth: pl.LazyFrame) -> pl.LazyFrame:
    """Count each user's hits in a window, divide the sum of all by the number of users."""
    truth = truth.unique().with_columns(relevant=pl.len().over("user"))
    hits = recs.join(truth, on=["user", "item"]).sort("rank")
    count = pl.col("rank").cum_count().over("user")
    value = count / pl.col("rank") / pl.col("relevant").clip(upper_bound=K)
    users = truth.select(users=pl.col("user").n_unique())
    total = hits.select(total=value.sum())
    return total.join(users, how="cross").select(pl.col("total") / pl.col("users"))


QUERIES = {
    "join and group": grouped,
    "join and window": windowed,
    "join and group, 64-bit hashes for ids": hashed,
}
POLARS = {
    f"Polars, {name}, {engine}": (query, engine)
    for name, query in QUERIES.items()
    for engine in ("in-memory", "streaming")
}


def by_polars(frames: Frames, name: str) -> float:
    query, engine = POLARS[name]
    recs, truth = (pl.from_pandas(frame).lazy() for frame in frames)
    value: float = query(recs, truth).collect(engine=engine).item()  # type: ignore[call-overload]
    return value


def against_polars(folders: dict[int, Path]) -> None:
    """Compare with MAP written by hand, taken from the same pandas frames."""
    check_polars(read_frames(folders[SMALL]))
    frames = read_frames(folders[LARGE])
    check_polars(frames)
    calls: dict[str, Callable[[], float]] = {
        OURS: lambda: once(lambda: ours(frames, METRICS)),
        OURS_MAP: lambda: once(lambda: ours(frames, METRICS[0])),
        **{name: lambda name=name: once(lambda: by_polars(frames, name)) for name in POLARS},  # type: ignore[misc]
    }
    times = interleaved(calls, ROUNDS)
    middle = {name: statistics.median(values) for name, values in times.items()}
    rows = [
        (name, f"{s:.2f}", spread(times[name]), f"{s / middle[OURS_MAP]:.2f}")
        for name, s in middle.items()
    ]
    table((f"{LARGE:,} users", "s", "range", "× our MAP"), rows)
    best = min(middle[name] for name in POLARS)
    bounds(
        Bound("MAP ÷ the fastest Polars, MAP alone", middle[OURS_MAP] / best, 1),
        Bound("three metrics ÷ the fastest Polars, MAP alone", middle[OURS] / best, 1),
    )


def check_polars(frames: Frames) -> None:
    expected = ours(frames, METRICS[0])[METRICS[0]]
    for name in POLARS:
        if abs((found := by_polars(frames, name)) - expected) > 1e-12:
            raise SystemExit(f"{name}: {found} is not {expected}")


def more_metrics(frames: Frames) -> None:
    calls: dict[str, Callable[[], float]] = {
        OURS_MAP: lambda: once(lambda: ours(frames, METRICS[0])),
        OURS_TEN: lambda: once(lambda: ours(frames, TEN)),
    }
    times = interleaved(calls, ROUNDS)
    middle = {name: statistics.median(values) for name, values in times.items()}
    rows = [(name, f"{s:.2f}", spread(times[name])) for name, s in middle.items()]
    table((f"{LARGE:,} users", "s", "range"), rows)
    bounds(Bound("ten metrics ÷ one", middle[OURS_TEN] / middle[OURS_MAP], 2))


def growth(folders: dict[int, Path]) -> None:
    seconds = []
    for users in SIZES:
        frames = read_frames(folders[users])
        seconds.append(median(lambda frames=frames: ours(frames, METRICS), ROUNDS))  # type: ignore[misc]
    rows = [
        (f"{users:,}", f"{s:.3f}", f"{s / users * 1e9:,.0f}")
        for users, s in zip(SIZES, seconds, strict=True)
    ]
    table(("three metrics, users", "s", "ns a user"), rows)
    bounds(Bound("exponent of the time in users", exponent(SIZES, seconds), 1.05))


def memory(folder: Path) -> None:
    """Measure fresh processes, in half of which a call on a single row has imported everything."""
    seen: dict[str, list[dict[str, int]]] = {"first call": [], "everything imported": []}
    for _ in range(ROUNDS):
        for start, each in seen.items():
            each.append(memory_of(folder, start))
    rows = [
        (what, *(in_megabytes([one[what] for one in each]) for each in seen.values()))
        for what in seen["first call"][0]
    ]
    table((f"three metrics, {LARGE:,} users, MB", *seen), rows)
    print("What reading left behind is given back before the call (collection, Arrow's pool, which")
    print("is the system's here, malloc_trim), else it would hide growth; the peak starts anew.")
    print(f"Medians of {ROUNDS} processes: threads meet differently in each.\n")
    bounds(
        *(
            Bound(f"(frames + growth) ÷ frames, {start}", median_ratio(each), 2)
            for start, each in seen.items()
        )
    )


def in_megabytes(sizes: list[int]) -> str:
    """Return the median, and the range where there is one."""
    middle = f"{statistics.median(sizes) / 1e6:,.0f}"
    return (
        middle if min(sizes) == max(sizes) else f"{middle} ({spread([s / 1e6 for s in sizes], 0)})"
    )


def median_ratio(each: list[dict[str, int]]) -> float:
    return statistics.median(1 + one[GROWTH] / one[FRAMES] for one in each)


FRAMES, GROWTH = "the frames, memory_usage(deep=True)", "growth: peak less what was held"


def memory_of(folder: Path, start: str) -> dict[str, int]:
    """Return what a process sees of itself; Arrow takes memory that it can give back."""
    command = [sys.executable, __file__, "memory", str(folder), start]
    variables = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    seen: dict[str, int] = json.loads(done.stdout)
    return seen


def measure_memory(folder: Path, start: str) -> None:
    """Print as JSON what the frames take and by how much memory grows in a call."""
    frames = read_frames(folder)
    if start == "everything imported":
        row = pd.DataFrame({"user": ["u"], "item": ["i"], "rank": [1]})
        ours((row, row[["user", "item"]]), METRICS)
    held = settle()
    evaluate(*frames, METRICS)
    peak = status("VmHWM")
    size = sum(int(frame.memory_usage(deep=True).sum()) for frame in frames)
    seen = {FRAMES: size, "held before the call": held, "peak of the call": peak}
    print(json.dumps(seen | {GROWTH: peak - held}))


def settle() -> int:
    """Give freed memory back to the system, forget the peak, return what is held (RSS, Linux)."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def status(name: str) -> int:
    """Return a size that the system tells of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def against_peers(folders: dict[int, Path]) -> None:
    interpreter = os.environ.get("PEERS_PYTHON")
    rows, checks = [], []
    for peer in PEERS:
        if not interpreter or not has(interpreter, peer.module):
            print(f"{peer.name} left out: PEERS_PYTHON names no interpreter that has it.\n")
            continue
        for users in peer.rounds:
            seconds, seen = beside(interpreter, peer, users, folders[users])
            ratio = seconds / seen["seconds"]
            rows.append(peer_row(peer, users, seconds, seen))
            checks.append(Bound(f"ours ÷ {peer.name}, {users:,} users", ratio, 1 / peer.factor))
    if rows:
        table(("three metrics", "users", "s", "making its own form", "ours, s", "× ours"), rows)
        bounds(*checks)


def peer_row(peer: Peer, users: int, seconds: float, seen: dict[str, Any]) -> tuple[str, ...]:
    making = f"{seen['making']:.1f}" if "making" in seen else "–"
    theirs = seen["seconds"]
    cells = f"{theirs:.2f}", making, f"{seconds:.2f}", f"{theirs / seconds:.1f}"
    return (peer.name, f"{users:,}", *cells)


def beside(interpreter: str, peer: Peer, users: int, folder: Path) -> tuple[float, dict[str, Any]]:
    """Return our seconds, before and after it, and what the peer's script says of itself."""
    frames = read_frames(folder)
    call = partial(ours, frames, METRICS)
    seconds = [median(call, PEER_ROUNDS)]
    seen = run_peer(interpreter, peer, peer.rounds[users], folder)
    seconds.append(median(call, PEER_ROUNDS))
    for metric, value in ours(frames, [*METRICS, f"MAP(divisor=trec)@{K}"]).items():
        if metric in seen["values"] and abs(seen["values"][metric] - value) > 1e-6:
            raise SystemExit(f"{peer.name}, {metric}: {seen['values'][metric]} is not {value}")
    return statistics.mean(seconds), seen


def run_peer(interpreter: str, peer: Peer, rounds: int, folder: Path) -> dict[str, Any]:
    """Run a peer's script and return the object that it prints last."""
    script = str(ROOT / f"benchmarks/peers/{peer.script}.py")
    own = {"DATA": str(folder), "ROUNDS": str(rounds), "PYTHONPATH": ""}
    done = subprocess.run(
        [interpreter, script], env=os.environ | own, stdout=subprocess.PIPE, text=True, check=True
    )
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def has(interpreter: str, module: str) -> bool:
    code = f"import importlib.util as u; raise SystemExit(u.find_spec({module!r}) is None)"
    return subprocess.run([interpreter, "-c", code], check=False).returncode == 0


if __name__ == "__main__":
    main()
