"""What `harness.run` is told in Python: models, sections and tables, or a refusal in one style."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import refusal
from small import LOG, write

from baselines.popular import Popular
from harness.core.errors import HarnessError
from harness.experiment.answers import ask, fitted
from harness.experiment.arguments import config_of
from harness.experiment.build import Factories
from harness.experiment.list_table import ids_of
from harness.protocol.task import make_task

EVENTS = pl.read_csv(io.StringIO(LOG))
DAY = {"strategy": "time", "valid_days": 1}
LISTS = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["b", "a", "c"]})


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


def lists(model: Any, **others: Any) -> list[str]:
    """Return the lists that a model answers ann, bob and cid, in letters."""
    keywords = {"events": EVENTS, "split": DAY, "evaluation": {"k": 2}} | others
    config, _ = config_of(None, keywords, {"m": model})
    task, made = make_task(config), Factories(config).made(0)["m"]
    own = fitted("m", made, task)
    answers = ask("m", own, task, None, 0, lambda users: None, again=False)
    return ["".join(ids) for ids in ids_of(answers.lists, task.evaluation_set.candidate_ids)]


FORMS: dict[str, tuple[Any, list[str]]] = {
    "a class": (First, ["ab"] * 3),
    "an object": (First(), ["ab"] * 3),
    "an object with its own parameters": (First(last=True), ["dc"] * 3),
    "a class with parameters": ({"use": First, "params": {"last": True}}, ["dc"] * 3),
    "an object in a mapping": ({"use": First(last=True)}, ["dc"] * 3),
    "an import path": ("baselines.popular:Popular", ["ba"] * 3),
    "an import path in a mapping": ({"use": "baselines.popular:Popular"}, ["ba"] * 3),
    "a class of ours": (Popular, ["ba"] * 3),
    "an object of ours": (Popular(window_days=None), ["ba"] * 3),
    "lists in a frame": (LISTS, ["ba", "c", ""]),
    "lists in pandas": (LISTS.to_pandas(), ["ba", "c", ""]),
    "lists by rank": (LISTS.with_columns(rank=pl.Series([1, 2, 1])).reverse(), ["ba", "c", ""]),
    "lists in a mapping": ({"lists": LISTS}, ["ba", "c", ""]),
}


@pytest.mark.parametrize("about", FORMS)
def test_every_form_of_a_model(about: str) -> None:
    model, expected = FORMS[about]
    assert lists(model) == expected


def test_files_of_lists_and_modules_beside_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path of text or `Path`; a module of the current folder."""
    source = "from baselines.popular import Popular"
    write(tmp_path, {"l.csv": LISTS.write_csv(), "mine.py": source})
    monkeypatch.chdir(tmp_path)
    assert lists("l.csv") == lists(Path("l.csv")) == ["ba", "c", ""]
    assert lists("mine:Popular") == ["ba"] * 3


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
    model, words = REFUSED[about]
    with refusal(HarnessError, *words):
        lists(model)


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
    keywords, words = ARGUMENTS[about]
    keywords = dict(keywords)
    config, models = keywords.pop("config", None), keywords.pop("models", ())
    with refusal(HarnessError, *words):
        config_of(config, keywords, models)


def test_sections_may_be_a_mapping_with_numbers_of_numpy() -> None:
    sections = {
        "data": {"events": EVENTS},
        "split": {"strategy": "time", "valid_days": np.int64(1)},
        "evaluation": {"k": np.int32(2)},
        "models": [{"name": "mine", "use": First}, {"name": "lists", "lists": LISTS}],
    }
    config, names = config_of(sections, {}, ["mine"])
    assert (config.evaluation.k, names) == (2, ["mine"])
    assert [model.name for model in config.models] == ["mine", "lists"]
