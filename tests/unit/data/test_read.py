"""Files to events: formats, times, and every error with file, line, column and value."""

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import refusal
from test_text_source import log

from harness.core.errors import DataError
from harness.data.dataset import Dataset
from harness.data.layouts import BUILT_IN
from harness.data.loading import load

DAY = 86_400_000_000
HEADER = "user,item,time\n"


def text(folder: Path, content: str, name: str = "log.csv") -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder


def days(data: Dataset) -> list[float]:
    return (data.events.time / DAY).tolist()


def rows(data: Dataset) -> list[tuple[str, str]]:
    users, items = data.user_ids.to_list(), data.item_ids.to_list()
    pairs = zip(data.events.user, data.events.item, strict=True)
    return [(users[u], items[i]) for u, i in pairs]


def test_events_stand_by_user_time_item_whatever_the_row_order(tmp_path: Path) -> None:
    lines = ["b,y,1970-01-02", "a,y,1970-01-03", "a,x,1970-01-03", "a,z,1970-01-02"]
    expected = [("a", "z"), ("a", "x"), ("a", "y"), ("b", "y")]
    for order in (lines, lines[::-1]):
        data = load(log(text(tmp_path, HEADER + "\n".join(order) + "\n")))
        assert rows(data) == expected
        assert days(data) == [1, 2, 2, 1]


def test_ids_stay_text(tmp_path: Path) -> None:
    data = load(log(text(tmp_path, HEADER + "007,0706016001,2020-01-01\n7,NA,2020-01-01\n")))
    assert data.user_ids.to_list() == ["007", "7"]
    assert data.item_ids.to_list() == ["0706016001", "NA"]


def test_gz_and_zip_hold_the_same_events(tmp_path: Path) -> None:
    content = HEADER + "a,x,2020-01-01\nb,y,2020-01-02\n"
    plain = rows(load(log(text(tmp_path, content))))
    (tmp_path / "log.csv").unlink()
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(content.encode()))
    assert rows(load(log(tmp_path))) == plain
    (tmp_path / "log.csv.gz").unlink()
    with zipfile.ZipFile(tmp_path / "log.csv.zip", "w") as archive:
        archive.writestr("log.csv", content)
    assert rows(load(log(tmp_path))) == plain


def test_a_zip_of_two_files_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.csv.zip", "w") as archive:
        archive.writestr("a.csv", "x")
        archive.writestr("b.csv", "x")
    with pytest.raises(
        DataError, match=r"log.csv.zip: holds other than one file \(a.csv, b.csv\); .* one"
    ):
        load(log(tmp_path))


@pytest.mark.parametrize("name", ["log.csv.gz", "log.csv.zip"])
def test_a_damaged_archive_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"user,item,time\n" * 100)[:40])
    with pytest.raises(DataError, match=f"{name}: cannot be unpacked"):
        load(log(tmp_path))


def test_tsv_without_a_header(tmp_path: Path) -> None:
    text(tmp_path, "196\t242\t3\t881250949\n", "u.tsv")
    names = ["user", "item", "rating", "time"]
    data = load(log(tmp_path, "u.tsv", header=names, time_format="epoch_s"))
    assert rows(data) == [("196", "242")]
    assert data.events.time.tolist() == [881250949 * 1_000_000]


def test_parquet_and_a_folder_of_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": ["a", "b"], "item": [1, 2], "time": [0, DAY]})
    dated = frame.with_columns(pl.col("time").cast(pl.Datetime("us")))
    dated.write_parquet(tmp_path / "log.parquet")
    assert rows(load(log(tmp_path, "log.parquet"))) == [("a", "1"), ("b", "2")]
    (tmp_path / "parts").mkdir()
    dated[:1].write_parquet(tmp_path / "parts" / "part-0.parquet")
    dated[1:].write_parquet(tmp_path / "parts" / "part-1.parquet")
    (tmp_path / "parts" / "_SUCCESS").touch()
    assert rows(load(log(tmp_path, "parts"))) == [("a", "1"), ("b", "2")]


def test_float_ids_are_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": [1.0], "item": ["x"], "time": ["2020-01-01"]})
    frame.write_parquet(tmp_path / "log.parquet")
    with pytest.raises(DataError, match=r'column "user" holds floats, .*Int64'):
        load(log(tmp_path, "log.parquet"))


@pytest.mark.parametrize(
    ("written", "time_format", "seconds"),
    [
        ("1970-01-02", "iso", 86_400),
        ("1970-01-01 00:01:00", "iso", 60),
        ("1970-01-01T00:01:00Z", "iso", 60),
        ("1970-01-01T02:00:00+02:00", "iso", 0),
        ("1970-01-01 00:00", "iso", 0),
        ("60", "epoch_s", 60),
        ("60000", "epoch_ms", 60),
        ("1577836800000000", "epoch_us", 1_577_836_800),
        ("02.01.1970", "%d.%m.%Y", 86_400),
    ],
)
def test_times(tmp_path: Path, written: str, time_format: str, seconds: int) -> None:
    data = load(log(text(tmp_path, HEADER + f"a,x,{written}\n"), time_format=time_format))
    assert data.events.time.tolist() == [seconds * 1_000_000]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (HEADER + "a,x,2020-01-01\na,y,2020-13-01\n",
         ["log.csv: line 3", 'column "time"', '"2020-13-01"', "ISO time"]),
        (HEADER + "a,x,yesterday\n", ["line 2", 'column "time"', '"yesterday"']),
        (HEADER + "a,x,18.02.2024\n",
         ["line 2", 'column "time"', '"18.02.2024"', "ISO time (%Y-%m-%d, all written alike)"]),
        (HEADER + "a,x,2020-01-01\n,y,2020-01-01\n",
         ["line 3", 'column "user"', "an empty value", "an id"]),
        (HEADER + "a,,2020-01-01\n", ["line 2", 'column "item"', "an empty value"]),
        (HEADER + "a,x,2020-01-01\n\nb,y,2020-01-01\n", ["line 3 is blank"]),
        (HEADER + "a,x,2020-01-01\nb,y\n", ["line 3 has 2 fields, expected 3 (user, item, time)"]),
        (HEADER + "a,x,2020-01-01\nb\n", ["line 3 has 1 field, expected 3 (user, item, time)"]),
        (HEADER + "a,x,2020-01-01,9\n", ["line 2 has 4 fields, expected 3"]),
        (HEADER + '"two\nlines",x,2020-01-01\na,y,bad\n', ["line 4", '"bad"']),
        ("who,item,time\na,x,2020-01-01\n", ["line 1", 'no column "user"', "who, item, time"]),
        ("users,item,time\na,x,2020-01-01\n", ['did you mean "users"?']),
        ("", ["log.csv"]),
        (HEADER, ["the table has no rows"]),
        ("user,item,time,price\na,x,2020-01-01,1\na,y,2020-01-01,1,2\n",  # price is not read
         ["line 3 has 5 fields, expected 4"]),
        ("user,item,time,price\na,x,2020-01-01,\na,y,2020-01-01\n",
         ["line 3 has 3 fields, expected 4"]),
        (HEADER + '"",x,2020-01-01\n', ['line 2, column "user": found an empty value']),
        (HEADER + 'a,"",2020-01-01\n', ['line 2, column "item": found an empty value']),
        ("user,item,time,time\na,x,2020-01-01,2020-01-02\n",
         ['the column "time" stands twice; name each once; where the file has no header line, name '
          'its columns: header = ["…", "…"] under [data]']),
        ("user;item;time\na;x;2020-01-01\n", ['set separator = ";" under [data]']),
        ("sep=;\nuser;item;time\na;x;2020-01-01\n",
         ["Excel wrote line 1, 'sep=;': remove it, and set separator = \";\" under [data]"]),
        ("ann,x,2020-01-01\n", ["no header line, name its columns: header = ["]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, content: str, named: list[str]) -> None:
    with refusal(DataError, *named):
        load(log(text(tmp_path, content)))


@pytest.mark.parametrize(
    ("content", "keys", "named"),
    [
        ("user,item,time,rating\na,x,2020-01-01,4\na,y,2020-01-01,good\n",
         {"where": {"rating": {"min": 4}}},
         ['line 3, column "rating": found "good", expected a number']),
        (HEADER + "a,x,12\na,x,2020-01-01\n", {"time_format": "epoch_s"},
         ["line 3", '"2020-01-01", expected a number of seconds',
          'times such as 2020-09-16 or 2020-09-16 12:30:00 "iso"']),
        (HEADER + "a,x,soon\n", {"time_format": "epoch_ms"},
         ['seconds are time_format = "epoch_s", times such as 2020-09-16 or 2020-09-16 12:30:00']),
        (HEADER + "a,x,12\na,x,\n", {"time_format": "epoch_s"},
         ["line 3", 'where = { time = { empty = false } } under [data] leaves such rows out']),
        (HEADER + "a,x,2020-01-01\na,x,\n", {},
         ["where = { time = { empty = false } } under [data] leaves such rows out"]),
        (HEADER + "a,x,12\nb,y,1704067200000\n", {"time_format": "epoch_s"},
         ['line 3, column "time": found "1704067200000", expected', 'time_format = "epoch_ms"']),
        (HEADER + "a,x,-62135596801000\n", {"time_format": "epoch_ms"}, ["line 2", "years 1 to"]),
        (HEADER + "a,x,25.11.99\n", {"time_format": "%d.%m.%Y"},
         ['line 2, column "time": found "25.11.99", expected a time written as %d.%m.%Y',
          "%Y is a year of four digits, %y one of two"]),
        (HEADER + "a,x,2020-02-30\n", {}, ['found "2020-02-30", expected an ISO time',
                                           "(%Y-%m-%d, all written alike) of a day that exists"]),
        ("sep=;\nuser;item;time\na;x;2020-01-01\n", {"separator": ";"}, ["'sep=;': remove it"]),
        ("a,x,2020-01-01\n", {"header": ["user", "item"], "time": False},
         ["line 1 has 3 fields, but [data] header names 2"]),
    ],
)  # fmt: skip
def test_what_is_wrong_by_a_key_is_named(
    tmp_path: Path, content: str, keys: dict[str, Any], named: list[str]
) -> None:
    with refusal(DataError, *named):
        load(log(text(tmp_path, content), **keys))


def test_columns_are_told_once(tmp_path: Path) -> None:
    """Where none is like the missing one."""
    with pytest.raises(DataError) as raised:
        load(log(text(tmp_path, "who,item,time\na,x,2020-01-01\n")))
    assert str(raised.value).endswith(
        'log.csv: line 1: no column "user"; the file has: who, item, time'
    )


def test_a_column_of_a_file_without_a_header_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("1\t2\t3\t4\n")
    layout = BUILT_IN["ml-100k"].within(tmp_path).with_events(kind="type")
    said = 'u.data: no column "type"; the layout\'s header has: user, item, rating, timestamp'
    with refusal(DataError, said):
        load(layout)


def test_parquet_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": ["a"], "item": ["x"], "time": ["2020-01-01"]})
    frame.write_parquet(tmp_path / "log.csv")
    assert rows(load(log(tmp_path))) == [("a", "x")]


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_text_that_is_named_parquet_is_told(tmp_path: Path, packed: str) -> None:
    opened = gzip.open if packed else Path.open
    path = tmp_path / f"log.parquet{packed}"
    with opened(path, "wb") as file:
        file.write(HEADER.encode() + b"a,x,2020-01-01\n")
    told = f"is no Parquet file and looks like text; rename it log.csv{packed}"
    with refusal(DataError, f"log.parquet{packed}: {told}"):
        load(log(tmp_path, "log.parquet"))
    path.rename(tmp_path / f"log.csv{packed}")
    assert rows(load(log(tmp_path))) == [("a", "x")]


def test_numbers_for_times_need_a_unit(tmp_path: Path) -> None:
    pl.DataFrame({"user": ["a"], "item": ["x"], "time": [12]}).write_parquet(tmp_path / "l.parquet")
    with pytest.raises(DataError, match=r'holds numbers.*time_format = "epoch_s"'):
        load(log(tmp_path, "l.parquet"))


def test_milliseconds_in_parquet_are_no_seconds(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "time": [12, 1_704_067_200_000]})
    frame.write_parquet(tmp_path / "l.parquet")
    with refusal(DataError, 'row 2, column "time": found "1704067200000"', '"epoch_ms"'):
        load(log(tmp_path, "l.parquet", time_format="epoch_s"))


@pytest.mark.parametrize(
    ("written", "unit", "year"),
    [
        (253_402_300_799, "epoch_s", 9999),
        (-62_135_596_800_000, "epoch_ms", 1),
        (253_402_300_799_000_000, "epoch_us", 9999),
    ],
)
def test_the_first_and_the_last_second_of_the_calendar(
    tmp_path: Path, written: int, unit: str, year: int
) -> None:
    data = load(log(text(tmp_path, HEADER + f"a,x,{written}\n"), time_format=unit))
    assert data.events.time.astype("datetime64[us]")[0].astype(object).year == year


def test_wide_time_ranges_sort_alike(tmp_path: Path) -> None:
    """Microseconds over centuries do not fit the packed order; the slow one must agree."""
    lines = ["b,x,2261-01-01T00:00:00.000001", "a,y,1700-01-01T00:00:00", "a,x,1700-01-01T00:00:00"]
    users = [f"u{i},x,2000-01-01T00:00:00" for i in range(300)]
    data = load(log(text(tmp_path, HEADER + "\n".join(lines + users) + "\n")))
    assert rows(data)[:3] == [("a", "x"), ("a", "y"), ("b", "x")]
    assert np.all(np.diff(data.events.user) >= 0)


def test_an_empty_last_cell_is_no_missing_field(tmp_path: Path) -> None:
    text(tmp_path, "user,item,time,price\na,x,2020-01-01,\na,y,2020-01-01,1\n")
    assert rows(load(log(tmp_path))) == [("a", "x"), ("a", "y")]


@pytest.mark.parametrize(
    "written",
    [
        "20-01-06",
        "09-01-20",
        "-2020-01-06",
        " 2020-01-06",
        "2020-\t1-06",
        "2020-01-0６",
    ],
)
def test_what_only_resembles_a_date_is_refused(tmp_path: Path, written: str) -> None:
    with pytest.raises(DataError, match=r'line 3, column "time"'):
        load(log(text(tmp_path, HEADER + f"a,x,2020-01-01\na,y,{written}\n")))


def test_a_part_below_the_minimum_and_all_parts_below_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    header = "user,item,time,rating\n"
    text(tmp_path / "parts", header + "a,x,2020-01-01,5\n", "1.csv")
    text(tmp_path / "parts", header + "b,x,2020-01-01,1\n", "2.csv")
    assert rows(load(log(tmp_path, "parts", where={"rating": {"min": 4}}))) == [("a", "x")]
    with pytest.raises(DataError, match="none of 2 rows has rating >= 6"):
        load(log(tmp_path, "parts", where={"rating": {"min": 6}}))
