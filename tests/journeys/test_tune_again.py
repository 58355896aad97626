"""Trials that earlier searches finished: made once while all is the same, else anew."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small

from harness.config import Config
from harness.experiment import sources
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
        if self.kind == "late":
            import {helper}
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

def first(hits, n_relevant, k):
    return float(hits[0])
"""
TILT = {"tilt": {"low": 0.0, "high": 5.0}}
GRID = {"place": [0, 1, 2, 3], "kind": ["x", "y"]}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where trials are kept, of files that were written just now as well."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    monkeypatch.syspath_prepend(tmp_path)
    own = SHELF.replace("{helper}", helper(tmp_path))
    more = {"own.py": own, f"{helper(tmp_path)}.py": "", "log.csv": LOG, "fits": ""}
    small.write(tmp_path, more)
    yield tmp_path / "cache/trials"
    sys.modules.pop(helper(tmp_path), None)


def helper(folder: Path) -> str:
    return f"late_{abs(hash(folder)):x}"


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
    document = tuned.to_dict()
    for model in document["models"]:
        del model["reused"]
        for result in model["results"]:
            del result["seconds"], result["reused"]
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
    "random": (TILT, {"search": "random"}),
    "tpe": (TILT, {"search": "tpe"}),
    "grid": (GRID, {"search": "grid"}),
    "few choices": ({"place": [0, 1, 2, 3, 5]}, {"search": "random"}),
    "lower is better": (TILT, {"search": "tpe", "metric": "Gini@1"}),
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
    stop(tmp_path, settings, 3)
    resumed = tune(settings)
    said = "reused  3 trials and the model as it is, of an earlier search; --fresh evaluates all"
    assert said in str(resumed)
    assert resumed.to_dict()["models"][0]["reused"] == 3
    assert "reused  8 trials and the model as it is" in str(tune(settings))
    assert "reused" not in str(tune(settings, fresh=True))


def test_after_one_trial_the_model_as_it_is_is_all(tmp_path: Path) -> None:
    stop(tmp_path, config(tmp_path), 1)
    assert "reused  the model as it is, of an earlier search" in str(tune(config(tmp_path)))


def test_a_model_that_failed_is_asked_again(tmp_path: Path) -> None:
    model = shelf({"place": [4, 2, 3]})
    first = tune(config(tmp_path, model, tune={"search": "grid"}))
    again = tune(config(tmp_path, model, tune={"search": "grid"}))
    assert reused(again) == [0, 2, 3]
    assert fits(tmp_path) == 5
    assert found(again) == found(first)


def test_fresh_makes_all_anew_and_keeps_them(tmp_path: Path) -> None:
    first = tune(config(tmp_path))
    anew = tune(config(tmp_path), fresh=True)
    assert (reused(anew), fits(tmp_path)) == ([], 18)
    assert found(anew) == found(first)
    assert reused(tune(config(tmp_path))) == list(range(9))


def test_without_the_cache_nothing_is_kept(tmp_path: Path, kept: Path) -> None:
    for _ in range(2):
        assert reused(tune(config(tmp_path, data={"cache": False}))) == []
    assert not kept.exists()


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


OTHER: dict[str, dict[str, Any]] = {
    "seed": {"evaluation": {"seed": 7}},
    "metric": {"tune": {"metric": "Recall@1"}},
    "inner split": {"tune": {"split": {"strategy": "last_n", "n": 1}}},
}


@pytest.mark.parametrize("name", OTHER)
def test_another_evaluation_has_other_trials(tmp_path: Path, name: str) -> None:
    tune(config(tmp_path))
    changed = tune(config(tmp_path, **OTHER[name]))
    assert reused(changed) == []
    assert "reused" not in str(changed)


def test_other_events_are_other_trials(tmp_path: Path) -> None:
    tune(config(tmp_path))
    with (tmp_path / "log.csv").open("a") as log:
        log.write("bob,d,2020-01-02\n")
    assert reused(tune(config(tmp_path))) == []


@pytest.mark.parametrize("file", ["own.py", "helper"])
def test_changed_source_is_evaluated_anew_and_told(tmp_path: Path, file: str) -> None:
    """The helper is imported when the model learns, after all classes are known."""
    model = shelf(params={"kind": "late"})
    tune(config(tmp_path, model))
    assert reused(tune(config(tmp_path, model))) == list(range(9))
    path = tmp_path / (f"{helper(tmp_path)}.py" if file == "helper" else file)
    path.write_text(path.read_text() + "# a comment\n")
    sys.modules.pop(helper(tmp_path))  # as in another process: else it is in memory as it was
    sources._when_met.cache_clear()
    stop(tmp_path, config(tmp_path, model), 2)
    anew = tune(config(tmp_path, model))
    assert (reused(anew), fits(tmp_path)) == ([0, 1], 18)
    assert f"; evaluated anew: {path.name} has changed; --fresh evaluates all anew" in str(anew)


def test_trials_of_a_class_that_changes_meanwhile_are_not_kept(tmp_path: Path) -> None:
    """Each trial reads the class from its file; nobody knows which of the two it had."""
    own = (tmp_path / "own.py").read_text()
    writes = "        Path(__file__).write_text(Path(__file__).read_text().rstrip('#') + '#')\n"
    (tmp_path / "own.py").write_text(own.replace("        fits =", f"{writes}        fits ="))
    tune(config(tmp_path))
    assert reused(tune(config(tmp_path))) == []


def test_a_score_follows_from_the_source_of_its_metric(tmp_path: Path) -> None:
    """The model is of a package, and nothing of it lies beside the config."""
    model = small.POPULAR | {"space": {"window_days": [1, 2]}}
    rules = {"search": "grid", "metric": "mine:first@1"}
    (tmp_path / "mine.py").write_text(SHELF[SHELF.index("def first") :])
    tune(config(tmp_path, model, tune=rules))
    assert reused(tune(config(tmp_path, model, tune=rules))) == [0, 1, 2]
    text = (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text(text.replace("hits[0]", "hits[0] / 2"))
    anew = tune(config(tmp_path, model, tune=rules))
    assert reused(anew) == []
    assert "evaluated anew: mine.py has changed" in str(anew)


def test_a_model_follows_from_its_base_models_as_they_are_tuned(tmp_path: Path) -> None:
    part = shelf({"place": [1, 2]}, name="part")
    whole = {"name": "whole", "use": "baselines.blend:Blend", "of": ["part"]}
    whole |= {"space": {"depth": [1, 2]}}
    tune(config(tmp_path, whole, part, tune={"search": "grid"}))
    assert fits(tmp_path) == 4
    assert reused(tune(config(tmp_path, whole, part, tune={"search": "grid"}))) == [0, 1, 2]
    assert fits(tmp_path) == 4, "what the whole is made of need not learn"
    worse = {**part, "space": {"place": [1, 3]}}
    assert reused(tune(config(tmp_path, whole, worse, tune={"search": "grid"}))) == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "empty"])
def test_a_damaged_trial_is_made_anew(tmp_path: Path, kept: Path, damage: str) -> None:
    first = tune(config(tmp_path))
    notes = next(iter(kept.iterdir())) / "meta.json"
    text = notes.read_text()
    match damage:
        case "gone":
            notes.unlink()
        case "flipped":
            notes.write_text(text.replace('"value": ', '"value": 1'))
        case _:
            notes.write_text(text[:-9] if damage == "cut" else "")
    again = tune(config(tmp_path))
    assert (len(reused(again)), fits(tmp_path)) == (8, 10)
    assert found(again) == found(first)
    assert len(reused(tune(config(tmp_path)))) == 9


def test_a_place_that_cannot_be_written_costs_nothing_and_is_told(
    tmp_path: Path, kept: Path
) -> None:
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("a file")
    first = tune(config(tmp_path))
    assert found(first) == found(tune(config(tmp_path)))
    assert f"not kept for another search: nothing can be written to {kept}; make room" in str(first)
    assert kept.read_text() == "a file"


SEARCH = """
import sys
from pathlib import Path
from harness.tuning.tuning import tune
print(tune(Path(sys.argv[1])).to_json())
"""


def searching(folder: Path) -> subprocess.Popen[str]:
    """Start a process that searches."""
    small.write(folder, {"exam.toml": small.toml(shelf(), **values())})
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-c", SEARCH, str(folder / "exam.toml")],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_searches_at_once_find_the_same_and_share_what_they_found(tmp_path: Path) -> None:
    both = [searching(tmp_path) for _ in range(2)]
    told = [process.communicate(timeout=100) for process in both]
    assert [(process.returncode, err) for process, (_, err) in zip(both, told, strict=True)] == [
        (0, ""),
        (0, ""),
    ]
    last = tune(config(tmp_path))
    assert reused(last) == list(range(9))
    for out, _ in told:
        models = json.loads(out)["models"]
        assert [r["mean"] for r in models[0]["results"]] == [t.value for t in last.models[0].trials]
