"""Figures as text: decimals enough to be read, and no more."""

from __future__ import annotations

from collections.abc import Iterable

MISSING = "–"


def digits_of(values: Iterable[float]) -> int:
    """Return decimals enough to tell the smallest value from 0, at least 4 and at most 7.

    Examples
    --------
    >>> digits_of([0.05, 0.0039]), digits_of([0.05, -0.00004]), digits_of([0])
    (4, 6, 4)
    """
    smallest = min((abs(value) for value in values if value != 0), default=1.0)
    digits = 4
    while digits < 7 and smallest < 20 * 10**-digits:
        digits += 1
    return digits


def number(value: float | None, digits: int) -> str:
    """Return a number with so many decimals; nothing for None."""
    return "" if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int) -> str:
    """Return a number with its sign."""
    return "" if value is None else f"{value:+.{digits}f}"


def ends(bounds: tuple[float, float] | None, digits: int) -> str:
    """Return an interval."""
    return "" if bounds is None else " … ".join(number(end, digits) for end in bounds)


def lift(times: float) -> str:
    """Return how many times chance a figure is.

    Examples
    --------
    >>> lift(12.345), lift(12345.6), lift(float("nan"))
    ('12.3', '12,346', '–')
    """
    if times != times:
        return MISSING
    return f"{times:.1f}" if times < 1000 else f"{times:,.0f}"


def percent(share: float) -> str:
    """Return a share of 1 as per cent: whole above ten, else with a decimal.

    Examples
    --------
    >>> percent(0.4079), percent(0.0005), percent(0.00004), percent(0), percent(0.9996)
    ('41 %', '0.1 %', '<0.1 %', '0 %', '>99.9 %')
    """
    if 0 < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    decimal = 0.0005 <= share < 0.0995 or 0.9905 <= share < 1
    return f"{share * 100:.{1 if decimal else 0}f} %"


def p_value(p: float | None) -> str:
    """Return a p value; below 0.0001 only that it is.

    Examples
    --------
    >>> p_value(0.00002), p_value(0.04321), p_value(None)
    ('<0.0001', '0.0432', '–')
    """
    if p is None:
        return MISSING
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"
