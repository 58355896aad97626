"""Time models side by side: ``python benchmarks/jobs.py``.

``harness run`` on H&M at full size, events from the cache, every model evaluated anew, with
``--jobs 1`` and ``--jobs 2`` in turn: four models that use one thread (BPR, but for its lists, an
eighth of its time), the twelve of configs/hm.toml, of which ALS is most of the work and uses all
processors, and the four of configs/demo.toml, which are done before a second process is worth
starting.
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
BPR = """
[[models]]
name = "BPR, {factors} factors"
use = "baselines.bpr:BPR"
params = {{ factors = {factors}, iterations = {iterations}, window_days = 90 }}
"""


def main() -> None:
    announce()
    data = full_hm()
    with tempfile.TemporaryDirectory() as folder:
        sets = {
            "four of one thread": one_thread(Path(folder)),
            "twelve of configs/hm.toml": ROOT / "configs/hm.toml",
            "four of configs/demo.toml": ROOT / "configs/demo.toml",
        }
        run(data, folder, sets["four of configs/demo.toml"], 1)  # makes the cache
        sides = {
            f"{name}, --jobs {jobs}": partial(run, data, folder, config, jobs)
            for name, config in sets.items()
            for jobs in (1, 2)
        }
        done = interleaved(sides, ROUNDS)
    seconds = timed("models", done)
    ratios = [two / one for one, two in zip(seconds[::2], seconds[1::2], strict=True)]
    bounds(
        *(
            Bound(f"{name}: two processes ÷ one", ratio, most)
            for name, ratio, most in zip(sets, ratios, (0.7, 1.05, 1.05), strict=True)
        )
    )


def one_thread(folder: Path) -> Path:
    """Write a config of models that use one thread."""
    head = (ROOT / "configs/demo.toml").read_text(encoding="utf-8").partition("[[models]]")[0]
    models = [BPR.format(factors=n, iterations=sized(25, 1)) for n in (12, 16, 20, 24)]
    path = folder / "one-thread.toml"
    path.write_text(head + "".join(models), encoding="utf-8")
    return path


def run(data: Path, folder: str, config: Path, jobs: int) -> Process:
    """Run the models of a config anew."""
    source = f'data.path="{data}"'
    command = [HARNESS, "run", str(config), "--set", source, "--out", "run", "--fresh"]
    return process([*command, "--jobs", str(jobs)], folder, HARNESS_CACHE_DIR=f"{folder}/cache")


if __name__ == "__main__":
    main()
