"""Searches that were stopped go on, and others take the trials that they have in common."""

from pathlib import Path
from typing import Any

import pytest
import small

from harness.config import Config
from harness.tuning.result import Tuned
from harness.tuning.tuning import tune

LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-01
cid,a,2020-01-01
cid,b,2020-01-02
cid,d,2020-01-02
dan,c,2020-01-05
dan,e,2020-01-05
ann,c,2020-01-08
bob,c,2020-01-08
ann,d,2020-01-09
"""
"""Candidates a to e; on the 8th, the inner window, everybody's truth is c, the third of them."""
SHELF = """
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent

def limit(name):
    return int((HERE / name).read_text()) if (HERE / name).exists() else 10**9

class Shelf:
    '''Recommends the candidate at a place; writes down when it learns, and stops where it must.'''

    def __init__(self, place=0, tilt=0.0, kind=""):
        self.place, self.tilt, self.kind = place, tilt, kind

    def fit(self, train):
        fits = len((HERE / "fits").read_text().split())
        if fits >= limit("stop"):
            raise KeyboardInterrupt
        with open(HERE / "fits", "a") as handle:
            handle.write("fit ")
        if self.place == 4:
            raise ValueError("nothing there")
        return self

    def recommend(self, users, k, draws, exclude=None):
        lists = np.full((len(users), k), -1, np.int32)
        lists[:, 0] = int(self.place + self.tilt) % 5
        return lists
"""
TILT = {"tilt": {"low": 0.0, "high": 5.0}}
GRID = {"place": [0, 1, 2, 3], "kind": ["x", "y"]}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials are kept of files that were written just now as well."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    small.write(tmp_path, {"own.py": SHELF, "log.csv": LOG, "fits": ""})


def shelf(space: Any = TILT, **keys: Any) -> dict[str, Any]:
    return {"name": "shelf", "use": "own:Shelf", "space": space, **keys}


def values(**sections: Any) -> dict[str, Any]:
    own: dict[str, dict[str, Any]] = {
        "data": {"cache": True},
        "evaluation": {"k": 1, "metrics": ["MAP@1"]},
        "tune": {"trials": 8},
    }
    return {name: given | sections.pop(name, {}) for name, given in own.items()} | sections


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    return small.config_of(folder, *(models or (shelf(),)), **values(**sections))


def fits(folder: Path) -> int:
    """Return how often a model has learnt."""
    return len((folder / "fits").read_text().split())


def found(tuned: Tuned) -> Any:
    """Return all that is found but seconds, and where trials are from."""
    document = small.timeless(tuned.to_dict(), "reused")
    return document, [model.model_dump() for model in tuned.config.models]


def reused(tuned: Tuned) -> list[int]:
    """Return the numbers of the trials of the first model that an earlier search made."""
    results = tuned.to_dict()["models"][0]["results"]
    return [result["trial"] for result in results if result["reused"]]


def stop(folder: Path, config: Config, at: int) -> None:
    """Search until a model is to learn once more than so many times, and stop there."""
    (folder / "stop").write_text(str(fits(folder) + at))
    with pytest.raises(KeyboardInterrupt):
        tune(config)
    (folder / "stop").unlink()


SEARCHES: dict[str, Any] = {
    "tpe": (TILT, {"search": "tpe"}),
    "grid": (GRID, {"search": "grid"}),
    "few choices": ({"place": [0, 1, 2, 3, 5]}, {"search": "random"}),
    "lower is better": (TILT, {"search": "random", "metric": "Gini@1"}),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_stopped_goes_on(tmp_path: Path, name: str) -> None:
    """Nothing that was finished is made again, and all is found that one go finds."""
    space, rules = SEARCHES[name]
    model = shelf(space, params={"place": 0, "kind": "x"})
    whole = tune(config(tmp_path, model, tune=rules, data={"cache": False}))
    once = fits(tmp_path)
    settings = config(tmp_path, model, tune=rules)
    stop(tmp_path, settings, 2)
    stop(tmp_path, settings, 2)
    resumed = tune(settings)
    assert reused(resumed) == [0, 1, 2, 3]
    assert fits(tmp_path) == 2 * once
    assert found(resumed) == found(whole)


def test_what_is_taken_is_told(tmp_path: Path) -> None:
    settings = config(tmp_path)
    stop(tmp_path, settings, 1)
    assert "reused  the model as it is, of an earlier search" in str(tune(settings))
    assert "reused  8 trials and the model as it is" in str(tune(settings))
    assert (tune(settings).to_dict()["models"][0]["reused"], fits(tmp_path)) == (8, 9)
    anew = tune(settings, fresh=True)
    assert ("reused" in str(anew), reused(anew), fits(tmp_path)) == (False, [], 18)
    (tmp_path / "own.py").write_text(SHELF + "# a comment\n")
    changed = tune(settings)
    assert (reused(changed), fits(tmp_path)) == ([], 27)
    assert "reused" not in str(changed)


@pytest.mark.parametrize("search", ["random", "tpe"])
def test_more_trials_take_those_they_have_in_common(tmp_path: Path, search: str) -> None:
    """TPE draws the first third at random: two of 8, and eight of 24."""
    rules = {"search": search, "trials": 8}
    tune(config(tmp_path, tune=rules))
    more = reused(tune(config(tmp_path, tune={**rules, "trials": 24})))
    assert more[:3] == [0, 1, 2]
    assert search == "tpe" or more == list(range(9))


def test_what_proposed_a_choice_is_nothing_to_its_score(tmp_path: Path) -> None:
    """A wider grid, other params as they are, another search: what was scored once is known."""
    grid = {"search": "grid"}
    tune(config(tmp_path, shelf({"place": [1, 2]}, params={"place": 0}), tune=grid))
    assert fits(tmp_path) == 3
    wider = shelf({"place": [1, 2, 3]}, params={"place": 2})
    assert reused(tune(config(tmp_path, wider, tune=grid))) == [0, 1]
    assert fits(tmp_path) == 4
    drawn = tune(config(tmp_path, wider, tune={"search": "random", "seed": 3, "trials": 3}))
    assert reused(drawn) == [0, 1, 2]
    assert fits(tmp_path) == 4


def test_what_a_model_is_made_of_need_not_learn_again(tmp_path: Path) -> None:
    part = shelf({"place": [1, 2]}, name="part")
    whole = {"name": "whole", "use": "baselines.blend:Blend", "of": ["part"]}
    whole |= {"space": {"depth": [1, 2]}}
    settings = config(tmp_path, whole, part, tune={"search": "grid"})
    tune(settings)
    assert fits(tmp_path) == 4
    assert (reused(tune(settings)), fits(tmp_path)) == ([0, 1, 2], 4)
    worse = config(tmp_path, whole, {**part, "space": {"place": [1, 3]}}, tune={"search": "grid"})
    assert reused(tune(worse)) == []
