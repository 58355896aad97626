"""A model that fails: the others have the figures of a run without it, and it is told why."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import small
from small import POPULAR, RANDOM, timeless

from harness.config import Config
from harness.core.errors import RecommenderError
from harness.evaluation.fold import Failures
from harness.evaluation.run import run
from harness.results.run import Run

FAILING = """
from baselines.popular import Popular

def fails(*_, **__):
    raise ZeroDivisionError("too few stars")

class Fit(Popular):
    fit, fit_steps = fails, None

class Steps(Popular):
    fit_steps = fails

class Part(Popular):
    def fit_steps(self, train):
        yield fails

class Users(Popular):
    for_users = fails

class Recommend(Popular):
    recommend = fails

class Later(Popular):
    def fit(self, train):
        late = train.cutoff > 1_578_200_000_000_000  # 2020-01-05T04:53:20Z
        return fails() if late else super().fit(train)
"""
THREE: dict[str, Any] = {**RANDOM, "repeats": 3}
FOLDS = {"strategy": "time", "valid_days": 2, "folds": 3}
"""Cut-offs are 2020-01-03, the 5th and the 7th: Later fails in the last."""
FILES = {
    "failing.py": FAILING,
    "log.csv": small.MANY,
    "lists.csv": "user,item\nuser1,a b\nuser1,b a\n,a\n",
    "cut.csv": "user,item\nuser1\n",
}


def failing(kinds: Iterable[str]) -> list[dict[str, Any]]:
    return [{"name": kind, "use": f"failing:{kind}"} for kind in kinds]


def config(folder: Path, models: list[dict[str, Any]], **sections: Any) -> Config:
    return small.config_of(small.write(folder, FILES), models=models, **sections)


def figures(result: Run, without: str = "") -> Any:
    """Return all figures; what failed, and what the config says of models, apart."""
    return timeless(result.to_dict(), "failed", "config", without)


class Done(NamedTuple):
    result: Run
    alone: Run
    folder: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run of models that fail in every step beside two that do not, and of what they are part."""
    folder = tmp_path_factory.mktemp("failures")
    models: list[dict[str, Any]] = [
        POPULAR,
        *failing(["Fit", "Steps", "Part", "Users", "Recommend"]),
        {"name": "both", "use": "baselines.blend:Blend", "of": ["Fit", "popular"]},
        {"name": "lists", "lists": "lists.csv"},
        {"name": "lists, filled", "use": "baselines.fill:Fill", "of": ["lists", "popular"]},
        {"name": "cut", "lists": "cut.csv"},
        THREE,
    ]
    result = run(config(folder, models, compare={"baseline": "Fit"}))
    result.write(folder / "run")
    return Done(result, run(config(folder, [POPULAR, THREE])), folder)


def test_one_model_that_is_left_has_no_pairs(tmp_path: Path) -> None:
    failures = Failures()
    failures.add("popular", RecommenderError("no fit"))
    assert failures.notes(config(tmp_path, [POPULAR, THREE], compare={"baseline": "popular"})) == ()


def test_the_others_have_the_figures_of_a_run_without_them(done: Done) -> None:
    *notes, last = done.result.notes
    assert last == 'the baseline "Fit" failed: the other 2 models are compared pair by pair'
    assert figures(done.result, "notes") == figures(done.alone, "notes")
    assert tuple(notes) == done.alone.notes


def test_in_buckets_the_others_have_the_same_figures(done: Done, tmp_path: Path) -> None:
    steps = {"Steps": "fit_", "Part": "fit_", "Users": "for_users", "Recommend": "recommend"}
    with small.in_buckets(3):
        result = run(config(tmp_path, [POPULAR, *failing(steps), THREE]))
    assert figures(result) == figures(done.alone)
    for failure, (name, step) in zip(result.failed, steps.items(), strict=True):
        assert failure.error.startswith(f'model "{name}" raised in {step}')
        assert "ZeroDivisionError: too few stars" in failure.error


def test_what_is_made_of_one_that_fails_fails_too(done: Done) -> None:
    """A user of lists.csv has two lists, and a row no id: each problem stands apart in the line."""
    by_name = {failure.name: failure.error for failure in done.result.failed}
    assert by_name["both"] == f'model "both" needs a model that failed: {by_name["Fit"]}'
    first, *problems = by_name["lists"].splitlines()
    path = done.folder / "lists.csv"
    assert first == (
        f'model "lists": {path}: these lists have errors; fix them, or see all of them: harness '
        f"validate {path} --config config"
    )
    assert [problem.split(" ")[0] for problem in problems] == ["SUB203", "SUB208"]
    assert by_name["lists, filled"] == (
        f'model "lists, filled" needs a model that failed: {by_name["lists"]}'
    )
    lines = [line for line in str(done.result).splitlines() if line.startswith("failed  ")]
    assert "failed  " + " · ".join([first, *problems]) in lines
    assert "cut.csv" in by_name["cut"]
    assert "line 2" in by_name["cut"]


def test_it_is_told_wherever_a_run_is_shown(done: Done) -> None:
    why = 'model "Fit" raised in fit: ZeroDivisionError: too few stars ('
    lines = str(done.result).splitlines()
    assert [line for line in lines if line.startswith(f"failed  {why}")]
    assert next(line for line in lines if line.startswith("Fit")).split() == ["Fit", "failed"]
    records = {row["model"]: row for row in done.result.records()}
    assert records["popular"]["error"] is None
    assert str(records["Fit"]["error"]).startswith(why)
    assert records["Fit"].keys() == records["popular"].keys()
    assert sorted(done.result.to_pandas().index) == ["popular", "random"]


def test_a_model_that_fails_in_one_fold_is_in_no_mean(tmp_path: Path) -> None:
    result = run(config(tmp_path, [POPULAR, *failing(["Later"]), RANDOM], split=FOLDS))
    assert [len(fold.models) for fold in result.folds] == [3, 3, 2]
    assert [(failure.name, failure.fold) for failure in result.failed] == [("Later", 3)]
    assert "failed  fold 3: model" in str(result)
    together, alone = (
        figures(result),
        figures(run(config(tmp_path, [POPULAR, RANDOM], split=FOLDS))),
    )
    assert together["folds"].pop()["models"] == alone["folds"].pop()["models"]
    assert {**together, "folds": 0} == {**alone, "folds": 0}


def test_a_model_that_failed_is_not_asked_in_the_next_fold(tmp_path: Path) -> None:
    with small.in_buckets(3):
        result = run(config(tmp_path, [POPULAR, *failing(["Part"])], split=FOLDS))
    assert [(failure.name, failure.fold) for failure in result.failed] == [("Part", 1)]


ALL = "all 2 models failed:"
FIT = 'model "Fit" raised in fit: ZeroDiv'
LATER = 'model "Later" raised in fit: ZeroDiv'


@pytest.mark.parametrize(
    ("models", "sections", "starts"),
    [
        (["Fit"], {}, [FIT]),
        (["Fit", "Recommend"], {}, [ALL, FIT, 'model "Recommend" raised in recommend']),
        (
            ["Fit", "Later"],
            {"split": FOLDS},
            [f"fold 3 of 3: {ALL}", f"fold 1: {FIT}", f"fold 3: {LATER}"],
        ),
    ],
)
def test_where_no_model_is_left_each_says_why(
    tmp_path: Path, models: list[str], sections: Any, starts: list[str]
) -> None:
    """One fails in the first of three folds, another in the last, where no model is left."""
    with pytest.raises(RecommenderError) as raised:
        run(config(tmp_path, failing(models), **sections))
    for line, start in zip(str(raised.value).split("\n"), starts, strict=True):
        assert line.startswith(start)
