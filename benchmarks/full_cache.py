"""Time a run beside a full cache: ``python benchmarks/full_cache.py``.

``harness.run`` of configs/demo.toml in this process, with ``fresh=True`` and the events from the
cache: once with no other finished models in the cache, once with 3,000 of them. A run opens the
entries of its own models alone, so both take the same time.
"""

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from measure import ROOT, Bound, announce, bounds, interleaved, once, sized, spread, table

import harness

MODELS, ROUNDS = sized(3_000, 10), sized(7, 1)


def main() -> None:
    announce()
    with tempfile.TemporaryDirectory() as folder:
        empty, full = Path(folder, "empty"), Path(folder, "full")
        for cache in (empty, full):
            run(cache)  # keeps the events
            run(cache)  # keeps the models
        fill(full / "models")
        run(full)
        sides = {"no others": partial(timed, empty), f"{MODELS:,} others": partial(timed, full)}
        done = interleaved(sides, ROUNDS)
    rows = [(name, f"{median(own):.3f}", spread(own, 3)) for name, own in done.items()]
    table(("finished models in the cache", "s", "range"), rows)
    few, many = map(median, done.values())
    bounds(Bound(f"a run beside {MODELS:,} finished models ÷ beside none", many / few, 1.1))


def run(cache: Path) -> None:
    os.environ["HARNESS_CACHE_DIR"] = str(cache)
    harness.run(ROOT / "configs/demo.toml", fresh=True)


def timed(cache: Path) -> float:
    return once(partial(run, cache))


def fill(models: Path) -> None:
    """Copy a finished model under other names."""
    entry = next(models.iterdir())
    for number in range(MODELS):
        shutil.copytree(entry, models / f"{number:032x}")


if __name__ == "__main__":
    main()
