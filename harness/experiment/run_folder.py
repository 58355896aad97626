"""Run folders: what they hold, where one may be written, and a run read back."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import ValidationError

from harness import config as config_
from harness.core.errors import DataError, UsageError, counted, printable
from harness.experiment.record import ModelRecord, RunRecord, fault_of
from harness.experiment.run_tables import (
    MeanScore,
    checked_scores,
    checked_users,
    is_whole,
    means_by_model,
    parquet_rows,
    refuse_lost,
)
from harness.metrics import Better, Metric, is_own, parse
from harness.metrics.scores import ScoreTable
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.fingerprint import FORMAT
from harness.protocol.task import asked
from harness.stats.slices import USER

_ROUNDING = 1e-9
"""By how much of the values' size two means of them may differ, as sums are rounded."""


class ContradictionError(DataError):
    """The files of a run folder tell different figures of one thing."""


@dataclass(frozen=True, eq=False)
class Run:
    """A folder that `harness run` wrote.

    Attributes
    ----------
    record : RunRecord
        What result.json holds.
    """

    folder: Path
    record: RunRecord

    @property
    def number(self) -> int | None:
        """Which of several folds it is, from 1; None of a whole run."""
        return None

    @cached_property
    def config(self) -> config_.Config:
        """The resolved config."""
        found = config_.read(part(self.folder, "config.toml"))
        if not hasattr(found.split, "ties") or "ties" in found.split.model_fields_set:
            return found
        by_id = found.split.model_copy(update={"ties": "id"})  # of before there was a choice
        return found.model_copy(update={"split": by_id})

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by the names that the table gives them.

        A function in a file beside the config is named from there; here it is found from anywhere.

        Raises
        ------
        DataError
            The config names other metrics, or a function calls other values better than the run.
        """
        names = list(self.record.models[0].metrics)
        metrics = asked(self.config)
        if len(metrics) != len(names):
            raise DataError(f"{self.folder}/config.toml: names other metrics than result.json has")
        for name, metric in zip(names, metrics, strict=True):
            now, then = metric.definition.better, self.better(name)
            if then not in (None, now):
                raise DataError(
                    f"{self.folder}: in its result {then} is better by {name}, and its function "
                    f"now says {now}; {self.again}"
                )
        return dict(zip(names, metrics, strict=True))

    def better(self, name: str) -> Better | None:
        """Return which values of a metric are better; None where that is not known.

        No code of a stranger is run for it: a user's own metric is known where the run recorded it,
        which earlier versions did not.
        """
        if name in self.record.metrics:
            return self.record.metrics[name].better
        try:
            return None if is_own(name) else parse(name).definition.better
        except UsageError:  # a metric of another version
            return None

    def name_of(self, metric: Metric) -> str:
        """Return what the table calls a metric."""
        return next((name for name, own in self.metrics.items() if own == metric), str(metric))

    def digest_of(self, metric: Metric) -> str | None:
        """Return what told the source of a user's own metric; None where the run has none."""
        return self.record.digest_of(self.name_of(metric))

    @cached_property
    def changed_metrics(self) -> dict[Metric, str]:
        """The user's own metrics whose source is known to be another one now, by their names."""
        found = {}
        for name, metric in self.metrics.items():
            then, now = self.record.digest_of(name), metric.definition.digest
            if then is not None and now is not None and then != now:
                found[metric] = name
        return found

    def source_notes(self, metrics: Iterable[Metric]) -> tuple[str, ...]:
        """Return what is said where lists of the run are scored by metrics whose source changed."""
        changed = [self.changed_metrics[m] for m in metrics if m in self.changed_metrics]
        return tuple(
            f"{name}: its source has changed since this run; figures are by what it is now"
            for name in changed
        )

    def refuse_changed(self, evaluation_set: EvaluationSet) -> None:
        """Raise UsageError unless an evaluation set is known to be the one that the run was on."""
        if self.record.evaluation.fingerprint_format != FORMAT:
            raise UsageError(
                f"{self.folder}: was written by another version, which made fingerprints in "
                "another way, so nothing tells whether the data has changed since this run; "
                f"{self.again}"
            )
        then = self.record.evaluation.fields
        differ = [name for name, now in evaluation_set.fields.items() if then.get(name) != now]
        if differ:
            raise UsageError(
                f"{self.folder}: the data has changed since this run (it differs in "
                f"{', '.join(differ)}); {self.again}"
            )

    @property
    def again(self) -> str:
        """The next step where a run cannot be used as it is."""
        return f"run it again: {shlex.join(['harness', 'run', str(self.folder / 'config.toml')])}"

    @cached_property
    def environment(self) -> dict[str, str]:
        """The versions of everything, and when the run was written."""
        path = part(self.folder, "environment.json")
        found = _json(path)
        if not isinstance(found, dict):
            raise DataError(f"{path}: is no environment of harness run")
        return {str(key): str(value) for key, value in found.items()}

    @cached_property
    def folds(self) -> tuple[Run, ...]:
        """Its evaluation sets, each as a run of its own; of a run of one, itself alone."""
        several = enumerate(self.record.folds, 1)
        return tuple(_Fold(self.folder, own, number, self) for number, own in several) or (self,)

    @cached_property
    def user_scores(self) -> pl.DataFrame:
        """Every score: one row a user, model, repeat and fold, ordered by repeat and user.

        Raises
        ------
        DataError
            A model has not one row for each user and repeat, a score is no number, or their means
            are not those of the record.
        """
        path = self.table(PER_USER)
        found = checked_scores(path, parquet_rows(path))
        self.refuse_contradictions(found)
        return found.sort("repeat", "user", maintain_order=True)

    @cached_property
    def user_ids(self) -> pl.Series:
        """The evaluated users, in id order."""
        first = self.record.models[0].name
        ids = self.user_scores.filter(model=first, repeat=0)["user"]
        n = self.record.evaluation.users
        if len(ids) != n or ids.null_count() or ids.n_unique() != n:
            raise self._not_all(first, "repeat")
        return ids

    def _not_all(self, model: str, repeats: str) -> DataError:
        return DataError(
            f'{self.folder / PER_USER}: has not all scores of model "{model}": expected one row '
            f"for each of {self.record.evaluation.users:,} users and {repeats}"
        )

    def repeats(self, model: str) -> int:
        """Return how often a model was evaluated."""
        return next(m.repeats for m in self.record.models if m.name == model)

    def user_scores_of(self, model: str) -> pl.DataFrame:
        """Return the scores of one model, checked to be whole.

        Raises
        ------
        DataError
            They are not of the users of the evaluation set, each once a repeat.
        """
        rows = self.user_scores.filter(model=model)
        if not is_whole(rows, self.user_ids, self.repeats(model)):
            raise self._not_all(model, f"{self.repeats(model)} repeats")
        return rows

    @property
    def user_metrics(self) -> dict[Metric, str]:
        """The metrics of users, and the columns of their scores."""
        return {m: name for name, m in self.metrics.items() if m.definition.of == "user"}

    @cached_property
    def tables(self) -> dict[str, ScoreTable]:
        """The scores of every model."""
        names = self.user_metrics
        refuse_lost(self.table(PER_USER), self.user_scores.columns, names.values())
        n = len(self.user_ids)
        found = {}
        for model in self.record.models:
            rows = self.user_scores_of(model.name)
            user_scores = {m: rows[name].to_numpy().reshape(-1, n) for m, name in names.items()}
            found[model.name] = ScoreTable(user_scores)
        return found

    def refuse_contradictions(self, scores: pl.DataFrame | None = None) -> None:
        """Raise ContradictionError where scores, in any fold, have other means than the record.

        They are read, but for those that were read already.
        """
        path, names = self.table(PER_USER), list(self.record.models[0].metrics)
        found = means_by_model(path, names, folded=bool(self.record.folds), scores=scores)
        for fold in self.folds:
            for model in fold.record.models:
                rows, means = found.get((fold.number, model.name), (0, {}))
                if rows != fold.record.evaluation.users * model.repeats:
                    raise fold._not_all(model.name, f"{model.repeats} repeats")
                for name, own in means.items():
                    fold.refuse_other_mean(model, name, own, str(path))
        for model in self.record.models if self.record.folds else ():
            for name in names:
                means_of = np.array([one.metric_of(model.name, name) for one in self.record.folds])
                where = f"the folds of {self.folder / 'result.json'}"
                self.refuse_other_mean(model, name, MeanScore.of(means_of), where)

    def refuse_other_mean(
        self, model: ModelRecord, metric: str, found: MeanScore, where: str
    ) -> None:
        """Raise ContradictionError where a mean is not the record's.

        Parameters
        ----------
        where : str
            What has the scores.
        """
        then = model.metrics[metric].mean
        if abs(found.mean - then) > _ROUNDING * max(found.size, abs(then)):
            fold = "" if self.number is None else f"fold {self.number}: "
            raise ContradictionError(
                f'{where}: {fold}model "{printable(model.name)}" has a mean {printable(metric)} of '
                f"{found.mean:.12g} there, and {then:.12g} in result.json, so one of the two was "
                f"changed since the run; {self.again} --fresh"
            )

    @cached_property
    def users(self) -> pl.DataFrame:
        """Who the evaluated users are (`harness.protocol.users`), rows in the order of the tables.

        Raises
        ------
        DataError
            It holds other users than the evaluation set.
        """
        ordered = self._profile.sort(USER)
        if not ordered[USER].equals(self.user_ids):
            raise self.other_users(USERS)
        return ordered

    @cached_property
    def _profile(self) -> pl.DataFrame:
        """What the table of users holds."""
        path = self.table(USERS)
        return checked_users(path, parquet_rows(path))

    def other_users(self, name: str) -> DataError:
        """Return the error where a table has other users than the evaluation set."""
        return DataError(f"{self.folder / name}: holds other users than its evaluation set")

    @property
    def has_scores(self) -> bool:
        """Whether the table of scores is there; of a run on Spark it may be elsewhere."""
        return (self.folder / PER_USER).exists()

    def table(self, name: str) -> Path:
        """Return a table of the folder.

        Raises
        ------
        UsageError
            It is where Spark wrote it.
        """
        if not (self.folder / name).exists() and self.elsewhere is not None:
            raise UsageError(
                f"{self.folder}: holds no {name}: Spark wrote its tables to "
                f"{printable(self.elsewhere)}; copy {name} from there into {self.folder}"
            )
        return part(self.folder, name)

    @property
    def elsewhere(self) -> str | None:
        """Where Spark wrote the tables, such as ``hdfs://…/run-1``; None: into the folder."""
        there = (self.folder / "environment.json").is_file()
        return self.environment.get("tables") if there else None


@dataclass(frozen=True, eq=False)
class _Fold(Run):
    """One of the evaluation sets of a run.

    Attributes
    ----------
    at : int
        From 1.
    """

    at: int
    whole: Run

    @property
    def number(self) -> int:
        """Which fold it is, from 1."""
        return self.at

    @property
    def folds(self) -> tuple[Run, ...]:
        """Itself alone."""
        return (self,)

    @cached_property
    def user_scores(self) -> pl.DataFrame:
        """Those of its users."""
        return self._own(PER_USER, self.whole.user_scores)

    @cached_property
    def _profile(self) -> pl.DataFrame:
        return self._own(USERS, self.whole._profile)

    def _own(self, name: str, rows: pl.DataFrame) -> pl.DataFrame:
        if FOLD not in rows.columns:
            raise DataError(f"{self.folder / name}: has no column {FOLD}; {self.again}")
        return rows.filter(pl.col(FOLD) == self.number).drop(FOLD)


def read(folder: Path) -> Run:
    """Return the run in a folder.

    Raises
    ------
    UsageError, DataError
        No such folder, or it holds no run.
    """
    path = part(folder, "result.json")
    try:
        return Run(folder, RunRecord.model_validate_json(path.read_bytes()))
    except OSError as error:
        raise DataError(f"{path}: is no result of harness run ({error})") from error
    except ValidationError as error:
        _json(path)  # says so where it is no JSON at all
        raise DataError(f"{path}: is no result of harness run: {fault_of(error)}") from error


def part(folder: Path, name: str) -> Path:
    """Return a file of a run's folder.

    Raises
    ------
    UsageError
        It is not there.
    """
    try:
        there = (folder / name).is_file() or ((folder / name).is_dir() and name in TABLES)
    except (OSError, ValueError) as error:  # no file can have such a name
        raise UsageError(f"{printable(str(folder))[:200]}: is no run folder: {error}") from error
    runs = [] if there else sorted(path.parent for path in folder.glob(f"*/{name}"))
    if runs:
        raise UsageError(
            f"{folder}: is no run folder, but holds {counted(len(runs), 'run')}; name one, such as "
            f"{runs[-1]}, or see the best of all: "
            f"{shlex.join(['harness', 'leaderboard', str(folder)])}"
        )
    if not there:
        raise UsageError(f"{folder}: is no run folder: it holds no {name}; harness run makes one")
    return folder / name


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: is no result of harness run ({error})") from error


PER_USER, USERS, RECOMMENDATIONS = "per_user.parquet", "users.parquet", "recommendations.parquet"
TABLES = (PER_USER, USERS, RECOMMENDATIONS)
"""Of a run on Spark they are folders; the last one may be left out."""
FILES = ("result.json", PER_USER, USERS, "config.toml", "environment.json")
FOLD = "fold"
"""The column of a fold's number, from 1, where a run has several."""
PAGE = "report.html"
"""What ``harness report`` adds to a run folder."""

_PACKAGES = ("submission-harness", "numpy", "pandas", "polars", "scipy")


def is_run(folder: Path) -> bool:
    """Return whether a folder holds nothing but what a run writes, so that it may be replaced."""
    return folder.is_dir() and {path.name for path in folder.iterdir()} <= {*FILES, *TABLES, PAGE}


def is_run_of(folder: Path, config: Mapping[str, Any]) -> bool:
    """Return whether a folder holds a run of a resolved config, and nothing else."""
    import tomli_w

    try:
        text = (folder / "config.toml").read_text(encoding="utf-8")
        return is_run(folder) and text == tomli_w.dumps(config)
    except (OSError, ValueError):
        return False


def check_out(
    folder: Path, is_own: Callable[[Path], bool] = is_run, what: str = "run folder"
) -> None:
    """Raise UsageError where a run could not be written to `folder`, before any work is done.

    Parameters
    ----------
    is_own, what : callable and str
        Of another command: whether a folder may be replaced, and what it is called.
    """
    try:
        if (folder.exists() or folder.is_symlink()) and (folder.is_symlink() or not is_own(folder)):
            raise UsageError(f"{folder}: exists and is no {what}; choose another --out")
        above = next(p for p in folder.absolute().parents if p.exists())
        writable = above.is_dir() and os.access(above, os.W_OK)
    except (OSError, ValueError) as error:
        raise UsageError(f"{printable(str(folder))[:200]}: cannot be written: {error}") from error
    if not writable:
        raise UsageError(f"{folder}: cannot be written; choose another --out")


def environment_of() -> dict[str, str]:
    """Return the versions that a score may depend on."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
