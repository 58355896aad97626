"""Time ``harness --help`` beside an empty Python: ``python benchmarks/startup.py``."""

import statistics
import sys

from measure import HARNESS, Bound, announce, bounds, interleaved, process, sized, spread, table

ROUNDS = sized(15, 1)
COMMANDS = {
    "`harness --help`": [HARNESS, "--help"],
    "`python -c pass`": [sys.executable, "-c", "pass"],
}


def main() -> None:
    announce()
    calls = {name: lambda line=line: process(line).seconds for name, line in COMMANDS.items()}
    interleaved(calls, 1)
    times = interleaved(calls, ROUNDS)
    medians = {name: statistics.median(values) for name, values in times.items()}
    empty = medians["`python -c pass`"]
    rows = [
        (name, f"{medians[name]:.3f}", spread(times[name], 3), f"{medians[name] / empty:.1f}")
        for name in COMMANDS
    ]
    table((f"median of {ROUNDS} processes, in turn", "s", "range", "× empty"), rows)
    bounds(Bound("`harness --help`", medians["`harness --help`"], 0.2, " s"))


if __name__ == "__main__":
    main()
