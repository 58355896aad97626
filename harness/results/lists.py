"""Lists of positions as ids, as a table has them, and ids as positions."""

from __future__ import annotations

import numpy as np
import polars as pl

from harness.core.arrays import Int32, Int64
from harness.data.dataset import positions
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.evaluation_set import EvaluationSet

UNKNOWN = ""
"""The id of an item of a file of lists that the data does not know."""


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


def positions_of(items: pl.Series, evaluation_set: EvaluationSet) -> Recommendations:
    """Return lists of ids as positions: of each user, in the order of the evaluation set."""
    k, candidates = evaluation_set.k, len(evaluation_set.candidates)
    lengths = items.list.len().to_numpy().astype(np.int64)
    width = min(k, candidates) if lengths.max(initial=0) <= candidates else k
    lists = np.full((len(items), width), EMPTY, np.int32)
    user = np.repeat(np.arange(len(items)), lengths)
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
