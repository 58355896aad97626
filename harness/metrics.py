"""Metrics as text, and their formulas: a `Tally` of each user comes in, a value of each goes out.

`DEFINITIONS` and `DIVISORS` are the one place for what a metric is called, takes, means and cites.
The marking itself is in `harness.kernels`, the only module of the two that needs numba.
"""

import difflib
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageError

LARGEST = 2**31 - 1  # cut-offs and counts are int32

Floats = NDArray[np.float64]
Counts = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Tally:
    """What each user's list earned at one cut-off; the arrays have shape (n users,).

    hit(i) = 1 when place i holds a truth item that no place before it holds, and
    P(i) = (hits among the first i places)/i.
    """

    k: int
    """The cut-off, from 1."""
    precision_sum: Floats
    """Σ_{i≤k} P(i)·hit(i), the numerator of AP@k."""
    dcg: Floats
    """Σ_{i≤k} hit(i)/log2(i+1)."""
    hits: NDArray[np.int32]
    """Σ_{i≤k} hit(i)."""
    first_hit: NDArray[np.int32]
    """The rank of the first hit, from 1; 0 without a hit."""
    length: NDArray[np.int32]
    """L: the places up to k that are not empty."""
    relevant: NDArray[np.int32]
    """R: all truth items, those without a position among the candidates included."""


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


@dataclass(frozen=True)
class Metric:
    """A metric at a cut-off, e.g. ``Metric("MAP", 10, (("divisor", "trec"),))``.

    Parameters that have their default value are left out, so equal metrics compare equal and
    ``str`` gives the one text that `parse` reads back.

    Raises
    ------
    harness.errors.UsageError
        For a name, parameter, value or cut-off that does not exist, with the nearest that does.

    Examples
    --------
    >>> str(Metric("MAP", 12, (("divisor", "kaggle"),)))
    'MAP@12'
    """

    name: str
    k: int
    params: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_cut_off(self.name, self.k)
        allowed = DEFINITIONS[self.name].params
        for param, value in self.params:
            _check_param(self.name, param, value)
        if len(dict(self.params)) < len(self.params):
            raise UsageError(f"metric {self.name}: a parameter is given twice")
        kept = {param: value for param, value in self.params if value != allowed[param][0]}
        object.__setattr__(self, "params", tuple(sorted(kept.items())))

    def __str__(self) -> str:
        params = ",".join(f"{param}={value}" for param, value in self.params)
        return f"{self.name}({params})@{self.k}" if params else f"{self.name}@{self.k}"

    @property
    def settings(self) -> dict[str, str]:
        """Every parameter with its value, defaults included."""
        defaults = {param: values[0] for param, values in DEFINITIONS[self.name].params.items()}
        return defaults | dict(self.params)


def parse(text: str) -> Metric:
    """Read a metric such as ``MAP@12`` or ``MAP(divisor=trec)@10``.

    Raises
    ------
    harness.errors.UsageError
        When the text is no metric; the message says what is allowed and what comes nearest.

    Examples
    --------
    >>> parse("NDCG( ideal = retrieved )@10")
    Metric(name='NDCG', k=10, params=(('ideal', 'retrieved'),))
    """
    form = re.fullmatch(r"\s*([\w.-]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(-?[0-9]+))?\s*", text)
    if form is None:
        raise UsageError(f'"{text}" is not a metric; write one as MAP@12 or MAP(divisor=trec)@10')
    name, params, k = form.groups()
    _check_name(name)
    if k is None:
        raise UsageError(f'metric "{text}" has no cut-off; did you mean "{text.strip()}@10"?')
    if len(k) > len(str(LARGEST)):
        raise UsageError(_cut_off_message(name, k))
    return Metric(name, int(k), tuple(_split_params(text, params or "")))


def per_user(metric: Metric, tally: Tally) -> Floats:
    """Return the metric's value for every user of a tally, shape (n,), float64.

    Raises
    ------
    ValueError
        When the tally was made at another cut-off.

    Examples
    --------
    Two truth items, hits at ranks 1 and 3 of 3: AP@3 = (1 + 2/3)/2.

    >>> one = np.ones(1, np.int32)
    >>> tally = Tally(3, 5 / 3 * one, 1.5 * one, 2 * one, one, 3 * one, 2 * one)
    >>> per_user(parse("MAP@3"), tally).round(4).tolist()
    [0.8333]
    """
    if metric.k != tally.k:
        raise ValueError(f"{metric} needs a tally at k = {metric.k}, got one at k = {tally.k}")
    return DEFINITIONS[metric.name].formula(tally, metric.settings)


def apk(
    actual: Iterable[Hashable], predicted: Sequence[Hashable] | NDArray[Any], k: int = 10
) -> float:
    """Return AP@k of one list of any items: Σ_{i≤min(k,L)} P(i)·hit(i) / min(R, k).

    The signature of ``ml_metrics`` (benhamner/Metrics, ``average_precision.py``), and its values
    too, except that truth is a set: an item repeated in `actual` counts once.

    Raises
    ------
    ValueError
        For k below 1.

    Examples
    --------
    Hits at ranks 2 and 4 of three truth items: (1/2 + 2/4)/3.

    >>> round(apk(["A", "B", "F"], ["C", "B", "E", "A", "D"], k=5), 4)
    0.3333
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    truth = set(actual)
    found: set[Hashable] = set()
    precision_sum = 0.0
    for i, item in enumerate(predicted[:k], start=1):
        if item in truth and item not in found:
            found.add(item)
            precision_sum += len(found) / i
    return precision_sum / min(len(truth), k) if truth else 0.0


def mapk(
    actual: Collection[Iterable[Hashable]],
    predicted: Collection[Sequence[Hashable] | NDArray[Any]],
    k: int = 10,
) -> float:
    """Return MAP@k, the mean of `apk` over all users, those without truth included.

    Raises
    ------
    ValueError
        For k below 1, for no users, and for truth and lists of different numbers of users:
        ``ml_metrics`` would leave the surplus out.

    Examples
    --------
    >>> mapk([["a"], ["b"]], [["a"], ["x", "b"]])
    0.75
    """
    if len(actual) != len(predicted) or len(actual) == 0:
        raise ValueError(
            f"mapk needs one list per user and at least one user, got truth of {len(actual)} "
            f"and lists of {len(predicted)} users"
        )
    return float(np.mean([apk(a, p, k) for a, p in zip(actual, predicted, strict=True)]))


def discounts(places: int) -> Floats:
    """Return 1/log2(i+1) for the ranks i = 1 … places, shape (places,), float64.

    Source: Burges et al., Learning to Rank using Gradient Descent, ICML 2005.

    Examples
    --------
    >>> discounts(3).round(4).tolist()
    [1.0, 0.6309, 0.5]
    """
    return np.asarray(1.0 / np.log2(np.arange(2, places + 2)), np.float64)


def ideal_dcg(relevant: Counts, k: int) -> Floats:
    """Return Σ_{i≤min(R,k)} 1/log2(i+1) for each R, and 1 for R = 0, so that it can divide.

    Examples
    --------
    >>> ideal_dcg(np.array([0, 1, 5]), k=2).round(4).tolist()
    [1.0, 1.0, 1.6309]
    """
    filled = np.minimum(relevant, k)
    sums = np.cumsum(discounts(int(filled.max(initial=0))))
    return np.concatenate(([1.0], sums))[filled]


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


def _split_params(text: str, params: str) -> Iterable[tuple[str, str]]:
    """Yield the name and value of every ``name=value`` between the brackets."""
    for part in params.split(",") if params.strip() else ():
        param, equals, value = (piece.strip() for piece in part.partition("="))
        if not (param and equals and value):
            raise UsageError(f'metric "{text}": "{part.strip()}" is not of the form name=value')
        yield param, value


def _check_name(name: str) -> None:
    if name not in DEFINITIONS:
        raise UsageError(f'unknown metric "{name}"{_nearest(name, DEFINITIONS)}')


def _check_cut_off(name: str, k: int) -> None:
    if not 1 <= k <= LARGEST:
        raise UsageError(_cut_off_message(name, k))


def _cut_off_message(name: str, k: object) -> str:
    return f'metric "{name}@{k}": the cut-off must be from 1 to {LARGEST}, got {k}'


def _check_param(name: str, param: str, value: str) -> None:
    allowed = DEFINITIONS[name].params
    if not allowed:
        raise UsageError(f'metric {name} takes no parameters, got "{param}"; write "{name}@10"')
    if param not in allowed:
        raise UsageError(f'metric {name} has no parameter "{param}"{_nearest(param, allowed)}')
    if value not in allowed[param]:
        near = _nearest(value, allowed[param])
        raise UsageError(f'metric {name}: {param} cannot be "{value}"{near}')


def _nearest(word: str, allowed: Iterable[str]) -> str:
    """Return the end of a message: the likeliest spelling, if one is near, and what there is."""
    spelled = {known.lower(): known for known in allowed}
    near = difflib.get_close_matches(word.lower(), spelled, n=1, cutoff=0.5)
    guess = f'; did you mean "{spelled[near[0]]}"?' if near else ";"
    return f"{guess} allowed: {', '.join(spelled.values())}"
