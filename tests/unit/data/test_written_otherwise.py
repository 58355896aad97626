"""Tables of users and items that are written otherwise than the events, and other encodings."""

import gzip
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from event_files import events

from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.data import attributes
from harness.data.layout import Layout
from harness.data.layout import attributes as layout_attributes
from harness.data.loading import load

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


def test_the_record_has_the_table_as_it_was_given(tmp_path: Path) -> None:
    assert config(tmp_path).resolved()["data"]["items"] == ITEMS
    assert config(tmp_path, items="movies.csv").resolved()["data"]["items"] == "movies.csv"


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ({"id": "MovieID"}, '[data] needs the key "items.file", which is missing; expected a text'),
        ({"file": "a", "encoding": "latin1"}, "encoding = 'latin1'; did you mean \"latin-1\"?"),
        (5, "[data] items: found 5; expected keys with values"),
        (ITEMS | {"separator": '"'}, "[data] items.separator: found '\"', expected one character"),
        (ITEMS | {"header": []}, "items.header: a file without a header line needs the names"),
    ],
)  # fmt: skip
def test_keys_of_a_table_are_checked(tmp_path: Path, items: Any, words: str) -> None:
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
         "line 1 has 1 field, but [data] items.header names 3 (MovieID, Title, Genres); "
         'separated by "::" they are 3: set separator = "::" within items = { file = "movies.'),
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
    layout: Any = Layout("own", (), items=layout_attributes("movies.csv", id="item"))
    words = 'set encoding = "latin-1" or "cp1252" in its events(…) or attributes(…), where the lay'
    with refusal(DataError, words):
        attributes.read(layout.within(tmp_path).items)


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
