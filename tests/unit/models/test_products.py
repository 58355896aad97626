"""The largest entries of products: literal ones, and NumPy's own product anywhere."""

from typing import Any

import numpy as np
import pytest
from conftest import refusal
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from harness.models.products import largest_products, largest_scores

LEFT = csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
RIGHT = csr_array(np.array([[1.0, 0.0, 0.0, 4.0], [0.0, 5.0, 5.0, 0.0], [1.0, 0.0, 1.0, 0.0]]))
# LEFT @ RIGHT = 3 0 2 4 | 0 0 0 0 | 0 5 5 0


def test_entries_that_cancel_are_no_entries() -> None:
    """Sums that come back to 0 again and again are met more often than there are columns."""
    first = csr_array(np.ones((1, 6)))
    right = csr_array(np.array([[1.0, 1.0], [-1.0, -1.0]] * 2 + [[1.0, 2.0], [1.0, 0.0]]))
    columns, values = largest_products(first, right, 2)
    assert (columns.tolist(), values.tolist()) == ([[0, 1]], [[2.0, 2.0]])
    assert largest_products(first[:, :4], right[:4], 2)[0].tolist() == [[-1, -1]]


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


def reference(scores: Any, k: int, may: Any) -> list[list[int]]:
    """Return the best columns of each row the slow way."""
    lists = []
    for row, allowed in zip(scores, may, strict=True):
        best = sorted((-s, j) for j, s in enumerate(row) if allowed[j])[:k]
        lists.append([j for _, j in best] + [-1] * (k - len(best)))
    return lists


shapes = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 7))


@given(shapes, st.integers(0, 8), st.integers(0, 2**32 - 1))
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
    some, allowed = (first != 0).any(axis=1)[:, None], draw.random(width) < 0.8
    dense = largest_scores(
        csr_array(first.astype(np.float32)), right.astype(np.float32), k,
        allowed=allowed, exclude=csr_array(held),
    )  # fmt: skip
    assert dense.tolist() == reference(product, k, some & allowed & ~held)


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
