"""Time resampling and comparisons: ``python benchmarks/comparison.py``.

Beside it scipy's percentile bootstrap, metric by metric, on the same scores.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from measure import (
    HARNESS,
    ROOT,
    Bound,
    announce,
    bounds,
    interleaved,
    process,
    run_python,
    sized,
    spread,
    table,
)

USERS, MODELS, METRICS, RESAMPLES = sized((100_000, 10, 6, 10_000), (500, 2, 2, 200))
PAIRED_USERS, PAIRED_MODELS = sized(1_000_000, 500), 20
SHOP = sized(("60000", "8000", "900000"), ("500", "100", "5000"))
ROUNDS = sized(3, 1)
SCIPY_COLUMNS = 2  # of the 60; scipy takes as long for each

SCORES = """
import time
import numpy as np
from harness.core.random import mixed
def hashes(users):
    return mixed(np.arange(1, users + 1, dtype=np.uint64))
def scores(users, columns, share):
    rng = np.random.default_rng(1)
    hit = rng.random((users, columns)) < share
    return np.where(hit, 1 / rng.integers(1, 13, (users, columns)), 0.0)
"""
OURS = (
    SCORES
    + """
from harness.stats.resampling import exponents, resampled_means, resampled_sums
def bootstrap(x, users, resamples, seed=0):
    grid = exponents(x.max(axis=0), len(x))
    sums, drawn = resampled_sums(x, users, grid, resamples, seed)
    return resampled_means(sums, drawn, grid)
x = scores({users}, {columns}, {share})
users = hashes({users})
bootstrap(x[:100], users[:100], 100)
start = time.perf_counter()
np.quantile(bootstrap(x, users, {resamples}, seed=1), [0.025, 0.975], axis=0)
print(time.perf_counter() - start)
"""
)
SCIPY = (
    SCORES
    + """
from scipy import stats
x = scores({users}, {columns}, {share})
start = time.perf_counter()
for column in x.T:
    stats.bootstrap((column,), np.mean, n_resamples={resamples}, method="percentile", batch=100,
                    rng=np.random.default_rng(1))
print(time.perf_counter() - start)
"""
)
PAIRS = (
    SCORES
    + """
import polars as pl
from harness.core.exact_sum import of_one
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.figures import figures_of
from harness.stats.paired import Rules
from harness.stats.slices import ProfiledUsers
metric = parse("MAP@12")

def compare(tables, users, resamples):
    scored = ProfiledUsers(users, tables, pl.DataFrame())
    return figures_of(of_one(scored), list(tables), [metric], Rules(resamples=resamples)).comparison

x = scores({users}, {columns}, {share})
tables = {{f"m{{i}}": ScoreTable({{metric: column[None, :]}}) for i, column in enumerate(x.T)}}
few = {{name: ScoreTable({{metric: t.values[metric][:, :100]}}) for name, t in tables.items()}}
users = hashes({users})
compare(few, users[:100], 100)
start = time.perf_counter()
assert len(compare(tables, users, {resamples}).pairs) == 190
print(time.perf_counter() - start)
"""
)

CONFIG = """
[data]
layout = "hm"
path = "data"
[split]
strategy = "time"
[compare]
slices = ["age", "club_member_status"]
[[models]]
name = "random"
use = "baselines.random_items:RandomItems"
repeats = 5
"""
MODEL = """
[[models]]
name = "popular {0}"
use = "baselines.popular:Popular"
params = {{ window_days = {0} }}
"""


def main() -> None:
    announce()
    columns = MODELS * METRICS
    ours = {
        share: OURS.format(users=USERS, columns=columns, share=share, resamples=RESAMPLES)
        for share in (0.1, 1.0)
    }
    scipy = SCIPY.format(users=USERS, columns=SCIPY_COLUMNS, share=0.1, resamples=RESAMPLES)
    scale = columns / SCIPY_COLUMNS
    seconds = interleaved(
        {
            "a tenth of the scores above 0": lambda: run_python(sys.executable, ours[0.1]),
            "every score above 0": lambda: run_python(sys.executable, ours[1.0]),
            "scipy, metric by metric ¹": lambda: run_python(sys.executable, scipy) * scale,
        },
        ROUNDS,
    )
    sparse, dense, theirs = (statistics.median(times) for times in seconds.values())
    print(f"{RESAMPLES:,} resamples, {METRICS} metrics, {MODELS} models, {USERS:,} users:\n")
    rows = [
        [name, f"{statistics.median(times):.2f}", spread(times)] for name, times in seconds.items()
    ]
    table(("", "seconds", "of all rounds"), rows)
    print(f"¹ Measured on {SCIPY_COLUMNS} columns of {columns}, which are all alike, and scaled.\n")
    paired = PAIRS.format(users=PAIRED_USERS, columns=PAIRED_MODELS, share=0.1, resamples=RESAMPLES)
    pairs = statistics.median(run_python(sys.executable, paired) for _ in range(ROUNDS))
    bounds(
        Bound("bootstrap ÷ scipy, a tenth of the scores above 0", sparse / theirs, 1 / 10),
        Bound("the same, every score above 0", dense / theirs, 1 / 10),
        Bound("its peak memory", _peak(ours[1.0]), 1, " GB"),
        Bound(f"190 pairs of 20 models, {PAIRED_USERS:,} users", pairs, 18, " s"),
        Bound("its peak memory", _peak(paired), 2, " GB"),
        Bound("report of a run of 10 models, the whole process", _report(), 3, " s"),
    )


def _peak(code: str) -> float:
    return process([sys.executable, "-c", code], PYTHONPATH=str(ROOT)).peak / 1e9


def _report() -> float:
    """Return the median seconds of ``harness report`` for a run on a made-up competition."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sizes = zip(("--users", "--items", "--events"), SHOP, strict=True)
        options = [
            "--out",
            str(folder / "data"),
            "--seed",
            "1",
            *(t for pair in sizes for t in pair),
        ]
        process([HARNESS, "synth", "hm", *options])
        (folder / "ten.toml").write_text(CONFIG + "".join(map(MODEL.format, range(1, 10))))
        process([HARNESS, "run", "ten.toml", "--out", "run"], cwd=folder)
        report = [HARNESS, "report", "run"]
        return statistics.median(process(report, cwd=folder).seconds for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
