"""Files whose article ids lost their leading zero: everything that reads them says so."""

from pathlib import Path

import pytest
import small
from conftest import refusal

import harness
from harness import config as config_
from harness.core.errors import HarnessError
from harness.hosting.submit import submit
from harness.protocol.task import make_task
from harness.scoring.submissions import SubmissionError

TRANSACTIONS = """t_dat,customer_id,article_id,price,sales_channel_id
2020-09-10,c1,706016001,0.05,2
2020-09-10,c2,706016002,0.05,2
2020-09-20,c1,706016002,0.05,2
2020-09-20,c2,706016001,0.05,2
"""
HEAD = "customer_id,prediction\n"
FILES = {
    "transactions_train.csv": TRANSACTIONS,
    "articles.csv": "article_id,product_code\n706016001,1\n706016002,1\n900000000,2\n",
    "customers.csv": "customer_id,FN\nc1,\nc2,1\n",
    "nine.csv": HEAD + "c1,706016001 706016002\nc2,706016002\n",
    "ten.csv": HEAD + "c1,0706016001 0706016002\nc2,0706016002\n",
}
CURE = "restore_zeros = true"


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    small.write(here, FILES)


def config(days: int = 7, **data: object) -> config_.Config:
    data = {"layout": "hm", "path": ".", **data}
    rule = {"strategy": "time", "valid_days": days}
    return config_.parse({"data": data, "split": rule, "models": [small.POPULAR]}, Path())


def test_a_submission_says_it() -> None:
    (note,) = submit(config(), "popular", Path("out.csv")).notes
    assert note.startswith(
        "LOST ZEROS: 2 of 2 item ids in transactions_train.csv and 3 of 3 item ids in "
        'articles.csv have 9 digits (such as "706016001")'
    )
    assert "an upload with such ids would hit nothing and score 0" in note
    assert note.endswith(CURE)
    assert "706016001" in Path("out.csv").read_text().replace("0706016001", "")


@pytest.mark.parametrize("strict", [False, True])
def test_a_file_with_such_ids_is_as_the_data_is(strict: bool) -> None:
    """c1 hits at the second place, 1/2; c2 not. A warning says what an upload would need."""
    validation = harness.validate("nine.csv", config=config(), strict=strict)
    (cause,) = validation.problems
    assert (validation.valid, cause.code, CURE in cause.hint) == (not strict, "SUB318", True)
    result = harness.score("nine.csv", config=config())
    assert result.metrics["MAP@12"].mean == 1 / 4
    assert [problem.code for problem in result.validation.problems] == ["SUB318"]


def test_a_right_file_is_told_the_cause() -> None:
    validation = harness.validate("ten.csv", config=config())
    assert [(p.code, p.severity) for p in validation.problems] == [
        ("SUB317", "error"),
        ("SUB318", "warning"),
        ("SUB402", "warning"),  # nor does any list hit
    ]
    with refusal(SubmissionError, "SUB317", '"706016001" is known') as caught:
        harness.score("ten.csv", config=config())
    assert caught.value.validation.errors == validation.errors


def test_the_cure_works() -> None:
    cured = config(restore_zeros=True)
    assert harness.validate("ten.csv", config=cured).problems == ()
    assert harness.score("ten.csv", config=cured).metrics["MAP@12"].mean == 1 / 4
    with refusal(SubmissionError, "SUB305"):
        harness.score("nine.csv", config=cured)


def test_a_split_that_fails_does_not_hide_it() -> None:
    with refusal(HarnessError, "LOST ZEROS", CURE):
        make_task(config(days=700))
