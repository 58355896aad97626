"""Fill: the first model's list, its empty positions filled with the next ones' items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.models.base import Draws
from harness.models.bases import Ensemble
from harness.models.recommendations import EMPTY
from harness.models.topk import ask, extend


@dataclass(eq=False)
class Fill(Ensemble):
    """One list behind the other, each item where it is first listed, until k items are listed.

    Also known as a cascade or switching hybrid: a model that is right about few users goes first,
    one that has something for everybody goes last (Burke, Hybrid recommender systems, 2002).

    Parameters
    ----------
    models : list of recommenders
        The base models, in the order of their lists; in a config: ``of``.
    """

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the first list, then of each next one what is not there yet."""
        lists = np.full((len(users), k), EMPTY, np.int32)
        for model in self.models_:
            lists = extend(lists, ask(model, users, k, self.n_candidates_, draws, exclude))
        return lists
