"""A solution's file: what its header may be, and bytes that no id has."""

from pathlib import Path

import pytest
from conftest import refusal

from harness.core.errors import DataError
from harness.submission.format import Named
from harness.submission.solution import of_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "truth.csv"


def test_a_true_item_with_a_nul_is_refused(path: Path) -> None:
    path.write_bytes(b"user,items\nann,a\0\n")
    with refusal(DataError, 'truth.csv: column "items": found "a', "NUL byte"):
        of_file(path)


@pytest.mark.parametrize(
    ("rows", "users"),
    [
        ("u000,i18 i07\nu001,i18 i07\nu002,i3\n", ["u000", "u001", "u002"]),
        ("17,5\n18,6\n18,5\n", ["17", "18"]),
        ("ann,a b\nbob,b c\ncem,a\n", ["ann", "bob", "cem"]),  # no digits, but others' items
    ],
)
def test_a_solution_without_a_header_is_refused_before_it_loses_a_user(
    path: Path, rows: str, users: list[str]
) -> None:
    path.write_text(rows)
    first = rows.partition("\n")[0]
    with refusal(DataError, f'line 1: found "{first}"', "such as user,items", "--user-column"):
        of_file(path)
    path.write_text("user,items\n" + rows)
    assert of_file(path).users.to_list() == users


@pytest.mark.parametrize(
    ("content", "named", "users"),
    [
        ("user,item\nann,user\nitems,b\n", None, ["ann", "items"]),
        ("user1,item1\nann,a\nbob,b\n", None, ["ann", "bob"]),
        ("u1,Usage,i1\nu2,Public,i1\n", None, ["u2"]),
        ("0,1\n17,5\n18,6\n", Named(user="0", item="1"), ["17", "18"]),
    ],
)
def test_headers_that_are_no_users(
    path: Path, content: str, named: Named | None, users: list[str]
) -> None:
    path.write_text(content)
    assert of_file(path, named).users.to_list() == users


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"user,items,Usage\nann,a,True\nbob,b,False\n", '"True", expected one of Public, Priv'),
        (
            b"user,items\nann,\xe9\n",
            "line 2 is not UTF-8 text; save the file as UTF-8, for example: iconv",
        ),
        (
            b"user,item\na , x\nb ,y\n",
            'column "user": there are spaces around 2 ids, first "a "; remove',
        ),
        (b"user,item\na, x\na,y\n", 'column "item": there are spaces around 1 id, first " x"'),
        (b"user,user\nann,a\n", "no header line, write one, such as user,items"),
    ],
)
def test_what_is_wrong_with_a_solution(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with refusal(DataError, says):
        of_file(path)


@pytest.mark.parametrize(
    ("column", "cells", "doubts"),
    [
        ("split", ("test", "train"), ("split (test, train)",)),
        ("split", ("train", "train"), ("split (train)",)),
        ("split", ("test", "test"), ()),
        ("fold", ("1", "2"), ("fold (1, 2)",)),
        ("event_type", ("click", "purchase"), ("event_type (click, purchase)",)),
        ("shop", ("click", "purchase"), ()),
    ],
)
def test_what_a_solution_holds_that_is_not_read(
    path: Path, column: str, cells: tuple[str, str], doubts: tuple[str, ...]
) -> None:
    path.write_text(f"user,item,{column}\nann,a,{cells[0]}\nbob,b,{cells[1]}\n")
    solution = of_file(path)
    assert solution.doubts == doubts
    assert solution.shape == f"one row per item, 2 users; not read: {column}"
