"""A table or view of a DuckDB or SQLite file, read only; nothing else is reached through it."""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import polars as pl

from harness.core.arrays import UInt64
from harness.core.errors import DataError, suggest
from harness.data.frame_source import FrameSource
from harness.data.layout import EventTable, Table
from harness.data.naming import INSIDE, Part
from harness.data.source import Batch, FieldRule, Piece

if TYPE_CHECKING:
    import duckdb

SQLITE, DUCKDB = "SQLite", "DuckDB"
_FIRST = 12
ROWS = 1 << 17
"""Of a piece of SQLite's."""
_FETCHED = 1 << 10
_PLAIN = {"BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT"}
_PLAIN |= {"UTINYINT", "FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN", "DATE"}
_PLAIN |= {"TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP_S", "TIMESTAMP WITH TIME ZONE"}
"""Types of DuckDB that frames have too."""
_NESTED = {"STRUCT", "MAP", "UNION", "VARIANT"}
_CONFIG = {
    "enable_external_access": "false",  # a view may read files, or the network
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}


class _Connection(Protocol):
    def close(self) -> None: ...


class UnnamedTableError(DataError):
    """A database without a word on which of its tables is meant.

    Attributes
    ----------
    tables : list of str
        Those that it has.
    """

    def __init__(self, text: str, tables: list[str]) -> None:
        super().__init__(text)
        self.tables = tables


def kind_of(path: Path) -> str | None:
    """Return what kind of database a file is by its first bytes; None: none."""
    try:
        with path.open("rb") as file:
            first = file.read(_FIRST)
    except (OSError, ValueError):  # it is told when it is read
        return None
    if first[8:] == b"DUCK":
        return DUCKDB
    return SQLITE if first == b"SQLite forma" else None


def source_of(table: Table, part: Part) -> FrameSource:
    """Return the table of a database that a part names.

    Raises
    ------
    DataError
        A file that is no such database, is locked or damaged, or has no such table.
    """
    kind = kind_of(part.path)
    if kind is None:
        raise DataError(
            f'{part.path}: not a DuckDB or SQLite database; a name with "{INSIDE}" means '
            f"file{INSIDE}table"
        )
    return DuckDBSource(table, part) if kind == DUCKDB else SQLiteSource(table, part)


class _DatabaseSource(FrameSource):
    """A table of a database."""

    header, holder = "", "the table"
    kind: str
    faults: tuple[type[Exception], ...]

    def __init__(self, table: Table, part: Part) -> None:
        self.table, self.file = table, part.path
        self.shown = Path(f"{part.path}{INSIDE}{part.inside}")
        with self.connected() as connection:
            self.place = self._place(part.inside or "", self._tables(connection))
            self.kinds = self._kinds(connection)
        self.names = list(self.kinds)

    def _place(self, name: str, there: dict[str, str]) -> str:
        """Return a table as SQL has it."""
        name = name.removeprefix("main.") if name not in there else name
        if name in there:
            return there[name]
        if not there:
            raise DataError(f"{self.file}: the database has no tables")
        what = f'no table "{name}"' if name else "no table is named"
        shown = ", ".join(list(there)[:_SHOWN]) + (", …" if len(there) > _SHOWN else "")
        nearest = suggest(name, there)
        hint = (
            nearest
            if nearest.startswith("did")
            else f'name one: "{self.file}{INSIDE}{next(iter(there))}"'
        )
        says = f"{self.file}: {what}; the database has: {shown}\n{hint}"
        raise DataError(says) if name else UnnamedTableError(says, list(there))

    def _hint(self, name: str, columns: tuple[str, ...]) -> str:
        return self._nearest(name)

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """Yield a connection that only reads; its faults are told as those of the file."""
        try:
            with closing(self._connection()) as connection:
                yield connection
        except self.faults as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        cure = "copy the file again"
        if "permission" in why.lower():
            cure = "a view can only read its own database: write its rows to a table"
        if "lock" in why.lower():
            cure = "stop the program that writes to it, or read a copy"
        raise DataError(f"{self.shown}: cannot be read by {self.kind}: {why}; {cure}") from error

    @abstractmethod
    def _connection(self) -> _Connection:
        """Return a connection that only reads."""

    @abstractmethod
    def _tables(self, connection: Any) -> dict[str, str]:
        """Return the names of all tables and views, and how SQL has them."""

    @abstractmethod
    def _kinds(self, connection: Any) -> dict[str, pl.DataType]:
        """Return the columns of the table, and what each holds."""

    def about(self) -> int:
        """Return how many rows there are."""
        with self.connected() as connection:
            query = connection.execute(f"SELECT count(*) FROM {self.place}")  # noqa: S608 - quoted
            return int(query.fetchone()[0])


_SHOWN = 10


def _quoted(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


class DuckDBSource(_DatabaseSource):
    """A table of a DuckDB file."""

    kind = DUCKDB

    def __init__(self, table: Table, part: Part) -> None:
        try:
            import duckdb
            import pyarrow  # noqa: F401 - batches of rows come through it
        except ImportError as error:
            raise DataError(
                f"{part.path}: needs DuckDB and PyArrow: pip install duckdb pyarrow"
            ) from error
        self.faults = (duckdb.Error,)
        super().__init__(table, part)

    def _connection(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        return duckdb.connect(self.file, read_only=True, config=dict(_CONFIG))

    def _tables(self, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
        found = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() "
            "WHERE NOT internal AND database_name = current_database() UNION ALL "
            "SELECT schema_name, view_name FROM duckdb_views() "
            "WHERE NOT internal AND database_name = current_database() ORDER BY 1, 2"
        ).fetchall()
        plain = {name: _quoted(schema, name) for schema, name in found if schema == "main"}
        return plain | {
            f"{schema}.{name}": _quoted(schema, name)
            for schema, name in found
            if schema != "main" and f"{schema}.{name}" not in plain
        }

    def _kinds(self, connection: duckdb.DuckDBPyConnection) -> dict[str, pl.DataType]:
        import pyarrow

        told = connection.execute(f"DESCRIBE SELECT * FROM {self.place}").fetchall()  # noqa: S608
        types = {name: str(kind) for name, kind, *_ in told}
        plain = {name: kind.partition("(")[0] for name, kind in types.items()}
        self._others = {name for name, kind in plain.items() if kind not in _PLAIN}
        rows = connection.sql(f"{self._selected(list(types))} LIMIT 0")
        empty = pyarrow.RecordBatchReader.from_stream(rows).schema.empty_table()
        found = dict(pl.DataFrame(pl.from_arrow(empty)).schema)
        for name, kind in types.items():
            if kind.endswith("]") or plain[name] in _NESTED:
                found[name] = pl.List(pl.String())
            elif kind == "BLOB":
                found[name] = pl.Binary()
        return found

    def _selected(self, columns: Sequence[str]) -> str:
        """Return a query for columns; those of types that only DuckDB has come as text."""
        chosen = [
            f"CAST({_quoted(name)} AS VARCHAR) AS {_quoted(name)}"
            if name in self._others
            else _quoted(name)
            for name in columns
        ]
        return f"SELECT {', '.join(chosen)} FROM {self.place}"  # noqa: S608 - quoted

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows, with some of the columns."""
        import pyarrow

        with self.connected() as connection:
            rows = connection.sql(self._selected(columns))
            for batch in pyarrow.RecordBatchReader.from_stream(rows):
                yield Piece(pl.DataFrame(pl.from_arrow(batch)))


class SQLiteSource(_DatabaseSource):
    """A table of a SQLite file, whose values have types, and its columns none: all are text."""

    kind = SQLITE
    faults = (sqlite3.Error,)
    _ids: Sequence[str] = ()

    def _connection(self) -> sqlite3.Connection:
        path = self.file.absolute()
        found = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False)
        found.execute("PRAGMA trusted_schema = OFF")  # what views call may do harm
        found.execute("PRAGMA query_only = ON")
        found.execute("PRAGMA cell_size_check = ON")  # more of what is damaged is seen
        return found

    def _tables(self, connection: sqlite3.Connection) -> dict[str, str]:
        found = connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        )
        return {name: _quoted(name) for (name,) in found}

    def _kinds(self, connection: sqlite3.Connection) -> dict[str, pl.DataType]:
        rows = connection.execute(f"SELECT * FROM {self.place} LIMIT 0")  # noqa: S608 - quoted
        return dict.fromkeys((column[0] for column in rows.description), pl.String())

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows, with some of the columns as text."""
        chosen, before = ", ".join(map(_quoted, columns)), 0
        with self.connected() as connection:
            rows = connection.execute(f"SELECT {chosen} FROM {self.place}")  # noqa: S608 - quoted
            for found in _in_columns(rows, len(columns)):
                values = dict(zip(columns, found, strict=True))
                for name in (name for name in self._ids if name in values):
                    self._refuse_odd_ids(name, values[name], before)
                yield Piece(pl.DataFrame({name: _text(own) for name, own in values.items()}))
                before += len(found[0])

    def _refuse_odd_ids(self, name: str, values: Sequence[Any], before: int) -> None:
        if set(map(type, values)) <= {str, int, type(None)}:
            return
        at, value = next((n, v) for n, v in enumerate(values) if isinstance(v, (float, bytes)))
        what = "a float" if isinstance(value, float) else "bytes"
        raise DataError(
            f'{self.shown}: row {before + at + 1}, column "{name}": found {what}, which cannot '
            "tell ids apart; write ids as text"
        )

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text; see `Source.texts`."""
        self._ids = [rule.column for rule in rules if rule.holds_ids]
        return super().texts(columns, rules)

    def events(self, table: EventTable, secret: UInt64) -> Iterator[Batch]:
        """Yield the rows as events; see `FrameSource.events`."""
        self._ids = [table.user, table.item]
        return super().events(table, secret)


def _in_columns(rows: sqlite3.Cursor, count: int) -> Iterator[list[list[Any]]]:
    """Yield the values of rows by column; many small tuples at once would be slow."""
    found: list[list[Any]] = [[] for _ in range(count)]
    while some := rows.fetchmany(min(_FETCHED, ROWS)):
        for column, values in zip(found, zip(*some, strict=True), strict=True):
            column.extend(values)
        if len(found[0]) >= ROWS:
            yield found
            found = [[] for _ in range(count)]
    if found[0]:
        yield found


def _text(values: Sequence[Any]) -> pl.Series:
    """Return values of SQLite as text; bytes as hexadecimal digits."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {str}:
        return pl.Series(values, dtype=pl.String)
    if kinds == {int}:
        return pl.Series(values, dtype=pl.Int64).cast(pl.String)
    words: dict[type, Callable[[Any], str]] = {str: str, int: str, float: repr, bytes: bytes.hex}
    shown = [None if value is None else words[type(value)](value) for value in values]
    return pl.Series(shown, dtype=pl.String)
