"""Which rows of a table are events: conditions on its columns, `where` in a config."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from harness.core.errors import in_toml

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BOUNDS = ("min", "max")


@dataclass(frozen=True)
class Condition:
    """What a column must hold, so that its row is an event; an empty cell holds nothing.

    Attributes
    ----------
    among : tuple of str
        One of these texts, where there are any.
    filled : bool
        Else anything, so that the cell is not empty.
    low, high : float
        Else a number within these, both included.
    """

    column: str
    among: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    filled: bool = False

    @property
    def bounds(self) -> bool:
        """Whether the column must hold numbers."""
        return not self.among and not self.filled

    def __str__(self) -> str:
        """Return it as a note tells it.

        Examples
        --------
        >>> str(Condition("event", ("view", "sale"))), str(Condition("price", low=0.5))
        ('event = view or sale', 'price >= 0.5')
        >>> str(Condition("user", filled=True))
        'user is not empty'
        """
        if self.among:
            return f"{self.column} = {' or '.join(self.among)}"
        if self.filled:
            return f"{self.column} is not empty"
        low, high = (repr(bound).removesuffix(".0") for bound in (self.low, self.high))
        if self.high == math.inf:
            return f"{self.column} >= {low}"
        least = "" if self.low == -math.inf else f"{low} <= "
        return f"{least}{self.column} <= {high}"

    def holds(self, *, is_text: bool, strict: bool = True) -> pl.Expr:
        """Return the expression for the rows that hold it.

        Parameters
        ----------
        is_text : bool
            Whether the column is of text, where an empty one is an empty cell.
        strict : bool
            Whether another text that is no number raises.
        """
        if self.among:
            return pl.col(self.column).cast(pl.String).is_in(list(self.among)).fill_null(False)
        column = pl.col(self.column)
        if self.filled:
            text = column.cast(pl.String)
            return (text != ("" if is_text else "NaN")).fill_null(False)
        column = column.replace("", None) if is_text else column
        number = column.cast(pl.Float64, strict=strict)
        return (number.is_between(self.low, self.high) & ~number.is_nan()).fill_null(False)


def all_hold(
    conditions: Sequence[Condition], kinds: Mapping[str, pl.DataType], *, strict: bool = True
) -> pl.Expr:
    """Return the expression for the rows that hold every condition.

    Parameters
    ----------
    kinds : mapping of column to Polars type
    """
    held = (one.holds(is_text=kinds[one.column] == pl.String, strict=strict) for one in conditions)
    return pl.all_horizontal(pl.lit(True), *held)


def conditions(where: Mapping[str, object]) -> tuple[Condition, ...]:
    """Return the conditions of a config, by column.

    Raises
    ------
    ValueError
        One that is none.

    Examples
    --------
    >>> [str(one) for one in conditions({"price": {"min": 1, "max": 9}, "event": "view"})]
    ['event = view', '1 <= price <= 9']
    """
    if not isinstance(where, Mapping):
        raise ValueError(
            f"where is {in_toml(where)}; expected columns and what they hold, such as "
            '{"price": {"min": 1}}'
        )
    return tuple(_condition(column, where[column]) for column in sorted(where))


def _condition(column: str, wanted: object) -> Condition:
    given = wanted if isinstance(wanted, list) else [wanted]
    texts = [text for text in given if isinstance(text, str) and text]
    if texts and len(texts) == len(given):
        return Condition(column, tuple(dict.fromkeys(texts)))
    if wanted == {"empty": False}:
        return Condition(column, filled=True)
    if isinstance(wanted, dict) and wanted and set(wanted) <= set(_BOUNDS):
        low, high = (wanted.get(name) for name in _BOUNDS)
        if all(bound is None or _is_number(bound) for bound in (low, high)):
            return _between(column, low, high)
    raise ValueError(
        f"where {key(column)}: found {in_toml(wanted)}; expected a text or a list of texts, such "
        f'as {key(column)} = ["a", "b"], bounds of a number, such as {key(column)} = '
        "{ min = 1, max = 5 }, or { empty = false }"
    )


def _between(column: str, low: float | None, high: float | None) -> Condition:
    found = Condition(
        column,
        low=-math.inf if low is None else float(low),
        high=math.inf if high is None else float(high),
    )
    if found.low > found.high:
        raise ValueError(
            f"where {key(column)}: min = {low:g} is above max = {high:g}, so no row would be left"
        )
    return found


def _is_number(bound: object) -> bool:
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        return False
    return abs(bound) <= sys.float_info.max  # a whole number may be larger than any float


def key(column: str) -> str:
    """Return a column as a key of TOML.

    Examples
    --------
    >>> key("price"), key("sale price")
    ('price', '"sale price"')
    """
    return column if _BARE.fullmatch(column) else json.dumps(column, ensure_ascii=False)
