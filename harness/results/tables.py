"""What a run has of each user of an evaluation set: scores, lists, and who the users are."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from harness.core import parquet
from harness.core.arrays import Floats
from harness.core.errors import DataError, UsageError, counted, printable
from harness.core.io import parts, unusable
from harness.core.unpacking import OWN, Cap, UnpackingError
from harness.metrics import Metric
from harness.metrics.registry import LARGEST_SCORE
from harness.metrics.scores import ScoreTable
from harness.models.recommendations import Recommendations
from harness.results.folder import FOLD, PER_USER, RECOMMENDATIONS, USERS, again, elsewhere, table
from harness.results.lists import keys, lists_by_row
from harness.results.record import ModelRecord, RunRecord
from harness.stats.slices import USER

_CAP = replace(OWN, cure="harness run writes the folder again, from its config.toml", trusted=False)
_ROUNDING = 1e-9
"""By how much of the values' size two means of them may differ, as sums are rounded."""
_LIST_COLUMNS = ("user", "model", "repeat", "items")


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

    def scores_by(self, metrics: Mapping[str, Metric]) -> dict[str, ScoreTable]:
        """Return the scores of every model by some metrics."""
        return {
            name: ScoreTable({metric: scores.values[metric] for metric in metrics.values()})
            for name, scores in self.scores.items()
        }

    def score_rows(self, models: Iterable[str]) -> pl.DataFrame:
        """Return a row a user, model and repeat, with a column for each metric of users."""
        users = self.user_ids.cast(pl.Categorical)
        return scores_by_row(users, {name: self.scores[name] for name in models})

    def list_rows(self, models: Iterable[str]) -> pl.DataFrame:
        """Return a row a user, model and repeat, with the list of items, the best first."""
        users, items = self.user_ids.cast(pl.Categorical), self.item_ids.cast(pl.Categorical)
        return lists_by_row(users, items, {name: self.lists[name] for name in models})


def scores_by_row(users: pl.Series, tables: Mapping[str, ScoreTable]) -> pl.DataFrame:
    """Return one row a user, model and repeat, with a column for each metric of users."""
    frames = [
        keys(users, name, repeat).with_columns(
            pl.Series(str(metric), values[repeat])
            for metric, values in scores.values.items()
            if metric.definition.of == "user"
        )
        for name, scores in tables.items()
        for repeat in range(scores.repeats)
    ]
    return pl.concat(frames)


def frames_of(folds: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of several folds, with a column of their numbers."""
    numbered = [
        frame.with_columns(pl.lit(number, pl.Int32).alias(FOLD))
        for number, frame in enumerate(folds, 1)
    ]
    return pl.concat(numbered, how="vertical_relaxed")


class MeanScore(NamedTuple):
    """The mean of some scores, and that of their sizes, by which two means are compared."""

    mean: float
    size: float

    @classmethod
    def of(cls, values: Floats) -> MeanScore:
        """Return that of an array."""
        return cls(float(values.mean()), float(np.abs(values).mean()))


class FolderTables:
    """The tables of a run folder, or those of one of its folds; read when they are asked for.

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

    @property
    def has_lists(self) -> bool:
        """Whether the table of lists is there; a run may be written without it."""
        return (self.folder / RECOMMENDATIONS).exists()

    @cached_property
    def user_scores(self) -> pl.DataFrame:
        """Every score: one row a user, model, repeat and fold, ordered by repeat and user.

        Raises
        ------
        DataError
            A model has not one row for each user and repeat, a score is no number, or their means
            are not those of the record.
        """
        if self._whole is not None:
            return self._of_fold(PER_USER, self._whole.user_scores)
        path = table(self.folder, PER_USER)
        scores = _checked_scores(path, parquet_rows(path))
        self.refuse_contradictions(scores)
        return scores.sort("repeat", "user", maintain_order=True)

    @cached_property
    def user_ids(self) -> pl.Series:
        """The evaluated users, in id order."""
        first = self.record.models[0].name
        ids = self.user_scores.filter(model=first, repeat=0)["user"]
        n = self.record.evaluation.users
        if len(ids) != n or ids.null_count() or ids.n_unique() != n:
            raise self._not_all(first)
        return ids

    def user_scores_of(self, model: str) -> pl.DataFrame:
        """Return the scores of one model, checked to be whole.

        Raises
        ------
        DataError
            They are not of the users of the evaluation set, each once a repeat.
        """
        rows, users = self.user_scores.filter(model=model), self.user_ids
        n, repeats = len(users), self.record.model(model).repeats
        whole = len(rows) == n * repeats and all(
            (repeat["repeat"] == number).all() and repeat["user"].equals(users)
            for number, repeat in enumerate(rows.iter_slices(n) if n > 0 else ())
        )
        if not whole:
            raise self._not_all(model)
        return rows

    def scores_by(self, metrics: Mapping[str, Metric]) -> dict[str, ScoreTable]:
        """Return the scores of every model by some metrics, by the names of their columns."""
        _refuse_lost(table(self.folder, PER_USER), self.user_scores.columns, metrics)
        n, scores = len(self.user_ids), dict[str, ScoreTable]()
        for model in self.record.models:
            rows = self.user_scores_of(model.name)
            values = {m: rows[name].to_numpy().reshape(-1, n) for name, m in metrics.items()}
            scores[model.name] = ScoreTable(values)
        return scores

    def score_rows(self, models: Iterable[str]) -> pl.DataFrame:
        """Return a row a user, model and repeat, with a column for each metric of users."""
        return pl.concat([self.user_scores_of(model) for model in models])

    @cached_property
    def lists(self) -> pl.DataFrame:
        """One row a user, model and repeat, with the list of items, in the order of the file.

        Raises
        ------
        UsageError
            The run holds no lists.
        DataError
            What it holds are no lists of models.
        """
        if self._whole is not None:
            return self._of_fold(RECOMMENDATIONS, self._whole.lists)
        if not self.has_lists and elsewhere(self.folder) is None:
            raise UsageError(
                f"{self.folder}: holds no {RECOMMENDATIONS}, as it was written without it or by an "
                f"earlier version; {again(self.folder)}"
            )
        path = table(self.folder, RECOMMENDATIONS)
        rows = parquet_rows(path)
        lost = [name for name in _LIST_COLUMNS if name not in rows.columns]
        if lost or not isinstance(rows["items"].dtype, pl.List):
            raise DataError(
                f"{path}: holds no lists of harness run: no column {(lost or ['items'])[0]}"
            )
        return rows

    def list_rows(self, models: Iterable[str]) -> pl.DataFrame:
        """Return `lists` of some models, ordered by model, repeat and user.

        Raises
        ------
        DataError
            A model has not one list for each user and repeat.
        """
        rows = self.lists.with_columns(pl.col("user", "model").cast(pl.String))
        of_models = list[pl.DataFrame]()
        for name in models:
            own = rows.filter(model=name).sort("repeat", "user")
            n = self.record.evaluation.users * self.record.model(name).repeats
            if len(own) != n or own.select("repeat", "user").n_unique() != n:
                raise self._not_all(name, RECOMMENDATIONS)
            of_models.append(own)
        return pl.concat(of_models)

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
        if self._whole is not None:
            return self._of_fold(USERS, self._whole._profile)
        path = table(self.folder, USERS)
        return _checked_users(path, parquet_rows(path))

    def _of_fold(self, name: str, rows: pl.DataFrame) -> pl.DataFrame:
        if FOLD not in rows.columns:
            raise DataError(f"{self.folder / name}: has no column {FOLD}; {again(self.folder)}")
        return rows.filter(pl.col(FOLD) == self.number).drop(FOLD)

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

    def folds(self) -> tuple[FolderTables, ...]:
        """Return the tables of each fold; of a run of one evaluation set, these alone."""
        return tuple(
            FolderTables(self.folder, fold, number, self)
            for number, fold in enumerate(self.record.folds, 1)
        ) or (self,)

    def refuse_contradictions(self, scores: pl.DataFrame | None = None) -> None:
        """Raise ContradictionError where scores, in any fold, have other means than the record.

        They are read, but for those that were read already. Where Spark wrote the table elsewhere
        the record stands alone.
        """
        if scores is None and not (self.folder / PER_USER).exists():
            return
        path, names = table(self.folder, PER_USER), list(self.record.models[0].metrics)
        by_model = _means_by_model(path, names, folded=bool(self.record.folds), scores=scores)
        for fold in self.folds():
            for model in fold.record.models:
                rows, means = by_model.get((fold.number, model.name), (0, {}))
                if rows != fold.record.evaluation.users * model.repeats:
                    raise fold._not_all(model.name)
                for name, mean in means.items():
                    fold.refuse_other_mean(model, name, mean, str(path))
        for model in self.record.models if self.record.folds else ():
            for name in names:
                by_fold = [fold.metric_of(model.name, name) for fold in self.record.folds]
                where = f"the folds of {self.folder / 'result.json'}"
                self.refuse_other_mean(model, name, MeanScore.of(np.array(by_fold)), where)

    def refuse_other_mean(
        self, model: ModelRecord, metric: str, scores: MeanScore, where: str
    ) -> None:
        """Raise ContradictionError where a mean is not the record's.

        Parameters
        ----------
        where : str
            What has the scores.
        """
        then = model.metrics[metric].mean
        if abs(scores.mean - then) > _ROUNDING * max(scores.size, abs(then)):
            fold = "" if self.number is None else f"fold {self.number}: "
            raise ContradictionError(
                f'{where}: {fold}model "{printable(model.name)}" has a mean {printable(metric)} of '
                f"{scores.mean:.12g} there, and {then:.12g} in result.json, so one of the two was "
                f"changed since the run; {again(self.folder)} --fresh"
            )


def _checked_scores(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """Return scores as `FolderTables.user_scores` has them; refuse what is none."""
    _refuse_lost(path, frame.columns, ("model", "repeat", "user"))
    types: dict[str, Any] = {"user": pl.String, "model": pl.String}
    types |= {"repeat": pl.Int32, FOLD: pl.Int32}
    metrics = [name for name in frame.columns if name not in types]
    try:
        scores = frame.cast({name: types.get(name, pl.Float64) for name in frame.columns})
        numbers = all(column.abs().le(LARGEST_SCORE).all() for column in scores[metrics])
        numbers &= all(column.null_count() == 0 for column in scores)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: holds no scores of harness run ({error})") from error
    if not numbers:
        raise DataError(f"{path}: a score is no number")
    return scores


def _means_by_model(
    path: Path, names: Sequence[str], *, folded: bool, scores: pl.DataFrame | None = None
) -> dict[tuple[int | None, str], tuple[int, dict[str, MeanScore]]]:
    """Return of each model, and fold, how many rows it has, and its means by metric.

    The columns of metrics are read alone, of those that are numbers.
    """
    by: dict[Any, Any] = {FOLD: pl.Int32} if folded else {}
    by["model"] = pl.String
    files = parts(path)
    with _readable(files[0]):
        kinds = parquet.scan(files[0], _CAP).collect_schema()
    _refuse_lost(files[0], kinds, by)
    metrics = [name for name, kind in kinds.items() if name in names and kind.is_numeric()]
    columns = [parquet.column_of(name).cast(pl.Float64) for name in metrics]
    sums = [column.sum().alias(f"{i} sum") for i, column in enumerate(columns)]
    sums += [column.abs().sum().alias(f"{i} size") for i, column in enumerate(columns)]

    def summed(rows: pl.LazyFrame) -> pl.DataFrame:
        groups = rows.cast(by).group_by(list(by))
        return groups.agg(pl.len().alias("rows"), *sums).collect()

    frames = [] if scores is None else [summed(scores.lazy())]
    for file in files if scores is None else ():
        with _readable(file):
            frame = parquet.scan(file, _CAP)
            parquet.check_texts(frame.select(list(by)), _CAP, file.stat().st_size)
            frames.append(summed(frame))
    means = dict[tuple[int | None, str], tuple[int, dict[str, MeanScore]]]()
    for row in pl.concat(frames).group_by(list(by)).sum().iter_rows(named=True):
        n = row["rows"]
        by_metric = {
            name: MeanScore(row[f"{i} sum"] / n, row[f"{i} size"] / n)
            for i, name in enumerate(metrics)
        }
        if any(math.isnan(mean.size) for mean in by_metric.values()):
            raise DataError(f"{path}: a score is no number")
        means[row.get(FOLD), row["model"]] = n, by_metric
    return means


def _refuse_lost(path: Path, columns: Collection[str], wanted: Iterable[str]) -> None:
    """Raise DataError where a table of scores lacks a column."""
    lost = [name for name in wanted if name not in columns]
    if lost:
        raise DataError(f"{path}: holds no scores of harness run: no column {lost[0]}")


def _checked_users(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of users, their ids as text; refuse what is none."""
    texts = pl.String, pl.Categorical, pl.Boolean, pl.Null
    plain = all(kind.is_numeric() or kind in texts for kind in frame.dtypes)
    if USER not in frame.columns or not plain:
        raise DataError(f"{path}: holds no users of harness run")
    return frame.with_columns(pl.col(USER).cast(pl.String))


def parquet_rows(path: Path) -> pl.DataFrame:
    """Return a table: a file, or a folder of files that Spark's workers wrote."""
    return pl.concat([rows_of(file) for file in parts(path)])


def rows_of(path: Path, cap: Cap = _CAP) -> pl.DataFrame:
    """Return the rows of a file; raise DataError where it unpacks to more than it may."""
    with _readable(path):
        frame = parquet.scan(path, cap)
        parquet.check_texts(frame, cap, path.stat().st_size)
        return frame.collect()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise DataError for whatever is wrong with a file."""
    try:
        yield
    except UnpackingError as error:
        raise unusable(path, error, _CAP) from error
    except parquet.UNREADABLE as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
