"""Files whose article ids lost their leading zero: everything that reads them says so."""

from pathlib import Path

import pytest
import small
from conftest import refusal

import harness
from harness import config as config_
from harness.core.errors import HarnessError
from harness.experiment.submissions import SubmissionError
from harness.experiment.submit import submit
from harness.protocol.task import make_task

TRANSACTIONS = """t_dat,customer_id,article_id,price,sales_channel_id
2020-09-10,c1,706016001,0.05,2
2020-09-10,c2,706016002,0.05,2
2020-09-20,c1,706016002,0.05,2
2020-09-20,c2,706016001,0.05,2
"""
ARTICLES = "article_id,product_code\n706016001,1\n706016002,1\n900000000,2\n"
HEAD = "customer_id,prediction\n"
FILES = {
    "transactions_train.csv": TRANSACTIONS,
    "articles.csv": ARTICLES,
    "customers.csv": "customer_id,FN\nc1,\nc2,1\n",
    "nine.csv": HEAD + "c1,706016001 706016002\nc2,706016002\n",
    "ten.csv": HEAD + "c1,0706016001 0706016002\nc2,0706016002\n",
}
CURE = "restore_zeros = true"


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    small.write(here, FILES)


def config(days: int = 7, **data: object) -> config_.Config:
    values = {
        "data": {"layout": "hm", "path": ".", **data},
        "split": {"strategy": "time", "valid_days": days},
        "models": [small.POPULAR],
    }
    return config_.parse(values, Path())


def told(file: str, strict: bool = False, **data: object) -> tuple[bool, str]:
    """Return whether a file is valid, and all that is said of it."""
    found = harness.validate(file, config=config(**data), strict=strict)
    return found.valid, str([(p.code, p.message, p.hint) for p in found.problems])


def test_a_submission_says_it() -> None:
    (note,) = submit(config(), "popular", Path("out.csv")).notes
    assert note.startswith(
        "LOST ZEROS: 2 of 2 item ids in transactions_train.csv and 3 of 3 item ids in "
        'articles.csv have 9 digits (such as "706016001")'
    )
    assert "an upload with such ids would hit nothing and score 0" in note
    assert note.endswith(CURE)
    assert "706016001" in Path("out.csv").read_text().replace("0706016001", "")


@pytest.mark.parametrize(
    ("file", "strict", "valid", "words"),
    [
        ("nine.csv", False, False, ['"706016001" lost its leading zeros: ids have 10 digits',
                                    '3 of 3 in articles.csv, such as "706016001"']),
        ("ten.csv", False, True, ["SUB318"]),  # a right file, and the cause
        ("ten.csv", True, False, ["SUB318"]),
    ],
)  # fmt: skip
def test_files_are_validated_by_such_data(
    file: str, strict: bool, valid: bool, words: list[str]
) -> None:
    found, text = told(file, strict)
    assert found == valid
    assert [word for word in (*words, CURE) if word not in text] == []
    assert file == "nine.csv" or "is no item" not in text


def test_files_are_scored_by_such_data() -> None:
    """The ids without zeros are those of the data: c1 hits at the second place, 1/2; c2 not."""
    with refusal(SubmissionError, "SUB304") as caught:
        harness.score("ten.csv", config=config())
    result = harness.score("nine.csv", config=config())
    assert result.metrics["MAP@12"].mean == 1 / 4
    for validation in (caught.value.validation, result.validation):
        (cause,) = [problem for problem in validation.problems if problem.code == "SUB318"]
        assert CURE in cause.hint


def test_the_cure_works() -> None:
    cured = config(restore_zeros=True)
    assert harness.validate("ten.csv", config=cured).problems == ()
    assert harness.score("ten.csv", config=cured).metrics["MAP@12"].mean == 1 / 4
    with refusal(SubmissionError, "SUB305"):
        harness.score("nine.csv", config=cured)


def test_a_row_of_another_length_does_not_hide_it() -> None:
    Path("articles.csv").write_text(ARTICLES + "1000000000,3\n")
    valid, text = told("nine.csv")
    assert not valid
    assert "3 of 4 in articles.csv" in text


def test_times_of_a_spreadsheet_do_not_hide_it() -> None:
    days = TRANSACTIONS.replace("2020-09-10", "9/10/2020").replace("2020-09-20", "9/20/2020")
    Path("transactions_train.csv").write_text(days)
    digits = 'item ids, such as "706016001", have 9 digits'
    with refusal(HarnessError, 'column "t_dat": found "9/10/2020"', digits, CURE):
        make_task(config())
    make_task(config(restore_zeros=True, time_format="%m/%d/%Y"))  # what the two hints say


def test_a_split_that_fails_does_not_hide_it() -> None:
    with refusal(HarnessError, "LOST ZEROS", CURE):
        make_task(config(days=700))
