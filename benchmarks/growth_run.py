"""Time first runs over growing data: ``python benchmarks/growth_run.py`` (needs 14 GB, removed).

Users and items grow with the events. A fixed start-up, the time of a run on 1,000 events, is taken
off before the exponent is fitted.
"""

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measure import (
    EVENTS,
    ITEMS,
    SETTLED,
    USERS,
    Bound,
    announce,
    bounds,
    exponent,
    interleaved,
    run_hm,
    sized,
    spread,
    synth,
    table,
)

ROUNDS = sized(3, 1)
SMALL = 1_000
SIZES = sized([1_000_000, 10_000_000, 100_000_000], [5_000, 10_000])


def main() -> None:
    announce()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        make(scratch)
        calls = {str(n): lambda n=n: first_run(scratch, n) for n in (SMALL, *SIZES)}
        first_run(scratch, SMALL)  # not counted
        times = interleaved(calls, ROUNDS)
    report({int(name): values for name, values in times.items()})


def make(scratch: Path) -> None:
    synth(scratch / str(SMALL), 200, 100, SMALL)
    for events in SIZES:
        users, items = (whole * events // EVENTS for whole in (USERS, ITEMS))
        synth(scratch / str(events), users, items, events)
    time.sleep(SETTLED)


def first_run(scratch: Path, events: int) -> float:
    cache = scratch / "cache"
    done = run_hm(scratch / str(events), scratch, cache)
    shutil.rmtree(cache)
    return done.seconds


def report(times: dict[int, list[float]]) -> None:
    middle = {events: statistics.median(values) for events, values in times.items()}
    start = middle[SMALL]
    print(f"First runs, whole processes, medians of {ROUNDS} rounds in turn;")
    print(f"start-up (a run on {SMALL:,} events) {start:.2f} s.\n")
    rows = [
        (f"{n:,}", f"{middle[n]:.2f}", spread(times[n]), f"{(middle[n] - start) / n * 1e9:.0f}")
        for n in SIZES
    ]
    table(("events", "s", "range", "ns an event, less start-up"), rows)
    fits = list(each_round(times))
    steps = [exponent(SIZES[i : i + 2], net(middle)[i : i + 2]) for i in range(len(SIZES) - 1)]
    print(f"From size to size: {', '.join(f'{s:.2f}' for s in steps)}. ", end="")
    print(f"Fitted to each round alone: {spread(fits)}; so much is noise.\n")
    bounds(Bound("exponent of the run in events", exponent(SIZES, net(middle)), 1.05))


def net(seconds: dict[int, float]) -> list[float]:
    """Return the time of each size less the start-up."""
    return [seconds[events] - seconds[SMALL] for events in SIZES]


def each_round(times: dict[int, list[float]]) -> Iterator[float]:
    for at in range(ROUNDS):
        yield exponent(SIZES, net({events: values[at] for events, values in times.items()}))


if __name__ == "__main__":
    main()
