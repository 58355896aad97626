"""Time ``harness run --engine spark``: ``python benchmarks/spark_run.py`` (6 GB, 2 GB removed).

Users and items grow with the events. The full size is that of BENCH_DATA, as Parquet, which is
made once there. Memory and growth are those of a standalone cluster on this machine, of a master
and two workers of one core and 1 GB, as the tests start it; the ratio is that of ``local[2]``.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import (
    EVENTS,
    HARNESS,
    ITEMS,
    ROOT,
    TINY,
    USERS,
    Bound,
    announce,
    bounds,
    exponent,
    full_hm,
    interleaved,
    sized,
    spread,
    synth,
    table,
)

sys.path.insert(0, str(ROOT / "tests" / "system"))
from spark.conftest import LOOPBACK, Cluster, Daemons, missing

ROUNDS = sized(3, 1)
SMALL = 1_000
SIZES = sized([1_000_000, 10_000_000], [5_000])
FEWER = f"{SIZES[-1]:,}, all items"
"""As many items as at full size, which the driver holds: only users and events are fewer."""
START, LARGEST = f"{SMALL:,}", f"{EVENTS:,}"
HEAP = "512m"
"""Of the driver on the cluster, as docs/scale.md recommends it."""
LOG = "transactions_train.parquet"
LOOK = 0.02
"""Seconds between looks at a process's memory."""
CONFIG = f"""
[data]
layout = "table"
path = "."
events = "{LOG}"
items = "articles.csv"
user = "customer_id"
item = "article_id"
time = "t_dat"
cache = false

[split]
strategy = "time"
valid_days = 7

[evaluation]
k = 12
metrics = ["MAP@12", "Recall@12", "NDCG@12"]

[[models]]
name = "random"
use = "baselines.random_items:RandomItems"
repeats = 10

[[models]]
name = "popular last week"
use = "baselines.popular:Popular"
params = {{ window_days = 7 }}

[[models]]
name = "trending"
use = "baselines.trending:Trending"

[[models]]
name = "repurchase"
use = "baselines.repurchase:Repurchase"
"""
COPY = """
import sys
import polars as pl

frame = pl.scan_csv(sys.argv[1], infer_schema=False)
frame = frame.select(pl.col("t_dat").str.to_date(), "customer_id", "article_id")
frame.sink_parquet(sys.argv[2], row_group_size=1_000_000)
"""


@dataclass(frozen=True)
class Done:
    """A whole process: its seconds, those of steps, what it found, and the most memory it held.

    Attributes
    ----------
    python, java : int
        The most memory that its own process held, and those below it together at any moment.
    """

    seconds: float
    steps: dict[str, float]
    record: Any
    python: int
    java: int

    @property
    def memory(self) -> float:
        """What both held at most, in GB."""
        return (self.python + self.java) / 1e9


def main() -> None:
    announce()
    why = missing() or (None if Path("/proc/self/status").exists() else "memory is read from /proc")
    if why is not None:
        print(f"Left out: {why}.\n")
        return
    full = full_hm()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "run.toml").write_text(CONFIG, encoding="utf-8")
        sources = {f"{events:,}": made(scratch / str(events), events) for events in (SMALL, *SIZES)}
        sources |= {LARGEST: as_parquet(full), FEWER: made(scratch / "fewer", SIZES[-1], ITEMS)}
        print(f"Random × 10, popular last week, trending, repurchase; load {load()}.\n")
        growth(on_cluster(scratch, sources))
        print(f"Full size on local[2] beside a run without Spark; load {load()}.\n")
        ratio(beside(scratch, sources[LARGEST]))


def load() -> str:
    """Return how many processes were running in the last minute, which tells of others."""
    return f"{os.getloadavg()[0]:.1f}"


def made(folder: Path, events: int, items: int = 0) -> Path:
    """Write a log as Parquet; users, and items unless they are given, grow with the events."""
    users = max(USERS * events // EVENTS, 200)
    synth(folder, users, items or max(ITEMS * events // EVENTS, 100), events)
    as_parquet(folder)
    (folder / "transactions_train.csv").unlink()
    return folder


def as_parquet(folder: Path) -> Path:
    """Write the log of a folder as Parquet beside it, if it is not there."""
    if not (folder / LOG).exists():
        log, target = folder / "transactions_train.csv", folder / f"{LOG}.part"
        subprocess.run([sys.executable, "-c", COPY, log, target], check=True)
        target.rename(folder / LOG)
    return folder


def on_cluster(scratch: Path, sources: dict[str, Path]) -> dict[str, list[Done]]:
    """Return runs of each log on a standalone cluster, in turn."""
    done: dict[str, list[Done]] = {name: [] for name in sources}
    own = {"SPARK_LOCAL_IP": LOOPBACK, "SPARK_DRIVER_MEMORY": HEAP}
    if TINY:
        options = ["--engine", "spark", "--master", "local[2]"]
        once = [run(scratch, sources[START], *options, **own)]
        return dict.fromkeys(sources, once)
    with cluster(scratch) as url:
        options = ["--engine", "spark", "--master", url]
        calls = {
            name: kept(done[name], lambda of=of: run(scratch, of, *options, **own))
            for name, of in sources.items()
        }
        run(scratch, sources[START], *options, **own)  # not counted
        interleaved(calls, ROUNDS)
    return done


@contextmanager
def cluster(scratch: Path) -> Iterator[str]:
    folder = scratch / "spark"
    folder.mkdir()
    daemons = Daemons(folder)
    try:
        yield Cluster(daemons).url
    finally:
        daemons.stop()


def kept(into: list[Done], call: Callable[[], Done]) -> Callable[[], float]:
    def once() -> float:
        into.append(call())
        return into[-1].seconds

    return once


def run(scratch: Path, source: Path, *options: str, **environment: str) -> Done:
    """Run the models on a folder, and look at the memory of all its processes meanwhile."""
    out = tempfile.mkdtemp(dir=scratch)
    given = ["--set", f'data.path="{source}"', "--out", f"{out}/run"]
    anew = [] if "--engine" in options else ["--fresh"]
    command = [HARNESS, "run", str(scratch / "run.toml"), *given, *anew, *options]
    python, java, start = 0, 0, time.perf_counter()
    child = subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.DEVNULL)
    while child.poll() is None:
        own, *below = peaks(child.pid) or [0]
        python, java = max(python, own), max(java, sum(below))
        time.sleep(LOOK)
    seconds = time.perf_counter() - start
    if child.returncode != 0:
        raise SystemExit(f"harness run ended with status {child.returncode}")
    record = json.loads(Path(out, "run", "result.json").read_text(encoding="utf-8"))
    return Done(seconds, record.pop("seconds"), timeless(record), python, java)


def peaks(pid: int) -> list[int]:
    """Return the most memory (bytes) that a process has held, and each of those below it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    except OSError:  # it has ended
        return []
    own = [int(line.split()[1]) * 1024 for line in status.splitlines() if "VmHWM" in line]
    return own + [peak for child in children.split() for peak in peaks(int(child))]


def timeless(value: Any) -> Any:
    """Return a record without the seconds."""
    if isinstance(value, dict):
        return {name: timeless(of) for name, of in value.items() if name != "seconds"}
    return [timeless(of) for of in value] if isinstance(value, list) else value


def growth(done: dict[str, list[Done]]) -> None:
    start, events = middle(done[START]), [*SIZES, EVENTS]
    print(f"A standalone cluster of two workers, driver's heap {HEAP}; whole processes, medians of")
    print(f"{ROUNDS} rounds in turn; start (session, a run on {SMALL:,} events) {start:.1f} s.\n")
    head = ("events", "s", "range", "driver's Python, GB", "Java, GB", "both, GB")
    rows = [
        (
            name,
            f"{middle(runs):.1f}",
            spread([of.seconds for of in runs], 1),
            *(f"{max(sizes) / 1e9:.2f}" for sizes in zip(*map(held, runs), strict=True)),
            f"{memory(runs):.2f}",
        )
        for name, runs in done.items()
    ]
    table(head, rows)
    profile(done)
    net = [middle(done[f"{n:,}"]) - start for n in events]
    largest, fewer = memory(done[LARGEST]), memory(done[FEWER])
    bounds(
        Bound("driver's memory, the largest", max(map(memory, done.values())), 1.5, " GB"),
        Bound(f"that of {LARGEST} events ÷ {FEWER}", largest / fewer, 1.1),
        Bound("exponent of the run in events, less start", exponent(events, net), 1.05),
    )


def held(done: Done) -> tuple[int, int]:
    return done.python, done.java


def profile(done: dict[str, list[Done]]) -> None:
    """Print the seconds by step that result.json tells, and what is around them."""
    names = list(next(iter(done.values()))[0].steps)
    rows = []
    for name, runs in done.items():
        typical = sorted(runs, key=lambda one: one.seconds)[len(runs) // 2]
        seconds = [typical.steps.get(step, 0.0) for step in names]
        others = typical.seconds - sum(seconds)
        rows.append((name, *(f"{s:.1f}" for s in [*seconds, others])))
    table(("seconds", *names, "before and after"), rows)


def beside(scratch: Path, full: Path) -> dict[str, list[Done]]:
    """Return first runs at full size, with Spark and without, nothing kept, in turn."""
    done: dict[str, list[Done]] = {"local[2]": [], "without Spark": []}
    options = {"local[2]": ["--engine", "spark", "--master", "local[2]"], "without Spark": []}
    own = {"SPARK_LOCAL_IP": LOOPBACK}
    calls = {
        name: kept(done[name], lambda given=given: run(scratch, full, *given, **own))
        for name, given in options.items()
    }
    interleaved(calls, ROUNDS)
    records = [of.record for runs in done.values() for of in runs]
    if any(record != records[0] for record in records):
        raise SystemExit("the runs found different things")
    return done


def ratio(done: dict[str, list[Done]]) -> None:
    head = (f"{USERS:,} users, {EVENTS:,} events", "s", "range")
    table(
        head,
        [(n, f"{middle(r):.1f}", spread([of.seconds for of in r], 1)) for n, r in done.items()],
    )
    on_spark = {"local[2]": done["local[2]"]}
    profile(on_spark)
    found, without = (middle(runs) for runs in done.values())
    bounds(Bound("local[2] ÷ without Spark, session start included", found / without, 4))


def middle(done: list[Done]) -> float:
    return statistics.median(of.seconds for of in done)


def memory(done: list[Done]) -> float:
    return max(of.memory for of in done)


if __name__ == "__main__":
    main()
