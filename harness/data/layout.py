"""How a layout describes its files: which tables, and which of their columns say what."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from unicodedata import category

import polars as pl
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic.dataclasses import dataclass
from pydantic_core import ArgsKwargs

from harness.core.errors import UsageError, in_toml, suggest
from harness.core.given import is_given, no_file, shown
from harness.core.unpacking import SENT, Cap
from harness.data.conditions import Condition, conditions, key, where_to_write
from harness.data.times import TIME_FORMATS

LISTS = "lists"
"""The key of a table that is no log: nothing says how its text is written."""
Encoding = Literal["utf-8", "latin-1", "cp1252"]
BadLines = Literal["refuse", "drop"]
Escape = Literal["", "\\"]
ESCAPE = json.dumps("\\")
"""What may be an escape, as TOML has it."""
CandidateRule = Literal["catalogue", "shown", "train"]

CATALOG = "table:"
"""What a table of the session's catalog is named by."""
_REMOTE = re.compile(rf"{CATALOG}|[A-Za-z][A-Za-z0-9+.-]+:/")
_LONGEST_SEPARATOR = 8


def is_remote(name: str) -> bool:
    """Return whether Spark alone can read it: ``table:shop.sales``, ``s3a://shop/log.csv``."""
    return _REMOTE.match(name) is not None


def _separator(separator: str) -> str:
    """Raise ValueError where a text cannot stand between fields."""
    size = len(separator.encode())
    controls = (sign for sign in separator if sign != "\t" and category(sign) == "Cc")
    if (
        not 1 <= size <= _LONGEST_SEPARATOR
        or not set(separator).isdisjoint('"\r\n')
        or (size > 1 and any(controls))
    ):
        raise ValueError(
            f"is {separator!r}; expected one character, such as "
            f'"," or ";" or "\\t", or a text such as "::" of up to {_LONGEST_SEPARATOR} bytes, '
            "without quotes, ends of lines and control characters"
        )
    return separator


def _time_format(time_format: str) -> str:
    """Raise ValueError where a text says nothing about how times are written."""
    if time_format not in TIME_FORMATS and "%" not in time_format:
        raise ValueError(
            f"is {time_format!r}; allowed: {', '.join(TIME_FORMATS)}, or a pattern such as "
            '"%d.%m.%Y"'
        )
    return time_format


Name = Annotated[str, Field(min_length=1)]
Separator = Annotated[str, AfterValidator(_separator)]
TimeFormat = Annotated[str, AfterValidator(_time_format)]
_ListToo = BeforeValidator(lambda names: tuple(names) if isinstance(names, list) else names)
_Names = Annotated[tuple[str, ...], _ListToo]
_SETTINGS = ConfigDict(arbitrary_types_allowed=True, extra="forbid", strict=True)
_CALLS = {"EventTable": "events(…)", "AttributeTable": "attributes(…)", "Layout": "Layout(…)"}
"""What a layout's author writes, by the class that it makes."""
_MOST_SHOWN = 80


def _conditions(where: Any) -> tuple[Condition, ...]:
    """Return what is given as ``where``: as in a config, conditions already, or None."""
    if isinstance(where, tuple) and all(isinstance(each, Condition) for each in where):
        return where
    return conditions({} if where is None else where)


@dataclass(frozen=True, config=_SETTINGS)
class _Declared:
    """A declaration whose faults are told as a UsageError."""

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, values: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(values)
        except ValidationError as error:
            if not isinstance(values, ArgsKwargs):  # what holds it is told
                raise
            words = _in_words(error.errors()[0], values, cls)
            name = values.args[0] if values.args else (values.kwargs or {}).get(fields(cls)[0].name)
            is_name = isinstance(name, str | os.PathLike) and str(name)
            raise UsageError(f"{name if is_name else _CALLS[cls.__name__]}: {words}") from None


def _in_words(fault: Any, values: ArgsKwargs, declaration: type[_Declared]) -> str:
    """Return one fault of a declaration: the argument, what was found, what is allowed."""
    by_position = [each.name for each in fields(declaration) if not each.kw_only]
    allowed = [each.name for each in fields(declaration) if each.repr]
    place, *within = fault["loc"]
    value = _shortened(fault["input"])
    if fault["type"] == "unexpected_positional_argument":
        return f"{value} is one argument too many; {suggest('', allowed)}"
    if fault["type"] == "unexpected_keyword_argument":
        return f'no argument "{place}"; {suggest(place, allowed)}'
    name = by_position[place] if isinstance(place, int) else place
    if fault["type"] == "missing":
        return f"{name} is missing"
    name += "".join(f"[{index}]" for index in within)
    if fault["type"] == "value_error":
        return f"{name} {fault['ctx']['error']}"
    expected = re.sub(r"^\w+ should (be|have)", "expected", fault["msg"])
    if fault["type"] == "dataclass_exact_type":
        class_name = fault["ctx"]["class_name"]
        expected = f"expected {_CALLS.get(class_name, class_name)}"
    return f"{name} is {value}; {expected}"


def _shortened(value: object) -> str:
    """Return a value as a message shows it, of a long one the start."""
    text = in_toml(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


@dataclass(frozen=True, config=_SETTINGS)
class Table(_Declared):
    """A delimited or Parquet file, a folder of them, or one member in a .gz or .zip.

    Parameters
    ----------
    file : str
        Its name in the folder of the data: a file, a folder of files, a pattern such as
        ``logs/*.csv``, or a table of a database, ``shop.duckdb::orders``. ``file.gz`` and
        ``file.zip`` are taken when it is absent.
    separator : str
        What stands between fields of text; where it is longer than a byte, quotes are letters.
    header : sequence of str, optional
        Column names of a file that has no header line.
    encoding : {"utf-8", "latin-1", "cp1252"}
        Of text without a byte order mark.
    quote : bool
        Whether fields may stand in quotes; else quotes are letters.
    escape : str
        What makes a quote, a separator or itself behind it a letter; empty: nothing does.
    bad_lines : {"refuse", "drop"}
        What is done with lines that have damaged quotes, too few or too many fields.
    rows : sequence of str
        The columns whose lists hold the rows: one of records, or several of equal lengths.
    inherits_quote : bool
        Whether `quote` and `escape` are said of the events, and so hold for text alone.
    cap : Cap
        How much each file may unpack to.
    key : str
        Its key under ``[data]``; empty: a layout names it; `LISTS`: nothing does.
    frame : polars.DataFrame, optional
        What a name of a frame stands for; None where that was given to another process.
    """

    file: Annotated[
        Name,
        BeforeValidator(lambda file: os.fspath(file) if isinstance(file, os.PathLike) else file),
    ]
    _: KW_ONLY
    separator: Separator = ","
    header: _Names | None = None
    encoding: Encoding = "utf-8"
    quote: bool = True
    escape: Escape = ""
    bad_lines: BadLines = "refuse"
    rows: _Names = ()
    inherits_quote: bool = field(default=False, repr=False, compare=False)
    cap: Cap = field(default=SENT, repr=False, compare=False)
    key: str = field(default="", repr=False, compare=False)
    frame: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise UsageError where an escape cannot stand beside the separator."""
        size = len(self.separator.encode())
        if self.escape and not self.inherits_quote and (size > 1 or self.separator == self.escape):
            raise UsageError(
                f"{self.named('separator')} is {self.separator!r}; escape needs a separator of one "
                "byte"
            )

    def placed(self, folder: Path | str) -> Self:
        """Return the same in a folder, whose own name is text where it is remote."""
        if self.is_frame or self.remote:
            return self
        if isinstance(folder, str) and not self.file.startswith("/"):
            return replace(self, file=f"{folder.rstrip('/')}/{self.file}")
        return replace(self, file=str(Path(folder, self.file)))

    @property
    def place(self) -> str:
        """Where to say how its text is written, for messages: ``under [data]``."""
        if not self.key:
            return "in events(…) or attributes(…) of your layout"
        if self.key == "events":
            return "under [data]"
        return f'within {self.key} = {{ file = "{self.path.name}", … }} under [data]'

    def named(self, key: str) -> str:
        """Return a key that says how its text is written: ``[data] items.header``."""
        if not self.key:
            return f"the layout's {key}"
        return f"[data] {key}" if self.key == "events" else f"[data] {self.key}.{key}"

    @property
    def is_frame(self) -> bool:
        """Whether it is no file, but a frame that was given in Python."""
        return is_given(self.file)

    @property
    def remote(self) -> str:
        """Its name, where Spark alone can read it; empty for files of this machine."""
        return self.file if is_remote(self.file) else ""

    @property
    def name(self) -> str:
        """The name of a file or a frame, for messages."""
        return shown(self.file)

    @property
    def path(self) -> Path:
        """The same as a path."""
        return Path(self.name)

    @property
    def local(self) -> Path:
        """The path; UsageError where Spark alone can read it, or another process has the frame."""
        if self.is_frame and self.frame is None:
            raise no_file(self.file, "write it as Parquet, and name that file")
        if self.remote:
            raise UsageError(
                f"{self.remote}: only Spark reads this: harness run CONFIG --engine spark; other "
                "commands need a copy in local files"
            )
        return self.path

    @property
    def drop_bad_lines(self) -> bool:
        """Whether lines whose fields cannot be told are left out; else they are refused."""
        return self.bad_lines == "drop"


@dataclass(frozen=True, config=_SETTINGS)
class EventTable(Table):
    """A table whose rows are events.

    Parameters
    ----------
    file, separator, header, encoding, quote, escape, bad_lines, rows
        As of `Table`.
    user, item, time : str
        The columns; `time` is None where events have no times (allowed for given splits alone).
    time_format : str
        ``iso``, ``epoch_s``, ``epoch_ms``, ``epoch_us`` or a strptime pattern.
    kind : str, optional
        The column of event types.
    type : str
        The event type of all rows, where no column tells it.
    value : str, optional
        The column of a number an event.
    where : mapping of column to condition, optional
        Which rows are events, as ``where`` in a config; others are counted and left out.
    valid : bool
        Whether these are the events to be evaluated on, of a split that is given.
    numbered : bool
        Whether each event keeps the number of its row in the file.
    watched : sequence of str
        Further columns, of numbers that may say that a row is no hit.

    Examples
    --------
    >>> ratings = EventTable("ratings.csv", user="userId", item="movieId", time="timestamp")
    >>> ratings.columns
    ('userId', 'movieId', 'timestamp')
    """

    user: Name
    item: Name
    time: Name | None
    time_format: TimeFormat = "iso"
    kind: Name | None = None
    type: Name = "event"
    value: Name | None = None
    where: Annotated[tuple[Condition, ...], BeforeValidator(_conditions)] = ()
    valid: bool = False
    numbered: bool = False
    watched: _Names = ()

    def __post_init__(self) -> None:
        """Raise UsageError where two columns are one, or dates bound what holds no times."""
        super().__post_init__()
        if self.user == self.item:
            raise UsageError(f'{self.file}: user and item are both the column "{self.user}"')
        for each in self.where:
            if each.of_time and each.column != self.time:
                column = "which these events do not have" if self.time is None else self.time
                raise UsageError(
                    f"[data] where {key(each.column)}: dates are limits for the column of times, "
                    f"{column}; for other columns use numbers, or list the texts to keep"
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, each once."""
        declared = (self.user, self.item, self.time, self.kind, self.value)
        every = (*declared, *(condition.column for condition in self.where), *self.watched)
        return tuple(dict.fromkeys(column for column in every if column is not None))


@dataclass(frozen=True, config=_SETTINGS)
class AttributeTable(Table):
    """A table of users or items, one row each.

    Parameters
    ----------
    file, separator, header, encoding, quote, escape
        As of `Table`.
    id : str
        The column of ids.
    since : str, optional
        The column with the time a user registered or an item was first shown.
    time_format : str
        As of `EventTable`.
    """

    id: Name
    since: str | None = None
    time_format: TimeFormat = "iso"


@dataclass(frozen=True, config=_SETTINGS)
class Layout(_Declared):
    """Everything that turns a folder into events.

    Parameters
    ----------
    name : str
        The name in runs and reports.
    events : tuple of EventTable
        What `events` returns; the rows of all tables are events.
    users : AttributeTable, optional
        What `attributes` returns for users.
    items : AttributeTable, optional
        The same for items.
    candidates : {"catalogue", "shown", "train"}
        What may be recommended unless the config says otherwise: every item of the
        items table, those first shown in the window, or the items seen in training.
    id_width : int, optional
        The width of item ids whose leading zeros are known to get lost.
    restore_zeros : bool
        Whether shorter item ids are padded with zeros to ``id_width``.
    about : str
        What data it is for.
    """

    name: Name
    events: Annotated[tuple[EventTable, ...], _ListToo, Field(min_length=1)]
    users: AttributeTable | None = None
    items: AttributeTable | None = None
    candidates: CandidateRule = "train"
    id_width: int | None = None
    restore_zeros: bool = False
    about: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Raise UsageError where no table says what may be recommended."""
        is_lacking = self.items is None and self.candidates != "train"
        if is_lacking or (self.candidates == "shown" and self.items and not self.items.since):
            since = ', since="…"' if self.candidates == "shown" else ""
            raise UsageError(
                f'{self.name}: candidates is "{self.candidates}", which needs '
                f"items=attributes(…{since})"
            )

    @property
    def several_types(self) -> bool:
        """Whether events may be of more than one type."""
        return len(self.events) > 1 or any(e.kind is not None for e in self.events)

    @property
    def tells_types(self) -> bool:
        """Whether a column or several tables tell types of events; a given split tells none."""
        types = {table.type for table in self.events}
        return len(types) > 1 or any(table.kind is not None for table in self.events)

    @property
    def has_values(self) -> bool:
        """Whether events have values."""
        return any(table.value is not None for table in self.events)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables of the layout."""
        return (*self.events, *(a for a in (self.users, self.items) if a is not None))

    @property
    def has_frames(self) -> bool:
        """Whether a table is a frame that was given in Python."""
        return any(table.is_frame for table in self.tables)

    def within(self, folder: Path | str) -> Layout:
        """Return the same for the files in a folder, whose name is text where it is remote."""
        return self.with_each(lambda table: table.placed(folder))

    def with_each(self, change: Callable[[Any], Any]) -> Layout:
        """Return the same with each of its tables changed."""
        return replace(
            self,
            events=tuple(map(change, self.events)),
            users=self.users and change(self.users),
            items=self.items and change(self.items),
        )

    def with_events(self, **changes: Any) -> Layout:
        """Return the same with other attributes of every table of events."""
        return replace(self, events=tuple(replace(table, **changes) for table in self.events))

    def column(self, role: str) -> str:
        """Return the column of users, items or times; empty where tables name it differently."""
        column, *different = {getattr(table, role) for table in self.events}
        return "" if different else str(column)

    def where_with(self, more: Sequence[Condition]) -> str:
        """Return ``where`` of a config with further conditions, and where it is to be written.

        Empty where tables have columns of other names for one role, or no condition says it.
        """
        first, *rest = self.events
        there = [each for each in first.where if all(each in table.where for table in rest)]
        by_column = {each.column: each for each in there}
        for each in more:
            held = by_column.get(each.column)
            narrowed = each if held is None else held.narrowed(each)
            if narrowed is None or not each.column:
                return ""
            by_column[each.column] = narrowed
        return where_to_write(there, [by_column[column] for column in sorted(by_column)])


declared = partial(TypeAdapter(Layout).validate_python, strict=False)
"""Returns the layout of plain values that are checked already, such as those of a config."""

events: Callable[..., EventTable] = EventTable
"""Declares a table of events in a layout."""

attributes: Callable[..., AttributeTable] = AttributeTable
"""Declares a table of users or items in a layout."""
