"""One model evaluated: its answers scored, and what is odd about them told.

What a model's lists tell beside each user's values is kept as sums, which those of other users are
added to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from harness import metrics
from harness.config import ModelConfig
from harness.core.errors import counted
from harness.core.exact_sum import Exact, Sums
from harness.core.progress import Clock, steps
from harness.experiment.answers import Answers, ask, fitted
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, curve, curve_sums, score, set_sums
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue
from harness.protocol.leaderboard_estimate import (
    LeaderboardEstimate,
    Sample,
    leaderboard_estimate,
    leaderboard_sums,
)
from harness.protocol.task import Task


@dataclass(frozen=True, eq=False)
class ScoredModel:
    """The scores of a model's lists for some users.

    Attributes
    ----------
    table : ScoreTable
        Under all metrics of users that were asked for.
    sums : mapping
        What `EvaluatedModel.of` is made of; those of parts of the users add up.
    """

    table: ScoreTable
    sums: Sums


@dataclass(frozen=True, eq=False)
class EvaluatedModel:
    """What all users' lists of one model tell beside each user's values.

    Attributes
    ----------
    of_set : mapping of Metric to list of float
        Metrics of all lists together, one value a repeat.
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
    of_set: dict[Metric, list[float]]
    random: bool
    seconds: dict[str, float]
    curve: dict[int, float]
    described: dict[str, float]
    leaderboard_estimate: LeaderboardEstimate | None
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        sums: Mapping[Any, Any],
        settings: ModelConfig,
        asked: Sequence[Metric],
        k: int,
        seconds: dict[str, float],
        *,
        seeded: bool = False,
        sample_ids: int | None = None,
    ) -> EvaluatedModel:
        """Return what the sums of all users tell.

        Parameters
        ----------
        asked : sequence of Metric
        k : int
            The evaluation set's.
        seeded : bool
            Whether the model has seeds of its own.
        sample_ids : int, optional
            How many ids a leaderboard averages that averages all of a sample submission.
        """
        users, repeats = int(sums["users"][0]), range(settings.repeats)
        of_set = {
            metric: [metrics.value_of(metric, sums["set"][repeat][at]) for repeat in repeats]
            for at, metric in enumerate(_of_all_lists(asked, k))
        }
        coverage, popularity = describing(k)
        described = {
            str(coverage): sum(of_set[coverage]) / settings.repeats,
            str(popularity): sums["popularity"].total / users,
        }
        random = seeded or bool(sums["drawn"][0])
        notes = tuple(_notes(sums, settings))
        if not random and sums["differ"][0]:
            random = True
            notes += (
                f'model "{settings.name}": its repeats differ, though it has no seed and takes '
                "nothing from draws; its scores cannot be repeated: give it a parameter seed, or "
                "take random numbers from draws",
            )
        elif not random and settings.repeats > 1:
            notes += (
                f'model "{settings.name}": its {settings.repeats} repeats are all the same: it has '
                "no seed and takes nothing from draws; leave repeats out, or take random numbers "
                "from draws",
            )
        refused = "leaderboard without others" if sums["refused"] else "leaderboard"
        others = sums.get(refused)
        return cls(
            settings.name,
            {metric: values for metric, values in of_set.items() if metric in asked},
            random,
            seconds,
            curve(sums["curve"], asked[0], users),
            described,
            leaderboard_estimate(others, sample_ids) if others else None,
            tuple(dict.fromkeys(notes)),  # a run that is scored again has its notes already
        )


def describing(k: int) -> tuple[Metric, Metric]:
    """Return the metrics that say how lists look, at the evaluation set's k."""
    return Metric("Coverage", k), Metric("Popularity", k)


def _of_all_lists(asked: Sequence[Metric], k: int) -> list[Metric]:
    every = dict.fromkeys((*asked, *describing(k)))
    return [metric for metric in every if metric.definition.of == "set"]


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
    asked: Sequence[Metric],
    clock: Clock,
    *,
    others: Task | None = None,
    sample: Sample | None = None,
) -> ScoredModel:
    """Return the scores of every repeat's answers under every metric.

    Parameters
    ----------
    others : Task, optional
        The same with the users whom the evaluation set leaves out and a leaderboard counts.
    sample : Sample, optional
        The ids that a leaderboard averages, with or without true items.
    """
    repeats, evaluation_set = [answer.lists for answer in answers], task.evaluation_set
    with clock.step("score"):
        popularity = describing(evaluation_set.k)[1]
        of_users = [m for m in (*asked, popularity) if m.definition.of == "user"]
        judgments = evaluation_set.judgments(catalogue)
        table = score(repeats, judgments, tuple(dict.fromkeys(of_users)))
        sums: dict[str | int, Any] = {
            "users": np.array([len(evaluation_set.users)]),
            "set": set_sums(repeats, judgments, _of_all_lists(asked, evaluation_set.k)),
            "popularity": Exact.of(table.of_users(popularity)),
            "curve": curve_sums(repeats, judgments, table, asked[0]),
            **_oddities(answers, settings, others),
        }
        if others is not None:
            lists = [answer.others for answer in answers if answer.others is not None]
            of_all = partial(
                leaderboard_sums,
                asked[0],
                table,
                evaluation_set,
                others.evaluation_set,
                catalogue=catalogue,
                sample=sample,
            )
            sums["leaderboard"] = of_all(lists if len(lists) == len(answers) else None)
            sums["leaderboard without others"] = of_all(None)  # another part may have a refusal
    return ScoredModel(ScoreTable({m: v for m, v in table.values.items() if m in asked}), sums)


def _oddities(answers: Sequence[Answers], settings: ModelConfig, others: Task | None) -> Sums:
    """Return counts of what is odd about a model's lists, and what is said of it."""
    first = answers[0].lists.items
    differ = any(not np.array_equal(answer.lists.items, first) for answer in answers)
    refusals = () if others is None else (answer.refusal for answer in answers)
    left_out = 0 if others is None else len(others.evaluation_set.users)
    return {
        "empty": np.array([int((first < 0).all(axis=1).sum())]),
        "differ": np.array([int(differ)]),
        "drawn": np.array([int(any(answer.drawn for answer in answers))]),
        "notes": _marked(answers[0].notes),
        "changes": _marked([answers[0].changes]),
        "refused": _marked(refusals),
        "left_out": np.array([left_out]),
    }


def _marked(texts: Iterable[str | None]) -> Sums:
    """Return sums that say which texts there are."""
    return {text: np.array([1]) for text in texts if text is not None}


def _notes(sums: Mapping[Any, Any], settings: ModelConfig) -> Iterator[str]:
    """Yield what is odd about a model's lists, and whether others have none."""
    if settings.use is not None:
        n, empty = int(sums["users"][0]), int(sums["empty"][0])
        if 2 * empty > n:
            which = "all" if empty == n else f"{empty:,} of"
            lists = "1 list is" if n == 1 else f"{n:,} lists are"
            yield f'model "{settings.name}": {which} {lists} empty, and score 0'
    yield from sums["notes"]
    yield from sorted(sums["changes"])[:1]
    if sums["refused"]:
        users = counted(int(sums["left_out"][0]), "user")
        yield (
            f'model "{settings.name}" gives no lists for the {users} whom the evaluation set '
            f"leaves out; they count as 0 in its leaderboard estimate ({min(sums['refused'])})"
        )
