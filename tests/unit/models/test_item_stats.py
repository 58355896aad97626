"""Attributes of items as matrices."""

import polars as pl

from harness.models.item_stats import attribute_columns


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
