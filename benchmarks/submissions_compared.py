"""Time two full-size submissions compared: ``python benchmarks/submissions_compared.py``.

``harness compare`` of two uploads of H&M's size beside ``harness score`` of one, whole processes in
turn.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

from measure import HARNESS, Bound, announce, bounds, interleaved, process, sized, timed

ROUNDS = sized(5, 1)
MAKE = str(Path(__file__).with_name("submission.py"))


def main() -> None:
    announce()
    with tempfile.TemporaryDirectory() as folder:
        process([sys.executable, MAKE, "make", folder])
        one, other = Path(folder, "good.csv"), Path(folder, "again.csv")
        other.hardlink_to(one)
        against = ["--solution", f"{folder}/solution.csv", "--metric", "MAP@12"]
        lines = {
            "one, scored": [HARNESS, "score", str(one), *against],
            "two, compared": [HARNESS, "compare", str(one), str(other), *against],
        }
        cache = f"{folder}/cache"
        sides = {n: partial(process, line, HARNESS_CACHE_DIR=cache) for n, line in lines.items()}
        process(lines["one, scored"], HARNESS_CACHE_DIR=cache)  # not counted
        done = interleaved(sides, ROUNDS)
    scored, compared = timed("submissions", done)
    bounds(Bound("two compared ÷ one scored", compared / scored, 2.2))


if __name__ == "__main__":
    main()
