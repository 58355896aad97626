"""Files to events: what a file is packed in or is, ids and order."""

import gzip
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from event_files import events, log, refused, rows

from harness.core.errors import DataError
from harness.data.layouts import BUILT_IN
from harness.data.loading import load

HEADER = "user,item,time\n"
LINES = [f"{user},{item},1970-01-0{day}\n" for user, item, day in ("by2", "ay3", "ax3", "az2")]
TEXT = HEADER + "".join(LINES)
EVENTS = [("a", "z", 1), ("a", "x", 2), ("a", "y", 2), ("b", "y", 1)]
"""By user, time and item, whatever the order of rows."""


def test_events_stand_by_user_time_item_whatever_the_row_order(tmp_path: Path) -> None:
    for lines in (LINES, LINES[::-1]):
        (tmp_path / "log.csv").write_text(HEADER + "".join(lines))
        assert rows(log(tmp_path)) == EVENTS


def test_ids_stay_text(tmp_path: Path) -> None:
    result = events(tmp_path, HEADER + "007,0706016001,1970-01-01\n7,NA,1970-01-01\n")
    assert result == [("007", "0706016001", 0), ("7", "NA", 0)]


def test_wide_ranges_of_time_sort_alike(tmp_path: Path) -> None:
    """Microseconds over centuries do not fit the packed order; the slow one must agree."""
    lines = ["b,x,2261-01-01T00:00:00.000001", "a,y,1700-01-01T00:00:00", "a,x,1700-01-01T00:00:00"]
    lines += [f"u{n},x,2000-01-01T00:00:00" for n in range(300)]
    result = events(tmp_path, HEADER + "\n".join(lines) + "\n")
    assert [event[:2] for event in result[:3]] == [("a", "x"), ("a", "y"), ("b", "x")]
    assert [user for user, *_ in result] == sorted(["a", "a", "b", *(f"u{n}" for n in range(300))])


def test_packed_files_hold_the_same_events(tmp_path: Path) -> None:
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert rows(log(tmp_path)) == EVENTS
    (tmp_path / "log.csv.gz").unlink()
    with zipfile.ZipFile(tmp_path / "log.csv.zip", "w") as archive:
        archive.writestr("log.csv", TEXT)
    assert rows(log(tmp_path)) == EVENTS
    with zipfile.ZipFile(tmp_path / "log.csv.zip", "a") as archive:
        archive.writestr("b.csv", "x")
    refused(tmp_path, "log.csv.zip: holds other than one file (log.csv, b.csv); ")


@pytest.mark.parametrize("name", ["log.csv.gz", "log.csv.zip"])
def test_a_damaged_archive_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(TEXT.encode() * 100)[:40])
    refused(tmp_path, f"{name}: cannot be unpacked")


def test_a_column_of_a_file_without_a_header_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("1\t2\t3\t4\n")
    layout = BUILT_IN["ml-100k"].within(tmp_path).with_events(kind="type")
    words = 'u.data: no column "type"; the layout\'s header has: user, item, rating, timestamp'
    with refusal(DataError, words):
        load(layout)


def test_parquet_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    pl.read_csv(TEXT.encode(), try_parse_dates=True).write_parquet(tmp_path / "log.csv")
    assert rows(log(tmp_path)) == EVENTS


def test_what_is_wrong_in_parquet_is_named(tmp_path: Path) -> None:
    for column, value, keys, words in (
        ("user", 1.0, {}, ['column "user" holds floats, ', "Int64"]),
        ("time", 12, {}, ['column "time" holds numbers', 'time_format = "epoch_s"']),
        ("time", 1_704_067_200_000, {"time_format": "epoch_s"},
         ['row 1, column "time": found "1704067200000"', '"epoch_ms"']),
    ):  # fmt: skip
        good: dict[str, Any] = {"user": "a", "item": "x", "time": "2020-01-01"}
        pl.DataFrame(good | {column: value}).write_parquet(tmp_path / "log.parquet")
        refused(tmp_path, *words, events="log.parquet", **keys)


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_text_that_is_named_parquet_is_refused(tmp_path: Path, packed: str) -> None:
    path = tmp_path / f"log.parquet{packed}"
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    words = f"is no Parquet file and looks like text; rename it log.csv{packed}"
    refused(tmp_path, f"log.parquet{packed}: {words}", events="log.parquet")
    path.rename(tmp_path / f"log.csv{packed}")
    assert rows(log(tmp_path)) == EVENTS


def test_a_part_below_a_bound_and_all_parts_below_it(tmp_path: Path) -> None:
    for name, stars in (("a", 5), ("b", 1)):
        part = f"user,item,time,rating\n{name},x,1970-01-01,{stars}\n"
        small.write(tmp_path, {f"parts/{name}.csv": part})
    assert rows(log(tmp_path, "parts", where={"rating": {"min": 4}})) == [("a", "x", 0)]
    with refusal(DataError, "none of 2 rows has rating >= 6"):
        load(log(tmp_path, "parts", where={"rating": {"min": 6}}))
