"""Every ordered list there is, scored by the kernel: what chance is defined by."""

import math
from itertools import permutations
from typing import Any

import numpy as np

from harness.core.arrays import Ragged
from harness.metrics import Block, Judgments, parse, per_user
from harness.stats.chance_law import law


def of_all_lists(
    name: str, n: int, r: int, relevant: int, k: int, inside: Any = None, outside: Any = None
) -> Any:
    """Return a metric's values of all ordered lists of min(k, n) candidates, r of n true.

    With the grades of true items that are candidates, and of those that are none.
    """
    lists = np.array(list(permutations(range(n), min(k, n))), np.int32)
    count = len(lists)
    truth = Ragged(np.arange(count + 1) * r, np.tile(np.arange(r, dtype=np.int32), count))
    grades = [None if row is None else np.tile(row, count) * 1.0 for row in (inside, outside)]
    judgments = Judgments(truth, np.full(count, relevant), grades[0], grades[1])
    return per_user(parse(f"{name}@{k}"), Block(lists, judgments, k))


def enumerated(name: str, n: int, r: int, relevant: int, k: int) -> list[float]:
    """Return the first three cumulants and the chance of 0, over all ordered lists of min(k, n)."""
    values, hits = (of_all_lists(m, n, r, relevant, k) for m in (name, "HitRate"))
    mean = math.fsum(values) / len(values)
    var, third = (math.fsum((values - mean) ** power) / len(values) for power in (2, 3))
    return [mean, var, third, 1 - math.fsum(hits) / len(hits)]


def cumulants(name: str, n: int, r: int, relevant: int, k: int) -> list[float]:
    """Return the same by the formulas."""
    result = law(parse(f"{name}@{k}"), n, r, relevant)
    assert result is not None
    return [float(value) for value in (result.mean, result.var, result.third, result.none)]


EXACT = [
    *("MAP", "MAP(divisor=trec)", "MAP(divisor=k)", "MAP(divisor=retrieved)"),
    *("Precision", "Recall", "F1", "HitRate", "MRR", "NDCG", "RPrecision"),
    *("pFound", "pFound(p_break=0.5)", "SetF1"),
]
SIZES = [  # candidates, relevant ones, all relevant items, k
    *((1, 1, 1, 12), (1, 0, 0, 1), (2, 1, 1, 1), (3, 2, 5, 2), (5, 2, 2, 3), (5, 5, 6, 3)),
    *((5, 4, 4, 10), (6, 3, 4, 6), (7, 2, 3, 4), (7, 6, 6, 5), (8, 3, 3, 5), (4, 0, 3, 2)),
    *((6, 2, 9, 8), (6, 6, 9, 1), (6, 5, 5, 7)),
]
