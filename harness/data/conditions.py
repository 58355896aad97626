"""Which rows of a table are events: conditions on its columns, `where` in a config."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from harness.core.errors import in_toml

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Condition:
    """What a column must hold, so that its row is an event; an empty cell holds nothing.

    Attributes
    ----------
    among : tuple of str
        One of these texts, where there are any.
    low, high : float
        Else a number within these, both included.
    filled : bool
        Anything in their place, so that the cell is not empty.
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

    def holds(self, *, is_text: bool, strict: bool) -> pl.Expr:
        """Return the expression for the rows that hold it; see `all_hold`."""
        column = pl.col(self.column)
        if self.among:
            held = column.cast(pl.String).is_in(list(self.among))
        elif self.filled:
            held = column.cast(pl.String) != ("" if is_text else "NaN")
        else:
            filled = column.replace("", None) if is_text else column
            number = filled.cast(pl.Float64, strict=strict)
            held = number.is_between(self.low, self.high) & ~number.is_nan()
        return held.fill_null(False)


def all_hold(
    conditions: Sequence[Condition], kinds: Mapping[str, pl.DataType], *, strict: bool = True
) -> pl.Expr:
    """Return the expression for the rows that hold every condition.

    Parameters
    ----------
    kinds : mapping of column to Polars type
        In a column of text an empty one is an empty cell.
    strict : bool
        Whether bounds raise where another text is no number.
    """
    held = (c.holds(is_text=kinds[c.column] == pl.String, strict=strict) for c in conditions)
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


def _condition(column: str, wanted: Any) -> Condition:
    texts = wanted if isinstance(wanted, list) else [wanted]
    if texts and all(isinstance(text, str) and text for text in texts):
        return Condition(column, tuple(dict.fromkeys(texts)))
    if wanted == {"empty": False}:
        return Condition(column, filled=True)
    if isinstance(wanted, dict) and wanted and wanted.keys() <= {"min", "max"}:
        bounds = {name: bound for name, bound in wanted.items() if bound is not None}
        if all(map(_is_number, bounds.values())):
            low, high = float(bounds.get("min", -math.inf)), float(bounds.get("max", math.inf))
            if low > high:
                raise ValueError(
                    f"where {key(column)}: min = {low:g} is above max = {high:g}, so no row would "
                    "be left"
                )
            return Condition(column, low=low, high=high)
    raise ValueError(
        f"where {key(column)}: found {in_toml(wanted)}; expected a text or a list of texts, such "
        f'as {key(column)} = ["a", "b"], bounds of a number, such as {key(column)} = '
        "{ min = 1, max = 5 }, or { empty = false }"
    )


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
