"""One processor or two, one thread or four, rows in any order: the same to the last bit."""

import gzip
import json
import os
import random
import sys
from pathlib import Path

import pytest
from conftest import ROOT, python
from small import timeless

RUN = """
import os, sys
n, *runs = sys.argv[1:]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(n)])
from pathlib import Path
from harness import config, run
for path, folder in zip(runs[::2], runs[1::2]):
    few = ["compare.resamples=100", "data.cache=false", f"data.path={folder}"]
    print(run(config.read(Path(path), few)).to_json(), end="\\0")
"""


def on_processors(n: int, data: Path) -> list[str]:
    line = ["-c", RUN, str(n)]
    for name, sample in (("demo.toml", "hm-sample"), ("demo-ponpare.toml", "ponpare-sample")):
        line += [str(ROOT / "configs" / name), str(data / sample)]
    texts = python(line, POLARS_MAX_THREADS=str(n)).stdout.split("\0")[:-1]
    return [json.dumps(timeless(json.loads(text))) for text in texts]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux's sched_setaffinity")
def test_neither_processors_nor_the_order_of_rows_change_a_byte(tmp_path: Path) -> None:
    for path in (ROOT / "data").glob("*/*.csv.gz"):
        header, *rows = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        random.Random(1).shuffle(rows)  # noqa: S311
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        (tmp_path / path.parent.name / path.stem).write_bytes(b"".join([header, *rows]))
    single = on_processors(1, ROOT / "data")
    assert len(single) == 2
    assert single == on_processors(2, tmp_path)


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


def test_lists_do_not_depend_on_threads() -> None:
    """One thread or four: the same lists, ties and all."""
    tests = os.pathsep.join([str(ROOT / "tests"), *sys.path])
    single, four = (
        python(["-c", LISTS], PYTHONPATH=tests, OMP_NUM_THREADS=n, OPENBLAS_NUM_THREADS=n)
        for n in "14"
    )
    assert [line.count("[") for line in single.stdout.splitlines()] == [301] * 4
    assert single.stdout == four.stdout
