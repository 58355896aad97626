"""A solution in the codes that a submission is read with, and the lists in the solution's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Int32
from harness.solutions import Solution
from harness.submission.known import Known, packed


@dataclass(frozen=True, eq=False)
class Answers:
    """Where known users and items stand in a solution.

    Attributes
    ----------
    rows : int32 array, one a known user
        Rows of the solution, −1 without one.
    positions : int32 array, one a known item
        Positions in the solution's key; items of which it says nothing stand behind.
    """

    rows: Int32
    positions: Int32

    @classmethod
    def of(cls, solution: Solution, users: Known, items: Known) -> Answers:
        """Return the answers of a solution whose users and items are all known."""
        rows = np.full(len(users), -1, np.int32)
        rows[users.codes(*packed(solution.users))] = np.arange(len(solution.users))
        positions = np.full(len(items), -1, np.int32)
        positions[items.codes(*packed(solution.items))] = np.arange(len(solution.items))
        others = np.flatnonzero(positions < 0)
        positions[others] = len(solution.items) + np.arange(len(others))
        return cls(rows, positions)

    def lists(self, codes: Int32) -> Int32:
        """Return lists of codes as lists of positions; nobody's items stand behind all others."""
        strange = np.arange(len(self.positions), int(codes.max(initial=-1)) + 1)
        table = np.concatenate((self.positions, strange, [-1])).astype(np.int32)
        return table[codes]
