"""The largest entries of products: literal ones, and NumPy's own product anywhere."""

from typing import Any

import numpy as np
import pytest
from conftest import refusal
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from harness.models.products import as_matrix, largest_products, largest_scores, rows_where

LEFT = csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
RIGHT = csr_array(np.array([[1.0, 0.0, 0.0, 4.0], [0.0, 5.0, 5.0, 0.0], [1.0, 0.0, 1.0, 0.0]]))
# LEFT @ RIGHT = 3 0 2 4 | 0 0 0 0 | 0 5 5 0


def test_largest_first_ties_by_column() -> None:
    columns, values = largest_products(LEFT, RIGHT, 3)
    assert columns.tolist() == [[3, 0, 2], [-1, -1, -1], [1, 2, -1]]
    assert values.tolist() == [[4, 3, 2], [0, 0, 0], [5, 5, 0]]
    assert largest_products(LEFT, RIGHT, 0)[0].shape == (3, 0)
    assert as_matrix(columns[:, :2], values[:, :2], 4).toarray().tolist() == [
        [3, 0, 0, 4], [0, 0, 0, 0], [0, 5, 5, 0],
    ]  # fmt: skip


def test_norms_and_shrinkage() -> None:
    norms = np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.0, 0.5, 3.0])
    columns, values = largest_products(
        LEFT, RIGHT, 3, row_norms=norms[0], column_norms=norms[1], shrink=1.0
    )
    # 3/(1·1+1), 2/(1·½+1), 4/(1·3+1); 5/(2·1+1), 5/(2·½+1)
    assert columns.tolist() == [[0, 2, 3], [-1, -1, -1], [2, 1, -1]]
    assert values[0].tolist() == [3 / 2, 4 / 3, 1.0]
    assert values[2].tolist() == [5 / 2, 5 / 3, 0.0]


def test_norms_are_added_where_there_is_an_overlap() -> None:
    norms = np.array([5.0, 1.0, 9.0]), np.array([1.0, 1.0, 2.0, 6.0])
    columns, values = largest_products(
        LEFT, RIGHT, 3, row_norms=norms[0], column_norms=norms[1], overlap=-1.0, shrink=1.0
    )
    # 3/(5+1−3+1), 2/(5+2−2+1), 4/(5+6−4+1); 5/(9+1−5+1), 5/(9+2−5+1)
    assert columns.tolist() == [[0, 3, 2], [-1, -1, -1], [1, 2, -1]]
    assert values[0].tolist() == [3 / 4, 4 / 8, 2 / 6]
    assert values[2].tolist() == [5 / 6, 5 / 7, 0.0]


def test_entries_that_cancel_are_no_entries() -> None:
    """Sums that come back to 0 again and again are met more often than there are columns."""
    first = csr_array(np.ones((1, 6)))
    right = csr_array(np.array([[1.0, 1.0], [-1.0, -1.0]] * 2 + [[1.0, 2.0], [1.0, 0.0]]))
    columns, values = largest_products(first, right, 2)
    assert (columns.tolist(), values.tolist()) == ([[0, 1]], [[2.0, 2.0]])
    assert largest_products(first[:, :4], right[:4], 2)[0].tolist() == [[-1, -1]]


def test_every_allowed_column_is_ranked() -> None:
    first, right = LEFT[[0, 1]], np.array([[-3.0, 0.0, 1.0], [9.0, 9.0, 9.0], [0.0, 0.0, -1.0]])
    # −3 0 −1, and a row without entries
    assert largest_scores(first, right, 3).tolist() == [[1, 2, 0], [-1, -1, -1]]
    allowed = np.array([True, False, True])
    assert largest_scores(first, right, 3, allowed=allowed).tolist() == [[2, 0, -1], [-1, -1, -1]]
    exclude = csr_array(np.array([[0, 1, 1], [0, 0, 0]], bool))
    assert largest_scores(first, right, 2, exclude=exclude).tolist() == [[0, -1], [-1, -1]]
    assert largest_scores(first, right, 0).shape == (2, 0)


@pytest.mark.parametrize(
    ("find", "arguments", "message"),
    [
        (largest_products, {"right": RIGHT[:2]}, "right has shape (2, 4), expected (3, 4)"),
        (largest_products, {"row_norms": np.ones(2)}, "row_norms has shape (2,), expected (3,)"),
        (largest_products, {"column_norms": np.ones(3)}, "column_norms has shape (3,), expected"),
        (largest_products, {"exclude": LEFT}, "exclude has shape (3, 3), expected (3, 4)"),
        (largest_scores, {"right": np.ones((2, 4))}, "right has shape (2, 4), expected (3, 4)"),
        (largest_scores, {"allowed": np.ones(3, bool)}, "allowed has shape (3,), expected (4,)"),
        (largest_scores, {"exclude": LEFT}, "exclude has shape (3, 3), expected (3, 4)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    find: Any, arguments: dict[str, Any], message: str
) -> None:
    right = RIGHT if find is largest_products else RIGHT.toarray()
    with refusal(ValueError, message):
        find(**{"left": LEFT, "right": right, "k": 2} | arguments)


def test_dense_rows_as_csr() -> None:
    rows = rows_where(np.array([True, False, True]), np.array([[1.0, 0.0], [2.0, 3.0]]))
    assert rows.nnz == 4, "a zero is an entry"
    assert rows.toarray().tolist() == [[1, 0], [0, 0], [2, 3]]


def reference(scores: Any, k: int, may: Any) -> list[list[int]]:
    """Return the best columns of each row the slow way."""
    lists = []
    for row, allowed in zip(scores, may, strict=True):
        best = sorted((-s, j) for j, s in enumerate(row) if allowed[j])[:k]
        lists.append([j for _, j in best] + [-1] * (k - len(best)))
    return lists


shapes = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 7))


@given(shapes, st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_as_numpy_multiplies(shape: tuple[int, int, int], k: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    n, m, width = shape
    first, right = draw.integers(-2, 3, (n, m)), draw.integers(-2, 3, (m, width))
    held = draw.random((n, width)) < 0.2
    product = (first @ right).astype(float)
    columns, values = largest_products(
        csr_array(first.astype(np.float64)), csr_array(right.astype(np.float64)), k,
        exclude=csr_array(held),
    )  # fmt: skip
    assert columns.tolist() == reference(product, k, (product > 0) & ~held)
    assert values.sum() == sum(
        product[i, j] for i, row in enumerate(columns) for j in row if j >= 0
    )
    some = (first != 0).any(axis=1)[:, None]
    dense = largest_scores(
        csr_array(first.astype(np.float32)), right.astype(np.float32), k, exclude=csr_array(held)
    )
    assert dense.tolist() == reference(product, k, some & ~held)


@pytest.mark.parametrize("rows", [1, 256, 700])
def test_rows_do_not_depend_on_others(rows: int) -> None:
    draw = np.random.default_rng(rows)
    first = csr_array(draw.random((rows, 30)) * (draw.random((rows, 30)) < 0.3))
    right = draw.random((30, 1_000))
    sparse = csr_array(right * (right < 0.1))
    together = largest_products(first, sparse, 9)
    dense = largest_scores(first, right.astype(np.float32), 9)
    for row in {0, rows // 2, rows - 1}:
        alone = largest_products(first[[row]], sparse, 9)
        assert np.array_equal(alone[0][0], together[0][row])
        assert np.array_equal(alone[1][0], together[1][row])
        assert np.array_equal(
            largest_scores(first[[row]], right.astype(np.float32), 9)[0], dense[row]
        )
