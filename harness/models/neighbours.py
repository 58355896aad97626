"""Which neighbours vote for a candidate, and how alike they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_array, csr_array

from harness.core.arrays import Int32
from harness.core.params import require_choice, require_flag, require_from, require_whole
from harness.models.similarity import SETTINGS, Documents, documents


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
        if self.normalize:
            votes.data /= np.repeat(votes.sum(axis=1), np.diff(votes.indptr))
        return votes


@dataclass(eq=False)
class Similarity:
    """Parameters that say how alike rows are, as `documents` has them, and which are neighbours."""

    neighbours: int = 100
    similarity: str = "cosine"
    shrink: float | None = None
    alpha: float | None = None
    k1: float | None = None
    b: float | None = None
    beta: float | None = None
    min_similarity: float | None = field(default=None, kw_only=True)

    removed: ClassVar[Mapping[str, str]] = {
        "max_voters": 'no other setting gives the same lists; the nearest is a lower "neighbours"',
        "min_voters": (
            "there is no replacement; to leave out candidates with few votes, write your own "
            'model and name it in "use"'
        ),
    }
    """Parameters that are gone, and what to use instead."""

    def documents(self, matrix: csr_array[Any] | csc_array[Any]) -> Documents:
        """Return the rows of a matrix, to be compared as the parameters say."""
        if self.min_similarity is not None:
            require_from(0, min_similarity=self.min_similarity)
        return documents(matrix, self.similarity, {name: getattr(self, name) for name in SETTINGS})


def from_least(similar: csr_array[Any], least: float | None) -> csr_array[Any]:
    """Return a matrix without its entries below `least`."""
    if not least:
        return similar
    kept = similar.copy()
    kept.data[kept.data < least] = 0.0
    kept.eliminate_zeros()
    return kept
