"""What workers send: the same values come back, and other bytes are refused."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from harness.core.exact_sum import Exact, Largest
from harness.spark.packing import PackedError, narrow, narrow_times, packed, times, unpacked

WHOLE = {
    "a": np.array([1, -2, 1 << 62]),
    7: {"of": np.array([[1.5], [2.0]]), "none": np.zeros(0, np.int64)},
    "m": csr_array(np.array([[0, 3], [0, 0]])),
    "ids": pl.Series(["x", "é", None], dtype=pl.String),
    "rows": pl.DataFrame({"id": ["b"], "n": [2]}),
    "bits": np.array([True, False, True]),
    "sum": Exact.of(np.array([1e16, 1.0])),
    "most": Largest(np.array([1 << 62])),
}


def test_values_come_back() -> None:
    found = unpacked(packed(WHOLE))
    assert list(found) == ["a", 7, "m", "ids", "rows", "bits", "sum", "most"]
    assert found["a"].tolist() == [1, -2, 1 << 62]
    assert found[7]["of"].tolist() == [[1.5], [2.0]]
    assert found[7]["none"].dtype == np.int64
    assert found["m"].toarray().tolist() == [[0, 3], [0, 0]]
    assert found["ids"].to_list() == ["x", "é", None]
    assert found["rows"].rows() == [("b", 2)]
    assert found["bits"].tolist() == [True, False, True]
    assert (found["sum"] + Exact.of(np.array([-1e16]))).total == 1.0
    assert (found["most"] + Largest(np.array([0]))).values.tolist() == [1 << 62]


def test_a_slice_of_ids_is_as_long_as_they_are() -> None:
    """Not as all those that it was cut from."""
    ids = pl.Series([f"{n:064}" for n in range(10_000)])
    assert len(packed({"ids": ids[5:7]})) < 1_000


@pytest.mark.parametrize("cut", [0, 7, 8, 20, -1, -8, -9])
def test_bytes_that_are_cut_short_are_refused(cut: int) -> None:
    with pytest.raises(PackedError):
        unpacked(packed(WHOLE)[:cut])


def test_bytes_behind_the_end_are_refused() -> None:
    with pytest.raises(PackedError, match="not those of the header"):
        unpacked(packed(WHOLE) + bytes(8))


@given(st.data())
def test_no_cut_passes(data: st.DataObject) -> None:
    arrays = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4).map(
        lambda of: np.array(of, np.int64)
    )
    keys = st.integers(0, 9) | st.text(max_size=3)
    values = data.draw(st.dictionaries(keys, arrays | st.dictionaries(keys, arrays, max_size=2)))
    whole = packed(values)
    assert _plain(unpacked(whole)) == _plain(values)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(PackedError):
        unpacked(whole[:cut])


def _plain(values: Any) -> Any:
    return {k: _plain(v) if isinstance(v, dict) else v.tolist() for k, v in values.items()}


def test_a_matrix_whose_places_lie_outside_is_refused() -> None:
    broken = csr_array(np.array([[0, 3], [0, 0]]))
    broken.indices = np.array([5], np.int32)
    with pytest.raises(PackedError, match="do not agree"):
        unpacked(packed({"m": broken}))


@pytest.mark.parametrize("value", [1, "text", np.array(["x"]), [1], None, np.array([None])])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be packed"):
        packed({"a": value})


@pytest.mark.parametrize("key", [1.5, True, None])
def test_other_keys_are_refused(key: Any) -> None:
    with pytest.raises(TypeError, match=r"key .* cannot be packed"):
        packed({key: np.array([1])})


def test_numbers_take_as_few_bytes_as_hold_them() -> None:
    assert narrow(np.array([0, 255])).dtype == np.uint8
    assert narrow(np.array([0, 256])).dtype == np.uint16
    assert narrow(np.array([], np.int64)).tolist() == []


@given(st.lists(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), min_size=1))
def test_times_come_back(of: list[int]) -> None:
    for step in (1, 1_000_000, 86_400_000_000):
        time = np.array(of, np.int64) // step * step
        assert times(narrow_times(time)).tolist() == time.tolist()


def test_days_take_two_bytes() -> None:
    assert narrow_times(np.array([0, 700]) * 86_400_000_000)["steps"].dtype == np.uint16
