"""The users of one part (all, where they are in memory): lists asked for, scored, added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from harness.core.exact_sum import Exact, Largest, Sums
from harness.core.progress import Observer
from harness.core.random import id_hashes
from harness.evaluation.answers import Answers
from harness.evaluation.fold import Failures
from harness.metrics import Metric, value_of
from harness.metrics.scores import ScoreTable, curve_sums, score, set_sums
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol import evaluation_set
from harness.protocol.leaderboard_estimate import Sample, leaderboard_sums, with_items
from harness.protocol.task import Task
from harness.results.tables import RunTables
from harness.scoring.competition import sample_of_users
from harness.stats import chance_law
from harness.stats.slices import USER

Content = Mapping[Any, Any]
"""Arrays, Polars' columns and frames by name, or more of these: what is kept of a part."""


@dataclass(frozen=True, eq=False)
class EvaluatedPart(RunTables):
    """The users of a part, their scores and lists by model, and sums over the users."""

    sums: Mapping[Any, Any]

    def content(self, metrics: Sequence[Metric]) -> Content:
        """Return what is kept of a part, for `opened`."""
        of_users = [metric for metric in metrics if metric.definition.of == "user"]
        values = {
            name: np.array([table.values[metric] for metric in of_users])
            for name, table in self.tables.items()
        }
        return {
            "profile": self.profile,
            "law": {} if self.law is None else vars(self.law),
            "sums": self.sums,
            "values": values,
            "lists": {
                name: np.array([lists.items for lists in repeats])
                for name, repeats in self.lists.items()
            },
        }

    @classmethod
    def opened(
        cls, metrics: Sequence[Metric], item_ids: pl.Series, _: int, content: Content
    ) -> EvaluatedPart:
        """Return the part of which this is kept; metrics of all lists follow from its sums."""
        of_users = [metric for metric in metrics if metric.definition.of == "user"]
        values, lists = content["values"].items(), content["lists"].items()
        return cls(
            hashes=id_hashes(content["profile"][USER]),
            tables={name: ScoreTable(dict(zip(of_users, v, strict=True))) for name, v in values},
            profile=content["profile"],
            law=chance_law.Law(**content["law"]) if content["law"] else None,
            item_ids=item_ids,
            lists={name: tuple(map(Recommendations, repeats)) for name, repeats in lists},
            sums=content["sums"],
        )


def evaluate_part(
    task: Task,
    profile: pl.DataFrame,
    models: Iterable[tuple[str, Callable[[], list[Answers]]]],
    metrics: tuple[Metric, ...],
    catalogue: Catalogue | None,
    failures: Failures,
    clocks: Mapping[str, Observer],
) -> EvaluatedPart:
    """Ask models for the lists of the users of a part, and score them.

    `models` are names, each with what returns the answers; these go before the next are asked for.
    """
    selected, left_out = task.evaluation_set, task.left_out.evaluation_set
    sample, unread = sample_of_users(task.config, selected, left_out)
    tables, lists, sums = dict[str, ScoreTable](), dict[str, Sequence[Recommendations]](), {}
    for name, ask in models:
        with failures.caught(name):
            answers = ask()
        if name in failures.errors:
            continue
        with clocks[name].step("score", "scoring"):
            tables[name], sums[name] = _scored(answers, task, metrics, catalogue, sample)
        lists[name] = tuple(answer.lists for answer in answers)
        del answers
    law, chance = _laws(selected, metrics)
    return EvaluatedPart(
        hashes=selected.user_hashes,
        tables=tables,
        profile=profile,
        law=law,
        item_ids=selected.candidate_ids,
        lists=lists,
        sums={
            "models": sums,
            "failed": {name: _marked([model.error]) for name, model in failures.failed.items()},
            "set": evaluation_set.sums(selected),
            "with_items": np.array([len(with_items(selected, left_out))]),
            "sample": Largest(np.array([0 if sample is None else sample.ids])),
            "unread": _marked(unread),
            "chance": chance,
        },
    )


def _laws(
    selected: evaluation_set.EvaluationSet, metrics: Sequence[Metric]
) -> tuple[chance_law.Law | None, dict[str, Sums]]:
    """Return the law of the first metric, and what means of random rankings follow from."""
    grades, first, sums = None, None, dict[str, Sums]()
    if selected.grades is not None:
        user, grade = selected.judgments().all_grades
        grades = chance_law.Grades(user, grade, np.arange(len(user)) < len(selected.grades))
    for metric in metrics:
        law = chance_law.law(
            metric.up_to(selected.k),
            selected.n_candidates,
            selected.truth.sizes,
            selected.relevant,
            grades,
        )
        if law is not None:
            sums[str(metric)] = law.sums()
            first = law if metric == metrics[0] else first
    return first, sums


def describing(k: int) -> tuple[Metric, Metric]:
    """Return the metrics that say how lists look, at the evaluation set's k."""
    return Metric("Coverage", k), Metric("Popularity", k)


def _of_all_lists(metrics: Sequence[Metric], k: int) -> list[Metric]:
    """Return the metrics of all lists together, those that describe them among them."""
    every = dict.fromkeys((*metrics, *describing(k)))
    return [metric for metric in every if metric.definition.of == "set"]


def set_values(
    sums: Mapping[Any, Any], metrics: Sequence[Metric], k: int
) -> dict[Metric, list[float]]:
    """Return the metrics of all lists together, one value a repeat, by their sums."""
    return {
        metric: [value_of(metric, sums[repeat][number]) for repeat in sorted(sums)]
        for number, metric in enumerate(_of_all_lists(metrics, k))
    }


def _scored(
    answers: Sequence[Answers],
    task: Task,
    metrics: Sequence[Metric],
    catalogue: Catalogue | None,
    sample: Sample | None,
) -> tuple[ScoreTable, dict[str, Any]]:
    """Return the scores of a model's answers under all metrics, and its sums."""
    repeats, selected = [answer.lists for answer in answers], task.evaluation_set
    popularity = describing(selected.k)[1]
    of_users = [m for m in (*metrics, popularity) if m.definition.of == "user"]
    judgments = selected.judgments(catalogue)
    table = score(repeats, judgments, tuple(dict.fromkeys(of_users)))
    differ = any(not np.array_equal(lists.items, repeats[0].items) for lists in repeats)
    sums: dict[str, Any] = {
        "users": np.array([len(selected.users)]),
        "set": set_sums(repeats, judgments, _of_all_lists(metrics, selected.k)),
        "popularity": Exact.of(table.of_users(popularity)),
        "curve": curve_sums(repeats, judgments, table, metrics[0]),
        "empty": np.array([int((repeats[0].items < 0).all(axis=1).sum())]),
        "differ": np.array([int(differ)]),
        "drawn": np.array([int(any(answer.drawn for answer in answers))]),
        "notes": _marked(answers[0].notes),
        "changes": _marked([answers[0].changes]),
        "refused": {},
        "left_out": np.array([0]),
    }
    asked_for_all = answers[0].left_out is not None or answers[0].refusal is not None
    # Users left out count only where nothing but a hit gives them a score.
    if asked_for_all and metrics[0].definition.zero_without_hits:
        left_out = task.left_out.evaluation_set
        lists = [answer.left_out for answer in answers if answer.left_out is not None]
        sums["leaderboard"] = leaderboard_sums(
            metrics[0],
            table,
            selected,
            left_out,
            lists if len(lists) == len(answers) else None,
            catalogue,
            sample,
        )
        sums["refused"] = _marked(answer.refusal for answer in answers)
        sums["left_out"] = np.array([len(left_out.users)])
    of_lists = set_values(sums["set"], metrics, selected.k).items()
    values = {**table.values, **{metric: np.array(v)[:, None] for metric, v in of_lists}}
    return ScoreTable({metric: values[metric] for metric in metrics}), sums


def _marked(texts: Iterable[str | None]) -> Sums:
    """Return sums that say which texts there are."""
    return {text: np.array([1]) for text in texts if text is not None}
