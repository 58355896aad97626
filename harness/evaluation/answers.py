"""A model asked for lists: fitted, asked in batches, its answers checked."""

from __future__ import annotations

from bisect import bisect_left
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
from harness.evaluation.list_model import PrecomputedLists, odd
from harness.models import guard
from harness.models.base import Recommender
from harness.models.recommendations import Recommendations, checked
from harness.protocol.task import Task

BATCH_CELLS = 1 << 28
"""Users × candidates of one call to a recommender: a dense float32 score matrix of 1 GiB."""

_ASKED_AGAIN = 100  # so many users are asked for once more, to see whether a model repeats itself


@dataclass(frozen=True, eq=False)
class Answers:
    """What one repeat of a model answered."""

    lists: Recommendations
    left_out: Recommendations | None = None  # for the users whom the evaluation set leaves out
    drawn: bool = False  # whether the model asked anything of its draws
    notes: tuple[str, ...] = ()  # what looks odd about a file of lists
    refusal: str | None = None  # why there are no lists for users left out
    changes: str | None = None  # how the first repeat answers otherwise when it is asked again


def ask_in_turn(
    models: Iterable[Recommender],
    settings: ModelConfig,
    task: Task,
    observer: Observer,
    *,
    left_out: bool = True,
) -> list[Answers]:
    """Return the answers of every repeat, each fitted and asked before the next one is made."""
    answers: list[Answers] = []
    users = len(task.evaluation_set.users)
    users += len(task.left_out.evaluation_set.users) if left_out else 0
    for repeat, model in enumerate(models):
        which = f", repeat {repeat + 1} of {settings.repeats}" if settings.repeats > 1 else ""
        with observer.step("fit", f"fitting{which}"):
            learnt = fitted(settings.name, model, task)
        with observer.step("recommend", f"recommending{which}", users, " users") as stage:
            answer = ask(settings.name, learnt, task, repeat, stage.update, left_out=left_out)
        answers.append(answer)
        del model, learnt  # its memory is free before the next one is made
    return answers


def fitted(name: str, model: Recommender, task: Task) -> Recommender:
    """Return a model that has learnt from the task's training events; a file of lists does not."""
    if isinstance(model, PrecomputedLists):
        return model
    return cast(Recommender, guard.guarded(name, "fit", lambda: model.fit(task.train)))


def ask(
    name: str,
    model: Recommender,
    task: Task,
    repeat: int,
    progress: Callable[[int], object] = lambda users: None,
    *,
    left_out: bool = True,
) -> Answers:
    """Return a fitted model's answers; in the first repeat it may be asked for some again."""
    if isinstance(model, PrecomputedLists):
        lists = recommend(name, model, task, repeat)
        answers = Answers(lists, notes=odd(name, lists, task.evaluation_set))
    else:
        requests = _Requests(name, model, task, repeat)
        lists = requests.lists(progress)
        changes = requests.changes(lists) if repeat == 0 else None
        answers = Answers(lists, drawn=requests.draws.used, changes=changes)
    if not left_out:
        return answers
    try:
        return replace(answers, left_out=_of_left_out(name, model, task, repeat, progress))
    except HarnessError as error:
        return replace(answers, refusal=_reason(error))


def recommend(name: str, model: Recommender, task: Task, repeat: int) -> Recommendations:
    """Return a fitted model's checked lists for all evaluated users, asked for in batches."""
    if isinstance(model, PrecomputedLists):
        selected = task.evaluation_set
        return model.on(selected.user_ids, selected.candidate_ids, task.data.item_ids, selected.k)
    return _Requests(name, model, task, repeat).lists()


def _of_left_out(
    name: str, model: Recommender, task: Task, repeat: int, progress: Callable[[int], object]
) -> Recommendations:
    """Return a fitted model's lists for the users whom the evaluation set leaves out."""
    evaluation_set, beyond = task.evaluation_set, task.left_out.evaluation_set
    if len(beyond.users) == 0:
        return Recommendations(np.empty((0, 0), np.int32))
    if not isinstance(model, PrecomputedLists):
        return _Requests(name, model, task.left_out, repeat).lists(progress)
    # Read with the evaluated users: a file that has none of the others is no file of other ids.
    every = pl.concat([evaluation_set.user_ids, beyond.user_ids])
    lists = model.on(every, evaluation_set.candidate_ids, task.data.item_ids, evaluation_set.k)
    return replace(lists, items=lists.items[len(evaluation_set.users) :])


def _reason(error: HarnessError) -> str:
    """Return what a model raised, without the first user for whom: each part has another."""
    return str(error) if error.__cause__ is None else plugins.told(error.__cause__)


class _Requests:
    """What a fitted model is asked for: lists of the users of a task, a batch of them at a time."""

    def __init__(self, name: str, model: Recommender, task: Task, repeat: int) -> None:
        self.name, self.model, self.selected = name, model, task.evaluation_set
        seed = of_fold(task.config.evaluation.seed, task.config.fold)
        self.draws = Draws(seed, repeat, lambda: task.hashes)
        self.n_candidates = len(self.selected.candidates)
        self.at_once = max(1, BATCH_CELLS // self.n_candidates)
        # Positions beyond the last candidate would stay empty.
        self.length = min(self.selected.k, self.n_candidates)

    def lists(self, progress: Callable[[int], object] = lambda users: None) -> Recommendations:
        """Return the checked lists of all users."""
        n = len(self.selected.users)
        items = np.empty((n, self.length), np.int32)
        for start in range(0, n, self.at_once):
            stop = min(start + self.at_once, n)
            # Copied at once: a model may answer the next batch in the same array.
            items[start:stop] = self.batch(start, stop)
            progress(stop - start)
        return Recommendations(items)

    def batch(self, start: int, stop: int) -> Int32:
        """Return the checked lists of some users."""
        selected, ids = self.selected, self.selected.user_ids[start:stop]
        seen, exclude = None, None
        if selected.seen is not None:
            seen = selected.seen.rows(start, stop)
            cells, shape = np.ones(len(seen.indices), np.bool_), (len(ids), self.n_candidates)
            indices = seen.indices.copy()  # a model may change what it is given
            exclude = csr_array((cells, indices, seen.indptr.copy()), shape=shape)
        answer = self._answer(selected.users[start:stop], ids, exclude)
        return checked(self.name, answer, ids, self.length, self.n_candidates, seen)

    def changes(self, lists: Recommendations) -> str | None:
        """Return how a model that draws nothing answers otherwise when it is asked again.

        For the last users: one that deals out numbers by row has the same for the first.
        """
        users = len(lists.items)
        if users == 0 or self.draws.used:
            return None
        n = min(_ASKED_AGAIN, self.at_once, max(users - 1, 1))
        try:
            if np.array_equal(self.batch(users - n, users), lists.items[-n:]):
                return None
            how = "gives other lists"
        except HarnessError as error:
            how = f"fails ({_reason(error)})"
        return (
            f'model "{self.name}": on a second call, it {how}, so its scores are not repeatable. '
            "Take random numbers from draws, and those of a user from draws.keys: a list must "
            "not depend on the other users in a batch"
        )

    def _answer(self, users: Int32, ids: pl.Series, exclude: csr_array[Any] | None) -> Any:
        try:
            return self.model.recommend(users, self.length, self.draws, exclude=exclude)
        except HarnessError:  # it says itself what is wrong, and of which base model
            raise
        except BaseException as error:  # a stranger's code may raise anything
            plugins.raise_interrupt(error)

            def raises(n: int) -> bool:
                excluded = None if exclude is None else exclude[:n]
                try:
                    self.model.recommend(users[:n], self.length, self.draws, exclude=excluded)
                except BaseException as error:
                    plugins.raise_interrupt(error)
                    return True
                return False

            user = ids[bisect_left(range(1, len(users)), True, key=raises)]
            raise RecommenderError(
                f'model "{self.name}" raised in recommend, first for user {user}: '
                f"{plugins.told(error)}"
            ) from error
