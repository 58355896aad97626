"""Models evaluated side by side: the same results, whoever asks them, whatever becomes of it."""

from pathlib import Path
from typing import Any

import pytest
import small
from beside import OWN, config, own
from conftest import refusal
from small import POPULAR, timeless

from baselines.popular import Popular
from harness.core.errors import RecommenderError, UsageError
from harness.evaluation.run import run
from harness.tuning.tuning import tune

pytestmark = pytest.mark.usefixtures("at_once")


def test_the_results_are_the_same(tmp_path: Path) -> None:
    """Of every kind of model on two folds, whoever evaluates them; what workers did is kept."""
    folds = {"strategy": "time", "valid_days": 2, "folds": 2}
    file = {"name": "file", "lists": ["lists.csv", "lists.csv"]}
    models = [*small.MODELS, own(tmp_path, "Meets", "last"), file]
    settings = config(tmp_path, models, split=folds)
    lists = "".join(f"user{n},unknown\nuser{n},a\n" for n in range(40))
    small.write(tmp_path, {"lists.csv": f"user,item\n{lists}"})
    result = run(settings, jobs=2)
    assert {path.name for path in (tmp_path / "met").iterdir()} == {"parent", "worker"}
    again, alone = run(settings), run(settings, fresh=True)
    assert [model.name for model in again.models if not model.reused] == ["file"]
    for other in (again, alone):
        assert timeless(other.to_dict(), "reused") == timeless(result.to_dict(), "reused")
    assert result.per_user().equals(alone.per_user())
    assert result.recommendations().equals(alone.recommendations())


class Mine(Popular):
    """One that no other process can import by a path."""


def test_objects_are_left_to_this_process(tmp_path: Path) -> None:
    small.write(tmp_path, {"log.csv": small.LOG})
    path = POPULAR["use"]
    blend = {"use": "baselines.blend:Blend", "of": ["mine", "popular"]}
    models: dict[str, Any] = {"mine": Mine(), "popular": path, "both": blend, "class": Popular}
    models["paths"] = {"use": path, "params": {"window_days": 2}}
    split = {"strategy": "time", "valid_days": 1}
    keywords: dict[str, Any] = {"split": split, "evaluation": {"k": 2}, "models": models}
    alone, shared = (
        run(events=tmp_path / "log.csv", jobs=n, fresh=True, **keywords) for n in (1, 2)
    )
    assert timeless(alone.to_dict()) == timeless(shared.to_dict())
    assert alone.recommendations().equals(shared.recommendations())


def test_a_model_that_ends_its_process_fails(tmp_path: Path) -> None:
    """All others are evaluated, whoever has to ask them again."""
    models = [POPULAR, own(tmp_path, "Leaves", "leaves"), small.RANDOM]
    result = run(config(tmp_path, models), jobs=2)
    assert {model.name for model in result.models} == {"first", "popular", "random"}
    (failed,) = result.failed
    assert failed.error == 'model "leaves" ended its process, which ended with status 7'


def test_models_that_fail_in_a_worker_are_told_in_the_configs_order(tmp_path: Path) -> None:
    failing = [own(tmp_path, "Raises", name) for name in ("b", "a", "c")]
    result = run(config(tmp_path, failing), jobs=2)
    assert [model.name for model in result.models] == ["first"]
    assert [failed.name for failed in result.failed] == ["b", "a", "c"]
    last = result.failed[-1].error
    assert last.startswith('model "c" raised in fit: ValueError: in a worker (')
    with refusal(RecommenderError, "raised in fit: ValueError: "):
        run(config(tmp_path, failing), jobs=2, fail_fast=True)


def test_a_search_is_the_same(tmp_path: Path) -> None:
    """Of a model, of which a trial fails, and an ensemble, which is tuned on the tuned model."""
    mine = own(tmp_path, "Meets", "mine") | {"space": {"window_days": [1, 2, 3, 4]}}
    kept: dict[str, Any] = {"name": "kept", "use": "baselines.filter:Filter", "of": ["mine"]}
    small.write(tmp_path, {"log.csv": small.TO_TUNE, "own.py": OWN})
    models, data = (mine, kept | {"space": {"seen": [True, False]}}), {"cache": True}
    settings = small.config_of(tmp_path, models=models, data=data, tune={"search": "grid"})
    result = tune(settings, jobs=2)
    assert (tmp_path / "met/worker").exists()
    again = tune(settings)
    for model in again.to_dict()["models"]:
        assert model["reused"] == model["trials"] - model["failed"]
    for other in (again, tune(settings, fresh=True)):
        assert timeless(other.to_dict(), "reused") == timeless(result.to_dict(), "reused")
    results = result.to_dict()["models"][0]["results"]
    assert [trial["params"]["window_days"] for trial in results if trial["error"]] == [3]


def test_what_learns_from_each_trial_is_not_made_side_by_side(tmp_path: Path) -> None:
    model = POPULAR | {"space": {"window_days": [1, 2]}}
    with pytest.raises(UsageError) as refused:
        tune(small.config(tmp_path, model, tune={"search": "tpe"}), jobs=2)
    assert str(refused.value) == (
        'search = "tpe" needs the scores of earlier trials, so trials run one after the other: '
        'remove --jobs, or use search = "random" or "grid"'
    )
