"""`harness.run` on models of a program: classes, objects and lists beside import paths."""

import io
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from small import LOG, timeless, write

import harness
from baselines.popular import Popular
from baselines.random_items import RandomItems
from harness.core.errors import HarnessError
from harness.experiment.result import Result

EVENTS = pl.read_csv(io.StringIO(LOG))
DAY = {"strategy": "time", "valid_days": 1}
LISTS = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["b", "a", "c"]})
"""Of the held-out day, ann b, bob d, cid a, the first alone hits."""


def run(models: Any, **others: Any) -> Result:
    keywords: dict[str, Any] = {"events": EVENTS, "split": DAY, "evaluation": {"k": 2}} | others
    found = harness.run(models=models, **keywords)
    assert isinstance(found, Result)
    return found


def mean(found: Result, name: str) -> float:
    return next(m.metrics["MAP@2"].mean for m in found.models if m.name == name)


class First:
    """Recommends the first candidates, a and b, or the last, to everyone."""

    def __init__(self, last: bool = False, seed: int = 0) -> None:
        self.last, self.seed = last, seed

    def fit(self, train: Any) -> "First":
        n = len(train.candidates)
        self.items_ = list(range(n))[:: -1 if self.last else 1]
        return self

    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return [self.items_[:k]] * len(users)


class Counting(First):
    """Counts how often it was fitted before, in itself."""

    fits = 0
    met: ClassVar[list[int]] = []

    def fit(self, train: Any) -> "Counting":
        self.met.append(self.fits)
        self.fits += 1
        super().fit(train)
        return self


class Uncopied(First):
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("cannot pickle a connection")


class NoFit:
    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return []


class Needs(First):
    def __init__(self, depth: int) -> None:
        super().__init__()
        self.depth = depth


class Fails(First):
    def fit(self, train: Any) -> "Fails":
        raise ValueError("too little")


FORMS: dict[str, tuple[Any, float]] = {
    # a, b: ann 1/2, bob 0, cid 1; and d, c of the last: bob 1
    "a class": (First, 1 / 2),
    "an object": (First(), 1 / 2),
    "an object with its own parameters": (First(last=True), 1 / 3),
    "a class with parameters": ({"use": First, "params": {"last": True}}, 1 / 3),
    "an object in a mapping": ({"use": First(last=True)}, 1 / 3),
    "an import path": ("baselines.popular:Popular", 1 / 2),
    "an import path in a mapping": ({"use": "baselines.popular:Popular"}, 1 / 2),
    "a class of ours": (Popular, 1 / 2),
    "an object of ours": (Popular(window_days=None), 1 / 2),
    "lists in a frame": (LISTS, 1 / 3),
    "lists in pandas": (LISTS.to_pandas(), 1 / 3),
    "lists by rank": (LISTS.with_columns(rank=pl.Series([1, 2, 1])).reverse(), 1 / 3),
    "lists in a mapping": ({"lists": LISTS}, 1 / 3),
}


@pytest.mark.parametrize("about", FORMS)
def test_every_form_of_a_model(about: str) -> None:
    given, expected = FORMS[about]
    assert mean(run({"mine": given}), "mine") == pytest.approx(expected, abs=1e-15)


def test_files_of_lists_and_beside_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path of text or `Path`; a module of the current folder."""
    write(
        tmp_path, {"l.csv": LISTS.write_csv(), "mine.py": "from baselines.popular import Popular"}
    )
    monkeypatch.chdir(tmp_path)
    found = run({"text": "l.csv", "path": Path("l.csv"), "beside": "mine:Popular"})
    assert [mean(found, name) for name in ("text", "path", "beside")] == [1 / 3, 1 / 3, 1 / 2]


def test_models_may_be_a_list_as_in_a_file() -> None:
    found = run([{"name": "mine", "use": First}, {"name": "lists", "lists": LISTS}])
    assert (mean(found, "mine"), mean(found, "lists")) == (1 / 2, 1 / 3)


def test_an_ensemble_of_a_class_and_an_object() -> None:
    """Both ways of saying the same base models: by import path and as objects."""
    blend = {"use": "baselines.blend:Blend", "of": ["one", "two"]}
    path = "baselines.popular:Popular"
    of_paths = run({"one": path, "two": path, "both": blend})
    of_objects = run({"one": Popular(), "two": Popular, "both": blend})
    assert of_objects.list_rows(["both"]).equals(of_paths.list_rows(["both"]))


def test_the_object_stays_as_it_was_given() -> None:
    """Every repeat fits a copy of what was given, which nobody has fitted before."""
    model = Counting()
    Counting.met.clear()
    run({"mine": {"use": Counting, "repeats": 2}, "other": model})
    assert Counting.met == [0, 0, 0]
    assert model.fits == 0
    assert not hasattr(model, "items_")


def test_repeats_of_a_class_have_seeds_of_their_own() -> None:
    by_path = run({"r": {"use": "baselines.random_items:RandomItems", "repeats": 3}})
    by_class = run({"r": {"use": RandomItems, "repeats": 3}})
    assert by_class.list_rows().equals(by_path.list_rows())


def test_a_changed_object_is_evaluated_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its events are a file, which is kept in the cache; the model is never."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    write(tmp_path, {"log.csv": LOG})
    events = str(tmp_path / "log.csv")
    models = {"mine": First(), "popular": Popular, "path": "baselines.popular:Popular"}
    first = run(models, events=events)
    again = run(models | {"mine": First(last=True)}, events=events)
    assert [mean(found, "mine") for found in (first, again)] == pytest.approx([1 / 2, 1 / 3])
    reused = {model.name: model.reused for model in again.models}
    assert reused == {"mine": False, "popular": False, "path": True}


def test_jobs_leave_objects_to_this_process(tmp_path: Path) -> None:
    write(tmp_path, {"log.csv": LOG})
    path = "baselines.popular:Popular"
    blend = {"use": "baselines.blend:Blend", "of": ["mine", "popular"]}
    models = {"mine": First(), "popular": path, "both": blend, "random": RandomItems}
    models["paths"] = {"use": path, "params": {"window_days": 2}}
    events = str(tmp_path / "log.csv")
    alone, shared = run(models, events=events), run(models, events=events, jobs=2, fresh=True)
    assert timeless(alone.to_dict()) == timeless(shared.to_dict())
    assert alone.list_rows().equals(shared.list_rows())


def test_a_model_that_fails_is_a_row_that_says_so() -> None:
    found = run({"mine": First(), "bad": Fails()})
    (failed,) = found.failed
    assert failed.name == "bad"
    assert failed.says.startswith('model "bad" raised in fit: ValueError: too little')
    with pytest.raises(HarnessError, match=r'no model "bad" in this run; it failed: .*too little'):
        found.per_user("bad")


def test_the_run_folder_says_what_an_object_was_made_with(tmp_path: Path) -> None:
    found = run({"mine": First(last=True)})
    (model,) = found.to_dict()["models"]
    assert (model["use"], model["params"]) == ("given:First", {"last": True, "seed": 0})
    found.write(tmp_path)
    assert 'use = "given:First"' in (tmp_path / "config.toml").read_text(encoding="utf-8")


WHERE = {"use": First(seed=3), "repeats": 2}
REFUSED: dict[str, tuple[Any, list[str]]] = {
    "no fit": (NoFit(), ['model "m": NoFit has no method "fit"', "recommend(users, k, draws"]),
    "a class without": (NoFit, ['model "m": NoFit has no method "fit"']),
    "nothing": (None, ['model "m": found None', "a class, an object with fit and recommend"]),
    "a number": (7, ['model "m": found 7']),
    "a function": (len, ['model "m": found builtin_function_or_method len']),
    "a module": (np, ['model "m": found module numpy']),
    "no path": ("popular", ["model \"m\": found 'popular'", '"my_model:MyModel"']),
    "no file": ("lists.csv", ['model "m": no file', "lists.csv", "start at the current folder"]),
    "no class there": ("baselines.popular:Popula", ["Popula", "Popular"]),
    "no module": ("nowhere:Model", ["nowhere"]),
    "a missing parameter": (Needs, ['Needs needs the parameter "depth"; set it under params']),
    "an unknown parameter": (
        {"use": First, "params": {"lst": True}},
        ['First has no parameter "lst"; did you mean "last"?'],
    ),
    "parameters beside an object": (
        {"use": First(), "params": {"last": True}},
        ["params goes with a class, and this is an object of First", '{"use": First'],
    ),
    "a parameter that no file holds": (
        {"use": First, "params": {"last": object()}},
        ['params "last" is object, which no config can hold', "'m': MyModel(last=…)"],
    ),
    "None as a parameter": ({"use": First, "params": {"last": None}}, ['params "last" is None']),
    "repeats with one seed": (WHERE, ["copies of this First have one seed", '"seed": 3']),
    "no copy": (
        Uncopied(),
        ['model "m": no copy can be made of this Uncopied', "cannot pickle a connection"],
    ),
    "another name": ({"name": "n", "use": First}, ["its mapping names it 'n'"]),
    "neither": ({"repeats": 2}, ['"m"']),
    "an unknown key": ({"use": First, "repeat": 2}, ["repeat", "repeats"]),
    "lists without items": (LISTS[["user"]], ['model "m"', "item"]),
    "lists with an unknown user": (
        pl.DataFrame({"user": ["zoe"], "item": ["a"]}),
        ['model "m"', "zoe"],
    ),
}


@pytest.mark.parametrize("about", REFUSED)
def test_what_is_no_model_is_refused(about: str) -> None:
    given, named = REFUSED[about]
    with pytest.raises(HarnessError) as told:
        run({"m": given}, fail_fast=True)
    for words in named:
        assert words in str(told.value)


ARGUMENTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, ['give a config, such as harness.run("exam.toml"), or events=']),
    "no split": (
        {"events": EVENTS, "models": {"m": First}},
        ["split is missing; give it", '{"strategy": "time"'],
    ),
    "no models": ({"events": EVENTS, "split": DAY}, ['models={"mine": MyModel()}']),
    "no events": ({"split": DAY, "models": {"m": First}}, ["events is missing"]),
    "empty models": ({"events": EVENTS, "split": DAY, "models": {}}, ["models is empty; give one"]),
    "a list of objects": (
        {"events": EVENTS, "split": DAY, "models": [First()]},
        ["models: found list; expected a mapping of names"],
    ),
    "a name of a number": (
        {"events": EVENTS, "split": DAY, "models": {7: First}},
        ["the name 7; a model's name is a text"],
    ),
    "a config and events": (
        {"config": "exam.toml", "events": EVENTS},
        ["a config says it all: leave events out"],
    ),
    "a config and models of it": (
        {"config": "exam.toml", "models": {"m": First}},
        ['models=["popular"]; found dict'],
    ),
    "a frame as a config": (
        {"config": EVENTS},
        ["found DataFrame in place of a config", "events=frame"],
    ),
    "a class as a config": ({"config": First}, ["found type in place of a config"]),
    "a model as a config": ({"config": First()}, ["found First in place of a config"]),
    "events twice": (
        {"events": EVENTS, "data": {"events": EVENTS}, "split": DAY, "models": {"m": First}},
        ["events is given twice"],
    ),
    "a split of text": (
        {"events": EVENTS, "split": "time", "models": {"m": First}},
        ["split: found str; expected a mapping"],
    ),
    "an unknown key": (
        {"events": EVENTS, "split": DAY | {"days": 7}, "models": {"m": First}},
        ["harness.run: [split]", "days"],
    ),
    "k of zero": (
        {"events": EVENTS, "split": DAY, "models": {"m": First}, "evaluation": {"k": 0}},
        ["[evaluation] k", "0"],
    ),
}


@pytest.mark.parametrize("about", ARGUMENTS)
def test_what_says_no_run_is_refused(about: str) -> None:
    given, named = ARGUMENTS[about]
    with pytest.raises(HarnessError) as told:
        harness.run(**given)
    for words in named:
        assert words in str(told.value)


def test_sections_may_be_a_mapping_with_numbers_of_numpy() -> None:
    sections = {
        "data": {"events": EVENTS},
        "split": {"strategy": "time", "valid_days": np.int64(1)},
        "evaluation": {"k": np.int32(2)},
        "models": {"mine": First, "popular": Popular},
    }
    found = harness.run(sections, models=["mine"])
    assert isinstance(found, Result)
    assert [model.name for model in found.models] == ["mine"]
    assert mean(found, "mine") == 1 / 2


def test_the_api_alone_is_shown() -> None:
    assert dir(harness) == sorted(harness.__all__)
    assert {"run", "evaluate", "score", "compare"} <= set(dir(harness))


def test_lists_have_one_shape() -> None:
    """a, b of the first; of lists, cid has none, and no row."""
    found = run({"mine": First, "lists": LISTS})
    mine = pd.DataFrame(
        {
            "user": ["ann", "ann", "bob", "bob", "cid", "cid"],
            "rank": [1, 2] * 3,
            "item": ["a", "b"] * 3,
        }
    )
    pd.testing.assert_frame_equal(found.recommendations("mine"), mine, check_dtype=False)
    lists = found.recommendations("lists")
    assert lists[["user", "item"]].to_dict("list") == LISTS.to_dict(as_series=False)
    both = found.recommendations()
    assert both.columns.to_list() == ["model", "repeat", "user", "rank", "item"]
    assert len(both) == 6 + 3


def test_values_per_user_have_the_shape_of_evaluate() -> None:
    found = run({"mine": First})
    truth = {"ann": ["b"], "bob": ["d"], "cid": ["a"]}
    lists = found.recommendations("mine")
    own = found.per_user("mine")
    metrics = own.columns.to_list()
    expected = harness.evaluate(lists, truth, metrics, rank="rank", per_user=True)
    pd.testing.assert_frame_equal(own, expected)
    assert found.per_user().index.names == ["model", "repeat", "user"]
    assert own.index.name == "user"


def test_of_several_repeats_a_user_has_the_mean() -> None:
    found = run({"random": {"use": RandomItems, "repeats": 4}})
    each = [found.per_user("random", repeat=n)["MAP@2"].to_numpy() for n in range(4)]
    assert found.per_user("random")["MAP@2"].to_numpy() == pytest.approx(np.mean(each, axis=0))
    assert mean(found, "random") == pytest.approx(found.per_user("random")["MAP@2"].mean())
    assert len(found.recommendations("random", repeat=3)) == 3 * 2


@pytest.mark.parametrize(
    ("model", "repeat", "words"),
    [
        ("randm", None, 'no model "randm" in this run; did you mean "random"?'),
        ("random", 4, 'model "random" has no repeat 4; the last is 3'),
        ("random", None, "has 4 repeats with lists of their own; say which, such as repeat=0"),
        (None, 1, "repeat = 1 goes with a model: name it first"),
    ],
)
def test_lists_of_another_model_are_refused(model: Any, repeat: Any, words: str) -> None:
    found = run({"random": {"use": RandomItems, "repeats": 4}})
    with pytest.raises(HarnessError) as told:
        found.recommendations(model, repeat=repeat)
    assert words in str(told.value)
