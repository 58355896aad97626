"""Time MRR over a grid of users and k beside three usual ways: ``python benchmarks/mrr_grid.py``.

The ways are a loop over users, the same loop compiled by numba over all cores (where it is
installed), and pandas. All
start from the same users, matrix of lists and table of true (user, item) rows, and give one mean.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from measure import Bound, announce, bounds, interleaved, median, once, sized, table

from harness import evaluate

try:
    from numba import njit, prange
except ImportError:  # whoever has it sees it beside the others
    njit = None

USERS = sized((100, 1_000, 10_000, 100_000), (20, 50, 100))
KS = sized((10, 50, 100), (10,))
ITEMS, ROWS_A_USER = 15_000, 8
WHOLE, SAMPLE = sized((10_000, 200), (50, 20))
"""Up to so many users the loops are timed whole; beyond, on a sample of users and scaled."""

ROUNDS, LEAST = sized(5, 1), 0.2
"""Rounds in turn; a call that takes less than so many seconds is repeated within its round."""

Grid = dict[tuple[int, int], dict[str, float]]
OURS, LOOP, NUMBA, PANDAS = "this harness", "loop over users", "numba", "pandas"


@dataclass(frozen=True)
class Point:
    """Users (n,), true rows (user, item) as an array and as a frame, and lists (n, k)."""

    users: Any
    target: Any
    frame: pd.DataFrame
    recs: Any

    def head(self, users: int) -> "Point":
        """Return the first users alone, the true rows of all."""
        return Point(self.users[:users], self.target, self.frame, self.recs[:users])

    def __str__(self) -> str:
        return f"{len(self.users):,} × {self.recs.shape[1]}"


def main() -> None:
    announce()
    print(f"Every user has {ROWS_A_USER} true rows or so of {ITEMS:,} items, the first ones the")
    print(f"most popular; lists are drawn from the same rows. Medians of {ROUNDS} rounds in turn.")
    print("Making the frames from the arrays is part of our time. The loops look through all true")
    print(f"rows for each user: beyond {WHOLE:,} users they are timed on {SAMPLE} users against")
    print("all rows and scaled (≈), for which a loop over users is exactly proportional.\n")
    seconds = {}
    for users in USERS:
        for k in KS:
            point = make_point(users, k)
            check(point)
            seconds[users, k] = measured(point)
    report(seconds)
    report_bounds(seconds)


def make_point(users: int, k: int) -> Point:
    """Return users with true rows of skewed items, and lists of items of those rows."""
    draw = np.random.default_rng(2020)
    owner = np.repeat(np.arange(users), 1 + draw.poisson(ROWS_A_USER - 1, users))
    item = (ITEMS * draw.random(len(owner)) ** 2).astype(np.int64)
    target = draw.permutation(np.column_stack((owner, item)))
    recs = draw.choice(item, (users, k))
    return Point(np.arange(users), target, pd.DataFrame(target, columns=["user", "item"]), recs)


def loop(point: Point) -> float:
    """Pick each user's true items and walk down the list to the first that is among them."""
    total = 0.0
    for user, row in zip(point.users, point.recs, strict=True):
        true = point.target[point.target[:, 0] == user][:, 1]
        for place, item in enumerate(row, 1):
            if item in true:
                total += 1 / place
                break
    return total / len(point.users)


def loop_compiled(point: Point) -> float:
    return float(compiled()(point.users, point.target, point.recs).mean())


@cache
def compiled() -> Callable[..., Any]:
    return njit(parallel=True)(reciprocal_ranks)  # type: ignore[no-any-return]


def reciprocal_ranks(users: Any, target: Any, recs: Any) -> Any:
    """Do as `loop` does, users shared out among the cores."""
    values = np.zeros(len(users))
    for u in prange(len(users)):
        true = target[target[:, 0] == users[u]][:, 1]
        for i in range(recs.shape[1]):
            if (true == recs[u, i]).any():
                values[u] = 1 / (i + 1)
                break
    return values


def joined(point: Point) -> float:
    """Join the rows of all lists with the true rows; the lowest rank of each user remains."""
    n, k = point.recs.shape
    rows = pd.DataFrame({"user": np.repeat(point.users, k), "item": point.recs.ravel()})
    rows["rank"] = rows.groupby("user").cumcount() + 1
    first = rows.merge(point.frame, on=["user", "item"]).groupby("user")["rank"].min()
    return float((1 / first).sum() / n)


def ours(point: Point) -> float:
    lists = pl.DataFrame({"user": point.users, "item": point.recs})
    return float(evaluate(lists, point.frame, f"MRR@{point.recs.shape[1]}").iloc[0])


WAYS: dict[str, Callable[[Point], float]] = {
    OURS: ours,
    LOOP: loop,
    **({NUMBA: loop_compiled} if njit else {}),
    PANDAS: joined,
}


ALL = tuple(name for name in WAYS if name != OURS)


def check(point: Point) -> None:
    """See that all ways give one value; where the loops are sampled, on the sample as well."""
    scaled = is_scaled(point)
    agree(point, (PANDAS,) if scaled else ALL)
    if scaled:
        few = point.head(SAMPLE)
        own = few.target[np.isin(few.target[:, 0], few.users)]
        frame = pd.DataFrame(own, columns=["user", "item"])
        agree(Point(few.users, few.target, frame, few.recs), ALL)


def agree(point: Point, others: tuple[str, ...]) -> None:
    expected = ours(point)
    for name in others:
        found = WAYS[name](point)
        if not math.isclose(found, expected, rel_tol=0, abs_tol=1e-12):
            raise SystemExit(f"{point}, {name}: {found} is not {expected}")


def is_scaled(point: Point) -> bool:
    return len(point.users) > WHOLE


def measured(point: Point) -> dict[str, float]:
    """Return the seconds of every way, scaled to all users where the loops had a sample."""
    times = interleaved({name: clock(name, point) for name in WAYS}, ROUNDS)
    return {name: statistics.median(values) for name, values in times.items()}


def clock(name: str, point: Point) -> Callable[[], float]:
    """Return what times one round of a way."""
    sampled = is_scaled(point) and name in (LOOP, NUMBA)
    given, scale = (point.head(SAMPLE), len(point.users) / SAMPLE) if sampled else (point, 1.0)

    def call() -> float:
        return WAYS[name](given)

    if median(call, 1) >= LEAST:
        return lambda: scale * once(call)
    return lambda: scale * median(call, 9)


def report(seconds: Grid) -> None:
    rows = []
    for (users, k), each in seconds.items():
        signs = dict.fromkeys((LOOP, NUMBA), "≈ " if users > WHOLE else "")
        cells = (
            f"{signs.get(name, '')}{s:.4g} ({s / each[OURS]:,.2f})" for name, s in each.items()
        )
        rows.append((f"{users:,} × {k}", *cells))
    print("Seconds, and in brackets how many times ours.\n")
    table(("users × k", *WAYS), rows)


def report_bounds(seconds: Grid) -> None:
    """Set ours against the best other from 1,000 users on, and against pandas at the largest."""
    largest = seconds[USERS[-1], KS[-1]]
    bounds(
        *(
            Bound(f"ours ÷ the best other, {users:,} × {k}", each[OURS] / best_other(each), 1)
            for (users, k), each in seconds.items()
            if users >= USERS[1]
        ),
        Bound(f"ours ÷ pandas, {USERS[-1]:,} × {KS[-1]}", largest[OURS] / largest[PANDAS], 1 / 20),
    )


def best_other(seconds: dict[str, float]) -> float:
    return min(s for name, s in seconds.items() if name != OURS)


if __name__ == "__main__":
    main()
