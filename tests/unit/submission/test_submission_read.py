"""Files of lists and of truth: which form a file has, which columns count, and what is refused."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import refusal

from harness.core.arrays import Ragged
from harness.core.errors import DataError, HarnessError
from harness.delimited import blocks
from harness.metrics import Judgments
from harness.protocol.truth import Solution
from harness.submission.expected import Against, of_tables
from harness.submission.format import Named, Separators, TrueColumns
from harness.submission.keys import learnt
from harness.submission.solution import of_file, read
from harness.submission.validate import examine

LONG = "user,item\nann,a\nann,b\nbob,c\n"
WIDE = "user,items\nann,a b\nbob,c\n"
LISTS = {"ann": ["a", "b"], "bob": ["c"]}


def solution_of(users: tuple[str, ...], items: tuple[str, ...] = ()) -> Solution:
    """Return a solution in which nothing is true."""
    none = Ragged(np.zeros(len(users) + 1, np.int64), np.zeros(0, np.int32))
    ids = pl.Series(items, dtype=pl.String)
    return Solution(users=pl.Series(users), items=ids, judgments=Judgments(none, none.sizes))


def lists_of(
    source: Path | pl.DataFrame, users: tuple[str, ...] = ("ann", "bob"), **names: str
) -> dict[str, list[str]]:
    """Return everyone's list, of items that nobody knows."""
    solution = solution_of(users)
    against = Against(named=Named(**names)).scored_by(solution)
    examined = examine(source, against, solution, named=True)
    assert examined.summary is not None
    assert examined.lists is not None, examined.validation
    items = examined.summary.names
    rows = zip(users, examined.lists.tolist(), strict=True)
    return {user: [items[i] for i in row if i >= 0] for user, row in rows}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lists.csv"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


FORMS = {
    "wide": WIDE,
    "long": LONG,
    "Kaggle's names": "customer_id,prediction\nann,a b\nbob,c\n",
    "long under any names": "who,what\nann,a\nann,b\nbob,c\n",
    "ranks": "user,item,rank\nann,b,2\nbob,c,1\nann,a,1\n",
    "scores": "user,item,score\nann,b,0.5\nbob,c,-1e-3\nann,a,12\n",
    "ties by id": "user,item,score\nbob,c,1\nann,b,0.5\nann,a,0.50\n",
    "spaces around numbers": "user,item,rank\nann,b, 2\nbob,c,1 \nann,a, 1.0\n",
    "columns in another order": "item,note,rank,user\nb,x,2,ann\na,y,1,ann\nc,z,1,bob\n",
    "CRLF": LONG.replace("\n", "\r\n"),
    "no last line end": WIDE.rstrip("\n"),
    "a byte order mark": "\ufeff" + WIDE,
    "quoted fields": '"user","items"\n"ann","a b"\n"bob","c"\n',
    "an object of scores": '{"ann": {"b": 0.5, "a": 12}, "bob": {"c": -1e-3}}',
    "many spaces": "user,items\nann,  a   b \nbob,c \n",
}


@pytest.mark.parametrize("form", FORMS)
def test_one_set_of_lists_in_many_forms(
    path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """In one block, and in a block for each line or two."""
    assert lists_of(write(path, FORMS[form])) == LISTS
    monkeypatch.setattr(blocks, "SIZE", 16)
    assert lists_of(path) == LISTS


@pytest.mark.parametrize(
    "text", ["user,items\nann,b a q b\n", "user,item\nann,b\nann,a\nann,q\nann,b\n"]
)
def test_items_that_the_solution_lacks_are_numbered_behind_its_own(path: Path, text: str) -> None:
    """Those of the table of items, too."""
    solution = solution_of(("ann",), ("a",))
    against = Against(items=learnt(["z", "a", "b"])).scored_by(solution)
    examined = examine(write(path, text), against, solution, named=True)
    assert examined.summary is not None
    assert np.asarray(examined.lists).tolist() == [[1, 0, 2, 1]]
    assert examined.summary.names == ["b", "q"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 2^53 and 2^53 + 1 are the same as decimals.
        ("user,item,score\nann,a,9007199254740992\nann,b,9007199254740993\n", {"ann": ["b", "a"]}),
        ("user,item,score\nann,a,8999999999999999999\nann,b,9000000000000000000\n",
         {"ann": ["b", "a"]}),
        ("user,item,score\nann,b,9007199254740992\nann,a,9.007199254740992e15\n",
         {"ann": ["a", "b"]}),
        # Rows without a number stand last, in the order of the file.
        ("user,item,score\nann,d,x\nann,c,1\nann,b,1\nann,a,x\nbob,c,1\nbob,a,1\n",
         {"ann": ["b", "c", "d", "a"], "bob": ["a", "c"]}),
        ("customer_id,prediction\n007,0706016001 08\n08,1e3\n",
         {"007": ["0706016001", "08"], "08": ["1e3"]}),
        ('user,items\nann,a\nbob,""\ncid," "\n', {"ann": ["a"], "bob": [], "cid": []}),
        ('user,items\n"x, y","a ""b"" c,d"\nbob,"e\nf"\n',
         {"x, y": ["a", '"b"', "c,d"], "bob": ["e\nf"]}),
    ],
)  # fmt: skip
def test_what_stands_in_a_file(path: Path, text: str, expected: dict[str, list[str]]) -> None:
    assert lists_of(write(path, text), tuple(expected)) == expected


def test_named_columns_count_before_those_that_are_found(path: Path) -> None:
    write(path, "user,item,rank,score,who,what,place,worth\nx,y,1,1,ann,b,2,9\nx,z,2,2,ann,a,1,8\n")
    names = {"user": "who", "item": "what"}
    for order, expected in (("rank", "place"), ["a", "b"]), (("score", "worth"), ["b", "a"]):
        assert lists_of(path, ("ann",), **names, **dict([order])) == {"ann": expected}
    assert lists_of(path, ("ann",), **names) == {"ann": ["b", "a"]}  # by rank


def test_a_packed_file(tmp_path: Path) -> None:
    (tmp_path / "lists.csv.gz").write_bytes(gzip.compress(WIDE.encode()))
    with zipfile.ZipFile(tmp_path / "other.csv.zip", "w") as archive:
        archive.writestr("inside.csv", WIDE)
    for name in ("lists.csv.gz", "other.csv.zip"):
        assert lists_of(tmp_path / name) == LISTS


def test_parquet(tmp_path: Path) -> None:
    """With a column of lists by three names, some missing or empty, a row an item, or a text."""
    file = tmp_path / "lists.parquet"
    for column in ("items", "item", "prediction"):
        pl.DataFrame({"user": ["ann", "bob"], column: [["a", "b"], ["c"]]}).write_parquet(file)
        assert lists_of(file) == LISTS
    pl.DataFrame({"user": ["ann", "bob", "cid"], "item": [["a"], [], None]}).write_parquet(file)
    assert lists_of(file, ("ann", "bob", "cid")) == {"ann": ["a"], "bob": [], "cid": []}
    for text in (LONG, WIDE, FORMS["ranks"], FORMS["scores"]):
        pl.read_csv(text.encode()).write_parquet(file)
        assert lists_of(file) == LISTS


def test_a_folder_of_parts_is_one_solution(tmp_path: Path) -> None:
    (tmp_path / "part-1.csv").write_text("user,item\nann,a\nann,b\n")
    (tmp_path / "part-2.csv").write_text("user,item\nbob,c\n")
    assert of_file(tmp_path).items.to_list() == ["a", "b", "c"]
    (tmp_path / "part-2.csv").write_text("user,item,rank\nbob,c,1\n")
    with refusal(DataError, "part-2.csv", "columns are user, item, rank; the files before it"):
        of_file(tmp_path)


REFUSED: list[tuple[str, list[str]]] = [
    ("\n", ["empty", "expected a table"]),
    ("prediction\na b\n", ['one column, "prediction"', "two, the user and the items"]),
    (WIDE.replace(",", ";"),
     ['one column, "user;items"', "the separator seems to be ';': save it with commas"]),
    ("user,items\nann,a b\nbob,c,d\n", ["line 3 has 3 fields, expected 2 (user, items)"]),
    ("who,Usage\nann,Public\n", ['no column "items"', "--truth-item-column"]),
    ('user,item\nann,a\nann,""\nbob,c\n', ['column "item"', "line 3", "the id is missing"]),
    ("user,item,grade\nann,a,1\nann,b,first\n",
     ['column "grade"', "line 3", '"first"', "a number; write one, or drop the row"]),
    ("user,item,grade\nann,a b,1\nbob,c,1\n", ['"grade" has one value per row', "drop it"]),
    ("user,items\nann,a\nzoé,b\n", ["line 3 is not UTF-8 text", "save the file as UTF-8"]),
    # Read as rows, a b would be one item that never hits, and everyone would score 0.
    ("customer_id,prediction\nann,a b\nbob,c d\nann,e f\n", ["ann", "customer_id"]),
    ('user,item,"no\nte"\n"an\nn",a,\n,b,\n',
     ["line 5: the id is missing; drop such rows, or give them an id"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_is_no_table_of_true_items_is_refused(path: Path, text: str, words: list[str]) -> None:
    path.write_text(text, encoding="latin-1")
    with refusal(HarnessError, str(path), words):
        of_file(path)


def test_a_sample_or_items_without_a_header(tmp_path: Path) -> None:
    blank, none = tmp_path / "blank.csv", tmp_path / "none.parquet"
    blank.write_text("\nann,a\n")
    pl.DataFrame().write_parquet(none)
    for path in (blank, none):
        for sample, items in ((path, None), (None, path)):
            with pytest.raises(DataError, match=f"{path.name}: has no columns"):
                of_tables(sample, items)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (TrueColumns(user="user_"), ['no column "user_"', 'did you mean "user"', "truth-user"]),
        (TrueColumns(item="item_"), ['no column "item_"', "--truth-item-column"]),
        (TrueColumns(grade="grad"), ['no column "grad"', 'did you mean "grade"']),
    ],
)
def test_columns_that_are_named_wrong(path: Path, columns: TrueColumns, words: list[str]) -> None:
    path.write_text("user,item,grade\nann,a,1\n")
    with refusal(DataError, words):
        of_file(path, columns)


# Usage: which board a user belongs to.


def leaderboards(path: Path, text: str, *users: str) -> dict[str, list[bool]]:
    boards = read(write(path, text), TrueColumns()).leaderboards(pl.Series(users))
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
