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
from harness.spark import examining, lines
from harness.spark.lines import Lines
from harness.spark.packing import unpacked
from harness.spark.parts import contents
from harness.spark.score import score_on
from harness.spark.submission import SparkOptions
from harness.spark.users import Division
from harness.submission.expected import Against
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
    """Return what is told, but for ids in another case, where nobody's id is known."""
    for problem in told["problems"]:
        if problem["code"] in ("SUB212", "SUB213"):
            problem.update(code="SUB212", message="", hint="", value="")
    return told


THREE = "user,items\nann,a b\nbob,c\ncid,d\n"
NUMBERS = "user,items\n001,a b\n002,c\n003,d\n"
TIES = "user,item,score\nann,b,0.9\nann,a,0.9\nbob,c,1\n"
KINDS = "user,items\n1_clicks,5\n1_carts,5 6\n1_orders,7\n2_clicks,8\n"
ODD: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "blanks of other kinds are parts of ids": (
        "user,items\nann\u00a0,a b\nbob,c\n\u3000cid,d\n\x0bdan,d\n",
        "user,items\nann\u00a0,a b\nbob,c\n\u3000cid,d\n\x0bdan,d\n",
        {},
    ),
    "quotes around ids": (THREE, 'user,item,rank\nann,a,1\n"""cid",d,1\n"""cid",a,5\n', {}),
    "numbers with .0": (NUMBERS.replace("00", ""), "user,items\n1.0,a b\n2,c\n3.0,d\n", {}),
    "zeros that are lost": (NUMBERS, "user,items\n1,a b\n2,c\n003,d\n", {}),
    "kinds are those of the solution": (
        KINDS,
        "session_type,labels\n1_clicks,5 6\n1_carts,5\n1_orders,8\n2_clicks,8 5\n",
        {"metrics": ["TotalRecall@20"]},
    ),
    "users outside, where scores are equal": (
        THREE,
        TIES + "".join(f"z{i},a,1\n z{i},b,2\n" for i in range(9)).replace(" z", "z"),
        {},
    ),
    "columns that are named": (
        THREE,
        "who,what,place\nann,a,2\nann,b,1\nbob,c,1\ncid,d,1\n",
        {"user_column": "who", "item_column": "what", "rank_column": "place"},
    ),
    "users whom the sample has not": (
        THREE,
        "user,items\nann,a b\nbob,c\ncid,d a\n",
        {"sample": "user,items\nann,\nbob,\n"},
    ),
    "one list for all, of items that nobody knows": (
        THREE,
        "user,item,rank\n" + "".join(f"{u},x,1\n{u},y,2\n" for u in ("ann", "bob", "cid")),
        {},
    ),
    "lists of one item, and a user twice": (
        THREE,
        "user,items\nann,a\nbob,c\ncid,d\nann,b\n",
        {"sample": "user,items\nann,\nbob,\ncid,\n"},
    ),
}


@pytest.mark.parametrize("buckets", [1, 3, 7])
@pytest.mark.parametrize("name", ODD)
def test_odd_files(spark: Any, folder: Path, name: str, buckets: int) -> None:
    solution, text, given = ODD[name]
    Path("solution.csv").write_text(solution)
    Path("mine.csv").write_text(text)
    if "sample" in given:
        Path("own.csv").write_text(given["sample"])
        given = {**given, "sample": "own.csv"}
    here, there = both("mine.csv", buckets, **given)
    assert there == here


FAULTS = {
    "too few fields": "cid,a\n",
    "no number": "cid,a,x\n",
    "a blank line": "\n",
}


@pytest.mark.parametrize("name", FAULTS)
def test_equal_scores_and_faults_of_rows(spark: Any, folder: Path, name: str) -> None:
    """As without Spark, where ids are told apart once more, of rows that are whole."""
    Path("mine.csv").write_text(TIES + FAULTS[name])
    with pytest.raises(DataError):
        harness.score("mine.csv", solution="solution.csv", force=True)
    with refusal(DataError, "mine.csv: line 5: SUB", "and equal scores"):
        on_spark.score("mine.csv", solution="solution.csv", force=True, buckets=7)


def test_many_ids_that_are_written_otherwise(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examining, "MOST_STRANGERS", 1)
    for name, width in (("solution.csv", 3), ("mine.csv", 1)):
        rows = "".join(f"{number:0{width}},a b\n" for number in range(1, 20))
        Path(name).write_text(f"user,items\n{rows}")
    with refusal(DataError, "mine.csv: many ids are nobody's as they are written, such as"):
        on_spark.score("mine.csv", solution="solution.csv", buckets=4)


@pytest.mark.parametrize("buckets", [-1, 0, 4097])
def test_a_number_of_buckets(spark: Any, folder: Path, buckets: int) -> None:
    Path("mine.csv").write_text(GOOD)
    with refusal(UsageError, f"buckets is {buckets}; expected 1 to 4,096"):
        on_spark.validate("mine.csv", buckets=buckets)


@pytest.mark.parametrize("name", ["my lists", "a%b", "é", "lists=1"])
def test_a_folder_of_any_name(spark: Any, folder: Path, name: str) -> None:
    folder_of(pl.DataFrame(FRAME | RANKS), Path(name))
    assert on_spark.validate(name, buckets=2).rows == 6


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
        score_on(
            "mine.csv", terms, solution="solution.csv", force=True, options=SparkOptions(buckets=2)
        )


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


def test_what_a_task_sends_of_several_batches_is_told_apart(installed: None) -> None:
    """Chunks of contents are put together by their bucket and a number, each its own."""
    import pyarrow as pa

    frame = pl.DataFrame({"user": ["ann", "bob"], "items": ["a b", "c"]})
    batches = [batch for _ in range(3) for batch in frame.to_arrow().to_batches()]
    sent = list(lines._of_rows(Against(), Division([0]), {}, iter(batches)))
    numbers = pa.Table.from_batches(sent)["source"].to_pylist()
    assert sorted(set(numbers)) == sorted(numbers)
    blocks = Lines((unpacked(content) for _, content, _ in contents(sent)), False).blocks()
    text = b"".join(block.buffer[: block.size].tobytes() for block in blocks)
    assert (text.count(b"ann"), text.count(b"bob")) == (3, 3)


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
