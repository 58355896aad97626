"""Positions of items that workers look up by their hashes."""

import numpy as np
import polars as pl
from conftest import refusal

from harness.core.errors import DataError
from harness.core.random import id_hashes
from harness.spark.buckets import Lookup


def test_an_item_that_was_not_there_when_items_were_told_is_seen() -> None:
    """A part that is lost is read again, and its table may have changed meanwhile."""
    ids = pl.Series(["a", "b"])
    lookup = Lookup.of(ids, np.array([1, 0], np.int32))
    assert lookup.positions(id_hashes(pl.Series(["b", "a", "b"]))).tolist() == [0, 1, 0]
    with refusal(DataError, "a table changed meanwhile; run the command again"):
        lookup.positions(id_hashes(pl.Series(["c"])))
