"""The same command again: what is finished is not asked again, while all is the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from small import POPULAR, RANDOM, timeless

from harness.config import Config
from harness.core.errors import UsageError
from harness.evaluation.run import run
from harness.results.run import Run

COUNTED = """
from pathlib import Path
from baselines.popular import Popular

class Counted(Popular):
    def __init__(self, file, half_life_days=None):
        super().__init__(half_life_days=half_life_days)
        self.file = file

    def fit_steps(self, train):
        with open(self.file, "a") as handle:
            handle.write("fit ")
        yield from super().fit_steps(train)

class Raises(Popular):
    def fit_steps(self, train):
        raise ValueError("no")
"""


FOLDS = {"strategy": "time", "valid_days": 2}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    files = {"own.py": COUNTED, "log.csv": small.MANY, "fits": ""}
    small.write(tmp_path, files)


def counted(folder: Path, **params: Any) -> dict[str, Any]:
    """Return a model that writes down each time that it learns."""
    return {
        "name": "mine",
        "use": "own:Counted",
        "params": {"file": str(folder / "fits"), **params},
    }


def config(
    folder: Path, *each: small.Model, models: Sequence[small.Model] = (), **sections: Any
) -> Config:
    asked = models or each or (counted(folder), {**RANDOM, "repeats": 3})
    data = {"cache": True, **sections.pop("data", {})}
    return small.config_of(folder, models=asked, data=data, **sections)


def fits(folder: Path) -> int:
    return (folder / "fits").read_text().count("fit")


def figures(result: Run) -> Any:
    """Return all that is recorded but seconds, and who was asked."""
    return timeless(result.to_dict(), "reused")


def reused(result: Run) -> list[str]:
    return sorted(model.name for model in result.models if model.reused)


def test_a_finished_model_is_not_asked_again_and_one_that_failed_is(tmp_path: Path) -> None:
    raises = {"name": "raises", "use": "own:Raises"}
    settings = config(tmp_path, counted(tmp_path), {**RANDOM, "repeats": 3}, raises)
    first = run(settings)
    assert (reused(first), fits(tmp_path), "anew" in str(first)) == ([], 1, False)
    second = run(settings)
    assert (reused(second), fits(tmp_path)) == (["mine", "random"], 1)
    assert figures(second) == figures(first)
    assert [failure.name for failure in second.failed] == ["raises"]
    (line,) = (line for line in str(second).splitlines() if line.startswith("reused"))
    assert line.startswith(
        ("reused  mine, random × 3, from an", "reused  random × 3, mine, from an")
    )
    assert ", from an earlier run; --fresh" in line
    assert (reused(run(settings, fresh=True)), fits(tmp_path)) == ([], 2)


def test_a_model_follows_from_its_base_models(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["mine", "lists"]}
    lists = {"name": "lists", "lists": "lists.csv"}
    settings = config(tmp_path, counted(tmp_path), lists, both)
    small.write(tmp_path, {"lists.csv": "user,item\nuser1,a\n"})
    run(settings)
    assert reused(run(settings)) == ["both", "mine"]
    slower = counted(tmp_path, half_life_days=9.0)
    assert reused(run(config(tmp_path, slower, lists, both))) == []
    small.write(tmp_path, {"lists.csv": "user,item\nuser1,b\n"})
    assert reused(run(settings)) == ["mine"]


def test_each_fold_has_its_own(tmp_path: Path) -> None:
    """In buckets, one that learns from all events must be finished in every fold."""
    knn = {"name": "knn", "use": "baselines.item_knn:ItemKNN"}
    two, three = (
        config(tmp_path, counted(tmp_path), knn, split=FOLDS | {"folds": n}) for n in (2, 3)
    )
    first = run(two)
    with small.in_buckets(3):
        second = run(two)
        with refusal(UsageError, "1 model learns from all events at once: knn; allow"):
            run(three)
    assert (reused(second), fits(tmp_path)) == (["knn", "mine"], 2)
    assert figures(second) == figures(first)
    third = run(three)
    assert fits(tmp_path) == 3
    assert [reused(fold) for fold in third.folds] == [[], ["knn", "mine"], ["knn", "mine"]]
    assert reused(third) == []


def test_some_models_alone(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["mine", "popular"]}
    models = counted(tmp_path), POPULAR, both, RANDOM
    settings = config(tmp_path, models=models, compare={"baseline": "random"})
    assert [m.name for m in run(settings, models=["random"]).models] == ["random"]
    result = run(settings, models=["both"])
    assert sorted(m.name for m in result.models) == ["both", "mine", "popular"]
    assert [m["name"] for m in result.config["models"]] == ["mine", "popular", "both"]
    assert reused(run(settings)) == ["both", "mine", "popular", "random"]
