"""Time logs that are evaluated in buckets of users: ``python benchmarks/scale.py`` (28 GB).

Users and items grow with the events. Polars scans and writes the columns that buckets are made of.
What it measures of 1, 10 and 100 million events is what docs/scale.md predicts larger logs by.
"""

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measure import (
    EVENTS,
    ITEMS,
    ROOT,
    SETTLED,
    USERS,
    Bound,
    Process,
    announce,
    bounds,
    exponent,
    interleaved,
    process,
    sized,
    spread,
    synth,
    table,
)

ROUNDS = sized(3, 1)
SMALL = 1_000
SIZES = sized([1_000_000, 10_000_000, 100_000_000], [5_000, 10_000])
ONE = sized(30_000_000, 8_000)
MEMORY = "4GB"
PREPARE = """
import sys
from pathlib import Path
from harness.config import read
from harness.data.buckets import prepared

with prepared(read(Path(sys.argv[1]), sys.argv[2:]).layout()):
    pass
"""
COPY = """
import sys
import polars as pl

frame = pl.scan_csv(sys.argv[1]).select(["t_dat", "customer_id", "article_id"])
frame.sink_parquet(sys.argv[2])
"""
RUN = """
import sys
from harness.cli import app
from harness.evaluation import memory

if sys.argv.pop(1) == "buckets":
    memory.needed = lambda layout: sys.maxsize
app()
"""


def main() -> None:
    announce()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for events in (SMALL, *SIZES, ONE):
            users, items = (whole * events // EVENTS for whole in (USERS, ITEMS))
            synth(scratch / str(events), max(users, 200), max(items, 100), events)
        time.sleep(SETTLED)
        prepare(scratch, SMALL)  # not counted
        times = preparations(scratch)
        done = runs(scratch)
        disk = {n: folder_size(scratch / f"cache-{n}") for n in SIZES}
    report(times, done, disk)


def preparations(scratch: Path) -> dict[str, list[Process]]:
    """Return how long buckets take, and a copy of the columns by Polars, for each size."""
    calls = {}
    for n in SIZES:
        calls[f"buckets {n}"] = lambda n=n: prepare(scratch, n)
        calls[f"copy {n}"] = lambda n=n: copy(scratch, n)
    return in_turn(calls)


def runs(scratch: Path) -> dict[str, list[Process]]:
    """Return how long runs take of what was read before, in buckets and in memory."""
    run(scratch, ONE, "memory")  # keeps the events
    calls = {str(n): lambda n=n: run(scratch, n, "buckets") for n in (SMALL, *SIZES)}
    return in_turn(calls | {"one": lambda: run(scratch, ONE, "memory")})


def in_turn(calls: dict) -> dict[str, list[Process]]:
    found: dict[str, list[Process]] = {name: [] for name in calls}
    timed = {name: lambda name=name: kept(found[name], calls[name]()) for name in calls}
    interleaved(timed, ROUNDS)
    return found


def kept(into: list[Process], done: Process) -> float:
    into.append(done)
    return done.seconds


def prepare(scratch: Path, n: int) -> Process:
    cache = scratch / f"cache-{n}"
    shutil.rmtree(cache, ignore_errors=True)
    return harness(PREPARE, scratch, n, str(ROOT / "configs/demo.toml"), source(scratch, n))


def copy(scratch: Path, n: int) -> Process:
    log, target = scratch / str(n) / "transactions_train.csv", scratch / "copy.parquet"
    return process([sys.executable, "-c", COPY, str(log), str(target)])


def run(scratch: Path, n: int, how: str) -> Process:
    config, out = str(ROOT / "configs/demo.toml"), str(scratch / f"run-{n}")
    options = [
        "--set",
        source(scratch, n),
        "--out",
        out,
        "--memory",
        "1TB" if how == "memory" else MEMORY,
    ]
    return harness(RUN, scratch, n, how, "run", config, "--fresh", *options)


def harness(code: str, scratch: Path, n: int, *given: str) -> Process:
    cache = str(scratch / f"cache-{n}")
    return process([sys.executable, "-c", code, *given], HARNESS_CACHE_DIR=cache)


def source(scratch: Path, n: int) -> str:
    return f'data.path="{scratch / str(n)}"'


def folder_size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def report(
    times: dict[str, list[Process]], done: dict[str, list[Process]], disk: dict[int, int]
) -> None:
    made = {n: middle(times[f"buckets {n}"]) for n in SIZES}
    copied = {n: middle(times[f"copy {n}"]) for n in SIZES}
    print(f"Whole processes, medians of {ROUNDS} rounds in turn.\n")
    rows = [
        (
            f"{n:,}",
            f"{made[n]:.2f}",
            f"{copied[n]:.2f}",
            f"{made[n] / copied[n]:.2f}",
            f"{peak(times[f'buckets {n}']):.2f}",
            f"{disk[n] / n:.1f}",
        )
        for n in SIZES
    ]
    head = ("events", "buckets, s", "Polars, s", "ratio", "peak GB", "bytes on disk an event")
    table(head, rows)
    start = middle(done[str(SMALL)])
    print(f"Runs of four models on what was read before; of {SMALL:,} events {start:.2f} s.\n")
    names = {f"{n:,} in buckets": (n, str(n)) for n in SIZES}
    names |= {f"{ONE:,} in memory": (ONE, "one")}
    rows = [
        (
            name,
            f"{middle(done[key]):.2f}",
            spread([p.seconds for p in done[key]]),
            f"{peak(done[key]):.2f}",
            f"{middle(done[key]) / n * 1e9:.0f}",
        )
        for name, (n, key) in names.items()
    ]
    table(("events", "s", "range", "peak GB", "ns an event"), rows)
    most = SIZES[-1]
    ratio = middle(done[str(most)]) / most / (middle(done["one"]) / ONE)
    both = [made[n] + middle(done[str(n)]) - start for n in SIZES]
    bounds(
        Bound(f"{most:,} events in buckets ÷ {ONE:,} in memory, an event", ratio, 1.5),
        Bound("peak memory of runs in buckets", max(peak(done[str(n)]) for n in SIZES), 4, " GB"),
        Bound(
            "peak memory of making buckets",
            max(peak(times[f"buckets {n}"]) for n in SIZES),
            4,
            " GB",
        ),
        Bound("making buckets ÷ Polars' copy, the largest log", made[most] / copied[most], 1.5),
        Bound("exponent of making and running, in events", exponent(SIZES, both), 1.05),
    )


def middle(done: list[Process]) -> float:
    return statistics.median(p.seconds for p in done)


def peak(done: list[Process]) -> float:
    return max(p.peak for p in done) / 1e9


if __name__ == "__main__":
    main()
