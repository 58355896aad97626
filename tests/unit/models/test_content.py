"""Similar items and what they carry, in the head and as NumPy sorts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from baselines.ranker.pair_features import pair_products
from harness.models.content import carried_means, most_similar

# Cosines: 0–1 0.6, 0–2 0, 1–2 0.8; item 3 has no attributes.
ROWS = csr_array(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 0.0]]))


def similar(of: list[int], among: list[int], neighbours: int) -> Any:
    return most_similar(
        ROWS, np.array(of, np.int32), np.array(among, np.int32), neighbours
    ).toarray()


def test_the_most_similar_others() -> None:
    assert similar([0, 2], [1], 5).tolist() == [[0.6], [0.8]]
    assert similar([1], [0, 2], 1).tolist() == [[0, 0.8]]


def test_itself_comes_on_top_of_the_others() -> None:
    assert similar([1, 2], [0, 1, 2], 1).tolist() == [[0, 1, 0.8], [0, 0.8, 1]]


def test_without_attributes_there_is_only_itself() -> None:
    assert similar([3, 0], [3, 2], 9).tolist() == [[1, 0], [0, 0]]


def test_no_items_at_all() -> None:
    assert similar([0], [], 3).shape == (1, 0)
    assert similar([], [0], 3).shape == (0, 1)


def test_means_are_weighted_by_similarity() -> None:
    """(0.5·4 + 1·10) / 1.5 = 8."""
    weights = csr_array(np.array([[0.5, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    found = carried_means(np.array([4.0, 10.0, 7.0]), weights)
    assert found[:2].tolist() == [8, 7]
    assert np.isnan(found[2])


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_as_numpy_sorts(n: int, neighbours: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(-1, 3, (n, 3)).astype(np.float64)
    found = most_similar(csr_array(rows), np.arange(n), np.arange(n), neighbours).toarray()
    cosines = rows @ rows.T
    for item in range(n):
        others = sorted((-cosines[item, j], j) for j in range(n) if j != item)
        expected = np.zeros(n)
        expected[item] = 1
        for value, j in others[:neighbours]:
            expected[j] = max(-value, 0)
        assert found[item].tolist() == expected.tolist()


def test_products_of_chosen_pairs() -> None:
    """Rows 0 and 1 of the left at places 1, none, 0 and 0, 0, none of the right."""
    left, right = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([[4.0, 0.0], [1.0, 1.0]])
    places = np.array([[1, -1, 0], [0, 1, -1]], np.int32)
    found = pair_products(csr_array(left), csr_array(right), places)
    assert found.tolist() == [[3, 0, 4], [0, 3, 0]]


@pytest.mark.parametrize("rows", [0, 1, 600])
def test_pairs_do_not_depend_on_others(rows: int) -> None:
    draw = np.random.default_rng(rows)
    left, right = draw.random((rows, 9)), draw.random((20, 9))
    places = draw.integers(-1, 20, (rows, 5)).astype(np.int32)
    sparse = csr_array(left * (left < 0.5)), csr_array(right * (right < 0.5))
    found = pair_products(*sparse, places)
    product = np.zeros(places.shape)
    for row in range(rows):
        for slot, place in enumerate(places[row]):
            if place >= 0:
                product[row, slot] = (sparse[0][[row]] @ sparse[1][[place]].T).toarray()[0, 0]
    assert np.allclose(found, product)
    if rows > 1:
        alone = pair_products(sparse[0][[300]], sparse[1], places[[300]])
        assert np.array_equal(alone[0], found[300])
