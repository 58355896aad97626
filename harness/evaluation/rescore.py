"""The lists of a run, from its folder or given again, known to be those that it scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from harness.config import Config
from harness.core.arrays import Floats, Int32
from harness.core.errors import UsageError, counted
from harness.core.progress import doing
from harness.evaluation.answers import Answers, fitted, recommend
from harness.evaluation.build import Factories, only
from harness.evaluation.finished import Asked, Finished
from harness.evaluation.run import evaluate
from harness.metrics import Judgments, Metric
from harness.metrics.scores import user_scores
from harness.models.recommendations import Recommendations
from harness.protocol import truth
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.fingerprint import FORMAT
from harness.protocol.task import Task, make_task
from harness.results.folder import RECOMMENDATIONS
from harness.results.record import ModelRecord
from harness.results.run import Run, read
from harness.results.tables import positions_of
from harness.scoring.submissions import SubmittedLists, lists_of_positions


@doing("scoring lists")
def rescore(folder: Path | str, metrics: Sequence[Metric] = ()) -> Run:
    """Score the lists of a run's models under some metrics; no model learns again.

    `folder` is what `harness run` wrote, with its recommendations.parquet. Models are ordered and
    compared by the first of `metrics`, the run's own by default. Raises HarnessError where there
    is no such run, it holds no such lists, or the data or the lists have changed since.
    """
    run = read(Path(folder))
    configs_of(run)
    config = only(run.settings, [model.name for model in run.models])
    wanted, k = tuple(metrics) or tuple(run.metrics.values()), config.evaluation.k
    for metric in wanted:
        if metric.k is not None and metric.k > k:
            raise UsageError(
                f"{metric} looks at {metric.k} positions, but the lists of {run.folder} have up "
                f"to {k}; name a cut-off of {k} or less, or {run.again} --set "
                f"evaluation.k={metric.k}"
            )
    finished = []
    for fold, part in zip(config.folds(), run.folds, strict=True):
        models = Finished(fold, fresh=True, background=None)
        models.reused = ()  # says what a run itself took from the cache
        models.answers = {model.name: partial(_answers, part, model) for model in part.models}
        finished.append(models)
    scored = evaluate(config, wanted, finished, fail_fast=True)
    notes = (*scored.notes, *run.source_notes(wanted))
    record = scored.record.model_copy(update={"failed": run.failed, "notes": notes})
    return replace(scored, record=record)


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
        _refuse_other_lists(run, model.name, repeat, lists, evaluation_set)
        answers.append(Answers(lists, drawn=drawn, notes=notes))
    return answers, model.seconds, None


@dataclass(frozen=True, eq=False)
class RunTask:
    """An evaluation set of a run, made again of its data: a fold's, from 1, or the only one."""

    whole: Run
    run: Run
    task: Task
    fold: int
    folds: int

    def lists(self, model: str, repeat: int = 0, *, again: bool = False) -> Recommendations:
        """Return lists of a model that are known to be the run's; without a file ask it `again`."""
        run, task = self.run, self.task
        if again and not (self.whole.folder / RECOMMENDATIONS).exists():
            made = Factories(task.config, [model]).make([model], repeat)[model]
            lists = recommend(model, fitted(model, made, task), task, repeat)
        else:
            rows = run.table(RECOMMENDATIONS, model)
            lists = positions_of(rows.filter(repeat=repeat)["items"], task.evaluation_set)
        if run.user_metrics and not {*run.user_metrics.values()} - run.changed_metrics.keys():
            raise UsageError(
                f"{run.folder}: the source of {', '.join(run.changed_metrics.values())} has "
                f"changed since this run, so harness cannot check these lists; {run.again}"
            )
        _refuse_other_lists(run, model, repeat, lists, task.evaluation_set)
        return lists

    def submitted(
        self, title: str, lists: Recommendations, metrics: tuple[Metric, ...]
    ) -> SubmittedLists:
        """Return lists beside the true items, under some metrics."""
        solution = truth.of_task(self.task, metrics)
        strange = lists.strange.fill_null("(an unknown item)")
        items = pl.concat([solution.items.alias(strange.name), strange])
        submitted = lists_of_positions(title, solution, lists.items, items, {})
        solution = replace(submitted.solution, folds=self.folds, fold=self.fold)
        return replace(submitted, solution=solution, left_out={})


def task_of(whole: Run, fold: int | None = None) -> RunTask:
    """Return an evaluation set of a run, of the last fold by default; 1 is the earliest."""
    configs = configs_of(whole)
    folds = len(configs)
    if fold is not None and folds == 1:
        raise UsageError(f"{whole.folder}: has one evaluation set and no folds; remove --fold")
    if fold is not None and not 1 <= fold <= folds:
        raise UsageError(
            f"{whole.folder}: has no fold {fold}; its folds are 1, the earliest, to {folds}"
        )
    number = fold or folds
    run, task = whole.folds[number - 1], make_task(configs[number - 1])
    refuse_changed(run, task.evaluation_set)
    return RunTask(whole, run, task, number, folds)


def configs_of(run: Run) -> tuple[Config, ...]:
    """Return the config of each fold of a run; UsageError where config.toml has changed since."""
    config = run.settings
    now = f"{counted(config.n_folds, 'fold')} and k = {config.evaluation.k}"
    then = f"{counted(len(run.folds), 'fold')} and k = {run.evaluation.k}"
    if now != then:
        raise UsageError(
            f"{run.folder / 'config.toml'}: has {now}, but the run had {then}: the file has "
            f"changed since; {run.again}"
        )
    return config.folds()


def refuse_changed(run: Run, evaluation_set: EvaluationSet) -> None:
    """Raise UsageError unless an evaluation set is known to be the one that a run was on."""
    if run.evaluation.fingerprint_format != FORMAT:
        raise UsageError(
            f"{run.folder}: another version of harness wrote this run, with other fingerprints, "
            f"so harness cannot check whether the data has changed since; {run.again}"
        )
    then = run.evaluation.fields
    differ = [name for name, now in evaluation_set.fields.items() if then.get(name) != now]
    if differ:
        raise UsageError(
            f"{run.folder}: the data has changed since this run (it differs in "
            f"{', '.join(differ)}); {run.again}"
        )


def refuse_other_scores(
    run: Run, model: str, then: Mapping[Metric, Floats], lists: Int32, judgments: Judgments
) -> None:
    """Raise UsageError where lists have other scores of users than `then`, those of the run.

    Metrics whose source has changed are left out, and those that need what is not there.
    """
    metrics = [m for m in then if m not in run.changed_metrics and not m.definition.needs]
    now = user_scores(lists, judgments, metrics)
    for metric in metrics:
        if not np.array_equal(then[metric], now[metric]):
            raise UsageError(
                f'{run.folder}: model "{model}" gives other lists than in this run '
                f"({run.name_of(metric)} differs): the training data or the model has changed, "
                f"or its lists are random without draws; {run.again}"
            )


def _refuse_other_lists(
    run: Run, model: str, repeat: int, lists: Recommendations, evaluation_set: EvaluationSet
) -> None:
    """Raise UsageError where lists have other scores than those of the repeat in the run."""
    then = {metric: values[repeat] for metric, values in run.scores[model].values.items()}
    refuse_other_scores(run, model, then, lists.items, evaluation_set.judgments())
