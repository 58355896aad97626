"""Columns of event types and values, and conditions: in text, Parquet and buckets."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import small
from conftest import refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.errors import DataError
from harness.data import bucketing
from harness.data.buckets import prepared
from harness.data.dataset import Dataset
from harness.data.loading import load
from harness.delimited import blocks

LOG = """user,item,time,event,stars
ann,a,2020-01-01,view,1
ann,b,2020-01-02,sale,4.5
bob,a,2020-01-03,view,-2
bob,a,2020-01-03,cart,0
"""
Row = tuple[str, str, str, float | None]


def rows(data: Dataset) -> list[Row]:
    """Return the events of a data set in its order: user, item, type, value."""
    users, items, e = data.user_ids.to_list(), data.item_ids.to_list(), data.events
    kinds = [data.kinds[kind] for kind in e.kind]
    values = [None] * len(e) if e.value is None else e.value.tolist()
    pairs = zip(e.user, e.item, strict=True)
    return [(users[u], items[i], k, v) for (u, i), k, v in zip(pairs, kinds, values, strict=True)]


def read(folder: Path, log: str = LOG, **data: Any) -> Dataset:
    return load(small.config(folder, log=log, data=data).layout())


def as_parquet(folder: Path, log: str) -> None:
    pl.read_csv(log.encode()).write_parquet(folder / "log.parquet")


def test_types_and_values_are_those_of_their_columns(tmp_path: Path) -> None:
    found = read(tmp_path, kind="event", value="stars")
    assert found.kinds == ("cart", "sale", "view")  # by name
    assert rows(found) == [
        ("ann", "a", "view", 1.0),
        ("ann", "b", "sale", 4.5),
        ("bob", "a", "cart", 0.0),
        ("bob", "a", "view", -2.0),
    ]


def test_without_their_columns_there_is_one_type_and_no_value(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.kinds == ("event",)
    assert {(kind, value) for _, _, kind, value in rows(found)} == {("event", None)}


@pytest.mark.parametrize(
    ("where", "items", "note"),
    [
        ({"event": "view"}, ["a", "a"], "event = view"),
        ({"event": ["sale", "cart"]}, ["b", "a"], "event = sale or cart"),
        ({"stars": {"min": 0, "max": 1}}, ["a", "a"], "0 <= stars <= 1"),
        ({"stars": {"max": 0.5}, "event": ["cart"]}, ["a"], "event = cart, stars <= 0.5"),
    ],
)
@pytest.mark.parametrize("events", ["log.csv", "log.parquet"])
def test_rows_that_do_not_hold_the_conditions_are_left_out_and_counted(
    tmp_path: Path, where: dict[str, Any], items: list[str], note: str, events: str
) -> None:
    as_parquet(tmp_path, LOG)
    found = read(tmp_path, where=where, events=events)
    assert [item for _, item, _, _ in rows(found)] == items
    assert found.notes == (f"{events}: {4 - len(items)} of 4 rows left out (kept: {note})",)


EMPTY = """user,item,time,stars
ann,a,2020-01-01,1
,b,2020-01-02,2
bob,,2020-01-03,3
cid,d,,4
dee,e,2020-01-05,
"""
FILES = ["log.csv", "log.parquet", "log.jsonl"]


@pytest.mark.parametrize("events", FILES)
@pytest.mark.parametrize("column", ["user", "item", "time", "stars"])
def test_rows_in_which_nothing_stands_are_left_out_where_that_is_said(
    tmp_path: Path, column: str, events: str
) -> None:
    """Each of the rows behind the first lacks one of the columns; its hint helps."""
    lines = EMPTY.splitlines(keepends=True)
    row = 2 + ["user", "item", "time", "stars"].index(column)
    log = "".join([lines[0], lines[1], lines[row]])
    as_parquet(tmp_path, log)
    pl.read_csv(log.encode()).write_ndjson(tmp_path / "log.jsonl")
    own: dict[str, Any] = {"events": events} | ({"value": "stars"} if column == "stars" else {})
    with pytest.raises(
        DataError, match=rf'column "{column}": found an empty value.*leaves such ro'
    ):
        read(tmp_path, log, **own)
    found = read(tmp_path, log, where={column: {"empty": False}}, **own)
    assert [(user, item) for user, item, _, _ in rows(found)] == [("ann", "a")]
    assert found.notes == (f"{events}: 1 of 2 rows left out (kept: {column} is not empty)",)


def test_a_missing_number_is_empty_in_a_column_of_floats(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"user": ["ann", "bob"], "item": ["a", "b"], "time": ["2020-01-01"] * 2}
    ).with_columns(stars=pl.Series([1.0, float("nan")]))
    frame.write_parquet(tmp_path / "log.parquet")
    found = read(tmp_path, events="log.parquet", where={"stars": {"empty": False}})
    assert len(found.events) == 1


def test_an_event_of_two_values_comes_with_the_lower_one_first_whatever_the_rows(
    tmp_path: Path,
) -> None:
    one, other = "ann,a,2020-01-01,5\n", "ann,a,2020-01-01,-0.5\n"
    for log in (one + other, other + one):
        found = read(tmp_path, "user,item,time,stars\n" + log, value="stars")
        assert found.events.value is not None
        assert found.events.value.tolist() == [-0.5, 5.0]


def test_a_given_split_tells_its_tables_apart_and_not_its_types(tmp_path: Path) -> None:
    small.write(tmp_path, {"later.csv": LOG})
    split = {"strategy": "given", "valid": "later.csv"}
    config = small.config(tmp_path, log=LOG, split=split, data={"kind": "event"})
    found = load(config.layout())
    assert found.kinds == ("cart", "sale", "view") * 2
    assert found.valid_kinds == (3, 4, 5)


BAD = {
    "no type": ("ann,a,2020-01-01,,1\n", ['column "event": found an empty value', "an event type"]),
    "no value": (
        "ann,a,2020-01-01,view,\n",
        ['column "stars": found an empty value, expected a number', "where = { stars = {"],
    ),
    "a value that is no number": (
        "ann,a,2020-01-01,view,good\n",
        [
            'column "stars": found "good", expected a number; mend it, or list the texts of '
            'the rows to keep: where = { stars = ["1", "2.5"] } under [data]'
        ],
    ),
    "an endless value": ("ann,a,2020-01-01,view,inf\n", ['found "inf", expected a number']),
}


@pytest.mark.parametrize(("events", "place"), [("log.csv", "line 6"), ("log.parquet", "row 5")])
@pytest.mark.parametrize(("row", "words"), BAD.values(), ids=BAD)
def test_bad_types_and_values_are_told_with_their_place(
    tmp_path: Path, row: str, words: list[str], events: str, place: str
) -> None:
    pl.read_csv((LOG + row).encode(), infer_schema=False).write_parquet(tmp_path / "log.parquet")
    with refusal(DataError, f"{events}: {place}, ", *words):
        read(tmp_path, LOG + row, kind="event", value="stars", events=events)


@pytest.mark.parametrize("events", ["log.csv", "log.parquet"])
def test_a_column_of_ids_is_no_column_of_event_types(tmp_path: Path, events: str) -> None:
    log = "user,item,time\n" + "".join(f"u,i{n},2020-01-01\n" for n in range(300))
    as_parquet(tmp_path, log)
    with refusal(DataError, f'{events}: column "item" holds more than 255 event types ("i0", "i1'):
        read(tmp_path, log, kind="item", events=events)


@pytest.mark.parametrize("key", ["kind", "value", "where"])
def test_a_column_that_is_not_there_is_told(tmp_path: Path, key: str) -> None:
    column: Any = {"event": "x"} if key == "where" else "evnt"
    words = ('no column "event"',) if key == "where" else ('no column "evnt"', '"event"?')
    log = "user,item,time\nann,a,2020-01-01\n" if key == "where" else LOG
    with refusal(DataError, "log.csv: line 1: ", *words):
        read(tmp_path, log, **{key: column})


def test_a_condition_that_no_row_holds_is_told(tmp_path: Path) -> None:
    with refusal(DataError, "log.csv: none of 4 rows has event = buy; look at [data] where"):
        read(tmp_path, where={"event": "buy"})


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"event": "Sale"}, 'column "event" holds view, sale, cart; did you mean "sale"?'),
        ({"event": ["zzz", "Cart"]}, 'column "event" holds view, sale, cart; did you mean "cart"?'),
        ({"event": "zzz"}, 'column "event" holds view, sale, cart'),
        ({"stars": {"min": 9}}, 'column "stars" holds 1, 4.5, -2, 0'),
        ({"event": "cart", "user": "ANN"}, 'column "user" holds ann, bob; did you mean "ann"?'),
        ({"event": "cart", "user": "ann"}, "has event = cart, user = ann; look at [data] where"),
    ],
)
@pytest.mark.parametrize("events", ["log.csv", "packed.csv.gz", "log.parquet"])
def test_what_a_condition_might_have_meant_is_told(
    tmp_path: Path, where: dict[str, Any], said: str, events: str
) -> None:
    pl.read_csv(LOG.encode(), infer_schema=False).write_parquet(tmp_path / "log.parquet")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(LOG.encode()))
    with pytest.raises(DataError) as raised:
        read(tmp_path, where=where, events=events)
    assert str(raised.value).endswith(said)


def test_a_column_of_many_texts_is_told_by_its_first(tmp_path: Path) -> None:
    log = "user,item,time\n" + "".join(f"u,i{n},2020-01-01\n" for n in range(9))
    with refusal(DataError, 'column "item" holds i0, i1, i2, i3, i4, …'):
        read(tmp_path, log, where={"item": "zzz"})


@pytest.mark.parametrize(
    "events", ["log.csv", "log.jsonl", "log.parquet", "x.sqlite::l", "x.db::l"]
)
@pytest.mark.parametrize("column", ["paid", "price"])
def test_how_conditions_match_booleans_and_floats(tmp_path: Path, events: str, column: str) -> None:
    """By their text: true and 1.0; SQLite, which has no booleans, holds 1."""
    frame = pl.DataFrame(
        {"user": ["a"], "item": ["b"], "time": ["2020-01-01"], "paid": [True], "price": [1.0]}
    )
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_ndjson(tmp_path / "log.jsonl")
    made = "CREATE TABLE l AS SELECT 'a' AS user, 'b' AS item, '2020-01-01' AS time, "
    for connect, name in ((sqlite3.connect, "x.sqlite"), (duckdb.connect, "x.db")):
        with closing(connect(tmp_path / name)) as connection:
            connection.execute(f"{made} true AS paid, CAST(1 AS DOUBLE) AS price")
            connection.commit()
    truth = "1" if "sqlite" in events else "true"
    wanted = {"paid": truth, "price": "1.0"}[column]
    found = read(tmp_path, frame.write_csv(), events=events, where={column: wanted})
    assert len(found.events) == 1


TYPES = st.sampled_from(["view", "sale", "a, b", 'say "x"', "é"])
VALUES = st.sampled_from([-1.0, 0.0, 0.1, 2.0, 1e300])
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(1, 3), TYPES, VALUES),
    min_size=1,
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_rows=ROWS, random=st.randoms(use_true_random=False), size=st.sampled_from([50, 1000]))
def test_text_parquet_and_buckets_hold_the_same_events(
    tmp_path: Path, given_rows: list[Any], random: Any, size: int
) -> None:
    names = ["user", "item", "time", "event", "stars"]
    table = [(u, i, f"2020-01-{day:02}", k, v) for u, i, day, k, v in given_rows]
    shuffled = random.sample(table, len(table))
    frames = [pl.DataFrame(of, names, orient="row") for of in (table, shuffled)]
    frames[0].write_csv(tmp_path / "log.csv")
    frames[1].write_parquet(tmp_path / "log.parquet")
    data = {"kind": "event", "value": "stars", "where": {"event": ["view", "a, b", "é", "sale"]}}
    text, parquet = (
        small.config(tmp_path, log=frames[0].write_csv(), data={**data, "events": f"log.{end}"})
        for end in ("csv", "parquet")
    )
    kept = sorted((u, t, i, k, v) for u, i, t, k, v in table if k != 'say "x"')
    if not kept:
        return
    expected = [(u, i, k, v) for u, _, i, k, v in kept]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        patch.setattr(bucketing, "bucket_count", lambda events: 3)
        assert rows(load(text.layout())) == rows(load(parquet.layout())) == expected
        with prepared(text.layout(), kept=False) as found:
            assert sorted(row for part in found.datasets() for row in rows(part)) == sorted(
                expected
            )


@pytest.mark.parametrize("events", ["log.csv", "log.parquet"])
def test_what_is_left_out_may_hold_anything(tmp_path: Path, events: str) -> None:
    bad = LOG + "ann,b,yesterday,cart,9\n"
    log = bad + "ann,a,2020-01-01,,\nbob,,2020-01-05,,\n"
    as_parquet(tmp_path, log)
    where = {"event": ["view", "sale"]}
    found = read(tmp_path, log, kind="event", value="stars", where=where, events=events)
    assert len(found.events) == 3
    assert found.kinds == ("sale", "view")
    with refusal(
        DataError, f"{events}: ", 'column "time": found "yesterday", expected an ISO time'
    ):
        as_parquet(tmp_path, bad)
        read(tmp_path, bad, events=events)


def test_types_are_named_in_a_note(tmp_path: Path) -> None:
    """So that View beside view is seen."""
    found = read(
        tmp_path, LOG.replace("bob,a,2020-01-03,view", "bob,a,2020-01-03,View"), kind="event"
    )
    assert found.notes == ("event types: View, cart, sale, view",)


@pytest.mark.parametrize("events", ["log.csv", "log.parquet"])
def test_a_hint_on_a_value_that_is_no_number_works(tmp_path: Path, events: str) -> None:
    """Bounds are refused there: the column has to hold numbers, or nothing."""
    log = LOG + "ann,a,2020-01-01,view,five\n"
    pl.read_csv(log.encode(), infer_schema=False).write_parquet(tmp_path / "log.parquet")
    with refusal(
        DataError, 'found "five"', "list the texts of the rows to keep: where = { stars ="
    ):
        read(tmp_path, log, value="stars", where={"stars": {"min": 0}}, events=events)
    found = read(tmp_path, log, value="stars", where={"stars": ["1", "4.5"]}, events=events)
    assert found.events.value is not None
    assert sorted(found.events.value.tolist()) == [1, 4.5]


def test_a_value_that_is_none_is_left_out_by_bounds(tmp_path: Path) -> None:
    log = LOG + "ann,a,2020-01-01,view,NaN\n"
    with refusal(DataError, 'found "NaN"', "where = { stars = { min = 0 } } under [data] leaves"):
        read(tmp_path, log, value="stars")
    assert len(read(tmp_path, log, value="stars", where={"stars": {"min": 0}}).events) == 3


@pytest.mark.parametrize("events", ["log.csv", "log.parquet", "log.jsonl"])
def test_a_zero_below_zero_is_a_zero(tmp_path: Path, events: str) -> None:
    """Two zeros that are equal and are not the same bits must not be two values, or another one."""
    names = ["user", "item", "time", "stars"]
    stars = [-5.0, -0.0, 0.0, 3.0]
    table = [("ann", item, "2020-01-01", v) for item, v in zip("vwxy", stars, strict=True)]
    frame = pl.DataFrame(table, names, orient="row")
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_ndjson(tmp_path / "log.jsonl")
    found = read(tmp_path, frame.write_csv(), value="stars", events=events)
    assert found.events.value is not None
    assert [str(value) for value in found.events.value.tolist()] == ["-5.0", "0.0", "0.0", "3.0"]


def test_types_and_texts_of_json_are_as_they_are_written(tmp_path: Path) -> None:
    """A float somewhere makes floats of a column's whole numbers, but not of their texts."""
    lines = [f'{{"user":"u{n}","item":"a","time":"2020-01-01","r":1}}' for n in range(3)]
    small.write(tmp_path, {"log.jsonl": "\n".join([*lines, lines[0].replace("1}", "1.5}")]) + "\n"})
    assert read(tmp_path, kind="r", events="log.jsonl").kinds == ("1", "1.5")
    assert len(read(tmp_path, where={"r": "1"}, events="log.jsonl").events) == 3


@pytest.mark.parametrize("events", ["log.csv", "log.parquet"])
def test_an_empty_text_is_within_no_bounds(tmp_path: Path, events: str) -> None:
    log = "user,item,time,stars\n" + "".join(f"u,i,2020-01-01,{v}\n" for v in ("1", "", "2", "3"))
    frame = pl.read_csv(log.encode(), infer_schema=False).fill_null("")
    frame.write_parquet(tmp_path / "log.parquet")
    found = read(tmp_path, log, where={"stars": {"min": 1}}, value="stars", events=events)
    assert found.events.value is not None
    assert found.events.value.tolist() == [1, 2, 3]


@pytest.mark.parametrize("to", [pl.Date, pl.Datetime])
@pytest.mark.parametrize("data", [{"value": "time"}, {"where": {"time": {"min": 1}}}])
def test_dates_are_no_numbers(tmp_path: Path, data: dict[str, Any], to: Any) -> None:
    times = pl.read_csv(LOG.encode()).with_columns(pl.col("time").str.strptime(to))
    times.write_parquet(tmp_path / "log.parquet")
    words = "dates" if to is pl.Date else "dates with times"
    with refusal(DataError, f'log.parquet: column "time" holds {words}; expected numbers'):
        read(tmp_path, events="log.parquet", **data)


def test_rows_are_numbered_beside_a_column_called_row(tmp_path: Path) -> None:
    pl.read_csv(LOG.encode()).with_columns(row=pl.lit(7)).write_parquet(tmp_path / "log.parquet")
    split = {"strategy": "last_n", "n": 1, "ties": "file"}
    config = small.config(tmp_path, log=LOG, split=split, data={"events": "log.parquet"})
    assert sorted(load(config.layout()).events.row.tolist()) == [0, 1, 2, 3]  # type: ignore[union-attr]
