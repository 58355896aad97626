"""`harness validate` and `score` on Spark: what is said without Spark, of files and of tables."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import refusal

import harness
from harness import spark as on_spark
from harness.core.errors import DataError, HarnessError, UsageError
from harness.experiment.submissions import SubmissionError
from harness.experiment.terms import Terms
from harness.spark.score import score_on
from harness.spark.submission import Place
from harness.submission.format import Named
from spark.conftest import NOISE

pytestmark = NOISE
SOLUTION = """user,items,Usage
ann,a b,Public
bob,c,Private
cid,,Private
dan,d,Ignored
eve,a c d,Public
"""
SAMPLE = "user,items\nann,\nbob,\ncid,\ndan,\neve,\nfay,\n"
ITEMS = "item\n" + "\n".join("abcdef") + "\n"
GOOD = "user,items\nann,a b c\nbob,a c\ncid,b\ndan,d\neve,d a\nfay,e f\n"
WIDE = {
    "good": GOOD,
    "one list for all": "user,items\n" + "".join(f"{u},a b\n" for u in ("ann", "bob", "cid")),
    "one item each": "user,items\nann,a\nbob,a\ncid,b\ndan,d\neve,d\nfay,e\n",
    "many faults": (
        "user,items\nann,a b a zz\nann,a b\n\nbob,a,c\n bob,c\nzoe,a  b\n"
        'cid,"b\ndan,d\neve,d a\nfay,e;f\nmax\n'
    ),
    "quoted": 'user,items\n"ann","a b"\nbob,"c\nd"\n"eve","d a"x\nfay,\n',
    "bytes": "user,items\nann,a b\nbob,\udcff c\ncid,\0b\neve,d\r a\nfay,e",
    "users in another case": "user,items\nANN,a b\nBOB,c\n",
    "nobody of the truth": "user,items\nmax,a b\nmoe,c\n",
    "no rows": "user,items\n",
    "no header": "ann,a b\nbob,c\n",
    "another column": "user,items,more\nann,a b,1\nbob,c,2\n",
    "nothing": "",
}
LONG = {
    "ranks": "user,item,rank\nbob,c,2\nann,b,2\nann,a,1\nbob,a,1\neve,d,1\nzoe,a,1\n",
    "ranks that are wrong": (
        "user,item,rank\nann,b,2\nann,a,2\nbob,a,0\nbob,c,x\neve,d,1\neve,a,4\neve,d,5\n"
    ),
    "scores": "user,item,score\nann,b,0.1\nann,a,0.7\nbob,c,1e-3\neve,d,2\n",
    "equal scores": "user,item,score\nann,b,0.5\nann,a,0.5\nann,c,0.9\nbob,c,1\neve,d,2\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"solution.csv": SOLUTION, "sample.csv": SAMPLE, "items.csv": ITEMS}
    for name, text in files.items():
        Path(name).write_text(text)
    return tmp_path


def both(path: str, buckets: int, **given: Any) -> tuple[Any, Any]:
    """Return what score says without Spark and on Spark: its record, or why there is none."""
    here = outcome(lambda: harness.score(path, solution="solution.csv", force=True, **given))
    options = {"solution": "solution.csv", "force": True, "buckets": buckets, **given}
    there = outcome(lambda: on_spark.score(path, **options))
    return here, there


def outcome(call: Any) -> Any:
    try:
        return call().to_dict()
    except HarnessError as error:
        return type(error), str(error)


def validated(path: str, buckets: int, **given: Any) -> tuple[Any, Any]:
    here = outcome(lambda: harness.validate(path, **given))
    there = outcome(lambda: on_spark.validate(path, buckets=buckets, **given))
    return here, there


@pytest.mark.parametrize("name", [*WIDE, *LONG])
def test_a_file_is_scored_as_without_spark(spark: Any, folder: Path, name: str) -> None:
    Path("mine.csv").write_bytes({**WIDE, **LONG}[name].encode("utf-8", "surrogateescape"))
    here, there = both("mine.csv", 3)
    if isinstance(here, tuple):
        assert there[0] is here[0]
    else:
        assert there == here


@pytest.mark.parametrize("name", [*WIDE, *LONG])
def test_a_file_is_checked_as_without_spark(spark: Any, folder: Path, name: str) -> None:
    Path("mine.csv").write_bytes({**WIDE, **LONG}[name].encode("utf-8", "surrogateescape"))
    here, there = validated("mine.csv", 7, sample="sample.csv", items="items.csv")
    assert without_case(there) == without_case(here)


def without_case(told: Any) -> Any:
    """Return what is told, but for ids in another case, which no worker has all of."""
    for problem in told["problems"]:
        if problem["code"] in ("SUB212", "SUB213"):
            problem.update(code="SUB212", message="", hint="", value="")
        if problem["code"] in ("SUB202", "SUB209"):
            problem.update(code="SUB202", message="", hint="")
    return told


FRAME = {"user": ["bob", "ann", "ann", "bob", "eve", "zoe"], "item": ["c", "b", "a", "a", "d", "a"]}
RANKS = {"rank": [2, 2, 1, 1, 1, 1]}


def folder_of(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as a folder of Parquet files, as Spark does."""
    path.mkdir()
    for at in range(0, len(frame), 2):
        frame[at : at + 2].write_parquet(path / f"part-{at}.parquet")


@pytest.mark.parametrize("place", ["lists", "table:lists"])
def test_rows_of_a_table(spark: Any, folder: Path, place: str) -> None:
    """In another order, and without lines: the figures are those of the frame."""
    frame = pl.DataFrame(FRAME | RANKS)
    folder_of(frame, Path("lists"))
    spark.read.parquet(str(folder / "lists")).createOrReplaceTempView("lists")
    given = {"sample": "sample.csv", "items": "items.csv"}
    expected = harness.score(frame, solution="solution.csv", force=True, **given)
    options = {"solution": "solution.csv", "force": True, **given}
    found = on_spark.score(place, buckets=4, **options)
    assert found.metrics == expected.metrics
    assert found.leaderboards == expected.leaderboards
    assert found.left_out == expected.left_out
    told, want = (of.validation for of in (found, expected))
    assert told is not None
    assert want is not None
    assert told.rows == want.rows == 6
    assert [(p.code, p.count) for p in told.problems] == [(p.code, p.count) for p in want.problems]


def test_a_fault_of_a_table_is_told_by_its_user(spark: Any, folder: Path) -> None:
    frame = pl.DataFrame(FRAME | {"rank": [2, 2, 1, 1, 1, 0]})
    folder_of(frame, Path("lists"))
    found = on_spark.validate("lists", buckets=2)
    (problem,) = found.problems
    assert (problem.code, problem.line, problem.user, problem.value) == ("SUB313", None, "zoe", "0")
    assert 'user "zoe": "0" is neither' in repr(found)


def test_lists_of_a_table(spark: Any, folder: Path) -> None:
    """One row a user, an array of items; the solution is a table too, in the same form."""
    lists = {"user": ["ann", "bob", "eve"], "items": [["a", "b"], ["a", "c"], ["b"]]}
    true = {"user": ["ann", "bob"], "items": [["a", "b"], ["c"]]}
    for name, rows in (("lists", lists), ("true", true)):
        pl.DataFrame(rows).write_parquet(f"{name}.parquet")
        spark.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
    found = on_spark.score("table:lists", solution="table:true", metrics=["MAP@2"], buckets=3)
    assert found.metrics["MAP@2"].mean == (1 + 1 / 2) / 2
    assert found.left_out["users_outside"] == 1


def test_without_a_sample_nobody_must_have_a_row(spark: Any, folder: Path) -> None:
    Path("mine.csv").write_text("user,items\nann,a b\n")
    here, there = validated("mine.csv", 2, solution="solution.csv")
    assert there == here
    here, there = validated("mine.csv", 2)
    assert there == here


def test_a_packed_file(spark: Any, folder: Path) -> None:
    Path("mine.csv.gz").write_bytes(gzip.compress(GOOD.encode()))
    here, there = both("mine.csv.gz", 2, sample="sample.csv")
    assert there == here


@pytest.mark.parametrize("content", [b"PAR1 and no more PAR1", b"\x1f\x8b\x08 cut"])
def test_a_damaged_file(spark: Any, folder: Path, content: bytes) -> None:
    Path("mine.parquet").write_bytes(content)
    here, there = validated("mine.parquet", 2)
    assert there == here


REFUSED: Mapping[str, tuple[Any, dict[str, Any], list[str]]] = {
    "rows in no order": (
        {"mine.csv": "user,item\nann,a\nann,b\nbob,c\n"},
        {},
        ["mine.csv: users have a row for each item", 'add a column "rank"', "leave --engine spark"],
    ),
    "the order of rows": ({"mine.csv": GOOD}, {"row_order": True}, ["--row-order: Spark keeps no"]),
    "nobody of the truth": (
        {"mine.csv": "user,items\nmax,a\n"},
        {},
        ["mine.csv: not one of the users is in the truth"],
    ),
    "a solution of nobody": (
        {"mine.csv": GOOD, "solution.csv": "user,items\nann,\n"},
        {},
        ["solution.csv: no user has a true item"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_scored(spark: Any, folder: Path, name: str) -> None:
    files, named, words = REFUSED[name]
    for path, text in files.items():
        Path(path).write_text(text)
    terms = Terms.of(named=Named(**named))
    with refusal((UsageError, DataError), *words):
        score_on("mine.csv", terms, solution="solution.csv", force=True, at=Place(buckets=2))


def test_rows_of_a_table_in_no_order(spark: Any, folder: Path) -> None:
    spark.createDataFrame([("ann", "a"), ("ann", "b")], ["user", "item"]).createOrReplaceTempView(
        "loose"
    )
    with refusal(UsageError, "table:loose: users have a row for each item", '"score"'):
        on_spark.validate("table:loose", buckets=2)


def test_a_file_with_errors_is_not_scored(spark: Any, folder: Path) -> None:
    Path("mine.csv").write_text("user,items\nann,a b\nann,b\n")
    with pytest.raises(SubmissionError) as caught:
        on_spark.score("mine.csv", solution="solution.csv", buckets=2)
    assert [p.code for p in caught.value.validation.errors] == ["SUB203"]


def test_scored_against_what(spark: Any, folder: Path) -> None:
    with refusal(UsageError, "scored against what? name one of --config CONFIG and --solution"):
        on_spark.score("mine.csv")


def test_further_columns_of_a_table_are_passed_over(spark: Any, folder: Path) -> None:
    frame = pl.DataFrame(FRAME | RANKS | {"ds": ["2026"] * 6, "model": ["a"] * 6})
    folder_of(frame, Path("lists"))
    found = on_spark.score("lists", solution="solution.csv", metrics=["MAP@2"], buckets=2)
    assert found.validation is not None
    assert found.validation.valid
    assert found.metrics["MAP@2"].mean == (1 + 1 / 2 + 1 / 2) / 3


def test_a_missing_column_is_told_before_events_are_read(spark: Any, folder: Path) -> None:
    frame = pl.DataFrame({"user": ["ann"], "sku": [1.5]})
    folder_of(frame, Path("lists"))
    with pytest.raises(SubmissionError) as caught:
        on_spark.score("lists", solution="solution.csv", sample="sample.csv", buckets=2)
    assert [(p.code, p.line) for p in caught.value.validation.errors] == [
        ("SUB101", None),
        ("SUB102", None),
    ]


def test_a_frame_is_no_place(spark: Any, folder: Path) -> None:
    with refusal(UsageError, "the submission: found DataFrame", "createOrReplaceTempView"):
        on_spark.score(spark.range(1), solution="solution.csv")


@pytest.mark.parametrize(("name", "solution"), [("gone.csv", "solution.csv"), ("mine.csv", "gone")])
def test_a_file_that_is_not_there(spark: Any, folder: Path, name: str, solution: str) -> None:
    Path("mine.csv").write_text(GOOD)
    role = "submission" if name == "gone.csv" else "solution"
    with refusal(DataError, f"the {role}: there is no file gone", "is named table:gone"):
        on_spark.score(name, solution=solution)


def test_a_table_that_is_not_there(spark: Any, folder: Path) -> None:
    with refusal(DataError, "gone", "a temporary view is known to its own session alone"):
        on_spark.validate("table:gone", buckets=2)
