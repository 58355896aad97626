"""What the columns of a table must hold, and the first value that is something else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from harness.core.arrays import Bool
from harness.data import times
from harness.data.conditions import Condition, all_hold, as_number, condition, where_to_write
from harness.data.layout import EventTable

_SHOWN = 60


@dataclass(frozen=True)
class FieldRule:
    """What a column must hold: text that is not empty where `required`, and that `parse` reads.

    `parse` makes null of what it cannot read; `if_empty` is what to do where nothing stands, and
    `if_unread` where something does. `expects` says of a value what `expected` says of any.
    """

    column: str
    expected: str
    parse: pl.Expr | None
    required: bool
    if_empty: str = ""
    if_unread: str = ""
    expects: Callable[[str], str] | None = None

    def bad(self, text: pl.Series) -> Bool:
        """Return which texts, null where nothing stands, are not what they should be."""
        bad: Bool = text.is_null().to_numpy() & self.required
        if self.parse is None:
            return bad
        unread: Bool = (self.parsed(text).is_null() & text.is_not_null()).to_numpy()
        return bad | unread

    def parsed(self, text: pl.Series) -> pl.Series:
        """Return what the texts are; null of what cannot be read."""
        parse = pl.col(self.column) if self.parse is None else self.parse
        return text.alias(self.column).to_frame().select(parse.alias("parsed"))["parsed"]

    def fault(self, value: str | None) -> str:
        """Return what is said of a value, behind the place where it stands."""
        nothing = not value or value.lower() == "nan"  # within no bounds either
        hint = self.if_empty if nothing else self.if_unread
        expected = self.expects(value) if self.expects and value else self.expected
        return f', column "{self.column}": found {shown(value)}, expected {expected}{hint}'


def bad_texts(
    frame: pl.DataFrame, rule: FieldRule, where: Sequence[Condition] = ()
) -> tuple[pl.Series, Bool]:
    """Return a column as text, and which of it are not what they should be.

    Rows that do not hold the conditions `where` may hold anything.
    """
    values = frame[rule.column]
    text = nulled(values.cast(pl.String))
    bad = rule.bad(text)
    if values.dtype != pl.String and not values.dtype.is_numeric():  # a time needs no parsing
        bad = text.is_null().to_numpy() & rule.required
    if rule.required and where:
        held = frame.select(all_hold(where, frame.schema, strict=False))
        bad = bad & held.to_series().to_numpy()
    return text, bad


def first_fault(
    frame: pl.DataFrame, rules: Sequence[FieldRule], where: Sequence[Condition] = ()
) -> tuple[int, str] | None:
    """Return the first row with a value that is not what it should be, and what is said of it.

    Of several in one row that of the first rule is told. `where` is as of `bad_texts`.
    """
    faults = []
    for number, rule in enumerate(rules):
        text, bad = bad_texts(frame, rule, where)
        if bad.any():
            row = int(bad.argmax())
            faults.append((row, number, rule.fault(text[row])))
    row, _, says = min(faults, default=(0, 0, ""))
    return (row, says) if faults else None


def nulled(texts: pl.Series) -> pl.Series:
    """Return texts, null where nothing stands."""
    return texts.set((texts == "").fill_null(False), None)


def shown(value: str | None) -> str:
    """Return a value as a message shows it, cut where it is long."""
    if not value:
        return "an empty value"
    cut = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return f'"{cut}"' if cut.isprintable() else repr(cut)


def rows_key(*columns: str) -> str:
    """Return how to say that columns hold lists of rows."""
    lists = columns[0] if len(columns) == 1 else columns
    return f"rows = {json.dumps(lists, ensure_ascii=False)} under [data]"


def id_rule(
    column: str, where: Sequence[Condition] | None = None, *, expected: str = "an id"
) -> FieldRule:
    """Return what a column of ids must hold, or of event types; `where` leaves out events."""
    hint = "" if where is None else _without_empty(column, where)
    return FieldRule(column, expected, None, True, hint)


def time_rule(
    column: str,
    time_format: str,
    pattern: str | None,
    *,
    required: bool,
    where: Sequence[Condition] = (),
) -> FieldRule:
    """Return what a column of times as text must hold."""
    parse = times.from_text(column, time_format, pattern)
    expects = partial(times.expected, time_format, pattern)
    hint = _without_empty(column, where)
    return FieldRule(column, expects(), parse, required, hint, expects=expects)


def rules_of(table: EventTable, kinds: Mapping[str, Any], pattern: str | None) -> list[FieldRule]:
    """Return what the columns of events must hold, in the order in which faults are told."""
    where, value = table.where, table.value
    rules = [id_rule(column, where) for column in (table.user, table.item)]
    if table.time is not None:
        typed = kinds[table.time].is_temporal()  # however numbers are to be read
        written = "iso" if typed else table.time_format
        rules.append(time_rule(table.time, written, pattern, required=True, where=where))
    if table.kind is not None:
        rules.append(id_rule(table.kind, where, expected="an event type"))
    if value is not None:
        number = as_number(pl.col(value), is_text=True)
        finite = pl.when(number.is_finite()).then(number)
        hint = _without_empty(value, where, is_number=True)
        rules.append(FieldRule(value, "a number", finite, True, hint, _left_out(value, where)))
    for column, without in ((each.column, each.without) for each in where if each.bounds):
        text = pl.col(column).replace(list(without), "0")  # those left out need be no numbers
        number, hint = as_number(text, is_text=True), _left_out(column, where)
        rules.append(FieldRule(column, "a number", number, False, if_unread=hint))
    return rules


def _without_empty(column: str, where: Sequence[Condition], *, is_number: bool = False) -> str:
    """Return how rows are left out in which nothing stands; NaN is within no bounds of numbers."""
    held = {each.column: each.value for each in where if not each.among}.get(column, {})
    if is_number:
        bounds = {name: bound for name, bound in held.items() if name != "empty"}
        value = bounds if bounds.keys() & {"min", "above", "max"} else {"min": 0, **bounds}
    else:
        value = {**held, "empty": False}
    return f"; {where_to_write(where, [condition(column, value)])} leaves such rows out"


def _left_out(column: str, where: Sequence[Condition]) -> str:
    """Return how rows are left out whose text is no number, which bounds do not do."""
    kept = where_to_write(where, [condition(column, ["1", "2.5"])]).removesuffix(",")
    return f"; fix it, or list the texts of the rows to keep: {kept}"
