"""A model's lists of a run, from its folder or given again, known to be those that it scored."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from harness.core.arrays import Int32
from harness.core.errors import UsageError, counted
from harness.evaluation.answers import fitted, recommend
from harness.evaluation.build import Factories
from harness.metrics import Judgments, Metric
from harness.metrics.scores import user_scores
from harness.models.recommendations import Recommendations
from harness.protocol import truth
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.fingerprint import FORMAT
from harness.protocol.task import Task, make_task
from harness.results.folder import RECOMMENDATIONS
from harness.results.record import ModelRecord
from harness.results.run import Run
from harness.results.tables import positions_of
from harness.scoring.submitted_lists import SubmittedLists, lists_of_positions


@dataclass(frozen=True, eq=False)
class RunLists:
    """The lists of a run's model on its evaluation set, or on that of one fold.

    Attributes
    ----------
    model : ModelRecord
    task : Task
        Made again; its evaluation set is that of the run.
    lists : Recommendations
        A row a user of the evaluation set.
    fold, folds : int
        Which of how many it is, from 1.
    """

    model: ModelRecord
    task: Task
    lists: Recommendations
    fold: int
    folds: int

    def on_task(self, title: str, metrics: tuple[Metric, ...]) -> SubmittedLists:
        """Return them beside the true items, under some metrics."""
        solution = truth.of_task(self.task, metrics)
        strange = self.lists.strange.fill_null("(an item that nobody knows)")
        items = pl.concat([solution.items.alias(strange.name), strange])
        submitted = lists_of_positions(title, solution, self.lists.items, items, {})
        solution = replace(submitted.solution, folds=self.folds, fold=self.fold)
        return replace(submitted, solution=solution, left_out={})


def of_run(
    whole: Run, model: str, repeat: int = 0, fold: int | None = None, *, again: bool = False
) -> RunLists:
    """Return the lists of a model.

    Parameters
    ----------
    fold : int, optional
        Which of several, from 1, the earliest; the last by default.
    again : bool
        Whether the model learns again where the run has no lists written down.

    Raises
    ------
    UsageError
        No such model, repeat or fold; a model that failed; a run without lists; the data has
        changed since, or the lists.
    """
    entry = whole.model_of(model, repeat)
    refuse_other_config(whole)
    folds = len(whole.folds)
    if fold is not None and folds == 1:
        raise UsageError(f"{whole.folder}: has one evaluation set, no folds; leave --fold out")
    if fold is not None and not 1 <= fold <= folds:
        raise UsageError(
            f"{whole.folder}: has no fold {fold}; its folds are 1, the earliest, to {folds}"
        )
    number = fold or folds
    run, config = whole.folds[number - 1], whole.settings.folds()[number - 1]
    rows = None
    if not again or (whole.folder / RECOMMENDATIONS).exists():
        rows = run.table(RECOMMENDATIONS, model)
    task = make_task(config)
    refuse_changed(run, task.evaluation_set)
    if rows is None:
        made = Factories(config, [model]).make([model], repeat)[model]
        lists = recommend(model, fitted(model, made, task), task, repeat)
    else:
        lists = positions_of(rows.filter(repeat=repeat)["items"], task.evaluation_set)
    of_model = RunLists(entry, task, lists, number, folds)
    if run.user_metrics and not {*run.user_metrics.values()} - run.changed_metrics.keys():
        raise UsageError(
            f"{run.folder}: the source of {', '.join(run.changed_metrics.values())} has changed "
            "since this run, so nothing tells whether these lists are those that it scored; "
            f"{run.again}"
        )
    submitted = of_model.on_task("", ())
    refuse_other_scores(run, model, repeat, submitted.lists, submitted.solution.judgments)
    return of_model


def refuse_other_config(run: Run) -> None:
    """Raise UsageError where config.toml is not what the lists were made by."""
    config, record = run.settings, run.record
    for what, now, then in (
        ("[split] says {}", counted(config.n_folds, "fold"), counted(len(run.folds), "fold")),
        ("[evaluation] k is {}", str(config.evaluation.k), str(record.evaluation.k)),
    ):
        if now != then:
            raise UsageError(
                f"{run.folder / 'config.toml'}: {what.format(now)}, and the run had {then}: it was "
                f"changed since; {run.again}"
            )


def refuse_changed(run: Run, evaluation_set: EvaluationSet) -> None:
    """Raise UsageError unless an evaluation set is known to be the one that a run was on."""
    if run.evaluation.fingerprint_format != FORMAT:
        raise UsageError(
            f"{run.folder}: was written by another version, which made fingerprints in another "
            f"way, so nothing tells whether the data has changed since this run; {run.again}"
        )
    then = run.evaluation.fields
    differ = [name for name, now in evaluation_set.fields.items() if then.get(name) != now]
    if differ:
        raise UsageError(
            f"{run.folder}: the data has changed since this run (it differs in "
            f"{', '.join(differ)}); {run.again}"
        )


def refuse_other_scores(
    run: Run, model: str, repeat: int, lists: Int32, judgments: Judgments
) -> None:
    """Raise UsageError where lists have other scores than those of the run.

    Metrics whose source has changed are left out, and those that need what is not there.
    """
    values = run.scores[model].values
    metrics = [m for m in values if judgments.catalogue or not m.definition.needs]
    metrics = [m for m in metrics if m not in run.changed_metrics]
    now = user_scores(lists, judgments, metrics)
    for metric in metrics:
        if not np.array_equal(values[metric][repeat], now[metric]):
            raise UsageError(
                f'{run.folder}: model "{model}" gives other lists than in this run '
                f"({run.name_of(metric)} differs): the training data or the model has changed, or "
                f"it does not repeat itself; {run.again}"
            )
