"""A whole run whose users never are in one place: parts are evaluated, and sums tell of all.

A part of the users is read, asked for and scored by whoever holds it. What is said of all follows
from sums, so figures are those of a run in memory, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import polars as pl

from harness.config import Config
from harness.core.errors import UsageError, counted
from harness.core.exact_sum import Sums
from harness.core.progress import Clock, Observer
from harness.core.random import id_hashes
from harness.data.dataset import Dataset
from harness.evaluation.answers import Answers
from harness.evaluation.assemble import assemble
from harness.evaluation.failures import Failures
from harness.evaluation.finished import Finished
from harness.evaluation.fold import Fold, Models
from harness.evaluation.learn import Learner, ask_part, learn, of_all_events
from harness.evaluation.part import EvaluatedPart, describing, evaluate_part
from harness.evaluation.plan import Plan
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol import users
from harness.protocol.task import Task, asked
from harness.results.run import Run
from harness.results.tables import RunTables
from harness.stats.chance_graded import Grades
from harness.stats.slices import USER

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
class EvaluatedParts:
    """What a run tells of all users, who are in parts.

    Attributes
    ----------
    run : Run
        Without tables, which are in the parts.
    parts : Parts of EvaluatedPart
    candidate_ids : polars.Series of str
    """

    run: Run
    parts: Parts[EvaluatedPart]
    candidate_ids: pl.Series


def evaluate_parts(
    config: Config,
    parts: Parts[Dataset],
    data: Dataset,
    observer: Observer,
    *,
    fail_fast: bool = False,
) -> EvaluatedParts:
    """Evaluate the models of a config where no process has all users.

    Parameters
    ----------
    parts : Parts of Dataset
        Each of users of whole leaves (`harness.core.random.leaf_of`).
    data : Dataset
        What they have in common: the items, the span, and no user or event.

    Raises
    ------
    HarnessError
        A model that learns from all events at once, or is a file of lists; an empty evaluation
        set; a model that breaks its contract.
    """
    metrics, finished = asked(config), Finished(config, fresh=True, background=None)
    fold = Fold(config, metrics, Failures(fail_fast), observer, finished)
    refuse_of_all_events(config, fold.models)
    plan, learners = learn(fold, data, parts.total)
    with observer.step("fit"):
        catalogue = plan.catalogue((*metrics, *describing(config.evaluation.k)), parts.total)
    with observer.step("evaluate"):
        asking = _Asking(plan, learners, metrics, catalogue, fold.failures)
        evaluated = parts.kept(asking, partial(_opened, config, metrics))
    observer.log(f"evaluated all parts, {observer.seconds['evaluate']:.1f} s")
    candidate_ids = data.item_ids.gather(plan.candidates)
    run = assemble(fold, plan.data, plan.split, candidate_ids, evaluated.total)
    return EvaluatedParts(run, evaluated, candidate_ids)


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
    learners: Sequence[Learner]
    metrics: tuple[Metric, ...]
    catalogue: Catalogue | None
    failures: Failures

    def __call__(self, part: Dataset) -> Content:
        """Return what is kept of a part."""
        config = self.plan.config
        task = self.plan.task(part)
        models = [
            (settings.name, partial(self._answers, settings.name, task))
            for settings in (config.models if self.learners else ())
            if settings.name not in self.failures.errors
        ]
        evaluated = evaluate_part(
            task,
            users.with_attributes(users.of_events(task), task, config.compare.slices),
            models,
            self.metrics,
            self.catalogue,
            # What fails here fails for this part; all parts are asked, wherever they are.
            replace(self.failures, errors=dict(self.failures.errors)),
            {settings.name: Clock() for settings in config.models},
        )
        return {
            "profile": evaluated.profile,
            "cases": dict(enumerate(evaluated.cases)),
            "grades": {} if evaluated.grades is None else evaluated.grades._asdict(),
            "sums": evaluated.sums,
            "values": {
                name: {
                    self.metrics.index(m): values
                    for m, values in table.values.items()
                    if m.definition.of == "user"
                }
                for name, table in evaluated.tables.items()
            },
            "lists": {
                name: {repeat: answer.items for repeat, answer in enumerate(repeats)}
                for name, repeats in evaluated.lists.items()
            },
        }

    def _answers(self, name: str, task: Task) -> list[Answers]:
        """Return what a model answers for the users of a part."""
        learners = (learner for learner in self.learners if learner.name == name)
        return [ask_part(learner, task) for learner in learners]


def rows_of(
    models: Sequence[str], candidate_ids: pl.Series, name: str, part: EvaluatedPart
) -> pl.DataFrame:
    """Return the rows of a part in a table of the run, ids as text; `name` is its file's."""
    tables = RunTables(
        users=part.profile, item_ids=candidate_ids, scores=part.tables, lists=part.lists
    )
    rows = tables.rows(name, models)
    texts: dict[str, Any] = {USER: pl.String, "items": pl.List(pl.String)}
    return rows.cast({column: texts[column] for column in rows.columns if column in texts})


def _opened(config: Config, metrics: tuple[Metric, ...], _: int, content: Content) -> EvaluatedPart:
    cases = content["cases"]
    return EvaluatedPart(
        hashes=id_hashes(content["profile"][USER]),
        tables={
            name: ScoreTable({metrics[number]: values for number, values in by_metric.items()})
            for name, by_metric in content["values"].items()
        },
        profile=content["profile"],
        cases=(cases[0], cases[1], cases[2]),
        k=config.evaluation.k,
        metric=metrics[0],
        grades=Grades(**content["grades"]) if content["grades"] else None,
        lists={
            name: tuple(map(Recommendations, repeats.values()))
            for name, repeats in content["lists"].items()
        },
        sums=content["sums"],
    )
