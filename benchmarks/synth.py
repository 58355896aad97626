"""Write H&M files of full size: ``python benchmarks/synth.py`` (needs 4 GB of temporary space)."""

import statistics
import tempfile
from pathlib import Path

from measure import EVENTS, ITEMS, USERS, Bound, announce, bounds, sized, spread, synth, table

ROUNDS = sized(3, 1)


def main() -> None:
    announce()
    seconds, peaks = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as scratch:
            done = synth(Path(scratch) / "hm", USERS, ITEMS, EVENTS)
            size = sum(path.stat().st_size for path in (Path(scratch) / "hm").iterdir())
        seconds.append(done.seconds)
        peaks.append(done.peak / 1e9)
    middle = statistics.median(seconds)
    print(f"{USERS:,} users, {ITEMS:,} items, {EVENTS:,} events; {ROUNDS} whole processes.\n")
    cells = (f"{middle:.1f}", spread(seconds, 1), f"{size / 1e9:.2f}", f"{size / middle / 1e6:.0f}")
    table(
        ("s", "range", "GB written", "MB/s", "peak GB"),
        [(*cells, f"{statistics.median(peaks):.2f}")],
    )
    bounds(Bound("peak memory, the largest", max(peaks), 2, " GB"))


if __name__ == "__main__":
    main()
