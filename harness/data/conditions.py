"""Which rows of a table are events: conditions on its columns, `where` in a config."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl

from harness.core.errors import in_toml

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_EPOCH, _TICK, _DAY_US = datetime(1970, 1, 1), timedelta(microseconds=1), 86_400_000_000
_KEYS = {"not", "min", "above", "max", "empty"}
BOOLEANS = {
    word: number
    for words, number in (("true yes", "1"), ("false no", "0"))
    for word in (*words.split(), *words.title().split(), *words.upper().split())
}
"""What text files write for 1 and 0."""


@dataclass(frozen=True)
class Condition:
    """What a column must hold, so that its row is an event.

    One of the texts `among`, where there are any. Else a number from `low` (itself too, unless
    `above`) to `high`, a time from `since` to `until` (microseconds since 1970, both included), a
    text that is none of `without`. Where `empty` is True, nothing too; where False, something.
    """

    column: str
    value: Any = field(compare=False)  # as a config has it
    among: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    without: tuple[str, ...] = ()
    empty: bool | None = None
    above: bool = False
    since: int | None = None
    until: int | None = None

    @property
    def bounds(self) -> bool:
        """Whether the column must hold numbers."""
        return (self.low, self.high) != (-math.inf, math.inf)

    @property
    def of_time(self) -> bool:
        """Whether it bounds times."""
        return self.since is not None or self.until is not None

    def __str__(self) -> str:
        """Return it as a config has it.

        >>> print(*conditions({"sale price": {"min": 0.5}, "user": {"not": "NULL"}}), sep=", ")
        "sale price" = { min = 0.5 }, user = { not = ["NULL"] }
        """
        return f"{key(self.column)} = {_in_toml(self.value)}"

    def holds(self, *, is_text: bool, strict: bool) -> pl.Expr:
        """Return the expression for the rows that hold it; see `all_hold`.

        Bounds of times are not looked at: they are bounded when they have been read.
        """
        column = pl.col(self.column)
        if self.among:
            return column.cast(pl.String).is_in(list(self.among)).fill_null(False)
        held = pl.lit(True)
        if self.empty is False or self.without:
            texts = list(self.without)
            if not self.empty:
                texts.append("" if is_text else "NaN")
            held = ~column.cast(pl.String).is_in(texts).fill_null(not self.empty)
        if self.bounds:
            nothing = ["", *self.without]
            filled = column.replace(nothing, [None] * len(nothing)) if is_text else column
            number = as_number(filled, is_text=is_text, strict=strict)
            number = number.fill_nan(None)
            low = number <= self.low if self.above else number < self.low
            held = held & ~(low | (number > self.high)).fill_null(not self.empty)
        return held

    def narrowed(self, more: Condition) -> Condition | None:
        """Return a condition that also leaves out the texts or the times that `more` does.

        None where a list of texts that are kept cannot say so.
        """
        if self.among:
            texts = [text for text in self.among if text not in more.without]
            return condition(self.column, texts) if texts and not more.of_time else None
        value = self.value | more.value
        if more.without:
            value["not"] = [*self.without, *more.without]
        # A text that is none of some is not nothing; a time is not, nor above a number.
        dropped = ["above"] * more.of_time + ["empty"] * (self.empty is more.of_time)
        kept = {name: bound for name, bound in value.items() if name not in dropped}
        return condition(self.column, kept)


def as_number(column: pl.Expr, *, is_text: bool, strict: bool = False) -> pl.Expr:
    """Return the numbers of a column, true and false as 1 and 0; null of other texts."""
    return (column.replace(BOOLEANS) if is_text else column).cast(pl.Float64, strict=strict)


def all_hold(
    conditions: Sequence[Condition], kinds: Mapping[str, pl.DataType], *, strict: bool = True
) -> pl.Expr:
    """Return the expression for the rows that hold every condition.

    In a column of text, by `kinds`, an empty one is an empty cell. Where `strict`, bounds raise if
    another text is no number.
    """
    held = [c.holds(is_text=kinds[c.column] == pl.String, strict=strict) for c in conditions]
    return pl.all_horizontal([pl.lit(True), *held])


def where_to_write(conditions: Sequence[Condition], more: Sequence[Condition]) -> str:
    """Return ``where`` with further conditions, and where it is to be written.

    Of conditions on one column the new one holds.

    >>> where_to_write([condition("a", {"min": 1})], [condition("b", {"empty": False})])
    'where = { a = { min = 1 }, b = { empty = false } } under [data], instead of the one there,'
    """
    every = {condition.column: condition for condition in (*conditions, *more)}
    place = "under [data]" + ", instead of the one there," * bool(conditions)
    return f"where = {{ {', '.join(map(str, every.values()))} }} {place}"


def conditions(where: Mapping[str, object]) -> tuple[Condition, ...]:
    """Return the conditions of a config, by column; ValueError where one is none."""
    if not isinstance(where, Mapping):
        raise ValueError(
            f'is {in_toml(where)}; expected columns and their values, such as {{"price": '
            '{"min": 1}}'
        )
    return tuple(condition(column, where[column]) for column in sorted(where))


def condition(column: str, wanted: Any) -> Condition:
    """Return the condition on a column; ValueError where it is none."""
    if texts := _texts_of(wanted):
        return Condition(column, list(texts), texts)
    fields = wanted if isinstance(wanted, dict) else {}
    value = {name: bound for name, bound in fields.items() if bound is not None}
    bounds = {name: bound for name, bound in value.items() if name not in ("not", "empty")}
    without, empty = _texts_of(value.get("not", [])), value.get("empty")
    of_time = any(isinstance(bound, date) for bound in bounds.values())
    is_meant = (
        fields.keys() <= _KEYS
        and ("not" in fields) == bool(without)
        and ("empty" not in fields or isinstance(empty, bool))
        and not {"above", "min"} <= bounds.keys()
        and not (of_time and (empty or "above" in bounds))
        and (without or bounds or empty is False)
        and all(map(_is_bound, bounds.values()))
    )
    if not is_meant:
        raise ValueError(
            f"{key(column)}: found {in_toml(wanted)}; expected a text or a list of texts, "
            f'such as {key(column)} = ["a", "b"], texts to leave out, such as {{ not = ["NULL"] '
            f"}}, bounds of a number, such as {key(column)} = {{ min = 1, max = 5 }} or {{ above = "
            "0, empty = true }, or { empty = false }"
        )
    low, high = bounds.get("above", bounds.get("min", -math.inf)), bounds.get("max", math.inf)
    held = Condition(
        column,
        value | ({"not": list(without)} if without else {}),
        low=-math.inf if isinstance(low, date) else float(low),
        high=math.inf if isinstance(high, date) else float(high),
        without=without,
        empty=empty,
        above="above" in bounds,
        since=_moment(low) if isinstance(low, date) else None,
        until=_moment(high, last=True) if isinstance(high, date) else None,
    )
    late = held.since is not None and held.until is not None and held.since > held.until
    if late or held.low > held.high or (held.above and held.low == held.high):
        raise ValueError(
            f"{key(column)}: no value is within {in_toml(bounds)}, so no row would be left"
        )
    return held


def _texts_of(wanted: Any) -> tuple[str, ...]:
    """Return the text or the texts that a value is; none where it is anything else."""
    texts = wanted if isinstance(wanted, list) else [wanted]
    are_texts = all(isinstance(text, str) and text for text in texts)
    return tuple(dict.fromkeys(texts)) if are_texts else ()


def _moment(bound: date, *, last: bool = False) -> int:
    """Return a date as microseconds since 1970: of a day its first moment, or its `last`."""
    if not isinstance(bound, datetime):
        days = (bound - _EPOCH.date()).days
        return (days + 1) * _DAY_US - 1 if last else days * _DAY_US
    naive = bound if bound.tzinfo is None else bound.astimezone(UTC).replace(tzinfo=None)
    return (naive - _EPOCH) // _TICK


def _is_bound(bound: object) -> bool:
    if isinstance(bound, bool) or not isinstance(bound, int | float | date):
        return False
    # A whole number may be larger than any float.
    return isinstance(bound, date) or abs(bound) <= sys.float_info.max


def key(column: str) -> str:
    """Return a column as a key of TOML, in quotes where it needs them."""
    return column if _BARE.fullmatch(column) else json.dumps(column, ensure_ascii=False)


def _in_toml(value: Any) -> str:
    """Return a value of a condition in TOML, which wants one sign more than JSON to be escaped."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_in_toml(bound)}' for name, bound in value.items())} }}"
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value).removesuffix(".0") if isinstance(value, float) else in_toml(value)
