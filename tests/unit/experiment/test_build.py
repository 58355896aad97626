"""Models made of others: made once, learning once, and nobody's part changed by another."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from conftest import refusal
from counting import COUNTING, fill

from harness import testing
from harness.config import Config
from harness.config.diff import settings
from harness.core.errors import RecommenderError, UsageError
from harness.core.params import ParameterError
from harness.core.random import Draws, id_hashes
from harness.core.steps import of_parts
from harness.experiment.build import Factories
from harness.models import guard
from harness.models.sums import fit_all, fits_in_parts, without_events

KINDS = (
    COUNTING
    + """
class Raises(Counting):
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

class RaisesWhenAsked(Counting):
    def recommend(self, users, k, draws, exclude=None):
        raise KeyError("no bob")

class Wide(Counting):
    def recommend(self, users, k, draws, exclude=None):
        return np.zeros((len(users), k + 1), np.int32)

class ForgetsSelf(Counting):
    def fit(self, train):
        pass

class InParts(Counting):
    def fit_steps(self, train):
        self.note("begun")
        total = yield lambda part: {"events": np.array([len(part.events)])}
        self.note(f"learnt {total['events'][0]}")
        self.ids_ = train.candidate_ids.to_list()

    def for_users(self, train):
        self.note("told")
        return self

class RaisesInParts(InParts):
    def fit_steps(self, train):
        yield lambda part: {"n": np.array([1 // len(part.events)])}
"""
)
TRAIN = testing.example_train()


def part(name: str, kind: str = "Counting", **params: Any) -> dict[str, Any]:
    return {"name": name, "use": f"plugged:{kind}", "params": params}


def config(folder: Path, *models: dict[str, Any]) -> Config:
    small.write(folder, {"plugged.py": KINDS})
    return small.config(folder, *models)


def counts(folder: Path, what: str) -> list[str]:
    """Return what happened to models in `folder`: whose order, and what behind the word."""
    lines = (folder / "counts.txt").read_text().splitlines()
    return [line.replace(f" {what}", "") for line in lines if f" {what}" in line]


def test_only_who_is_a_part_is_kept(tmp_path: Path) -> None:
    made = Factories(config(tmp_path, fill("whole", "one"), part("one"), part("two"))).made(0)
    assert {name: type(model).__name__ for name, model in made.items()} == {
        "whole": "Fill",
        "one": "Shared",
        "two": "Counting",
    }


def test_only_the_parts_that_are_needed_are_made(tmp_path: Path) -> None:
    broken = part("broken", "Nothing")
    settings = config(tmp_path, fill("whole", "one"), part("one", order="ba"), broken)
    assert list(Factories(settings, "whole").made(0)) == ["whole"]
    with pytest.raises(UsageError, match='model "broken": plugged has no class "Nothing"'):
        Factories(settings).made(0)


def shared(folder: Path, *models: dict[str, Any]) -> dict[str, Any]:
    return Factories(config(folder, *models)).made(0)


def test_another_train_is_learnt_anew(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "one"), part("one"))
    one, train = made["one"], testing.example_train()
    assert one.fit(train).fit(train) is one
    assert made["whole"].fit(train).models_ == [one]
    assert len(counts(tmp_path, "fit")) == 1
    one.fit(testing.example_train())
    one.fit(train)
    assert len(counts(tmp_path, "fit")) == 3


def test_a_copy_is_made_anew_and_knows_nothing(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "inner"), fill("inner", "one"), part("one"))
    train = TRAIN
    inner = made["inner"].fit(train)
    other = copy.deepcopy(inner)
    other.fit(testing.example_train())
    assert len(counts(tmp_path, "fit")) == 2
    inner.fit(train)
    made["one"].fit(train)
    assert len(counts(tmp_path, "fit")) == 2, "the copy's fit is none of the others'"


def test_a_part_learns_in_parts_once_and_is_told_of_users_once(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "one"), part("one", "InParts"), fill("more", "one"))
    train = TRAIN
    given, parts = without_events(train), testing.parts_of(train, np.array([0, 1, 0, 1, 1, 0]))
    for _ in range(2):
        steps = [guard.fit_steps(name, model, given) for name, model in made.items()]
        fit_all(steps, of_parts(lambda: parts))
    assert counts(tmp_path, "begun") == ["abcd"]
    assert counts(tmp_path, "learnt 11") == ["abcd"]
    for number, own in enumerate([parts[0], parts[1], parts[0]], start=1):
        for model in made.values():
            assert model.for_users(own) is model
        assert len(counts(tmp_path, "told")) == number
    fit_all([made["whole"].fit_steps(without_events(train))], of_parts(lambda: parts))
    assert len(counts(tmp_path, "begun")) == 2, "other data are learnt anew"


def test_a_whole_fits_in_parts_if_what_it_is_made_of_does(tmp_path: Path) -> None:
    both = fill("both", "one", "two")
    made = shared(tmp_path, both, fill("whole", "one"), part("one", "InParts"), part("two"))
    expected = {"both": False, "whole": True, "one": True, "two": False}
    assert {name: fits_in_parts(model) for name, model in made.items()} == expected


def test_a_part_that_fails_in_parts_is_named_and_has_learnt_nothing(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "one"), part("one", "RaisesInParts"))
    train = TRAIN
    given, parts = without_events(train), testing.parts_of(train, np.array([0, 0, 0, 0, 0, 1]))
    for _ in range(2):
        with pytest.raises(RecommenderError, match='"one" raised in fit_steps: ZeroDivisionError'):
            fit_all([guard.fit_steps("whole", made["whole"], given)], of_parts(lambda: parts))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Raises", 'model "one" raised in fit: ZeroDivisionError: too few stars'),
        ("ForgetsSelf", 'model "one": fit returned None; expected self'),
        ("RaisesWhenAsked", 'model "one" raised in recommend: KeyError: .no bob'),
        ("Wide", r'model "one" returned shape \(3, 3\), expected \(3, 2\)'),
    ],
)
def test_a_part_that_fails_is_named(tmp_path: Path, kind: str, message: str) -> None:
    whole, train = shared(tmp_path, fill("whole", "one"), part("one", kind))["whole"], TRAIN
    draws = Draws(1, 0, lambda: id_hashes(train.user_ids))
    with pytest.raises((RecommenderError, ValueError), match=message):
        whole.fit(train).recommend(np.array([0, 1, 2], np.int32), 2, draws)


def test_a_class_without_parts(tmp_path: Path) -> None:
    popular = {"name": "popular", "use": "baselines.popular:Popular", "of": ["one"]}
    with pytest.raises(UsageError) as caught:
        Factories(config(tmp_path, popular, part("one"))).made(0)
    assert str(caught.value).startswith(
        'model "popular": baselines.popular:Popular has no parameter "models"; '
    )


def test_a_whole_without_parts_says_how_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        Factories(config(tmp_path, {"name": "whole", "use": "baselines.fill:Fill"})).made(0)
    assert str(refused.value) == (
        'model "whole": baselines.fill:Fill is made of other models; name them under of'
    )
    whole = {"name": "whole", "use": "baselines.fill:Fill", "params": {"models": ["one"]}}
    words = "models holds 'one', which has no fit and recommend; a config names", 'of = ["popular"]'
    with refusal(ParameterError, *words):
        Factories(config(tmp_path, whole, part("one"))).made(0)["whole"].fit(TRAIN)


def test_a_leaderboard_shows_what_a_model_is_made_of(tmp_path: Path) -> None:
    precomputed = {"name": "ready", "lists": "mates.csv"}
    values = config(tmp_path, fill("whole", "one"), part("one", order="ab"), precomputed).resolved()
    assert [settings(values, name) for name in ("whole", "one", "ready")] == [
        "Fill(of=['one'])",
        "Counting(order=ab)",
        f"lists {tmp_path}/mates.csv",
    ]
