"""A run whose true items have grades: its scores, its chance, and what reads its folder."""

import math
from pathlib import Path

import pytest
import small
from conftest import refusal

import harness
from harness.core.errors import DataError
from harness.experiment.compare import compare
from harness.experiment.rescore import rescore
from harness.experiment.result import Result
from harness.experiment.run import run

LOG = """user,item,time,stars
ann,a,2020-01-01,1
ann,b,2020-01-02,1
bob,b,2020-01-03,1
bob,c,2020-01-03,1
cid,d,2020-01-04,1
ann,b,2020-01-08,3
ann,a,2020-01-08,1
bob,d,2020-01-08,2
cid,a,2020-01-08,2
cid,b,2020-01-08,1
"""
"""Popular says b, a: the order of ann's grades, none of bob's, and cid's the wrong way round."""
EXPONENTIAL, LINEAR = "NDCG(gain=exponential)@2", "NDCG(gain=linear)@2"
SECOND = 1 / math.log2(3)


def graded(folder: Path, *metrics: str) -> Result:
    models = small.POPULAR, {**small.RANDOM, "repeats": 2}
    rules = {"data": {"value": "stars"}, "evaluation": {"metrics": list(metrics)}}
    found = run(small.config(folder, *models, log=LOG, **rules))
    assert isinstance(found, Result)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grades")


@pytest.fixture(scope="module")
def found(folder: Path) -> Result:
    result = graded(folder, EXPONENTIAL, LINEAR, "MAP@2")
    result.write(folder / "run")
    return result


def test_scores_and_chance_by_hand(found: Result) -> None:
    """Each of four candidates stands at either place once in four rankings: a mean gain of Σ/4."""
    own = found.per_user("popular")
    wrong = (1 + 3 * SECOND) / (3 + SECOND), (1 + 2 * SECOND) / (2 + SECOND)
    assert own[EXPONENTIAL].to_list() == pytest.approx([1, 0, wrong[0]], abs=1e-15)
    assert own[LINEAR].to_list() == pytest.approx([1, 0, wrong[1]], abs=1e-15)
    assert own["MAP@2"].to_list() == [1, 0, 1]  # a grade is no matter to it
    ann, bob, cid = (3 + 1) / (3 + SECOND), 2 / 2, (2 + 1) / (2 + SECOND)
    mean = (ann + bob + cid) * (1 + SECOND) / 4 / 3
    assert found.chance[LINEAR].mean == pytest.approx(mean, abs=1e-15)


def test_the_folder_and_its_lists_are_read_with_grades(found: Result, folder: Path) -> None:
    of_run = {model.name: model.metrics for model in found.models}
    assert {model.name: model.metrics for model in rescore(folder / "run").models} == of_run
    assert compare(folder / "run").comparison == found.comparison
    lists = found.recommendations("popular")
    scored = harness.score(lists, config=folder / "run" / "config.toml")
    assert scored.metrics[EXPONENTIAL].mean == of_run["popular"][EXPONENTIAL].mean


def test_grades_that_are_too_high_for_a_metric_are_refused(tmp_path: Path) -> None:
    with refusal(DataError, "[data] value: found the grade 3; for pFound@2", "from 0 to 1"):
        graded(tmp_path, "pFound@2")
