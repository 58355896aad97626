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

import polars as pl

from harness.config import Config, ModelConfig
from harness.core import steps as steps_
from harness.core.errors import UsageError, counted
from harness.core.exact_sum import Sums
from harness.core.progress import Clock
from harness.core.random import id_hashes
from harness.data.dataset import Dataset
from harness.experiment.assemble import assemble, compared
from harness.experiment.build import Factories
from harness.experiment.evaluate_part import Asked, EvaluatedPart, describing, evaluate_part
from harness.experiment.failures import Failures
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
from harness.protocol import users
from harness.protocol.task import Task, asked, noted
from harness.results.lists import lists_by_row
from harness.results.run import Run
from harness.results.tables import scores_by_row
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

    def __init__(
        self,
        config: Config,
        parts: Parts[Dataset],
        data: Dataset,
        clock: Clock,
        *,
        fail_fast: bool = False,
    ) -> None:
        factories, metrics = Factories(config), asked(config)
        repeats = range(max(model.repeats for model in config.models))
        made = [factories.made(repeat) for repeat in repeats]
        refuse_of_all_events(config, made)
        with clock.step("evaluation set"), noted(data):
            plan = steps_.found(plan_steps(config, data), parts.total)
        candidates = counted(len(plan.candidates), "candidate")
        _log.info("evaluation set: %s, %.1f s", candidates, clock.seconds["evaluation set"])
        self.candidate_ids = data.item_ids.gather(plan.candidates)
        models = list(in_parts(made)) if len(plan.candidates) > 0 else []
        if models:
            plan.refuse_slices(parts.total)
        clocks, failures = {model.name: Clock() for model in config.models}, Failures(fail_fast)
        with clock.step("fit"):
            fit(plan, models, parts.total, clocks, failures)
            catalogue = plan.catalogue((*metrics, *describing(config.evaluation.k)), parts.total)
        _log.info("fit %s, %.1f s", counted(len(clocks), "model"), clock.seconds["fit"])
        with clock.step("evaluate"):
            asking = _Asking(plan, models, metrics, catalogue, failures)
            self.evaluated = parts.kept(asking, partial(_opened, config, metrics))
            evaluation = plan.evaluation(self.evaluated.total(_set_of))
        n_users = counted(evaluation.users, "user")
        _log.info("evaluated %s, %.1f s", n_users, clock.seconds["evaluate"])
        self.run = assemble(
            factories,
            metrics=metrics,
            data=plan.data,
            split=plan.split,
            evaluation=evaluation,
            total=self.evaluated.total,
            clocks=clocks,
            clock=clock,
            failures=failures,
        )
        _log.info(compared(self.run))


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
    failures: Failures

    def __call__(self, part: Dataset) -> Content:
        """Return what is kept of a part."""
        config = self.plan.config
        task, others = self.plan.tasks(part)
        models = [
            (settings, partial(self._answers, settings, task, others))
            for settings in (config.models if self.models else ())
            if settings.name not in self.failures.found
        ]
        evaluated = evaluate_part(
            task,
            others,
            users.with_attributes(users.of_events(task), task, config.compare.slices),
            models,
            self.metrics,
            self.catalogue,
            # What fails here fails for this part; all parts are asked, wherever they are.
            replace(self.failures, found=dict(self.failures.found)),
        )
        return {
            "profile": evaluated.profile,
            "cases": dict(enumerate(evaluated.cases)),
            "grades": {} if evaluated.grades is None else evaluated.grades._asdict(),
            "sums": evaluated.sums,
            "values": {
                name: {self.metrics.index(m): values for m, values in table.values.items()}
                for name, table in evaluated.tables.items()
            },
            "lists": {
                name: {repeat: answer.items for repeat, answer in enumerate(repeats)}
                for name, repeats in evaluated.lists.items()
            },
        }

    def _answers(self, settings: ModelConfig, task: Task, others: Task) -> Asked:
        """Return what a model answers for the users of a part."""
        answers = [
            ask_part(name, model, task, others, repeat)
            for repeat, name, model in self.models
            if name == settings.name
        ]
        return answers, Clock()


def listed(models: Sequence[str], candidate_ids: pl.Series, part: EvaluatedPart) -> pl.DataFrame:
    """Return one row a user, model and repeat, with the list of items, the best first."""
    lists = {name: part.lists[name] for name in models}
    return lists_by_row(part.profile[USER], candidate_ids, lists)


def scored(models: Sequence[str], part: EvaluatedPart) -> pl.DataFrame:
    """Return one row a user, model and repeat, with a column for each metric of users."""
    return scores_by_row(part.profile[USER], {name: part.tables[name] for name in models})


def _opened(config: Config, metrics: tuple[Metric, ...], _: int, content: Content) -> EvaluatedPart:
    cases = content["cases"]
    return EvaluatedPart(
        id_hashes(content["profile"][USER]),
        {
            name: ScoreTable({metrics[at]: values for at, values in of.items()})
            for name, of in content["values"].items()
        },
        content["profile"],
        (cases[0], cases[1], cases[2]),
        config.evaluation.k,
        metrics[0],
        Grades(**content["grades"]) if content["grades"] else None,
        content["sums"],
        {
            name: tuple(map(Recommendations, repeats.values()))
            for name, repeats in content["lists"].items()
        },
    )


def _set_of(part: EvaluatedPart) -> Sums:
    sums: Sums = part.sums["set"]
    return sums
