"""One model sits the exam: fitted, asked in batches, its answers checked, its lists marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness import metrics
from harness.config import ModelConfig
from harness.core import plugins
from harness.core.arrays import Int32
from harness.core.errors import HarnessError, RecommenderError
from harness.core.progress import Clock, steps
from harness.core.random import Draws
from harness.experiment.build import itself
from harness.experiment.file_model import ReadyLists, odd
from harness.metrics.scores import ScoreTable, curve, mean, score
from harness.models import guard
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations, checked
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.leaderboard_estimate import Estimate, estimate
from harness.protocol.task import Setting

BATCH_CELLS = 1 << 28
"""Users × candidates of one call to a recommender: a dense float32 score matrix of 1 GiB."""

_ASKED_AGAIN = 100
"""So many users are asked for once more, to see whether a model repeats itself."""


@dataclass(frozen=True, eq=False)
class Sitting:
    """What one model earned, and how its lists look.

    Attributes
    ----------
    random : bool
        Whether repeats may differ: the model, or one that it is made of, has a seed, or takes
        numbers from its draws.
    curve : mapping of cut-off to float
        The first metric's mean at each.
    described : mapping of text to float
        Coverage and popularity at the exam's k, whether they were asked for or not.
    estimate : Estimate, optional
        The first metric as a leaderboard would count it, where users were left out to ask for.
    notes : tuple of str
        What looks odd about its lists.
    """

    name: str
    scores: ScoreTable
    random: bool
    seconds: Mapping[str, float]
    curve: Mapping[int, float]
    described: Mapping[str, float]
    estimate: Estimate | None
    notes: tuple[str, ...]


def describing(k: int) -> tuple[metrics.Metric, ...]:
    """Return the metrics that say how lists look, at the exam's k."""
    return metrics.Metric("Coverage", k), metrics.Metric("Popularity", k)


def sit(
    models: Iterable[Recommender],
    settings: ModelConfig,
    setting: Setting,
    catalogue: Catalogue | None,
    asked: Sequence[metrics.Metric],
    progress: bool,
    *,
    others: Setting | None = None,
    seeded: bool = False,
) -> Sitting:
    """Let one model sit the exam: each repeat fitted, asked, and marked under every metric.

    Parameters
    ----------
    models : iterable of Recommender
        The model of each repeat, made for it; let go before the next one is asked for.
    others : Setting, optional
        The same with the users whom the exam leaves out and a leaderboard counts.
    seeded : bool
        Whether they have seeds of their own.

    Raises
    ------
    RecommenderError
        The model raised, or broke its contract; the message names it and the first bad user.
    """
    clock, exam = Clock(), setting.exam
    answers: list[_Answers] = []
    total = settings.repeats * len(exam.users)
    with steps(settings.name, total, " users", progress) as bar:
        for repeat, model in enumerate(models):
            with clock.step("fit"):
                learnt = fitted(settings.name, model, setting)
            with clock.step("recommend"):
                answers.append(_answers(settings.name, learnt, setting, others, repeat, bar.update))
            del model, learnt
    repeats = [answer.lists for answer in answers]
    with clock.step("score"):
        extra = describing(exam.k)
        key = exam.judgments(catalogue)
        marked = score(repeats, key, tuple(dict.fromkeys((*asked, *extra))))
        scores = ScoreTable({metric: marked.values[metric] for metric in asked})
        described = {str(metric): mean(marked.of_users(metric)) for metric in extra}
        points = curve(repeats, key, scores, asked[0])
        found = others and _estimate(asked[0], scores, exam, others.exam, answers, catalogue)
    random = seeded or any(answer.drawn for answer in answers)
    refused = next((answer.refused for answer in answers if answer.refused), ())
    notes = (*answers[0].notes, *refused)
    if not random and any(not np.array_equal(r.items, repeats[0].items) for r in repeats):
        random, notes = True, (*notes, _REPEATS_DIFFER.format(settings.name))
    return Sitting(
        settings.name, scores, random, clock.seconds, points, described, found or None, notes
    )


_REPEATS_DIFFER = (
    'model "{}": its repeats differ, though it has no seed and takes nothing from draws; its '
    "figures cannot be repeated: give it a parameter seed, or take random numbers from draws"
)


@dataclass(frozen=True, eq=False)
class _Answers:
    """What one repeat of a model answered.

    Attributes
    ----------
    others : Recommendations, optional
        For the users whom the exam leaves out; None where the model cannot be asked for them.
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
    setting: Setting,
    others: Setting | None,
    repeat: int,
    progress: Callable[[int], object],
) -> _Answers:
    exam, draws = setting.exam, Draws(setting.config.evaluation.seed, repeat, setting.hashes)
    lists = _recommend(name, model, setting, draws, progress)
    ready = isinstance(itself(model), ReadyLists)
    notes: tuple[str, ...] = ()
    if repeat == 0:
        notes = odd(name, lists, exam) if ready else _mostly_empty(name, lists)
        if not ready and not draws.used:
            notes += _changing(name, model, exam, draws, lists)
    drawn, beyond, refused = draws.used, None, tuple[str, ...]()
    if others is not None and len(others.exam.users) > 0:
        try:
            beyond = _beyond(name, model, exam, others, repeat)
        except HarnessError as error:
            refused = (_CANNOT_BE_ASKED.format(name, len(others.exam.users), error),)
    return _Answers(lists, beyond, drawn, notes, refused)


def _beyond(
    name: str, model: Recommender, exam: EvaluationSet, others: Setting, repeat: int
) -> Recommendations:
    """Return a model's lists for the users whom the exam leaves out."""
    ready = itself(model)
    if not isinstance(ready, ReadyLists):
        return recommend(name, model, others, repeat)
    # Read with the exam's: a file that has none of the others is no file of other ids.
    every = pl.concat([exam.user_ids, others.exam.user_ids])
    found = ready.on(every, exam.candidate_ids, others.data.item_ids, exam.k)
    return replace(found, items=found.items[len(exam.users) :])


_CANNOT_BE_ASKED = (
    'model "{}" gives no lists for the {:,} users whom the evaluation set leaves out; they count '
    "as 0 in its leaderboard estimate ({})"
)


def _estimate(
    metric: metrics.Metric,
    scores: ScoreTable,
    exam: EvaluationSet,
    others: EvaluationSet,
    answers: Sequence[_Answers],
    catalogue: Catalogue | None,
) -> Estimate:
    beyond = [answer.others for answer in answers if answer.others is not None]
    known = len(beyond) == len(answers) or len(others.users) == 0
    return estimate(metric, scores, exam, others, beyond if known else None, catalogue)


def _mostly_empty(name: str, lists: Recommendations) -> tuple[str, ...]:
    """Return a note where most users have an empty list."""
    n, empty = len(lists.items), int((lists.items < 0).all(axis=1).sum())
    if 2 * empty <= n:
        return ()
    which = "all" if empty == n else f"{empty:,} of"
    return (f'model "{name}": {which} {n:,} lists are empty, and score 0',)


def _changing(
    name: str, model: Recommender, exam: EvaluationSet, draws: Draws, lists: Recommendations
) -> tuple[str, ...]:
    """Return a note where a model that draws nothing answers otherwise when it is asked again."""
    n = min(_ASKED_AGAIN, _batch_size(exam), len(exam.users))
    again = f'model "{name}": asked again, '
    cannot = "so its figures cannot be repeated: take random numbers from draws"
    try:  # copied: a model may answer twice in the same array
        second = _batch(name, itself(model), exam, 0, exam.users[:n], draws).copy()
        differ = int((second != lists.items[:n]).any(axis=1).sum())
        if differ == 0:
            return ()
        third = _batch(name, itself(model), exam, 0, exam.users[:n], draws)
    except HarnessError as error:
        return (f"{again}it fails, {cannot} ({error})",)
    if n < len(exam.users) and np.array_equal(second, third):
        return (_BY_BATCH.format(name, n, differ),)
    return (f"{again}it answers otherwise for {differ:,} of {n:,} users, {cannot}",)


_BY_BATCH = (
    'model "{}": asked for the first {:,} users alone, it answers otherwise for {:,} of them: a '
    "list must not depend on who is asked for together; take a user's random numbers from "
    "draws.keys"
)


def fitted(name: str, model: Recommender, setting: Setting) -> Recommender:
    """Return a model that has learnt from the setting's training events; ready lists do not."""
    if isinstance(itself(model), ReadyLists):
        return model
    return cast(Recommender, guard.guarded(name, "fit", lambda: model.fit(setting.train)))


def recommend(
    name: str,
    model: Recommender,
    setting: Setting,
    repeat: int,
) -> Recommendations:
    """Return a fitted model's checked lists for all users of the exam, asked for in batches.

    Ready lists are read as `harness score` reads them.
    """
    draws = Draws(setting.config.evaluation.seed, repeat, setting.hashes)
    return _recommend(name, model, setting, draws)


def _recommend(
    name: str,
    model: Recommender,
    setting: Setting,
    draws: Draws,
    progress: Callable[[int], object] = lambda users: None,
) -> Recommendations:
    exam, model = setting.exam, itself(model)
    if isinstance(model, ReadyLists):
        return model.on(exam.user_ids, exam.candidate_ids, setting.data.item_ids, exam.k)
    batch = _batch_size(exam)
    items = np.empty((len(exam.users), _places(exam)), np.int32)
    for start in range(0, len(exam.users), batch):
        users = exam.users[start : start + batch]
        # Copied at once: a model may answer the next batch in the same array.
        items[start : start + batch] = _batch(name, model, exam, start, users, draws)
        progress(len(users))
    return Recommendations(items)


def _batch_size(exam: EvaluationSet) -> int:
    return max(1, BATCH_CELLS // len(exam.candidates))


def _places(exam: EvaluationSet) -> int:
    """Return how long a list can be: places beyond the last candidate would stay empty."""
    return min(exam.k, len(exam.candidates))


def _batch(
    name: str, model: Recommender, exam: EvaluationSet, start: int, users: Int32, draws: Draws
) -> Int32:
    ids = exam.user_ids[start : start + len(users)]
    seen = None if exam.seen is None else exam.seen.rows(start, start + len(users))
    exclude = None
    if seen is not None:
        held = np.ones(len(seen.indices), np.bool_)
        shape = (len(users), len(exam.candidates))
        exclude = csr_array((held, seen.indices, seen.indptr), shape=shape)
    answer = _answer(name, model, users, ids, _places(exam), draws, exclude)
    return checked(name, answer, ids, _places(exam), len(exam.candidates), seen)


def _answer(
    name: str,
    model: Recommender,
    users: Int32,
    ids: pl.Series,
    k: int,
    draws: Draws,
    exclude: csr_array[Any] | None,
) -> Any:
    try:
        return model.recommend(users, k, draws, exclude=exclude)
    except HarnessError:  # it says itself what is wrong, and with which part of a model
        raise
    except BaseException as error:  # a stranger's code may raise anything
        plugins.raise_interrupt(error)
        user = ids[_first_raising(model, users, k, draws, exclude)]
        raise RecommenderError(
            f'model "{name}" raised in recommend, first for user {user}: {plugins.told(error)}'
        ) from error


def _first_raising(
    model: Recommender, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None
) -> int:
    """Return the first row that raises, found by halving; 0 where only the whole batch does."""
    start, stop = 0, len(users)
    while stop - start > 1:
        middle = (start + stop) // 2
        if _raises(model, users, slice(start, middle), k, draws, exclude):
            stop = middle
        elif _raises(model, users, slice(middle, stop), k, draws, exclude):
            start = middle
        else:
            break
    return start


def _raises(
    model: Recommender,
    users: Int32,
    rows: slice,
    k: int,
    draws: Draws,
    exclude: csr_array[Any] | None,
) -> bool:
    try:
        model.recommend(users[rows], k, draws, exclude=None if exclude is None else exclude[rows])
    except BaseException as error:
        plugins.raise_interrupt(error)
        return True
    return False
