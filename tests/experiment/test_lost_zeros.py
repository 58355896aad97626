"""Files whose article ids lost their leading zero: every command says so."""

from pathlib import Path

import pytest
from conftest import Cli, is_refused, tells

TRANSACTIONS = """t_dat,customer_id,article_id,price,sales_channel_id
2020-09-10,c1,0706016001,0.05,2
2020-09-10,c2,0706016002,0.05,2
2020-09-20,c1,0706016002,0.05,2
2020-09-20,c2,0706016001,0.05,2
"""
ARTICLES = "article_id,product_code\n0706016001,1\n0706016002,1\n0900000000,2\n"
CONFIG = """
[data]
layout = "hm"
path = "."
{data}
[split]
strategy = "time"
valid_days = 7
[[models]]
name = "popular"
use = "baselines.popular:Popular"
"""
HEAD = "customer_id,prediction\n"
NINE = HEAD + "c1,706016001 706016002\nc2,706016002\n"
TEN = HEAD + "c1,0706016001 0706016002\nc2,0706016002\n"
CURE = "restore_zeros = true"


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "transactions_train.csv").write_text(TRANSACTIONS.replace(",07", ",7"))
    (here / "articles.csv").write_text(ARTICLES.replace("\n0", "\n"))
    (here / "customers.csv").write_text("customer_id,FN\nc1,\nc2,1\n")
    (here / "nine.csv").write_text(NINE)
    (here / "ten.csv").write_text(TEN)
    write(here)
    return here


def write(folder: Path, data: str = "") -> None:
    (folder / "hm.toml").write_text(CONFIG.format(data=data))


def test_run_and_submit_say_it(folder: Path, cli: Cli) -> None:
    submit = ("submit", "hm.toml", "--model", "popular", "--out", "out.csv")
    for arguments in (("run", "hm.toml", "--out", "run"), submit):
        status, out, err = cli(*arguments)
        assert status == 0
        for words in (
            "LOST ZEROS: 2 of 2 item ids in transactions_train.csv and 3 of 3 item ids in "
            'articles.csv have 9 digits (such as "706016001")',
            "an upload with such ids would hit nothing and score 0",
            CURE,
        ):
            assert words in out + err
    assert "706016001" in Path("out.csv").read_text().replace("0706016001", "")


LOST = '"706016001" lost its leading zeros: ids have 10 digits'
SEEN = '3 of 3 in articles.csv, such as "706016001"'


@pytest.mark.parametrize(
    ("line", "status", "told", "untold"),
    [
        ("validate nine.csv", 1, [LOST, SEEN, CURE], []),
        ("validate ten.csv", 0, ["SUB318", CURE], ["is no item"]),  # a right file, and the cause
        ("validate ten.csv --strict", 1, ["SUB318", CURE], ["is no item"]),
        ("score ten.csv", 1, ["SUB318", CURE], ["MAP"]),
        # The ids without zeros are those of the data: c1 hits at the second place, 1/2; c2 not.
        ("score nine.csv", 0, ["SUB318", "MAP@12     0.250000"], []),
    ],
)
def test_what_is_said_of_files_by_such_data(
    folder: Path, cli: Cli, line: str, status: int, told: list[str], untold: list[str]
) -> None:
    done = cli(*line.split(), "--config", "hm.toml")
    tells(done, status, *told)
    assert [words for words in untold if words in done[1]] == []


def test_the_cure_works(folder: Path, cli: Cli) -> None:
    write(folder, "restore_zeros = true")
    for command in ("validate", "score"):
        status, out, _ = cli(command, "ten.csv", "--config", "hm.toml")
        assert (status, "SUB318" in out) == (0, False)
        tells(cli(command, "nine.csv", "--config", "hm.toml"), 1, "SUB305")


def test_one_row_of_another_length_does_not_hide_it(folder: Path, cli: Cli) -> None:
    articles = Path("articles.csv")
    articles.write_text(articles.read_text() + "1000000000,3\n")
    done = cli("validate", "nine.csv", "--config", "hm.toml")
    tells(done, 1, "SUB305", "3 of 4 in articles.csv")


def test_times_of_a_spreadsheet_do_not_hide_it(folder: Path, cli: Cli) -> None:
    path = Path("transactions_train.csv")
    path.write_text(path.read_text().replace("2020-09-", "9/").replace(",c", "/2020,c"))
    rows = path.read_text().splitlines()
    path.write_text("\n".join([rows[0].replace("/2020", ""), *rows[1:], ""]))
    digits = 'item ids, such as "706016001", have 9 digits'
    for line in ("run hm.toml --out run", "score nine.csv --config hm.toml"):
        is_refused(cli(*line.split()), 'column "t_dat": found "9/10/2020"', digits, CURE)
    write(folder, 'restore_zeros = true\ntime_format = "%m/%d/%Y"')  # what the two hints say
    assert cli("run", "hm.toml", "--out", "run")[0] == 0


def test_a_split_that_fails_does_not_hide_it(folder: Path, cli: Cli) -> None:
    config = Path("hm.toml")
    config.write_text(config.read_text().replace("valid_days = 7", "valid_days = 700"))
    is_refused(cli("run", "hm.toml", "--out", "run"), "LOST ZEROS", CURE)
