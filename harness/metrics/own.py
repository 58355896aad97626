"""A user's own metric: one function of (hits, n_relevant, k), named by import path."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageError, printable
from harness.metrics.accuracy import Settings
from harness.metrics.block import Block
from harness.metrics.definition import Better, Definition
from harness.metrics.tally import Floats

LARGEST_MARK = 1e90
"""Beyond it the third powers of marks could not be added up."""


def own_definition(name: str, folder: Path) -> Definition:
    """Return the definition of the function that ``module:function`` names.

    The function is called once a user with `hits`, a bool array of k places (a hit or not, best
    place first), `n_relevant`, how many true items the user has, and `k`; it returns a number.
    Its attribute ``better``, where it has one, says which values are better: ``higher``, as without
    it, ``lower`` or ``neither``.

    Raises
    ------
    UsageError
        No such module or function, or a ``better`` that is none of these words.
    """
    from harness import plugins  # its imports are heavy, and few have metrics of their own

    function = plugins.function(f'metric "{name}"', name, folder)
    summary = (function.__doc__ or "").strip().partition("\n")[0]
    formula, endless = _formula(name, function), (-math.inf, math.inf)
    better = _better(name, function)
    return Definition(formula, summary, name, (), range=endless, better=better)


def _better(name: str, function: Callable[..., Any]) -> Better:
    better: Better = getattr(function, "better", "higher")
    if better not in get_args(Better):
        raise UsageError(
            f'metric "{name}": its attribute better is "{printable(str(better))}"; allowed: '
            f"{', '.join(get_args(Better))}"
        )
    return better


def _formula(name: str, function: Callable[..., Any]) -> Callable[[Block, Settings], Floats]:
    def formula(b: Block, _: Settings) -> Floats:
        ends = np.cumsum(np.bincount(b.found.user, minlength=len(b)))[:-1]
        ranks = np.split(b.found.rank, ends)
        relevant = b.key.relevant.tolist()
        return np.array(
            [
                _call(name, function, _hits(own, b.k), r, b.k)
                for own, r in zip(ranks, relevant, strict=True)
            ],
            np.float64,
        )

    return formula


def _hits(ranks: NDArray[np.int32], k: int) -> NDArray[np.bool_]:
    """Return which of k places hit."""
    hits = np.zeros(k, np.bool_)
    hits[ranks - 1] = True
    hits.setflags(write=False)
    return hits


def _call(name: str, function: Callable[..., Any], hits: Any, relevant: int, k: int) -> float:
    from harness import plugins

    given = f"(hits={np.flatnonzero(hits) + 1} as ranks, n_relevant={relevant}, k={k})"
    try:
        value = function(hits, relevant, k)
    except BaseException as error:  # a stranger's code may raise anything
        plugins.raise_interrupt(error)
        raise UsageError(f'metric "{name}" raised for {given}: {plugins.told(error)}') from error
    number = isinstance(value, (int, float, np.number, np.bool_))
    if not number or not abs(float(value)) <= LARGEST_MARK:
        raise UsageError(
            f'metric "{name}" returned {value!r} for {given}; expected a finite number, at '
            f"most {LARGEST_MARK:g}"
        )
    return float(value)
