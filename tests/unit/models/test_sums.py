"""Learning from sums over users: steps of several recommenders, one pass over the parts each."""

from collections.abc import Iterator
from functools import partial
from inspect import getgeneratorstate
from typing import Any
from weakref import ref

import numpy as np
import pytest
from scipy.sparse import csr_array

from baselines.popular import Popular
from harness.core.errors import RecommenderError, UsageError
from harness.core.exact_sum import Sums, of_parts
from harness.models import guard
from harness.models.base import Train
from harness.models.sums import FromSums, Steps, fit_all, fits_in_parts, without_events
from harness.testing import example_train, parts_of

PARTS = parts_of(example_train(), np.array([0, 1, 0, 1, 0, 0], np.int32))
"""ann, cid, eve and nobody have 7 events; bob and dee 4."""


class Turns(FromSums):
    """Adds up the parts' events, times the last total, several times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.totals_: list[int] = []

    def fit_steps(self, train: Train) -> Steps:
        factor = 1
        for _ in range(self.times):
            total: Any = yield partial(self.events, factor)
            factor = int(total["n"][0])
            self.totals_.append(factor)

    def events(self, factor: int, part: Train) -> Sums:
        return {"n": np.array([factor * len(part.events)])}


def test_steps_of_several_take_one_pass_over_the_parts() -> None:
    models, passes = [Turns(0), Turns(3), Turns(1)], []

    def parts() -> Iterator[Train]:
        passes.append(0)
        for part in PARTS:
            passes[-1] += 1
            yield part

    fit_all([model.fit_steps(PARTS[0]) for model in models], of_parts(parts))
    assert [model.totals_ for model in models] == [[], [11, 121, 1331], [11]]
    assert passes == [2, 2, 2]
    fit_all([Turns(0).fit_steps(PARTS[0])], of_parts(lambda: pytest.fail("no part is needed")))


def test_a_generator_is_closed_where_a_step_fails() -> None:
    waiting = Turns(1).fit_steps(PARTS[0])
    with pytest.raises(ZeroDivisionError):
        fit_all([waiting], of_parts(lambda: (1 // 0 for _ in "a")))  # type: ignore[misc]
    assert getgeneratorstate(waiting) == "GEN_CLOSED"


class Large(FromSums):
    """Notes in each of its steps whether the last total is still held."""

    def fit_steps(self, train: Train) -> Steps:
        self.held_: list[bool] = []
        self.note((yield self.matrix))
        self.note((yield self.matrix))

    def note(self, total: Any) -> None:
        self.total_ = ref(total["pairs"])

    def matrix(self, part: Train) -> Sums:
        self.held_.append(hasattr(self, "total_") and self.total_() is not None)
        return {"pairs": csr_array(np.ones((1, 1), np.int64))}


def test_a_total_is_not_held_while_the_next_is_made() -> None:
    model = Large()
    fit_all([guard.fit_steps("large", model, PARTS[0])], of_parts(lambda: PARTS))
    assert model.held_ == [False] * 4


def test_fit_takes_all_users_as_one_part() -> None:
    model = Turns(2)
    assert model.fit(example_train()) is model
    assert model.totals_ == [11, 121]


def test_steps_begin_without_users_and_events() -> None:
    train = example_train()
    empty = without_events(train)
    assert (len(empty.user_ids), len(empty.events), len(empty.dataset.events)) == (0, 0, 0)
    assert empty.candidates is train.candidates
    assert (empty.cutoff, empty.dataset.kinds) == (train.cutoff, train.dataset.kinds)
    assert empty.item_ids.equals(train.item_ids)
    assert empty.items_table is not None


class Made(FromSums):
    """Made of others."""

    def __init__(self, models: Any) -> None:
        self.models = models

    def fit_steps(self, train: Train) -> Steps:
        yield from ()


class AtOnce:
    """Learns from everybody at once."""

    def fit(self, train: Train) -> Any:
        return self


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Popular(), True),
        (AtOnce(), False),
        (Made([Popular()]), True),
        (Made([Popular(), AtOnce()]), False),
        (Made((Made([AtOnce()]),)), False),
        (Made(7), True),
    ],
)
def test_what_is_made_of_others_fits_in_parts_if_they_do(model: Any, expected: bool) -> None:
    assert fits_in_parts(model) is expected


class Says(FromSums):
    """Its sums are what it is made with."""

    def __init__(self, sums: Any) -> None:
        self.sums = sums

    def fit_steps(self, train: Train) -> Steps:
        yield lambda part: self.sums
        raise KeyError("after the first step")


@pytest.mark.parametrize(
    ("sums", "words"),
    [
        (None, "sums are NoneType; expected a dict of int64 arrays"),
        ({"n": np.array([0.5])}, "the sums 'n' are float64; expected an int64 array"),
        ({"n": {3: 1}}, "the sums 3 are int; expected an int64 array"),
        ({"n": np.array([1])}, "after the first step"),
    ],
)
def test_errors_come_with_the_models_name(sums: Any, words: str) -> None:
    with pytest.raises(RecommenderError) as caught:
        fit_all([guard.fit_steps("mine", Says(sums), PARTS[0])], of_parts(lambda: PARTS))
    assert str(caught.value).startswith('model "mine" raised in fit_steps: ')
    assert words in str(caught.value)


def test_a_wrong_parameter_is_its_users() -> None:
    steps = guard.fit_steps("mine", Popular(window_days=-1), PARTS[0])
    with pytest.raises(UsageError, match='model "mine": window_days is -1; expected'):
        fit_all([steps], of_parts(lambda: PARTS))
