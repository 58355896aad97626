"""Papers of a run: one of its models sits the exam again, and must give the lists that it gave."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness import config as config_
from harness import plugins, solutions
from harness.arrays import Int32
from harness.errors import DataError, UsageError
from harness.metrics import Metric
from harness.papers import Paper, of_lists
from harness.scoring import marks
from harness.setting import Setting, asked, model_of, set_exam
from harness.sitting import fitted, recommend


def of_run(folder: Path, model: str, repeat: int = 0, metrics: tuple[Metric, ...] = ()) -> Paper:
    """Return the paper of a run's model, which sits the exam once more to give its lists again.

    Raises
    ------
    UsageError
        No such run, model or repeat; or the data has changed since the run.
    """
    config = config_.read(_part_of(folder, "config.toml"))
    settings = model_of(config, model, repeat, str(folder))
    setting = set_exam(config)
    _refuse_changed(folder, setting)
    made = plugins.load(model, settings.use, settings.params, config.folder)
    found = recommend(model, fitted(model, made, setting), setting, repeat)
    _refuse_other_lists(folder, model, repeat, _on_exam("", setting, found.items, ()))
    title = f'model "{model}" of {folder}' + (f", repeat {repeat}" if settings.repeats > 1 else "")
    return _on_exam(title, setting, found.items, metrics)


def _on_exam(title: str, setting: Setting, items: Int32, metrics: tuple[Metric, ...]) -> Paper:
    solution = solutions.of_setting(setting, metrics)
    return replace(of_lists(title, solution, items, solution.items, {}), left_out={})


def _part_of(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise UsageError(f"{folder}: is no run folder: it holds no {name}; harness run makes one")
    return folder / name


def metrics_of_run(folder: Path) -> dict[str, Metric]:
    """Return the metrics of a run by the names that its table gives them.

    A function in a file beside the config is named from there; here it is found from anywhere.

    Raises
    ------
    UsageError, DataError
        No such run.
    """
    names = list(_result(folder)["models"][0]["metrics"])
    return dict(zip(names, asked(config_.read(_part_of(folder, "config.toml"))), strict=True))


def _result(folder: Path) -> Any:
    """Return what result.json holds, where it holds what is looked at here."""
    try:
        run = json.loads(_part_of(folder, "result.json").read_text(encoding="utf-8"))
        dict(run["evaluation"]["fields"]), dict(run["models"][0]["metrics"])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(f"{folder}/result.json: is no result of harness run ({error})") from error
    return run


def _refuse_changed(folder: Path, setting: Setting) -> None:
    """Raise UsageError where the exam is not the one that the run was on."""
    then, now = _result(folder)["evaluation"]["fields"], setting.exam.fields
    differ = [name for name in now if then.get(name) != now[name]]
    if differ:
        raise UsageError(
            f"{folder}: the data has changed since this run ({', '.join(differ)} differ); run it "
            f"again: harness run {folder}/config.toml"
        )


def _refuse_other_lists(folder: Path, model: str, repeat: int, paper: Paper) -> None:
    """Raise UsageError where the lists earn other marks than those of the run did."""
    path = _part_of(folder, "per_user.parquet")
    names = {m: name for name, m in metrics_of_run(folder).items() if m.definition.of == "user"}
    try:
        then = pl.read_parquet(path).filter(model=model, repeat=repeat)
        marked = {metric: then[name].to_numpy() for metric, name in names.items()}
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: holds no marks of harness run ({error})") from error
    now = marks(paper.lists, paper.key, list(names))
    for metric, name in names.items():
        if not np.array_equal(marked[metric], now[metric]):
            raise UsageError(
                f'{folder}: model "{model}" gives other lists than in this run ({name} differs): '
                "the training data or the model has changed, or it does not repeat itself; run it "
                f"again: harness run {folder}/config.toml"
            )
