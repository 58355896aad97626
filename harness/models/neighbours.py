"""Which neighbours vote for a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.params import require_choice, require_flag, require_from, require_whole
from harness.models.similarity import Documents


@dataclass(eq=False, kw_only=True)
class ItemNeighbours:
    """Parameters that say for which candidates each item votes: those of `item_votes`."""

    neighbours_of: str = "item"
    normalize: bool = False

    removed: ClassVar[Mapping[str, str]] = {
        "neighbours_of = 'both'": (
            'no other setting gives the same lists; use "item" (the first of its two choices) or '
            '"candidate"'
        )
    }
    """Parameters, and values of some, that are gone, and what to use instead."""

    def item_votes(
        self, items: Documents, among: Int32, neighbours: int, least: float = 0.0
    ) -> csr_array[Any]:
        """Return what each item says of each candidate, (items, among), as the parameters choose.

        `among` has the candidates' positions. `neighbours` is how many candidates each item
        votes for, or how many items vote for each candidate. Similarities below `least` are none.
        """
        require_whole(1, neighbours=neighbours)
        require_flag(normalize=self.normalize)
        require_choice(("item", "candidate"), neighbours_of=self.neighbours_of)
        choose = items.nearest_to if self.neighbours_of == "candidate" else items.nearest
        votes = from_least(choose(neighbours, among=among), least)
        return of_sum_one(votes) if self.normalize else votes


@dataclass(eq=False, kw_only=True)
class LeastSimilarity:
    """The parameter that says how alike neighbours are at least."""

    min_similarity: float | None = None

    removed: ClassVar[Mapping[str, str]] = {
        "max_voters": 'no other setting gives the same lists; the nearest is a lower "neighbours"',
        "min_voters": (
            "there is no replacement; to leave out candidates with few votes, write your own "
            'model and name it in "use"'
        ),
    }
    """Parameters that are gone, and what to use instead."""

    def require_least(self) -> None:
        """Raise ParameterError where the parameter cannot be."""
        if self.min_similarity is not None:
            require_from(0, min_similarity=self.min_similarity)


def from_least(similar: csr_array[Any], least: float | None) -> csr_array[Any]:
    """Return a matrix without its entries below `least`."""
    if not least:
        return similar
    kept = similar.copy()
    kept.data[kept.data < least] = 0.0
    kept.eliminate_zeros()
    return kept


def of_sum_one(votes: csr_array[Any]) -> csr_array[Any]:
    """Return a matrix with each row divided by its sum; entries are above 0."""
    sums = np.repeat(votes.sum(axis=1), np.diff(votes.indptr))
    return csr_array((votes.data / sums, votes.indices, votes.indptr), shape=votes.shape)
