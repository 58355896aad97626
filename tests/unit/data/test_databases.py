"""Events and attributes in tables of DuckDB and SQLite files."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
import small
from conftest import refusal
from event_files import log, moments, refused, rows

from harness.config.splits import LastNSplit
from harness.core.errors import DataError, UsageError
from harness.data import attributes, loading
from harness.data.layout import AttributeTable
from harness.data.loading import load
from harness.data.sources import database
from harness.protocol.task import refuse_rows_without_order

UUID = "00000000-0000-0000-0000-000000000001"
LOG = [("ann", 7, "1970-01-02"), ("bob", 10, "1970-01-03"), ("ann", 10, "1970-01-04")]
EVENTS = [("ann", "7", 1), ("ann", "10", 3), ("bob", "10", 2)]
NAMES = {"duckdb": "shop.duckdb", "sqlite": "shop.sqlite"}
CONNECT: dict[str, Any] = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect}
KINDS = pytest.mark.parametrize("kind", NAMES)


def write(folder: Path, kind: str, *statements: str, name: str = "") -> str:
    """Write a database with the log and what else is asked for; return its name."""
    name = name or NAMES[kind]
    with closing(CONNECT[kind](folder / name)) as connection:
        connection.execute('CREATE TABLE log ("user" TEXT, item INTEGER, time TEXT)')
        connection.executemany("INSERT INTO log VALUES (?, ?, ?)", LOG)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return name


def duckdb_of(folder: Path, user: str, time: str = "TIMESTAMP '1970-01-02'") -> str:
    """Write one event of these values into DuckDB; return the name of the table."""
    event = f"SELECT {user} AS \"user\", 'i' AS item, {time} AS time"
    return write(folder, "duckdb", f"CREATE TABLE one AS {event}") + "::one"


@KINDS
def test_events_of_tables_and_views_and_of_names_with_quotes(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "ROWS", 2)  # of three
    name = write(
        tmp_path,
        kind,
        'CREATE TABLE "a""b c" AS SELECT "user" AS "the ""user""", item, time FROM log',
        "CREATE VIEW seen AS SELECT * FROM log WHERE \"user\" = 'ann'",
    )
    assert rows(log(tmp_path, events=f"{name}::log")) == EVENTS
    assert rows(log(tmp_path, events=f"{name}::seen")) == EVENTS[:2]
    assert rows(log(tmp_path, events=f'{name}::a"b c', user='the "user"')) == EVENTS


def test_duckdb_has_schemas(tmp_path: Path) -> None:
    write(tmp_path, "duckdb", "CREATE SCHEMA old", "CREATE TABLE old.log AS FROM log LIMIT 1")
    assert rows(log(tmp_path, events="shop.duckdb::old.log")) == EVENTS[:1]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("duckdb", "shop.sqlite3"), ("duckdb", "a::b.duckdb"), ("sqlite", "shop"), ("sqlite", "x.db")],
)
def test_its_first_bytes_say_what_a_file_is(tmp_path: Path, kind: str, name: str) -> None:
    write(tmp_path, kind, name=name)
    assert rows(log(tmp_path, events=f"{name}::log")) == EVENTS


@KINDS
def test_a_missing_table_and_column_are_named(tmp_path: Path, kind: str) -> None:
    name = write(tmp_path, kind, "CREATE VIEW seen AS SELECT * FROM log")
    for events, keys, words in (
        (f"{name}::logs", {}, [f'{name}: no table "logs"; the database has: log, seen', '"log"?']),
        (f"{name}::zzz", {}, [f'{name}: no table "zzz"', f'{name}::log"']),
        (name, {}, [f"{name}: no table is named; the database has: log, seen"]),
        (f"{name}::log", {"user": "usr"},
         [f'{name}::log: no column "usr"; it has: user, item, time', 'mean "user"?']),
    ):  # fmt: skip
        refused(tmp_path, words, events=events, **keys)


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,item,time\n")
    sqlite3.connect(tmp_path / "empty.db").execute("VACUUM").connection.close()
    for events, words in (
        ("log.csv::log", "log.csv: not a DuckDB or SQLite database"),
        ("none.db::log", "none.db: no such file\nthe folder "),
        ("empty.db::log", "empty.db: the database has no tables"),
    ):
        refused(tmp_path, words, events=events)


FAULTS = [
    ("NULL, 1, '1970-01-01'", 'row 4, column "user": found an empty value, expected an id'),
    ("'a', 1, 'never'", 'row 4, column "time": found "never", expected an ISO time'),
    ("'a', 1, NULL", 'row 4, column "time": found an empty value'),
]


@KINDS
def test_the_row_of_a_fault(tmp_path: Path, kind: str) -> None:
    view = "CREATE VIEW v{} AS SELECT * FROM log UNION ALL SELECT {}"
    name = write(tmp_path, kind, *(view.format(n, row) for n, (row, _) in enumerate(FAULTS)))
    for n, (_, words) in enumerate(FAULTS):
        refused(tmp_path, f"{name}::v{n}: {words}", events=f"{name}::v{n}")
    for n, column in ((0, "user"), (2, "time")):
        with refusal(DataError, f"where = {{ {column} = {{ empty = false }} }} under [data] leav"):
            load(log(tmp_path, events=f"{name}::v{n}"))
        layout = log(tmp_path, events=f"{name}::v{n}", where={column: {"empty": False}})
        assert rows(layout) == EVENTS


@pytest.mark.parametrize(("value", "held"), [("1.5", "a float"), ("x'00'", "bytes")])
def test_values_of_sqlite_that_keep_no_ids_apart(tmp_path: Path, value: str, held: str) -> None:
    name = write(tmp_path, "sqlite", f"INSERT INTO log VALUES ('a', {value}, '1970-01-01')")
    words = f'row 4, column "item": found {held}, which cannot tell ids apart; write ids as text'
    refused(tmp_path, f"{name}::log: {words}", events=f"{name}::log")
    with refusal(DataError, words):
        attributes.read(AttributeTable(tmp_path / f"{name}::log", id="item"))


def test_values_of_sqlite_have_types_of_their_own(tmp_path: Path) -> None:
    """Integers and text in one column of ids; times and ratings that are integers or reals."""
    large = 2**63 - 1
    values = f"(1, 'a', 5, 0.1), ('1é', {large}, 6.5, '4'), ('1', 3, 7, 5), ('c', 'x', 8, NULL)"
    made = "CREATE TABLE l (user, item, time, stars)", f"INSERT INTO l VALUES {values}"
    keys = {"events": f"{write(tmp_path, 'sqlite', *made)}::l", "time_format": "epoch_s"}
    result = moments(log(tmp_path, where={"stars": {"min": 0.1}}, **keys))
    assert result == [("1", "a", 5_000_000), ("1", "3", 7_000_000), ("1é", str(large), 6_500_000)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [("HUGEINT", str(2**64)), ("TEXT", "😀\n"), ("UUID", UUID), ("ENUM('x', 'y')", "y"),
     ("DECIMAL(5, 1)", "2.5"), ("BOOLEAN", "true")],
)  # fmt: skip
def test_ids_of_duckdbs_types(tmp_path: Path, kind: str, text: str) -> None:
    layout = log(tmp_path, events=duckdb_of(tmp_path, f"CAST('{text}' AS {kind})"))
    assert rows(layout) == [(text, "i", 1)]


@pytest.mark.parametrize("kind", ["DOUBLE", "INTEGER[]", "STRUCT(a INTEGER)", "BLOB"])
def test_columns_of_duckdb_that_keep_no_ids_apart(tmp_path: Path, kind: str) -> None:
    table = duckdb_of(tmp_path, f"CAST(NULL AS {kind})")
    refused(tmp_path, f'{table}: column "user" holds', "which cannot tell ids apart", events=table)


@pytest.mark.parametrize(("kind", "what"), [("DATE[]", "lists"), ("STRUCT(d DATE)", "records")])
def test_times_of_duckdb_are_no_lists(tmp_path: Path, kind: str, what: str) -> None:
    """No key makes rows of them."""
    table = duckdb_of(tmp_path, "1", f"CAST(NULL AS {kind})")
    with pytest.raises(DataError, match=f"holds {what}; expected times$"):
        load(log(tmp_path, events=table))


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "DATE"])
def test_times_of_duckdb(tmp_path: Path, kind: str) -> None:
    table = duckdb_of(tmp_path, "1", f"CAST('1970-01-03 00:00:00+00' AS {kind})")
    assert rows(log(tmp_path, events=table)) == [("1", "i", 2)]


def test_a_view_reads_no_other_file(tmp_path: Path) -> None:
    small.write(tmp_path, {"secret.csv": "user,item,time\nspy,x,1970-01-01\n"})
    secret = tmp_path / "secret.csv"
    files = (
        f"SELECT * FROM read_csv('{secret}', header = true)",
        f"SELECT content AS \"user\", 'i' AS item, 1 AS time FROM read_text('{secret}')",
        "SELECT file AS \"user\", 'i' AS item, 1 AS time FROM glob('/*')",
    )
    views = (f"CREATE VIEW evil{n} AS {query}" for n, query in enumerate(files))
    name = write(tmp_path, "duckdb", *views)
    for n in range(len(files)):
        words = f"{name}::evil{n}: cannot be read by DuckDB: ", "disabled by config"
        refused(tmp_path, words, events=f"{name}::evil{n}")


@KINDS
def test_nothing_is_written_or_unlocked(tmp_path: Path, kind: str) -> None:
    name = write(tmp_path, kind)
    before = (tmp_path / name).read_bytes()
    statements = ["DROP TABLE log", "INSERT INTO log VALUES ('a', 1, '')"]
    if kind == "duckdb":
        statements += [f"ATTACH '{tmp_path / 'new.db'}' AS x", "SET enable_external_access = true"]
    for statement in statements:
        with (
            refusal(DataError, "cannot be read by"),
            database.connected(tmp_path / name, Path("log")) as connection,
        ):
            connection.execute(statement)
    assert (tmp_path / name).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


@KINDS
@pytest.mark.parametrize("size", [100, 4096])
def test_a_damaged_file_is_refused(tmp_path: Path, kind: str, size: int) -> None:
    name, engine = write(tmp_path, kind), {"sqlite": "SQLite", "duckdb": "DuckDB"}[kind]
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[:size])
    with refusal(DataError, f"{name}::log: cannot be read by {engine}: ", "copy the file again"):
        load(log(tmp_path, events=f"{name}::log"))


def test_how_to_install_duckdb_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = write(tmp_path, "duckdb")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    refused(tmp_path, "pip install duckdb pyarrow", events=f"{name}::log")


@KINDS
def test_attributes_of_a_table(tmp_path: Path, kind: str) -> None:
    people = "CREATE TABLE users AS SELECT 'ann' AS \"user\", 31 AS age, NULL AS x"
    table = tmp_path / f"{write(tmp_path, kind, people)}::users"
    assert attributes.read(AttributeTable(table, id="user")).rows() == [("ann", "31", None)]


def test_rows_of_a_table_have_no_order(tmp_path: Path) -> None:
    layout = log(tmp_path, events="shop.db::log").with_events(numbered=True)
    with refusal(UsageError, "rows of several files or of a database have no order", '"shuffle"'):
        refuse_rows_without_order(layout, LastNSplit(strategy="last_n", n=1, ties="file"))


def test_what_is_not_written_yet_belongs_to_the_file(tmp_path: Path) -> None:
    name = write(tmp_path, "sqlite")
    layout = log(tmp_path, events=f"{name}::log")
    assert [path.name for path in loading.files(layout)] == [name]
    with closing(sqlite3.connect(tmp_path / name)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO log VALUES ('zoe', 1, '1970-01-02')")
        connection.commit()
        assert [path.name for path in loading.files(layout)] == [name, f"{name}-wal"]
        assert ("zoe", "1", 1) in rows(layout)
    rows(layout)  # which leaves an empty log
    assert (tmp_path / f"{name}-wal").read_bytes() == b""
    assert [path.name for path in loading.files(layout)] == [name]
