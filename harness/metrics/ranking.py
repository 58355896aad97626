"""The metrics of accuracy, each formula symbol for symbol as in its docstring."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.core.arrays import Counts, Floats, Int64, repeats
from harness.metrics.judgments import Block
from harness.metrics.kernels import discounts, ideal_dcg

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Divisor:
    """One convention for D in AP@k."""

    text: str
    """D as it is written in the documents."""
    value: Callable[[Counts, int, Counts, Counts], Counts | int]
    """D of (R, k, L, hits)."""


DIVISORS: Mapping[str, Divisor] = {
    "kaggle": Divisor("min(R, k)", lambda relevant, k, length, hits: np.minimum(relevant, k)),
    "trec": Divisor("R", lambda relevant, k, length, hits: relevant),
    "k": Divisor("k", lambda relevant, k, length, hits: k),
    "retrieved": Divisor(
        "min(R, L)", lambda relevant, k, length, hits: np.minimum(relevant, length)
    ),
    "hits": Divisor("hits", lambda relevant, k, length, hits: hits),
}


def average_precision(b: Block, settings: Settings) -> Floats:
    """AP@k = Σ_{i≤k} P(i)·hit(i) / D; `harness.metrics.apk` is its plain reference."""
    t = b.tally
    divisor = DIVISORS[settings["divisor"]].value(t.relevant, t.k, t.length, t.hits)
    return _over(t.precision_sum, divisor)


def precision(b: Block, _: Settings) -> Floats:
    """Precision@k = hits / k."""
    return b.tally.hits / b.k


def recall(b: Block, _: Settings) -> Floats:
    """Recall@k = hits / R."""
    return _over(b.tally.hits, b.tally.relevant)


def f1(b: Block, _: Settings) -> Floats:
    """F1@k = 2·hits / (R + k), the harmonic mean of hits/k and hits/R."""
    return 2.0 * b.tally.hits / (b.tally.relevant + float(b.k))


def set_f1(b: Block, _: Settings) -> Floats:
    """2·hits / (R + S), S the different items of the list: it is a set, not a ranking.

    With the sets of true items T and of listed items S it is the harmonic mean of |T ∩ S|/|S| and
    |T ∩ S|/|T|.
    """
    size = b.tally.length - repeats(b.lists).sum(axis=1)
    return np.asarray(2.0 * b.tally.hits / np.maximum(b.tally.relevant + size, 1), np.float64)


def hits_of_all(b: Block, _: Settings) -> Int64:
    """Σ_users hits and Σ_users min(R, k) of each event type, (types, 2)."""
    hits, most = b.tally.hits, np.minimum(b.tally.relevant, b.k)
    kinds = b.judgments.kinds or ((1.0, np.ones(len(b), np.bool_)),)
    sums = [(int(hits[is_kind].sum()), int(most[is_kind].sum())) for _, is_kind in kinds]
    return np.array(sums, np.int64)


def total_recall(sums: Int64, weights: Sequence[float]) -> float:
    """Σ_types weight · Σ_users hits / Σ_users min(R, k); without event types, one of weight 1."""
    pairs = zip(weights, sums.tolist(), strict=True)
    return math.fsum(weight * hits / max(most, 1) for weight, (hits, most) in pairs)


def hits_and_relevant(b: Block, _: Settings) -> Int64:
    """Σ_users hits and Σ_users R, (2,)."""
    return np.array([b.tally.hits.sum(), b.tally.relevant.sum()], np.int64)


def micro_recall(sums: Int64, _: Sequence[float]) -> float:
    """Σ_users hits / Σ_users R."""
    hits, relevant = sums.tolist()
    return float(hits / max(relevant, 1))


def hit_rate(b: Block, _: Settings) -> Floats:
    """HitRate@k = 1 if hits > 0, else 0."""
    return (b.tally.hits > 0).astype(np.float64)


def reciprocal_rank(b: Block, _: Settings) -> Floats:
    """RR@k = 1 / rank of the first hit, 0 without one."""
    return _over(b.tally.first_hit > 0, b.tally.first_hit)


def r_precision(b: Block, _: Settings) -> Floats:
    """R-precision@k = hits among the first min(R, k) / R."""
    return _over(b.tally.early_hits, b.tally.relevant)


def ndcg(b: Block, settings: Settings) -> Floats:
    """NDCG@k = Σ_{i≤k} gain(i)/log2(i+1) / the same of the ideal list."""
    grades, gain, ideal = b.judgments.grades, settings["gain"], settings["ideal"]
    if grades is None or gain == "binary":
        best = b.tally.relevant if ideal == "relevant" else b.tally.hits
        return b.tally.dcg / ideal_dcg(best, b.k)
    hits = b.found
    gained = gains_of(grades, gain)[hits.entry]
    if ideal == "retrieved":
        ideal_sum = ideal_gains(hits.user, gained, len(b), b.k)
    else:
        user, of_all = b.judgments.all_grades
        ideal_sum = ideal_gains(user, gains_of(of_all, gain), len(b), b.k)
    weight = discounts(int(hits.rank.max(initial=0)))
    dcg = b.sum_by_user(hits.user, gained * weight[hits.rank - 1])
    return np.asarray(dcg / np.where(ideal_sum > 0, ideal_sum, 1.0), np.float64)


def p_found(b: Block, settings: Settings) -> Floats:
    """Σ_{i≤k} pLook_i·pRel_i, pLook₁ = 1, pLook_i = pLook_{i-1}·(1 - pRel_{i-1})·(1 - pBreak)."""
    stay = 1.0 - settings["p_break"]
    if b.judgments.grades is None:  # pRel = 1: nobody looks beyond the first hit
        first = b.tally.first_hit
        return np.where(first > 0, stay ** np.maximum(first - 1.0, 0.0), 0.0)
    hits, p_rel = b.found, b.judgments.grades[b.found.entry]
    still_looking, values = np.ones(len(b)), np.zeros(len(b))
    for hit in _nth_hits(hits.user):
        user = hits.user[hit]
        values[user] += stay ** (hits.rank[hit] - 1.0) * still_looking[user] * p_rel[hit]
        still_looking[user] *= 1.0 - p_rel[hit]
    return values


def gains_of(grades: Floats, gain: str) -> Floats:
    """Return the gain of each grade: the grade itself (linear), or 2^g − 1 (exponential)."""
    if gain == "linear":
        return grades
    # 2^g − 1 of a tiny g keeps its digits only by expm1; exp2 is exact where g is whole.
    return np.where(grades < 1.0, np.expm1(grades * np.log(2.0)), np.exp2(grades) - 1.0)


def ideal_gains(user: Int64, gains: Floats, users: int, k: int) -> Floats:
    """Return the largest Σ_{i≤k} gain/log2(i+1) that each user's gains can make, (users,)."""
    order = np.lexsort((-gains, user))
    user, gains = user[order], gains[order]
    rank = _place_in_run(user)
    within = rank < k
    weight = discounts(int(rank.max(initial=-1)) + 1)
    parts = gains[within] * weight[rank[within]]
    return np.bincount(user[within], parts, minlength=users).astype(np.float64)


def _place_in_run(user: Int64) -> Int64:
    """Return how many entries of the same user are before each, users being together."""
    starts = np.flatnonzero(np.diff(user, prepend=-1))
    return np.arange(len(user)) - np.repeat(starts, np.diff(starts, append=len(user)))


def _nth_hits(user: Int64) -> list[Int64]:
    """Return the entries that are their user's first hit, then the second ones, and so on."""
    place = _place_in_run(user)
    by_place = np.argsort(place, kind="stable")
    return np.split(by_place, np.cumsum(np.bincount(place)))[:-1]


def _over(numerator: NDArray[Any], divisor: Counts | int) -> Floats:
    """Divide; where D = 0 there was no hit, the numerator is 0 and so is the result."""
    return np.asarray(numerator / np.maximum(divisor, 1), np.float64)
