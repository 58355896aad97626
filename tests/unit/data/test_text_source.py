"""Event files against Python's csv and datetime: any text, quotes, ends of lines, block sizes."""

import csv
import io
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.config import DataConfig
from harness.core.errors import DataError, UsageError
from harness.data import _events, ordering, times
from harness.data.conditions import conditions
from harness.data.layout import Layout, Table
from harness.data.layouts import BUILT_IN
from harness.data.loading import load
from harness.data.table_files import sources
from harness.data.text_source import _FORMS
from harness.delimited import blocks, fields
from harness.delimited.blocks import padded

EPOCH = datetime(1970, 1, 1)
FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def log(folder: Path, events: str = "log.csv", **keys: Any) -> Layout:
    where = conditions(keys.pop("where", {}))
    data = DataConfig(layout="table", path=".", events=events, **keys)
    return data.table_layout(folder).with_events(where=where)


def events(folder: Path, content: str | bytes, **changes: object) -> list[tuple[str, str, int]]:
    """Return user, item and time of all events, sorted."""
    data = content.encode() if isinstance(content, str) else content
    (folder / "log.csv").write_bytes(data)
    found = load(log(folder, **changes))
    columns = (getattr(found.events, name).tolist() for name in ("user", "item", "time"))
    return [(found.user_ids[u], found.item_ids[i], t) for u, i, t in zip(*columns, strict=True)]


LETTERS = st.sampled_from(["\r\n", *"ab0 \"',;\n\té€\u2028"])
IDS = st.lists(LETTERS, min_size=1, max_size=6).map("".join)


@FOLDER
@given(
    rows=st.lists(st.tuples(IDS, IDS, st.integers(0, 9)), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    size=st.sampled_from([64, 1 << 22]),
    last=st.booleans(),
)
def test_what_python_writes_is_read(
    tmp_path: Path, rows: list[Any], end: str, quoting: Any, size: int, last: bool
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end, quoting=quoting)
    writer.writerows([["user", "item", "time"], *((u, i, f"197{d}-01-01") for u, i, d in rows)])
    content = text.getvalue() if last else text.getvalue().removesuffix(end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        found = events(tmp_path, content)
    days = [(datetime(1970 + d, 1, 1) - EPOCH).days * 86_400_000_000 for _, _, d in rows]
    assert sorted(found) == sorted((u, i, t) for (u, i, _), t in zip(rows, days, strict=True))


FORMS = [
    ("%Y-%m-%d", _events.DATE, " "),
    ("%Y-%m-%d %H:%M", _events.MINUTES, " "),
    ("%Y-%m-%dT%H:%M:%S", _events.SECONDS, "T"),
    ("%Y-%m-%d %H:%M:%S.%f", _events.FRACTIONS, " "),
]


def read_times(texts: list[str], form: int, between: str, unit: int = 1) -> list[int | None]:
    """Return microseconds, None where a text is left to Polars."""
    whole = "".join(texts).encode()
    stops = np.cumsum([len(text.encode()) for text in texts])
    starts = stops - [len(text.encode()) for text in texts]
    found, left = np.zeros(len(texts), np.int64), np.ones(len(texts), np.bool_)
    _events.times(padded(whole), starts, stops, form, ord(between), unit, found, left)
    return [None if other else int(time) for time, other in zip(found, left, strict=True)]


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), st.sampled_from(FORMS))
def test_any_time_is_that_of_datetime(moment: int, written: tuple[str, int, str]) -> None:
    pattern, form, between = written
    text = (EPOCH + timedelta(microseconds=moment)).strftime(pattern)
    text = "0" * (text.index("-") < 4) * (4 - text.index("-")) + text  # %Y has no zeros in front
    read = datetime.strptime(text, pattern)
    assert (
        read_times([text, text], form, between) == [(read - EPOCH) // timedelta(microseconds=1)] * 2
    )


DATES = [
    "2021-02-29", "1900-02-29", "2020-00-01", "2020-13-01", "2020-01-32", "2020-04-31",
    "0000-01-01", "2020-1-01", "2020-01-1", "20200101", "2020/01/01", "2020-01-01 ",
    " 2020-01-01", "+020-01-01", "2020-01- 1", "", "x", "2020-01-0x", "2020-01-01T",
]  # fmt: skip
TIMES = [
    "2020-01-01 24:00:00", "2020-01-01 23:60:00", "2020-01-01 23:59:60", "2020-01-01T00:00:00",
    "2020-01-01 00:00:00.", "2020-01-01 00:00:00.1234567", "2020-01-01 00:00:00Z",
    "2020-01-01 0:00:00", "2020-01-01", "2020-01-01 00:00:0x",
]  # fmt: skip


@pytest.mark.parametrize(("texts", "form"), [(DATES, _events.DATE), (TIMES, _events.FRACTIONS)])
def test_what_is_no_plain_date_or_time_is_left(texts: list[str], form: int) -> None:
    assert [read_times([text], form, " ") for text in texts] == [[None]] * len(texts)


def test_numbers_whose_product_is_no_float_are_left() -> None:
    """2**53 // 10**6 = 9,007,199,254: as microseconds, that many seconds are still exact."""
    texts = ["0", "007", "9007199253", "9007199254", "1.0", "-1", "1e9", ""]
    seconds = [0, 7_000_000, 9_007_199_253_000_000, None, None, None, None, None]
    assert read_times(texts, _events.NUMBER, " ", 1_000_000) == seconds


@pytest.mark.parametrize(("written", "microseconds"), [
    ("9007199254", 9_007_199_254_000_000), ("1.5", 1_500_000), ("-1", -1_000_000), ("1e3", 10**9),
])  # fmt: skip
def test_numbers_that_are_left_are_read_all_the_same(
    tmp_path: Path, written: str, microseconds: int
) -> None:
    content = f"user,item,time\na,x,{written}\n"
    assert events(tmp_path, content, time_format="epoch_s") == [("a", "x", microseconds)]


def test_times_written_in_two_ways(tmp_path: Path) -> None:
    """A fraction of nine digits is cut to microseconds, as before."""
    content = "user,item,time\na,x,1970-01-01 00:00:01\na,y,1970-01-01 00:00:02.123456789\n"
    assert events(tmp_path, content) == [("a", "x", 1_000_000), ("a", "y", 2_123_456)]


def test_lines_that_end_with_a_bare_carriage_return(tmp_path: Path) -> None:
    content = "user,item,time\ra,x,1970-01-01\rb,y,1970-01-01\r"
    assert events(tmp_path, content) == [("a", "x", 0), ("b", "y", 0)]


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_carriage_return_in_quotes_is_data(tmp_path: Path, end: str) -> None:
    content = f'time,item,user\n1970-01-01,"\r","a\r"{end}'
    assert events(tmp_path, content) == [("a\r", "\r", 0)]


def test_utf_16_is_read(tmp_path: Path) -> None:
    content = "user,item,time\nzoé,x,1970-01-01\n"
    assert events(tmp_path, content.encode("utf-16")) == [("zoé", "x", 0)]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_told(tmp_path: Path, encoding: str) -> None:
    told = "UTF-16 text, it seems, without its byte order mark; give text in UTF-8"
    with refusal(DataError, "log.csv: cannot be read: it is", told):
        events(tmp_path, "user,item,time\na,x,1970-01-01\n".encode(encoding))


def test_a_byte_order_mark_is_no_letter(tmp_path: Path) -> None:
    assert events(tmp_path, b"\xef\xbb\xbfuser,item,time\na,x,1970-01-01\n") == [("a", "x", 0)]
    given_ = {"header": ["user", "item", "time"]}
    assert events(tmp_path, b"\xef\xbb\xbfa,x,1970-01-01\n", **given_) == [("a", "x", 0)]


@pytest.mark.parametrize("separator", ['"', "\r", "\n", "", '";', "\n\n", "a\x00", ":" * 9])
def test_what_ends_lines_and_quotes_separates_no_fields(tmp_path: Path, separator: str) -> None:
    with refusal(UsageError, f"[data] separator: found {separator!r}, expected one character"):
        events(tmp_path, "user,item,time\na,x,1970-01-01\n", separator=separator)


HEADER = "user,item,time,note\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('a,x,1970-01-01,n\nb,"y,1970-01-01,n\n', "line 3: a quote is opened and never closed"),
        ('a,x,1970-01-01,n\n"b"b,y,1970-01-01,n\n', "line 3: text stands behind a closed quote"),
        ('"a\n",x,1970-01-01,n\nb,y,1970-01-01\n', "line 4 has 3 fields, expected 4"),
        ('"a\x1f",x,1970-01-01,n\n', "line 2 holds a control character (0x1A, 0x1E or 0x1F)"),
        ("a,x,1970-01-01,n\n   \n", "line 3 is blank; remove it"),
        # Of two faults the first line is told, and of one line the fault of the whole line.
        ("a,x,bad,n\n,x,1970-01-01,n\n", 'line 2, column "time": found "bad"'),
        (",x,bad\n", "line 2 has 3 fields, expected 4 (user, item, time, note)"),
        (",,,n\n", 'line 2, column "user": found an empty value, expected an id'),
    ],
)
@pytest.mark.parametrize("size", [64, 1 << 22])
def test_the_line_of_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, said: str, size: int
) -> None:
    monkeypatch.setattr(blocks, "SIZE", size)
    with refusal(DataError, f"log.csv: {said}"):
        events(tmp_path, HEADER + content)


@pytest.mark.parametrize("time", ["1970-01-01 10:00:00", "1970-01-01T10:00Z", "1.1.1970"])
@pytest.mark.parametrize("wrong", ["b,y", "", '"b"b,y,1970-01-01,n', "b,\xe9,1970-01-01,n"])
def test_values_before_a_faulty_line_are_not_blamed(tmp_path: Path, time: str, wrong: str) -> None:
    """How times are written is seen, and each is read, whatever stands further down."""
    content = f"{HEADER}a,x,{time},04.00000000000000000\n{wrong}\n"
    given_ = {
        "time_format": "%d.%m.%Y" if time.count(".") else "iso",
        "where": {"note": {"min": 4}},
    }
    with refusal(DataError, "log.csv: line 3"):
        events(tmp_path, content.encode("latin-1"), **given_)


def test_lines_are_counted_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 3 lines each, in blocks of a few rows: the last row begins on line 3 · 40 + 2."""
    monkeypatch.setattr(blocks, "SIZE", 64)
    rows = '"a\n\n",x,1970-01-01,n\n' * 40
    with refusal(DataError, 'log.csv: line 122, column "time": found "never"'):
        events(tmp_path, HEADER + rows + "a,x,never,n\n")


def test_rows_are_counted_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SIZE", 64)
    (tmp_path / "log.csv").write_text(HEADER + "a,x,1970-01-01,n\n" * 40)
    (table,) = log(tmp_path).events
    (source,) = sources(table.table)
    batches = source.events(replace(table, numbered=True), fields.secret())
    assert [row for batch in batches for row in batch.row] == list(range(40))


def test_bytes_that_are_no_utf_8_matter_in_columns_that_are_read(tmp_path: Path) -> None:
    latin = "a,x,1970-01-01,zoé\n".encode("latin-1")
    assert events(tmp_path, HEADER.encode() + latin) == [("a", "x", 0)]
    with refusal(
        DataError,
        'line 3 is not UTF-8 text; save the file as UTF-8, or set encoding = "latin-1"',
    ):
        events(tmp_path, HEADER.encode() + b"a,x,1970-01-01,n\n\xe9,x,1970-01-01,n\n")


def test_text_files_and_parquet_share_their_ids(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "1.csv").write_text("user,item,time\nb,y,1970-01-01\na,x,1970-01-01\n")
    frame = pl.DataFrame({"user": ["a", "c"], "item": ["y", "x"], "time": ["1970-01-01"] * 2})
    frame.write_parquet(parts / "2.parquet")
    data = load(log(tmp_path, events="parts"))
    assert data.user_ids.to_list() == ["a", "b", "c"]
    assert data.item_ids.to_list() == ["x", "y"]
    pairs = zip(data.events.user.tolist(), data.events.item.tolist(), strict=True)
    assert list(pairs) == [(0, 0), (0, 1), (1, 1), (2, 0)]


def test_zeros_of_an_id_in_text_and_in_parquet_are_counted_once(tmp_path: Path) -> None:
    events_ = tmp_path / "transactions_train.csv"
    events_.mkdir()
    text = "t_dat,customer_id,article_id\n2020-01-01,ann,706016001\n"
    (events_ / "1.csv").write_text(text)
    pl.read_csv(events_ / "1.csv", infer_schema=False).write_parquet(events_ / "2.parquet")
    (tmp_path / "customers.csv").write_text("customer_id\nann\n")
    (tmp_path / "articles.csv").write_text("article_id\n0706016001\n")
    layout = replace(BUILT_IN["hm"].within(tmp_path), restore_zeros=True)
    assert load(layout).notes == ("1 item id padded to 10 digits",)


def test_an_empty_cell_is_missing_with_quotes_and_without(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,title\n1,\n2,""\n3,x\n')
    (found,) = sources(Table(tmp_path / "a.csv"))
    assert found.whole()["title"].to_list() == [None, None, "x"]


@pytest.mark.parametrize(
    "text", ["2020-01-01", "2020-01-01 10:00", "2020-01-01T10:00:00", "2020-01-01 10:00:00.5"]
)
def test_iso_times_without_a_zone_are_read_by_compiled_code(text: str) -> None:
    assert times.pattern_of("iso", text) in _FORMS


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_events_in_several_pieces_are_all_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(ordering, "_PIECE", size)
    content = "user,item,time\nb,x,1970-01-01\na,z,1970-01-01\na,y,1970-01-01\nb,w,1970-01-01\n"
    found = [(user, item) for user, item, _ in events(tmp_path, content)]
    assert found == [("a", "y"), ("a", "z"), ("b", "w"), ("b", "x")]
