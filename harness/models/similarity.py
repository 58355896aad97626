"""How alike the rows of a matrix are: cosines, inner products, shares of what is common."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from harness.core.arrays import Floats, Int32
from harness.core.errors import in_toml
from harness.core.params import ParameterError, require_from, require_whole
from harness.models.products import as_matrix, itself, largest_products

DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "cosine": {"shrink": 0.0},
    "tfidf": {"shrink": 0.0},
    "bm25": {"k1": 1.2, "b": 0.75},
    "asymmetric": {"shrink": 0.0, "alpha": 0.5},
    "dot": {},
    "jaccard": {"shrink": 0.0},
    "dice": {"shrink": 0.0},
    "tversky": {"shrink": 0.0, "alpha": 1.0, "beta": 1.0},
}
"""The similarities there are, and the settings that each has."""
SETTINGS = ("shrink", "alpha", "beta", "k1", "b")
"""All settings there are."""


_TINY = np.finfo(np.float64).tiny  # a power of a norm that is smaller would be 0, and divide
# Those that ask what two rows have, not how much of it: alpha and beta of Tversky's.
_OF_SETS: Mapping[str, tuple[float, float]] = {"jaccard": (1.0, 1.0), "dice": (0.5, 0.5)}
# What each setting may be; others are from 0 up. Of norms, 1 − alpha may be what another tool says.
_RANGES: Mapping[str, tuple[float, float]] = {"asymmetric alpha": (-1.0, 2.0), "b": (0.0, 1.0)}


@dataclass(frozen=True, eq=False)
class Documents:
    """Rows that can be compared: row i with row j by ``(W T)[i, j] / denominator``.

    The denominator is ``a[i] · b[j] + shrink``, or with an overlap
    ``a[i] + b[j] + overlap · (W T)[i, j] + shrink``; a and b are the norms. `weights`, W, has what
    each term (column) weighs in each document (row), and `terms`, T, what it weighs there as one of
    the others: Wᵀ for all similarities, not for walks.
    """

    weights: csr_array[Any]
    terms: csr_array[Any]
    row_norms: Floats
    column_norms: Floats
    shrink: float = 0.0
    overlap: float | None = None

    def nearest(
        self, k: int, rows: Int32 | None = None, among: Int32 | None = None
    ) -> csr_array[Any]:
        """Return how alike each of `rows` and its `k` most similar rows are, never itself.

        These are `among` others, all by default; of equal ones those that stand there first.
        """
        n = self.weights.shape[0]
        terms, column_norms = self.terms, self.column_norms
        rows = np.arange(n, dtype=np.int32) if rows is None else rows
        if among is None:
            among = np.arange(n, dtype=np.int32)
        elif len(among) < n:
            terms, column_norms = self.terms[:, among].tocsr(), self.column_norms[among]
        columns, values = largest_products(
            self.weights[rows],
            terms,
            min(k, len(column_norms)),
            row_norms=self.row_norms[rows],
            column_norms=column_norms,
            shrink=self.shrink,
            overlap=self.overlap,
            exclude=itself(rows, among, n),
            ordered=False,
        )
        return as_matrix(columns, values, len(among))

    def nearest_to(self, k: int, among: Int32) -> csr_array[Any]:
        """Return the similarities of all rows with each of `among`, of its `k` most similar rows.

        It is what `nearest` returns, chosen by column: at most `k` entries in each, of equal
        ones those of the first rows.
        """
        turned = Documents(
            self.terms.T.tocsr(),
            self.weights.T.tocsr(),
            self.column_norms,
            self.row_norms,
            self.shrink,
            self.overlap,
        )
        return turned.nearest(k, among).T.tocsr()


def documents(
    matrix: csr_array[Any] | csc_array[Any], similarity: str, settings: Mapping[str, Any]
) -> Documents:
    """Return the rows of a matrix, to be compared by a similarity.

    Parameters
    ----------
    matrix : csr_array or csc_array, (n, m)
        What each row has of each column; no entry below 0.
    similarity : str
        cosine: x·y / (|x| |y| + shrink). tfidf: the same of √x · idf, with
        idf = ln N − ln(1 + documents with the term). bm25: the inner product of
        x (k1 + 1) / (k1 (1 − b + b · length / mean length) + x) · idf (Robertson and Walker 1994;
        as in implicit). asymmetric: x·y / (|x|^2α |y|^2(1−α) + shrink) (Aiolli 2013). dot: x·y.
        Of sets, whatever the entries, with s terms in both: jaccard: s / (|X| + |Y| − s + shrink).
        dice: 2 s / (|X| + |Y| + 2 shrink). tversky:
        s / (s + α (|X| − s) + β (|Y| − s) + shrink) (Tversky 1977), which is jaccard with
        α = β = 1 and dice with α = β = ½.
    settings : mapping
        ``shrink``, ``alpha``, ``beta``, ``k1``, ``b``; None stands for the default.

    Raises
    ------
    ValueError
        No such similarity, a setting that it does not have, or one out of range.
    """
    chosen = _settings(similarity, settings)
    rows, columns = matrix.tocsr(), matrix.T.tocsr()  # one of the two is there already
    if similarity in ("jaccard", "dice", "tversky"):
        alpha, beta = _OF_SETS.get(similarity) or (chosen["alpha"], chosen["beta"])
        return _sets(rows, columns, alpha, beta, chosen["shrink"])
    if similarity in ("bm25", "dot"):
        weights = _bm25(rows, chosen["k1"], chosen["b"]) if similarity == "bm25" else rows
        ones = np.ones(matrix.shape[0])
        return Documents(weights, columns if weights is rows else weights.T.tocsr(), ones, ones)
    weights = rows
    if similarity == "tfidf":
        weights = _with(rows, np.sqrt(rows.data.astype(np.float64)) * _idf(rows)[rows.indices])
    terms = columns if weights is rows else weights.T.tocsr()
    norms: Floats = np.sqrt(weights.multiply(weights).sum(axis=1, dtype=np.float64))
    norms[norms == 0] = 1.0
    alpha = chosen.get("alpha", 0.5)
    row_norms = np.maximum(norms ** (2 * alpha), _TINY)
    column_norms = np.maximum(norms ** (2 - 2 * alpha), _TINY)
    return Documents(weights, terms, row_norms, column_norms, chosen["shrink"])


def _sets(
    rows: csr_array[Any], columns: csr_array[Any], alpha: float, beta: float, shrink: float
) -> Documents:
    """Return rows compared by Tversky's index of the terms that they have."""
    # s + α (x − s) + β (y − s) = α x + β y + (1 − α − β) s.
    sizes = np.diff(rows.indptr).astype(np.float64)
    weights, terms = (_with(m, np.ones(m.nnz)) for m in (rows, columns))
    return Documents(weights, terms, alpha * sizes, beta * sizes, shrink, 1.0 - alpha - beta)


def _settings(similarity: str, settings: Mapping[str, Any]) -> dict[str, float]:
    if not isinstance(similarity, str) or similarity not in DEFAULTS:
        raise ParameterError(f"similarity is {in_toml(similarity)}; allowed: {', '.join(DEFAULTS)}")
    chosen = {name: value for name, value in settings.items() if value is not None}
    for name, value in chosen.items():
        if name not in DEFAULTS[similarity]:
            has = ", ".join(DEFAULTS[similarity]) or "none"
            raise ParameterError(
                f'{name} is not a setting of similarity "{similarity}", which has {has}'
            )
        known = name if name in _RANGES else f"{similarity} {name}"
        low, high = _RANGES.get(known, (0.0, math.inf))
        require_from(low, high, **{name: value})
    return {**DEFAULTS[similarity], **chosen}


def _idf(matrix: csr_array[Any]) -> Floats:
    """Return ln N − ln(1 + documents with the term) of every term; empty rows are no documents."""
    rows = int(np.count_nonzero(np.diff(matrix.indptr)))
    with_term = np.bincount(matrix.indices, minlength=matrix.shape[1])
    idf: Floats = np.log(np.float64(max(rows, 1))) - np.log1p(with_term)
    return idf


def _bm25(matrix: csr_array[Any], k1: float, b: float) -> csr_array[Any]:
    length = matrix.sum(axis=1, dtype=np.float64)
    mean = length.sum() / max(np.count_nonzero(length), 1)
    norm = np.repeat(1 - b + b * length / (mean or 1.0), np.diff(matrix.indptr))
    x = matrix.data.astype(np.float64)
    return _with(matrix, x * (k1 + 1) / (k1 * norm + x) * _idf(matrix)[matrix.indices])


def _with(matrix: csr_array[Any], data: Floats) -> csr_array[Any]:
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def most_similar(
    features: csr_array[Any], items: Int32, among: Int32, neighbours: int
) -> csr_array[Any]:
    """Return the cosines of items with the most similar of other items, (items, among), float64.

    `features` are rows of length 1, `items` and `among` positions, none twice. An item gets at most
    `neighbours` others, ties by position in `among`, with cosines above 0 alone; one that is
    `among` them has the similarity 1 with itself, whatever its features.
    """
    require_whole(1, neighbours=neighbours)
    same = itself(items, among, features.shape[0])
    right = features[among].T.tocsr()
    columns, values = largest_products(
        features[items], right, min(neighbours, len(among)), exclude=same
    )
    return csr_array(as_matrix(columns, values, len(among)) + same)


def carried_means(values: Floats, similar: csr_array[Any]) -> Floats:
    """Return the mean of each row's neighbours' values, weighted by similarity; NaN without any."""
    total = similar.sum(axis=1)
    means: Floats = np.full(len(total), np.nan)
    np.divide(similar @ values, total, out=means, where=total > 0)
    return means
