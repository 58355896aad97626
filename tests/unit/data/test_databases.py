"""Events and attributes in tables of DuckDB and SQLite files."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path, PureWindowsPath
from typing import Any

import duckdb
import polars as pl
import pytest
import small
from conftest import refusal
from hypothesis import given
from hypothesis import strategies as st
from test_many_files import rows
from test_text_source import FOLDER, log

from harness.core.errors import DataError, UsageError
from harness.data import attributes, database_source, loading
from harness.data.conditions import Condition
from harness.data.layout import AttributeTable, Table
from harness.data.loading import load
from harness.data.naming import is_in_database
from harness.experiment.run import run

LOG = "CREATE TABLE log (user {text}, item {number}, time {text})"
ROWS = [("ann", 7, "1970-01-02"), ("bob", 10, "1970-01-03"), ("ann", 10, "1970-01-04")]
EVENTS = [("ann", "7", 1), ("ann", "10", 3), ("bob", "10", 2)]
NAMES = {"duckdb": "shop.duckdb", "sqlite": "shop.sqlite"}
KINDS = pytest.mark.parametrize("kind", NAMES)


def connect(kind: str, file: Path) -> Any:
    return closing(duckdb.connect(file) if kind == "duckdb" else sqlite3.connect(file))


def write(folder: Path, kind: str, *statements: str, name: str = "") -> str:
    """Write a database with the log and what else is asked for; return its name."""
    name = name or NAMES[kind]
    with connect(kind, folder / name) as connection:
        connection.execute(LOG.format(text="TEXT", number="INTEGER"))
        connection.executemany("INSERT INTO log VALUES (?, ?, ?)", ROWS)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return name


@KINDS
def test_events_of_a_table(tmp_path: Path, kind: str) -> None:
    name = write(tmp_path, kind)
    assert rows(log(tmp_path, events=f"{name}::log")) == EVENTS


@KINDS
def test_events_of_a_view_and_of_names_with_quotes(tmp_path: Path, kind: str) -> None:
    name = write(
        tmp_path,
        kind,
        'CREATE TABLE "a""b c" AS SELECT user AS "the ""user""", item, time FROM log',
        "CREATE VIEW seen AS SELECT * FROM log WHERE user = 'ann'",
    )
    assert rows(log(tmp_path, events=f"{name}::seen")) == EVENTS[:2]
    assert rows(log(tmp_path, events=f'{name}::a"b c', user='the "user"')) == EVENTS


def test_duckdb_has_schemas(tmp_path: Path) -> None:
    name = write(
        tmp_path, "duckdb", "CREATE SCHEMA old", "CREATE TABLE old.log AS FROM log LIMIT 1"
    )
    assert rows(log(tmp_path, events=f"{name}::old.log")) == EVENTS[:1]
    assert rows(log(tmp_path, events=f"{name}::log")) == EVENTS


@KINDS
@pytest.mark.parametrize("name", ["shop.db", "shop", "shop.sqlite3", "a::b.duckdb"])
def test_its_first_bytes_say_what_a_file_is(tmp_path: Path, kind: str, name: str) -> None:
    write(tmp_path, kind, name=name)
    assert rows(log(tmp_path, events=f"{name}::log")) == EVENTS


def test_paths_are_cut_at_the_last_signs() -> None:
    table = Table(PureWindowsPath("C:/data/x.duckdb::t"))  # type: ignore[arg-type]
    assert str(table.path).rpartition("::")[0] == "C:\\data\\x.duckdb"
    assert is_in_database(Table(Path("C:/data/x.duckdb::t")))


@KINDS
def test_a_missing_table_and_column_are_told(tmp_path: Path, kind: str) -> None:
    name = write(tmp_path, kind, "CREATE VIEW seen AS SELECT * FROM log")
    with refusal(DataError, f'{name}: no table "logs"; the database has: log, seen', '"log"?'):
        load(log(tmp_path, events=f"{name}::logs"))
    with refusal(DataError, f'{name}: no table "zzz"', f'name one: "{name}::log"'):
        load(log(tmp_path, events=f"{name}::zzz"))
    with refusal(DataError, f"{name}: which table is not said; the database has: log, seen"):
        load(log(tmp_path, events=name))
    said = f'{name}::log: no column "usr"; the table has: user, item, time', 'did you mean "user"'
    with refusal(DataError, *said):
        load(log(tmp_path, events=f"{name}::log", user="usr"))


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,item,time\n")
    with refusal(DataError, "log.csv: is no database of DuckDB or SQLite, by its first bytes"):
        load(log(tmp_path, events="log.csv::log"))
    with refusal(DataError, "none.db: no such file\nthe folder ", " holds: log.csv"):
        load(log(tmp_path, events="none.db::log"))
    sqlite3.connect(tmp_path / "empty.db").execute("VACUUM").connection.close()
    with refusal(DataError, "empty.db: the database has no tables"):
        load(log(tmp_path, events="empty.db::log"))


@KINDS
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("NULL, 1, '1970-01-01'", 'row 4, column "user": found an empty value, expected an id'),
        ("'', 1, '1970-01-01'", 'row 4, column "user": found an empty value, expected an id'),
        ("'a', 1, 'never'", 'row 4, column "time": found "never", expected an ISO time'),
        ("'a', 1, NULL", 'row 4, column "time": found an empty value'),
    ],
)
def test_the_row_of_a_fault(tmp_path: Path, kind: str, value: str, said: str) -> None:
    name = write(tmp_path, kind, f"INSERT INTO log VALUES ({value})")
    with refusal(DataError, f"{name}::log: {said}"):
        load(log(tmp_path, events=f"{name}::log"))


@KINDS
@pytest.mark.parametrize(
    ("row", "column"), [("'a', 1, NULL", "time"), ("NULL, 1, '1970-01-01'", "user")]
)
def test_rows_without_a_time_or_user_are_left_out(
    tmp_path: Path, kind: str, row: str, column: str
) -> None:
    name = write(tmp_path, kind, f"INSERT INTO log VALUES ({row})")
    with refusal(DataError, f"where = {{ {column} = {{ empty = false }} }} under [data] leaves"):
        load(log(tmp_path, events=f"{name}::log"))
    where = {column: {"empty": False}}
    assert rows(log(tmp_path, events=f"{name}::log", where=where)) == EVENTS


@KINDS
def test_and_by_a_bound_where_times_are_numbers(tmp_path: Path, kind: str) -> None:
    made = "CREATE TABLE numbers AS SELECT 'a' AS user, 7 AS item, 86400 AS time"
    name = write(tmp_path, kind, made, "INSERT INTO numbers VALUES ('a', 1, NULL)")
    found = {"events": f"{name}::numbers", "time_format": "epoch_s"}
    with refusal(DataError, "found an empty value", "where = { time = { empty = false } }"):
        load(log(tmp_path, **found))
    assert rows(log(tmp_path, **found, where={"time": {"empty": False}})) == [("a", "7", 1)]


@pytest.mark.parametrize(("value", "found"), [("1.5", "a float"), ("x'00'", "bytes")])
def test_values_of_sqlite_that_keep_no_ids_apart(tmp_path: Path, value: str, found: str) -> None:
    name = write(tmp_path, "sqlite", f"INSERT INTO log VALUES ('a', {value}, '1970-01-01')")
    said = f'row 4, column "item": found {found}, which cannot keep ids apart; write ids as text'
    with refusal(DataError, f"{name}::log: {said}"):
        load(log(tmp_path, events=f"{name}::log"))
    table = AttributeTable(Table(tmp_path / f"{name}::log"), id="item")
    with refusal(DataError, said):
        attributes.read(table)


def test_values_of_sqlite_have_types_of_their_own(tmp_path: Path) -> None:
    """Integers and text in one column of ids; times and ratings that are integers or reals."""
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE log (user, item, time, stars)")
        values = [(1, "a", 5, 0.1), ("1b", 2, 6.5, "4"), ("1", 2**62, 7, 5), ("c", "x", 8, None)]
        connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", values)
        connection.commit()
    layout = log(tmp_path, events="x.db::log", time_format="epoch_s").with_events(
        where=(Condition("stars", low=0.1),)
    )
    found = load(layout)
    assert found.user_ids.to_list() == ["1", "1b"]
    assert found.item_ids.to_list() == ["2", str(2**62), "a"]
    assert sorted(found.events.time.tolist()) == [5_000_000, 6_500_000, 7_000_000]


TYPES = {
    "HUGEINT": ("3", "3"),
    "UUID": ("'00000000-0000-0000-0000-000000000001'", "00000000-0000-0000-0000-000000000001"),
    "ENUM('x', 'y')": ("'y'", "y"),
    "UTINYINT": ("7", "7"),
    "DECIMAL(5, 1)": ("2.5", "2.5"),
    "BOOLEAN": ("true", "true"),
}


@pytest.mark.parametrize("kind", TYPES)
def test_ids_of_duckdbs_types(tmp_path: Path, kind: str) -> None:
    given_, text = TYPES[kind]
    with closing(duckdb.connect(tmp_path / "x.db")) as connection:
        connection.execute(f'CREATE TABLE log ("user" {kind}, item VARCHAR, time TIMESTAMP)')
        connection.execute(f"INSERT INTO log VALUES ({given_}, 'i', '1970-01-02 00:00:00')")
    assert rows(log(tmp_path, events="x.db::log")) == [(text, "i", 1)]


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "INTEGER[]", "STRUCT(a INTEGER)", "BLOB"])
def test_columns_of_duckdb_that_keep_no_ids_apart(tmp_path: Path, kind: str) -> None:
    with closing(duckdb.connect(tmp_path / "x.db")) as connection:
        connection.execute(f'CREATE TABLE log ("user" {kind}, item VARCHAR, time TIMESTAMP)')
        connection.execute("INSERT INTO log VALUES (NULL, 'i', '1970-01-02 00:00:00')")
    with refusal(DataError, 'x.db::log: column "user" holds', "which cannot keep ids apart"):
        load(log(tmp_path, events="x.db::log"))


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "DATE"])
def test_times_of_duckdb(tmp_path: Path, kind: str) -> None:
    with closing(duckdb.connect(tmp_path / "x.db")) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f'CREATE TABLE log ("user" INTEGER, item VARCHAR, time {kind})')
        connection.execute("INSERT INTO log VALUES (1, 'i', '1970-01-03 00:00:00')")
    assert rows(log(tmp_path, events="x.db::log")) == [("1", "i", 2)]


OTHERS = "user,item,time\nspy,x,1970-01-01\n"


@pytest.mark.parametrize(
    "view",
    [
        "SELECT * FROM read_csv('{file}', header = true)",
        "SELECT * FROM '{file}'",
        "SELECT content AS \"user\", 'i' AS item, '1970-01-01' AS time FROM read_text('{file}')",
        "SELECT file AS \"user\", 'i' AS item, '1970-01-01' AS time FROM glob('/*')",
    ],
)
def test_a_view_reads_no_other_file(tmp_path: Path, view: str) -> None:
    (tmp_path / "secret.csv").write_text(OTHERS)
    made = view.format(file=tmp_path / "secret.csv")
    name = write(tmp_path, "duckdb", f"CREATE VIEW evil AS {made}")
    with refusal(DataError, f"{name}::evil: cannot be read by DuckDB: ", "disabled by config"):
        load(log(tmp_path, events=f"{name}::evil"))


def test_nothing_is_written_or_unlocked(tmp_path: Path) -> None:
    part_of = {kind: write(tmp_path, kind) for kind in NAMES}
    before = {kind: (tmp_path / name).read_bytes() for kind, name in part_of.items()}
    for kind, name in part_of.items():
        (source,) = database_sources(tmp_path / f"{name}::log")
        with source._connected() as connection:
            statements = ["DROP TABLE log", f"ATTACH '{tmp_path / 'new.db'}' AS other"]
            statements += ["SET enable_external_access = true"] * (kind == "duckdb")
            for statement in statements[: 3 if kind == "duckdb" else 1]:
                with pytest.raises((duckdb.Error, sqlite3.Error)):
                    connection.execute(statement)
        assert (tmp_path / name).read_bytes() == before[kind]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES.values())


def database_sources(path: Path) -> list[Any]:
    from harness.data.table_files import sources

    return list(sources(Table(path)))


def test_a_locked_file_says_who_may_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write(tmp_path, "duckdb")
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    held = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / name)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with held:
        assert held.stdout is not None
        held.stdout.readline()
        with refusal(DataError, "cannot be read by DuckDB", "lock", "end the program that writes"):
            load(log(tmp_path, events=f"{name}::log"))
        held.communicate(b"\n")
    name = write(tmp_path, "sqlite")
    with closing(sqlite3.connect(tmp_path / name)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        real = sqlite3.connect
        monkeypatch.setattr(
            database_source.sqlite3, "connect", lambda *a, **k: real(*a, **k, timeout=0.05)
        )
        with refusal(DataError, "cannot be read by SQLite: database is locked; end the program"):
            load(log(tmp_path, events=f"{name}::log"))


@KINDS
@pytest.mark.parametrize("size", [100, 4096])
def test_a_damaged_file_is_told(tmp_path: Path, kind: str, size: int) -> None:
    name, own = write(tmp_path, kind), {"sqlite": "SQLite", "duckdb": "DuckDB"}[kind]
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[:size])
    with refusal(DataError, f"{name}::log: cannot be read by {own}: ", "copy the file again"):
        load(log(tmp_path, events=f"{name}::log"))


def test_without_duckdb_it_is_said_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write(tmp_path, "duckdb")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with refusal(DataError, "pip install 'submission-harness[duckdb]'"):
        load(log(tmp_path, events=f"{name}::log"))


@KINDS
def test_attributes_of_a_table(tmp_path: Path, kind: str) -> None:
    name = write(tmp_path, kind, "CREATE TABLE users AS SELECT 'ann' AS user, 31 AS age, NULL AS x")
    table = log(tmp_path, events=f"{name}::log", users=f"{name}::users").users
    assert table is not None
    assert attributes.read(table).rows() == [("ann", "31", None)]


@KINDS
def test_rows_of_a_table_have_no_order(tmp_path: Path, kind: str) -> None:
    split = {"strategy": "last_n", "n": 1, "ties": "file"}
    name = write(tmp_path, kind)
    given_ = small.config(tmp_path, data={"events": f"{name}::log"}, split=split)
    with refusal(UsageError, "a table of a database, whose rows have no order", '"shuffle"'):
        run(given_)


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


ID = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4
)


@FOLDER
@given(
    events=st.lists(st.tuples(ID, st.integers(0, 2**63 - 1), st.integers(0, 9)), min_size=1),
    size=st.sampled_from([2, 1 << 17]),
)
def test_databases_have_the_same_log_as_parquet(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[str, int, int]], size: int
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    schema = {"user": pl.String, "item": pl.Int64, "time": pl.Int64}
    frame = pl.DataFrame(events, schema=schema, orient="row")
    frame.write_parquet(folder / "log.parquet")
    for kind, name in NAMES.items():
        with connect(kind, folder / name) as connection:
            connection.execute('CREATE TABLE log ("user" TEXT, item BIGINT, time BIGINT)')
            connection.executemany("INSERT INTO log VALUES (?, ?, ?)", events)
            connection.commit()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_source, "ROWS", size)
        expected, *found = (
            rows(log(folder, events=name, time_format="epoch_s"))
            for name in ("log.parquet", "shop.duckdb::log", "shop.sqlite::log")
        )
    assert found == [expected, expected]
