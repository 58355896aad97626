"""``harness score RUN``: the models of a run under other metrics, by the lists that it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from harness.config import Config
from harness.core.errors import UsageError
from harness.core.progress import Clock
from harness.experiment.answers import Answers
from harness.experiment.build import only
from harness.experiment.failures import Failures
from harness.experiment.finished import Finished
from harness.experiment.run import evaluate
from harness.experiment.run_lists import refuse_changed, refuse_other_config
from harness.metrics import Metric, is_own
from harness.metrics.scores import user_scores
from harness.protocol.task import Task
from harness.results.folder import RECOMMENDATIONS
from harness.results.lists import lists_from_rows
from harness.results.record import ModelRecord
from harness.results.run import Run, read


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
    wanted, k = tuple(metrics) or tuple(run.metrics.values()), config.evaluation.k
    for metric in wanted:
        if metric.k is not None and metric.k > k:
            raise UsageError(
                f"{metric} looks at {metric.k} positions, and the lists of {run.folder} have up to "
                f"{k}; name a cut-off of {k} or less, or {run.again} --set evaluation.k={metric.k}"
            )
    scored = evaluate(
        config,
        wanted,
        Failures(fail_fast=True),
        lambda fold: written_models(fold, run.folds[-1 - fold.fold]),
    )
    notes = (*scored.notes, *run.source_notes(wanted))
    record = scored.record.model_copy(update={"failed": run.failed, "notes": notes})
    return replace(scored, record=record)


def written_models(config: Config, run: Run) -> Finished:
    """Return the models of a run, as its folder holds their lists."""
    written, rows = Finished(config, fresh=True, background=None), run.tables_of_folder.lists
    written.answers = {model.name: partial(_answers, run, rows, model) for model in run.models}
    written.reused = ()  # that is of the run
    return written


def _answers(
    run: Run, rows: pl.DataFrame, model: ModelRecord, task: Task
) -> tuple[list[Answers], Clock]:
    """Return a model's lists; raise ContradictionError where they have other scores."""
    evaluation_set, path = task.evaluation_set, run.folder / RECOMMENDATIONS
    refuse_changed(run, evaluation_set)
    lists = [
        lists_from_rows(rows, model.name, repeat, evaluation_set, path)
        for repeat in range(model.repeats)
    ]
    known = {
        name: metric
        for name, metric in run.user_metrics.items()
        if not metric.definition.needs and not is_own(metric.name)
    }
    judgments = evaluation_set.judgments()
    scores = [user_scores(each.items, judgments, list(known.values())) for each in lists]
    for name, metric in known.items():
        values = np.array([by_metric[metric] for by_metric in scores])
        mean, size = float(values.mean()), float(np.abs(values).mean())
        run.tables_of_folder.refuse_other_mean(model, name, mean, size, str(path))
    clock = Clock()
    clock.seconds.update(model.seconds)
    drawn = any(estimate.sd_repeats is not None for estimate in model.metrics.values())
    notes = tuple(note for note in run.notes if note.startswith(f'model "{model.name}":'))
    return [Answers(each, drawn=drawn, notes=notes) for each in lists], clock
