"""Event files against Python's csv and datetime: any text, quotes, ends of lines, block sizes."""

import csv
import io
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from event_files import DAY, FOLDER, events, log, rows
from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import DataError, UsageError
from harness.data import times
from harness.data.layout import Table
from harness.data.loading import load
from harness.data.sources.text import FORMS
from harness.data.table_files import sources
from harness.delimited import blocks

EPOCH = datetime(1970, 1, 1)
HEADER = "user,item,time,note\n"
THREE = "user,item,time\n"
LETTERS = st.sampled_from(["\r\n", *"ab0 \"',;\n\té€\u2028\\"])
IDS = st.lists(LETTERS, min_size=1, max_size=6).map("".join)


@FOLDER
@given(
    rows=st.lists(st.tuples(IDS, IDS, st.integers(0, 9)), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONE]),
    escape=st.sampled_from(["", "\\"]),
    size=st.sampled_from([64, 1 << 22]),
    last=st.booleans(),
)
def test_what_python_writes_is_read(
    tmp_path: Path, rows: list[Any], end: str, quoting: Any, escape: str, size: int, last: bool
) -> None:
    quote = quoting != csv.QUOTE_NONE
    if not quote:  # then no line ends within a field, and without an escape no field either
        gone = str.maketrans(dict.fromkeys("\r\n" if escape else "\r\n,", "x"))
        rows = [(user.translate(gone), item.translate(gone), day) for user, item, day in rows]
    text = io.StringIO()
    writer = csv.writer(
        text,
        lineterminator=end,
        quoting=quoting,
        quotechar='"' if quote or escape else None,
        escapechar=escape or None,
        doublequote=not escape,
    )
    writer.writerows([["user", "item", "time"], *((u, i, f"197{d}-01-01") for u, i, d in rows)])
    content = text.getvalue() if last else text.getvalue().removesuffix(end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        result = events(tmp_path, content, quote=quote, escape=escape)
    days = [(datetime(1970 + d, 1, 1) - EPOCH).days * DAY for _, _, d in rows]
    assert sorted(result) == sorted((u, i, t) for (u, i, _), t in zip(rows, days, strict=True))


FIELD = st.lists(st.sampled_from([*':|a"\t é\u2028,', "\x1e", "\x1a"]), max_size=5).map("".join)
COLUMNS = {"header": ["user", "item", "stars", "time"], "time_format": "epoch_s"}
DOUBLE = COLUMNS | {"separator": "::"}


@FOLDER
@given(
    lines=st.lists(st.lists(FIELD, min_size=3, max_size=5), min_size=1, max_size=12),
    separator=st.sampled_from(["::", "::|", "||", "é", "a::"]),
    size=st.sampled_from([64, 1 << 22]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_longer_separators(
    tmp_path: Path, lines: list[list[str]], separator: str, size: int, end: str
) -> None:
    """Fields between them are those of `str.split`."""
    texts = [separator.join(fields) for fields in lines]
    rows = [text.split(separator) for text in texts]
    fits = (len(r) == 4 and r[0] and r[1] and r[3].isdigit() for r in rows)
    bad = next((n for n, fit in enumerate(fits, 1) if not fit), None)
    content = end.join([*texts, ""]).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        if bad is None:
            result = events(tmp_path, content, **COLUMNS, separator=separator)
            assert sorted(result) == sorted((u, i, int(t) * 1_000_000) for u, i, _, t in rows)
        else:
            with refusal(DataError, f"log.csv: line {bad}"):
                events(tmp_path, content, **COLUMNS, separator=separator)


FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999


@FOLDER
@given(
    moments=st.lists(st.integers(FIRST, LAST), min_size=1, max_size=8),
    clock=st.sampled_from(["", " %H:%M", "T%H:%M:%S", " %H:%M:%S.%f"]),
)
def test_any_time_is_that_of_datetime(tmp_path: Path, moments: list[int], clock: str) -> None:
    pattern = f"%Y-%m-%d{clock}"
    texts = [(EPOCH + timedelta(microseconds=moment)).strftime(pattern) for moment in moments]
    texts = [text.rjust(len(text) + 4 - text.index("-"), "0") for text in texts]  # %Y has no zeros
    assert {times.pattern_of("iso", text) in FORMS for text in texts} == {True}
    read = [datetime.strptime(text, pattern) - EPOCH for text in texts]
    result = events(tmp_path, THREE + "".join(f"a,x,{text}\n" for text in texts))
    expected = sorted(moment // timedelta(microseconds=1) for moment in read)
    assert [time for *_, time in result] == expected


DAYS = [
    "2021-02-29", "1900-02-29", "2020-00-01", "2020-13-01", "2020-01-32", "2020-04-31", "2020-1-01",
    "2020-01-1", "20200101", "2020/01/01", "2020-01-01 ", " 2020-01-01", "+020-01-01", "2020-01- 1",
    "x", "2020-01-0x", "2020-01-01T", "20-01-06", "-2020-01-06", "2020-\t1-06", "2020-01-0６",
]  # fmt: skip
CLOCKS = [
    " 24:00:00",
    " 23:60:00",
    "T00:00:00",
    " 00:00:00.",
    " 00:00:00Z",
    " 0:00:00",
    "",
    " 00:00:0x",
]


def test_what_is_no_such_time_is_refused(tmp_path: Path) -> None:
    wrong = [("", text) for text in DAYS] + [
        (" 00:00:00.5", f"2020-01-01{text}") for text in CLOCKS
    ]
    for clock, text in wrong:
        with refusal(DataError, 'log.csv: line 3, column "time": found '):
            events(tmp_path, f"{THREE}a,x,2020-01-01{clock}\na,x,{text}\n")


def test_times(tmp_path: Path) -> None:
    for written, time_format, microseconds in (
        ("1970-01-01T00:01:00Z", "iso", 60_000_000),
        ("1970-01-01T02:00:00+02:00", "iso", 0),
        ("1970-01-01 00:00:02.123456789", "iso", 2_123_456),  # cut to microseconds
        ("02.01.1970", "%d.%m.%Y", DAY),
        ("007", "epoch_s", 7_000_000),
        ("60000", "epoch_ms", 60_000_000),
        ("1577836800000000", "epoch_us", 1_577_836_800_000_000),
        # 2**53 // 10**6 = 9,007,199,254: beyond it no product is sure to be exact in floats.
        ("9007199253", "epoch_s", 9_007_199_253_000_000),
        ("9007199254", "epoch_s", 9_007_199_254_000_000),
        ("1.5", "epoch_s", 1_500_000),
        ("-1", "epoch_s", -1_000_000),
        ("1e3", "epoch_s", 10**9),
        # The first and the last second of the calendar.
        ("-62135596800000", "epoch_ms", -62_135_596_800_000_000),
        ("253402300799", "epoch_s", 253_402_300_799_000_000),
    ):
        result = events(tmp_path, f"{THREE}a,x,{written}\n", time_format=time_format)
        assert result == [("a", "x", microseconds)]
    in_two_ways = f"{THREE}a,x,1970-01-01 00:00:01\na,y,1970-01-01 00:00:02.123456789\n"
    assert events(tmp_path, in_two_ways) == [("a", "x", 1_000_000), ("a", "y", 2_123_456)]


AX, BY = ("a", "x", 0), ("b", "y", 0)


@pytest.mark.parametrize(
    ("keys", "content", "expected"),
    [
        ({}, "user,item,time\ra,x,1970-01-01\rb,y,1970-01-01\r", [AX, BY]),
        ({}, 'time,item,user\n1970-01-01,"\r","a\r"\n', [("a\r", "\r", 0)]),
        ({}, "user,item,time,price\na,x,1970-01-01,\n", [AX]),  # a cell that is empty
        # Blank lines
        ({}, THREE + "a,x,1970-01-01\n\n", [AX]),
        ({}, THREE + "a,x,1970-01-01\r\n  \r\n", [AX]),
        ({}, THREE + 'a,x,1970-01-01\n\n"b",y,1970-01-01\n\n\n', [AX, BY]),
        # Lines whose fields cannot be told
        ({"bad_lines": "drop"}, THREE + "a,x\na,x,1970-01-01\n\na,x,,1970-01-01\n", [AX]),
        ({"bad_lines": "drop"}, THREE + 'a\n"a",x,1970-01-01\nb\nb,y,1970-01-01\n', [AX, BY]),
        ({"bad_lines": "drop"}, THREE + '"a"b,x,1970-01-01\na,x,1970-01-01\n"b,y,1\n', [AX]),
        # Quotes that are letters, in the header too
        ({"quote": False, "user": 'u"'}, 'u",item,time\n"a,x,1970-01-01\n', [('"a', "x", 0)]),
        ({"escape": "\\"}, THREE + '"\\"a\\n",x,1970-01-01\n', [('"a\\n', "x", 0)]),
    ],
)
def test_lines_and_quotes(
    tmp_path: Path, keys: dict[str, Any], content: str, expected: list[Any]
) -> None:
    assert events(tmp_path, content, **keys) == expected


def test_lines_that_are_left_out_are_counted(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(THREE + "a\na,x,1970-01-01\na,x,,,\n,x,1970-01-01\n")
    data = load(log(tmp_path, bad_lines="drop", where={"user": {"empty": False}}))
    kept = "kept: whole lines, user = { empty = false }"
    assert data.notes == (f"log.csv: 3 of 4 rows left out ({kept})",)


def test_byte_order_marks(tmp_path: Path) -> None:
    content = f"{THREE}zoé,x,1970-01-01\n"
    for encoding in ("utf-8-sig", "utf-16"):
        for named in ({}, {"encoding": "cp1252"}):  # of which the mark knows better
            assert events(tmp_path, content.encode(encoding), **named) == [("zoé", "x", 0)]
    header = ["user", "item", "time"]
    assert events(tmp_path, b"\xef\xbb\xbfa,x,1970-01-01\n", header=header) == [("a", "x", 0)]
    for encoding in ("utf-16-le", "utf-16-be"):
        words = "cannot be read: it is UTF-16 text, it seems, without its byte order mark; give"
        with refusal(DataError, f"log.csv: {words}"):
            events(tmp_path, content.encode(encoding))


@pytest.mark.parametrize("separator", ['"', "\r", "", '";', "\n\n", "a\x00", ":" * 9])
def test_what_ends_lines_and_quotes_separates_no_fields(tmp_path: Path, separator: str) -> None:
    with refusal(UsageError, f"[data] separator is {separator!r}; expected one character"):
        small.config(tmp_path, data={"separator": separator})


EXCEL = "sep=;\nuser;item;time\na;x;2020-01-01\n"


SECONDS, MILLISECONDS = {"time_format": "epoch_s"}, {"time_format": "epoch_ms"}
GERMAN = {"time_format": "%d.%m.%Y"}


@pytest.mark.parametrize(
    ("keys", "content", "words"),
    [
        # Lines
        ({}, HEADER + 'a,x,1970-01-01,n\nb,"y,1970-01-01,n\n', "line 3: a quote is opened but ne"),
        ({}, HEADER + 'a,x,1970-01-01,n\n"b"b,y,1970-01-01,n\n', "line 3: there is text after a c"),
        ({}, HEADER + '"a\n",x,1970-01-01,n\nb,y,1970-01-01\n', "line 4 has 3 fields, expected 4"),
        ({}, HEADER + '"a\x1f",x,1970-01-01,n\n', "line 2 holds a control character (0x1A, 0x1E"),
        ({}, HEADER + "a,x,1970-01-01,n\n\na,x\n",
         "line 4 has 2 fields, expected 4 (user, item, time, note); "
         'bad_lines = "drop" under [data] leaves such lines out'),
        ({}, HEADER + 'a,x,1970-01-01,"b"b\n',
         "if quotes are ordinary characters, set quote = false under [data]; if a backslash is "
         'before quotes, set escape = "\\\\" under [data]; bad_lines = "drop" under [data] leaves'),
        # Of two faults the first line is told, and of one line the fault of the whole line.
        ({}, HEADER + "a,x,bad,n\n,x,1970-01-01,n\n", 'line 2, column "time": found "bad"'),
        # Headers
        ({}, "", "the file is empty or starts with a blank line; expected a table"),
        ({}, THREE, "the table has no rows"),
        ({"separator": "::"}, "user\x1fitem\x1ftime\n", "line 1 holds a control character (0x1A"),
        ({}, "users,item,time\na,x,2020-01-01\n",
         'log.csv: no column "user"; it has: users, item, time\ndid you mean "users"?'),
        ({}, "user,item,time,time\na,x,2020-01-01,2020-01-02\n",
         'the column "time" is there twice; name each column once; if the file has no header '
         'line, name its columns: header = ["…", "…"] under [data]'),
        ({}, "ann,x,2020-01-01\n", "no header line, name its columns: header = ["),
        ({}, "user;item;time\na;x;2020-01-01\n", 'set separator = ";" under [data]'),
        ({}, "user::item::time\na::x::1\n",
         'the separator seems to be another: set separator = "::" under [data]'),
        ({}, EXCEL, "Excel wrote line 1, 'sep=;': remove it, and set separator = \";\" under"),
        # Ids and times
        ({}, THREE + "a,x,2020-02-30\n",
         'found "2020-02-30", expected an ISO time (%Y-%m-%d, all written alike) of a real date'),
        ({}, THREE + "a,x,01.10.2025 00:01\n", 'time_format = "%d.%m.%Y %H:%M"'),
        (COLUMNS, "a::x::4::1\n",
         'seems to be another: set separator = "::" under [data] (or --set \'data.sep'),
        (COLUMNS, "a\tx\t4\t1\n", 'another: set separator = "\\t" under [data]'),
        (COLUMNS, "a x 4 1\n", "name every column, in file order, or check the separator"),
        (COLUMNS, "a,x|b|c|d,4,1,5\n",
         "line 1 has 5 fields, but [data] header names 4 (user, item, stars, time); name every"),
        (DOUBLE, "a::x::4::1\na::x::4\n", "line 2 has 3 fields, expected 4 (user, item, stars"),
        (SECONDS, THREE + "a,x,12\na,x,2020-01-01\n",
         'line 3, column "time": found "2020-01-01", expected a number of seconds'),
        (SECONDS, THREE + "a,x,2020-01-01\n", 'such as 2020-09-16 or 2020-09-16 12:30:00 "iso"'),
        (SECONDS, THREE + "b,y,1704067200000\n", 'milliseconds are time_format = "epoch_ms"'),
        (MILLISECONDS, THREE + "a,x,soon\n", 'seconds are time_format = "epoch_s", times such'),
        (MILLISECONDS, THREE + "a,x,-62135596801000\n", "within the years 1 to 9999"),
        (GERMAN, THREE + "a,x,25.11.99\n",
         'found "25.11.99", expected a time written as %d.%m.%Y; %Y is a year of four digits, %y'),
    ],
)  # fmt: skip
def test_faults(tmp_path: Path, keys: dict[str, Any], content: str, words: str) -> None:
    with refusal(DataError, "log.csv: ", words):
        events(tmp_path, content, **keys)


def test_blocks_count_lines_and_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 3 lines each, in blocks of a few rows: the last row begins on line 3 · 40 + 2."""
    monkeypatch.setattr(blocks, "SIZE", 64)
    rows = '"a\n\n",x,1970-01-01,n\n' * 40
    with refusal(DataError, 'log.csv: line 122, column "time": found "never"'):
        events(tmp_path, HEADER + rows + "a,x,never,n\n")
    (tmp_path / "log.csv").write_text(HEADER + rows)
    (table,) = log(tmp_path).events
    (source,) = sources(table)
    batches = source.events(replace(table, numbered=True), blocks.secret())
    assert [row for batch in batches for row in batch.row] == list(range(40))


def test_bytes_that_are_no_utf_8_matter_in_columns_that_are_read(tmp_path: Path) -> None:
    latin = "a,x,1970-01-01,zoé\n".encode("latin-1")
    assert events(tmp_path, HEADER.encode() + latin) == [("a", "x", 0)]
    words = 'line 3 is not UTF-8 text; save the file as UTF-8, or set encoding = "latin-1"'
    with refusal(DataError, words):
        events(tmp_path, HEADER.encode() + b"a,x,1970-01-01,n\n\xe9,x,1970-01-01,n\n")


def test_text_files_and_parquet_share_their_ids(tmp_path: Path) -> None:
    small.write(tmp_path, {"parts/1.csv": f"{THREE}b,y,1970-01-01\na,x,1970-01-01\n"})
    frame = pl.DataFrame({"user": ["a", "c"], "item": ["y", "x"], "time": ["1970-01-01"] * 2})
    frame.write_parquet(tmp_path / "parts" / "2.parquet")
    result = rows(log(tmp_path, events="parts"))
    assert result == [("a", "x", 0), ("a", "y", 0), ("b", "y", 0), ("c", "x", 0)]


def test_an_empty_cell_is_missing_with_quotes_and_without(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,title\n1,\n2,""\n3,x\n')
    (source,) = sources(Table(tmp_path / "a.csv"))
    assert source.whole()["title"].to_list() == [None, None, "x"]


LONG = "user,items" + "," * (1 << 17)
OF_MANY_LINES = ",".join(f'"\n{n:04x}"' for n in range(20_000))


@pytest.mark.parametrize("header", [LONG, OF_MANY_LINES], ids=["long", "of many lines"])
def test_a_header_without_an_end_is_refused(tmp_path: Path, header: str) -> None:
    (tmp_path / "truth.csv").write_text(f"{header}\nu1,1\n")
    with pytest.raises(DataError, match="line 1 is longer than 65,536 bytes; expected a header"):
        next(sources(Table(tmp_path / "truth.csv")))
