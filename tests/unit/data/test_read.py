"""What files are packed in, are, and are written in; tables of users and items beside them."""

import gzip
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from event_files import events, log, refused, rows

from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.data import attributes
from harness.data.layout import attributes as layout_attributes
from harness.data.layouts import BUILT_IN
from harness.data.loading import load

HEADER = "user,item,time\n"
LINES = [f"{user},{item},1970-01-0{day}\n" for user, item, day in ("by2", "ay3", "ax3", "az2")]
TEXT = HEADER + "".join(LINES)
EVENTS = [("a", "z", 1), ("a", "x", 2), ("a", "y", 2), ("b", "y", 1)]
"""By user, time and item, whatever the order of rows."""


def test_packed_files_hold_the_same_events(tmp_path: Path) -> None:
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert rows(log(tmp_path)) == EVENTS
    (tmp_path / "log.csv.gz").unlink()
    with zipfile.ZipFile(tmp_path / "log.csv.zip", "w") as archive:
        archive.writestr("log.csv", TEXT)
    assert rows(log(tmp_path)) == EVENTS
    with zipfile.ZipFile(tmp_path / "log.csv.zip", "a") as archive:
        archive.writestr("b.csv", "x")
    refused(tmp_path, "log.csv.zip: must contain exactly one file (found log.csv, b.csv)")


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
        refused(tmp_path, words, events="log.parquet", **keys)


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_text_that_is_named_parquet_is_refused(tmp_path: Path, packed: str) -> None:
    path = tmp_path / f"log.parquet{packed}"
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    words = f"not a Parquet file; it looks like text. Rename it log.csv{packed}"
    refused(tmp_path, f"log.parquet{packed}: {words}", events="log.parquet")
    path.rename(tmp_path / f"log.csv{packed}")
    assert rows(log(tmp_path)) == EVENTS


@pytest.mark.parametrize(("name", "kind"), [("log.parquet", "Parquet"), ("log.jsonl", "JSON li")])
@pytest.mark.parametrize(
    "how_text", [{"separator": ";"}, {"header": ["user", "item", "time"]}, {"encoding": "latin-1"}]
)
def test_how_text_is_written_is_said_of_text_alone(
    tmp_path: Path, name: str, kind: str, how_text: dict[str, Any]
) -> None:
    frame, (key,) = pl.read_csv(TEXT.encode(), try_parse_dates=True), how_text
    write = frame.write_parquet if kind == "Parquet" else frame.write_ndjson
    write(tmp_path / name)
    words = f"{name}: [data] {key} is for text files, but this is {kind}"
    refused(tmp_path, words, "remove it", events=name, **how_text)
    assert rows(log(tmp_path, events=name)) == EVENTS


def test_a_part_below_a_bound_and_all_parts_below_it(tmp_path: Path) -> None:
    for name, stars in (("a", 5), ("b", 1)):
        part = f"user,item,time,rating\n{name},x,1970-01-01,{stars}\n"
        small.write(tmp_path, {f"parts/{name}.csv": part})
    assert rows(log(tmp_path, "parts", where={"rating": {"min": 4}})) == [("a", "x", 0)]
    with refusal(DataError, "none of 2 rows has rating = { min = 6 }"):
        load(log(tmp_path, "parts", where={"rating": {"min": 6}}))


RATINGS = "1::10::5::978300760\n2::20::3::978300761\n"
MOVIES = '10::Café, Le (1995)::Drama\n30::"Quoted" one::Comedy\n'
ITEMS = {
    "file": "movies.dat",
    "id": "MovieID",
    "separator": "::",
    "header": ["MovieID", "Title", "Genres"],
    "encoding": "latin-1",
}


def config(folder: Path, **data: Any) -> Config:
    (folder / "ratings.dat").write_text(RATINGS)
    (folder / "movies.dat").write_bytes(MOVIES.encode("latin-1"))
    columns = {"header": ["user", "item", "stars", "time"], "separator": "::"}
    tables = {"events": "ratings.dat", "time_format": "epoch_s", "items": ITEMS}
    return small.config(folder, data={**columns, **tables, **data})


def test_movies_of_movielens(tmp_path: Path) -> None:
    layout: Any = config(tmp_path).layout()
    assert load(layout).item_ids.to_list() == ["10", "20", "30"]
    frame = attributes.read(layout.items)
    assert frame.columns == ["MovieID", "Title", "Genres"]
    assert frame["Title"].to_list() == ["Café, Le (1995)", '"Quoted" one']


def test_a_table_has_its_own_id_or_that_of_the_events(tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text("user;age\n1;30\n")
    layout: Any = config(tmp_path, users={"file": "users.csv", "separator": ";"}).layout()
    assert (layout.users.id, attributes.read(layout.users)["age"].to_list()) == ("user", ["30"])


@pytest.mark.parametrize(
    ("data", "users", "names"),
    [
        ({"quote": False}, {}, ['"Al" Y', "a \\"]),
        ({}, {"quote": False}, ['"Al" Y', "a \\"]),
        ({"quote": False}, {"quote": True}, None),
    ],
)
def test_a_table_is_quoted_as_the_events_unless_it_says_otherwise(
    tmp_path: Path, data: Any, users: Any, names: list[str] | None
) -> None:
    (tmp_path / "users.csv").write_text('user;name\n1;"Al" Y\n2;a \\\n')
    users = {"file": "users.csv", "separator": ";", **users}
    table: Any = config(tmp_path, users=users, **data).layout().users
    if names is None:
        with refusal(DataError, "line 2: there is text after", "quote = false within users = {"):
            attributes.read(table)
    else:
        assert attributes.read(table)["name"].to_list() == names
    pl.DataFrame({"user": ["1"], "name": ["Al"]}).write_parquet(tmp_path / "users.parquet")
    inherits: Any = config(tmp_path, users="users.parquet", **data).layout().users
    assert attributes.read(inherits)["name"].to_list() == ["Al"]


def test_keys_of_a_table_are_checked(tmp_path: Path) -> None:
    for items, words in (
        ({"id": "x"}, '[data] needs the key "items.file", which is missing'),
        ({"file": "a", "encoding": "latin1"}, "encoding = 'latin1'; did you mean \"latin-1\"?"),
        (5, "[data] items: found 5; expected keys with values"),
        (ITEMS | {"separator": '"'}, "items.separator is '\"'; expected one character"),
        (ITEMS | {"escape": "\\"}, "items.separator is '::'; escape needs a separator of"),
        (
            ITEMS | {"header": []},
            "items.header: a file without a header line needs its column names",
        ),
    ):
        with refusal(UsageError, words):
            config(tmp_path, items=items).layout()


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ({"encoding": "utf-8"},
         "movies.dat: line 1 is not UTF-8 text; save the file as UTF-8, or set encoding = "
         '"latin-1" or "cp1252" within items = { file = "movies.dat", … } under [data]'),
        ({"header": ["MovieID", "Title"]},
         "movies.dat: line 1 has 3 fields, but [data] items.header names 2 (MovieID, Title); n"),
        ({"separator": "|"},
         "line 1 has 1 field, but [data] items.header names 3 (MovieID, Title, Genres); the "
         'separator seems to be another: set separator = "::" within items = { file = "movies.'),
        ({"id": "item"},
         'movies.dat: no column "item"; [data] items.header has: MovieID, Title, Genres'),
    ],
)  # fmt: skip
def test_a_table_is_told_where_it_is_declared(tmp_path: Path, items: Any, words: str) -> None:
    layout: Any = config(tmp_path, items=ITEMS | items).layout()
    with refusal(DataError, words):
        attributes.read(layout.items)


def test_a_table_of_a_layout_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "movies.csv").write_bytes(b"item,title\n1,Caf\xe9\n")
    table = layout_attributes("movies.csv", id="item")
    words = 'set encoding = "latin-1" or "cp1252" in events(…) or attributes(…) of your lay'
    with refusal(DataError, words):
        attributes.read(table.placed(tmp_path))


NAMES = "user,item,time\nzoé,ä€,1970-01-01\n"


@pytest.mark.parametrize("rows", [1, 9_000])  # of which many fill more than one block of text
@pytest.mark.parametrize("packed", [False, True])
def test_other_encodings_are_read(tmp_path: Path, rows: int, packed: bool) -> None:
    header, row = NAMES.splitlines(keepends=True)
    for encoding, item in (("cp1252", "ä€"), ("latin-1", "äö")):
        content = (header + row.replace("ä€", item) * rows).encode(encoding)
        content = gzip.compress(content) if packed else content
        assert events(tmp_path, content, encoding=encoding) == [("zoé", item, 0)] * rows


def test_a_byte_that_no_sign_has_is_told_with_its_line(tmp_path: Path) -> None:
    """cp1252 leaves 0x81 and four others out."""
    content = b"user,item,time\n" + b"a,x,1970-01-01\n" * 9000 + b"\x81,x,1970-01-01\n"
    words = "log.csv: line 9002 holds the byte 0x81, which cp1252 does not have; name another"
    with refusal(DataError, words):
        events(tmp_path, content, encoding="cp1252")
