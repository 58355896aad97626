"""A model's lists of a run, from its folder or given again, known to be those that it scored."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.core.errors import UsageError, counted, printable, suggest
from harness.experiment.answers import fitted, recommend
from harness.experiment.build import Factories
from harness.experiment.list_table import ListTable, lists_of
from harness.experiment.run_folder import RECOMMENDATIONS, Run
from harness.experiment.submitted_lists import SubmittedLists, lists_of_positions
from harness.metrics import Metric
from harness.metrics.scores import user_scores
from harness.models.recommendations import Recommendations
from harness.protocol import truth
from harness.protocol.task import Task, make_task, model_of


@dataclass(frozen=True, eq=False)
class RunLists:
    """The lists of a run's model on its evaluation set, or on that of one fold.

    Attributes
    ----------
    settings : ModelConfig
        The model's section of the run's config.
    task : Task
        Made again; its evaluation set is that of the run.
    lists : Recommendations
        A row a user of the evaluation set.
    fold, folds : int
        Which of how many it is, from 1.
    """

    settings: ModelConfig
    task: Task
    lists: Recommendations
    fold: int
    folds: int

    def on_task(self, title: str, metrics: tuple[Metric, ...]) -> SubmittedLists:
        """Return them beside the true items, under some metrics."""
        solution = truth.of_task(self.task, metrics)
        strange = self.lists.strange.fill_null("(an item that nobody knows)")
        items = pl.concat([solution.items.alias(strange.name), strange])
        found = lists_of_positions(title, solution, self.lists.items, items, {})
        which = replace(found.solution, folds=self.folds, fold=self.fold)
        return replace(found, solution=which, left_out={})


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
    folder, settings = (
        whole.folder,
        model_of(_evaluated(whole, model), model, repeat, str(whole.folder)),
    )
    at = _place_of(whole, fold)
    run, config = whole.folds[at], whole.config.folds()[at]
    fit = again and not (folder / RECOMMENDATIONS).exists()
    rows = None if fit else lists_of(run)
    task = make_task(config)
    run.refuse_changed(task.evaluation_set)
    if rows is None:
        made = Factories(config, model).made(repeat)[model]
        lists = recommend(model, fitted(model, made, task), task, repeat)
    else:
        table = ListTable(rows, folder / RECOMMENDATIONS, task.evaluation_set)
        lists = table.of(model, repeat + 1)[repeat]
    found = RunLists(settings, task, lists, at + 1, len(whole.folds))
    _refuse_other_lists(run, model, repeat, found.on_task("", ()))
    return found


def _place_of(run: Run, fold: int | None) -> int:
    """Return the place of a fold of a run, the last one by default."""
    there = len(run.folds)
    if run.config.n_folds != there:
        raise UsageError(
            f"{run.folder / 'config.toml'}: says {counted(run.config.n_folds, 'fold')}, and the "
            f"run had {there}: it was changed since; {run.again}"
        )
    if fold is not None and there == 1:
        raise UsageError(f"{run.folder}: has one evaluation set, no folds; leave --fold out")
    if fold is not None and not 1 <= fold <= there:
        told = f"has no fold {fold}; its folds are 1, the earliest, to {there}"
        raise UsageError(f"{run.folder}: {told}")
    return (fold or there) - 1


def _evaluated(run: Run, model: str) -> Config:
    """Return a run's config with the models alone that have lists."""
    names = [one.name for one in run.record.models]
    for failed in run.record.failed:
        if failed.name == model:
            raise UsageError(
                f'{run.folder}: model "{model}" failed in this run and has no lists: '
                f"{printable(' '.join(failed.says.split()))}; {suggest('', names)}"
            )
    models = [one for one in run.config.models if one.name in names]
    return run.config.model_copy(update={"models": models})


def _refuse_other_lists(run: Run, model: str, repeat: int, submitted: SubmittedLists) -> None:
    """Raise UsageError where the lists have other scores than those of the run."""
    scores = run.tables[model].values
    then = {m: own for m, own in scores.items() if m not in run.changed_metrics}
    if scores and not then:
        raise UsageError(
            f"{run.folder}: the source of {', '.join(run.changed_metrics.values())} has changed "
            "since this run, so nothing tells whether these lists are those that it scored; "
            f"{run.again}"
        )
    now = user_scores(submitted.lists, submitted.solution.judgments, list(then))
    for metric, name in {m: name for name, m in run.metrics.items() if m in then}.items():
        if not np.array_equal(then[metric][repeat], now[metric]):
            raise UsageError(
                f'{run.folder}: model "{model}" gives other lists than in this run ({name} '
                "differs): the training data or the model has changed, or it does not repeat "
                f"itself; {run.again}"
            )
