"""What `harness.run` is told in Python: models, sections and tables, or a refusal in one style."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import refusal
from given import DAY, EVENTS, LISTS, First
from small import write

from harness.core.errors import HarnessError
from harness.evaluation.answers import ask, fitted
from harness.evaluation.build import Factories
from harness.evaluation.inputs import config_of
from harness.protocol.task import make_task
from harness.results.tables import ids_of


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


def lists(model: Any, **more: Any) -> list[str]:
    """Return the lists that a model answers ann, bob and cid, in letters."""
    keywords = {"events": EVENTS, "split": DAY, "evaluation": {"k": 2}} | more
    config, _ = config_of(None, keywords, {"m": model})
    task, made = make_task(config), Factories(config).make(["m"])["m"]
    fitted_model = fitted("m", made, task)
    answers = ask("m", fitted_model, task, 0, left_out=False)
    return ["".join(ids) for ids in ids_of(answers.lists, task.evaluation_set.candidate_ids)]


FORMS: list[tuple[Any, list[str]]] = [  # tests/journeys/test_frames.py has others
    (First(last=True), ["dc"] * 3),
    ({"use": First(last=True)}, ["dc"] * 3),
    ({"use": "baselines.popular:Popular"}, ["ba"] * 3),
    (LISTS.to_pandas(), ["ba", "c", ""]),
    (LISTS.with_columns(rank=pl.Series([1, 2, 1])).reverse(), ["ba", "c", ""]),
    ({"lists": LISTS}, ["ba", "c", ""]),
]


@pytest.mark.parametrize(("model", "expected"), FORMS)
def test_every_form_of_a_model(model: Any, expected: list[str]) -> None:
    assert lists(model) == expected


def test_files_of_lists_and_modules_beside_the_current_folder(here: Path) -> None:
    write(here, {"l.csv": LISTS.write_csv(), "mine.py": "from baselines.popular import Popular"})
    assert lists("l.csv") == lists(Path("l.csv")) == ["ba", "c", ""]
    assert lists("mine:Popular") == ["ba"] * 3


def test_a_path_is_taken_as_it_is(here: Path) -> None:
    """Text is what a config says: it may hold variables. A Path names its file."""
    day = {"strategy": "given", "valid": Path("$day.csv")}
    data = {"path": Path("~"), "events": Path("a$b.csv"), "items": {"file": Path("$$.csv")}}
    config, _ = config_of(None, {"data": data, "split": day}, {"m": Path("~/$l.csv")})
    tables = [table.path for table in config.layout().tables]
    assert tables == [Path("~", name) for name in ("a$b.csv", "$day.csv", "$$.csv")]
    assert config.list_files("m") == [str(here / "~" / "$l.csv")]


NO_MODELS: list[tuple[Any, ...]] = [
    (NoFit(), 'model "m": NoFit has no method "fit"', "recommend(users, k, draws"),
    (None, '[[models]] "m" needs the key "use"'),
    ("popular", 'model "m": no file', "start at the current folder", '"my_model:MyModel"'),
    (Needs, 'Needs needs the parameter "depth"; set it under params'),
    ({"use": First, "params": {"lst": True}}, 'has no parameter "lst"; did you mean "last"?'),
    ({"use": First(), "params": {"last": True}}, "params needs a class", '"params": …}'),
    ({"use": First, "params": {"last": len}}, 'params "last" is builtin', "'m': MyModel(last=…)"),
    ({"use": First, "params": {"last": None}}, 'params "last" is None, which a config cannot hold'),
    ({"use": First(seed=3), "repeats": 2}, "repeats needs a class", '"repeats": …}'),
    (Uncopied(), 'model "m": harness cannot copy this Uncopied', "cannot pickle a connection"),
    (pl.DataFrame({"user": ["zoe"], "item": ["a"]}), 'model "m"', "zoe"),
]


@pytest.mark.parametrize(("model", "words"), [(model, words) for model, *words in NO_MODELS])
def test_what_is_no_model_is_refused(model: Any, words: list[str]) -> None:
    with refusal(HarnessError, words):
        lists(model)


MINE = {"m": First}
SPLIT = {"events": EVENTS, "split": DAY}
WHOLE = {"data": {"events": EVENTS}, "split": DAY, "models": MINE}
NO_RUNS: list[tuple[dict[str, Any], Any, Any, str]] = [  # keywords, models, a config, and words
    ({}, (), None, "no events and no split and no models; give events=frame, split={"),
    ({"events": EVENTS}, MINE, None, 'no split; give split={"strategy": "time", "valid_days": 7}'),
    ({"split": DAY}, MINE, None, 'no events; give events=frame, or a config alone: harness.run("'),
    (SPLIT, {}, None, "[[models]]: found []"),
    (SPLIT, [First()], None, "models: found list; expected a mapping of names"),
    (SPLIT, LISTS, None, "models: found DataFrame; expected a mapping of names"),
    (SPLIT, {7: First}, None, "[[models]] number 1 name: found 7"),
    ({"events": EVENTS}, (), WHOLE, "found events next to a config; with a config"),
    ({}, MINE, WHOLE, "found models as dict next to a config"),
    ({}, (), EVENTS, "found DataFrame, expected a config: the path of a TOML file, or a"),
    (SPLIT | {"data": {"events": EVENTS}}, MINE, None, "events is also in data"),
    (
        SPLIT | {"data": EVENTS},
        MINE,
        None,
        'data: found DataFrame; expected a mapping, such as data={"events": frame}',
    ),
    (SPLIT | {"evaluation": {"k": 0}}, MINE, None, "harness.run: [evaluation] k: found 0"),
]


@pytest.mark.parametrize(("keywords", "models", "config", "words"), NO_RUNS)
def test_what_says_no_run_is_refused(
    keywords: dict[str, Any], models: Any, config: Any, words: str
) -> None:
    with refusal(HarnessError, words):
        config_of(config, keywords, models)


def test_sections_may_be_a_mapping_with_numbers_of_numpy() -> None:
    models = [{"name": "mine", "use": First}, {"name": "lists", "lists": LISTS}]
    sections = {"data": {"events": EVENTS}, "split": DAY, "evaluation": {"k": np.int32(2)}}
    config, names = config_of(sections | {"models": models}, {}, ["mine"])
    assert (config.evaluation.k, names) == (2, ["mine"])
    assert [model.name for model in config.models] == ["mine", "lists"]
