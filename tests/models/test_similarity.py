"""Similarities of rows: literal ones, and each formula written out with dense NumPy."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from harness.models.similarity import DEFAULTS, documents

# three documents over three terms: x has terms 0 and 1, y the same and more of 1, z term 2 alone
ROWS = csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 2.0]]))


def similar(kind: str, **settings: float) -> Any:
    found = documents(ROWS, kind, settings).nearest(2).toarray()
    (_, x_to_y, _), (y_to_x, _, _), _ = found
    assert np.count_nonzero(found) == 2, "z is like none, and none like itself"
    return x_to_y, y_to_x


def test_cosine() -> None:
    expected = 5 / (sqrt(2) * sqrt(17))
    assert similar("cosine") == pytest.approx([expected, expected], rel=1e-15)


def test_shrinkage_is_added_to_the_norms() -> None:
    assert similar("cosine", shrink=3)[0] == pytest.approx(5 / (sqrt(34) + 3), rel=1e-15)


def test_asymmetric_cosine_divides_by_more_of_one_norm() -> None:
    # |x|² = 2, |y|² = 17: x·y / (2^α · 17^(1−α)), and the other way round
    x_to_y, y_to_x = similar("asymmetric", alpha=1.0)
    assert (x_to_y, y_to_x) == pytest.approx((5 / 2, 5 / 17), rel=1e-15)
    assert similar("asymmetric") == pytest.approx(similar("cosine"), rel=1e-15)


def test_tfidf_takes_roots_and_rare_terms() -> None:
    # terms 0 and 1 stand in two of three documents, so their idf is ln 3 − ln 3 = 0: add a fourth
    rows = csr_array(np.vstack([ROWS.toarray(), [[0.0, 0.0, 1.0]]]))
    both, one = log(4) - log(3), log(4) - log(3)
    found = documents(rows, "tfidf", {}).nearest(1).toarray()
    x, y = (both, both), (both, 2 * one)
    expected = (x[0] * y[0] + x[1] * y[1]) / (np.hypot(*x) * np.hypot(*y))
    assert np.argwhere(found[:2]).tolist() == [[0, 1], [1, 0]]
    assert found[0, 1] == pytest.approx(expected, rel=1e-14)


def test_bm25_weighs_by_length() -> None:
    rows = csr_array(np.vstack([ROWS.toarray(), [[0.0, 0.0, 1.0]]]))
    idf, mean = log(4) - log(3), (2 + 5 + 2 + 1) / 4

    def weight(x: float, length: float) -> float:
        return x * (1.2 + 1) / (1.2 * (1 - 0.75 + 0.75 * length / mean) + x) * idf

    expected = weight(1, 2) * weight(1, 5) + weight(1, 2) * weight(4, 5)
    assert documents(rows, "bm25", {}).nearest(1)[0, 1] == pytest.approx(expected)


def test_neighbours_among_some_rows_alone() -> None:
    among = np.array([1, 2], np.int32)
    found = documents(ROWS, "cosine", {}).nearest(2, among=among)
    assert (found.toarray() > 0).tolist() == [[True, False], [False, False], [False, False]]


def test_empty_rows_are_like_none() -> None:
    rows = csr_array(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))
    for kind in DEFAULTS:
        assert documents(rows, kind, {}).nearest(2)[[1]].nnz == 0


def test_an_empty_matrix() -> None:
    for kind in DEFAULTS:
        found = documents(csr_array((3, 2), dtype=np.float32), kind, {}).nearest(2)
        assert (found.shape, found.nnz) == ((3, 3), 0)


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("jaccard", {}, "similarity is 'jaccard'; allowed: cosine, tfidf, bm25, asymmetric"),
        ("bm25", {"shrink": 1}, 'shrink is no setting of similarity "bm25", which has k1, b'),
        ("cosine", {"alpha": 0.5}, 'alpha is no setting of similarity "cosine", which has shrink'),
        ("asymmetric", {"alpha": 1.5}, "alpha is 1.5; expected a number from 0 to 1"),
        ("cosine", {"shrink": -1}, "shrink is -1; expected a number from 0 up"),
        ("cosine", {"shrink": True}, "shrink is True; expected a number from 0 up"),
    ],
)
def test_what_cannot_be(kind: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as error:
        documents(ROWS, kind, settings)
    assert str(error.value) == words
