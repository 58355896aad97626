"""A run whose true items have grades: its chance, and what reads its folder."""

import math
from pathlib import Path

import pytest
import small

from harness.experiment.compare import compare
from harness.experiment.rescore import rescore
from harness.experiment.result import Result
from harness.experiment.run import run

HELD_OUT = "ann,b,2020-01-08,3\nann,a,2020-01-08,1\nbob,d,2020-01-08,2\n"
HELD_OUT += "cid,a,2020-01-08,2\ncid,b,2020-01-08,1\n"
TRAIN = "".join(f"{line},1\n" for line in small.LOG.splitlines()[1:6])
LOG = "user,item,time,stars\n" + TRAIN + HELD_OUT
"""Popular says b, a: the order of ann's grades, none of bob's, and cid's the wrong way round."""
METRIC = "NDCG(gain=linear)@2"
SECOND = 1 / math.log2(3)


def test_a_run_and_its_folder(tmp_path: Path) -> None:
    """Each of four candidates stands at either place once in four rankings: a mean gain of Σ/4."""
    models = small.POPULAR, {**small.RANDOM, "repeats": 2}
    rules = {"data": {"value": "stars"}, "evaluation": {"metrics": [METRIC, "MAP@2"]}}
    found = run(small.config(tmp_path, *models, log=LOG, **rules))
    assert isinstance(found, Result)
    own, wrong = found.per_user("popular"), (1 + 2 * SECOND) / (2 + SECOND)
    assert own[METRIC].to_list() == pytest.approx([1, 0, wrong], abs=1e-15)
    assert own["MAP@2"].to_list() == [1, 0, 1]  # a grade is no matter to it
    ann, bob, cid = (3 + 1) / (3 + SECOND), 2 / 2, (2 + 1) / (2 + SECOND)
    mean = (ann + bob + cid) * (1 + SECOND) / 4 / 3
    assert found.chance[METRIC].mean == pytest.approx(mean, abs=1e-15)
    found.write(tmp_path / "run")
    of_run = {model.name: model.metrics for model in found.models}
    assert {model.name: model.metrics for model in rescore(tmp_path / "run").models} == of_run
    assert compare(tmp_path / "run").comparison == found.comparison
