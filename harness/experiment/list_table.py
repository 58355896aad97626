"""The lists of a run: recommendations.parquet, written, and read back as positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from harness.core.arrays import Int32, Int64
from harness.core.errors import DataError, UsageError
from harness.data.dataset import positions
from harness.experiment.run_folder import FOLD, RECOMMENDATIONS, Run
from harness.experiment.run_tables import parquet_rows
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.evaluation_set import EvaluationSet

UNKNOWN = ""
"""The id of an item of a file of lists that the data does not know."""
_COLUMNS = ("user", "model", "repeat", "items")


def lists_by_row(
    users: pl.Series, candidate_ids: pl.Series, models: Mapping[str, Iterable[Recommendations]]
) -> pl.DataFrame:
    """Return one row a user, model and repeat, with the list of items, the best first.

    Parameters
    ----------
    users : polars.Series, (n,)
    candidate_ids : polars.Series of text
        The id of every position.
    """
    frames = [
        pl.DataFrame(
            {
                "user": users,
                "model": pl.Series([name], dtype=pl.String).new_from_index(0, len(users)),
                "repeat": pl.Series([repeat], dtype=pl.Int32).new_from_index(0, len(users)),
                "items": ids_of(lists, candidate_ids),
            }
        )
        for name, repeats in models.items()
        for repeat, lists in enumerate(repeats)
    ]
    return pl.concat(frames)


def ids_of(lists: Recommendations, candidate_ids: pl.Series) -> pl.Series:
    """Return the ids of each list; null where a position before the last item is empty."""
    items, ids = lists.items, candidate_ids
    if len(lists.strange):
        own = lists.strange.fill_null(UNKNOWN).cast(ids.dtype).alias(ids.name)
        ids = pl.concat([ids, own])
    if items.shape[1] == 0:
        return pl.Series("items", [[]] * len(items), dtype=pl.List(ids.dtype))
    places = pl.Series(items.ravel())
    empty = bool((items < 0).any())
    places = places.set(places < 0, None) if empty else places
    found = ids.gather(places).reshape(items.shape).arr.to_list()
    if not empty:
        return found
    held = items >= 0
    last = items.shape[1] - held[:, ::-1].argmax(axis=1)
    rows = pl.DataFrame({"items": found, "length": np.where(held.any(axis=1), last, 0)})
    return rows.select(pl.col("items").list.head(pl.col("length")))["items"]


def lists_of(run: Run) -> pl.DataFrame:
    """Return what `lists_by_row` made for a run, or for one of its folds.

    Raises
    ------
    UsageError
        The run holds no lists.
    DataError
        What it holds are no lists of models.
    """
    if not (run.folder / RECOMMENDATIONS).exists() and run.elsewhere is None:
        raise UsageError(
            f"{run.folder}: holds no {RECOMMENDATIONS}, as it was written without it or by an "
            f"earlier version; {run.again}"
        )
    path = run.table(RECOMMENDATIONS)
    rows = parquet_rows(path)
    lost = [name for name in _COLUMNS if name not in rows.columns]
    if lost or not isinstance(rows["items"].dtype, pl.List):
        raise DataError(
            f"{path}: holds no lists of harness run: no column {(lost or ['items'])[0]}"
        )
    if run.number is None:
        return rows
    if FOLD not in rows.columns:
        raise DataError(f"{path}: has no column {FOLD}; {run.again}")
    return rows.filter(pl.col(FOLD) == run.number)


class ListTable:
    """The lists of a run on its evaluation set.

    Parameters
    ----------
    rows : polars.DataFrame
        What `lists_of` returns.
    path : Path
        Where they are from, for messages.
    """

    def __init__(self, rows: pl.DataFrame, path: Path, of: EvaluationSet) -> None:
        self._rows, self._path, self._of = rows, path, of

    def of(self, model: str, repeats: int) -> list[Recommendations]:
        """Return each repeat's lists of a model, in the order of the evaluation set.

        Raises
        ------
        DataError
            There is not one list for each user, or a list is too long.
        """
        own = self._rows.filter(pl.col("model").cast(pl.String) == model)
        return [self._repeat(own.filter(pl.col("repeat") == at), model) for at in range(repeats)]

    def _repeat(self, rows: pl.DataFrame, model: str) -> Recommendations:
        of, items = self._of, rows["items"]
        at = positions(rows["user"].cast(pl.String), of.user_ids)
        whole = len(at) == len(of.user_ids) and np.array_equal(np.sort(at), np.arange(len(at)))
        lengths = items.list.len().fill_null(0).to_numpy().astype(np.int64)
        if not whole or lengths.max(initial=0) > of.k:
            raise DataError(
                f'{self._path}: has not one list of up to {of.k} items of model "{model}" for each '
                f"of the {len(of.user_ids):,} users"
            )
        user = np.repeat(at, lengths)
        rank = np.arange(len(user)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        found = np.full((len(at), min(of.k, len(of.candidates))), EMPTY, np.int32)
        if lengths.max(initial=0) > found.shape[1]:
            found = np.full((len(at), of.k), EMPTY, np.int32)
        ids = items.filter(items.list.len() > 0).explode()
        places, strange = self._places(ids, rank)
        found[user, rank] = places
        return Recommendations(found, strange)

    def _places(self, ids: pl.Series, rank: Int64) -> tuple[Int32, pl.Series]:
        """Return the position of each id, and the ids of those behind the last candidate's.

        Items that nobody knows are different ones, so that each rank has a position for them.
        """
        different = ids.unique(maintain_order=True).drop_nulls()
        different = different.filter(different.cast(pl.String) != UNKNOWN)
        names = different.cast(pl.String)
        at = positions(names, self._of.candidate_ids).copy()
        others = at < 0
        behind = len(self._of.candidates) + int(others.sum())
        at[others] = np.arange(len(self._of.candidates), behind, dtype=np.int32)
        index = pl.DataFrame({"id": different, "at": at})
        found = pl.DataFrame({"id": ids}).join(index, on="id", how="left", maintain_order="left")
        places = found["at"].fill_null(EMPTY).cast(pl.Int32).to_numpy().copy()
        nobodys = (ids.cast(pl.String) == UNKNOWN).fill_null(False).to_numpy()
        places[nobodys] = behind + rank[nobodys]
        strange = names.filter(pl.Series(others)).alias("item")
        return places, strange.extend_constant(None, int(rank[nobodys].max(initial=-1)) + 1)


def frames_of(folds: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of several folds, with a column of their numbers."""
    numbered = [
        frame.with_columns(pl.lit(number, pl.Int32).alias(FOLD))
        for number, frame in enumerate(folds, 1)
    ]
    return pl.concat(numbered, how="vertical_relaxed")
