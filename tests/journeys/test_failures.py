"""A model that fails: the others have the figures of a run without it, and it is told why."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from small import POPULAR, RANDOM, timeless

from harness.config import Config
from harness.core.errors import DataError, RecommenderError
from harness.data import bucketing
from harness.experiment import memory
from harness.experiment.folds import FoldedResult
from harness.experiment.record import FailedModel
from harness.experiment.result import Findings
from harness.experiment.run import run
from harness.experiment.run_folder import read
from harness.models.guard import guarded
from harness.report.page import page

FAILING = """
from baselines.popular import Popular

class Fit(Popular):
    def fit(self, train):
        raise ZeroDivisionError("too few stars")
    fit_steps = None

class Steps(Popular):
    def fit_steps(self, train):
        raise ZeroDivisionError("too few stars")

class Part(Popular):
    def fit_steps(self, train):
        yield self.part
    def part(self, part):
        raise ZeroDivisionError("too few stars")

class Users(Popular):
    def for_users(self, train):
        raise ZeroDivisionError("too few stars")

class Recommend(Popular):
    def recommend(self, users, k, draws, exclude=None):
        raise ZeroDivisionError("too few stars")

class Later(Popular):
    def fit(self, train):
        if train.cutoff > 1_578_200_000_000_000:  # 2020-01-05T04:53:20Z
            raise ZeroDivisionError("too few stars")
        return super().fit(train)
"""
IN_PARTS = ["Steps", "Part", "Users", "Recommend"]


def failing(name: str, **given: Any) -> dict[str, Any]:
    return {"name": "mine", "use": f"failing:{name}", **given}


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    small.write(folder, {"failing.py": FAILING})
    return small.config(folder, *models, log=small.MANY, **sections)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: 3)
    monkeypatch.setattr(memory, "needed", lambda layout: 10**15)


def figures(found: Findings) -> dict[str, Any]:
    """Return all figures; what failed, and what the config says of models, apart."""
    record: dict[str, Any] = timeless(found.to_dict())
    for one in (record, *record["folds"]):
        one.pop("failed")
    return record


@pytest.mark.parametrize(
    ("name", "in_buckets"),
    [("Fit", False), *((name, buckets) for name in IN_PARTS for buckets in (False, True))],
)
def test_the_others_have_the_figures_of_a_run_without_it(
    request: pytest.FixtureRequest, tmp_path: Path, name: str, in_buckets: bool
) -> None:
    if in_buckets:
        request.getfixturevalue("large")
    found = run(config(tmp_path, POPULAR, failing(name), {**RANDOM, "repeats": 3}))
    assert figures(found) == figures(run(config(tmp_path, POPULAR, {**RANDOM, "repeats": 3})))
    (failed,) = found.failed
    assert (failed.name, failed.fold) == ("mine", None)
    assert 'model "mine" raised in ' in failed.error
    assert "ZeroDivisionError: too few stars" in failed.error


def test_a_model_that_is_made_of_one_that_fails_fails_too(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["mine", "popular"]}
    found = run(config(tmp_path, POPULAR, failing("Fit"), both))
    assert [model.name for model in found.models] == ["popular"]
    assert [one.name for one in found.failed] == ["mine", "both"]
    own, of_both = (one.error for one in found.failed)
    assert own.startswith('model "mine" raised in fit')
    assert of_both == f'model "both" needs one that failed: {own}'


def test_so_does_one_that_is_made_of_lists_with_errors(tmp_path: Path) -> None:
    """A user has two lists, another has no id: each problem stands apart in the line."""
    small.write(tmp_path, {"lists.csv": "user,item\nuser1,a b\nuser1,b a\n,a\n"})
    lists = {"name": "lists", "lists": "lists.csv"}
    filled = {"name": "lists, filled", "use": "baselines.fill:Fill", "of": ["lists", "popular"]}
    settings = config(tmp_path, POPULAR, lists, filled)
    found = run(settings)
    own, of_filled = (one.error for one in found.failed)
    first, *problems = own.splitlines()
    path = tmp_path / "lists.csv"
    assert first == (
        f'model "lists": {path}: these lists have errors; mend them, or see all of them: '
        f"harness validate {path} --config {settings.file}"
    )
    assert [one.split(" ")[0] for one in problems] == ["SUB203", "SUB208"]
    assert of_filled == f'model "lists, filled" needs one that failed: {own}'
    line = next(line for line in str(found).splitlines() if line.startswith("failed  "))
    assert line == "failed  " + " · ".join([first, *problems])


def test_a_guard_keeps_what_an_error_holds() -> None:
    class ToldError(DataError):
        def __init__(self, problems: list[str]) -> None:
            super().__init__(f"{len(problems)} problems")
            self.problems = problems

    def fit() -> None:
        raise ToldError(["one", "other"])

    with refusal(ToldError, 'model "mine": 2 problems') as caught:
        guarded("mine", "fit", fit)
    assert isinstance(caught.value, ToldError)
    assert caught.value.problems == ["one", "other"]


def test_lists_that_cannot_be_read_are_a_failure(tmp_path: Path) -> None:
    small.write(tmp_path, {"lists.csv": "user,item\nuser1\n"})
    found = run(config(tmp_path, POPULAR, {"name": "lists", "lists": "lists.csv"}))
    assert [model.name for model in found.models] == ["popular"]
    assert "lists.csv" in found.failed[0].error
    assert "line 2" in found.failed[0].error


def test_without_the_baseline_all_pairs_are_compared(tmp_path: Path) -> None:
    models = POPULAR, failing("Fit"), RANDOM
    found = run(config(tmp_path, *models, compare={"baseline": "mine"}))
    assert found.comparison is not None
    assert [{pair.one, pair.other} for pair in found.comparison.pairs] == [{"popular", "random"}]
    assert 'the baseline "mine" failed: the 2 models that are left are compared' in found.notes[-1]


def test_a_model_that_fails_in_one_fold_is_in_no_mean(tmp_path: Path) -> None:
    """Its cut-offs are 2020-01-03, the 5th and the 7th: it fails in the last."""
    folds = {"strategy": "time", "valid_days": 2, "folds": 3}
    found = run(config(tmp_path, POPULAR, failing("Later"), RANDOM, split=folds))
    assert isinstance(found, FoldedResult)
    assert [sorted(m.name for m in fold.models) for fold in found.folds] == [
        ["mine", "popular", "random"],
        ["mine", "popular", "random"],
        ["popular", "random"],
    ]
    assert [(one.name, one.fold) for one in found.failed] == [("mine", 3)]
    alone = figures(run(config(tmp_path, POPULAR, RANDOM, split=folds)))
    own = figures(found)
    assert own["folds"].pop()["models"] == alone["folds"].pop()["models"]
    assert {**own, "folds": 0} == {**alone, "folds": 0}
    assert "failed  fold 3: model" in str(found)


def test_a_model_that_failed_is_not_asked_in_the_next_fold(tmp_path: Path, large: None) -> None:
    folds = {"strategy": "time", "valid_days": 2, "folds": 3}
    found = run(config(tmp_path, POPULAR, failing("Part"), split=folds))
    assert [(one.name, one.fold) for one in found.failed] == [("mine", 1)]
    assert [[m.name for m in fold.models] for fold in found.folds] == [["popular"]] * 3


def test_the_only_model_raises(tmp_path: Path) -> None:
    with pytest.raises(RecommenderError, match=r'^model "mine" raised in fit: ZeroDiv'):
        run(config(tmp_path, failing("Fit")))


def test_where_all_models_fail_each_says_why(tmp_path: Path) -> None:
    models = failing("Fit"), {**failing("Recommend"), "name": "other"}
    with pytest.raises(RecommenderError) as raised:
        run(config(tmp_path, *models))
    first, second, third = str(raised.value).split("\n")
    assert first == "all 2 models failed:"
    assert second.startswith('model "mine" raised in fit: ZeroDivisionError')
    assert third.startswith('model "other" raised in recommend')


def test_where_they_fail_in_different_folds_each_names_its_own(tmp_path: Path) -> None:
    """One fails in the first of three folds, the other in the last, where no model is left."""
    folds = {"strategy": "time", "valid_days": 2, "folds": 3}
    models = failing("Fit"), {**failing("Later"), "name": "other"}
    with pytest.raises(RecommenderError) as raised:
        run(config(tmp_path, *models, split=folds))
    first, second, third = str(raised.value).split("\n")
    assert first == "fold 3 of 3: all 2 models failed:"
    assert second.startswith('fold 1: model "mine" raised in fit: ZeroDivisionError')
    assert third.startswith('fold 3: model "other" raised in fit: ZeroDivisionError')
    with pytest.raises(RecommenderError, match=r'^fold 3 of 3: model "mine" raised in fit'):
        run(config(tmp_path, failing("Later"), split=folds))


def test_the_first_failure_ends_a_run_that_is_to_fail_fast(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(RecommenderError, match=r'^model "mine" raised in fit'):
        run(config(tmp_path, POPULAR, failing("Fit")), fail_fast=True)
    request.getfixturevalue("large")
    with pytest.raises(RecommenderError, match=r'^model "mine" raised in fit_steps'):
        run(config(tmp_path, POPULAR, failing("Part")), fail_fast=True)


def test_it_is_told_wherever_a_run_is_shown(tmp_path: Path) -> None:
    found = run(config(tmp_path, POPULAR, failing("Fit"), RANDOM))
    lines = str(found).splitlines()
    assert next(line for line in lines if line.startswith("failed  ")).startswith(
        'failed  model "mine" raised in fit: ZeroDivisionError: too few stars ('
    )
    assert next(line for line in lines if line.startswith("mine")).split() == ["mine", "failed"]
    *others, last = found.records()
    assert [one["error"] for one in others] == [None, None]
    assert last["model"] == "mine"
    assert "too few stars" in str(last["error"])
    assert last.keys() == others[0].keys()
    assert list(found.to_pandas().index) == [model.name for model in found.models]


def test_a_folder_is_read_with_what_failed(tmp_path: Path) -> None:
    settings = config(tmp_path, POPULAR, failing("Fit"), RANDOM)
    found = run(settings)
    found.write(tmp_path / "run")
    own = read(tmp_path / "run")
    assert own.record.failed == found.failed
    assert isinstance(own.record.failed[0], FailedModel)
    assert pl.read_parquet(tmp_path / "run/per_user.parquet")["model"].n_unique() == 2
    shown = page(own)
    assert "failed: model &#34;mine&#34; raised in fit: ZeroDivisionError" in shown
    twice = json.loads((tmp_path / "run/result.json").read_text())
    twice["failed"][0]["name"] = "popular"
    (tmp_path / "run/result.json").write_text(json.dumps(twice))
    with pytest.raises(Exception, match="two models have one name"):
        read(tmp_path / "run")
