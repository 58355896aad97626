"""Which neighbours vote for a candidate, and how their votes are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array

from harness.core.arrays import Int32
from harness.core.params import (
    ParameterError,
    require_choice,
    require_flag,
    require_from,
    require_whole,
)
from harness.models.products import as_matrix, largest_of_best, largest_products
from harness.models.similarity import Documents


@dataclass(eq=False, kw_only=True)
class ItemNeighbours:
    """Parameters that say for which candidates each item votes: those of `item_votes`."""

    neighbours_of: str = "item"
    normalize: bool = False

    def item_votes(
        self, items: Documents, among: Int32, neighbours: int, least: float = 0.0
    ) -> csr_array[Any]:
        """Return what each item says of each candidate, as the parameters choose it.

        Parameters
        ----------
        items : Documents
            How alike items are.
        among : int32 array, (N,)
            The candidates' positions among the items.
        neighbours : int
            How many candidates each item votes for, or how many items vote for each candidate.
        least : float
            Similarities below are none.

        Returns
        -------
        csr_array of float64, (items, N)

        Raises
        ------
        ParameterError
            A parameter that cannot be.
        """
        require_whole(1, neighbours=neighbours)
        require_flag(normalize=self.normalize)
        require_choice(("item", "candidate", "both"), neighbours_of=self.neighbours_of)
        choose = items.nearest_to if self.neighbours_of == "candidate" else items.nearest
        votes = from_least(choose(neighbours, among=among), least)
        if self.normalize:
            votes = of_sum_one(votes)
        return largest_by_column(votes, neighbours) if self.neighbours_of == "both" else votes


@dataclass(eq=False, kw_only=True)
class Voters:
    """Parameters that say how many votes a candidate may have, and needs."""

    min_similarity: float | None = None
    max_voters: int | None = None
    min_voters: int | None = None

    def require_voters(self) -> None:
        """Raise ParameterError where a parameter cannot be."""
        if self.min_similarity is not None:
            require_from(0, min_similarity=self.min_similarity)
        if self.max_voters is not None:
            require_whole(1, max_voters=self.max_voters)
        if self.min_voters is not None:
            require_whole(1, min_voters=self.min_voters)
            if self.max_voters is None:
                raise ParameterError("min_voters needs max_voters, the most that are counted")
            if self.min_voters > self.max_voters:
                raise ParameterError(
                    f"min_voters is {self.min_voters} and max_voters {self.max_voters}: "
                    "no candidate could have enough; take a min_voters up to max_voters"
                )

    def count_votes(
        self,
        left: csr_array[Any],
        right: csr_array[Any],
        k: int,
        exclude: csr_array[Any] | None = None,
    ) -> Int32:
        """Return the candidates of the highest sums of votes, which are terms of a product.

        Parameters
        ----------
        left, right : csr_array, (users, voters) and (voters, candidates)
        k, exclude : as in `Recommender.recommend`

        Returns
        -------
        int32 array, (users, k)
        """
        if self.max_voters is None:
            return largest_products(left, right, k, exclude=exclude)[0]
        least = self.min_voters or 1
        return largest_of_best(left, right, k, self.max_voters, least, exclude=exclude)[0]


def from_least(similar: csr_array[Any], least: float | None) -> csr_array[Any]:
    """Return a matrix without its entries below `least`.

    Examples
    --------
    >>> from_least(csr_array(np.array([[0.1, 0.5]])), 0.5).toarray().tolist()
    [[0.0, 0.5]]
    """
    if not least:
        return similar
    kept = similar.copy()
    kept.data[kept.data < least] = 0.0
    kept.eliminate_zeros()
    return kept


def of_sum_one(votes: csr_array[Any]) -> csr_array[Any]:
    """Return a matrix with each row divided by its sum; entries are above 0.

    Examples
    --------
    >>> of_sum_one(csr_array(np.array([[1.0, 3.0], [0.0, 0.0]]))).toarray().tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = np.repeat(votes.sum(axis=1), np.diff(votes.indptr))
    return csr_array((votes.data / sums, votes.indices, votes.indptr), shape=votes.shape)


def largest_by_column(votes: csr_array[Any], k: int) -> csr_array[Any]:
    """Return a matrix with the `k` largest entries of each column alone, of equal ones the first.

    Examples
    --------
    >>> largest_by_column(csr_array(np.array([[1.0, 3.0], [2.0, 3.0]])), 1).toarray().tolist()
    [[0.0, 3.0], [2.0, 0.0]]
    """
    n, width = votes.shape
    one = csr_array(eye_array(width, format="csr"))
    found = largest_products(one, votes.T.tocsr(), min(k, n), ordered=False)
    return as_matrix(*found, n).T.tocsr()
