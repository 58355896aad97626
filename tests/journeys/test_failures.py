"""A model that fails: the others have the figures of a run without it, and it is told why."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import small
from conftest import refusal
from small import POPULAR, RANDOM, timeless

from harness.config import Config
from harness.core.errors import DataError, RecommenderError
from harness.experiment.folds import FoldedResult
from harness.experiment.rescore import rescore
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


def failing(kind: str, name: str = "") -> dict[str, Any]:
    return {"name": name or kind, "use": f"failing:{kind}"}


CUT = "user,item\nuser1\n"


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    small.write(folder, {"failing.py": FAILING})
    return small.config(folder, *models, log=small.MANY, **sections)


@pytest.fixture
def large() -> Any:
    with small.in_buckets(3):
        yield


def figures(found: Findings) -> Any:
    """Return all figures; what failed, and what the config says of models, apart."""
    return timeless(found.to_dict(), "failed", "config")


THREE: dict[str, Any] = {"name": "random", "use": RANDOM["use"], "repeats": 3}


class Done(NamedTuple):
    found: Findings
    folder: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run of models that fail in every step beside two that do not, and of what they are part."""
    folder = tmp_path_factory.mktemp("failures")
    small.write(folder, {"lists.csv": "user,item\nuser1,a b\nuser1,b a\n,a\n", "cut.csv": CUT})
    models: list[dict[str, Any]] = [
        POPULAR,
        *(failing(name) for name in ("Fit", "Steps", "Part", "Users", "Recommend")),
        {"name": "both", "use": "baselines.blend:Blend", "of": ["Fit", "popular"]},
        {"name": "lists", "lists": "lists.csv"},
        {"name": "lists, filled", "use": "baselines.fill:Fill", "of": ["lists", "popular"]},
        {"name": "cut", "lists": "cut.csv"},
        THREE,
    ]
    found = run(config(folder, *models, compare={"baseline": "Fit"}))
    found.write(folder / "run")
    return Done(found, folder)


def test_the_others_have_the_figures_of_a_run_without_them(done: Done, tmp_path: Path) -> None:
    alone = run(config(tmp_path, POPULAR, THREE))
    notes = done.found.notes
    assert notes[-1] == (
        'the baseline "Fit" failed: the 2 models that are left are compared pair by pair'
    )
    of_failing, of_alone = (timeless(figures(one), "notes") for one in (done.found, alone))
    assert of_failing == of_alone
    assert notes[:-1] == alone.notes


@pytest.mark.parametrize(
    ("name", "step"),
    [("Fit", "fit"), ("Recommend", "recommend"), ("Steps", "fit"), ("Part", "fit")],
)
def test_each_says_where_and_why(done: Done, name: str, step: str) -> None:
    (failed,) = (one for one in done.found.failed if one.name == name)
    assert failed.fold is None
    assert failed.error.startswith(f'model "{name}" raised in {step}')
    assert "ZeroDivisionError: too few stars" in failed.error


@pytest.mark.parametrize("name", ["Steps", "Part", "Users", "Recommend"])
def test_in_buckets_the_others_have_the_same_figures(
    tmp_path: Path, large: None, name: str
) -> None:
    found = run(config(tmp_path, POPULAR, failing(name), THREE))
    assert figures(found) == figures(run(config(tmp_path, POPULAR, THREE)))
    (failed,) = found.failed
    assert failed.error.startswith(f'model "{name}" raised in ')
    assert "ZeroDivisionError: too few stars" in failed.error


def test_what_is_made_of_one_that_fails_fails_too(done: Done) -> None:
    """A user of lists.csv has two lists, and a row no id: each problem stands apart in the line."""
    told = {one.name: one.error for one in done.found.failed}
    assert told["both"] == f'model "both" needs one that failed: {told["Fit"]}'
    first, *problems = told["lists"].splitlines()
    path = done.folder / "lists.csv"
    assert first == (
        f'model "lists": {path}: these lists have errors; mend them, or see all of them: '
        f"harness validate {path} --config config"
    )
    assert [one.split(" ")[0] for one in problems] == ["SUB203", "SUB208"]
    assert told["lists, filled"] == f'model "lists, filled" needs one that failed: {told["lists"]}'
    lines = [line for line in str(done.found).splitlines() if line.startswith("failed  ")]
    assert "failed  " + " · ".join([first, *problems]) in lines
    assert "cut.csv" in told["cut"]
    assert "line 2" in told["cut"]


def test_it_is_told_wherever_a_run_is_shown(done: Done) -> None:
    lines = str(done.found).splitlines()
    assert next(line for line in lines if line.startswith("failed  ")).startswith(
        'failed  model "Fit" raised in fit: ZeroDivisionError: too few stars ('
    )
    assert next(line for line in lines if line.startswith("Fit")).split() == ["Fit", "failed"]
    records = {one["model"]: one for one in done.found.records()}
    assert records["popular"]["error"] is records["random"]["error"] is None
    assert "too few stars" in str(records["Fit"]["error"])
    assert records["Fit"].keys() == records["popular"].keys()
    assert sorted(done.found.to_pandas().index) == ["popular", "random"]


def test_a_folder_is_read_with_what_failed(done: Done, tmp_path: Path) -> None:
    own = read(done.folder / "run")
    assert own.record.failed == done.found.failed
    assert {one.name for one in rescore(done.folder / "run").models} == {"popular", "random"}
    scores = pl.read_parquet(done.folder / "run/per_user.parquet")
    assert scores["model"].n_unique() == 2
    assert "failed: model &#34;Fit&#34; raised in fit: ZeroDivisionError" in page(own)
    done.found.write(tmp_path / "run")
    twice = json.loads((tmp_path / "run/result.json").read_text())
    twice["failed"][0]["name"] = "popular"
    (tmp_path / "run/result.json").write_text(json.dumps(twice))
    with refusal(DataError, "two models have one name"):
        read(tmp_path / "run")


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


def test_a_model_that_fails_in_one_fold_is_in_no_mean(tmp_path: Path) -> None:
    """Its cut-offs are 2020-01-03, the 5th and the 7th: it fails in the last."""
    folds = {"strategy": "time", "valid_days": 2, "folds": 3}
    found = run(config(tmp_path, POPULAR, failing("Later", "mine"), RANDOM, split=folds))
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
    found = run(config(tmp_path, POPULAR, failing("Part", "mine"), split=folds))
    assert [(one.name, one.fold) for one in found.failed] == [("mine", 1)]
    assert [[m.name for m in fold.models] for fold in found.folds] == [["popular"]] * 3


def test_the_only_model_raises(tmp_path: Path) -> None:
    with pytest.raises(RecommenderError, match=r'^model "mine" raised in fit: ZeroDiv'):
        run(config(tmp_path, failing("Fit", "mine")))


def test_where_all_models_fail_each_says_why(tmp_path: Path) -> None:
    models = failing("Fit", "mine"), failing("Recommend", "other")
    with pytest.raises(RecommenderError) as raised:
        run(config(tmp_path, *models))
    first, second, third = str(raised.value).split("\n")
    assert first == "all 2 models failed:"
    assert second.startswith('model "mine" raised in fit: ZeroDivisionError')
    assert third.startswith('model "other" raised in recommend')


def test_where_they_fail_in_different_folds_each_names_its_own(tmp_path: Path) -> None:
    """One fails in the first of three folds, the other in the last, where no model is left."""
    folds = {"strategy": "time", "valid_days": 2, "folds": 3}
    models = failing("Fit", "mine"), failing("Later", "other")
    with pytest.raises(RecommenderError) as raised:
        run(config(tmp_path, *models, split=folds))
    first, second, third = str(raised.value).split("\n")
    assert first == "fold 3 of 3: all 2 models failed:"
    assert second.startswith('fold 1: model "mine" raised in fit: ZeroDivisionError')
    assert third.startswith('fold 3: model "other" raised in fit: ZeroDivisionError')
    with pytest.raises(RecommenderError, match=r'^fold 3 of 3: model "mine" raised in fit'):
        run(config(tmp_path, failing("Later", "mine"), split=folds))


def test_the_first_failure_ends_a_run_that_is_to_fail_fast(tmp_path: Path) -> None:
    with pytest.raises(RecommenderError, match=r'^model "mine" raised in fit'):
        run(config(tmp_path, POPULAR, failing("Fit", "mine")), fail_fast=True)
    with (
        small.in_buckets(3),
        pytest.raises(RecommenderError, match=r'^model "mine" raised in fit_steps'),
    ):
        run(config(tmp_path, POPULAR, failing("Part", "mine")), fail_fast=True)
