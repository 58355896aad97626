"""Time four folds against one: ``python benchmarks/folds.py``.

``harness run`` on H&M at full size with the four models of configs/demo.toml, from the cache:
its last week, and its last four weeks.
"""

import tempfile
from functools import partial
from pathlib import Path

from measure import Bound, announce, bounds, full_hm, interleaved, run_hm, sized, timed

ROUNDS = sized(3, 1)


def main() -> None:
    announce()
    data = full_hm()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        cache = scratch / "cache"
        run_hm(data, scratch, cache)  # makes the cache
        sides = {
            f"{folds} of 7 days": partial(run_hm, data, scratch, cache, folds=folds)
            for folds in (1, 4)
        }
        done = interleaved(sides, ROUNDS)
    one, four = timed("folds", done)
    bounds(Bound("four folds ÷ one", four / one, 4.2))


if __name__ == "__main__":
    main()
