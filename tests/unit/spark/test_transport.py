"""What the driver and workers send each other: the same values come back, by partition."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.utils import murmurhash3_32

from harness.core.exact_sum import Distinct, Exact, Largest
from harness.spark.reading import keys_of
from harness.spark.transport import narrow, pack, unpack

WHOLE = {
    "a": np.array([1, -2, 1 << 62]),
    7: {"of": np.array([[1.5], [2.0]]), "none": np.zeros(0, np.int64)},
    "m": csr_array(np.array([[0, 3], [0, 0]])),
    "ids": pl.Series(["x", "é", None], dtype=pl.String),
    "rows": pl.DataFrame({"id": ["b"], "n": [2]}),
    "bits": np.array([True, False, True]),
    "sum": Exact.of(np.array([1e16, 1.0])),
    "most": Largest(np.array([1 << 62])),
    "met": Distinct(pl.Series(["x", "y"])),
    "count": 1 << 62,
    "examples": ["é", 7],
}


def test_values_come_back() -> None:
    unpacked = unpack(pack(WHOLE))
    assert list(unpacked) == list(WHOLE)
    assert unpacked["a"].tolist() == [1, -2, 1 << 62]
    assert unpacked[7]["of"].tolist() == [[1.5], [2.0]]
    assert unpacked[7]["none"].dtype == np.int64
    assert unpacked["m"].toarray().tolist() == [[0, 3], [0, 0]]
    assert unpacked["ids"].to_list() == ["x", "é", None]
    assert unpacked["rows"].rows() == [("b", 2)]
    assert unpacked["bits"].tolist() == [True, False, True]
    assert (unpacked["sum"] + Exact.of(np.array([-1e16]))).total == 1.0
    assert (unpacked["met"] + Distinct(pl.Series(["y"]))).values.sort().to_list() == ["x", "y"]
    assert (unpacked["count"], unpacked["examples"]) == (1 << 62, ["é", 7])
    assert (unpacked["most"] + Largest(np.array([0]))).values.tolist() == [1 << 62]


def test_a_slice_of_ids_is_as_long_as_they_are() -> None:
    """Not as all those that it was cut from."""
    ids = pl.Series([f"{n:064}" for n in range(10_000)])
    assert len(pack({"ids": ids[5:7]})) < 2_000


def test_what_cannot_be_packed() -> None:
    single = np.array([1])
    values = "text", None, np.array(["x"])
    for other in (*({"a": value} for value in values), {1.5: single}, {None: single}):
        with pytest.raises(TypeError, match="cannot be"):
            pack(other)


def test_numbers_take_as_few_bytes_as_hold_them() -> None:
    assert narrow(np.array([0, 255])).dtype == np.uint8
    assert narrow(np.array([0, 256])).dtype == np.uint16
    assert narrow(np.array([], np.int64)).tolist() == []


def test_every_bucket_has_a_partition_of_its_own() -> None:
    """Spark's partition of a number is its MurmurHash3, with seed 42, modulo their count."""
    for count in (1, 7, 64):
        partitions = [murmurhash3_32(key, seed=42) % count for key in keys_of(count)]
        assert partitions == list(range(count))
