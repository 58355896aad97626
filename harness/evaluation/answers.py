"""A model asked for lists: fitted, asked in batches, its answers checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.config import ModelConfig
from harness.core import plugins
from harness.core.arrays import Int32
from harness.core.errors import HarnessError, RecommenderError
from harness.core.progress import Observer
from harness.core.random import Draws, of_fold
from harness.evaluation.build import itself
from harness.evaluation.list_model import PrecomputedLists, odd
from harness.models import guard
from harness.models.base import Recommender
from harness.models.recommendations import Recommendations, checked
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.task import Task

BATCH_CELLS = 1 << 28
"""Users × candidates of one call to a recommender: a dense float32 score matrix of 1 GiB."""

_ASKED_AGAIN = 100
"""So many users are asked for once more, to see whether a model repeats itself."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What one repeat of a model answered.

    Attributes
    ----------
    left_out : Recommendations, optional
        For the users whom the evaluation set leaves out; None where the model gives none.
    drawn : bool
        Whether it asked anything of its draws.
    notes : tuple of str
        What looks odd about a file of lists.
    refusal : str, optional
        Why it gives no lists for the others.
    changes : str, optional
        How it answers otherwise when it is asked again; of the first repeat alone. It does not
        depend on how many users there are, so that parts of the users say the same.
    """

    lists: Recommendations
    left_out: Recommendations | None = None
    drawn: bool = False
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    changes: str | None = None


def ask_in_turn(
    models: Iterable[Recommender],
    settings: ModelConfig,
    task: Task,
    observer: Observer,
    *,
    others: bool = True,
) -> list[Answers]:
    """Return the answers of every repeat, each fitted and asked before the next one is made.

    Parameters
    ----------
    others : bool
        Whether lists are asked for the users, too, whom the evaluation set leaves out.
    """
    answers: list[Answers] = []
    total = settings.repeats * len(task.evaluation_set.users)
    with observer.bar(settings.name, total, " users") as bar:
        for repeat, model in enumerate(models):
            with observer.step("fit"):
                learnt = fitted(settings.name, model, task)
            with observer.step("recommend"):
                answers.append(ask(settings.name, learnt, task, repeat, bar.update, others=others))
            del model, learnt
    return answers


def ask(
    name: str,
    model: Recommender,
    task: Task,
    repeat: int,
    progress: Callable[[int], object] = lambda users: None,
    *,
    others: bool = True,
) -> Answers:
    """Return a fitted model's answers; in the first repeat it may be asked for some again."""
    asked = _Asked(name, model, task, repeat)
    lists, notes, changes = asked.lists(progress), tuple[str, ...](), None
    if repeat == 0 and isinstance(asked.model, PrecomputedLists):
        notes = odd(name, lists, task.evaluation_set)
    elif repeat == 0 and len(lists.items) > 0 and not asked.draws.used:
        changes = _changes(asked, lists)
    answers = Answers(lists, drawn=asked.draws.used, notes=notes, changes=changes)
    if not others:
        return answers
    try:
        beyond = _beyond(_Asked(name, model, task.left_out, repeat), task.evaluation_set)
    except HarnessError as error:
        return replace(answers, refusal=_reason(error))
    return replace(answers, left_out=beyond)


def _reason(error: HarnessError) -> str:
    """Return what a model raised, without the first user for whom: each part has another."""
    return str(error) if error.__cause__ is None else plugins.told(error.__cause__)


def _beyond(left_out: _Asked, evaluation_set: EvaluationSet) -> Recommendations:
    """Return a model's lists for the users whom the evaluation set leaves out."""
    if len(left_out.evaluation_set.users) == 0:
        return Recommendations(np.empty((0, 0), np.int32))
    if not isinstance(left_out.model, PrecomputedLists):
        return left_out.lists()
    # Read with the evaluated users: a file that has none of the others is no file of other ids.
    every = pl.concat([evaluation_set.user_ids, left_out.evaluation_set.user_ids])
    lists = left_out.model.on(
        every, evaluation_set.candidate_ids, left_out.task.data.item_ids, evaluation_set.k
    )
    return replace(lists, items=lists.items[len(evaluation_set.users) :])


def _changes(asked: _Asked, lists: Recommendations) -> str | None:
    """Return how a model that draws nothing answers otherwise for the last users, asked alone.

    Not for the first: a model that deals out numbers in the order of rows has the same for them.
    """
    users = len(asked.evaluation_set.users)
    n = min(_ASKED_AGAIN, asked.at_once, max(users - 1, 1))
    again = f'model "{asked.name}": asked again, '
    cannot = "so its scores cannot be repeated: take random numbers from draws"
    try:  # copied: a model may answer twice in the same array
        second = asked.batch(users - n, users).copy()
        if np.array_equal(second, lists.items[-n:]):
            return None
        third = asked.batch(users - n, users)
    except HarnessError as error:
        return f"{again}it fails, {cannot} ({_reason(error)})"
    if n < users and np.array_equal(second, third):
        return (
            f'model "{asked.name}": asked for some users alone, it answers otherwise: a list must '
            "not depend on who is asked for together; take a user's random numbers from draws.keys"
        )
    return f"{again}it answers otherwise, {cannot}"


def fitted(name: str, model: Recommender, task: Task) -> Recommender:
    """Return a model that has learnt from the task's training events; a file of lists does not."""
    if isinstance(itself(model), PrecomputedLists):
        return model
    return cast(Recommender, guard.guarded(name, "fit", lambda: model.fit(task.train)))


def recommend(name: str, model: Recommender, task: Task, repeat: int) -> Recommendations:
    """Return a fitted model's checked lists for all evaluated users, asked for in batches.

    A file of lists is read as `harness score` reads them.
    """
    return _Asked(name, model, task, repeat).lists()


class _Asked:
    """A fitted model that is asked for the lists of the users of a task."""

    def __init__(self, name: str, model: Recommender, task: Task, repeat: int) -> None:
        self.name, self.model, self.task = name, itself(model), task
        self.evaluation_set = task.evaluation_set
        seed = of_fold(task.config.evaluation.seed, task.config.fold)
        self.draws = Draws(seed, repeat, lambda: task.hashes)

    @property
    def at_once(self) -> int:
        """How many users it is asked for in one call."""
        return max(1, BATCH_CELLS // len(self.evaluation_set.candidates))

    @property
    def length(self) -> int:
        """How long a list can be: positions beyond the last candidate would stay empty."""
        return min(self.evaluation_set.k, len(self.evaluation_set.candidates))

    def lists(self, progress: Callable[[int], object] = lambda users: None) -> Recommendations:
        """Return the checked lists of all users."""
        selected, n = self.evaluation_set, len(self.evaluation_set.users)
        if isinstance(self.model, PrecomputedLists):
            return self.model.on(
                selected.user_ids, selected.candidate_ids, self.task.data.item_ids, selected.k
            )
        items = np.empty((n, self.length), np.int32)
        for start in range(0, n, self.at_once):
            stop = min(start + self.at_once, n)
            # Copied at once: a model may answer the next batch in the same array.
            items[start:stop] = self.batch(start, stop)
            progress(stop - start)
        return Recommendations(items)

    def batch(self, start: int, stop: int) -> Int32:
        """Return the checked lists of some users."""
        selected, ids = self.evaluation_set, self.evaluation_set.user_ids[start:stop]
        seen, exclude = None if selected.seen is None else selected.seen.rows(start, stop), None
        if seen is not None:
            held, shape = np.ones(len(seen.indices), np.bool_), (len(ids), len(selected.candidates))
            indices = seen.indices.copy()  # a model may change what it is given
            exclude = csr_array((held, indices, seen.indptr.copy()), shape=shape)
        answer = self._answer(selected.users[start:stop], ids, exclude)
        return checked(self.name, answer, ids, self.length, len(selected.candidates), seen)

    def _answer(self, users: Int32, ids: pl.Series, exclude: csr_array[Any] | None) -> Any:
        def ask(rows: slice) -> Any:
            excluded = None if exclude is None else exclude[rows]
            return self.model.recommend(users[rows], self.length, self.draws, exclude=excluded)

        try:
            return self.model.recommend(users, self.length, self.draws, exclude=exclude)
        except HarnessError:  # it says itself what is wrong, and of which base model
            raise
        except BaseException as error:  # a stranger's code may raise anything
            plugins.raise_interrupt(error)
            user = ids[_first_raising(ask, len(users))]
            raise RecommenderError(
                f'model "{self.name}" raised in recommend, first for user {user}: '
                f"{plugins.told(error)}"
            ) from error


def _first_raising(ask: Callable[[slice], Any], n: int) -> int:
    """Return the first of n rows that raises, found by halving; 0 where only all of them do."""

    def raises(start: int, stop: int) -> bool:
        try:
            ask(slice(start, stop))
        except BaseException as error:
            plugins.raise_interrupt(error)
            return True
        return False

    start, stop = 0, n
    while stop - start > 1:
        middle = (start + stop) // 2
        if raises(start, middle):
            stop = middle
        elif raises(middle, stop):
            start = middle
        else:
            break
    return start
