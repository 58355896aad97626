"""Counts of training events and attributes of items, as metrics and models need them."""

import numpy as np
import polars as pl
import pytest

from harness.models.item_stats import attribute_columns, train_counts


def test_counts_of_coded_events() -> None:
    user = np.array([0, 0, 1, 2, 2, 2], np.int32)
    item = np.array([1, 1, 1, 0, 3, 3], np.int32)
    result = train_counts(user, item, 5, np.array([3, 1, 0, 2, 4]))
    assert result.user_share.tolist() == pytest.approx([1 / 3, 2 / 3, 0, 1 / 3, 0])
    assert result.count.tolist() == [1, 3, 0, 2, 0]
    assert result.popular.tolist() == [1, 3, 0]


def test_equal_counts_stand_in_the_order_of_ids_and_no_events_have_no_counts() -> None:
    items, none = np.arange(4, dtype=np.int32), np.zeros(0, np.int32)
    result = train_counts(0 * items, items, 4, np.array([2, 0, 3, 1]))
    assert result.popular.tolist() == [1, 3, 0, 2]
    result = train_counts(none, none, 2, np.arange(2))
    assert (result.user_share.tolist(), result.count.tolist()) == ([0, 0], [0, 0])
    assert result.popular.tolist() == []


def test_attributes_as_matrices() -> None:
    looks = {"colour": ["red", "blue", None], "new": [True, False, True], "price": [1, None, -2]}
    tag = pl.Series([None] * 3, dtype=pl.String)
    table = pl.DataFrame({"id": ["c", "a", "b"], **looks, "tag": tag})
    result = attribute_columns(table, pl.Series(["a", "b", "c", "d"]))
    assert {name: matrix.toarray().tolist() for name, matrix in result.items()} == {
        "colour": [[1, 0], [0, 0], [0, 1], [0, 0]],
        "new": [[1, 0], [0, 1], [0, 1], [0, 0]],
        "price": [[0], [-2], [1], [0]],
        "tag": [[0], [0], [0], [0]],
    }
