"""Lists that are well formed and make little sense: what only a solution tells."""

from __future__ import annotations

import numpy as np

from harness.arrays import Int32
from harness.metrics import Key
from harness.metrics.block import Block
from harness.ragged import Ragged
from harness.solutions import Solution
from harness.submission.findings import Findings

_FEWEST = 100
"""Users from which a share says something."""
_HARDLY = 0.001
_MOST = 0.5


def note(lists: Int32, solution: Solution, findings: Findings) -> None:
    """Note lists that hardly ever hit, and lists of what their users have already.

    Neither says whose, nor what would have hit.
    """
    users = int(np.count_nonzero(solution.key.truth.sizes))  # nobody else could have a hit
    if users < _FEWEST:
        return
    hit = int(np.count_nonzero(_held(lists, solution.key.truth)))
    if hit < _HARDLY * users:
        findings.note("SUB402", f"{hit:,} of {users:,}")
    if solution.history is None:
        return
    places, known = int(np.count_nonzero(lists >= 0)), int(_held(lists, solution.history).sum())
    if known > _MOST * places:
        findings.note("SUB403", f"{known:,} of {places:,}")


def _held(lists: Int32, rows: Ragged) -> Int32:
    """Return how many places of each list hold an item of the user's row."""
    hits: Int32 = Block(lists, Key(rows, rows.sizes), lists.shape[1]).tally.hits
    return hits
