"""Rows of one item each, and Parquet: the same faults are found, and the same lists are read."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from checking import LONG, ROWS, against, brief, by_solution, checked, codes, findings

from harness.delimited import blocks
from harness.submission.expected import Against, of_tables
from harness.submission.format import Named
from harness.submission.rules import SAMPLE
from harness.submission.validate import Examined, examine, validate

BESIDE = {"SUB102": "SUB101", "SUB302": "SUB303"}


@pytest.mark.parametrize("code", ROWS)
def test_a_fault_is_found_in_rows_of_one_item(tmp_path: Path, code: str) -> None:
    content, *expected = ROWS[code]
    faults = {p.code: [p.line, p.value, p.count] for p in checked(tmp_path, content).problems}
    assert faults.pop("SUB110") == [None, "one row per item", 1]
    assert faults.pop(code) == expected
    assert sorted(faults) == BESIDE.get(code, "").split()


def test_rows_that_keep_every_rule(tmp_path: Path) -> None:
    assert findings(tmp_path, LONG) == [("SUB110", None, "one row per item", 1, 1)]
    frame = pl.read_csv(LONG.encode(), schema_overrides={"article_id": pl.String})
    frame.write_parquet(tmp_path / "rows.parquet")
    problems = validate(tmp_path / "rows.parquet", against(tmp_path)).problems
    assert [brief(problem)[:3] for problem in problems] == [("SUB110", None, "Parquet")]


@pytest.mark.parametrize("cell", ["", "0", "nan", "1,5"])
def test_what_is_no_rank(tmp_path: Path, cell: str) -> None:
    content = LONG.replace("3,2", f'3,"{cell}"')
    assert ("SUB313", 2, cell, 1, 1) in findings(tmp_path, content)


def test_lists_that_are_too_long_are_counted_once_each(tmp_path: Path) -> None:
    three, known = LONG + "bob,0706016001,3\n", against(tmp_path)
    for k, expected in {1: [(2, "0706016003", 1)], 2: [(6, "0706016001", 1)], 3: []}.items():
        problems = checked(tmp_path, three, known.cut_at(k)).problems
        faults = [(p.line, p.value, p.count) for p in problems if p.code != "SUB110"]
        assert faults == expected


def lists(path: Path) -> Examined:
    """Return what is found where the solution's items are a, b, c: 0, 1, 2."""
    return by_solution(path, "user,items\nann,a b\nbob,c\n")


def positions(path: Path) -> list[list[int]]:
    return np.asarray(lists(path).lists).tolist()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "long.csv"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "lists.parquet"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("user,item,rank\nann,b,2e0\nann,a,1.0\nbob,x,1\n", [[0, 1], [3, -1]]),
        ("user,item,score\nann,b,2.5e-1\nann,a,2.50\nbob,x,1\n", [[0, 1], [3, -1]]),
        # A rank is a place; the order of rows counts where nothing else says it.
        ("user,item,rank\nann,b,3\nann,a,1\n", [[0, -1, 1], [-1, -1, -1]]),
        ('user,item\n"ann",b\nbob,c\nann,"a"\n', [[1, 0], [2, -1]]),
        ("user,item,score\nann,b,1\nann,a,1\n", [[0, 1], [-1, -1]]),  # ties go by the ids
    ],
)
def test_what_orders_a_list(path: Path, content: str, expected: list[list[int]]) -> None:
    """The places of the items of ann's list and bob's; -1 where there is none."""
    path.write_text(content)
    assert positions(path) == expected
    pl.read_csv(path).write_parquet(path.with_suffix(".parquet"))
    assert positions(path.with_suffix(".parquet")) == expected


@pytest.mark.parametrize(
    ("content", "positions", "problems"),
    [
        # LensKit: both say the same.
        ("user,item,rank,score\nann,b,2,3\nann,a,1,4\nbob,c,1,9\n", [[0, 1], [2, -1]], ["SUB113"]),
        # RecTools' columns, where one row has more than the row before it by rank.
        (
            "user_id,item_id,score,rank\nann,a,3,1\nann,b,4,2\nbob,c,1,1\n",
            [[0, 1], [2, -1]],
            ["SUB113", ("SUB115", None, "score", 1, 1)],
        ),
        # RePlay
        (
            "user_idx,item_idx,rating\nann,b,0.5\nann,a,1\nbob,c,3\n",
            [[0, 1], [2, -1]],
            [("SUB116", 1, "rating", 1, 1)],
        ),
        # A row a user: what a rating is of is not known.
        ("user,items,rating\nann,a b,1\nbob,c,3\n", [[0, 1], [2, -1]], ["SUB113"]),
    ],
)
def test_lists_with_further_columns(
    path: Path, content: str, positions: list[list[int]], problems: list[object]
) -> None:
    path.write_text(content)
    examined = lists(path)
    assert examined.lists is not None
    assert examined.lists.tolist() == positions
    whole = [brief(problem) for problem in examined.validation.problems]
    assert [b if b in problems else b[0] for b in whole] == problems


def test_rows_are_counted(path: Path) -> None:
    """Lines that are no rows are not; zed is not evaluated."""
    path.write_text("user,item,rank\nann,a,1\nann\nbob,c,1\n\nzoe,a,1,2\nzed,a,1\n")
    summary = lists(path).summary
    assert summary is not None
    assert (summary.rows, summary.outside, summary.rows_outside) == (3, 1, 1)


# Whether a row holds an item or a list.


@pytest.mark.parametrize(
    ("rows", "row_an_item"),
    [
        ("ann,1\nann,1\n", True),
        ("ann,1\nbob,\nann,2\n", True),
        ("ann,1\nbob,2\n", False),
        ("ann,1\nann,2\nbob,3 4\n", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("size", [16, 24, 1 << 16])  # one row a block, two, and all
def test_the_whole_file_says_whether_a_row_holds_an_item(
    path: Path, rows: str, row_an_item: bool, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "SIZE", size)
    path.write_text("user,item\n" + rows)
    assert examine(path, Against()).against.long == row_an_item


def test_a_late_list_of_two_items_makes_all_rows_of_a_table_lists(table: Path) -> None:
    users = ["ann", "ann", *(f"user{n}" for n in range(50)), "bob"]
    pl.DataFrame({"user": users, "item": ["1"] * 52 + ["2 3"]}).write_parquet(table)
    examined = examine(table, Against())
    assert (examined.against.long, examined.validation.rows) == (False, 53)
    errors = {p.code: (p.line, p.count) for p in examined.validation.errors}
    assert errors == {"SUB211": (2, 1)}  # ann's list stands there twice


def test_a_file_whose_format_is_known_is_read_as_that_says(path: Path) -> None:
    path.write_text("customer_id,prediction\nann,0706016001\nann,0706016002\n")
    (path.parent / "sample.csv").write_text(SAMPLE)
    assert not examine(path, of_tables(path.parent / "sample.csv")).against.long


def test_rows_of_a_user_that_stand_apart(tmp_path: Path) -> None:
    assert "SUB319" not in codes(tmp_path, "user,item\nann,a\nann,b\nbob,a\n", Against())
    rows = "ann,a\nbob,a\nann,b\nann,c\nbob,b\nann,d\n"
    content = "user,item\n" + rows
    problems = checked(tmp_path, content, Against()).problems
    assert [(p.line, p.count) for p in problems if p.code == "SUB319"] == [(4, 3)]
    ordered = Against(named=Named(row_order=True))
    assert "SUB319" not in codes(tmp_path, content, ordered)
    ranks = "".join(f"{row},{rank}\n" for rank, row in enumerate(rows.split(), 1))
    assert "SUB319" not in codes(tmp_path, "user,item,rank\n" + ranks, Against())


# Parquet.


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([["0706016001", "0706016002"], ["0706016003"], ["0706016002"]], []),
        ([["0706016001", None, "a b"], [], None],
         [("SUB308", 1, "null", 1), ("SUB309", 1, "a b", 1), ("SUB301", 2, "", 2)]),
        # Numbers have lost their zeros.
        ([[706016001], [706016002, 1], []],
         [("SUB304", 2, "1", 1), ("SUB305", 1, "706016001", 2), ("SUB301", 3, "", 1)]),
    ],
)  # fmt: skip
def test_a_column_of_lists(table: Path, lists: list[object], expected: list[object]) -> None:
    users = ["ann", "bob", "cem"]
    pl.DataFrame({"customer_id": users, "prediction": lists}).write_parquet(table)
    result = validate(table, against(table.parent))
    assert result.rows == 3
    problems = [brief(p)[:4] for p in result.problems]
    problems.remove(("SUB110", None, "Parquet", 1))
    assert problems == expected


@pytest.mark.parametrize(
    ("columns", "code", "value"),
    [
        ({"items": [True]}, "SUB108", "items (Boolean)"),
        ({"item": [["a", "b"]], "rank": [1]}, "SUB108", "item (List(String))"),  # beside ranks
        ({"item": [["a"]], "z": [b"\xff"]}, "SUB113", "z"),  # which nobody reads
    ],
)
def test_types_of_columns(table: Path, columns: dict[str, object], code: str, value: str) -> None:
    pl.DataFrame({"user": ["ann"], **columns}).write_parquet(table)
    (problem,) = validate(table, Against()).problems
    assert (problem.code, problem.value) == (code, value)


def test_lists_of_records_as_spark_recommends_them(table: Path) -> None:
    """The best first, whatever the rating says."""
    ann = [{"item": "b", "rating": 0.5}, {"item": "a", "rating": 0.4}]
    pl.DataFrame({"user": ["ann", "bob"], "recommendations": [ann, []]}).write_parquet(table)
    examined = lists(table)
    assert examined.lists is not None
    assert examined.lists.tolist() == [[1, 0], [-1, -1]]
    assert [p.code for p in examined.validation.problems] == ["SUB113", "SUB301"]


def test_a_name_of_a_file_is_no_pattern(tmp_path: Path) -> None:
    for name, item in (("s[1].parquet", "a"), ("s1.parquet", "x")):
        pl.DataFrame({"user": ["ann"], "items": [[item]]}).write_parquet(tmp_path / name)
    assert positions(tmp_path / "s[1].parquet") == [[0], [-1]]


def test_a_damaged_parquet_file(table: Path) -> None:
    pl.DataFrame({"user": ["ann"] * 500, "item": [["a"]] * 500}).write_parquet(table)
    content = table.read_bytes()
    for damaged in (b"PAR1 and no more", content[:4] + bytes(56) + content[60:]):
        table.write_bytes(damaged)
        assert [p.code for p in lists(table).validation.problems] == ["SUB015"]
