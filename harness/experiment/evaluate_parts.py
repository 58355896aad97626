"""A whole run whose users never are in one place: parts are evaluated, and sums tell of all.

A part of the users is read, asked for and scored by whoever holds it. What is said of all follows
from sums, so figures are those of a run in memory, to the last bit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.core import steps as steps_
from harness.core.arrays import Int32
from harness.core.errors import UsageError, counted
from harness.core.exact_sum import Largest, Sums
from harness.core.progress import Clock
from harness.core.random import id_hashes
from harness.data.dataset import Dataset
from harness.experiment.assemble import assemble
from harness.experiment.build import Factories
from harness.experiment.competition import sample_of_users
from harness.experiment.evaluate_model import EvaluatedModel, describing, scored
from harness.experiment.failures import Failures
from harness.experiment.figures import EvaluatedUsers, cases_of, figure_steps, grades_of
from harness.experiment.in_parts import (
    Models,
    Plan,
    ask_part,
    fit,
    in_parts,
    of_all_events,
    plan_steps,
)
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol import evaluation_set
from harness.protocol import users as users_
from harness.protocol.leaderboard_estimate import LeaderboardEstimates, Sample, with_items
from harness.protocol.task import Task, asked, noted
from harness.results.lists import lists_by_row
from harness.results.run import Run
from harness.stats.chance_graded import Grades
from harness.stats.slices import USER

_log = logging.getLogger(__name__)

Of = TypeVar("Of", covariant=True)
Other = TypeVar("Other")
Content = Mapping[Any, Any]
"""Arrays, Polars' columns and frames by name, or more of these: what is kept of a part."""


class Parts(Protocol[Of]):
    """Parts of the users, wherever they are."""

    def total(self, step: Callable[[Any], Sums]) -> Sums:
        """Return what a function of a part adds up to."""

    def kept(
        self, make: Callable[[Any], Content], opened: Callable[[int, Content], Other]
    ) -> Parts[Other]:
        """Return new parts: what `make` makes of each, as `opened` makes it of what was kept."""


@dataclass(frozen=True, eq=False)
class EvaluatedPart(EvaluatedUsers):
    """The users of a part, their scores and lists.

    Attributes
    ----------
    sums : mapping
        What is told of all users, by model and of the evaluation set.
    lists : mapping of int to mapping of int to int32 array, (n, k)
        Candidate positions, by the number of the model and the repeat.
    """

    sums: Mapping[Any, Any]
    lists: Mapping[int, Mapping[int, Int32]]


class InParts:
    """A run whose users are in parts.

    Parameters
    ----------
    parts : Parts of Dataset
        Each of users of whole leaves (`harness.core.random.leaf_of`).
    data : Dataset
        What they have in common: the items, the span, and no user or event.

    Attributes
    ----------
    run : Run
        Without tables, which are in the parts.
    evaluated : Parts of EvaluatedPart
    candidate_ids : polars.Series of str

    Raises
    ------
    HarnessError
        A model that learns from all events at once, or is a file of lists; an empty evaluation
        set; a model that breaks its contract.
    """

    run: Run
    evaluated: Parts[EvaluatedPart]
    candidate_ids: pl.Series

    def __init__(self, config: Config, parts: Parts[Dataset], data: Dataset, clock: Clock) -> None:
        factories, self._config, self._metrics = Factories(config), config, asked(config)
        repeats = range(max(model.repeats for model in config.models))
        models = [factories.made(repeat) for repeat in repeats]
        refuse_of_all_events(config, models)
        with clock.step("evaluation set"), noted(data):
            self._plan = steps_.found(plan_steps(config, data), parts.total)
        candidates = counted(len(self._plan.candidates), "candidate")
        _log.info("evaluation set: %s, %.1f s", candidates, clock.seconds["evaluation set"])
        self.candidate_ids = data.item_ids.gather(self._plan.candidates)
        own = list(in_parts(models)) if len(self._plan.candidates) > 0 else []
        if own:
            self._plan.refuse_slices(parts.total)
        clocks = {model.name: Clock() for model in config.models}
        with clock.step("fit"):
            fit(self._plan, own, parts.total, clocks, Failures(fail_fast=True))
            described = (*self._metrics, *describing(config.evaluation.k))
            catalogue = self._plan.catalogue(described, parts.total)
        _log.info("fit %s, %.1f s", counted(len(clocks), "model"), clock.seconds["fit"])
        asking = _Asking(self._plan, own, self._metrics, catalogue)
        with clock.step("evaluate"):
            opened = partial(_opened, config, self._metrics)
            self.evaluated = parts.kept(asking, opened)
            sums: Any = self.evaluated.total(_sums_of)
        self.run = self._run(sums, factories, clocks, clock)

    def _run(
        self, sums: Any, factories: Factories, clocks: Mapping[str, Clock], clock: Clock
    ) -> Run:
        """Return what the sums of all parts tell."""
        config, metrics, plan, of = self._config, self._metrics, self._plan, sums["set"]
        evaluation = plan.evaluation(of)
        funnel, sample = evaluation.funnel, int(sums["sample"].values[0]) or None
        k, users = config.evaluation.k, funnel[-1].users
        _log.info("evaluated %s, %.1f s", counted(users, "user"), clock.seconds["evaluate"])
        counted_users = LeaderboardEstimates(
            examined=users,
            window=evaluation_set.in_window(funnel),
            with_items=int(sums["with_items"][0]),
            sample=sample,
            models={},
        )
        evaluated = [
            EvaluatedModel.of(
                sums["models"][at],
                model,
                metrics,
                k,
                clocks[model.name].seconds,
                seeded=factories.seeded(model.name),
                sample_ids=sample,
            )
            for at, model in enumerate(config.models)
        ]
        with clock.step("compare"):
            columns = [*users_.OWN, *dict.fromkeys(config.compare.slices)]
            steps = figure_steps(config, metrics, columns, users)
            figures = steps_.found(steps, self.evaluated.total)
        pairs = len(figures.comparison.pairs) if figures.comparison else 0
        _log.info("compared %s, %.1f s", counted(pairs, "pair"), clock.seconds["compare"])
        run = assemble(
            factories,
            metrics=metrics,
            data=plan.data,
            split=plan.split,
            evaluation=evaluation,
            users=counted_users,
            figures=figures,
            evaluated=evaluated,
            unread=list(sums["unread"]),
            seconds=clock.seconds,
        )
        return replace(run, evaluated_with_items=int(of["with_items"][0]))


def refuse_of_all_events(config: Config, models: Models) -> None:
    """Raise UsageError where a model cannot be fitted and asked part by part."""
    whole = of_all_events(models)
    if whole:
        raise UsageError(
            f"{counted(len(whole), 'model learns', 'models learn')} from all events at once: "
            f"{', '.join(whole)}; leave out such models, or run the config without --engine spark "
            "(models of your own may learn in parts: docs/baselines.md)"
        )
    files = [model.name for model in config.models if model.use is None]
    if files:
        raise UsageError(
            f'model "{files[0]}" is a file of lists, which a run in parts does not read: leave it '
            "out, and score it by itself: harness score FILE --config CONFIG, or of tables that "
            "Spark alone reads harness.spark.evaluate(predictions, truth, metrics)"
        )


@dataclass(frozen=True, eq=False)
class _Asking:
    """What parts are evaluated by: fitted models, metrics, and what is known of the items."""

    plan: Plan
    models: Sequence[tuple[int, str, Recommender]]
    metrics: tuple[Metric, ...]
    catalogue: Catalogue | None

    def __call__(self, part: Dataset) -> Content:
        """Return what is kept of a part."""
        task, others = self.plan.tasks(part)
        of, left_out = task.evaluation_set, others.evaluation_set
        sample, unread = sample_of_users(self.plan.config, of, left_out)
        models: dict[int, Any] = {}
        for at, settings in enumerate(self.plan.config.models if self.models else ()):
            models[at] = self._scored(settings, task, others, sample)
        profile = users_.with_attributes(
            users_.of_events(task), task, self.plan.config.compare.slices
        )
        sums = {
            "models": {at: one.pop("sums") for at, one in models.items()},
            "set": evaluation_set.sums(of),
            "with_items": np.array([len(with_items(of, left_out))]),
            "sample": Largest(np.array([0 if sample is None else sample.ids])),
            "unread": {words: np.array([1]) for words in unread},
        }
        cases, grades = dict(enumerate(cases_of(of))), grades_of(of)
        graded = {} if grades is None else grades._asdict()
        content = {"profile": profile, "cases": cases, "models": models, "sums": sums}
        return content | {"grades": graded}

    def _scored(
        self, settings: ModelConfig, task: Task, others: Task, sample: Sample | None
    ) -> dict[str, Any]:
        """Return a model's values by metric, its lists by repeat, and its sums."""
        answers = [
            ask_part(name, model, task, others, repeat)
            for repeat, name, model in self.models
            if name == settings.name
        ]
        # Nothing can be said for others of a metric that is not 0 for users without hits.
        also = others if self.metrics[0].definition.zero_without_hits else None
        one = scored(
            answers,
            settings,
            task,
            self.catalogue,
            self.metrics,
            Clock(),
            others=also,
            sample=sample,
        )
        return {
            "values": {self.metrics.index(m): own for m, own in one.table.values.items()},
            "lists": {repeat: answer.lists.items for repeat, answer in enumerate(answers)},
            "sums": one.sums,
        }


def listed(config: Config, candidate_ids: pl.Series, part: EvaluatedPart) -> pl.DataFrame:
    """Return one row a user, model and repeat, with the list of items, the best first."""
    models = {
        config.models[at].name: map(Recommendations, repeats.values())
        for at, repeats in part.lists.items()
    }
    return lists_by_row(part.profile[USER], candidate_ids, models)


def _opened(config: Config, metrics: tuple[Metric, ...], _: int, content: Content) -> EvaluatedPart:
    tables, lists = {}, {}
    for at, own in content["models"].items():
        values = {metrics[i]: of for i, of in own["values"].items()}
        tables[config.models[at].name] = ScoreTable(values)
        lists[at] = own["lists"]
    profile, cases = content["profile"], content["cases"]
    return EvaluatedPart(
        id_hashes(profile[USER]),
        tables,
        profile,
        (cases[0], cases[1], cases[2]),
        config.evaluation.k,
        metrics[0],
        Grades(**content["grades"]) if content["grades"] else None,
        content["sums"],
        lists,
    )


def _sums_of(part: EvaluatedPart) -> Sums:
    return part.sums
