"""Similar items and what they carry, in the head and as NumPy sorts."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from baselines.ranker.pair_features import pair_products
from harness.models.item_stats import attribute_columns
from harness.models.similarity import carried_means, most_similar

# Cosines: 0–1 0.6, 0–2 0, 1–2 0.8; item 3 has no attributes.
ROWS = csr_array(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 0.0]]))


def similar(items: list[int], among: list[int], neighbours: int) -> Any:
    return most_similar(
        ROWS, np.array(items, np.int32), np.array(among, np.int32), neighbours
    ).toarray()


@pytest.mark.parametrize(
    ("items", "among", "neighbours", "expected"),
    [
        ([0, 2], [1], 5, [[0.6], [0.8]]),
        ([1], [0, 2], 1, [[0, 0.8]]),
        ([1, 2], [0, 1, 2], 1, [[0, 1, 0.8], [0, 0.8, 1]]),  # itself comes on top of the others
        ([3, 0], [3, 2], 9, [[1, 0], [0, 0]]),  # without attributes there is only itself
    ],
)
def test_most_similar_by_hand(
    items: list[int], among: list[int], neighbours: int, expected: list[list[float]]
) -> None:
    assert similar(items, among, neighbours).tolist() == expected


def test_no_items_at_all() -> None:
    assert similar([0], [], 3).shape == (1, 0)
    assert similar([], [0], 3).shape == (0, 1)


def test_means_are_weighted_by_similarity() -> None:
    """(0.5·4 + 1·10) / 1.5 = 8."""
    weights = csr_array(np.array([[0.5, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    means = carried_means(np.array([4.0, 10.0, 7.0]), weights)
    assert means[:2].tolist() == [8, 7]
    assert np.isnan(means[2])


def test_pairs_of_many_rows() -> None:
    draw = np.random.default_rng(600)
    first, right = draw.random((600, 9)), draw.random((20, 9))
    first, right = first * (first < 0.5), right * (right < 0.5)
    places = draw.integers(-1, 20, (600, 5)).astype(np.int32)
    products = pair_products(csr_array(first), csr_array(right), places)
    expected = (first[:, None, :] * right[places]).sum(axis=2) * (places >= 0)
    assert np.allclose(products, expected)
    alone = pair_products(csr_array(first[[300]]), csr_array(right), places[[300]])
    assert np.array_equal(alone[0], products[300])
    assert pair_products(csr_array(first[:0]), csr_array(right), places[:0]).shape == (0, 5)


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
