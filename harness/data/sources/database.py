"""A table or view of a DuckDB or SQLite file, read only; nothing else is reached through it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from harness.core.errors import DataError, suggest
from harness.data.layout import Table
from harness.data.naming import INSIDE, Part
from harness.data.source import Source, Wanted
from harness.data.to_events import Rows

if TYPE_CHECKING:
    import duckdb

SQLITE, DUCKDB = "SQLite", "DuckDB"
_FIRST, _SHOWN = 12, 10
"""Bytes that tell what a file is, and tables that are shown."""
ROWS = 1 << 12
"""Of SQLite that are read at once; many small tuples are slow."""
_PLAIN = {"BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT"}
_PLAIN |= {"UTINYINT", "FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN", "DATE"}
_PLAIN |= {"TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP_S", "TIMESTAMP WITH TIME ZONE"}
"""Types of DuckDB that frames have too."""
_NESTED = {"STRUCT", "MAP", "UNION", "VARIANT"}
_CONFIG: dict[str, Any] = {
    "enable_external_access": "false",  # a view may read files, or the network
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}


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


def database_source(table: Table, part: Part) -> Source:
    """Return the table of a database that a part names."""
    file, kind = part.path, kind_of(part.path)
    if kind is None:
        raise DataError(
            f'{file}: not a DuckDB or SQLite database; a name with "{INSIDE}" means '
            f"file{INSIDE}table"
        )
    shown = Path(f"{file}{INSIDE}{part.inside}")
    tables, kinds_of, rows = (
        (_duckdb_tables, _duckdb_kinds, _duckdb_rows)
        if kind == DUCKDB
        else (_sqlite_tables, _sqlite_kinds, _sqlite_rows)
    )
    with connected(file, shown) as connection:
        place = _place(file, part.inside or "", tables(connection))
        kinds = kinds_of(connection, place)

    def rows_of(wanted: Wanted) -> Iterator[Rows]:
        with connected(file, shown) as connection:
            yield from rows(connection, shown, place, wanted)

    def size() -> int:
        with connected(file, shown) as connection:
            query = connection.execute(f"SELECT count(*) FROM {place}")  # noqa: S608 - quoted
            return int(query.fetchone()[0])

    return Source(table, shown, list(kinds), rows_of, kinds, size=size)


@contextmanager
def connected(file: Path, shown: Path) -> Iterator[Any]:
    """Yield a connection that only reads; its faults are told as those of the file."""
    kind, connect = kind_of(file), _connect_sqlite
    faults: type[Exception] = sqlite3.Error
    if kind == DUCKDB:
        try:
            import duckdb
            import pyarrow  # noqa: F401 - batches of rows come through it
        except ImportError as error:
            raise DataError(
                f"{file}: needs DuckDB and PyArrow: pip install duckdb pyarrow"
            ) from error
        connect = partial(duckdb.connect, read_only=True, config=_CONFIG)
        faults = duckdb.Error
    try:
        with closing(connect(file)) as connection:
            yield connection
    except faults as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        cure = "copy the file again"
        if "permission" in why.lower():
            cure = "a view can only read its own database: write its rows to a table"
        if "lock" in why.lower():
            cure = "stop the program that writes to it, or read a copy"
        raise DataError(f"{shown}: cannot be read by {kind}: {why}; {cure}") from error


def _connect_sqlite(file: Path) -> Any:
    uri = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")  # what views call may do harm
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cell_size_check = ON")  # more of what is damaged is seen
    return connection


def _place(file: Path, name: str, there: dict[str, str]) -> str:
    """Return a table as SQL has it."""
    name = name.removeprefix("main.") if name not in there else name
    if name in there:
        return there[name]
    if not there:
        raise DataError(f"{file}: the database has no tables")
    what = f'no table "{name}"' if name else "no table is named"
    shown = ", ".join(list(there)[:_SHOWN]) + (", …" if len(there) > _SHOWN else "")
    hint = suggest(name, there)
    if not hint.startswith("did"):
        hint = f'name one: "{file}{INSIDE}{next(iter(there))}"'
    raise DataError(f"{file}: {what}; the database has: {shown}\n{hint}")


def _quoted(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _duckdb_tables(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the names of all tables and views, and how SQL has them."""
    named = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = current_database() ORDER BY table_schema != 'main', 1, 2"
    ).fetchall()
    tables: dict[str, str] = {}
    for schema, name in named:  # a name with a point in main comes before a schema's table
        tables.setdefault(name if schema == "main" else f"{schema}.{name}", _quoted(schema, name))
    return tables


def _duckdb_types(connection: duckdb.DuckDBPyConnection, place: str) -> dict[str, str]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {place}").fetchall()  # noqa: S608 - quoted
    return {name: str(kind) for name, kind, *_ in rows}


def _duckdb_kinds(connection: duckdb.DuckDBPyConnection, place: str) -> dict[str, Any]:
    """Return the columns of a table, and what each holds."""
    types = _duckdb_types(connection, place)
    empty = _duckdb_batches(connection, place, list(types), " LIMIT 0").schema.empty_table()
    kinds: dict[str, Any] = dict(pl.DataFrame(pl.from_arrow(empty)).schema)
    for name, kind in types.items():
        if kind.endswith("]"):
            kinds[name] = pl.List(pl.String())
        elif kind.partition("(")[0] in _NESTED:
            kinds[name] = pl.Struct([])
        elif kind == "BLOB":
            kinds[name] = pl.Binary()
    return kinds


def _duckdb_batches(
    connection: duckdb.DuckDBPyConnection, place: str, columns: Sequence[str], limit: str = ""
) -> Any:
    """Return a reader of columns; those of types that only DuckDB has come as text."""
    import pyarrow

    types = _duckdb_types(connection, place)
    chosen = [
        _quoted(name)
        if types[name].partition("(")[0] in _PLAIN
        else f"CAST({_quoted(name)} AS VARCHAR) AS {_quoted(name)}"
        for name in columns
    ]
    query = f"SELECT {', '.join(chosen)} FROM {place}{limit}"  # noqa: S608 - quoted
    return pyarrow.RecordBatchReader.from_stream(connection.sql(query))


def _duckdb_rows(
    connection: duckdb.DuckDBPyConnection, shown: Path, place: str, wanted: Wanted
) -> Iterator[Rows]:
    for batch in _duckdb_batches(connection, place, wanted.every):
        yield Rows(pl.DataFrame(pl.from_arrow(batch)))


def _sqlite_tables(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    return {name: _quoted(name) for (name,) in rows}


def _sqlite_kinds(connection: sqlite3.Connection, place: str) -> dict[str, Any]:
    """Return the columns of a table: values have types, and columns none, so all are text."""
    rows = connection.execute(f"SELECT * FROM {place} LIMIT 0")  # noqa: S608 - quoted
    return dict.fromkeys((column[0] for column in rows.description), pl.String())


def _sqlite_rows(
    connection: sqlite3.Connection, shown: Path, place: str, wanted: Wanted
) -> Iterator[Rows]:
    chosen, before = ", ".join(map(_quoted, wanted.every)), 0
    cursor = connection.execute(f"SELECT {chosen} FROM {place}")  # noqa: S608 - quoted
    while some := cursor.fetchmany(ROWS):
        columns = dict(zip(wanted.every, zip(*some, strict=True), strict=True))
        for name in wanted.ids:
            _refuse_odd_ids(shown, name, columns[name], before)
        yield Rows(pl.DataFrame({name: _text(values) for name, values in columns.items()}))
        before += len(some)


def _refuse_odd_ids(shown: Path, name: str, values: Sequence[Any], before: int) -> None:
    for row, value in enumerate(values, before + 1):
        if isinstance(value, (float, bytes)):
            what = "a float" if isinstance(value, float) else "bytes"
            raise DataError(
                f'{shown}: row {row}, column "{name}": found {what}, which cannot tell ids apart; '
                "write ids as text"
            )


def _text(values: Sequence[Any]) -> pl.Series:
    """Return values of SQLite as text; bytes as hexadecimal digits."""
    if set(map(type, values)) == {str}:
        return pl.Series(values, dtype=pl.String)
    words: dict[type, Callable[[Any], Any]] = {bytes: bytes.hex, type(None): lambda none: none}
    return pl.Series([words.get(type(value), str)(value) for value in values], dtype=pl.String)
