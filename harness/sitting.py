"""One model sits the exam: fitted, asked in batches, its answers checked, its lists marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness import metrics, plugins
from harness.clock import Clock
from harness.config import ModelConfig
from harness.curve import curve
from harness.dataset import Int32
from harness.draws import Draws
from harness.errors import HarnessError, RecommenderError
from harness.evaluation import EvaluationSet
from harness.models import itself
from harness.progress import steps
from harness.ready import ReadyLists, odd
from harness.recommendations import Recommendations, checked
from harness.recommender import Recommender
from harness.scoring import ScoreTable, mean, score
from harness.setting import Setting

BATCH_CELLS = 1 << 28
"""Users × candidates of one call to a recommender: a dense float32 score matrix of 1 GiB."""


@dataclass(frozen=True, eq=False)
class Sitting:
    """What one model earned, and how its lists look.

    Attributes
    ----------
    curve : mapping of cut-off to float
        The first metric's mean at each.
    described : mapping of text to float
        Coverage and popularity at the exam's k, whether they were asked for or not.
    notes : tuple of str
        What looks odd about ready lists.
    """

    name: str
    scores: ScoreTable
    seconds: Mapping[str, float]
    curve: Mapping[int, float]
    described: Mapping[str, float]
    notes: tuple[str, ...]


def describing(k: int) -> tuple[metrics.Metric, ...]:
    """Return the metrics that say how lists look, at the exam's k."""
    return metrics.Metric("Coverage", k), metrics.Metric("Popularity", k)


def sit(
    model: Recommender,
    settings: ModelConfig,
    setting: Setting,
    catalogue: metrics.Catalogue | None,
    asked: Sequence[metrics.Metric],
    progress: bool,
) -> Sitting:
    """Let one model sit the exam: fitted, asked, and marked under every metric.

    Raises
    ------
    RecommenderError
        The model raised, or broke its contract; the message names it and the first bad user.
    """
    clock, exam = Clock(), setting.exam
    with clock.step("fit"):
        model = fitted(settings.name, model, setting)
    total = settings.repeats * len(exam.users)
    with clock.step("recommend"), steps(settings.name, total, " users", progress) as bar:
        repeats = [
            recommend(settings.name, model, setting, repeat, progress=bar.update)
            for repeat in range(settings.repeats)
        ]
    with clock.step("score"):
        extra = describing(exam.k)
        marked = score(repeats, exam, tuple(dict.fromkeys((*asked, *extra))), catalogue)
        scores = ScoreTable({metric: marked.values[metric] for metric in asked})
        described = {str(metric): mean(marked.of_users(metric)) for metric in extra}
        points = curve(repeats, exam, scores, asked[0])
    notes = odd(settings.name, repeats[0], exam) if settings.lists else ()
    return Sitting(settings.name, scores, clock.seconds, points, described, notes)


def fitted(name: str, model: Recommender, setting: Setting) -> Recommender:
    """Return a model that has learnt from the setting's training events; ready lists do not."""
    if isinstance(itself(model), ReadyLists):
        return model
    return cast(Recommender, plugins.guarded(name, "fit", lambda: model.fit(setting.train)))


def recommend(
    name: str,
    model: Recommender,
    setting: Setting,
    repeat: int,
    progress: Callable[[int], object] = lambda users: None,
) -> Recommendations:
    """Return a fitted model's checked lists for all users of the exam, asked for in batches.

    Ready lists are read as `harness score` reads them.
    """
    exam, model = setting.exam, itself(model)
    if isinstance(model, ReadyLists):
        return model.on(exam.user_ids, exam.candidate_ids, setting.data.item_ids, exam.k)
    draws = Draws(setting.config.evaluation.seed, repeat, setting.hashes)
    batch = max(1, BATCH_CELLS // len(exam.candidates))
    items = np.empty((len(exam.users), _places(exam)), np.int32)
    for start in range(0, len(exam.users), batch):
        users = exam.users[start : start + batch]
        # Copied at once: a model may answer the next batch in the same array.
        items[start : start + batch] = _batch(name, model, exam, start, users, draws)
        progress(len(users))
    return Recommendations(items)


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
