"""The lists of models as a table: a row a user, written by ids, and read back as positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from harness.core.arrays import Int32, Int64
from harness.core.errors import DataError
from harness.data.dataset import positions
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.evaluation_set import EvaluationSet

UNKNOWN = ""
"""The id of an item of a file of lists that the data does not know."""


def lists_by_row(
    users: pl.Series, candidate_ids: pl.Series, models: Mapping[str, Sequence[Recommendations]]
) -> pl.DataFrame:
    """Return one row a user, model and repeat, with the list of items, the best first.

    Parameters
    ----------
    users : polars.Series, (n,)
    candidate_ids : polars.Series of text
        The id of every position.
    """
    frames = []
    for model, repeats in models.items():
        items = pl.concat([ids_of(lists, candidate_ids) for lists in repeats])
        frames.append(keys(users, model, len(repeats)).with_columns(items.alias("items")))
    return pl.concat(frames)


def keys(users: pl.Series, model: str, repeats: int) -> pl.DataFrame:
    """Return what every row of a table begins with: its user, model and repeat."""
    return pl.DataFrame(
        {
            "user": pl.concat([users] * repeats),
            "model": pl.Series([model], dtype=pl.String).new_from_index(0, len(users) * repeats),
            "repeat": np.repeat(np.arange(repeats, dtype=np.int32), len(users)),
        }
    )


def ids_of(lists: Recommendations, candidate_ids: pl.Series) -> pl.Series:
    """Return the ids of each list; null where a position before the last item is empty."""
    items, ids = lists.items, candidate_ids
    if len(lists.strange):
        strange = lists.strange.fill_null(UNKNOWN).cast(ids.dtype).alias(ids.name)
        ids = pl.concat([ids, strange])
    if items.shape[1] == 0:
        return pl.Series("items", [[]] * len(items), dtype=pl.List(ids.dtype))
    held, places = items >= 0, pl.Series(items.ravel())
    if held.all():
        return ids.gather(places).reshape(items.shape).arr.to_list().alias("items")
    rows = ids.gather(places.set(places < 0, None)).reshape(items.shape).arr.to_list()
    last = items.shape[1] - held[:, ::-1].argmax(axis=1)
    whole = pl.DataFrame({"items": rows, "length": np.where(held.any(axis=1), last, 0)})
    return whole.select(pl.col("items").list.head("length"))["items"]


def lists_from_rows(
    rows: pl.DataFrame, model: str, repeat: int, evaluation_set: EvaluationSet, path: Path
) -> Recommendations:
    """Return a model's lists of one repeat, in the order of the evaluation set.

    Parameters
    ----------
    rows : polars.DataFrame
        What `lists_by_row` returns, in any order.
    path : Path
        Where they are from, for messages.

    Raises
    ------
    DataError
        There is not one list for each user, or a list is too long.
    """
    rows = rows.filter(pl.col("model").cast(pl.String) == model, pl.col("repeat") == repeat)
    users, items, k = evaluation_set.user_ids, rows["items"], evaluation_set.k
    row = positions(rows["user"].cast(pl.String), users)
    lengths = items.list.len().fill_null(0).to_numpy().astype(np.int64)
    longest = lengths.max(initial=0)
    if not np.array_equal(np.sort(row), np.arange(len(users))) or longest > k:
        raise DataError(
            f'{path}: has not one list of up to {k} items of model "{model}" for each of the '
            f"{len(users):,} users"
        )
    candidates = len(evaluation_set.candidates)
    width = min(k, candidates) if longest <= candidates else k
    lists = np.full((len(row), width), EMPTY, np.int32)
    user = np.repeat(row, lengths)
    rank = np.arange(len(user)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    ids = items.filter(items.list.len() > 0).explode()
    lists[user, rank], strange = _places(ids, rank, evaluation_set)
    return Recommendations(lists, strange)


def _places(ids: pl.Series, rank: Int64, evaluation_set: EvaluationSet) -> tuple[Int32, pl.Series]:
    """Return the position of each id, and the ids of those behind the last candidate's.

    Items that nobody knows are different ones, so that each rank has a position for them.
    """
    candidates = len(evaluation_set.candidates)
    different = ids.unique(maintain_order=True).drop_nulls()
    different = different.filter(different.cast(pl.String) != UNKNOWN)
    names = different.cast(pl.String)
    place = positions(names, evaluation_set.candidate_ids).copy()
    strange = place < 0
    behind = candidates + int(strange.sum())
    place[strange] = np.arange(candidates, behind, dtype=np.int32)
    by_id = ids.replace_strict(different, place, default=EMPTY, return_dtype=pl.Int32)
    places = by_id.to_numpy().copy()
    unknown = (ids.cast(pl.String) == UNKNOWN).fill_null(False).to_numpy()
    places[unknown] = behind + rank[unknown]
    texts = names.filter(pl.Series(strange)).alias("item")
    return places, texts.extend_constant(None, int(rank[unknown].max(initial=-1)) + 1)
