"""Models that use BLAS and OpenMP: their threads, and modules that are imported late."""

import os
import subprocess
import sys
from pathlib import Path

LISTS = """
import numpy as np
from baselines import als, ease, nmf, pure_svd
from shops import NO_DRAWS, train_of

has = np.random.default_rng(1).random((300, 120)) < 0.1
train = train_of([(f"u{u:03}", f"i{i:03}", 1.0) for u, i in np.argwhere(has)])
users = np.arange(300, dtype=np.int32)
for model in als.ALS(), ease.EASE(), nmf.NMF(), pure_svd.PureSVD():
    print(type(model).__name__, model.fit(train).recommend(users, 20, NO_DRAWS).tolist())
"""


def output(code: str, **env: str) -> list[str]:
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **env},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return process.stdout.splitlines()


def test_lists_do_not_depend_on_threads() -> None:
    """One thread or four: the same lists, ties and all."""
    single, four = (output(LISTS, OMP_NUM_THREADS=n, OPENBLAS_NUM_THREADS=n) for n in "14")
    assert [line.count("[") for line in single] == [301] * 4
    for line, same in zip(single, four, strict=True):
        assert line == same


def test_a_model_that_learns_nothing_needs_no_implicit() -> None:
    code = "import sys, baselines.als, baselines.bpr; print('implicit' in sys.modules)"
    assert output(code) == ["False"]
