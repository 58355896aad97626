"""What a run has of each user: scores, lists, and who the users are; in memory or in a folder."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars import selectors

from harness.core import parquet
from harness.core.errors import DataError, counted, printable
from harness.core.io import parts, unusable
from harness.core.unpacking import OWN, Cap, UnpackingError
from harness.metrics.registry import LARGEST_SCORE
from harness.metrics.scores import ScoreTable
from harness.models.recommendations import Recommendations
from harness.results.folder import FOLD, PER_USER, RECOMMENDATIONS, USERS, again, table
from harness.results.lists import keys, lists_by_row
from harness.results.record import ModelRecord, RunRecord
from harness.stats.slices import USER

_CAP = replace(OWN, cure="harness run writes the folder again, from its config.toml", trusted=False)
_ROUNDING = 1e-9
"""By how much of the values' size two means of them may differ, as sums are rounded."""
_COLUMNS = {
    PER_USER: ("scores", ("model", "repeat", "user")),
    RECOMMENDATIONS: ("lists", ("user", "model", "repeat", "items")),
    USERS: ("users", (USER,)),
}


class ContradictionError(DataError):
    """The files of a run folder have different figures of one thing."""


@dataclass(frozen=True, eq=False)
class RunTables:
    """The tables of one evaluation set, in memory.

    Attributes
    ----------
    user_ids : polars.Series, (n,)
        The evaluated users, in id order.
    item_ids : polars.Series
        Of the candidates.
    users : polars.DataFrame
        Who the users are (`harness.protocol.users`).
    scores : mapping of model to ScoreTable
    lists : mapping of model to sequence of Recommendations
        Of each repeat.
    """

    user_ids: pl.Series
    item_ids: pl.Series
    users: pl.DataFrame
    scores: Mapping[str, ScoreTable]
    lists: Mapping[str, Sequence[Recommendations]]

    def rows(self, name: str, models: Sequence[str]) -> pl.DataFrame:
        """Return a table as a folder has it, of some models; `name` is that of its file."""
        if name == USERS:
            return self.users
        users = self.user_ids.cast(pl.Categorical)
        if name == PER_USER:
            return scores_by_row(users, {model: self.scores[model] for model in models})
        items = self.item_ids.cast(pl.Categorical)
        return lists_by_row(users, items, {model: self.lists[model] for model in models})


def scores_by_row(users: pl.Series, tables: Mapping[str, ScoreTable]) -> pl.DataFrame:
    """Return one row a user, model and repeat, with a column for each metric of users."""
    frames = [
        keys(users, model, scores.repeats).with_columns(
            pl.Series(str(metric), values.ravel())
            for metric, values in scores.values.items()
            if metric.definition.of == "user"
        )
        for model, scores in tables.items()
    ]
    return pl.concat(frames)


def frames_of(folds: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of several folds, with a column of their numbers."""
    numbered = [
        frame.with_columns(pl.lit(number, pl.Int32).alias(FOLD))
        for number, frame in enumerate(folds, 1)
    ]
    return pl.concat(numbered, how="vertical_relaxed")


class FolderTables:
    """The tables of a run folder, or those of one of its folds; read when they are asked for.

    Whatever is asked for raises DataError where the folder was damaged or changed.

    Parameters
    ----------
    record : RunRecord
        Of the run, or of the fold.
    number : int, optional
        Which of several folds it is, from 1.
    whole : FolderTables, optional
        Those that the fold is one of.
    """

    def __init__(
        self,
        folder: Path,
        record: RunRecord,
        number: int | None = None,
        whole: FolderTables | None = None,
    ) -> None:
        self.folder, self.record, self.number, self._whole = folder, record, number, whole
        self._read: dict[str, pl.DataFrame] = {}

    def folds(self) -> tuple[FolderTables, ...]:
        """Return the tables of each fold; of a run of one evaluation set, these alone."""
        return tuple(
            FolderTables(self.folder, fold, number, self)
            for number, fold in enumerate(self.record.folds, 1)
        ) or (self,)

    def _read_once(self, name: str) -> pl.DataFrame:
        """Return a table, which is read once; that of a fold is cut from the whole."""
        if name not in self._read:
            if self._whole is None:
                rows = _checked(table(self.folder, name), name)
                if name == PER_USER:
                    self.refuse_contradictions()
            else:
                rows = self._whole._read_once(name)
                if FOLD not in rows.columns:
                    path = self.folder / name
                    raise DataError(f"{path}: has no column {FOLD}; {again(self.folder)}")
                rows = rows.filter(pl.col(FOLD) == self.number).drop(FOLD)
            self._read[name] = rows
        return self._read[name]

    @property
    def user_scores(self) -> pl.DataFrame:
        """Every score: one row a user, model and repeat, ordered by repeat and user."""
        return self._read_once(PER_USER)

    @property
    def lists(self) -> pl.DataFrame:
        """One row a user, model and repeat, with the list of items, in the order of the file."""
        return self._read_once(RECOMMENDATIONS)

    @cached_property
    def user_ids(self) -> pl.Series:
        """The evaluated users, in id order."""
        first = self.record.models[0].name
        ids = self.user_scores.filter(model=first, repeat=0)["user"]
        if not len(ids) == ids.n_unique() == self.record.evaluation.users:
            raise self._not_all(first)
        return ids

    @cached_property
    def users(self) -> pl.DataFrame:
        """Who the evaluated users are (`harness.protocol.users`), rows in the order of ids."""
        ordered = self._read_once(USERS).sort(USER)
        if not ordered[USER].equals(self.user_ids):
            raise self.other_users(USERS)
        return ordered

    def rows(self, name: str, models: Sequence[str]) -> pl.DataFrame:
        """Return a table of some models, ordered by model, repeat and user."""
        if name == USERS:
            return self.users
        of_model = self.user_scores_of if name == PER_USER else self._lists_of
        return pl.concat([of_model(model) for model in models])

    def user_scores_of(self, model: str) -> pl.DataFrame:
        """Return the scores of one model, ordered by repeat and user."""
        rows, users = self.user_scores.filter(model=model), self.user_ids
        n, repeats = len(users), self.record.model(model).repeats
        if (
            len(rows) != n * repeats
            or not rows["user"].equals(pl.concat([users] * repeats))
            or not np.array_equal(rows["repeat"], np.repeat(np.arange(repeats), n))
        ):
            raise self._not_all(model)
        return rows

    def _lists_of(self, model: str) -> pl.DataFrame:
        rows = self.lists.filter(pl.col("model").cast(pl.String) == model)
        rows = rows.cast({"user": pl.String, "model": pl.String}).sort("repeat", "user")
        n = self.record.evaluation.users * self.record.model(model).repeats
        if not len(rows) == rows.select("repeat", "user").n_unique() == n:
            raise self._not_all(model, RECOMMENDATIONS)
        return rows

    def _not_all(self, model: str, table: str = PER_USER) -> DataError:
        users = counted(self.record.evaluation.users, "user")
        repeats = counted(self.record.model(model).repeats, "repeat")
        return DataError(
            f'{self.folder / table}: has not all rows of model "{printable(model)}": expected one '
            f"for each of {users} in {repeats}; {again(self.folder)}"
        )

    def other_users(self, name: str) -> DataError:
        """Return the error where a table has other users than the evaluation set."""
        return DataError(f"{self.folder / name}: holds other users than its evaluation set")

    def refuse_contradictions(self) -> None:
        """Raise ContradictionError where scores, in any fold, have other means than the record.

        Where Spark wrote the table elsewhere the record stands alone.
        """
        path = self.folder / PER_USER
        if not path.exists():
            return
        means = _means_by_model(path, self.record)
        for fold in self.folds():
            for model in fold.record.models:
                rows, by_metric = means.get((fold.number, model.name), (0, {}))
                if rows != fold.record.evaluation.users * model.repeats:
                    raise fold._not_all(model.name)
                for metric, (mean, size) in by_metric.items():
                    fold.refuse_other_mean(model, metric, mean, size, str(path))
        for model in self.record.models if self.record.folds else ():
            for metric in model.metrics:
                by_fold = np.array([f.metric_of(model.name, metric) for f in self.record.folds])
                mean, size = float(by_fold.mean()), float(np.abs(by_fold).mean())
                where = f"the folds of {self.folder / 'result.json'}"
                self.refuse_other_mean(model, metric, mean, size, where)

    def refuse_other_mean(
        self, model: ModelRecord, metric: str, mean: float, size: float, where: str
    ) -> None:
        """Raise ContradictionError where a mean is not the record's.

        `size` is the mean of the scores' absolute values, and `where` says what has the scores.
        """
        then = model.metrics[metric].mean
        if abs(mean - then) > _ROUNDING * max(size, abs(then)):
            fold = "" if self.number is None else f"fold {self.number}: "
            raise ContradictionError(
                f'{where}: {fold}model "{printable(model.name)}" has a mean {printable(metric)} of '
                f"{mean:.12g} there, and {then:.12g} in result.json, so one of the two was changed "
                f"since the run; {again(self.folder)} --fresh"
            )


def _checked(path: Path, name: str) -> pl.DataFrame:
    """Return a table, a file or a folder of files that Spark wrote; refuse what is none."""
    rows, (what, columns) = pl.concat([rows_of(file) for file in parts(path)]), _COLUMNS[name]
    refuse_lost(path, what, rows.columns, columns)
    if name == RECOMMENDATIONS:
        if not isinstance(rows["items"].dtype, pl.List):
            raise DataError(f"{path}: holds no lists of harness run: no column items")
        return rows
    if name == USERS:
        texts = pl.String, pl.Categorical, pl.Boolean, pl.Null
        if not all(kind.is_numeric() or kind in texts for kind in rows.dtypes):
            raise DataError(f"{path}: holds no users of harness run")
        return rows.cast({USER: pl.String})
    types: dict[str, Any] = dict.fromkeys(("user", "model"), pl.String)
    types |= dict.fromkeys(("repeat", FOLD), pl.Int32)
    metrics = [column for column in rows.columns if column not in types]
    try:
        scores = rows.cast({column: types.get(column, pl.Float64) for column in rows.columns})
        numbers = all(column.abs().le(LARGEST_SCORE).all() for column in scores[metrics])
        numbers &= all(column.null_count() == 0 for column in scores)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: holds no scores of harness run ({error})") from error
    if not numbers:
        raise DataError(f"{path}: a score is no number")
    return scores.sort("repeat", "user", maintain_order=True)


def _means_by_model(
    path: Path, record: RunRecord
) -> dict[tuple[int | None, str], tuple[int, dict[str, tuple[float, float]]]]:
    """Return how many rows a model has in a fold, and by metric the mean of scores and sizes."""
    by: dict[Any, Any] = {FOLD: pl.Int32} if record.folds else {}
    by["model"] = pl.String
    columns = selectors.by_name([*by, *record.models[0].metrics], require_all=False)
    values, sums = selectors.exclude(list(by)).cast(pl.Float64), list[pl.DataFrame]()
    size, total = values.abs().sum().name.prefix("size "), values.sum().name.prefix("sum ")
    for file in parts(path):
        with _readable(file):
            rows = _scan(file, _CAP, columns)
            refuse_lost(file, "scores", rows.collect_schema(), by)
            groups = rows.cast(by).group_by(list(by))
            sums.append(groups.agg(pl.len().alias("rows"), total, size).collect())
    with _readable(path):  # files of other tables have other columns
        totals = pl.concat(sums).group_by(list(by)).sum()
    means = {}
    for row in totals.iter_rows(named=True):
        n, metrics = row["rows"], [m for m in record.models[0].metrics if f"sum {m}" in row]
        by_metric = {m: (row[f"sum {m}"] / n, row[f"size {m}"] / n) for m in metrics}
        if not all(math.isfinite(size) for _, size in by_metric.values()):
            raise DataError(f"{path}: a score is no number")
        means[row.get(FOLD), row["model"]] = n, by_metric
    return means


def refuse_lost(path: Path, what: str, columns: Collection[str], wanted: Iterable[str]) -> None:
    """Raise DataError where a table lacks a column."""
    for name in wanted:
        if name not in columns:
            raise DataError(f"{path}: holds no {what} of harness run: no column {name}")


def rows_of(path: Path, cap: Cap = _CAP) -> pl.DataFrame:
    """Return the rows of a file; raise DataError where it unpacks to more than it may."""
    with _readable(path):
        return _scan(path, cap, pl.all()).collect()


def _scan(path: Path, cap: Cap, columns: pl.Expr) -> pl.LazyFrame:
    frame = parquet.scan(path, cap).select(columns)
    parquet.check_texts(frame, cap, path.stat().st_size)
    return frame


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise DataError for whatever is wrong with a file."""
    try:
        yield
    except UnpackingError as error:
        raise unusable(path, error, _CAP) from error
    except parquet.UNREADABLE as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
