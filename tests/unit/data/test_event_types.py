"""Columns of event types and values, and conditions: in text, Parquet, JSON lines and buckets."""

import gzip
import sqlite3
import tomllib
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import small
from conftest import refusal
from event_files import typed

from harness.core.errors import DataError, UsageError
from harness.data.dataset import Dataset
from harness.data.loading import load

LOG = """user,item,time,event,stars
ann,a,2020-01-01,view,1
ann,b,2020-01-02,sale,4.5
bob,a,2020-01-03,view,-2
bob,a,2020-01-03,cart,0
"""
THREE = "user,item,time\n"
FILES = ["log.csv", "log.parquet", "log.jsonl"]
BOTH = pytest.mark.parametrize("events", FILES[:2])
ALL = pytest.mark.parametrize("events", FILES)


def read(folder: Path, log: str = LOG, *, inferred: bool = True, **data: Any) -> Dataset:
    """Write the log in every form, and read that of the key `events`."""
    frame = pl.read_csv(log.encode(), infer_schema=inferred)
    frame.write_parquet(folder / "log.parquet")
    frame.write_ndjson(folder / "log.jsonl")
    return load(small.config(folder, log=log, data=data).layout())


def test_types_and_values_are_those_of_their_columns(tmp_path: Path) -> None:
    data = read(tmp_path, kind="event", value="stars")
    assert data.kinds == ("cart", "sale", "view")  # by name
    assert data.notes == ("event types: cart, sale, view",)
    once = read(tmp_path, LOG.replace("view", '"view, once"'), kind="event", value="stars")
    assert once.notes == ('event types: cart, sale, "view, once"',)
    events = [("ann", "a", "view", 1), ("ann", "b", "sale", 4.5), ("bob", "a", "cart", 0)]
    assert typed(data) == [*events, ("bob", "a", "view", -2)]
    assert {event[2:] for event in typed(read(tmp_path))} == {("event", None)}


@ALL
def test_rows_that_are_left_out_are_counted(tmp_path: Path, events: str) -> None:
    cases: list[tuple[Any, list[str], str]] = [
        ({"event": ["sale", "cart"]}, ["b", "a"], 'event = ["sale", "cart"]'),
        ({"event": {"not": ["view", "x"]}}, ["b", "a"], 'event = { not = ["view", "x"] }'),
        ({"stars": {"min": 0, "max": 1}}, ["a", "a"], "stars = { min = 0, max = 1 }"),
        ({"stars": {"max": 0.5}, "event": ["cart"]}, ["a"],
         'event = ["cart"], stars = { max = 0.5 }'),
        ({"stars": {"above": 0, "max": 4.5}}, ["a", "b"], "stars = { above = 0, max = 4.5 }"),
        ({"stars": {"above": 0}}, ["a", "b"], "stars = { above = 0 }"),
        ({"time": {"max": date(2020, 1, 2)}}, ["a", "b"], "time = { max = 2020-01-02 }"),
        ({"time": {"min": datetime(2020, 1, 2), "max": datetime(2020, 1, 2, 12, tzinfo=UTC)}},
         ["b"], "time = { min = 2020-01-02 00:00:00, max = 2020-01-02 12:00:00+00:00 }"),
    ]  # fmt: skip
    for where, items, note in cases:
        data = read(tmp_path, where=where, events=events)
        assert [event[1] for event in typed(data)] == items
        assert data.notes[0] == f"{events}: {4 - len(items)} of 4 rows left out (kept: {note})"


@ALL
@pytest.mark.parametrize("where", [{}, {"stars": {"max": 9, "empty": True}}])
@pytest.mark.parametrize(
    "row", [",b,2020-01-02,2", "bob,,2020-01-03,3", "cid,d,,4", "d,e,2020-01-05,"]
)
def test_hints_on_empty_values_work(
    tmp_path: Path, row: str, where: dict[str, Any], events: str
) -> None:
    column = ["user", "item", "time", "stars"][row.split(",").index("")]
    log = f"user,item,time,stars\nann,a,2020-01-01,1\n{row}\n"
    keys = {"events": events} | ({"value": "stars"} if column == "stars" else {})
    words = f'column "{column}": found an empty value', "leaves such ro"
    with refusal(DataError, words) as caught:
        read(tmp_path, log, where=where, **keys)
    hint = str(caught.value).partition("where = ")[2].partition(" under [data]")[0]
    cured = tomllib.loads(f"where = {hint}")["where"]
    assert cured.keys() == where.keys() | {column}
    data = read(tmp_path, log, where=cured, **keys)
    assert [event[:2] for event in typed(data)] == [("ann", "a")]
    assert data.notes[0].startswith(f"{events}: 1 of 2 rows left out (kept: ")


@ALL
def test_an_empty_cell_is_none_of_those_that_are_kept(tmp_path: Path, events: str) -> None:
    log = f"{LOG},b,2020-01-04,view,1\nNULL,b,2020-01-04,view,1\n"
    data = read(tmp_path, log, where={"user": {"not": "NULL"}}, events=events)
    assert data.user_ids.to_list() == ["ann", "bob"]
    assert len(data.events) == 4


@ALL
@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ({"above": 0, "empty": True}, "1 4.5 None"),
        ({"max": 1, "empty": True}, "0 1 -2 None"),
        ({"min": 0, "empty": True, "not": ["1", "1.0"]}, "0 4.5 None"),
        ({"empty": True, "not": ["1", "1.0"]}, "0 -2 4.5 None"),
        ({"above": 0}, "1 4.5"),
    ],
)
def test_an_empty_cell_is_kept_where_a_condition_says_so(
    tmp_path: Path, where: dict[str, Any], kept: str, events: str
) -> None:
    stars = [0, 1, None, -2, 4.5]
    rows = [f"ann,{star},2020-01-01,{'' if star is None else star}\n" for star in stars]
    log = "user,item,time,stars\n" + "".join(rows)
    data = read(tmp_path, log, where={"stars": where}, events=events)
    assert sorted(data.item_ids) == sorted(kept.split())


@pytest.mark.parametrize(
    ("written", "time_format"),
    [
        ("1.1.2020", "%d.%m.%Y"),
        ("1577836800", "epoch_s"),
        ("1577836800000", "epoch_ms"),
        ("2020-01-01T02:00:00+02:00", "iso"),
        ("20200101", "%Y%m%d"),
    ],
)
def test_dates_bound_times_however_these_are_written(
    tmp_path: Path, written: str, time_format: str
) -> None:
    """2020-01-01 itself is within both bounds, and rows that they leave out are not numbered."""
    frame = pl.DataFrame({"user": "a", "item": ["x"], "time": written})
    numbers = frame.with_columns(pl.col("time").cast(pl.Int64, strict=False).fill_null(0))
    frame.write_csv(tmp_path / "x.csv")
    (numbers if written.isdigit() else frame).write_parquet(tmp_path / "x.parquet")
    for events in ("x.csv", "x.parquet"):
        keys = {"events": events, "time_format": time_format}
        day = date(2020, 1, 1)
        assert len(read(tmp_path, where={"time": {"min": day, "max": day}}, **keys).events) == 1
        with refusal(
            DataError, "none of 1 row has time = { min = 2020-01-02 }; check [data] where"
        ):
            read(tmp_path, where={"time": {"min": date(2020, 1, 2)}}, **keys)


def test_dates_bound_the_column_of_times_alone(tmp_path: Path) -> None:
    with refusal(UsageError, "[data] where stars: dates are limits for the column of times, time"):
        read(tmp_path, where={"stars": {"min": date(2020, 1, 1)}})


def test_empty_in_parquet(tmp_path: Path) -> None:
    """NaN among floats, an empty text within bounds, no number for a time."""
    for column, held, keys in (
        ("stars", [1.0, float("nan")], {"where": {"stars": {"empty": False}}}),
        ("stars", ["1", ""], {"where": {"stars": {"min": 1}}, "value": "stars"}),
        ("time", [7, None], {"where": {"time": {"empty": False}}, "time_format": "epoch_s"}),
    ):
        columns = {"user": ["a", "b"], "item": ["x", "y"], "time": "2020-01-01"} | {column: held}
        pl.DataFrame(columns).write_parquet(tmp_path / "x.parquet")
        assert len(read(tmp_path, events="x.parquet", **keys).events) == 1


def test_a_given_split_tells_its_tables_apart_and_not_its_types(tmp_path: Path) -> None:
    small.write(tmp_path, {"later.csv": LOG})
    split = {"strategy": "given", "valid": "later.csv"}
    keys = {"kind": "event", "value": "stars"}
    data = load(small.config(tmp_path, log=LOG, split=split, data=keys).layout())
    assert data.kinds == ("cart", "sale", "view") * 2
    assert data.valid_kinds == (3, 4, 5)


@pytest.mark.parametrize(("events", "place"), [("log.csv", "line 6"), ("log.parquet", "row 5")])
@pytest.mark.parametrize(
    ("row", "words"),
    [
        (",1", ['column "event": found an empty value', "an event type"]),
        ("view,", ['column "stars": found an empty value, expected a number', "where = { stars"]),
        ("view,good", ['column "stars": found "good", expected a number; fix it, or list the '
                       'texts of the rows to keep: where = { stars = ["1", "2.5"] } under [data]']),
        ("view,NaN", ['found "NaN"', "where = { stars = { min = 0 } } under [data] leaves"]),
    ],
)  # fmt: skip
def test_bad_values(tmp_path: Path, row: str, words: Any, events: str, place: str) -> None:
    keys = {"kind": "event", "value": "stars", "events": events}
    with refusal(DataError, f"{events}: {place}, ", words):
        read(tmp_path, f"{LOG}ann,a,2020-01-01,{row}\n", inferred=False, **keys)


@BOTH
def test_hints_on_values_that_are_no_numbers_work(tmp_path: Path, events: str) -> None:
    """Bounds are refused there: the column has to hold numbers, or nothing."""
    keys = {"value": "stars", "events": events, "inferred": False}
    for text, where, size in (("five", ["1", "4.5"], 2), ("NaN", {"min": 0}, 3)):
        log = f"{LOG}ann,a,2020-01-01,view,{text}\n"
        assert len(read(tmp_path, log, where={"stars": where}, **keys).events) == size
    with refusal(DataError, 'found "five"', "list the texts of the rows to keep: where = { stars"):
        read(tmp_path, log.replace("NaN", "five"), where={"stars": {"min": 0}}, **keys)


@BOTH
def test_texts_that_are_left_out_need_be_no_numbers(tmp_path: Path, events: str) -> None:
    log = f"{LOG}ann,a,2020-01-01,view,n/a\n"
    keys = {"events": events, "inferred": False, "where": {"stars": {"not": "n/a", "min": 0}}}
    assert [event[1] for event in typed(read(tmp_path, log, **keys))] == ["a", "b", "a"]
    with refusal(DataError, 'column "stars": found "five", expected a number'):
        read(tmp_path, f"{log}ann,a,2020-01-01,view,five\n", **keys)


def test_true_and_false_are_ids(tmp_path: Path) -> None:
    columns = {"user": [True, False], "item": [False, False], "time": "2020-01-01"}
    pl.DataFrame(columns).write_parquet(tmp_path / "x.parquet")
    data = read(tmp_path, events="x.parquet")
    assert (data.user_ids.to_list(), data.item_ids.to_list()) == (["false", "true"], ["false"])
    for column in ("user", "item"):
        pl.DataFrame(columns | {column: [True, None]}).write_parquet(tmp_path / "x.parquet")
        with refusal(DataError, f'x.parquet: row 2, column "{column}": found an empty value'):
            read(tmp_path, events="x.parquet")


@pytest.mark.parametrize(
    ("column", "held", "keys", "words"),
    [
        ("time", timedelta(1), {}, "cannot be read: casting from Duration"),
        ("time", [date(2020, 1, 1)], {"rows": "item"}, 'expected times; rows = ["item", "time"]'),
        ("stars", timedelta(1), {"value": "stars"}, '"stars" holds lengths of time; expected num'),
        ("stars", [1], {"where": {"stars": ["1"]}}, "cannot be read: cannot cast List"),
    ],
)
def test_columns_of_other_types(
    tmp_path: Path, column: str, held: Any, keys: Any, words: str
) -> None:
    row = {"user": "ann", "item": ["a"] if "rows" in keys else "a", "time": date(2020, 1, 1)}
    pl.DataFrame([row | {column: held}]).write_parquet(tmp_path / "x.parquet")
    with refusal(DataError, "x.parquet: ", words):
        read(tmp_path, events="x.parquet", **keys)


@BOTH
def test_a_column_of_ids_is_no_column_of_event_types(tmp_path: Path, events: str) -> None:
    log = THREE + "".join(f"u,i{n},2020-01-01\n" for n in range(300))
    with refusal(
        DataError, f'{events}: column "item" holds more than 255 event types ("i0", "i1", "i2'
    ):
        read(tmp_path, log, kind="item", events=events)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    for keys in ({"kind": "evnt"}, {"value": "evnt"}, {"where": {"evnt": "x"}}):
        with refusal(DataError, 'log.csv: no column "evnt"', 'did you mean "event"?'):
            read(tmp_path, **keys)


@pytest.mark.parametrize("events", ["log.csv", "packed.csv.gz", "log.parquet"])
def test_what_was_meant(tmp_path: Path, events: str) -> None:
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(LOG.encode()))
    for where, words in (
        ({"event": ["zzz", "Cart"]}, 'column "event" holds view, sale, cart; did you mean "cart"?'),
        ({"stars": {"min": 9}}, 'column "stars" holds 1, 4.5, -2, 0'),
        ({"event": "cart", "user": "ANN"}, 'column "user" holds ann, bob; did you mean "ann"?'),
        ({"event": "cart", "user": "ann"},
         'none of 4 rows has event = ["cart"], user = ["ann"]; check [data] where'),
    ):  # fmt: skip
        with pytest.raises(DataError) as raised:
            read(tmp_path, inferred=False, where=where, events=events)
        assert str(raised.value).endswith(words)


@pytest.mark.parametrize("events", [*FILES, "x.sqlite::l", "x.db::l"])
def test_how_conditions_match_booleans_and_floats(tmp_path: Path, events: str) -> None:
    """By their text: true and 1.0; SQLite, which has no booleans, holds 1."""
    made = "CREATE TABLE l AS SELECT 'a' AS user, 'b' AS item, '2020-01-01' AS time, "
    for connect, name in ((sqlite3.connect, "x.sqlite"), (duckdb.connect, "x.db")):
        with closing(connect(tmp_path / name)) as connection:
            connection.execute(f"{made} true AS paid, CAST(1 AS DOUBLE) AS price")
            connection.commit()
    log = "user,item,time,paid,price\na,b,2020-01-01,true,1.0\n"
    for where in ({"paid": "1" if "sqlite" in events else "true"}, {"price": "1.0"}):
        assert len(read(tmp_path, log, events=events, where=where).events) == 1


@BOTH
def test_what_is_left_out_may_hold_anything(tmp_path: Path, events: str) -> None:
    bad = LOG + "ann,b,yesterday,cart,9\n"
    log = bad + "ann,a,2020-01-01,,\nbob,,2020-01-05,,\n"
    where = {"event": ["view", "sale"]}
    data = read(tmp_path, log, kind="event", value="stars", where=where, events=events)
    assert len(data.events) == 3
    assert data.kinds == ("sale", "view")
    for where in ({}, {"user": ["ann"], "stars": ["9"]}):
        with refusal(DataError, f"{events}: ", 'column "time": found "yesterday", expected an ISO'):
            read(tmp_path, bad, value="stars", where=where, inferred=False, events=events)


@ALL
def test_a_zero_below_zero_is_a_zero(tmp_path: Path, events: str) -> None:
    """Two zeros that are equal and are not the same bits must not be two values, or another one."""
    for stars in (["3.0", "-0.0", "0.0", "-0.5"], ["0.0", "-0.5", "3.0", "-0.0"]):
        log = "".join(f"ann,a,2020-01-01,{value}\n" for value in stars)
        data = read(tmp_path, f"user,item,time,stars\n{log}", value="stars", events=events)
        assert data.events.value is not None
        assert str(data.events.value.tolist()) == "[-0.5, 0.0, 0.0, 3.0]"


def test_types_and_texts_of_json_are_as_they_are_written(tmp_path: Path) -> None:
    lines = [f'{{"user":"u","item":"a","time":"2020-01-01","r":{r}}}\n' for r in (1, 1, 1, 1.5)]
    (tmp_path / "x.jsonl").write_text("".join(lines))
    assert read(tmp_path, kind="r", events="x.jsonl").kinds == ("1", "1.5")
    assert len(read(tmp_path, where={"r": "1"}, events="x.jsonl").events) == 3


@pytest.mark.parametrize("data", [{"value": "time"}, {"where": {"time": {"min": 1}}}])
def test_dates_are_no_numbers(tmp_path: Path, data: dict[str, Any]) -> None:
    pl.read_csv(LOG.encode(), try_parse_dates=True).write_parquet(tmp_path / "x.parquet")
    with refusal(DataError, 'x.parquet: column "time" holds dates; expected numbers'):
        read(tmp_path, events="x.parquet", **data)
