"""``harness score RUN``: the models of a run under other metrics, by the lists that it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from harness.config import Config
from harness.core.errors import UsageError
from harness.core.progress import Clock
from harness.experiment.answers import Answers
from harness.experiment.build import only
from harness.experiment.failures import Failures
from harness.experiment.finished import Finished
from harness.experiment.run import evaluate
from harness.experiment.run_lists import refuse_other_config
from harness.metrics import Metric, is_own
from harness.metrics.scores import user_scores
from harness.protocol.task import Task
from harness.results.folder import RECOMMENDATIONS
from harness.results.lists import lists_from_rows
from harness.results.record import ModelRecord
from harness.results.run import Run, read
from harness.results.tables import MeanScore


def rescore(folder: Path | str, metrics: Sequence[Metric] = ()) -> Run:
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
    run = read(Path(folder))
    refuse_other_config(run)
    run.tables_of_folder.refuse_contradictions()
    config = only(run.settings, [model.name for model in run.models])
    wanted = tuple(metrics) or tuple(run.metrics.values())
    _refuse_beyond(run, config, wanted)
    scored = evaluate(
        config,
        wanted,
        Failures(fail_fast=True),
        lambda fold: Written(fold, run.folds[-1 - fold.fold]),
    )
    notes = (*scored.notes, *run.source_notes(wanted))
    record = scored.record.model_copy(update={"failed": run.failed, "notes": notes})
    return replace(scored, record=record)


def _refuse_beyond(run: Run, config: Config, metrics: Sequence[Metric]) -> None:
    k = config.evaluation.k
    for metric in metrics:
        if metric.k is not None and metric.k > k:
            raise UsageError(
                f"{metric} looks at {metric.k} positions, and the lists of {run.folder} have up to "
                f"{k}; name a cut-off of {k} or less, or {run.again} --set evaluation.k={metric.k}"
            )


class Written(Finished):
    """The models of a run, as its folder holds their lists."""

    def __init__(self, config: Config, run: Run) -> None:
        super().__init__(config, fresh=True, background=None)
        self._run, self._tables = run, run.tables_of_folder
        self._rows = self._tables.lists
        self.reused = ()  # a run records what was reused when it was made
        self.answers = {model.name: partial(self._of, model) for model in run.models}

    def _of(self, model: ModelRecord, task: Task) -> tuple[list[Answers], Clock]:
        """Return a model's lists; raise ContradictionError where they have other scores."""
        evaluation_set, path = task.evaluation_set, self._tables.folder / RECOMMENDATIONS
        self._run.refuse_changed(evaluation_set)
        drawn = any(estimate.sd_repeats is not None for estimate in model.metrics.values())
        clock = Clock()
        clock.seconds.update(model.seconds)
        lists = lists_from_rows(self._rows, model.name, model.repeats, evaluation_set, path)
        known = {
            name: metric
            for name, metric in self._run.user_metrics.items()
            if not metric.definition.needs and not is_own(metric.name)
        }
        judgments = evaluation_set.judgments()
        scores = [user_scores(each.items, judgments, list(known.values())) for each in lists]
        for name, metric in known.items():
            values = np.array([by_metric[metric] for by_metric in scores])
            self._tables.refuse_other_mean(model, name, MeanScore.of(values), str(path))
        about = f'model "{model.name}":'
        notes = tuple(note for note in self._run.notes if note.startswith(about))
        return [Answers(each, drawn=drawn, notes=notes) for each in lists], clock
