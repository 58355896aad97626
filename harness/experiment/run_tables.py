"""The tables of run folders, read and checked: scores by user, model and repeat; and users."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from harness.core import parquet
from harness.core.arrays import Floats
from harness.core.errors import DataError
from harness.core.io import parts, unusable
from harness.core.unpacking import OWN, Cap, UnpackingError
from harness.metrics.registry import LARGEST_SCORE
from harness.stats.slices import USER

_CAP = replace(OWN, cure="harness run writes the folder again, from its config.toml", trusted=False)


def checked_scores(path: Path | str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return scores as `Run.user_scores` has them.

    Raises
    ------
    DataError
        A column is missing, or a score is no number.
    """
    missing = {"user", "model", "repeat"} - set(frame.columns)
    if missing:
        raise DataError(f"{path}: holds no scores of harness run: no column {min(missing)}")
    whole = {"repeat": pl.Int32, "fold": pl.Int32}
    types: dict[str, Any] = {"user": pl.String, "model": pl.String, **whole}
    others = [c for c in frame.columns if c not in types]
    try:
        user_scores = frame.cast({name: types.get(name, pl.Float64) for name in frame.columns})
        numbers = all(column.abs().le(LARGEST_SCORE).all() for column in user_scores[others])
        numbers &= all(column.null_count() == 0 for column in user_scores)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: holds no scores of harness run ({error})") from error
    if not numbers:
        raise DataError(f"{path}: a score is no number")
    return user_scores


class MeanScore(NamedTuple):
    """The mean of some scores, and that of their sizes, by which two means are compared."""

    mean: float
    size: float

    @classmethod
    def of(cls, values: Floats) -> MeanScore:
        """Return that of an array."""
        return cls(float(values.mean()), float(np.abs(values).mean()))


def means_by_model(
    path: Path, names: Sequence[str], *, folded: bool, scores: pl.DataFrame | None = None
) -> dict[tuple[int | None, str], tuple[int, dict[str, MeanScore]]]:
    """Return of each model, and fold, how many rows it has, and its means by metric.

    The columns of metrics are read alone, of those that are numbers.

    Parameters
    ----------
    folded : bool
        Whether there are several folds.
    scores : polars.DataFrame, optional
        All that the file holds, where it was read.

    Raises
    ------
    DataError
        It cannot be read, or a score is no number.
    """
    keys: dict[Any, Any] = {"fold": pl.Int32} if folded else {}
    keys["model"] = pl.String
    files = parts(path)
    there = [name for name, kind in _columns(files[0], keys) if name in names and kind.is_numeric()]
    columns = [parquet.column_of(name).cast(pl.Float64) for name in there]
    sums = [own.sum().alias(f"{at} sum") for at, own in enumerate(columns)]
    sums += [own.abs().sum().alias(f"{at} size") for at, own in enumerate(columns)]

    def summed(rows: pl.LazyFrame) -> pl.DataFrame:
        groups = rows.cast(keys).group_by(list(keys))
        return groups.agg(pl.len().alias("rows"), *sums).collect()

    frames = [] if scores is None else [summed(scores.lazy())]
    for file in files if scores is None else ():
        with _readable(file):
            frame = parquet.scan(file, _CAP)
            parquet.check_texts(frame.select(list(keys)), _CAP, file.stat().st_size)
            frames.append(summed(frame))
    found = dict[tuple[int | None, str], tuple[int, dict[str, MeanScore]]]()
    for row in pl.concat(frames).group_by(list(keys)).sum().iter_rows(named=True):
        n = row["rows"]
        means = {
            name: MeanScore(row[f"{at} sum"] / n, row[f"{at} size"] / n)
            for at, name in enumerate(there)
        }
        if any(math.isnan(own.size) for own in means.values()):
            raise DataError(f"{path}: a score is no number")
        found[row.get("fold"), row["model"]] = n, means
    return found


def _columns(path: Path, wanted: Iterable[str]) -> list[tuple[str, pl.DataType]]:
    """Return the columns of a file; raise DataError where one that is `wanted` is missing."""
    with _readable(path):
        kinds = parquet.scan(path, _CAP).collect_schema()
    refuse_lost(path, kinds, wanted)
    return list(kinds.items())


def refuse_lost(path: Path | str, columns: Collection[str], wanted: Iterable[str]) -> None:
    """Raise DataError where a table of scores lacks a column."""
    lost = [name for name in wanted if name not in columns]
    if lost:
        raise DataError(f"{path}: holds no scores of harness run: no column {lost[0]}")


def is_whole(rows: pl.DataFrame, users: pl.Series, repeats: int) -> bool:
    """Return whether a model's rows, by repeat and user, are those of some users in each repeat."""
    n = len(users)
    return len(rows) == n * repeats and all(
        rows["repeat"][i * n] == rows["repeat"][(i + 1) * n - 1] == i
        and rows["user"][i * n : (i + 1) * n].equals(users)
        for i in range(repeats if n > 0 else 0)
    )


def checked_users(path: Path | str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of users, their ids as text.

    Raises
    ------
    DataError
        It is no such table.
    """
    texts = pl.String, pl.Categorical, pl.Boolean, pl.Null
    plain = all(kind.is_numeric() or kind in texts for kind in frame.dtypes)
    if USER not in frame.columns or not plain:
        raise DataError(f"{path}: holds no users of harness run")
    return frame.with_columns(pl.col(USER).cast(pl.String))


def parquet_rows(path: Path) -> pl.DataFrame:
    """Return a table: a file, or a folder of files that Spark's workers wrote."""
    return pl.concat([rows_of(file) for file in parts(path)])


def rows_of(path: Path, only: tuple[int, int] | None = None, cap: Cap = _CAP) -> pl.DataFrame:
    """Return the rows of a file.

    Parameters
    ----------
    only : (int, int), optional
        The first, and how many; all by default.
    cap : Cap
        How much the file may unpack to.

    Raises
    ------
    DataError
        It cannot be read, or unpacks to more than it may.
    """
    with _readable(path):
        frame = parquet.scan(path, cap)
        frame = frame if only is None else frame.slice(*only)
        parquet.check_texts(frame, cap, path.stat().st_size)
        return frame.collect()


def described(path: Path) -> tuple[int, list[str]]:
    """Return how many rows a file has, and its columns; errors are those of `rows_of`."""
    with _readable(path):
        frame = parquet.scan(path, _CAP)
        return frame.select(pl.len()).collect().item(), frame.collect_schema().names()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise DataError for whatever is wrong with a file."""
    try:
        yield
    except UnpackingError as error:
        raise unusable(path, error, _CAP) from error
    except parquet.UNREADABLE as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
