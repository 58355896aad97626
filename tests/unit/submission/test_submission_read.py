"""Files of lists and of truth: which form a file has, which columns count, and what is refused."""

import gzip
import zipfile
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from conftest import refusal

from harness.core.errors import DataError, HarnessError
from harness.metrics.inputs.codes import Coders
from harness.metrics.inputs.lists import read_lists
from harness.submission.expected import of_tables
from harness.submission.format import Named, Separators
from harness.submission.order import refuse_unsaid
from harness.submission.read import File, read

LONG = "user,item\nann,a\nann,b\nbob,c\n"
WIDE = "user,items\nann,a b\nbob,c\n"
LISTS = {"ann": ["a", "b"], "bob": ["c"]}


def lists_of(file: File) -> dict[str, list[str]]:
    """Return everyone's list as the scorer reads it."""
    coders = Coders()
    coders.users.codes(file.frame[file.table.names["user"]].unique(maintain_order=True), "users")
    lists = read_lists(file.table, coders, None).items.tolist()
    users, items = coders.users.ids.to_list(), coders.items.ids.to_list()
    return {u: [items[i] for i in row if i >= 0] for u, row in zip(users, lists, strict=True)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lists.csv"


def read_text(path: Path, text: str, **names: str) -> dict[str, list[str]]:
    path.write_text(text, encoding="utf-8", newline="")
    return lists_of(read(path, Named(**names)))


def refused(path: Path, *named: str, **names: str) -> None:
    """Check that a file is refused in one line that holds every word, its name first."""
    with pytest.raises(HarnessError) as refusal:
        lists_of(read(path, Named(**names)))
    text = str(refusal.value)
    assert text.startswith(str(path))
    assert "\n" not in text or "the folder" in text
    text = text.replace(str(path.parent), "")  # which is named after the test
    assert [word for word in named if word not in text] == [], text


FORMS = {
    "wide": WIDE,
    "Kaggle's names": "customer_id,prediction\nann,a b\nbob,c\n",
    "long under any names": "who,what\nann,a\nann,b\nbob,c\n",
    "ranks": "user,item,rank\nann,b,2\nbob,c,1\nann,a,1\n",
    "scores": "user,item,score\nann,b,0.5\nbob,c,-1e-3\nann,a,12\n",
    "spaces around numbers": "user,item,rank\nann,b, 2\nbob,c,1 \nann,a, 1.0\n",
    "columns in another order": "item,note,rank,user\nb,x,2,ann\na,y,1,ann\nc,z,1,bob\n",
    "CRLF": LONG.replace("\n", "\r\n"),
    "no last line end": WIDE.rstrip("\n"),
    "a byte order mark": "\ufeff" + WIDE,
    "quoted fields": '"user","items"\n"ann","a b"\n"bob","c"\n',
    "an object of scores": '{"ann": {"b": 0.5, "a": 12}, "bob": {"c": -1e-3}}',
    "many spaces": "user,items\nann,  a   b \nbob,c\t\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_one_set_of_lists_in_many_forms(path: Path, form: str) -> None:
    assert read_text(path, FORMS[form]) == LISTS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 2^53 and 2^53 + 1 are the same as decimals.
        ("user,item,score\nann,a,9007199254740992\nann,b,9007199254740993\n", {"ann": ["b", "a"]}),
        ("customer_id,prediction\n007,0706016001 08\n08,1e3\n",
         {"007": ["0706016001", "08"], "08": ["1e3"]}),
        ('user,items\nann,a\nbob,""\ncid," "\n', {"ann": ["a"], "bob": [], "cid": []}),
        ('user,items\n"x, y","a ""b"" c,d"\nbob,"e\nf"\n',
         {"x, y": ["a", '"b"', "c,d"], "bob": ["e", "f"]}),
    ],
)  # fmt: skip
def test_what_stands_in_a_file(path: Path, text: str, expected: dict[str, list[str]]) -> None:
    assert read_text(path, text) == expected


def test_named_columns_count_before_those_that_are_found(path: Path) -> None:
    text = "user,item,rank,score,who,what,place,worth\nx,y,1,1,ann,b,2,9\nx,z,2,2,ann,a,1,8\n"
    names = {"user": "who", "item": "what"}
    assert read_text(path, text, **names, rank="place") == {"ann": ["a", "b"]}
    assert read_text(path, text, **names, score="worth") == {"ann": ["b", "a"]}
    assert read_text(path, text, **names) == {"ann": ["b", "a"]}  # by rank


def test_a_packed_file(tmp_path: Path) -> None:
    """It is read by its plain name too."""
    (tmp_path / "lists.csv.gz").write_bytes(gzip.compress(WIDE.encode()))
    with zipfile.ZipFile(tmp_path / "other.csv.zip", "w") as archive:
        archive.writestr("inside.csv", WIDE)
    for name in ("lists.csv.gz", "lists.csv", "other.csv.zip", "other.csv"):
        assert lists_of(read(tmp_path / name)) == LISTS


def test_parquet(tmp_path: Path) -> None:
    """With a column of lists by three names, some missing or empty, a row an item, or a text."""
    file = tmp_path / "lists.parquet"
    for column in ("items", "item", "prediction"):
        pl.DataFrame({"user": ["ann", "bob"], column: [["a", "b"], ["c"]]}).write_parquet(file)
        assert lists_of(read(file)) == LISTS
    pl.DataFrame({"user": ["ann", "bob", "cid"], "item": [["a"], [], None]}).write_parquet(file)
    assert lists_of(read(file)) == {"ann": ["a"], "bob": [], "cid": []}
    for text in (LONG, WIDE, FORMS["ranks"], FORMS["scores"]):
        pl.read_csv(text.encode()).write_parquet(file)
        assert lists_of(read(file)) == LISTS


def test_a_folder_of_parts_is_one_table(tmp_path: Path) -> None:
    (tmp_path / "part-1.csv").write_text("user,item\nann,a\nann,b\n")
    (tmp_path / "part-2.csv").write_text("user,item\nbob,c\n")
    assert lists_of(read(tmp_path)) == LISTS
    (tmp_path / "part-2.csv").write_text("user,item,rank\nbob,c,1\n")
    refused(tmp_path, "part-2.csv", "its columns are user, item, rank; the files before it")


REFUSED: list[tuple[str, list[str]]] = [
    ("\n", ["empty", "expected a table"]),
    ("prediction\na b\n", ['one column, "prediction"', "two, the user and the items"]),
    (WIDE.replace(",", ";"),
     ['one column, "user;items"', "the separator seems to be ';': save it with commas"]),
    ("user,items\nann,a b\nbob,c,d\n", ["line 3 has 3 fields, expected 2 (user, items)"]),
    ("who,Usage\nann,Public\n", ['no column "items"', "--item-column"]),
    ('user,item\nann,a\nann,""\nbob,c\n', ['column "item"', "line 3", "the id is missing"]),
    *((f"user,item,{column}\nann,a,1\nann,b,first\n",
       [f'column "{column}"', "line 3", '"first"', "a number; write one, or drop the row"])
      for column in ("rank", "score")),
    ("user,item,rank\nann,a b,1\nbob,c,1\n", ['"rank" has one value per row', "drop it"]),
    ("user,items\nann,a\nzoé,b\n", ["line 3 is not UTF-8 text", "save the file as UTF-8"]),
    # Read as rows, a b would be one item that never hits, and everyone would score 0.
    ("customer_id,prediction\nann,a b\nbob,c d\nann,e f\n", ["ann", "customer_id"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_is_no_table_of_lists_is_refused(path: Path, text: str, words: list[str]) -> None:
    path.write_text(text, encoding="latin-1")
    refused(path, *words)


def test_a_sample_or_items_without_a_header(tmp_path: Path) -> None:
    blank, none = tmp_path / "blank.csv", tmp_path / "none.parquet"
    blank.write_text("\nann,a\n")
    pl.DataFrame().write_parquet(none)
    for path in (blank, none):
        for sample, items in ((path, None), (None, path)):
            with pytest.raises(DataError, match=f"{path.name}: has no columns"):
                of_tables(sample, items)


@pytest.mark.parametrize(
    ("votes", "numbers"),
    [([1, 2], True), (["1", "2.5"], True), (["x", "y"], False), ([timedelta(1)] * 2, False)],
)
def test_a_column_of_numbers_is_asked_about(votes: list[object], numbers: bool) -> None:
    """It may order rows."""
    file = read(pl.DataFrame({"user": ["ann"] * 2, "item": ["a", "b"], "votes": votes}))
    asked = refusal(DataError, 'the column "votes" has numbers', "--score-column votes")
    with asked if numbers else nullcontext():
        refuse_unsaid(file, None)
    refuse_unsaid(file, Named(row_order=True))


def test_a_row_of_text_is_named_by_its_line(path: Path) -> None:
    path.write_text('user,item,"no\nte"\n"an\nn",a,\n,b,\n')
    refused(path, "line 5: the id is missing; drop such rows, or give them an id")
    pl.DataFrame({"user": ["ann", None], "item": ["a", "b"]}).write_parquet(path)
    refused(path, "row 1 (the first is 0): the id is missing")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        *(({name: "user_"}, ['no column "user_"', 'did you mean "user"', name])
          for name in ("user", "item", "rank", "score")),
        ({"rank": "rank", "score": "score"}, ["rank or score, not both"]),
    ],
)  # fmt: skip
def test_columns_that_are_named_wrong(path: Path, names: dict[str, str], words: list[str]) -> None:
    path.write_text("user,item,rank,score\nann,a,1,1\n")
    refused(path, *words, **names)


# Usage: which board a user belongs to.


def leaderboards(path: Path, text: str, *users: str) -> dict[str, list[bool]]:
    path.write_text(text)
    boards = read(path).leaderboards(pl.Series(users))
    return {name: board.tolist() for name, board in boards.items()}


def test_usage_says_which_board_a_user_belongs_to(path: Path) -> None:
    text = "user,items,Usage\nann,a,Public\nbob,b,Private\ncid,c,Ignored\ndee,d,Public\n"
    assert leaderboards(path, text, "ann", "bob", "cid", "dee") == {
        "Public": [True, False, False, True],
        "Private": [False, True, False, False],
        "Ignored": [False, False, True, False],
    }
    rows = "user,item,Usage\nann,a,Public\nann,b,Public\nbob,c,Private\n"
    assert leaderboards(path, rows, "bob", "ann")["Public"] == [False, True]  # in the order asked
    assert leaderboards(path, WIDE, "ann") == {}


ALLOWED = "expected one of Public, Private, Ignored"


@pytest.mark.parametrize(
    ("header", "usage", "message"),
    [
        ("Usage", "public", f'column "Usage", user bob: found "public", {ALLOWED}'),
        ("Usage", "", f'column "Usage", user bob: found an empty value, {ALLOWED}'),
        ("Usage", "Public\nann,c,Private", "user ann has two values of Usage; give it one"),
        (
            "usage",
            "Public",
            'column "usage": the column of leaderboards must have the name "Usage"',
        ),
    ],
)
def test_a_usage_that_is_none(path: Path, header: str, usage: str, message: str) -> None:
    with refusal(DataError, f"{path}: {message}"):
        leaderboards(path, f"user,item,{header}\nann,a,Public\nbob,b,{usage}\n", "ann", "bob")


@pytest.mark.parametrize(
    ("lists", "only", "plain"),
    [
        (["a,b", "c", "d"], ",", None),  # a comma may be a part of the id
        (["a,b", "", "", "c"], ",", ","),
        (["[a,b]"], None, None),
        ([" a ", "b"], None, None),
    ],
)
def test_what_stands_between_items(lists: list[str], only: str | None, plain: str | None) -> None:
    column = pl.Series([*lists, None], dtype=pl.String)
    for separators in (Separators.of(lists), Separators.of_column(column)):
        assert (separators.only, separators.plain) == (only, plain)
