"""Similarities of rows: literal ones, and each formula written out with dense NumPy."""

from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from harness.models.similarity import DEFAULTS, carried_means, documents, most_similar

# three documents over three terms: x has terms 0 and 1, y the same and more of 1, z term 2 alone
ROWS = csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 2.0]]))


def test_weights_of_text_by_hand() -> None:
    """Of the three terms of four documents each stands in two: its idf is ln 4 − ln 3."""
    rows = csr_array(np.vstack([ROWS.toarray(), [[0.0, 0.0, 1.0]]]))
    idf, mean = log(4) - log(3), (2 + 5 + 2 + 1) / 4
    # tfidf: roots 1, 1 and 1, 2; every idf is the same
    similarity = documents(rows, "tfidf", {}).nearest(1).toarray()
    assert np.argwhere(similarity[:2]).tolist() == [[0, 1], [1, 0]]
    assert similarity[0, 1] == pytest.approx((1 + 2) / np.sqrt(2 * 5), rel=1e-14)

    def weight(x: float, length: float) -> float:
        return x * (1.2 + 1) / (1.2 * (1 - 0.75 + 0.75 * length / mean) + x) * idf

    expected = weight(1, 2) * weight(1, 5) + weight(1, 2) * weight(4, 5)
    assert documents(rows, "bm25", {}).nearest(1)[0, 1] == pytest.approx(expected)


def test_powers_of_small_norms_do_not_vanish() -> None:
    # |y| = 2⁻⁵⁰⁰, and x·y / (|y|⁴ |x|⁻²) = 2¹⁵⁰⁰, more than a number can be: large, not infinite
    rows = csr_array(np.array([[1.0, 0.0], [2.0**-500, 0.0]]))
    similarity = documents(rows, "asymmetric", {"alpha": 2.0}).nearest(1)
    assert 1e100 < similarity[1, 0] < np.inf


def dense(x: Any, kind: str, shrink: float, alpha: float, beta: float) -> Any:
    """Return all similarities of the rows of x as their definitions say, 0 with themselves."""
    if kind in ("jaccard", "dice", "tversky"):
        x = (x > 0).astype(float)
    both = x @ x.T
    size = (x * x).sum(axis=1)
    first, second = np.meshgrid(size, size, indexing="ij")
    with np.errstate(divide="ignore", invalid="ignore"):
        below = {
            "cosine": np.sqrt(first) * np.sqrt(second) + shrink,
            "asymmetric": first**alpha * second ** (1 - alpha) + shrink,
            "dot": np.ones_like(both),
            "jaccard": first + second - both + shrink,
            "dice": (first + second) / 2 + shrink,
            "tversky": both + alpha * (first - both) + beta * (second - both) + shrink,
        }[kind]
        similarity = np.where(both > 0, both / below, 0.0)
    np.fill_diagonal(similarity, 0.0)
    return similarity


KINDS = [kind for kind in DEFAULTS if kind not in ("tfidf", "bm25")]


@given(
    st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from([0, 3])
)
def test_neighbours_by_row_and_by_column_as_numpy_says(
    kind: str, seed: int, k: int, shrink: float
) -> None:
    draw = np.random.default_rng(seed)
    x = draw.integers(0, 3, (6, 5)).astype(float)
    alpha, beta = draw.choice([0.0, 0.25, 1.0, 1.5], 2)
    known = {"shrink": shrink, "alpha": alpha, "beta": beta}
    rows = documents(csr_array(x), kind, {s: known[s] for s in DEFAULTS[kind]})
    among = np.flatnonzero(draw.random(6) < 0.7).astype(np.int32)
    all_alike = dense(x, kind, shrink, alpha, beta)[:, among]
    assert_kept(rows.nearest(k, among=among).toarray(), all_alike, k)
    assert_kept(rows.nearest_to(k, among).toarray().T, all_alike.T, k)


def assert_kept(similarity: Any, expected: Any, k: int) -> None:
    """Check that each row of `found` has the k largest of `expected`.

    Of those that are equal but for the rounding of powers and roots, any may be the larger one.
    """
    for result, row in zip(similarity, expected, strict=True):
        kept = np.flatnonzero(result)
        assert result[kept] == pytest.approx(row[kept], rel=1e-12)
        best = np.sort(row[row > 0])[::-1][:k]
        assert np.sort(result[kept])[::-1] == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("kind", DEFAULTS)
def test_empty_rows_are_like_none(kind: str) -> None:
    rows = csr_array(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))
    assert documents(rows, kind, {}).nearest(2)[[1]].nnz == 0
    alike = documents(csr_array((3, 2), dtype=np.float32), kind, {}).nearest(2)
    assert (alike.shape, alike.nnz) == ((3, 3), 0)


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("pearson", {}, f"similarity is 'pearson'; allowed: {', '.join(DEFAULTS)}"),
        ("dot", {"shrink": 1}, 'shrink is not a setting of similarity "dot", which has none'),
        ("dice", {"beta": 1}, 'beta is not a setting of similarity "dice", which has shrink'),
        ("tversky", {"beta": -1}, "beta is -1; expected a number, 0 or more"),
        ("asymmetric", {"alpha": 2.5}, "alpha is 2.5; expected a number from -1 to 2"),
        ("bm25", {"b": 1.5}, "b is 1.5; expected a number from 0 to 1"),
        ("cosine", {"shrink": -1}, "shrink is -1; expected a number, 0 or more"),
        ("cosine", {"shrink": True}, "shrink is true; expected a number, 0 or more"),
    ],
)
def test_settings_that_are_refused(kind: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as error:
        documents(ROWS, kind, settings)
    assert str(error.value) == words


# Cosines: 0–1 0.6, 0–2 0, 1–2 0.8; item 3 has no attributes.
COSINES = csr_array(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 0.0]]))


@pytest.mark.parametrize(
    ("items", "among", "neighbours", "expected"),
    [
        ([0, 2], [1], 5, [[0.6], [0.8]]),
        ([1], [0, 2], 1, [[0, 0.8]]),
        ([1, 2], [0, 1, 2], 1, [[0, 1, 0.8], [0, 0.8, 1]]),  # itself comes on top of the others
        ([3, 0], [3, 2], 9, [[1, 0], [0, 0]]),  # without attributes there is only itself
        ([0], [], 3, [[]]),
        ([], [0], 3, []),
    ],
)
def test_most_similar_by_hand(
    items: list[int], among: list[int], neighbours: int, expected: list[list[float]]
) -> None:
    rows, columns = np.array(items, np.int32), np.array(among, np.int32)
    assert most_similar(COSINES, rows, columns, neighbours).toarray().tolist() == expected


def test_means_are_weighted_by_similarity() -> None:
    """(0.5·4 + 1·10) / 1.5 = 8."""
    weights = csr_array(np.array([[0.5, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    means = carried_means(np.array([4.0, 10.0, 7.0]), weights)
    np.testing.assert_array_equal(means, [8, 7, np.nan])
