"""Tuning models whose best parameters are known, and what is taken of earlier searches."""

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from small import Model, timeless

from harness.comparison.leaderboard import leaderboard
from harness.config import Config
from harness.core.errors import RecommenderError, UsageError
from harness.evaluation.run import run
from harness.report.page import page
from harness.results.run import read
from harness.tuning.result import Tuned, TunedModel
from harness.tuning.tuning import tune

LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-01
cid,d,2020-01-02
dan,c,2020-01-05
dan,e,2020-01-05
ann,c,2020-01-08
bob,c,2020-01-08
"""
"""Candidates a to e; on the 8th, the inner window, everybody's truth is c, the third of them."""
HELD_OUT = "ann,d,2020-01-09\ncid,b,2020-01-09\n"
SHELF = """
from pathlib import Path
import numpy as np

FITS, STOP = (Path(__file__).with_name(name) for name in ("fits", "stop"))

class Shelf:
    '''Recommends the candidate that stands at a place, or the next ones to the next users.'''

    def __init__(self, place, tilt=0.0, tag="", apart=0):
        self.place, self.tilt, self.tag, self.apart = place, tilt, tag, apart

    def fit(self, train):
        if STOP.exists() and FITS.stat().st_size >= int(STOP.read_text()):
            raise KeyboardInterrupt
        with FITS.open("a") as fits:
            fits.write("x")
        if self.place == 4:
            raise ValueError("nothing there")
        return self

    def recommend(self, users, k, draws, exclude=None):
        lists = np.full((len(users), k), -1, np.int32)
        lists[:, 0] = (int(self.place + self.tilt) + self.apart * users) % 5
        return lists
"""
PLACES = {"place": {"low": 0, "high": 4}}
MODEL = {"name": "shelf", "use": "plugged:Shelf", "params": {"place": 0}, "space": PLACES}
WHOLE = {"name": "whole", "use": "baselines.blend:Blend", "of": ["shelf"]}
WHOLE |= {"space": {"depth": [1, 2]}}
GRID = {"place": [0, 2, 4], "tag": ["x", "y"]}


def config(
    folder: Path, *each: Model, models: Sequence[Model] = (), end: str = HELD_OUT, **sections: Any
) -> Config:
    small.write(folder, {"plugged.py": SHELF, "fits": "", "log.csv": LOG + end})
    return config_of(folder, models=models or each, **sections)


def config_of(folder: Path, models: Sequence[Model], data: Any = (), **rules: Any) -> Config:
    asked = {"metrics": ["MAP@1"]}
    return small.config_of(
        folder, models=models or [MODEL], data=dict(data), evaluation=asked, tune=rules
    )


def made(model: TunedModel) -> list[tuple[Any, float | None]]:
    return [(trial.params, trial.mean) for trial in model.results]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A grid of a model, of which a part fails, and of what is made of it; one is not tuned."""
    model = MODEL | {"params": {"place": 0, "tag": "x"}, "space": GRID}
    other = {"name": "as it is", "use": "plugged:Shelf", "params": {"place": 1}}
    return tune(config(tmp_path_factory.mktemp("tune"), WHOLE, model, other, search="grid"))


def test_a_grid_has_every_combination_once(done: Tuned) -> None:
    """Place 0 is what the model has already, so its trial is not made again."""
    shelf = done.models[1]
    assert made(shelf) == [
        ({"place": 0, "tag": "x"}, 0),
        ({"place": 0, "tag": "y"}, 0),
        ({"place": 2, "tag": "x"}, 1),
        ({"place": 2, "tag": "y"}, 1),
        ({"place": 4, "tag": "x"}, None),
        ({"place": 4, "tag": "y"}, None),
    ]
    assert shelf.results[shelf.best].params == {"place": 2, "tag": "x"}  # as good as y, and earlier
    assert (shelf.trials, shelf.again) == (5, 1)
    failed = str(shelf.results[4].error)
    assert 'model "shelf" raised in fit: ValueError: nothing there' in failed


def test_a_whole_is_tuned_on_the_best_of_its_parts(done: Tuned) -> None:
    """With the shelf's best, place 2, the whole earns 1; with the shelf as it was, nothing."""
    assert [model.name for model in done.models] == ["whole", "shelf"], "in the config's order"
    whole, record = done.models[0], done.config.models[0].tuned
    assert whole.best == 0, "what no trial beats is kept"
    assert record is not None
    assert whole.results[0].mean == record.value == 1


def test_the_written_config_runs_and_shows_its_record(
    done: Tuned, tmp_path: Path, no_charts: None
) -> None:
    """In another folder, too."""
    path = tmp_path / "deep" / "tuned.toml"
    done.write(path)
    with refusal(UsageError, "tuned.toml: already exists"):
        done.write(path)
    shelf = tomllib.loads(path.read_text())["models"][1]
    assert (shelf["params"], shelf["space"]) == ({"place": 2, "tag": "x"}, GRID)
    exam = {"metric": "MAP@1", "exam": done.evaluation.fingerprint, "seed": 42}
    record = {"trials": 5, "search": "grid", "value": 1.0, **exam}
    result = run(path)
    tuned = {m["name"]: m["tuned"] for m in result.to_dict()["models"]}
    assert shelf["tuned"] == tuned["shelf"] == record
    assert tuned["as it is"] is None
    assert "tuned  on an inner split of train: " in repr(result)
    assert "shelf (5 trials)" in repr(result)
    trials = {"shelf": 5, "as it is": 0, "whole": 2}
    assert result.to_pandas()["tuned"].to_dict() == trials
    result.write(tmp_path / "run")
    assert "shelf · tuned × 5" in str(leaderboard(tmp_path / "run"))
    assert "Tuned on an inner split of train: " in page(read(tmp_path / "run"))


def test_a_table_a_model_and_a_record_a_trial(done: Tuned) -> None:
    lines = repr(done).splitlines()
    evaluation_set = f"k = 2 · 2 users · 5 candidates · {done.evaluation.fingerprint[:6]}"
    assert lines[0] == f"inner  table · 1 day from 2020-01-08, of train · {evaluation_set}"
    for words in (
        "tune   shelf · MAP@1 · grid search, 5 trials, 2 failed",
        "1 of 6 trials skipped: they would repeat parameters",
        "no trial was better than the model without tuning; its params are kept",
        "nothing there",
    ):
        assert words in repr(done)
    frame = done.to_pandas()
    params = ["params.depth", "params.place", "params.tag"]
    figures = ["MAP@1", "MAP@1 low", "MAP@1 high"]
    assert list(frame.columns) == ["model", "trial", *params, *figures, "seconds", "error"]
    assert frame["trial"].tolist() == [*range(len(done.models[0].results)), *range(6)]


def test_the_document_of_a_model_that_cannot_be_made_as_it_is(tmp_path: Path) -> None:
    """Which is no reason not to tune it; what JSON has no word for is a text."""
    space = {"place": [2], "tag": [math.inf, {"of": [1.5, True]}]}
    tuned = tune(config(tmp_path, MODEL | {"params": {}, "space": space}, search="grid"))
    assert tuned.config.models[0].params == {"place": 2, "tag": math.inf}
    (model,) = timeless(tuned.to_dict())["models"]
    untuned, *results = model.pop("results")
    counts = {"trials": 2, "failed": 0, "again": 0, "reused": 0, "best": 1}
    assert model == {"name": "shelf", "at_the_edge": {}, **counts}
    assert (untuned["trial"], untuned["params"], untuned["mean"]) == (0, {}, None)
    assert "place" in untuned["error"]
    low = pytest.approx(math.sqrt(0.025))  # two users with equal values: chance² = 0.025
    score = {"mean": 1.0, "ci95": [low, 1], "error": None, "reused": False}
    assert results == [
        {"trial": 1, "params": {"place": 2, "tag": "inf"}, **score},
        {"trial": 2, "params": {"place": 2, "tag": {"of": [1.5, True]}}, **score},
    ]


def test_a_metric_of_which_less_is_better_is_made_small(tmp_path: Path) -> None:
    """Of five candidates one is shown twice, G = 4/5, or two are shown once, G = 3/5."""
    model = MODEL | {"space": {"apart": [0, 1]}}
    (tuned,) = tune(config(tmp_path, model, metric="Gini@1", search="grid")).models
    assert [trial.mean for trial in tuned.results] == pytest.approx([0.8, 0.8, 0.6])
    assert tuned.results[tuned.best].params["apart"] == 1


def test_a_model_of_which_every_trial_fails_ends_the_search(tmp_path: Path) -> None:
    with refusal(RecommenderError, 'model "shelf": every trial failed (1)', "nothing there"):
        tune(config(tmp_path, MODEL | {"space": {"place": [4]}}, search="grid"))


FIXED = MODEL | {"name": "other", "space": {}}
LISTED = {"name": "shelf", "lists": "plugged.py"}


@pytest.mark.parametrize(
    ("models", "keys", "names", "parts"),
    [
        ([FIXED], {}, (), ["no model has a space", "space = {"]),
        ([MODEL], {}, ("shlf",), ['no model "shlf"', 'did you mean "shelf"']),
        (
            [MODEL, FIXED],
            {},
            ("other",),
            ['there is no model "other" with a space', "allowed: shelf"],
        ),
        ([MODEL | {"space": {"plaec": [1]}}], {}, (), ['"plaec"', 'did you mean "place"']),
        ([WHOLE, LISTED], {}, (), ['"whole": base model "shelf" is a file of precomputed lists']),
        ([MODEL], {"metric": "Novelty@1"}, (), ["Novelty@1", "neither", "[tune] metric"]),
    ],
)
def test_what_cannot_be_tuned(
    tmp_path: Path, models: Any, keys: Any, names: Any, parts: list[str]
) -> None:
    with refusal(UsageError, parts):
        tune(config(tmp_path, models=models, **keys), models=names)


# What earlier searches have found.


def reused(tuned: Tuned) -> list[int]:
    """Return the numbers of the trials of the last model that an earlier search made."""
    results = tuned.to_dict()["models"][-1]["results"]
    return [result["trial"] for result in results if result["reused"]]


TILTED = MODEL | {"space": {"tilt": {"low": 0.0, "high": 5.0}}}
SEARCHES: dict[str, Any] = {
    "tpe": [TILTED],
    "grid": [WHOLE, MODEL | {"space": {"place": [0, 1, 2, 3], "tag": ["x", "y"]}}],
}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_that_was_stopped_goes_on(tmp_path: Path, at_once: None, search: str) -> None:
    """Nothing that was finished is made again, and all is found that one go finds."""
    models, rules = SEARCHES[search], {"search": search}
    rules |= {"trials": 8} if search == "tpe" else {}
    whole = tune(config(tmp_path, models=models, **rules))
    best = whole.config.models[-1].params
    assert int(best["place"] + best.get("tilt", 0)) == 2
    fits, stop = tmp_path / "fits", tmp_path / "stop"
    once = fits.stat().st_size
    settings = config_of(tmp_path, models=models, data={"cache": True}, **rules)
    for n in (2, 4):
        stop.write_text(str(once + n))
        with pytest.raises(KeyboardInterrupt):
            tune(settings)
    stop.unlink()
    resumed = tune(settings)
    assert reused(resumed) == [0, 1, 2, 3]
    assert fits.stat().st_size == 2 * once
    assert timeless(resumed.to_dict(), "reused") == timeless(whole.to_dict(), "reused")
    assert resumed.config.models == whole.config.models
    again = tune(settings)
    assert (len(reused(again)), fits.stat().st_size) == (9, 2 * once)
