"""The same command again: what is finished is not asked again, while all is the same."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from small import POPULAR, RANDOM, timeless

from harness.config import Config
from harness.core.errors import UsageError
from harness.experiment.result import Findings
from harness.experiment.run import run

COUNTED = """
from pathlib import Path
from baselines.popular import Popular
import counting_helper

class Counted(Popular):
    def __init__(self, file, half_life_days=None):
        super().__init__(half_life_days=half_life_days)
        self.file = file

    def fit_steps(self, train):
        with open(self.file, "a") as handle:
            handle.write("fit ")
        yield from super().fit_steps(train)

class Late(Counted):
    def fit_steps(self, train):
        import counting_late
        yield from super().fit_steps(train)

class Raises(Popular):
    def fit_steps(self, train):
        raise ValueError("no")
"""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where finished models are kept, of files that were written just now as well."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    monkeypatch.syspath_prepend(tmp_path)
    files = {"own.py": COUNTED, "counting_helper.py": "", "counting_late.py": ""}
    small.write(tmp_path, {**files, "log.csv": small.MANY, "fits": ""})
    yield tmp_path / "cache/models"
    for name in ("counting_helper", "counting_late"):
        sys.modules.pop(name, None)


def counted(folder: Path, use: str = "Counted", **params: Any) -> dict[str, Any]:
    """Return a model that writes down each time that it learns."""
    return {"name": "mine", "use": f"own:{use}", "params": {"file": str(folder / "fits"), **params}}


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    own = models or (counted(folder), {**RANDOM, "repeats": 3})
    data = {"cache": True, **sections.pop("data", {})}
    return small.config_of(folder, *own, data=data, **sections)


def fits(folder: Path) -> int:
    """Return how often the model has learnt."""
    return (folder / "fits").read_text().count("fit")


def figures(found: Findings) -> Any:
    """Return all that is recorded but seconds, and who was asked."""
    return timeless(found.to_dict(), "reused")


def reused(found: Findings) -> list[str]:
    return sorted(model.name for model in found.models if model.reused)


def anew(found: Findings) -> str:
    """Return what a run says of models that it had to evaluate anew."""
    return str(found).partition("evaluated anew: ")[2].partition("\n")[0]


def test_a_finished_model_is_not_asked_again(tmp_path: Path) -> None:
    first = run(config(tmp_path))
    assert (reused(first), fits(tmp_path), anew(first)) == ([], 1, "")
    second = run(config(tmp_path))
    assert (reused(second), fits(tmp_path)) == (["mine", "random"], 1)
    assert figures(second) == figures(first)
    (line,) = (line for line in str(second).splitlines() if line.startswith("reused"))
    assert line.startswith(("reused  mine, random × 3, of an", "reused  random × 3, mine, of an"))
    assert ", of an earlier run; --fresh" in line
    assert reused(run(config(tmp_path), fresh=True)) == []
    assert (reused(run(config(tmp_path))), fits(tmp_path)) == (["mine", "random"], 2)


def test_a_table_that_changed_has_other_models(tmp_path: Path) -> None:
    people = {"users": "people.csv"}
    small.write(tmp_path, {"people.csv": "user,town\nuser1,x\n"})
    run(config(tmp_path, data=people))
    assert reused(run(config(tmp_path, data=people))) == ["mine", "random"]
    small.write(tmp_path, {"people.csv": "user,town\nuser1,y\n"})
    assert reused(run(config(tmp_path, data=people))) == []


@pytest.mark.parametrize("file", ["own.py", "counting_helper.py", "counting_late.py"])
def test_changed_source_is_asked_anew_and_told(tmp_path: Path, file: str) -> None:
    """Of what was imported when the model learnt, too."""
    settings = config(tmp_path, counted(tmp_path, "Late"), RANDOM)
    assert [reused(run(settings)) for _ in range(2)] == [[], ["mine", "random"]]
    (tmp_path / file).write_text((tmp_path / file).read_text() + "# a comment\n")
    found = run(settings)
    assert (reused(found), fits(tmp_path)) == (["random"], 2)
    assert f"evaluated anew: mine ({file} has changed)" in str(found)


EDITED = """
from pathlib import Path
from baselines.popular import Popular

own = Path(__file__)
if own.with_name("edit").exists():
    own.with_name("edit").unlink()
    own.write_text(own.read_text().replace("half_life_days=None", "half_life_days=1"))

class Edited(Popular):
    def __init__(self, half_life_days=None):
        super().__init__(half_life_days=half_life_days)
"""


def test_a_file_that_is_written_while_it_is_imported_is_not_believed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Python has read the old text, and the file has the new one."""
    small.write(tmp_path, {"edited.py": EDITED, "edit": ""})
    model = {"name": "mine", "use": "edited:Edited"}
    first = run(config(tmp_path, model))
    told = "not kept for later runs, so that the same command evaluates anew: mine (edited.py was "
    assert caplog.messages == [f"{told}written while it was in use)"]
    second = run(config(tmp_path, model))
    assert reused(second) == []
    assert figures(second) != figures(first)
    assert figures(second) == figures(run(config(tmp_path, model), fresh=True))
    assert reused(run(config(tmp_path, model))) == ["mine"]


def test_a_model_follows_from_its_base_models(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["mine", "lists"]}
    lists = {"name": "lists", "lists": "lists.csv"}
    small.write(tmp_path, {"lists.csv": "user,item\nuser1,a\n"})
    run(config(tmp_path, counted(tmp_path), lists, both))
    assert reused(run(config(tmp_path, counted(tmp_path), lists, both))) == ["both", "mine"]
    slower = counted(tmp_path, half_life_days=9.0)
    assert reused(run(config(tmp_path, slower, lists, both))) == []
    small.write(tmp_path, {"lists.csv": "user,item\nuser1,b\n"})
    assert reused(run(config(tmp_path, counted(tmp_path), lists, both))) == ["mine"]


def test_a_model_that_failed_is_asked_again(tmp_path: Path) -> None:
    models = counted(tmp_path), {"name": "raises", "use": "own:Raises"}
    for _ in range(2):
        found = run(config(tmp_path, *models))
        assert [one.name for one in found.failed] == ["raises"]
    assert reused(found) == ["mine"]


def test_a_run_in_buckets_has_the_lists_of_one_in_memory(tmp_path: Path) -> None:
    """And a model that learns from all events at once, and is finished, is not refused there."""
    knn = {"name": "knn", "use": "baselines.item_knn:ItemKNN"}
    whole = run(config(tmp_path, *small.MODELS, knn))
    with small.in_buckets(3):
        again = run(config(tmp_path, *small.MODELS, knn))
        fresh = run(config(tmp_path, *small.MODELS), fresh=True)
    assert reused(again) == sorted(model.name for model in whole.models)
    assert figures(again) == figures(whole)
    after = run(config(tmp_path, *small.MODELS))
    assert (reused(fresh), len(reused(after))) == ([], len(small.MODELS))
    assert figures(after) == figures(fresh)


def test_a_model_that_one_fold_alone_must_learn_is_refused_in_buckets(
    tmp_path: Path, kept: Path
) -> None:
    model = {"name": "knn", "use": "baselines.item_knn:ItemKNN"}
    settings = config(tmp_path, model, split={"strategy": "time", "valid_days": 2, "folds": 2})
    run(settings)
    shutil.rmtree(next(kept.iterdir()))
    with (
        small.in_buckets(3),
        refusal(UsageError, "1 model learns from all events at once: knn; allow"),
    ):
        run(settings)


def test_each_fold_has_its_own(tmp_path: Path) -> None:
    def folds(number: int) -> Config:
        split = {"strategy": "time", "valid_days": 2, "folds": number}
        return config(tmp_path, split=split)

    first = run(folds(2))
    assert fits(tmp_path) == 2
    second = run(folds(2))
    assert (reused(second), fits(tmp_path)) == (["mine", "random"], 2)
    assert figures(second) == figures(first)
    third = run(folds(3))
    assert fits(tmp_path) == 3
    assert [reused(fold) for fold in third.folds] == [[], ["mine", "random"], ["mine", "random"]]
    assert reused(third) == []


def test_some_models_alone(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["mine", "popular"]}
    models = counted(tmp_path), POPULAR, both, RANDOM
    settings = config(tmp_path, *models, compare={"baseline": "random"})
    assert [m.name for m in run(settings, models=["random"]).models] == ["random"]
    found = run(settings, models=["both"])
    assert sorted(m.name for m in found.models) == ["both", "mine", "popular"]
    assert [m["name"] for m in found.config["models"]] == ["mine", "popular", "both"]
    assert reused(run(settings)) == ["both", "mine", "popular", "random"]
    with pytest.raises(UsageError, match=r'no model "randm" in the config; did you mean "random"'):
        run(settings, models=["randm"])


FROM = "from baselines.popular import Popular"
OWN = FROM + "\nfrom pathlib import Path\n{}\nclass Mine(Popular):\n"
LOSES = "    def fit_steps(self, train):\n        Path(__file__).with_name('log.csv').unlink()\n"
RUNS = "import importlib.util\nimportlib.util.spec_from_file_location('helped', 'helped.py')"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            OWN.format(RUNS) + "    pass\n",
            "mine.py runs files that need not be modules (spec_from_file_location)",
        ),
        (
            OWN.format("") + LOSES + "        yield from super().fit_steps(train)\n",
            "{folder}/log.csv cannot be read any more",
        ),
    ],
)
def test_what_is_not_certain_is_not_kept_and_that_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, source: str, why: str
) -> None:
    small.write(tmp_path, {"mine.py": source})
    assert reused(run(config(tmp_path, {"name": "mine", "use": "mine:Mine"}))) == []
    told = "not kept for later runs, so that the same command evaluates anew: mine"
    assert caplog.messages == [f"{told} ({why.format(folder=tmp_path)})"]
