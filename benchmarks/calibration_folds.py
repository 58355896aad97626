"""Calibration where users recur: two equal models, and a random one, over several folds.

Users are drawn, and with them the folds that they are in; values of one user are alike in all
folds. What is tested is the code that a run of several folds calls.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import polars as pl
from calibration import (
    CANDIDATES,
    EQUAL,
    FLIPS,
    METRIC,
    Happened,
    Table,
    compared_users,
    holds,
    is_called_other_than_random,
    main,
    random_scores,
    tables_of,
)

from harness.core.exact_sum import of_one
from harness.core.random import mixed
from harness.metrics import Metric, parse
from harness.metrics.scores import ScoreTable
from harness.stats.chance_law import Law, law
from harness.stats.estimates import Estimates, estimate
from harness.stats.figures import results_of
from harness.stats.folds import Folds, ScoredFold, ScoredUsers, Tables, folded, folds_of
from harness.stats.intervals import LEVEL

FOLDS = 4
WORTH = (0.7, 0.8, 0.9, 1.0)
"""What a hit is worth in each fold: folds have other means."""


@dataclass(frozen=True)
class Kind:
    """Users who are in the same folds.

    Attributes
    ----------
    share : float
        Of all users.
    folds : tuple of int
    level : float
        How often they hit, in times of all users' hits.
    """

    share: float
    folds: tuple[int, ...]
    level: float = 1.0


PATTERNS = {
    "all in four": (Kind(1.0, (0, 1, 2, 3)),),
    "one to four, at random": tuple(
        Kind(1 / (FOLDS * comb(FOLDS, many)), folds)
        for many in range(1, FOLDS + 1)
        for folds in combinations(range(FOLDS), many)
    ),
    "one each": tuple(Kind(1 / FOLDS, (fold,)) for fold in range(FOLDS)),
    "a fifth in four, others in one": (
        Kind(0.2, (0, 1, 2, 3), 1.6),
        *(Kind(0.2, (fold,), 0.85) for fold in range(FOLDS)),
    ),
    "twice as many each time": (
        *(Kind(0.125, (0, 1, 2, 3)), Kind(0.125, (1, 2, 3)), Kind(0.25, (2, 3)), Kind(0.5, (3,))),
    ),
    "5 % in four, others in the last": (Kind(0.05, (0, 1, 2, 3)), Kind(0.95, (3,))),
}
"""In which folds users are; shares are of users drawn, so folds' sizes are draws as well."""
HITS = {"10 %, at any rank": (0.1, 12), "50 %, worth 1": (0.5, 1)}
"""How many users hit in a fold, and the last rank that a hit may have: means of 0.02 and 0.4."""
TOGETHER = [parse(f"MAP@{k}") for k in range(1, 11)]
"""Simulations of the same users and folds, which are made one faster as columns of a table."""


def recurring_scores(
    rng: np.random.Generator, level: np.ndarray, last_rank: int, times: int
) -> np.ndarray:
    """Return what two equal models score, (FOLDS, 2, times, users): 1/rank of a hit, or 0.

    A user is as easy in all folds, partly for both models and partly for one of them: `level` is
    the users' mean chance of a hit, the chances are 0 and 1 more often than in between.
    """
    both, *own = rng.beta(level, 1 - level, (3, times, len(level)))
    hit = rng.random((FOLDS, 2, times, len(level))) < (both + np.array(own)) / 2
    ranks = rng.integers(1, last_rank + 1, hit.shape)
    return hit / ranks * np.array(WORTH)[:, None, None, None]


def recurring_mean(kinds: tuple[Kind, ...], hits: float, last_rank: int) -> float:
    """Return the mean over folds of what is expected of the users whom each has."""
    means = []
    for fold, worth in enumerate(WORTH):
        there = [kind for kind in kinds if fold in kind.folds]
        level = sum(k.share * k.level for k in there) / sum(k.share for k in there)
        means.append(hits * level * worth)
    return float(np.mean(means) * np.mean(1 / np.arange(1, last_rank + 1)))


def kinds_of_users(
    rng: np.random.Generator, kinds: tuple[Kind, ...], users: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the users of each fold, and of every user how often they hit, 1 = as all do."""
    of = rng.choice(len(kinds), users, p=[kind.share for kind in kinds])
    there = [np.array([fold in kind.folds for kind in kinds])[of] for fold in range(FOLDS)]
    return [np.flatnonzero(own) for own in there], np.array([kind.level for kind in kinds])[of]


def fold_of(users: np.ndarray, tables: Tables, apart: int = 0) -> ScoredFold:
    """Return the users of a fold; with another number `apart` they are others."""
    numbers = users + 1_000_000 * (apart + 1)
    names = pl.Series(numbers).cast(pl.String)
    return ScoredFold(mixed(numbers.astype(np.uint64)), tables, names)


def of_all_folds(
    part: list[ScoredFold], laws: list[Law] | None = None
) -> tuple[ScoredUsers, Folds]:
    """Return users with one value each, and what is known of all folds."""
    of = folds_of(of_one(part))
    return folded(of, part, laws), of


def recurring_users(task: tuple[str, str, int, int, int]) -> np.ndarray:
    """Return what happened in simulations of two equal models whose users are in several folds."""
    pattern, hits, users, simulations, block = task
    kinds, (level, last_rank) = PATTERNS[pattern], HITS[hits]
    mean = recurring_mean(kinds, level, last_rank)
    rng = np.random.default_rng([users, list(PATTERNS).index(pattern), last_rank, block])
    happened = np.zeros(len(COUNTED))
    for start in range(0, simulations, len(TOGETHER)):
        metrics = TOGETHER[: simulations - start]
        at, times = kinds_of_users(rng, kinds, users)
        scores = recurring_scores(rng, level * times, last_rank, len(metrics))
        tables = [
            {
                name: ScoreTable(dict(zip(metrics, values[:, None, own], strict=True)))
                for name, values in zip(("one", "other"), of_fold, strict=True)
            }
            for own, of_fold in zip(at, scores, strict=True)
        ]
        users_of = of_all_folds([fold_of(*of) for of in zip(at, tables, strict=True)])
        rows, _ = of_all_folds([fold_of(*of) for of in zip(at, tables, range(FOLDS), strict=True)])
        for metric in metrics:
            happened += outcome(*users_of, rows, metric, mean, rng.integers(1 << 31))
    return happened


def outcome(
    part: ScoredUsers, folds: Folds, rows: ScoredUsers, metric: Metric, mean: float, seed: int
) -> list[bool]:
    """Return what of `COUNTED` happened; in `rows` users of different folds are different."""
    key = ("one", metric)
    (pair,) = compared_users(part, seed, metric=metric, folds=folds).pairs
    (as_rows,) = compared_users(rows, seed, metric=metric).pairs
    ((estimates, _),) = results_of([Estimates([key], FLIPS, seed, folds)], of_one(part))
    return [
        pair.p_t < LEVEL,
        pair.p_sign_flip < LEVEL,
        as_rows.p_sign_flip < LEVEL,
        holds(pair.ci95, 0.0),
        holds(estimates[key].ci95, mean),
        holds(estimates[key].ci95_t, mean),
        holds(estimates[key].ci95_bootstrap, mean),
        holds(estimate(metric, part.tables["one"].of_users(metric)).ci95, mean),
    ]


def random_folds(task: tuple[str, int, int, int, int]) -> np.ndarray:
    """Return in how many simulations a random model of several folds was called another."""
    pattern, candidates, users, simulations, block = task
    rng = np.random.default_rng([users, list(PATTERNS).index(pattern), candidates, block])
    at, _ = kinds_of_users(rng, PATTERNS[pattern], users)
    relevant = [np.minimum(rng.geometric(1 / 3, len(own)), 30) for own in at]
    laws = [law(METRIC, np.full(len(own), candidates), own, own) for own in relevant]
    wrong = 0
    for _ in range(simulations):
        tables = [tables_of({"m": random_scores(rng, own, candidates)}) for own in relevant]
        part = [fold_of(*of) for of in zip(at, tables, strict=True)]
        wrong += is_called_other_than_random(*of_all_folds(part, laws))
    return np.array([float(wrong)])


COUNTED = {
    **dict(list(EQUAL.items())[:2]),
    "… with a sign a row": None,
    **dict(list(EQUAL.items())[2:]),
    "ours, of values": None,
}
"""As of one evaluation set; "a sign a row" takes users of different folds for different ones, and
"of values" makes intervals of users' values, not of their shares in the mean's error."""


def several_folds(happened: Happened, sizes: tuple[int, ...]) -> Iterator[Table]:
    """Yield every table."""
    yield Table(
        "Two equal models, users in several folds: tests that reject, intervals that hold the "
        "truth",
        ("folds of users", "hits", "users", *COUNTED),
        {
            (pattern, hits, f"{users:,}"): tuple(happened(recurring_users, pattern, hits, users))
            for pattern in PATTERNS
            for hits in HITS
            for users in sizes[:2]
        },
        tuple(COUNTED.values()),
    )
    yield Table(
        "A random model, users in several folds: simulations in which it is called better or "
        "worse than chance",
        ("folds of users", "candidates", "users", "better or worse"),
        {
            (pattern, f"{candidates:,}", f"{users:,}"): tuple(
                happened(random_folds, pattern, candidates, users)
            )
            for pattern in PATTERNS
            for candidates in CANDIDATES[:2]
            for users in sizes[:2]
        },
        ((0.04, 0.06),),
    )


if __name__ == "__main__":
    sys.exit(main(several_folds))
