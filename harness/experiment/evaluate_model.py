"""One model evaluated: its answers scored, and what is odd about them told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness import metrics
from harness.config import ModelConfig
from harness.core.errors import counted
from harness.core.progress import Clock, steps
from harness.experiment.answers import Answers, ask, fitted
from harness.metrics.scores import ScoreTable, curve, mean, score
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol.leaderboard_estimate import (
    LeaderboardEstimate,
    Sample,
    leaderboard_estimate,
)
from harness.protocol.task import Task


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
    clock = Clock()
    answers = asked_in_turn(models, settings, task, others, clock, progress)
    return scored(
        answers,
        settings,
        task,
        catalogue,
        asked,
        clock,
        others=others,
        sample=sample,
        seeded=seeded,
    )


def asked_in_turn(
    models: Iterable[Recommender],
    settings: ModelConfig,
    task: Task,
    others: Task | None,
    clock: Clock,
    progress: bool,
) -> list[Answers]:
    """Return the answers of every repeat, each fitted and asked before the next one is made."""
    answers: list[Answers] = []
    total = settings.repeats * len(task.evaluation_set.users)
    with steps(settings.name, total, " users", progress) as bar:
        for repeat, model in enumerate(models):
            with clock.step("fit"):
                learnt = fitted(settings.name, model, task)
            with clock.step("recommend"):
                again = repeat == 0
                answers.append(
                    ask(settings.name, learnt, task, others, repeat, bar.update, again=again)
                )
            del model, learnt
    return answers


def scored(
    answers: Sequence[Answers],
    settings: ModelConfig,
    task: Task,
    catalogue: Catalogue | None,
    asked: Sequence[metrics.Metric],
    clock: Clock,
    *,
    others: Task | None = None,
    sample: Sample | None = None,
    seeded: bool = False,
) -> EvaluatedModel:
    """Return the scores of every repeat's answers under every metric."""
    repeats, evaluation_set = [answer.lists for answer in answers], task.evaluation_set
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
    notes = tuple(_notes(answers, settings, others))
    if not random and any(not np.array_equal(r.items, repeats[0].items) for r in repeats):
        random, notes = True, (*notes, _REPEATS_DIFFER.format(settings.name))
    return EvaluatedModel(
        settings.name, scores, random, clock.seconds, points, described, found or None, notes
    )


def _notes(answers: Sequence[Answers], settings: ModelConfig, others: Task | None) -> Iterator[str]:
    """Yield what is odd about a model's lists, and whether others have none."""
    if settings.use is not None:
        yield from _mostly_empty(settings.name, answers[0].lists)
    yield from answers[0].notes
    refusal = next((answer.refusal for answer in answers if answer.refusal is not None), None)
    if refusal is not None and others is not None:
        users = counted(len(others.evaluation_set.users), "user")
        yield _CANNOT_BE_ASKED.format(settings.name, users, refusal)


_REPEATS_DIFFER = (
    'model "{}": its repeats differ, though it has no seed and takes nothing from draws; its '
    "scores cannot be repeated: give it a parameter seed, or take random numbers from draws"
)


_CANNOT_BE_ASKED = (
    'model "{}" gives no lists for the {} whom the evaluation set leaves out; they count '
    "as 0 in its leaderboard estimate ({})"
)


def _of_others(answers: Sequence[Answers]) -> list[Recommendations] | None:
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
