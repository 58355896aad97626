"""Papers of a run: one of its models sits the exam again, and must give the lists that it gave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from harness import runs, solutions
from harness.errors import UsageError
from harness.metrics import Metric
from harness.models import make
from harness.papers import Paper, of_lists
from harness.recommendations import Recommendations
from harness.runs import Run
from harness.scoring import marks
from harness.setting import Setting, model_of, set_exam
from harness.sitting import fitted, recommend


def of_run(folder: Path, model: str, repeat: int = 0, metrics: tuple[Metric, ...] = ()) -> Paper:
    """Return the paper of a run's model, which sits the exam once more to give its lists again.

    Raises
    ------
    UsageError
        No such run, model or repeat; or the data has changed since the run.
    """
    run = runs.read(folder)
    config = run.config
    settings = model_of(config, model, repeat, str(folder))
    setting = set_exam(config)
    _refuse_changed(run, setting)
    made = make(config, model, repeat=repeat)[model]
    found = recommend(model, fitted(model, made, setting), setting, repeat)
    _refuse_other_lists(run, model, repeat, _on_exam("", setting, found, ()))
    title = f'model "{model}" of {folder}' + (f", repeat {repeat}" if settings.repeats > 1 else "")
    return _on_exam(title, setting, found, metrics)


def _on_exam(
    title: str, setting: Setting, found: Recommendations, metrics: tuple[Metric, ...]
) -> Paper:
    solution = solutions.of_setting(setting, metrics)
    strange = found.strange.fill_null("(an item that nobody knows)")
    items = pl.concat([solution.items.alias(strange.name), strange])
    return replace(of_lists(title, solution, found.items, items, {}), left_out={})


def _refuse_changed(run: Run, setting: Setting) -> None:
    """Raise UsageError where the exam is not the one that the run was on."""
    differ = [name for name, now in setting.exam.fields.items() if run.fields.get(name) != now]
    if differ:
        raise UsageError(
            f"{run.folder}: the data has changed since this run ({', '.join(differ)} differ); run "
            f"it again: harness run {run.folder}/config.toml"
        )


def _refuse_other_lists(run: Run, model: str, repeat: int, paper: Paper) -> None:
    """Raise UsageError where the lists earn other marks than those of the run did."""
    then = run.tables[model].values
    now = marks(paper.lists, paper.key, list(then))
    for metric, name in {m: name for name, m in run.metrics.items() if m in then}.items():
        if not np.array_equal(then[metric][repeat], now[metric]):
            raise UsageError(
                f'{run.folder}: model "{model}" gives other lists than in this run ({name} '
                "differs): the training data or the model has changed, or it does not repeat "
                f"itself; run it again: harness run {run.folder}/config.toml"
            )
