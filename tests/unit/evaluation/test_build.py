"""Models made of others: made once, learning once, and nobody's part changed by another."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from conftest import refusal

from harness import testing
from harness.core.errors import HarnessError, UsageError
from harness.core.exact_sum import of_parts
from harness.core.random import Draws, id_hashes
from harness.evaluation.build import Factories
from harness.models import guard
from harness.models.sums import fit_all, without_events


def fill(name: str, *base: str, **keys: Any) -> dict[str, Any]:
    """Return an ensemble of the lists of models, one after the other."""
    return {"name": name, "use": "baselines.fill:Fill", "of": list(base)} | keys


COUNTING = """
from pathlib import Path

import harness
import numpy as np

class Counting:
    def __init__(self, order="abcd"):
        self.order = order
        self.note("made")

    def note(self, what):
        with Path(__file__).with_name("counts.txt").open("a") as file:
            print(self.order, what, file=file)

    def fit(self, train):
        self.note("fit")
        self.ids_ = train.candidate_ids.to_list()
        return self

    def recommend(self, users, k, draws, exclude=None):
        self.note(f"asked {draws.repeat}")
        known = [self.ids_.index(item) for item in self.order if item in self.ids_]
        return harness.top_k(np.array(known, np.int32), users, k, exclude)
"""
"""Lists in a fixed order; what happens to the model is written to a file beside it."""
KINDS = """
class Raises(Counting):
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

class RaisesWhenAsked(Counting):
    def recommend(self, users, k, draws, exclude=None):
        raise KeyError("no bob")

class Wide(Counting):
    def recommend(self, users, k, draws, exclude=None):
        return np.zeros((len(users), k + 1), np.int32)

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
TRAIN = testing.example_train()
WHOLE = fill("whole", "one")


def part(name: str, kind: str = "Counting", **params: Any) -> dict[str, Any]:
    return {"name": name, "use": f"plugged:{kind}", "params": params}


def shared(
    folder: Path,
    *each: small.Model,
    models: Sequence[small.Model] = (),
    names: tuple[str, ...] = (),
) -> dict[str, Any]:
    models = models or each
    small.write(folder, {"plugged.py": COUNTING + KINDS})
    factories = Factories(small.config(folder, models=models), names)
    return factories.make(names or [model["name"] for model in models])


def count(folder: Path, what: str) -> int:
    return (folder / "counts.txt").read_text().count(f" {what}\n")


def test_only_the_parts_that_are_needed_are_made_and_parts_alone_kept(tmp_path: Path) -> None:
    made = shared(tmp_path, WHOLE, part("one"), part("two"))
    kinds = {name: type(model).__name__ for name, model in made.items()}
    assert kinds == {"whole": "Fill", "one": "Shared", "two": "Counting"}
    models = WHOLE, part("one"), part("broken", "Nothing")
    assert list(shared(tmp_path, models=models, names=("whole",))) == ["whole"]
    with refusal(UsageError, 'model "broken": plugged has no class "Nothing"'):
        shared(tmp_path, models=models)


def test_another_train_is_learnt_anew(tmp_path: Path) -> None:
    made = shared(tmp_path, WHOLE, part("one"))
    shared_model = made["one"]
    assert shared_model.fit(TRAIN).fit(TRAIN) is shared_model
    assert made["whole"].fit(TRAIN).models_ == [shared_model]
    assert count(tmp_path, "fit") == 1
    shared_model.fit(testing.example_train()).fit(TRAIN)
    assert count(tmp_path, "fit") == 3


def test_a_copy_is_made_anew_and_knows_nothing(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "inner"), fill("inner", "one"), part("one"))
    inner = made["inner"].fit(TRAIN)
    copy.deepcopy(inner).fit(testing.example_train())
    assert count(tmp_path, "fit") == 2
    inner.fit(TRAIN)
    made["one"].fit(TRAIN)
    assert count(tmp_path, "fit") == 2, "the copy's fit is none of the others'"


def test_a_part_learns_in_parts_once_and_is_told_of_users_once(tmp_path: Path) -> None:
    made = shared(tmp_path, WHOLE, part("one", "InParts"), fill("more", "one"))
    empty, parts = without_events(TRAIN), testing.parts_of(TRAIN, np.array([0, 1, 0, 1, 1, 0]))
    for _ in range(2):
        steps = [guard.fit_steps(name, model, empty) for name, model in made.items()]
        fit_all(steps, of_parts(lambda: parts))
    assert (count(tmp_path, "begun"), count(tmp_path, "learnt 11")) == (1, 1)
    for number, train in enumerate([parts[0], parts[1], parts[0]], start=1):
        for model in made.values():
            assert model.for_users(train) is model
        assert count(tmp_path, "told") == number
    fit_all([made["whole"].fit_steps(without_events(TRAIN))], of_parts(lambda: parts))
    assert count(tmp_path, "begun") == 2, "other data are learnt anew"


def test_a_part_that_fails_in_parts_is_named_and_has_learnt_nothing(tmp_path: Path) -> None:
    whole = shared(tmp_path, WHOLE, part("one", "RaisesInParts"))["whole"]
    empty, parts = without_events(TRAIN), testing.parts_of(TRAIN, np.array([0, 0, 0, 0, 0, 1]))
    for _ in range(2):
        with refusal(HarnessError, '"one" raised in fit_steps: ZeroDivisionError'):
            fit_all([guard.fit_steps("whole", whole, empty)], of_parts(lambda: parts))


FAILS = {
    "Raises": 'model "one" raised in fit: ZeroDivisionError: too few stars',
    "RaisesWhenAsked": "model \"one\" raised in recommend: KeyError: 'no bob'",
    "Wide": 'model "one" returned shape (3, 3), expected (3, 2)',
}


@pytest.mark.parametrize("kind", FAILS)
def test_a_part_that_fails_is_named(tmp_path: Path, kind: str) -> None:
    whole = shared(tmp_path, WHOLE, part("one", kind))["whole"]
    draws = Draws(1, 0, lambda: id_hashes(TRAIN.user_ids))
    with refusal(Exception, FAILS[kind]):
        whole.fit(TRAIN).recommend(np.array([0, 1, 2], np.int32), 2, draws)


def test_what_takes_no_parts_or_has_none_is_refused(tmp_path: Path) -> None:
    words = 'model "popular": baselines.popular:Popular has no parameter "models"; '
    with refusal(UsageError, words):
        shared(tmp_path, small.POPULAR | {"of": ["one"]}, part("one"))
    words = 'model "whole": baselines.fill:Fill combines other models; name them in of'
    with refusal(UsageError, words):
        shared(tmp_path, {"name": "whole", "use": "baselines.fill:Fill"})


GONE = [("use", "First", 'write "my_model:First"'), ("lists", "the lists of m", "CSV or Parquet")]


@pytest.mark.parametrize(("key", "name", "step"), GONE)
def test_what_an_earlier_process_had_is_refused(
    tmp_path: Path, key: str, name: str, step: str
) -> None:
    with refusal(UsageError, f"{name}: is a Python object", step, f'in place of "given:{name}"'):
        shared(tmp_path, {"name": "m", key: f"given:{name}"})
