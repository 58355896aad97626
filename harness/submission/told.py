"""What the rows of a submission tell: counts, and what lists have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Int32, Ragged
from harness.submission.findings import Findings

if TYPE_CHECKING:
    from harness.protocol.truth import Solution


@dataclass(frozen=True)
class Common:
    """What lists have in common.

    Attributes
    ----------
    lists, same, single : int
        How many there are, are the same as the first, and have one item at most.
    """

    lists: int = 0
    same: int = 0
    single: int = 0


@dataclass(frozen=True)
class Hits:
    """How often lists hit, and how often they hold what their users have already.

    Attributes
    ----------
    users, hit : int
        Users who have true items, and those of them whose lists hit.
    items, known : int
        Positions that hold an item, and that hold one of the user's own in training.
    """

    users: int = 0
    hit: int = 0
    items: int = 0
    known: int = 0

    @classmethod
    def of(cls, lists: Int32, solution: Solution) -> Hits:
        """Return the same of lists, (users of the solution, longest list), −1 = empty."""
        truth, history = solution.judgments.truth, solution.history
        return cls(
            int(np.count_nonzero(truth.sizes)),  # nobody else could have a hit
            int(np.count_nonzero(_held(lists, truth))),
            0 if history is None else int(np.count_nonzero(lists >= 0)),
            0 if history is None else int(_held(lists, history).sum()),
        )


def _held(lists: Int32, rows: Ragged) -> Int32:
    """Return how many positions of each list hold an item of the user's row."""
    from harness.metrics import Judgments, judgments  # for a solution alone

    hits: Int32 = judgments.Block(lists, Judgments(rows, rows.sizes), lists.shape[1]).tally.hits
    return hits


@dataclass(frozen=True)
class Told:
    """What the rows of a submission tell.

    Attributes
    ----------
    findings : Findings
    rows : int
    answered, evaluated : int
        Rows whose lists are of evaluated users, and rows that mean such users.
    outside, strangers : int
        Users whom the solution does not evaluate, and those of them whom nobody knows.
    there : int
        Users who must have a row, and have one, or a line that is none.
    """

    findings: Findings = field(default_factory=Findings)
    rows: int = 0
    answered: int = 0
    evaluated: int = 0
    outside: int = 0
    strangers: int = 0
    there: int = 0
    common: Common = Common()
    hits: Hits = Hits()

    @property
    def rows_outside(self) -> int:
        """How many rows are of users whom the solution does not evaluate."""
        return self.rows - self.evaluated
