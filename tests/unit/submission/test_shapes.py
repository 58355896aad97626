"""Rows of one item each, and Parquet: the same faults are told, and the same lists are read."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_rules import against

from harness.delimited import blocks
from harness.experiment.terms import Terms
from harness.submission.expected import Against, of_tables
from harness.submission.fix import fix
from harness.submission.format import Named
from harness.submission.rules.rule import SAMPLE
from harness.submission.validate import Examined, examine, validate

HEAD = "customer_id,article_id,rank\n"
ROW_ORDER = Against(named=Named(row_order=True))
LONG = HEAD + "bob,0706016003,2\nann,0706016001,1\nbob,0706016002,1\ncem,0706016001,1\n"


@pytest.fixture
def known(tmp_path: Path) -> Against:
    return against(tmp_path)


def found(folder: Path, content: str, k: int | None = None) -> list[Any]:
    path = folder / "long.csv"
    path.write_text(content)
    problems = validate(path, against(folder).cut_at(k)).problems
    asked_for_otherwise, *others = sorted(problems, key=lambda problem: problem.code != "SUB110")
    assert asked_for_otherwise.code == "SUB110"
    return [(p.code, p.line, p.value, p.count) for p in others]


def test_a_row_an_item(tmp_path: Path) -> None:
    assert found(tmp_path, LONG) == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (LONG + "zed,0706016001,1\n", [("SUB202", 6, "zed", 1)]),
        (LONG.replace("cem,0706016001,1\n", ""), [("SUB201", None, "cem", 1)]),
        (LONG.replace("0706016003,2", "706016003,2"), [("SUB305", 2, "706016003", 1)]),
        (LONG.replace("0706016003", "0999999999"), [("SUB304", 2, "0999999999", 1)]),
        (LONG.replace("0706016003", "0706016001 0706016003"),
         [("SUB309", 2, "0706016001 0706016003", 1)]),
        (LONG.replace("0706016003,2", ",2"), [("SUB301", 2, "", 1), ("SUB404", None, "", 3)]),
        (LONG + "bob,0706016003,3\n", [("SUB303", 6, "0706016003", 1)]),
        (LONG.replace("3,2", "3,1"), [("SUB314", 4, "0706016002", 1)]),
        (LONG.replace("rank", "score").replace("3,2", "3,1"), [("SUB315", 4, "0706016002", 1)]),
        (LONG.replace("3,2", "3,two"), [("SUB313", 2, "two", 1)]),
        (LONG.replace("3,2", "3,"), [("SUB313", 2, "", 1)]),
        (LONG.replace("3,2", "3,0"), [("SUB313", 2, "0", 1)]),
        (LONG.replace("3,2", "3,4"), [("SUB316", 2, "0706016003", 1)]),
        (LONG.replace("3,2", "3,nan"), [("SUB313", 2, "nan", 1)]),
        (LONG.replace("3,2", "3"), [("SUB204", 2, "bob,0706016003", 1), ("SUB404", None, "", 3)]),
        (HEAD + "ann,0706016001,1\nbob,0706016002,1\ncem,0706016003,1\n",
         [("SUB404", None, "", 3)]),
        (HEAD + "".join(f"{user},070601600{i},{i}\n" for user in ("ann", "bob", "cem")
                        for i in (1, 2)),
         [("SUB401", None, "", 3)]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_rows(tmp_path: Path, content: str, expected: list[Any]) -> None:
    assert found(tmp_path, content) == expected


def test_lists_that_are_too_long_are_told_once_each(tmp_path: Path) -> None:
    more = "bob,0706016001,3\n"
    assert found(tmp_path, LONG + more, k=1) == [("SUB302", 2, "0706016003", 1)]
    assert found(tmp_path, LONG + more, k=2) == [("SUB302", 6, "0706016001", 1)]
    assert found(tmp_path, LONG + more, k=3) == []


def lists(path: Path, solution: Path, named: Named | None = None) -> Examined:
    terms = Terms(solution=solution, named=named)
    own = terms.scored_against()
    return examine(path, terms.against().scored_by(own), own)


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    path = tmp_path / "solution.csv"
    path.write_text("user,items\nann,a b\nbob,c\n")
    return path


def positions(found: Examined) -> list[list[int]]:
    assert found.lists is not None
    return [[int(item) for item in row if item >= 0] for row in found.lists]


@pytest.mark.parametrize(
    ("order", "first", "second"),
    [("rank", "1", "2"), ("rank", "1.0", "2e0"), ("score", "2.50", "2.5e-1"), ("score", "3", "2")],
)
def test_ranks_and_scores_order_a_list(
    tmp_path: Path, solution: Path, order: str, first: str, second: str
) -> None:
    """The solution's items are a, b, c: 0, 1, 2; x is nobody's and stands behind."""
    path = tmp_path / "long.csv"
    path.write_text(f"user,item,{order}\nann,b,{second}\nann,a,{first}\nbob,x,1\nzed,a,1\n")
    found = lists(path, solution)
    assert positions(found) == [[0, 1], [3]]
    assert found.summary is not None
    assert (found.summary.outside, found.summary.rows_outside) == (1, 1)


def test_a_rank_is_a_place(tmp_path: Path, solution: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("user,item,rank\nann,b,3\nann,a,1\n")
    found = lists(path, solution)
    assert found.lists is not None
    assert found.lists.tolist() == [[0, -1, 1], [-1, -1, -1]]


def test_the_order_of_rows_where_nothing_else_says_it(tmp_path: Path, solution: Path) -> None:
    path = tmp_path / "long.csv"
    for content in ("user,item\nann,b\nbob,c\nann,a\n", 'user,item\n"ann",b\nbob,c\nann,"a"\n'):
        path.write_text(content)
        found = lists(path, solution)
        assert [p.code for p in found.validation.problems] == ["SUB319"]  # ann's stand apart
        assert positions(found) == [[1, 0], [2]]
    frame = pl.DataFrame({"user": ["ann", "bob", "ann"], "item": ["b", "c", "a"]})
    frame.write_parquet(path.with_suffix(".parquet"))
    assert positions(lists(path.with_suffix(".parquet"), solution)) == [[1, 0], [2]]


def test_ties_are_left_to_the_ids(tmp_path: Path, solution: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("user,item,score\nann,b,1\nann,a,1\n")
    assert lists(path, solution).lists is None


# Parquet.


def test_a_column_of_lists(tmp_path: Path, known: Against) -> None:
    path = tmp_path / "lists.parquet"
    good = [["0706016001", "0706016002"], ["0706016003"], ["0706016002"]]
    frame = pl.DataFrame({"customer_id": ["ann", "bob", "cem"], "prediction": good})
    frame.write_parquet(path)
    result = validate(path, known)
    assert ([p.code for p in result.problems], result.rows) == (["SUB110"], 3)
    odd = [["0706016001", None, "a b"], [], None]
    frame.with_columns(pl.Series("prediction", odd)).write_parquet(path)
    assert [(p.code, p.line, p.value, p.count) for p in validate(path, known).problems] == [
        ("SUB308", 1, "null", 1),
        ("SUB309", 1, "a b", 1),
        ("SUB110", None, "Parquet", 1),
        ("SUB301", 2, "", 2),
    ]


def test_numbers_have_lost_their_zeros(tmp_path: Path, known: Against) -> None:
    path = tmp_path / "lists.parquet"
    users = ["ann", "bob", "cem"]
    frame = pl.DataFrame({"customer_id": users, "prediction": [[706016001], [706016002, 1], []]})
    frame.write_parquet(path)
    codes = {p.code: p.count for p in validate(path, known).problems}
    assert codes == {"SUB110": 1, "SUB301": 1, "SUB304": 1, "SUB305": 2}


def test_rows_of_a_parquet_file(tmp_path: Path, known: Against) -> None:
    path = tmp_path / "rows.parquet"
    pl.read_csv(LONG.encode(), schema_overrides={"article_id": pl.String}).write_parquet(path)
    assert [p.code for p in validate(path, known).problems] == ["SUB110"]
    pl.DataFrame({"customer_id": ["ann"], "prediction": [True]}).write_parquet(path)
    (problem,) = validate(path, known).errors
    assert (problem.code, problem.value) == ("SUB108", "prediction (Boolean)")


def test_rows_are_mended(tmp_path: Path, known: Against) -> None:
    path, out = tmp_path / "long.csv", tmp_path / "out.csv"
    path.write_text(LONG.replace("bob,0706016003,2", " bob,706016003.0, 2"))
    fix(path, known, out)
    assert out.read_text() == LONG


def test_parquet_is_mended_into_a_csv(tmp_path: Path, known: Against) -> None:
    path, out = tmp_path / "lists.parquet", tmp_path / "out.csv"
    frame = pl.DataFrame({"customer_id": ["ann", "bob"], "prediction": [[706016001] * 2, [None]]})
    frame.write_parquet(path)
    fix(path, known, out)
    assert out.read_text() == "customer_id,prediction\nann,0706016001\nbob,\ncem,\n"


def test_a_name_of_a_file_is_no_pattern(tmp_path: Path, solution: Path) -> None:
    for name, item in (("s[1].parquet", "a"), ("s1.parquet", "x")):
        pl.DataFrame({"user": ["ann"], "items": [[item]]}).write_parquet(tmp_path / name)
    assert positions(lists(tmp_path / "s[1].parquet", solution)) == [[0], []]


def test_lists_beside_ranks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    pl.DataFrame({"user": ["ann"], "item": [["a", "b"]], "rank": [1]}).write_parquet(path)
    (problem,) = validate(path, Against()).problems
    assert (problem.code, problem.value) == ("SUB108", "item (List(String))")


def test_columns_that_nobody_reads_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    frame = pl.DataFrame({"user": ["ann"], "item": [["a"]], "z": [b"\xff"]})
    frame.write_parquet(path)
    assert [p.code for p in validate(path, Against()).problems] == ["SUB102"]


def test_a_damaged_parquet_file(tmp_path: Path, solution: Path) -> None:
    path = tmp_path / "lists.parquet"
    pl.DataFrame({"user": ["ann"] * 500, "item": [["a"]] * 500}).write_parquet(path)
    content = path.read_bytes()
    for damaged in (b"PAR1 and no more", content[:4] + bytes(56) + content[60:]):
        path.write_bytes(damaged)
        assert [p.code for p in lists(path, solution).validation.problems] == ["SUB015"]


@pytest.mark.parametrize(
    ("rows", "row_an_item"),
    [
        ("ann,1\nann,2\n", True),
        ("ann,1\nann,1\n", True),
        ("ann,1\nbob,\nann,2\n", True),
        ("ann,1\nbob,2\n", False),
        ("ann,1 2\nann,3\n", False),
        ("ann,1\nann,2\nbob,3 4\n", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("size", [16, 24, 1 << 16])  # one row a block, two, and all
def test_whether_a_row_holds_an_item_is_told_by_the_whole_file(
    tmp_path: Path, rows: str, row_an_item: bool, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "SIZE", size)
    path = tmp_path / "lists.csv"
    path.write_text("user,item\n" + rows)
    assert examine(path, Against()).against.long == row_an_item


@pytest.mark.parametrize(("form", "line"), [("csv", 3), ("parquet", 2)])
def test_a_late_list_of_two_items_makes_all_rows_lists(
    tmp_path: Path, form: str, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "SIZE", 64)
    path = tmp_path / f"lists.{form}"
    users = ["ann", "ann", *(f"user{n}" for n in range(50)), "bob"]
    frame = pl.DataFrame({"user": users, "item": ["1"] * 52 + ["2 3"]})
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    found = examine(path, Against())
    assert not found.against.long
    told = {p.code: (p.line, p.count) for p in found.validation.problems if p.code != "SUB110"}
    assert told == {"SUB211": (line, 1)}  # ann's list stands there twice
    assert found.validation.rows == 53


@pytest.mark.parametrize(
    ("rows", "line", "count"),
    [
        ("ann,a\nann,b\nbob,a\n", None, 0),
        ("ann,a\nbob,a\nann,b\n", 4, 1),
        ("ann,a\nbob,a\nann,b\nann,c\nbob,b\nann,d\n", 4, 3),
    ],
)
def test_rows_of_a_user_that_stand_apart(
    tmp_path: Path, rows: str, line: int | None, count: int
) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("user,item\n" + rows)
    told = [p for p in validate(path, Against()).problems if p.code == "SUB319"]
    assert [(p.line, p.count) for p in told] == ([(line, count)] if count else [])
    assert "SUB319" not in {p.code for p in validate(path, ROW_ORDER).problems}
    path.write_text(
        "user,item,rank\n" + "".join(f"{r},{n}\n" for n, r in enumerate(rows.split(), 1))
    )
    assert "SUB319" not in {p.code for p in validate(path, Against()).problems}


def test_rows_of_a_user_may_stand_anywhere(tmp_path: Path, solution: Path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("user,item,rank\nann,b,2\nbob,a,1\nann,a,1\nann,b,3\n")
    found = lists(path, solution)
    assert [(p.code, p.line, p.value) for p in found.validation.problems] == [("SUB303", 5, "b")]


def test_a_file_whose_format_is_known_is_read_as_that_says(tmp_path: Path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("customer_id,prediction\nann,0706016001\nann,0706016002\n")
    (tmp_path / "sample.csv").write_text(SAMPLE)
    assert not examine(path, of_tables(tmp_path / "sample.csv")).against.long


def test_lines_that_are_no_rows_are_not_counted(tmp_path: Path, solution: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("user,item,rank\nann,a,1\nann\nbob,c,1\n\nzoe,a,1,2\n")
    found = lists(path, solution)
    assert [p.code for p in found.validation.problems] == ["SUB204", "SUB205", "SUB206", "SUB404"]
    assert found.summary is not None
    assert (found.summary.rows, found.summary.outside, found.summary.rows_outside) == (2, 0, 0)
