"""A whole run whose users never are in one place: parts are evaluated, and sums tell of all.

A part of the users is read, asked for and scored by whoever holds it. What is said of all follows
from sums, so figures are those of a run in memory, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import polars as pl

from harness.config import Config
from harness.core.errors import UsageError, counted
from harness.core.exact_sum import Sums
from harness.core.progress import Clock, Observer
from harness.data.dataset import Dataset
from harness.evaluation.answers import Answers
from harness.evaluation.assemble import assemble
from harness.evaluation.failures import Failures
from harness.evaluation.finished import Finished
from harness.evaluation.fold import Fold, Models
from harness.evaluation.part import Content, EvaluatedPart, describing, evaluate_part
from harness.evaluation.plan import Learner, Plan, learn, of_all_events
from harness.metrics import Metric
from harness.models.item_stats import Catalogue
from harness.protocol.task import asked
from harness.protocol.users import of_events, with_attributes
from harness.results.run import Run

Part = TypeVar("Part", covariant=True)
Other = TypeVar("Other")


class Parts(Protocol[Part]):
    """Parts of the users, wherever they are."""

    def total(self, step: Callable[[Any], Sums]) -> Sums:
        """Return what a function of a part adds up to."""

    def kept(
        self, make: Callable[[Any], Content], opened: Callable[[int, Content], Other]
    ) -> Parts[Other]:
        """Return new parts: what `make` makes of each, as `opened` makes it of what was kept."""


@dataclass(frozen=True, eq=False)
class EvaluatedParts:
    """A run whose tables are in the parts of its users."""

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

    Each part has users of whole leaves (`harness.core.random.leaf_of`); `data` is what all have in
    common: the items, the span, and no user or event.
    """
    metrics, finished = asked(config), Finished(config, fresh=True, background=None)
    fold = Fold(config, metrics, Failures(fail_fast), observer, finished)
    refuse_of_all_events(config, fold.models)
    plan, learners = learn(fold, data, parts.total)
    with observer.step("fit"):
        catalogue = plan.catalogue((*metrics, *describing(config.evaluation.k)), parts.total)
    with observer.step("evaluate"):
        evaluate = partial(_evaluated, plan, learners, metrics, catalogue, fold.failures)
        evaluated = parts.kept(evaluate, partial(EvaluatedPart.opened, config, metrics))
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


def rows_of(
    models: Sequence[str], candidate_ids: pl.Series, name: str, part: EvaluatedPart
) -> pl.DataFrame:
    """Return the rows of a part in a table of the run, of some models; `name` is its file's."""
    return part.run_tables(candidate_ids).rows(name, models)


def _evaluated(
    plan: Plan,
    learners: Sequence[Learner],
    metrics: tuple[Metric, ...],
    catalogue: Catalogue | None,
    failures: Failures,
    part: Dataset,
) -> Content:
    """Ask the models for the lists of a part's users, and score them; return what is kept."""
    task, repeats = plan.task(part), dict[str, list[Learner]]()
    for learner in learners:
        if learner.name not in failures.errors:
            repeats.setdefault(learner.name, []).append(learner)

    def answers(name: str) -> list[Answers]:
        return [learner.ask(task) for learner in repeats[name]]

    return evaluate_part(
        task,
        with_attributes(of_events(task), task, plan.config.compare.slices),
        [(name, partial(answers, name)) for name in repeats],
        metrics,
        catalogue,
        failures.copy(),  # what fails here fails for this part; all parts are asked
        {name: Clock() for name in repeats},
    ).content(metrics)
