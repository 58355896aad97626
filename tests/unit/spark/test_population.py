"""Positions of items that workers look up by their hashes; numbers that name partitions."""

import numpy as np
import polars as pl
from conftest import refusal
from sklearn.utils import murmurhash3_32

from harness.core.errors import DataError
from harness.core.random import id_hashes
from harness.spark.population import Lookup
from harness.spark.reading import keys_of


def test_an_item_that_was_not_there_when_items_were_told_is_seen() -> None:
    """A part that is lost is read again, and its table may have changed meanwhile."""
    ids = pl.Series(["a", "b"])
    lookup = Lookup.of(ids, np.array([1, 0], np.int32))
    assert lookup.positions(id_hashes(pl.Series(["b", "a", "b"]))).tolist() == [0, 1, 0]
    with refusal(DataError, "a table changed meanwhile; run the command again"):
        lookup.positions(id_hashes(pl.Series(["c"])))


def test_every_bucket_has_a_partition_of_its_own() -> None:
    """Spark's partition of a number is its MurmurHash3, with seed 42, modulo their count."""
    for count in (1, 7, 64):
        partitions = [murmurhash3_32(key, seed=42) % count for key in keys_of(count)]
        assert partitions == list(range(count))
