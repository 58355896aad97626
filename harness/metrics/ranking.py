"""The metrics of accuracy, each formula symbol for symbol as in its docstring."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.core.arrays import Bool, Counts, Floats, Int64
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
    """2·hits / (R + L), L the length of the list, which is read as a set, not as a ranking."""
    return 2.0 * b.tally.hits / np.maximum(b.tally.relevant + b.tally.length.astype(np.float64), 1)


def total_recall(b: Block, _: Settings) -> Floats:
    """Σ_types weight · Σ_users hits / Σ_users min(R, k); without event types, one of weight 1."""
    kinds = b.judgments.kinds or ((1.0, np.ones(len(b), np.bool_)),)
    return np.array([math.fsum(w * share_of_most(hits_and_most(b, of)) for w, of in kinds)])


def hits_and_most(b: Block, of: Bool | slice = slice(None)) -> Int64:
    """Return Σ hits and Σ min(R, k) of a block, or of some users of it."""
    most = np.minimum(b.tally.relevant, b.k)
    return np.array([b.tally.hits[of].sum(), most[of].sum()], np.int64)


def share_of_most(sums: Int64) -> float:
    """Return the hits for each that there could be."""
    hits, most = sums.tolist()
    share: float = hits / max(most, 1)
    return share


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
    if b.judgments.grades is not None and settings["gain"] != "binary":
        return _graded_ndcg(b, _gains(b.judgments.grades, settings["gain"]), settings["ideal"])
    best = b.tally.relevant if settings["ideal"] == "relevant" else b.tally.hits
    return b.tally.dcg / ideal_dcg(best, b.k)


def p_found(b: Block, settings: Settings) -> Floats:
    """Σ_{i≤k} pLook_i·pRel_i, pLook₁ = 1, pLook_i = pLook_{i-1}·(1 - pRel_{i-1})·(1 - pBreak)."""
    stay = 1.0 - settings["p_break"]
    if b.judgments.grades is None:  # pRel = 1: nobody looks beyond the first hit
        first = b.tally.first_hit
        return np.where(first > 0, stay ** np.maximum(first - 1.0, 0.0), 0.0)
    found, p_rel = b.found, b.judgments.grades[b.found.entry]
    still_looking, values = np.ones(len(b)), np.zeros(len(b))
    for hit in _nth_hits(found.user):
        user = found.user[hit]
        values[user] += stay ** (found.rank[hit] - 1.0) * still_looking[user] * p_rel[hit]
        still_looking[user] *= 1.0 - p_rel[hit]
    return values


def _gains(grades: Floats, gain: str) -> Floats:
    if gain == "linear":
        return grades
    # 2^g − 1 of a tiny g keeps its digits only by expm1; exp2 is exact where g is whole.
    return np.where(grades < 1.0, np.expm1(grades * np.log(2.0)), np.exp2(grades) - 1.0)


def _graded_ndcg(b: Block, gains: Floats, ideal: str) -> Floats:
    found = b.found
    gained = gains[found.entry]
    user = np.repeat(np.arange(len(b)), b.judgments.truth.sizes)
    best = (found.user, gained) if ideal == "retrieved" else (user, gains)
    ideal_sum = _discounted(b, *_best_first(*best))
    weight = discounts(int(found.rank.max(initial=0)))
    dcg = b.sum_by_user(found.user, gained * weight[found.rank - 1])
    return np.asarray(dcg / np.where(ideal_sum > 0, ideal_sum, 1.0), np.float64)


def _best_first(user: Int64, gains: Floats) -> tuple[Int64, Floats]:
    order = np.lexsort((-gains, user))
    return user[order], gains[order]


def _discounted(b: Block, user: Int64, gains: Floats) -> Floats:
    """Return Σ gain/log2(i+1) of each user's gains, given in the order of ranks 1, 2 …, up to k."""
    rank = _place_in_run(user)
    within = rank < b.k
    weight = discounts(int(rank.max(initial=-1)) + 1)
    return b.sum_by_user(user[within], gains[within] * weight[rank[within]])


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
