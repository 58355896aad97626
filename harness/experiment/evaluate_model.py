"""One model evaluated: fitted, asked in batches, its answers checked, its lists scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness import metrics
from harness.config import ModelConfig
from harness.core import plugins
from harness.core.arrays import Int32
from harness.core.errors import HarnessError, RecommenderError, counted
from harness.core.progress import Clock, steps
from harness.core.random import Draws
from harness.experiment.build import itself
from harness.experiment.file_model import PrecomputedLists, odd
from harness.metrics.scores import ScoreTable, curve, mean, score
from harness.models import guard
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations, checked
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.leaderboard_estimate import (
    LeaderboardEstimate,
    Sample,
    leaderboard_estimate,
)
from harness.protocol.task import Task

BATCH_CELLS = 1 << 28
"""Users × candidates of one call to a recommender: a dense float32 score matrix of 1 GiB."""

_ASKED_AGAIN = 100
"""So many users are asked for once more, to see whether a model repeats itself."""


@dataclass(frozen=True, eq=False)
class EvaluatedModel:
    """The scores of one model, and how its lists look.

    Attributes
    ----------
    random : bool
        Whether repeats may differ: the model, or one that it is made of, has a seed, or takes
        numbers from its draws.
    curve : mapping of cut-off to float
        The first metric's mean at each.
    described : mapping of text to float
        Coverage and popularity at the evaluation set's k, whether they were asked for or not.
    leaderboard_estimate : LeaderboardEstimate, optional
        The first metric as a leaderboard would count it, where users were left out to ask for.
    notes : tuple of str
        What looks odd about its lists.
    """

    name: str
    scores: ScoreTable
    random: bool
    seconds: dict[str, float]
    curve: dict[int, float]
    described: dict[str, float]
    leaderboard_estimate: LeaderboardEstimate | None
    notes: tuple[str, ...]


def describing(k: int) -> tuple[metrics.Metric, ...]:
    """Return the metrics that say how lists look, at the evaluation set's k."""
    return metrics.Metric("Coverage", k), metrics.Metric("Popularity", k)


def evaluate_model(
    models: Iterable[Recommender],
    settings: ModelConfig,
    task: Task,
    catalogue: Catalogue | None,
    asked: Sequence[metrics.Metric],
    progress: bool,
    *,
    others: Task | None = None,
    sample: Sample | None = None,
    seeded: bool = False,
) -> EvaluatedModel:
    """Evaluate one model: each repeat fitted, asked, and scored under every metric.

    Parameters
    ----------
    models : iterable of Recommender
        The model of each repeat, made for it; let go before the next one is asked for.
    others : Task, optional
        The same with the users whom the evaluation set leaves out and a leaderboard counts.
    sample : Sample, optional
        The ids that a leaderboard averages, with or without true items.
    seeded : bool
        Whether they have seeds of their own.

    Raises
    ------
    RecommenderError
        The model raised, or broke its contract; the message names it and the first bad user.
    """
    clock, evaluation_set = Clock(), task.evaluation_set
    answers: list[_Answers] = []
    total = settings.repeats * len(evaluation_set.users)
    with steps(settings.name, total, " users", progress) as bar:
        for repeat, model in enumerate(models):
            with clock.step("fit"):
                learnt = fitted(settings.name, model, task)
            with clock.step("recommend"):
                answers.append(_answers(settings.name, learnt, task, others, repeat, bar.update))
            del model, learnt
    repeats = [answer.lists for answer in answers]
    with clock.step("score"):
        extra = describing(evaluation_set.k)
        judgments = evaluation_set.judgments(catalogue)
        table = score(repeats, judgments, tuple(dict.fromkeys((*asked, *extra))))
        scores = ScoreTable({metric: table.values[metric] for metric in asked})
        described = {str(metric): mean(table.of_users(metric)) for metric in extra}
        points = curve(repeats, judgments, scores, asked[0])
        found = others and leaderboard_estimate(
            asked[0],
            scores,
            evaluation_set,
            others.evaluation_set,
            _of_others(answers),
            catalogue,
            sample,
        )
    random = seeded or any(answer.drawn for answer in answers)
    refused = next((answer.refused for answer in answers if answer.refused), ())
    notes = (*answers[0].notes, *refused)
    if not random and any(not np.array_equal(r.items, repeats[0].items) for r in repeats):
        random, notes = True, (*notes, _REPEATS_DIFFER.format(settings.name))
    return EvaluatedModel(
        settings.name, scores, random, clock.seconds, points, described, found or None, notes
    )


_REPEATS_DIFFER = (
    'model "{}": its repeats differ, though it has no seed and takes nothing from draws; its '
    "scores cannot be repeated: give it a parameter seed, or take random numbers from draws"
)


@dataclass(frozen=True, eq=False)
class _Answers:
    """What one repeat of a model answered.

    Attributes
    ----------
    others : Recommendations, optional
        For the users whom the evaluation set leaves out; None where the model gives none.
    drawn : bool
        Whether it asked anything of its draws.
    notes : tuple of str
        What looks odd; of the first repeat alone.
    refused : tuple of str
        A note where it gives no lists for the others.
    """

    lists: Recommendations
    others: Recommendations | None
    drawn: bool
    notes: tuple[str, ...]
    refused: tuple[str, ...]


def _answers(
    name: str,
    model: Recommender,
    task: Task,
    others: Task | None,
    repeat: int,
    progress: Callable[[int], object],
) -> _Answers:
    evaluation_set, asked = task.evaluation_set, _Asked(name, model, task, repeat)
    lists = asked.lists(progress)
    precomputed = isinstance(asked.model, PrecomputedLists)
    notes: tuple[str, ...] = ()
    if repeat == 0:
        notes = odd(name, lists, evaluation_set) if precomputed else _mostly_empty(name, lists)
        if not precomputed and not asked.draws.used:
            notes += _changing(asked, lists)
    drawn, beyond, refused = asked.draws.used, None, tuple[str, ...]()
    if others is not None:
        try:
            beyond = _beyond(_Asked(name, model, others, repeat), evaluation_set)
        except HarnessError as error:
            users = counted(len(others.evaluation_set.users), "user")
            refused = (_CANNOT_BE_ASKED.format(name, users, error),)
    return _Answers(lists, beyond, drawn, notes, refused)


def _beyond(others: _Asked, evaluation_set: EvaluationSet) -> Recommendations:
    """Return a model's lists for the users whom the evaluation set leaves out."""
    if len(others.evaluation_set.users) == 0:
        return Recommendations(np.empty((0, 0), np.int32))
    if not isinstance(others.model, PrecomputedLists):
        return others.lists()
    # Read with the evaluated users: a file that has none of the others is no file of other ids.
    every = pl.concat([evaluation_set.user_ids, others.evaluation_set.user_ids])
    found = others.model.on(
        every, evaluation_set.candidate_ids, others.task.data.item_ids, evaluation_set.k
    )
    return replace(found, items=found.items[len(evaluation_set.users) :])


_CANNOT_BE_ASKED = (
    'model "{}" gives no lists for the {} whom the evaluation set leaves out; they count '
    "as 0 in its leaderboard estimate ({})"
)


def _of_others(answers: Sequence[_Answers]) -> list[Recommendations] | None:
    """Return each repeat's lists for the users whom the evaluation set leaves out."""
    lists = [answer.others for answer in answers if answer.others is not None]
    return lists if len(lists) == len(answers) else None


def _mostly_empty(name: str, lists: Recommendations) -> tuple[str, ...]:
    """Return a note where most users have an empty list."""
    n, empty = len(lists.items), int((lists.items < 0).all(axis=1).sum())
    if 2 * empty <= n:
        return ()
    which = "all" if empty == n else f"{empty:,} of"
    of = "1 list is" if n == 1 else f"{n:,} lists are"
    return (f'model "{name}": {which} {of} empty, and score 0',)


def _changing(asked: _Asked, lists: Recommendations) -> tuple[str, ...]:
    """Return a note where a model that draws nothing answers otherwise when it is asked again."""
    users = len(asked.evaluation_set.users)
    n = min(_ASKED_AGAIN, asked.at_once, users)
    again = f'model "{asked.name}": asked again, '
    cannot = "so its scores cannot be repeated: take random numbers from draws"
    try:  # copied: a model may answer twice in the same array
        second = asked.batch(0, n).copy()
        differ = int((second != lists.items[:n]).any(axis=1).sum())
        if differ == 0:
            return ()
        third = asked.batch(0, n)
    except HarnessError as error:
        return (f"{again}it fails, {cannot} ({error})",)
    if n < users and np.array_equal(second, third):
        return (_BY_BATCH.format(asked.name, n, differ),)
    return (f"{again}it answers otherwise for {differ:,} of {counted(n, 'user')}, {cannot}",)


_BY_BATCH = (
    'model "{}": asked for the first {:,} users alone, it answers otherwise for {:,} of them: a '
    "list must not depend on who is asked for together; take a user's random numbers from "
    "draws.keys"
)


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
        self.draws = Draws(task.config.evaluation.seed, repeat, lambda: task.hashes)

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
        of, n = self.evaluation_set, len(self.evaluation_set.users)
        if isinstance(self.model, PrecomputedLists):
            return self.model.on(of.user_ids, of.candidate_ids, self.task.data.item_ids, of.k)
        items = np.empty((n, self.length), np.int32)
        for start in range(0, n, self.at_once):
            stop = min(start + self.at_once, n)
            # Copied at once: a model may answer the next batch in the same array.
            items[start:stop] = self.batch(start, stop)
            progress(stop - start)
        return Recommendations(items)

    def batch(self, start: int, stop: int) -> Int32:
        """Return the checked lists of some users."""
        of, ids = self.evaluation_set, self.evaluation_set.user_ids[start:stop]
        seen, exclude = None if of.seen is None else of.seen.rows(start, stop), None
        if seen is not None:
            held, shape = np.ones(len(seen.indices), np.bool_), (len(ids), len(of.candidates))
            exclude = csr_array((held, seen.indices, seen.indptr), shape=shape)
        answer = self._answer(of.users[start:stop], ids, exclude)
        return checked(self.name, answer, ids, self.length, len(of.candidates), seen)

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
