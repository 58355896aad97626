"""``harness score RUN``: the models of a run under other metrics, by the lists that it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.config import Config
from harness.core.errors import UsageError
from harness.evaluation.answers import Answers
from harness.evaluation.build import only
from harness.evaluation.finished import Asked, Finished
from harness.evaluation.run import evaluate
from harness.evaluation.run_lists import configs_of, refuse_changed, refuse_other_scores
from harness.metrics import Metric
from harness.protocol.task import Task
from harness.results.folder import RECOMMENDATIONS
from harness.results.record import ModelRecord
from harness.results.run import Run, read
from harness.results.tables import positions_of


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
        data or the lists have changed since the run.
    DataError
        Its lists are not of its users, or its scores are not those of its result.json.
    """
    run = read(Path(folder))
    configs_of(run)
    config = only(run.settings, [model.name for model in run.models])
    wanted, k = tuple(metrics) or tuple(run.metrics.values()), config.evaluation.k
    for metric in wanted:
        if metric.k is not None and metric.k > k:
            raise UsageError(
                f"{metric} looks at {metric.k} positions, and the lists of {run.folder} have up to "
                f"{k}; name a cut-off of {k} or less, or {run.again} --set evaluation.k={metric.k}"
            )
    finished = [_written(fold, of) for fold, of in zip(config.folds(), run.folds, strict=True)]
    scored = evaluate(config, wanted, finished, fail_fast=True)
    notes = (*scored.notes, *run.source_notes(wanted))
    record = scored.record.model_copy(update={"failed": run.failed, "notes": notes})
    return replace(scored, record=record)


def _written(config: Config, run: Run) -> Finished:
    """Return the models of a fold, as the run's folder holds their lists."""
    finished = Finished(config, fresh=True, background=None)
    finished.reused = ()  # that is of the run
    finished.answers = {model.name: partial(_answers, run, model) for model in run.models}
    return finished


def _answers(run: Run, model: ModelRecord, task: Task) -> Asked:
    """Return the lists of a model that a run wrote; raise UsageError where they changed since."""
    evaluation_set = task.evaluation_set
    refuse_changed(run, evaluation_set)
    rows = run.table(RECOMMENDATIONS, model.name)
    drawn = any(estimate.sd_repeats is not None for estimate in model.metrics.values())
    notes = tuple(note for note in run.notes if note.startswith(f'model "{model.name}":'))
    answers = []
    for repeat in range(model.repeats):
        lists = positions_of(rows.filter(repeat=repeat)["items"], evaluation_set)
        refuse_other_scores(run, model.name, repeat, lists.items, evaluation_set)
        answers.append(Answers(lists, drawn=drawn, notes=notes))
    return answers, model.seconds
