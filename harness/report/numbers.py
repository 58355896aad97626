"""Figures as text: decimals enough to be read, and no more."""

from __future__ import annotations

from collections.abc import Iterable


def number(value: float | None, digits: int) -> str:
    """Return a number with so many decimals; nothing for None."""
    return "" if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int) -> str:
    """Return a number with its sign."""
    return "" if value is None else f"{value:+.{digits}f}"


def ends(bounds: tuple[float, float] | None, digits: int) -> str:
    """Return an interval."""
    return "" if bounds is None else " … ".join(number(end, digits) for end in bounds)


def share(value: float | None) -> str:
    """Return a share as a percentage of three digits at most."""
    if value is None:
        return ""
    percent = 100 * value
    return f"{percent:.0f} %" if abs(percent) >= 99.95 else f"{percent:.1f} %"


def p_value(p: float) -> str:
    """Return a p value; below 0.0001 only that it is."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def digits_of(values: Iterable[float]) -> int:
    """Return decimals enough to tell the smallest value from 0, at least 4 and at most 7."""
    smallest = min((abs(value) for value in values if value != 0), default=1.0)
    digits = 4
    while digits < 7 and smallest < 20 * 10**-digits:
        digits += 1
    return digits
