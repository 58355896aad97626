"""One user's list, place by place: what was a hit, what it earned, and what others would print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import UsageError, suggest
from harness.metrics import DEFINITIONS, DIVISORS, Block, Metric, parse, per_user
from harness.metrics.conventions import audit
from harness.metrics.tally import discounts
from harness.papers import Paper
from harness.repeats import repeats
from harness.scoring import marks

_SEARCHED = 10_000
"""Among more users than this, the nearest name would take long to find."""


@dataclass(frozen=True)
class Place:
    """One rank of a list.

    Attributes
    ----------
    item : str, optional
        None where the place is empty.
    hit, repeat : bool
        A true item for the first time; an item that an earlier place holds.
    precision : float
        P(i), the hits among the first i places over i.
    contribution : float
        P(i)·hit(i)/D, what the place adds to AP@k.
    discount : float
        1/log2(i+1), what a hit adds to DCG.
    """

    rank: int
    item: str | None
    hit: bool
    repeat: bool
    precision: float
    contribution: float
    discount: float


@dataclass(frozen=True)
class Explanation:
    """A user's list and what it earned.

    Attributes
    ----------
    truth : tuple of str
        The true items, in order of id; `candidates` of them could be recommended.
    divisor : int
        D = min(R, k).
    averaged : bool
        Whether the user counts in means; who has no true items does not, where a solution's file
        says who counts.
    metrics : mapping of text to value
        The one that was asked for, every metric of accuracy, and AP under every divisor.
    conventions : mapping of name to value
        AP as each convention computes it; None where it would not count this user.
    """

    user: str
    k: int
    truth: tuple[str, ...]
    candidates: int
    divisor: int
    averaged: bool
    places: tuple[Place, ...]
    metrics: dict[str, float]
    conventions: dict[str, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        return vars(self) | {"truth": list(self.truth), "places": [vars(p) for p in self.places]}


def explain(paper: Paper, row: int, k: int, by: Metric | None = None) -> Explanation:
    """Return the explanation of the user in a row of a paper, at the cut-off `k`.

    Parameters
    ----------
    by : Metric, optional
        Shown first, whatever it looks at; without a cut-off, or with this one.
    """
    key = paper.key.rows(row, row + 1)
    block = Block(paper.lists[row : row + 1], key, k)
    tally = block.tally
    d = DIVISORS["kaggle"].value(tally.relevant, k, tally.length, tally.hits)
    divisor = int(np.max(d))
    return Explanation(
        user=paper.users[row],
        k=k,
        truth=tuple(sorted([*paper.items.gather(key.truth.indices), *_outside(paper, row)])),
        candidates=len(key.truth.indices),
        divisor=divisor,
        averaged=bool(paper.counted[row]),
        places=_places(paper, block, max(divisor, 1)),
        metrics={
            str(m): float(per_user(m, block)[0])
            for m in dict.fromkeys([*([] if by is None else [by]), *_accuracy(k)])
        },
        conventions=audit(paper.whole[row : row + 1], key, k),
    )


def _places(paper: Paper, block: Block, divisor: int) -> tuple[Place, ...]:
    items = block.lists[0]
    hit = np.zeros(len(items), np.bool_)
    hit[block.found.rank - 1] = True
    again = repeats(block.lists)[0]
    precision = np.cumsum(hit) / np.arange(1, len(items) + 1)
    discount = discounts(len(items))
    last = len(items) - int(np.argmax(items[::-1] >= 0)) if (items >= 0).any() else 0
    return tuple(
        Place(
            rank=i + 1,
            item=None if items[i] < 0 else paper.items[int(items[i])],
            hit=bool(hit[i]),
            repeat=bool(again[i]),
            precision=float(precision[i]),
            contribution=float(precision[i] / divisor) if hit[i] else 0.0,
            discount=float(discount[i]),
        )
        for i in range(last)
    )


def _outside(paper: Paper, row: int) -> list[str]:
    """Return a user's true items that are no candidates."""
    counts = np.asarray(paper.key.relevant) - paper.key.truth.sizes
    start = int(counts[:row].sum())
    return paper.outside[start : start + int(counts[row])].to_list()


def _accuracy(k: int) -> list[Metric]:
    """Return every metric of accuracy, once under each value of its first parameter."""
    found = []
    for name, definition in DEFINITIONS.items():
        param, values = next(iter(definition.choices.items()), ("", ()))
        texts = [f"{name}({param}={value})" for value in values] or [name]
        found += [parse(f"{text}@{k}") for text in texts if not definition.needs]
    return found


def rows_of(paper: Paper, users: Sequence[str]) -> list[int]:
    """Return the rows of users by id.

    Raises
    ------
    UsageError
        A user whom the exam does not have.
    """
    known = dict(zip(paper.users.to_list(), range(len(paper.users)), strict=True))
    for user in users:
        if user not in known:
            near = suggest(user, known) if len(known) <= _SEARCHED else ""
            hint = near if near.startswith("did you mean") else f'one is "{paper.users[0]}"'
            raise UsageError(f'no user "{user}" among the {len(known):,} of the exam; {hint}')
    return [known[user] for user in users]


def extremes(paper: Paper, metric: Metric, worst: int, best: int) -> list[int]:
    """Return the rows of the `worst` and the `best` users by a metric; ties by user id.

    Users who are not averaged are neither.

    Raises
    ------
    UsageError
        The paper does not tell what the metric needs.
    """
    paper.require(metric)
    values = marks(paper.lists, paper.key, [metric])[metric]
    ids = paper.users.arg_sort().to_numpy()
    place = np.empty(len(ids), np.int64)
    place[ids] = np.arange(len(ids))
    counted = paper.counted
    orders = (np.lexsort((place, by)) for by in (values, -values))
    low, high = (order[counted[order]] for order in orders)
    return list(dict.fromkeys([*low[:worst].tolist(), *high[:best].tolist()]))
