"""``harness score RUN``: the models of a run under other metrics, by the lists that it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from harness.config import Config
from harness.core.errors import UsageError, counted
from harness.core.progress import Clock
from harness.experiment import run_folder
from harness.experiment.answers import Answers
from harness.experiment.build import only
from harness.experiment.failures import Failures
from harness.experiment.finished import KnownModels
from harness.experiment.folds import FoldedResult
from harness.experiment.list_table import ListTable, lists_of
from harness.experiment.record import ModelRecord
from harness.experiment.result import Result
from harness.experiment.run import evaluate
from harness.experiment.run_folder import RECOMMENDATIONS, Run
from harness.experiment.run_tables import MeanScore
from harness.metrics import Metric, is_own
from harness.metrics.scores import user_scores
from harness.models.recommendations import Recommendations
from harness.protocol.task import Task


def rescore(folder: Path | str, metrics: Sequence[Metric] = ()) -> Result | FoldedResult:
    """Score the lists of a run's models under some metrics; no model learns again.

    Parameters
    ----------
    folder : path
        What `harness run` wrote, with its recommendations.parquet.
    metrics : sequence of Metric
        Models are ordered and compared by the first; the run's own by default.

    Raises
    ------
    UsageError
        No such run, it holds no lists, a metric looks at more positions than lists have, or the
        data has changed since the run.
    DataError
        Its lists are not of its users, or do not have the scores of its result.json.
    """
    run = run_folder.read(Path(folder))
    _refuse_other_config(run)
    if run.has_scores:
        run.refuse_contradictions()
    config = only(run.config, [model.name for model in run.record.models])
    wanted = tuple(metrics) or tuple(run.metrics.values())
    _refuse_beyond(run, config, wanted)
    folds = {len(run.folds) - at: fold for at, fold in enumerate(run.folds, 1)}
    found = evaluate(config, wanted, Failures(fail_fast=True), lambda one: Written(folds[one.fold]))
    notes = (*found.notes, *run.source_notes(wanted))
    return replace(found, failed=run.record.failed, notes=notes)


def _refuse_other_config(run: Run) -> None:
    """Raise UsageError where config.toml is not what the lists were made by."""
    config, record = run.config, run.record
    for what, now, then in (
        ("[split] says {}", counted(config.n_folds, "fold"), counted(len(run.folds), "fold")),
        ("[evaluation] k is {}", str(config.evaluation.k), str(record.evaluation.k)),
    ):
        if now != then:
            raise UsageError(
                f"{run.folder / 'config.toml'}: {what.format(now)}, and the run had {then}: it was "
                f"changed since; {run.again}"
            )


def _refuse_beyond(run: Run, config: Config, metrics: Sequence[Metric]) -> None:
    k = config.evaluation.k
    for metric in metrics:
        if metric.k is not None and metric.k > k:
            raise UsageError(
                f"{metric} looks at {metric.k} positions, and the lists of {run.folder} have up to "
                f"{k}; name a cut-off of {k} or less, or {run.again} --set evaluation.k={metric.k}"
            )


class Written(KnownModels):
    """The models of a run, as its folder holds their lists."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run, self._rows = run, lists_of(run)
        self.found = {model.name: partial(self._of, model) for model in run.record.models}

    def _of(self, model: ModelRecord, task: Task) -> tuple[list[Answers], Clock]:
        self._run.refuse_changed(task.evaluation_set)
        table = ListTable(self._rows, self._run.folder / RECOMMENDATIONS, task.evaluation_set)
        drawn = any(metric.sd_repeats is not None for metric in model.metrics.values())
        clock = Clock()
        clock.seconds.update(model.seconds)
        lists = table.of(model.name, model.repeats)
        self._refuse_other_lists(model, lists, task)
        about = f'model "{model.name}":'
        notes = tuple(note for note in self._run.record.notes if note.startswith(about))
        return [Answers(own, drawn=drawn, notes=notes) for own in lists], clock

    def _refuse_other_lists(
        self, model: ModelRecord, lists: Sequence[Recommendations], task: Task
    ) -> None:
        """Raise ContradictionError where lists have other scores than the run says."""
        known = {
            metric: name
            for metric, name in self._run.user_metrics.items()
            if not metric.definition.needs and not is_own(metric.name)
        }
        judgments = task.evaluation_set.judgments()
        scores = [user_scores(own.items, judgments, list(known)) for own in lists]
        for metric, name in known.items():
            values = np.array([of[metric] for of in scores])
            where = str(self._run.folder / RECOMMENDATIONS)
            self._run.refuse_other_mean(model, name, MeanScore.of(values), where)
