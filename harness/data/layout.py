"""How a layout describes its files: which tables, and which of their columns say what."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import category

from harness.core.errors import UsageError
from harness.core.given import is_given, name_of, no_file, shown
from harness.core.unpacking import SENT, Cap
from harness.data.conditions import Condition, conditions, key, narrowed, where_to_write

if TYPE_CHECKING:
    import polars as pl

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


def is_remote(name: str) -> bool:
    """Return whether Spark alone can read what has such a name: a table, or a URI.

    Examples
    --------
    >>> [is_remote(name) for name in ("table:shop.sales", "s3a://shop/log.csv", "C:/log.csv")]
    [True, True, False]
    """
    return _REMOTE.match(name) is not None


@dataclass(frozen=True)
class Table:
    """A delimited or Parquet file, a folder of them, or one member in a .gz or .zip.

    Attributes
    ----------
    path : Path
        The plain name; ``path.gz`` and ``path.zip`` are taken when it is absent.
    separator : str
        What stands between fields (not used for Parquet); where it is longer than one byte, quotes
        are letters.
    header : tuple of str, optional
        Column names of a file that has no header line.
    encoding : str
        Of text without a byte order mark, one of `Encoding`.
    quote : bool
        Whether fields may stand in quotes; else quotes are letters.
    escape : str
        What makes a quote, a separator or itself behind it a letter; empty: nothing does.
    inherits_quote : bool
        Whether these two are said of the events, and so hold for text alone.
    drop_bad_lines : bool
        Whether lines with damaged quotes, too few or too many fields are left out; else they are
        refused.
    rows : tuple of str
        The columns whose lists hold the rows: one of records, or several of equal lengths.
    cap : Cap
        How much each file may unpack to; it changes nothing of what is read.
    remote : str
        The name as it was given, where Spark alone can read it; empty for files of this machine.
    key : str
        What names it under ``[data]``: ``events``, ``users`` or ``items``; empty: a layout does;
        `LISTS`: nothing does.
    is_frame : bool
        Whether it is no file, but a frame that was given in Python, and `path` says which.
    frame : polars.DataFrame, optional
        That frame; None where it was given to another process.
    """

    path: Path
    separator: str = ","
    header: tuple[str, ...] | None = None
    encoding: str = "utf-8"
    quote: bool = True
    escape: str = ""
    inherits_quote: bool = field(default=False, repr=False, compare=False)
    drop_bad_lines: bool = False
    rows: tuple[str, ...] = ()
    cap: Cap = field(default=SENT, repr=False, compare=False)
    remote: str = field(default="", repr=False)
    key: str = field(default="", repr=False, compare=False)
    is_frame: bool = field(default=False, repr=False)
    frame: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    @classmethod
    def within(cls, folder: Path | str, name: str) -> Table:
        """Return the table of a name in a folder, whose own name is text where it is remote."""
        if is_given(name):
            return cls(Path(shown(name)), is_frame=True)
        if is_remote(name):
            return cls(Path(name), remote=name)
        if isinstance(folder, str) and not name.startswith("/"):
            remote = f"{folder.rstrip('/')}/{name}"
            return cls(Path(remote), remote=remote)
        return cls(Path(folder, name))

    def placed(self, folder: Path | str) -> Table:
        """Return the same in a folder."""
        located = Table.within(folder, str(self.path))
        return replace(self, path=located.path, remote=located.remote)

    @property
    def place(self) -> str:
        """Where to say how its text is written, for messages.

        Examples
        --------
        >>> Table(Path("log.csv"), key="events").place
        'under [data]'
        >>> Table(Path("u.item"), key="items").place
        'within items = { file = "u.item", … } under [data]'
        """
        if not self.key:
            return "in events(…) or attributes(…) of your layout"
        if self.key == "events":
            return "under [data]"
        return f'within {self.key} = {{ file = "{self.path.name}", … }} under [data]'

    def named(self, key: str) -> str:
        """Return a key that says how its text is written, for messages.

        Examples
        --------
        >>> [Table(Path("x"), key=key).named("header") for key in ("events", "items", "")]
        ['[data] header', '[data] items.header', "the layout's header"]
        """
        if not self.key:
            return f"the layout's {key}"
        return f"[data] {key}" if self.key == "events" else f"[data] {self.key}.{key}"

    @property
    def name(self) -> str:
        """The path, or the name as it was given."""
        return self.remote or str(self.path)

    @property
    def local(self) -> Path:
        """The path.

        Raises
        ------
        UsageError
            Spark alone can read it, or it is a frame of another process.
        """
        if self.is_frame and self.frame is None:
            raise no_file(name_of(self.name), "write it as Parquet, and name that file")
        if self.remote:
            raise UsageError(
                f"{self.remote}: only Spark reads this: harness run CONFIG --engine spark; other "
                "commands need a copy in local files"
            )
        return self.path


@dataclass(frozen=True)
class EventTable:
    """A table whose rows are events; its attributes are the parameters of `events`, and these.

    Attributes
    ----------
    valid : bool
        Whether these are the events to be evaluated on, of a split that is given.
    numbered : bool
        Whether each event keeps the number of its row in the file.
    watched : tuple of str
        Further columns, of numbers that may say that a row is no hit.
    """

    table: Table
    user: str
    item: str
    time: str | None
    time_format: str = "iso"
    kind: str | None = None
    type: str = "event"
    value: str | None = None
    where: tuple[Condition, ...] = ()
    valid: bool = False
    numbered: bool = False
    watched: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise UsageError where dates bound a column that holds no times."""
        for one in self.where:
            if one.of_time and one.column != self.time:
                column = "which these events do not have" if self.time is None else self.time
                raise UsageError(
                    f"[data] where {key(one.column)}: dates are limits for the column of times, "
                    f"{column}; for other columns use numbers, or list the texts to keep"
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, each once."""
        declared = (self.user, self.item, self.time, self.kind, self.value)
        every = (*declared, *(condition.column for condition in self.where), *self.watched)
        return tuple(dict.fromkeys(column for column in every if column is not None))


@dataclass(frozen=True)
class AttributeTable:
    """A table with one row per user or item; its attributes are the parameters of `attributes`."""

    table: Table
    id: str
    since: str | None = None
    time_format: str = "iso"


@dataclass(frozen=True)
class Layout:
    """Everything that turns a folder into events.

    Attributes
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
    """

    name: str
    events: tuple[EventTable, ...]
    users: AttributeTable | None = None
    items: AttributeTable | None = None
    candidates: CandidateRule = "train"
    id_width: int | None = None
    restore_zeros: bool = False

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
        attributes = [a.table for a in (self.users, self.items) if a is not None]
        return (*(e.table for e in self.events), *attributes)

    @property
    def has_frames(self) -> bool:
        """Whether a table is a frame that was given in Python."""
        return any(table.is_frame for table in self.tables)

    def within(self, folder: Path | str) -> Layout:
        """Return the same for the files in a folder, whose name is text where it is remote."""
        return self._with_tables(lambda table: table.placed(folder))

    def with_times(self, time_format: str) -> Layout:
        """Return the same with all times written in one way."""
        return self._with_each(lambda declared: replace(declared, time_format=time_format))

    def with_events(self, **changes: Any) -> Layout:
        """Return the same with other attributes of every table of events."""
        return replace(self, events=tuple(replace(table, **changes) for table in self.events))

    def with_conditions(self, more: Sequence[Condition]) -> Layout:
        """Return the same with more conditions; of those on one column the new one holds."""
        columns = {condition.column for condition in more}
        events = tuple(
            replace(e, where=(*(c for c in e.where if c.column not in columns), *more))
            for e in self.events
        )
        return replace(self, events=events)

    def where_with(self, *more: Condition, **changes: Mapping[str, Any]) -> str:
        """Return ``where`` of a config with further conditions, and where it is to be written.

        Parameters
        ----------
        *more : Condition
            Of columns that have none.
        **changes : mapping of text to value
            What `narrowed` leaves out, by the role of the column: ``user``, ``item`` or ``time``.

        Returns
        -------
        str
            Empty where tables have columns of other names for one role, or no condition says it.
        """
        first, *others = self.events
        there = [one for one in first.where if all(one in table.where for table in others)]
        held = there
        for role, fields in changes.items():
            column, *different = {getattr(table, role) for table in self.events}
            if different:
                return ""
            held = narrowed(held, column, **fields)
            if not held:
                return ""
        return where_to_write(there, *held, *more)

    def capped(self, cap: Cap) -> Layout:
        """Return the same with tables that may unpack to so much."""
        return self._with_tables(lambda table: replace(table, cap=cap))

    def holding(self, frames: Mapping[str, pl.DataFrame]) -> Layout:
        """Return the same with the frames, by name, that its tables are."""

        def with_frame(table: Table) -> Table:
            frame = frames.get(name_of(table.name)) if table.is_frame else table.frame
            return replace(table, frame=frame)

        return self._with_tables(with_frame) if frames else self

    def _with_tables(self, change: Callable[[Table], Table]) -> Layout:
        return self._with_each(lambda declared: replace(declared, table=change(declared.table)))

    def _with_each(self, change: Callable[[Any], Any]) -> Layout:
        return replace(
            self,
            events=tuple(map(change, self.events)),
            users=self.users and change(self.users),
            items=self.items and change(self.items),
        )


def events(
    file: str,
    *,
    user: str,
    item: str,
    time: str | None,
    time_format: str = "iso",
    kind: str | None = None,
    type: str = "event",
    value: str | None = None,
    where: Mapping[str, object] | None = None,
    separator: str = ",",
    header: Sequence[str] | None = None,
    encoding: Encoding = "utf-8",
    quote: bool = True,
    escape: Escape = "",
    bad_lines: BadLines = "refuse",
    rows: Sequence[str] = (),
) -> EventTable:
    """Declare a table of events.

    Parameters
    ----------
    file : str
        Its name in the folder of the data: a file, a folder of files, a pattern such as
        ``logs/*.csv``, or a table of a database, ``shop.duckdb::orders``.
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
    separator, header, encoding, quote, escape, rows
        As of `Table`.
    bad_lines : {"refuse", "drop"}
        What is done with lines that have damaged quotes, too few or too many fields.

    Examples
    --------
    >>> ratings = events("ratings.csv", user="userId", item="movieId", time="timestamp")
    >>> ratings.columns
    ('userId', 'movieId', 'timestamp')
    """
    names = None if header is None else tuple(header)
    table = Table(
        Path(file),
        separator,
        names,
        encoding,
        quote=quote,
        escape=escape,
        drop_bad_lines=bad_lines == "drop",
        rows=tuple(rows),
    )
    held = conditions(where or {})
    return EventTable(table, user, item, time, time_format, kind, type, value, held)


def attributes(
    file: str,
    *,
    id: str,
    since: str | None = None,
    time_format: str = "iso",
    separator: str = ",",
    header: Sequence[str] | None = None,
    encoding: Encoding = "utf-8",
    quote: bool = True,
    escape: Escape = "",
) -> AttributeTable:
    """Declare a table of users or items, one row each.

    Parameters
    ----------
    file, separator, header, encoding, quote, escape, time_format
        As of `events`.
    id : str
        The column of ids.
    since : str, optional
        The column with the time a user registered or an item was first shown.
    """
    names = None if header is None else tuple(header)
    table = Table(Path(file), separator, names, encoding, quote=quote, escape=escape)
    return AttributeTable(table, id, since, time_format)


_LONGEST_SEPARATOR = 8


def require_separator(separator: str, escape: str = "") -> None:
    """Raise ValueError where a text cannot stand between fields, or not beside an escape."""
    size = len(separator.encode())
    controls = (sign for sign in separator if sign != "\t" and category(sign) == "Cc")
    if (
        not 1 <= size <= _LONGEST_SEPARATOR
        or not set(separator).isdisjoint('"\r\n')
        or (size > 1 and any(controls))
    ):
        raise ValueError(
            f"found {separator!r}, expected one character, such as "
            f'"," or ";" or "\\t", or a text such as "::" of up to {_LONGEST_SEPARATOR} bytes, '
            "without quotes, ends of lines and control characters"
        )
    if escape and (size > 1 or separator == escape):
        raise ValueError(f"found {separator!r}; escape needs a separator of one byte")
