"""Time ``harness run`` at full size, with four models: ``python benchmarks/full_run.py``.

The files are made once, in the folder that BENCH_DATA names (4 GB); they are read before the
first round, so that all three sides find them in the page cache.
"""

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from measure import (
    EVENTS,
    USERS,
    Bound,
    Process,
    announce,
    bounds,
    full_hm,
    process,
    run_hm,
    sized,
    spread,
    synth,
    table,
)

ROUNDS = sized(3, 1)
BARE, FIRST, SECOND = "bare scan of three columns (Polars)", "first run", "second run (cache)"
SCAN = """
import sys
import polars as pl
pl.scan_csv(sys.argv[1]).select(["t_dat", "customer_id", "article_id"]).collect()
"""


def main() -> None:
    announce()
    data = full_hm()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        warm(data, scratch)
        rounds = [one_round(data, scratch) for _ in range(ROUNDS)]
    done = {name: [each[name] for each in rounds] for name in rounds[0]}
    report(done)


def warm(data: Path, scratch: Path) -> None:
    """Fill the page cache; it is not counted."""
    synth(scratch / "small", 200, 100, 1_000)
    for _ in range(2):
        run_hm(scratch / "small", scratch, scratch / "small-cache")
    scan(data)


def scan(data: Path) -> Process:
    return process([sys.executable, "-c", SCAN, str(data / "transactions_train.csv")])


def one_round(data: Path, scratch: Path) -> dict[str, Process]:
    cache = scratch / "cache"
    bare = scan(data)
    first = run_hm(data, scratch, cache)
    if not any(cache.iterdir()):
        raise SystemExit("the first run kept nothing; are the files younger than two seconds?")
    second = run_hm(data, scratch, cache)
    shutil.rmtree(cache)
    return {BARE: bare, FIRST: first, SECOND: second}


def report(done: dict[str, list[Process]]) -> None:
    seconds = {name: [p.seconds for p in runs] for name, runs in done.items()}
    peaks = {name: max(p.peak for p in runs) / 1e9 for name, runs in done.items()}
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    print(f"Whole processes, medians of {ROUNDS} rounds in turn; files in the page cache.\n")
    rows = [
        (
            n,
            f"{middle[n]:.2f}",
            spread(seconds[n]),
            f"{middle[n] / middle[BARE]:.2f}",
            f"{peaks[n]:.2f}",
        )
        for n in done
    ]
    table((f"{USERS:,} users, {EVENTS:,} events", "s", "range", "× bare", "peak GB"), rows)
    fastest = {name: min(values) for name, values in seconds.items()}
    print(f"Of the fastest: first ÷ bare {fastest[FIRST] / fastest[BARE]:.2f}, ", end="")
    print(f"second ÷ bare {fastest[SECOND] / fastest[BARE]:.2f}.\n")
    bounds(
        Bound("first run ÷ bare scan", middle[FIRST] / middle[BARE], 2.2),
        Bound("second run ÷ bare scan", middle[SECOND] / middle[BARE], 0.8),
        Bound("peak memory, the largest", max(peaks[n] for n in done if n != BARE), 1.6, " GB"),
    )


if __name__ == "__main__":
    main()
