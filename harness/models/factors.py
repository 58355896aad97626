"""Factor models: a vector a user, a vector an item, and the lists that their products make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, csr_matrix

from harness.core.arrays import Int32, Int64, places
from harness.models.products import largest_scores, rows_of

Vectors = npt.NDArray[np.floating[Any]]
"""Of float32 or float64, one a row."""


@dataclass(frozen=True, eq=False)
class Compact:
    """A users × items matrix without its empty rows and columns.

    Attributes
    ----------
    matrix : csr_array, (n, m)
    users, items : int64 arrays, (n,) and (m,)
        Which rows and columns of the whole matrix these are.
    shape : (int, int)
        Of the whole matrix.
    """

    matrix: csr_array[Any]
    users: Int64
    items: Int64
    shape: tuple[int, int]


def compact(matrix: csr_array[Any]) -> Compact:
    """Return the rows and columns of a matrix that have entries.

    Examples
    --------
    >>> kept = compact(csr_array(np.array([[0, 2, 0], [0, 0, 0], [0, 1, 3]])))
    >>> kept.matrix.toarray().tolist(), kept.users.tolist(), kept.items.tolist()
    ([[2, 0], [1, 3]], [0, 2], [1, 2])
    """
    users = np.flatnonzero(np.diff(matrix.indptr))
    items = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    return Compact(matrix[users][:, items].tocsr(), users, items, matrix.shape)


def narrow(matrix: csr_array[Any]) -> csr_matrix[Any]:
    """Return a matrix in 32-bit numbers, as libraries written in C take it."""
    parts = matrix.data.astype(np.float32), matrix.indices.astype(np.int32)
    return csr_matrix((*parts, matrix.indptr.astype(np.int32)), shape=matrix.shape)


class Factors:
    """Vectors of users and candidates; a score is their product.

    Parameters
    ----------
    known : Compact
        Which users and items the vectors are of; others have none.
    users, items : float arrays, (n, f) and (m, f)
    candidates : int32 array, (N,)
        Item positions of the candidates.
    """

    def __init__(self, known: Compact, users: Vectors, items: Vectors, candidates: Int32) -> None:
        self._users = users
        self._row = places(known.users, known.shape[0])
        place = places(known.items, known.shape[1])[candidates]
        self._allowed = place >= 0
        self._items = np.zeros((items.shape[1], len(candidates)), items.dtype)
        self._items[:, self._allowed] = items[place[self._allowed]].T

    def recommend(self, users: Int32, k: int, exclude: csr_array[Any] | None = None) -> Int32:
        """Return the `k` candidates of the highest scores for each user, (n, k); −1 if unknown.

        Unknown users have no list, and unknown candidates are in none.
        """
        row = self._row[users]
        known = row >= 0
        vectors = np.zeros((len(users), self._items.shape[0]), self._users.dtype)
        vectors[known] = self._users[row[known]]
        left = rows_of(vectors, known)
        return largest_scores(left, self._items, k, allowed=self._allowed, exclude=exclude)
