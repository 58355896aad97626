"""Time a run taken up again, and what lists cost: ``python benchmarks/resume.py``.

``harness run`` on H&M at full size with the twelve models of configs/hm.toml, events from the
cache: evaluated anew, and with nothing left to do, with and without recommendations.parquet. What
that costs is told by the last two, as models take seconds more or less from run to run.
"""

import tempfile
from functools import partial
from pathlib import Path

from measure import (
    HARNESS,
    ROOT,
    Bound,
    Process,
    announce,
    bounds,
    full_hm,
    interleaved,
    process,
    sized,
    timed,
)

ROUNDS = sized(3, 1)
SIDES = {
    "all evaluated": ["--fresh"],
    "nothing to do, without lists": ["--no-recommendations"],
    "nothing to do": [],
}


def main() -> None:
    announce()
    data = full_hm()
    with tempfile.TemporaryDirectory() as folder:
        run(data, folder)  # makes the cache
        run(data, folder, "--fresh")  # a cache that is just made has kept no model
        sides = {name: partial(run, data, folder, *own) for name, own in SIDES.items()}
        done = interleaved(sides, ROUNDS)
        lists = Path(folder, "run", "recommendations.parquet").stat().st_size
    anew, without, again = timed("twelve models", done)
    print(f"recommendations.parquet has {lists / 1e6:.0f} MB.\n")
    bounds(
        Bound("a run with nothing to do", again, 3, " s"),
        Bound("a run with its lists ÷ one without", anew / (anew - (again - without)), 1.05),
    )


def run(data: Path, folder: str, *options: str) -> Process:
    """Run the twelve models."""
    config, source = str(ROOT / "configs/hm.toml"), f'data.path="{data}"'
    command = [HARNESS, "run", config, "--set", source, "--out", "run", *options]
    return process(command, folder, HARNESS_CACHE_DIR=f"{folder}/cache")


if __name__ == "__main__":
    main()
