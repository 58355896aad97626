"""Lists in a few letters, an item each: what explain and score are tried on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from conftest import ragged

from harness.metrics import Judgments
from harness.protocol.truth import Solution
from harness.scoring.submissions import SubmittedLists

ITEMS = list("abcdefghx")


def submitted(
    lists: list[str],
    truths: list[str],
    outside: list[list[str]] | None = None,
    leaderboards: Mapping[str, list[bool]] = {},
) -> SubmittedLists:
    """Return lists of texts, a letter an item, - an empty position; users are u0, u1 …

    `outside` are true items that are no candidates.
    """
    width = max([1, *map(len, lists)])
    items = [[ITEMS.index(c) if c in ITEMS else -1 for c in row.ljust(width)] for row in lists]
    truth, beyond = ragged(map(ITEMS.index, row) for row in truths), outside or [[] for _ in lists]
    solution = Solution(
        users=pl.Series([f"u{i}" for i in range(len(lists))]),
        items=pl.Series(ITEMS),
        judgments=Judgments(truth, truth.sizes + np.array([len(row) for row in beyond])),
        outside=pl.Series([i for row in beyond for i in row], dtype=pl.String),
        leaderboards={name: np.array(users) for name, users in leaderboards.items()},
    )
    left_out = {"users_without_list": lists.count(""), "users_outside": 0}
    codes = np.array(items, np.int32)
    return SubmittedLists("lists.csv", solution, solution.items, codes, left_out)


def with_solution(scored: SubmittedLists, **changed: Any) -> SubmittedLists:
    return replace(scored, solution=replace(scored.solution, **changed))
