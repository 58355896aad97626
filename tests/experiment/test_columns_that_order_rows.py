"""A column that may order rows is asked for, and ``--fix`` never drops it unasked."""

import csv
import io
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli, is_refused, tells

import harness
from harness.experiment.submissions import SubmissionError

TRUTH = "user,items\nann,a b\nbob,d\n"
ROWS = "ann,c,0.1\nann,b,0.5\nann,a,0.9\nbob,a,0.2\nbob,d,0.8\n"
BY_SCORE, BY_RANK, BY_ROW = 1.0, (1 / 2 + 2 / 3) / 2 / 2 + 1 / 4, (1 / 2 + 2 / 3) / 2 / 2 + 1 / 4
"""By score: a b c and d a. As the rows stand, and by the lowest number first: c b a and a d."""


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    (here / "truth.csv").write_text(TRUTH)


def errors(content: str, **given: Any) -> list[tuple[str, str]]:
    Path("long.csv").write_text(content)
    found = harness.validate("long.csv", solution="truth.csv", **given)
    return [(problem.code, problem.value) for problem in found.errors]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        *(
            (f"user,item,{column}\n{ROWS}", [("SUB111", column)])
            for column in ("prediction", "pred_rating", "relevance score", "Unnamed: 7")
        ),
        ("user,item,note\nann,a,x\nann,b,y\nbob,d,z\n", [("SUB102", "note")]),  # no numbers
        ("user,item,rank,prediction\nann,a,1,0\nann,b,2,9\n", [("SUB102", "prediction")]),
        ("user,items,n\nann,a b,2\nbob,d,1\n", [("SUB102", "n")]),  # a row a user: no order of rows
        ("user,item,n\nann,a,2\nbob,d,1\n", [("SUB102", "n")]),
        (",user,item\n0,ann,a\n1,ann,b\n2,bob,d\n", [("SUB107", "")]),  # the index of a frame
    ],
)  # fmt: skip
def test_what_may_order_rows_is_asked_for_and_nothing_else(
    content: str, expected: list[tuple[str, str]]
) -> None:
    assert errors(content) == expected
    asked_for = expected[0][0] == "SUB111"
    with pytest.raises(SubmissionError, match="SUB111") if asked_for else nullcontext():
        harness.score("long.csv", solution="truth.csv", force=not asked_for)


def test_the_message_names_the_column_and_what_to_type(cli: Cli) -> None:
    Path("long.csv").write_text(f"user,item,my pred\n{ROWS}")
    status, out, err = cli("validate", "long.csv", "--solution", "truth.csv", "--fix", "out.csv")
    assert status == 1
    for told in (out, err):
        assert 'the column "my pred" holds numbers, which may order the rows of a user' in told
        for option in ("--score-column 'my pred'", "--rank-column 'my pred'", "--row-order"):
            assert option in told
    options = ("--score-column 'my pred'", "--rank-column 'my pred'", "--row-order")
    is_refused(cli("explain", "long.csv", "--solution", "truth.csv", "--user", "ann"), *options)
    assert "--fix" not in out
    assert "out.csv: is not written" in err
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("header", "answer", "said"),
    [
        ("user,item,score", {}, "a row an item, ordered by score, the highest first;"),
        (
            "user,item,prediction",
            {"rank_column": "prediction"},
            "ordered by prediction, the lowest first;",
        ),
        ("user,item,prediction", {"row_order": True}, "a row an item, in the order of rows;"),
        ("user,item,prediction", {}, "a row an item;"),
    ],
)
def test_what_orders_the_rows_is_said(header: str, answer: dict[str, Any], said: str) -> None:
    Path("long.csv").write_text(f"{header}\nann,b,1\nann,a,2\n")
    assert said in harness.validate("long.csv", solution="truth.csv", **answer).checked


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ({"score_column": "prediction"}, BY_SCORE),
        ({"rank_column": "place"}, BY_RANK),
        ({"row_order": True}, BY_ROW),
    ],
)
def test_an_answer_is_enough(answer: dict[str, Any], score: float) -> None:
    rows = ROWS
    if "rank_column" in answer:
        numbers = iter("12312")
        rows = "".join(f"{row.rpartition(',')[0]},{next(numbers)}\n" for row in ROWS.splitlines())
    header = f"user,item,{answer.get('rank_column', 'prediction')}\n"
    assert errors(header + rows, **answer) == []
    found = harness.score("long.csv", solution="truth.csv", metrics=["MAP@10"], **answer)
    assert found.metrics["MAP@10"].mean == pytest.approx(score, abs=1e-12)


def test_what_is_mended_scores_what_the_file_does(cli: Cli) -> None:
    Path("long.csv").write_text(
        "user,item,prediction,note\n" + "".join(f"{row},x\n" for row in ROWS.splitlines())
    )
    options = ["--solution", "truth.csv", "--score-column", "prediction"]
    assert cli("validate", "long.csv", *options, "--fix", "out.csv")[0] == 0
    assert Path("out.csv").read_text() == f"user,item,prediction\n{ROWS}"
    tells(cli("score", "out.csv", *options, "--metric", "MAP@10"), 0, "1.000000")


def test_frames_are_asked_too() -> None:
    frame = pl.read_csv(io.StringIO(f"user,item,prediction\n{ROWS}"))
    assert [p.code for p in harness.validate(frame, solution="truth.csv").errors] == ["SUB111"]
    frame.write_parquet("long.parquet")
    found = harness.validate("long.parquet", solution="truth.csv")
    assert [p.code for p in found.errors] == ["SUB111"]
    found = harness.score(
        frame, solution="truth.csv", metrics=["MAP@10"], score_column="prediction"
    )
    assert found.metrics["MAP@10"].mean == BY_SCORE


def test_a_column_of_scores_where_the_sample_has_its_lists() -> None:
    """The items stand in the column that nobody knows: the scores are what is asked about."""
    Path("sample.csv").write_text("customer_id,prediction\nann,\nbob,\n")
    Path("items.csv").write_text("article_id\n1\n2\n")
    Path("long.csv").write_text(
        "customer_id,article_id,prediction\nann,1,0.1\nann,2,0.9\nbob,2,1\n"
    )
    given = {"sample": "sample.csv", "items": "items.csv"}
    found = harness.validate("long.csv", **given)
    assert ("SUB111", "prediction") in [(p.code, p.value) for p in found.errors]
    assert harness.validate("long.csv", score_column="prediction", **given).valid


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        (["--score-column", "my pred"], ["a", "b", "c"]),
        (["--rank-column", "place"], ["c", "b", "a"]),
        (["--row-order"], ["c", "b", "a"]),
    ],
)
def test_explain_takes_every_answer(cli: Cli, answer: list[str], items: list[str]) -> None:
    column = "place" if "--rank-column" in answer else "my pred"
    rows = "ann,c,1\nann,b,2\nann,a,3\nbob,a,1\nbob,d,2\n" if column == "place" else ROWS
    Path("long.csv").write_text(f"user,item,{column}\n{rows}")
    options = ("--solution", "truth.csv", "--user", "ann", "--format", "csv")
    status, out, _ = cli("explain", "long.csv", *options, *answer)
    assert status == 0
    assert [row["item"] for row in csv.DictReader(io.StringIO(out))] == items


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        ("customer_id,prediction,score", "ann,b,1\nann,a,1\nbob,c,1\n"),
        ("customer_id,score,prediction", "ann,1,b\nann,1,a\nbob,1,c\n"),
        ("prediction,customer_id,score", "b,ann,1\na,ann,1\nc,bob,1\n"),
    ],
)
def test_where_scores_are_tied_columns_are_still_told_by_their_names(head: str, rows: str) -> None:
    """Tied items go by id: a, which is true, before b; and c for bob."""
    Path("truth.csv").write_text("customer_id,prediction\nann,a\nbob,c\n")
    Path("long.csv").write_text(f"{head}\n{rows}")
    result = harness.score("long.csv", solution="truth.csv", metrics=["HitRate@1"])
    assert result.metrics["HitRate@1"].mean == 1.0


def test_two_answers_are_one_too_many(cli: Cli) -> None:
    Path("long.csv").write_text(f"user,item,prediction\n{ROWS}")
    options = ["--solution", "truth.csv", "--score-column", "prediction", "--row-order"]
    is_refused(cli("validate", "long.csv", *options), "name one")
