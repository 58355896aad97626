"""The formulas, each symbol for symbol as in its docstring, and the table that declares them.

`DEFINITIONS` and `DIVISORS` are the one place for what a metric is called, takes, means and cites.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.metrics.tally import Counts, Floats, Tally, ideal_dcg


@dataclass(frozen=True)
class Divisor:
    """One convention for D in AP@k."""

    text: str
    """D as it is written in the documents."""
    value: Callable[[Counts, int, Counts, Counts], Counts | int]
    """D of (R, k, L, hits)."""
    used_by: str
    """Who divides by it."""


@dataclass(frozen=True)
class Definition:
    """What there is to know about one metric."""

    formula: Callable[[Tally, Mapping[str, str]], Floats]
    """One value per user of a tally, under the parameters given."""
    text: str
    """The formula as it is written in the documents."""
    params: Mapping[str, tuple[str, ...]]
    """The allowed values of each parameter; the first is the default."""
    source: str
    """Where the formula stands."""
    range: tuple[float, float] = (0.0, 1.0)
    """The lowest and the highest value there can be."""


def _average_precision(t: Tally, settings: Mapping[str, str]) -> Floats:
    """AP@k = Σ_{i≤k} P(i)·hit(i) / D."""
    divisor = DIVISORS[settings["divisor"]].value(t.relevant, t.k, t.length, t.hits)
    return _over(t.precision_sum, divisor)


def _precision(t: Tally, _: Mapping[str, str]) -> Floats:
    """Precision@k = hits / k."""
    return t.hits / t.k


def _recall(t: Tally, _: Mapping[str, str]) -> Floats:
    """Recall@k = hits / R."""
    return _over(t.hits, t.relevant)


def _f1(t: Tally, _: Mapping[str, str]) -> Floats:
    """F1@k = 2·hits / (R + k), the harmonic mean of hits/k and hits/R."""
    return 2.0 * t.hits / (t.relevant + float(t.k))


def _hit_rate(t: Tally, _: Mapping[str, str]) -> Floats:
    """HitRate@k = 1 if hits > 0, else 0."""
    return (t.hits > 0).astype(np.float64)


def _reciprocal_rank(t: Tally, _: Mapping[str, str]) -> Floats:
    """RR@k = 1 / rank of the first hit, 0 without one."""
    return _over(t.first_hit > 0, t.first_hit)


def _ndcg(t: Tally, settings: Mapping[str, str]) -> Floats:
    """NDCG@k = Σ_{i≤k} hit(i)/log2(i+1) / Σ_{i≤m} 1/log2(i+1), m = min(R, k) or the hits."""
    best = t.relevant if settings["ideal"] == "relevant" else t.hits
    return t.dcg / ideal_dcg(best, t.k)


def _over(numerator: NDArray[Any], divisor: Counts | int) -> Floats:
    """Divide; where D = 0 there was no hit, the numerator is 0 and so is the result."""
    return np.asarray(numerator / np.maximum(divisor, 1), np.float64)


DIVISORS: Mapping[str, Divisor] = {
    "kaggle": Divisor(
        "min(R, k)",
        lambda relevant, k, length, hits: np.minimum(relevant, k),
        "ml_metrics, Kaggle H&M and Ponpare, RePlay, implicit",
    ),
    "trec": Divisor(
        "R",
        lambda relevant, k, length, hits: relevant,
        "trec_eval's map_cut, PySpark MLlib, ranx, RecTools by default",
    ),
    "k": Divisor(
        "k",
        lambda relevant, k, length, hits: k,
        "the plain MAP@K formula, RecTools with divide_by_k",
    ),
    "retrieved": Divisor(
        "min(R, L)",
        lambda relevant, k, length, hits: np.minimum(relevant, length),
        "LensKit, some notebooks",
    ),
    "hits": Divisor(
        "hits",
        lambda relevant, k, length, hits: hits,
        "notebooks that divide by what was found",
    ),
}

DEFINITIONS: Mapping[str, Definition] = {
    "MAP": Definition(
        _average_precision,
        "Σ_{i≤min(k,L)} P(i)·hit(i) / D",
        {"divisor": tuple(DIVISORS)},
        "benhamner/Metrics, ml_metrics/average_precision.py; H&M and Ponpare on Kaggle",
    ),
    "Precision": Definition(
        _precision, "hits / k", {}, "Manning, Raghavan, Schütze 2008, section 8.4"
    ),
    "Recall": Definition(_recall, "hits / R", {}, "Manning, Raghavan, Schütze 2008, section 8.4"),
    "F1": Definition(_f1, "2·hits / (R + k)", {}, "van Rijsbergen 1979, chapter 7, at a cut-off"),
    "HitRate": Definition(
        _hit_rate, "1 if hits > 0, else 0", {}, "Deshpande, Karypis 2004, for any number of hits"
    ),
    "MRR": Definition(
        _reciprocal_rank, "1 / rank of the first hit, else 0", {}, "Voorhees, TREC-8 QA track 1999"
    ),
    "NDCG": Definition(
        _ndcg,
        "Σ_{i≤k} hit(i)/log2(i+1) / Σ_{i≤m} 1/log2(i+1), m = min(R, k); ideal=retrieved: m = hits",
        {"ideal": ("relevant", "retrieved")},
        "Järvelin, Kekäläinen 2002, with the discount of Burges et al. 2005",
    ),
}
