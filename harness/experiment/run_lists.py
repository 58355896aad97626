"""A model's lists of a run, from its folder or given again, known to be those that it scored."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.core.errors import UsageError, counted, printable, suggest
from harness.experiment.answers import fitted, recommend
from harness.experiment.build import Factories
from harness.experiment.submitted_lists import SubmittedLists, lists_of_positions
from harness.metrics import Metric
from harness.metrics.scores import user_scores
from harness.models.recommendations import Recommendations
from harness.protocol import truth
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.fingerprint import FORMAT
from harness.protocol.task import Task, make_task, model_of
from harness.results.folder import RECOMMENDATIONS
from harness.results.lists import lists_from_rows
from harness.results.run import Run


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
    settings = model_of(_evaluated(whole, model), model, repeat, str(whole.folder))
    refuse_other_config(whole)
    folds, path = len(whole.folds), whole.folder / RECOMMENDATIONS
    if fold is not None and folds == 1:
        raise UsageError(f"{whole.folder}: has one evaluation set, no folds; leave --fold out")
    if fold is not None and not 1 <= fold <= folds:
        raise UsageError(
            f"{whole.folder}: has no fold {fold}; its folds are 1, the earliest, to {folds}"
        )
    number = fold or folds
    run, config = whole.folds[number - 1], whole.settings.folds()[number - 1]
    rows = run.tables_of_folder.lists if path.exists() or not again else None
    task = make_task(config)
    refuse_changed(run, task.evaluation_set)
    if rows is None:
        made = Factories(config, model).made(repeat)[model]
        lists = recommend(model, fitted(model, made, task), task, repeat)
    else:
        lists = lists_from_rows(rows, model, repeat, task.evaluation_set, path)
    of_model = RunLists(settings, task, lists, number, folds)
    _refuse_other_lists(run, model, repeat, of_model.on_task("", ()))
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


def _evaluated(run: Run, model: str) -> Config:
    """Return a run's config with the models alone that have lists."""
    names = [known.name for known in run.models]
    for failed in run.failed:
        if failed.name == model:
            raise UsageError(
                f'{run.folder}: model "{model}" failed in this run and has no lists: '
                f"{printable(' '.join(failed.says.split()))}; {suggest('', names)}"
            )
    models = [known for known in run.settings.models if known.name in names]
    return run.settings.model_copy(update={"models": models})


def _refuse_other_lists(run: Run, model: str, repeat: int, submitted: SubmittedLists) -> None:
    """Raise UsageError where the lists have other scores than those of the run."""
    scores = run.scores[model].values
    then = {m: values for m, values in scores.items() if m not in run.changed_metrics}
    if scores and not then:
        raise UsageError(
            f"{run.folder}: the source of {', '.join(run.changed_metrics.values())} has changed "
            "since this run, so nothing tells whether these lists are those that it scored; "
            f"{run.again}"
        )
    now = user_scores(submitted.lists, submitted.solution.judgments, list(then))
    for name, metric in run.metrics.items():
        if metric in then and not np.array_equal(then[metric][repeat], now[metric]):
            raise UsageError(
                f'{run.folder}: model "{model}" gives other lists than in this run ({name} '
                "differs): the training data or the model has changed, or it does not repeat "
                f"itself; {run.again}"
            )
