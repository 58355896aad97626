"""p values of several tests, corrected for how many there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def holm(p: ArrayLike) -> Floats:
    """Return p values such that rejecting below α errs anywhere with a chance of at most α.

    Source: Holm 1979: the i-th smallest of m times m − i + 1, none below the one before it.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values, order, steps = _ordered(p)
    return _back(np.maximum.accumulate(values * steps[::-1]), order)


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Return p values such that of what is rejected below α, a share of α is false on average.

    Source: Benjamini and Hochberg 1995: the i-th smallest of m times m/i, none above the next.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    values, order, steps = _ordered(p)
    scaled = values * len(values) / steps
    return _back(np.minimum.accumulate(scaled[::-1])[::-1], order)


def _ordered(p: ArrayLike) -> tuple[Floats, NDArray[np.intp], Floats]:
    given = np.asarray(p, np.float64)
    order = np.argsort(given, kind="stable")
    return given[order], order, np.arange(1, len(given) + 1, dtype=np.float64)


def _back(values: Floats, order: NDArray[np.intp]) -> Floats:
    found = np.empty(len(values))
    found[order] = np.minimum(values, 1.0)
    return found


CORRECTIONS: dict[str, Callable[[ArrayLike], Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
}
