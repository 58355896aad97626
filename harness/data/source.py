"""One file of a table, whatever it is stored in: its columns as text, or its rows as events."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Bool, Floats, Int64, UInt64
from harness.core.errors import DataError, counted, suggest
from harness.core.ids import Lines
from harness.data import times
from harness.data.conditions import Condition, as_number, where_to_write
from harness.data.layout import LISTS, EventTable, Table

_SHOWN = 60
_SEPARATORS = ("::", ";", "\t", "|", ",")
_EXCEL = re.compile("sep=.", re.IGNORECASE)
"""The line that Excel may write before the header, to say what stands between fields."""


class Met(NamedTuple):
    """The ids of some rows.

    Attributes
    ----------
    keys : uint64 array, (rows, 2)
        Equal ids of a file have equal keys.
    texts : callable
        Takes rows and returns their ids.
    """

    keys: UInt64
    texts: Callable[[Int64], pl.Series | Lines]


class Labels(NamedTuple):
    """Texts of which there are few.

    Attributes
    ----------
    codes : integer array, one a row
        Which of the names.
    names : list of str
    """

    codes: npt.NDArray[Any]
    names: list[str]


class Piece(NamedTuple):
    """Some rows of a file.

    Attributes
    ----------
    places : int64 array, optional
        The line of each, from 1; None: rows stand in the file one behind the other.
    left_out : int
        Lines between them that are left out.
    """

    frame: pl.DataFrame
    places: Int64 | None = None
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a file, as events.

    Attributes
    ----------
    time : int64 array
        Microseconds since 1970.
    row : int64 array, optional
        The row in the file, from 0, where the table is to be numbered.
    left_out : int
        Rows that do not hold the conditions, which the others do not have.
    bytes : int
        Of text that they were read from.
    kind : Labels, optional
        The event types, where the table has a column of them.
    value : float64 array, optional
        Where events have values.
    watched : mapping of column to float64 array
        The numbers of columns that are watched: NaN where nothing stands, infinity where a text
        is no number.
    """

    user: Met
    item: Met
    time: Int64
    row: Int64 | None
    left_out: int
    bytes: int = 0
    kind: Labels | None = None
    value: Floats | None = None
    watched: Mapping[str, Floats] = field(default_factory=dict)

    def within(self, since: int | None, until: int | None) -> Batch:
        """Return the same without the events before or after a time; they are left out."""
        keep = np.ones(len(self.time), np.bool_)
        if since is not None:
            keep &= self.time >= since
        if until is not None:
            keep &= self.time <= until
        if keep.all():
            return self
        rows = np.flatnonzero(keep)
        user, item = (
            Met(met.keys[rows], partial(lambda texts, some: texts(rows[some]), met.texts))
            for met in (self.user, self.item)
        )
        return replace(
            self,
            user=user,
            item=item,
            time=self.time[rows],
            row=None if self.row is None else self.row[rows],
            left_out=self.left_out + len(keep) - len(rows),
            kind=self.kind and Labels(self.kind.codes[rows], self.kind.names),
            value=None if self.value is None else self.value[rows],
            watched={name: numbers[rows] for name, numbers in self.watched.items()},
        )


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

    @property
    def holds_ids(self) -> bool:
        """Whether the column's texts are what tells its rows apart."""
        return self.required and self.parse is None

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
        return f', column "{self.column}": found {_printable(value)}, expected {expected}{hint}'


def _other_separators(table: Table, line: str) -> list[str]:
    """Return what else may stand between the fields of a line."""
    return [sign for sign in _SEPARATORS if sign in line and sign != table.separator]


def _separated(separator: str, table: Table) -> str:
    """Return how to say what stands between the fields of a table."""
    if table.key == LISTS:
        return "save the file with commas between fields"
    key = json.dumps(separator)  # TOML writes it so too
    says = f"set separator = {key} {table.place}"
    if table.key == "events":
        return f"{says} (or --set 'data.separator={key}')"
    return says if table.key else (f"{says}; or save the file with this separator")


def miscounted(table: Table, first: Sequence[str], names: Sequence[str]) -> str:
    """Return what is said of line 1 where it has another number of fields than it has names."""
    named = f"{table.named('header')} names {len(names)} ({', '.join(names)})"
    told = f" has {counted(len(first), 'field')}, but {named}; "
    line = table.separator.join(first)
    others = _other_separators(table, line)
    exact = [sign for sign in others if line.count(sign) + 1 == len(names)]
    if exact and len(first) < len(names):
        cure = _separated(exact[0], table)
        return f"{told}separated by {json.dumps(exact[0])} they are {len(names)}: {cure}"
    if len(first) > 1:
        return f"{told}name every column, in file order"
    found = json.dumps(table.separator)
    return f"{told}check the separator, which is not {found}, or name every column"


def unnamed(table: Table) -> str:
    """Return what to do where the first line of a table is no header."""
    if table.key == LISTS:
        return "if the file has no header line, write one, such as user,items"
    where = f'name its columns: header = ["…", "…"] {table.place}'
    return f"if the file has no header line, {where}"


def rows_key(column: str) -> str:
    """Return how to say that a column holds lists of rows.

    Examples
    --------
    >>> rows_key("events")
    'rows = "events" under [data]'
    """
    return f"rows = {json.dumps(column, ensure_ascii=False)} under [data]"


def _printable(value: str | None) -> str:
    if not value:
        return "an empty value"
    cut = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return f'"{cut}"' if cut.isprintable() else repr(cut)


def id_rule(column: str) -> FieldRule:
    """Return what a column of ids must hold."""
    return FieldRule(column, "an id", None, True)


def event_id_rule(column: str, where: Sequence[Condition] = ()) -> FieldRule:
    """Return what a column of ids of events must hold, whose rows may be left out."""
    return FieldRule(column, "an id", None, True, _without_empty(column, where))


def kind_rule(column: str, where: Sequence[Condition] = ()) -> FieldRule:
    """Return what a column of event types must hold."""
    return FieldRule(column, "an event type", None, True, _without_empty(column, where))


def number_rule(
    column: str, without: Sequence[str] = (), where: Sequence[Condition] = ()
) -> FieldRule:
    """Return what a column that is bounded must hold, if anything.

    Texts that are left out need be no numbers.
    """
    number = as_number(pl.col(column).replace(list(without), "0"), is_text=True)
    return FieldRule(column, "a number", number, False, if_unread=_left_out(column, where))


def value_rule(column: str, where: Sequence[Condition] = ()) -> FieldRule:
    """Return what a column of values must hold."""
    number = as_number(pl.col(column), is_text=True)
    finite = pl.when(number.is_finite()).then(number)
    old = _condition_on(column, where)
    kept = replace(old, empty=False) if old.bounds else replace(old, low=0, empty=False)
    within = _without(kept, where)  # no NaN is, whatever it is written as
    return FieldRule(column, "a number", finite, True, within, _left_out(column, where))


def _condition_on(column: str, where: Sequence[Condition]) -> Condition:
    return next((one for one in where if one.column == column), Condition(column))


def _without_empty(column: str, where: Sequence[Condition]) -> str:
    return _without(replace(_condition_on(column, where), filled=True, empty=False), where)


def _without(kept: Condition, where: Sequence[Condition]) -> str:
    return f"; {where_to_write(where, kept)} leaves such rows out"


def _left_out(column: str, where: Sequence[Condition]) -> str:
    """Return how rows are left out whose text is no number, which bounds do not do."""
    kept = where_to_write(where, Condition(column, ("1", "2.5"))).removesuffix(",")
    return f"; fix it, or list the texts of the rows to keep: {kept}"


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
    without_empty = _without_empty(column, where)
    return FieldRule(column, expects(), parse, required, without_empty, expects=expects)


class Source(ABC):
    """One file of a table.

    Attributes
    ----------
    shown : Path
        The file as the user knows it, perhaps packed.
    names : list of str
        The columns in file order, each once.
    kinds : mapping of column to Polars type
        Of columns that have types.
    """

    table: Table
    shown: Path
    names: list[str]
    kinds: Mapping[str, pl.DataType] = MappingProxyType({})
    header, holder = "line 1: ", "the file"

    def require(self, columns: tuple[str, ...]) -> None:
        """Raise DataError where one of `columns` is missing; show those there are."""
        for name in columns:
            if name not in self.names:
                hint = self._hint(name, columns)
                raise DataError(
                    f'{self.shown}: {self.header}no column "{name}"; '
                    f"{self.holder} has: {', '.join(self.names)}" + (f"\n{hint}" if hint else "")
                )

    def _hint(self, name: str, columns: tuple[str, ...]) -> str:
        """Return what to do where a column is missing, beside reading which there are."""
        first = self.table.separator.join(self.names)
        if _EXCEL.fullmatch(first):
            return (
                f"Excel wrote line 1, {first!r}: remove it, and {_separated(first[-1], self.table)}"
            )
        others = _other_separators(self.table, first)
        if len(self.names) == 1 and others:
            return f"the separator seems to be another: {_separated(others[0], self.table)}"
        near = self._nearest(name)
        if near or set(columns) & set(self.names) or self.table.header is not None:
            return near
        return unnamed(self.table)

    def _nearest(self, name: str) -> str:
        """Return the column that may be meant; empty where none is like it, or has it in lists."""
        for column, kind in self.kinds.items():
            records = kind.inner if isinstance(kind, pl.List) else None
            if isinstance(records, pl.Struct) and name in (field.name for field in records.fields):
                return (
                    f'it is a field in the lists of "{column}": {rows_key(column)} makes '
                    "rows of them"
                )
        hint = suggest(name, self.names)
        return hint if hint.startswith("did you mean") else ""

    def pattern(self, column: str, time_format: str) -> str | None:
        """Return how the times of a column are written, by the first; None: as numbers."""
        if time_format in times.EPOCH_UNITS_US:
            return None
        return times.pattern_of_first(time_format, self.first(column, times.FIRST))

    @abstractmethod
    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""

    @abstractmethod
    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows, with some of the columns.

        Raises
        ------
        DataError
            They cannot be read.
        """

    @abstractmethod
    def about(self) -> int:
        """Return how many rows there are, more or less, without reading them."""

    @abstractmethod
    def whole(self) -> pl.DataFrame:
        """Return all columns; those of a text file are text, and null where nothing stands."""

    @abstractmethod
    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text, null where nothing stands.

        Raises
        ------
        DataError
            A row that is not whole, or the first value that is not what a rule says.
        """

    @abstractmethod
    def events(self, table: EventTable, secret: UInt64) -> Iterator[Batch]:
        """Yield the rows as events, in batches; keys are made with a secret.

        Raises
        ------
        DataError
            A row with too few or too many fields, an empty id, a time or number that cannot be
            read; the message names file, line, column and value.
        """


MOST_LABELS = 255
"""Event types of a log."""
_FIRST_LABELS = 5


def too_many_labels(shown: object, column: str, names: Sequence[str]) -> str:
    """Return what is said of a column that is hardly one of event types."""
    first = ", ".join(_printable(name) for name in names[:_FIRST_LABELS])
    return (
        f'{shown}: column "{column}" holds more than {MOST_LABELS} event types ({first}, …); '
        "name the column of event types as [data] kind"
    )


def nulled(texts: pl.Series) -> pl.Series:
    """Return texts, null where nothing stands."""
    return texts.set((texts == "").fill_null(False), None)
