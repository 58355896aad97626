"""Tuning a model whose best parameter is known, its record, and what it never looks at."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal

import harness
from harness import config as config_
from harness.config import Config
from harness.core.errors import RecommenderError, UsageError
from harness.experiment.run import run
from harness.protocol.task import make_task
from harness.tuning.result import Tuned, shown
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
OTHER = "zoe,f,2020-01-09\naaa,a,2020-01-09\nbob,e,2020-01-09\n"

SHELF = """
import numpy as np

class Shelf:
    '''Recommends the one candidate that stands at a place.'''

    def __init__(self, place, tilt=0.0, tag=""):
        self.place, self.tilt, self.tag = place, tilt, tag

    def fit(self, train):
        if self.place == 4:
            raise ValueError("nothing there")
        return self

    def recommend(self, users, k, draws, exclude=None):
        lists = np.full((len(users), k), -1, np.int32)
        lists[:, 0] = int(self.place + self.tilt)
        return lists
"""
PLACES = {"place": {"low": 0, "high": 4}}
MODEL = {"name": "shelf", "use": "plugged:Shelf", "params": {"place": 0}, "space": PLACES}


def config(
    folder: Path,
    *models: dict[str, Any],
    evaluation_set: str = HELD_OUT,
    evaluation: Any = None,
    **tune: Any,
) -> Config:
    small.write(folder, {"plugged.py": SHELF})
    asked = evaluation or {"metrics": ["MAP@1"]}
    log = LOG + evaluation_set
    return small.config(folder, *(models or (MODEL,)), log=log, evaluation=asked, tune=tune)


def made(tuned: Tuned, model: int = 0) -> list[tuple[Any, float | None]]:
    found = tuned.models[model]
    return [(found.params(trial), trial.value) for trial in found.trials]


def best(tuned: Tuned) -> Any:
    (found,) = tuned.models
    return found.params(found.best)


@pytest.mark.parametrize("search", ["random", "tpe"])
@pytest.mark.parametrize("space", [PLACES, {"tilt": {"low": 0.0, "high": 5.0}}])
def test_the_best_is_found(tmp_path: Path, search: str, space: dict[str, Any]) -> None:
    tuned = tune(config(tmp_path, MODEL | {"space": space}, search=search))
    (model,) = tuned.models
    (name,) = space
    assert int(best(tuned)[name]) == 2
    assert model.best.value == 1
    assert model.untuned.value == 0
    assert int(tuned.config.models[0].params[name]) == 2


@pytest.mark.parametrize("search", ["random", "tpe"])
def test_trials_are_so_many_different_choices(tmp_path: Path, search: str) -> None:
    """Five choices and five trials: all of them, however often one is drawn."""
    model = MODEL | {"params": {"place": 0, "tag": "as it was"}, "space": {"tag": list("abcde")}}
    tuned = tune(config(tmp_path, model, search=search, trials=5))
    assert sorted(params["tag"] for params, _ in made(tuned)[1:]) == list("abcde")
    assert tuned.models[0].again == 0


def test_a_whole_is_tuned_on_the_best_of_its_parts(tmp_path: Path) -> None:
    """Of places 0 and 2 the shelf's best is 2, with which the whole earns 1; as it is, nothing."""
    whole = {"name": "whole", "use": "baselines.blend:Blend", "of": ["shelf"]}
    part = MODEL | {"space": {"place": [0, 2]}}
    tuned = tune(
        config(tmp_path, whole | {"space": {"depth": [1, 2]}}, part, search="grid"),
    )
    assert [model.name for model in tuned.models] == ["whole", "shelf"], "in the config's order"
    assert tuned.models[0].untuned.value == 1
    assert tuned.config.models[0].tuned is not None
    assert tuned.config.models[0].tuned.value == 1


def test_a_grid_has_every_combination_once(tmp_path: Path) -> None:
    """Place 0 is what the model has already, so its trial is not made again."""
    space = {"place": [0, 2, 4], "tag": ["x", "y"]}
    model = MODEL | {"params": {"place": 0, "tag": "x"}, "space": space}
    tuned = tune(config(tmp_path, model, search="grid"))
    assert made(tuned) == [
        ({"place": 0, "tag": "x"}, 0),
        ({"place": 0, "tag": "y"}, 0),
        ({"place": 2, "tag": "x"}, 1),
        ({"place": 2, "tag": "y"}, 1),
        ({"place": 4, "tag": "x"}, None),
        ({"place": 4, "tag": "y"}, None),
    ]
    (found,) = tuned.models
    assert best(tuned) == {"place": 2, "tag": "x"}  # as good as y, and earlier
    assert (len(found.searched), found.again) == (5, 1)
    assert "1 of 6 trials not made: no other choice of parameters came up" in repr(tuned)
    assert tuned.config.models[0].tuned == config_.TunedRecord(
        trials=5,
        search="grid",
        seed=42,
        metric="MAP@1",
        value=1.0,
        exam=tuned.evaluation.fingerprint,
    )


def test_what_no_trial_beats_is_kept(tmp_path: Path) -> None:
    tuned = tune(config(tmp_path, MODEL | {"params": {"place": 2}, "space": {"place": [0, 2]}}))
    assert tuned.models[0].best is tuned.models[0].untuned
    assert tuned.config.models[0].params == {"place": 2}
    assert "no trial was better than the model as it is; its params are kept" in repr(tuned)


def test_a_metric_of_which_less_is_better_is_made_small(tmp_path: Path) -> None:
    """All lists have one item: the Gini index is 4/5 of five candidates, whichever it is."""
    settings = config(tmp_path, metric="Gini@1", search="grid")
    place = settings.models[0].model_copy(update={"space": {"place": [1, 2, 3]}})
    tuned = tune(settings.model_copy(update={"models": [place]}))
    assert tuned.metric.definition.better == "lower"
    assert tuned.models[0].best is tuned.models[0].untuned
    assert tuned.models[0].best.value == pytest.approx(4 / 5)


def test_the_first_metric_counts_unless_another_is_named(tmp_path: Path) -> None:
    evaluation = {"k": 2, "metrics": ["Recall@2", "MAP@1"]}
    assert str(tune(config(tmp_path, evaluation=evaluation, trials=1)).metric) == "Recall@2"
    named = config(tmp_path, evaluation=evaluation, trials=1, metric="NDCG@1")
    assert str(tune(named).metric) == "NDCG@1"


def test_failed_trials_are_counted_and_told(tmp_path: Path) -> None:
    tuned = tune(config(tmp_path, MODEL | {"space": {"place": [2, 4, 3]}}, search="grid"))
    failed = tuned.models[0].trials[2]
    assert failed.value is None
    assert 'model "shelf" raised in fit: ValueError: nothing there' in failed.user_attrs["error"]
    assert "3 trials, 1 failed" in repr(tuned)
    assert "nothing there" in repr(tuned)
    result = tuned.to_dict()["models"][0]
    assert (result["failed"], result["results"][2]["mean"], result["best"]) == (1, None, 1)


def test_a_model_of_which_every_trial_fails_ends_the_search(tmp_path: Path) -> None:
    with refusal(RecommenderError, 'model "shelf": every trial failed (1)', "nothing there"):
        tune(config(tmp_path, MODEL | {"space": {"place": [4]}}, search="grid"))


def test_a_parameter_without_a_value_before_the_search(tmp_path: Path) -> None:
    """The model cannot be made as it is, which is no reason not to tune it."""
    tuned = tune(
        config(tmp_path, MODEL | {"params": {}, "space": {"place": [0, 2]}}, search="grid")
    )
    assert tuned.models[0].untuned.value is None
    assert tuned.config.models[0].params == {"place": 2}


@pytest.mark.parametrize("search", ["random", "tpe", "grid"])
def test_what_is_held_out_changes_no_trial(tmp_path: Path, search: str) -> None:
    """Two logs that differ in the held-out day alone, in users and items too."""
    space = {"place": [0, 1, 2, 3], "tag": ["x", "y"]}
    model = MODEL | {"space": space}
    settings = [
        config(tmp_path / name, model, evaluation_set=evaluation_set, search=search, trials=9)
        for name, evaluation_set in (("one", HELD_OUT), ("other", OTHER))
    ]
    one, other = (tune(each) for each in settings)
    prints = [make_task(each).evaluation_set.fingerprint for each in settings]
    assert prints[0] != prints[1]
    assert made(one) == made(other)
    assert one.config.models == other.config.models
    assert timeless(one) == timeless(other)


def timeless(tuned: Tuned) -> Any:
    document = json.loads(json.dumps(tuned.to_dict()))
    for result in (result for model in document["models"] for result in model["results"]):
        del result["seconds"]
    return document


def test_another_model_changes_no_trial(tmp_path: Path) -> None:
    other = MODEL | {"name": "other", "params": {"place": 3}}
    alone = made(tune(config(tmp_path, trials=6)))
    both = config(tmp_path, other, MODEL, {**MODEL, "name": "fixed", "space": {}}, trials=6)
    assert made(tune(both), 1) == alone
    assert [model.name for model in tune(both).models] == ["other", "shelf"]
    assert [model.name for model in tune(both, models=["shelf"]).models] == ["shelf"]
    assert [bool(m.tuned) for m in tune(both, models=["shelf"]).config.models] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("values", "place", "end"),
    [
        ([0, 1, 2], 2, "high"),
        ([2, 3, 5], 2, "low"),
        ([1, 2, 3], 2, ""),
        ([1, 2], 2, ""),
        ({"low": 2, "high": 3}, 2, "low"),
        ({"low": 1, "high": 3}, 2, ""),
    ],
)
def test_the_best_at_the_edge_is_told(tmp_path: Path, values: Any, place: int, end: str) -> None:
    tuned = tune(config(tmp_path, MODEL | {"space": {"place": values}}))
    assert best(tuned) == {"place": place}
    assert tuned.models[0].at_the_edge == ({"place": end} if end else {})
    assert (f"the best place, 2, lies at the {end} end of its space" in repr(tuned)) == bool(end)


@pytest.mark.parametrize(
    ("models", "keys", "names", "parts"),
    [
        ([MODEL | {"space": {}}], {}, (), ["no model has a space", "space = {"]),
        ([MODEL], {}, ("shlf",), ['no model "shlf"', 'did you mean "shelf"']),
        (
            [MODEL, {**MODEL, "name": "other", "space": {}}],
            {}, ("other",), ['model "other" has no space', "allowed: shelf"],
        ),
        ([MODEL], {"search": "grid"}, (), ['model "shelf"', "space.place is a range"]),
        (
            [MODEL | {"space": {"plaec": [1]}}],
            {}, (), ['no parameter "plaec"', 'did you mean "place"'],
        ),
        ([MODEL], {"metric": "Novelty@1"}, (), ["Novelty@1", "neither", "[tune] metric"]),
    ],
)  # fmt: skip
def test_what_cannot_be_tuned(
    tmp_path: Path, models: Any, keys: Any, names: Any, parts: list[str]
) -> None:
    with refusal(UsageError, *parts):
        tune(config(tmp_path, *models, **keys), models=names)


def test_the_written_config_runs_and_shows_its_record(tmp_path: Path) -> None:
    other = {"name": "as it is", "use": "plugged:Shelf", "params": {"place": 1}}
    tuned = harness.tune(config(tmp_path, MODEL, other))
    tuned.write(tmp_path / "tuned.toml")
    values = tomllib.loads((tmp_path / "tuned.toml").read_text())
    assert values["data"] == {"layout": "table", "path": ".", "events": "log.csv", "cache": False}
    first = values["models"][0]
    assert (first["use"], first["params"], first["space"]) == (
        "plugged:Shelf",
        {"place": 2},
        PLACES,
    )
    record = {
        "trials": 5 - 1, "search": "random", "seed": 42, "metric": "MAP@1", "value": 1.0,
        "exam": tuned.evaluation.fingerprint,
    }  # fmt: skip
    assert first["tuned"] == record  # of five places one is what the model has already
    result = run(tmp_path / "tuned.toml")
    assert {m["name"]: m["tuned"] for m in result.to_dict()["models"]} == {
        "shelf": record, "as it is": None,
    }  # fmt: skip
    assert "tuned  on an inner split of train: shelf (4 trials)" in repr(result)
    assert result.to_pandas()["tuned"].to_dict() == {"shelf": 4, "as it is": 0}
    assert {record["model"]: record["tuned"] for record in result.records()} == {
        "shelf": 4, "as it is": 0,
    }  # fmt: skip


def test_a_config_in_another_folder_finds_its_files(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "mine.py").write_text(
        "def early(hits, n_relevant, k):\n    return float(hits[0])"
    )
    settings = config(
        tmp_path / "shop", evaluation={"k": 2, "metrics": ["mine:early@1"]}, metric="mine:early@1"
    )
    tuned = tune(settings)
    tuned.write(tmp_path / "deep" / "er" / "tuned.toml")
    again = config_.read(tmp_path / "deep" / "er" / "tuned.toml")
    assert again.layout() == settings.layout()
    assert again.models[0].use == f"{tmp_path / 'shop' / 'plugged.py'}:Shelf"
    assert run(again).models[0].tuned is not None
    assert made(tune(again)) != []


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    tuned = tune(config(tmp_path, trials=1))
    path = tmp_path / "tuned.toml"
    path.write_text("mine")
    with pytest.raises(UsageError, match=r"tuned\.toml: is there already; .*--force"):
        tuned.write(path)
    assert path.read_text() == "mine"
    tuned.write(path, force=True)
    assert config_.read(path).models[0].tuned is not None


def test_the_document(tmp_path: Path) -> None:
    space = {"place": [2], "tag": [math.inf, {"of": [1.5, True]}]}
    tuned = tune(config(tmp_path, MODEL | {"space": space}, search="grid"))
    document = timeless(tuned)
    fields = document["evaluation"].pop("fields")
    assert set(fields) == {"k", "users", "candidates", "truth", "seen"}
    low = pytest.approx(math.sqrt(0.025))  # two users with equal values: chance² = 0.025
    wide = pytest.approx(1 - math.sqrt(0.025))
    assert document == {
        "schema": 1,
        "evaluation": {
            "k": 2, "users": 2, "candidates": 5, "fingerprint": tuned.evaluation.fingerprint,
            "fingerprint_format": 2, "layout": "table", "window": "1 day from 2020-01-08",
        },
        "metric": "MAP@1",
        "search": "grid",
        "seed": 42,
        "models": [{
            "name": "shelf", "trials": 2, "failed": 0, "again": 0, "reused": 0, "best": 1,
            "at_the_edge": {},
            "results": [
                {
                    "trial": 0, "params": {"place": 0},
                    "mean": 0, "ci95": [0, wide], "error": None, "reused": False,
                },
                {
                    "trial": 1, "params": {"place": 2, "tag": "inf"},
                    "mean": 1.0, "ci95": [low, 1], "error": None, "reused": False,
                },
                {
                    "trial": 2, "params": {"place": 2, "tag": {"of": [1.5, True]}},
                    "mean": 1.0, "ci95": [low, 1], "error": None, "reused": False,
                },
            ],
        }],
    }  # fmt: skip


def test_a_table_a_model_and_a_record_a_trial(tmp_path: Path) -> None:
    other = {**MODEL, "name": "other", "space": {"tag": ["x", "y"]}}
    tuned = tune(config(tmp_path, MODEL | {"space": {"place": [1, 2]}}, other, search="grid"))
    lines = repr(tuned).splitlines()
    evaluation_set = f"k = 2 · 2 users · 5 candidates · {tuned.evaluation.fingerprint[:6]}"
    assert lines[:2] == [
        f"inner  table · 1 day from 2020-01-08, of train · {evaluation_set}",
        "tune   shelf · MAP@1 · grid search, 2 trials",
    ]
    assert [line.split()[:3] for line in lines[3:7]] == [
        ["rank", "place", "MAP@1"],
        ["1", "2", "1.0000"],
        ["2", "1", "0.0000"],
        ["untuned", "0", "0.0000"],
    ]
    assert sum(line.startswith("tune ") for line in lines) == 2
    frame = tuned.to_pandas()
    assert list(frame.columns) == [
        "model", "trial", "params.place", "params.tag",
        "MAP@1", "MAP@1 low", "MAP@1 high", "seconds", "error",
    ]  # fmt: skip
    assert frame["trial"].tolist() == [0, 1, 2, 0, 1, 2]
    assert tuned._repr_html_().count("<table>") == 2


def test_numbers_are_shown_with_four_figures() -> None:
    values = [0.00012346, 12345678.9, 7, True, "cosine", [1, 2]]
    assert list(map(shown, values)) == ["0.0001235", "12345679", "7", "true", "cosine", "[1, 2]"]
