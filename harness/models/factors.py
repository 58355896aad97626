"""Factor models: a vector a user, a vector an item, and the lists that their products make."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, csr_matrix

from harness.core.arrays import Int32, places
from harness.core.params import ParameterError
from harness.models.base import Draws, Train
from harness.models.bases import InteractionWeights
from harness.models.products import largest_scores, rows_where

Vectors = npt.NDArray[np.floating[Any]]
"""Of float32 or float64, one a row."""


@dataclass(eq=False)
class FactorModel(InteractionWeights):
    """A recommender whose scores are products of a user's and a candidate's vector.

    Users without interactions get no list; candidates without any are in nobody's list.
    """

    def fit(self, train: Train) -> Self:
        """Find the vectors of the users and items that have interactions."""
        every = self.interactions(train)
        users = np.flatnonzero(np.diff(every.indptr))
        items = np.flatnonzero(np.bincount(every.indices, minlength=every.shape[1]))
        none: Vectors = np.zeros((0, 1))
        known = every[users][:, items].tocsr()
        self.users_, of_items = self._vectors(known) if known.nnz > 0 else (none, none)
        self.row_ = places(users, every.shape[0])
        place = places(items, every.shape[1])[train.candidates]
        self.allowed_ = place >= 0
        self.candidates_ = np.zeros((of_items.shape[1], len(place)), of_items.dtype)
        self.candidates_[:, self.allowed_] = of_items[place[self.allowed_]].T
        return self

    @abstractmethod
    def _vectors(self, matrix: csr_array[Any]) -> tuple[Vectors, Vectors]:
        """Return the vectors of the rows and of the columns of a matrix, none of which is empty."""

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates of the highest scores."""
        row = self.row_[users]
        known = row >= 0
        vectors = rows_where(known, self.users_[row[known]])
        return largest_scores(vectors, self.candidates_, k, allowed=self.allowed_, exclude=exclude)


def implicit_vectors(model: Any, matrix: csr_array[Any], cure: str) -> tuple[Vectors, Vectors]:
    """Return the vectors that a model of the library `implicit` learns of a matrix.

    ParameterError where they grew beyond all numbers; its message ends with the `cure`.
    """
    from implicit.recommender_base import ModelFitError

    # Libraries written in C take 32-bit numbers.
    parts = matrix.data.astype(np.float32), matrix.indices.astype(np.int32)
    narrow = csr_matrix((*parts, matrix.indptr.astype(np.int32)), shape=matrix.shape)
    try:
        model.fit(narrow, show_progress=False)
    except ModelFitError as error:
        raise ParameterError(f"the vectors grew without limit; {cure}") from error
    return model.user_factors, model.item_factors
