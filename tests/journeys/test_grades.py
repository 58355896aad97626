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


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tmp_path_factory.mktemp("grades")
    rules = {"metrics": [EXPONENTIAL, LINEAR, "MAP@2"]}
    models = small.POPULAR, {**small.RANDOM, "repeats": 2}
    data = {"value": "stars"}
    result = run(small.config(folder, *models, log=LOG, data=data, evaluation=rules))
    assert isinstance(result, Result)
    result.write(folder / "run")
    return result, folder / "run"


def test_scores_by_hand(found: tuple[Result, Path]) -> None:
    own = found[0].per_user("popular")
    wrong = (1 + 3 * SECOND) / (3 + SECOND), (1 + 2 * SECOND) / (2 + SECOND)
    assert own[EXPONENTIAL].to_list() == pytest.approx([1, 0, wrong[0]], abs=1e-15)
    assert own[LINEAR].to_list() == pytest.approx([1, 0, wrong[1]], abs=1e-15)
    assert own["MAP@2"].to_list() == [1, 0, 1]  # a grade is no matter to it


def test_chance_by_hand(found: tuple[Result, Path]) -> None:
    """Each of four candidates stands at either place once in four rankings: a mean gain of Σ/4."""
    places = (1 + SECOND) / 4
    ann, bob, cid = (3 + 1) / (3 + SECOND), 2 / 2, (2 + 1) / (2 + SECOND)
    mean = (ann + bob + cid) * places / 3
    assert found[0].chance[LINEAR].mean == pytest.approx(mean, abs=1e-15)


def test_the_folder_is_read_with_grades(found: tuple[Result, Path]) -> None:
    result, folder = found
    of_run = {model.name: model.metrics for model in result.models}
    assert {model.name: model.metrics for model in rescore(folder).models} == of_run
    assert compare(folder).comparison == result.comparison


def test_lists_of_the_run_are_scored_by_its_config(found: tuple[Result, Path]) -> None:
    result, folder = found
    lists = result.recommendations("popular")
    scored = harness.score(lists, config=folder / "config.toml")
    ours = next(model for model in result.models if model.name == "popular")
    assert scored.metrics[EXPONENTIAL].mean == ours.metrics[EXPONENTIAL].mean


def test_grades_that_are_too_high_for_a_metric_are_refused(tmp_path: Path) -> None:
    rules = {"metrics": ["pFound@2"]}
    settings = small.config(tmp_path, log=LOG, data={"value": "stars"}, evaluation=rules)
    with refusal(DataError, "[data] value: found the grade 3; for pFound@2", "from 0 to 1"):
        run(settings)
