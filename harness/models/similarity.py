"""How alike the rows of a matrix are: cosine, tf-idf, BM25, asymmetric cosine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from harness.core.arrays import Floats, Int32
from harness.core.params import ParameterError, require_from
from harness.models.products import as_matrix, itself, largest_products

DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "cosine": {"shrink": 0.0},
    "tfidf": {"shrink": 0.0},
    "bm25": {"k1": 1.2, "b": 0.75},
    "asymmetric": {"shrink": 0.0, "alpha": 0.5},
}
"""The similarities there are, and the settings that each has."""


@dataclass(frozen=True, eq=False)
class Documents:
    """Rows that can be compared: row i with row j by ``(W Wᵀ)[i, j] / (a[i] · b[j] + shrink)``.

    Attributes
    ----------
    weights, terms : csr_array, (n, m) and (m, n)
        W, what each term (column) weighs in each document (row), and Wᵀ.
    left, right : float64 arrays, (n,)
        a and b.
    shrink : float
    """

    weights: csr_array[Any]
    terms: csr_array[Any]
    left: Floats
    right: Floats
    shrink: float

    def nearest(
        self, k: int, rows: Int32 | None = None, among: Int32 | None = None
    ) -> csr_array[Any]:
        """Return how alike each of `rows` and its `k` most similar rows are, never itself.

        Parameters
        ----------
        rows, among : int32 arrays, optional
            Whose neighbours are asked for, and the rows that may be found; all by default.

        Returns
        -------
        csr_array of float64, (rows, among)
            Of equal ones those that stand first in `among`; fewer where no more are alike.
        """
        n = self.weights.shape[0]
        others, right = self.terms, self.right
        rows = np.arange(n, dtype=np.int32) if rows is None else rows
        if among is None:
            among = np.arange(n, dtype=np.int32)
        elif len(among) < n:
            others, right = self.weights[among].T.tocsr(), self.right[among]
        found = largest_products(
            self.weights[rows],
            others,
            min(k, len(right)),
            row_norms=self.left[rows],
            column_norms=right,
            shrink=self.shrink,
            exclude=itself(rows, among, n),
            ordered=False,
        )
        return as_matrix(*found, len(among))


def documents(
    matrix: csr_array[Any] | csc_array[Any], similarity: str, settings: Mapping[str, Any]
) -> Documents:
    """Return the rows of a matrix, to be compared by a similarity.

    Parameters
    ----------
    matrix : csr_array or csc_array, (n, m)
        What each row has of each column; no entry below 0.
    similarity : {"cosine", "tfidf", "bm25", "asymmetric"}
        cosine: x·y / (|x| |y| + shrink). tfidf: the same of √x · idf, with
        idf = ln N − ln(1 + documents with the term). bm25: the inner product of
        x (k1 + 1) / (k1 (1 − b + b · length / mean length) + x) · idf (Robertson and Walker 1994;
        as in implicit). asymmetric: x·y / (|x|^2α |y|^2(1−α) + shrink) (Aiolli 2013).
    settings : mapping
        ``shrink``, ``alpha``, ``k1``, ``b``; None stands for the default.

    Raises
    ------
    ValueError
        No such similarity, a setting that it does not have, or one out of range.
    """
    chosen = _settings(similarity, settings)
    rows, columns = matrix.tocsr(), matrix.T.tocsr()  # one of the two is there already
    if similarity == "bm25":
        weights = _bm25(rows, chosen["k1"], chosen["b"])
        ones = np.ones(matrix.shape[0])
        return Documents(weights, weights.T.tocsr(), ones, ones, 0.0)
    weights = _tfidf(rows) if similarity == "tfidf" else rows
    terms = columns if weights is rows else weights.T.tocsr()
    norms: Floats = np.sqrt(weights.multiply(weights).sum(axis=1, dtype=np.float64))
    norms[norms == 0] = 1.0
    alpha = chosen.get("alpha", 0.5)
    return Documents(
        weights, terms, norms ** (2 * alpha), norms ** (2 - 2 * alpha), chosen["shrink"]
    )


def _settings(similarity: str, settings: Mapping[str, Any]) -> dict[str, float]:
    if not isinstance(similarity, str) or similarity not in DEFAULTS:
        raise ParameterError(f"similarity is {similarity!r}; allowed: {', '.join(DEFAULTS)}")
    given = {name: value for name, value in settings.items() if value is not None}
    for name, value in given.items():
        if name not in DEFAULTS[similarity]:
            has = ", ".join(DEFAULTS[similarity])
            raise ParameterError(
                f'{name} is no setting of similarity "{similarity}", which has {has}'
            )
        require_from(0, 1.0 if name in ("alpha", "b") else math.inf, **{name: value})
    return {**DEFAULTS[similarity], **given}


def _idf(matrix: csr_array[Any]) -> Floats:
    """Return ln N − ln(1 + documents with the term) of every term; empty rows are no documents."""
    rows = int(np.count_nonzero(np.diff(matrix.indptr)))
    with_term = np.bincount(matrix.indices, minlength=matrix.shape[1])
    idf: Floats = np.log(np.float64(max(rows, 1))) - np.log1p(with_term)
    return idf


def _tfidf(matrix: csr_array[Any]) -> csr_array[Any]:
    weights = np.sqrt(matrix.data.astype(np.float64)) * _idf(matrix)[matrix.indices]
    return _with(matrix, weights)


def _bm25(matrix: csr_array[Any], k1: float, b: float) -> csr_array[Any]:
    length = matrix.sum(axis=1, dtype=np.float64)
    mean = length.sum() / max(np.count_nonzero(length), 1)
    norm = np.repeat(1 - b + b * length / (mean or 1.0), np.diff(matrix.indptr))
    x = matrix.data.astype(np.float64)
    return _with(matrix, x * (k1 + 1) / (k1 * norm + x) * _idf(matrix)[matrix.indices])


def _with(matrix: csr_array[Any], data: Floats) -> csr_array[Any]:
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
