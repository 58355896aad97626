"""A solution's file: what its header may be, and bytes that no id has."""

from pathlib import Path

import pytest
from conftest import refusal

from harness.core.errors import DataError
from harness.submission.format import Named
from harness.submission.solution import of_file


def test_a_true_item_with_a_nul_is_refused(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_bytes(b"user,items\nann,a\0\n")
    with refusal(DataError, 'truth.csv: column "items": found "a', "NUL byte"):
        of_file(tmp_path / "truth.csv")


@pytest.mark.parametrize(
    "rows",
    [
        "u000,i18 i07\nu001,i18 i07\nu002,i3\n",
        "u000,i18\nu001,i07\nu001,i18\n",
        "17,5\n18,6\n18,5\n",
        "ann,a b\nbob,b c\ncem,a\n",  # no digits, but the items of others
    ],
)
def test_a_solution_without_a_header_is_refused_before_it_loses_a_user(
    tmp_path: Path, rows: str
) -> None:
    path = tmp_path / "truth.csv"
    path.write_text(rows)
    first = rows.partition("\n")[0]
    with refusal(DataError, f'line 1: found "{first}"', "such as user,items", "--user-column"):
        of_file(path)
    path.write_text("user,items\n" + rows)
    assert len(of_file(path).users) == len({row.partition(",")[0] for row in rows.splitlines()})


@pytest.mark.parametrize(
    "content",
    [
        "user,item\nann,user\nitems,b\n",
        "user1,item1\nann,a\nbob,b\n",
        "u1,Usage,i1\nu2,Public,i1\n",
    ],
)
def test_headers_that_are_no_users(tmp_path: Path, content: str) -> None:
    path = tmp_path / "truth.csv"
    path.write_text(content)
    assert len(of_file(path).users) > 0


def test_a_header_that_looks_like_a_user_is_one_where_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_text("0,1\n17,5\n18,6\n")
    named = Named(user="0", item="1")
    assert of_file(path, named).users.to_list() == ["17", "18"]
