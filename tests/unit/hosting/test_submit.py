"""A model's lists written as a submission: who has a row, and what is refused."""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import small
from conftest import ROOT, refusal

import harness
from harness import config as config_
from harness.config import Config
from harness.core.errors import UsageError
from harness.hosting.submit import submit, to_csv
from harness.submission.format import FORMATS, generic

LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-02
bob,c,2020-01-02
cid,b,2020-01-03
ann,b,2020-01-09
bob,d,2020-01-09
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    small.write(tmp_path, {"people.csv": "user,age\nann,30\ncid,40\nnew,50\n"})
    columns = {"user": "who", "items": "what", "separator": "|"}
    return small.config(tmp_path, log=LOG, data={"users": "people.csv"}, submission=columns)


def test_who_has_a_row(config: Config, tmp_path: Path) -> None:
    """The table's users in its order, then the others; new has no events and is asked for too."""
    done = submit(config, "popular", tmp_path / "out.csv")
    assert (done.rows, done.without_history, done.beyond_sample) == (3, 1, 0)
    assert (tmp_path / "out.csv").read_text() == "who,what\nann,b|a\ncid,b|a\nnew,b|a\n"
    assert harness.validate(tmp_path / "out.csv", config=config).errors == ()
    (tmp_path / "people.csv").write_text("user,age\ncid,40\n")
    done = submit(config, "popular", tmp_path / "out.csv")
    assert (done.rows, done.beyond_sample) == (2, 1)
    assert (tmp_path / "out.csv").read_text() == "who,what\ncid,b|a\nann,b|a\n"


def test_columns_are_called_as_in_the_log(tmp_path: Path) -> None:
    log = LOG.replace("user,item", "customer_id,sku")
    config = small.config(tmp_path, log=log, data={"user": "customer_id", "item": "sku"})
    submit(config, "popular", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "customer_id,sku\nann,b a\n"


def test_nobody_is_given_what_the_rules_leave_out(config: Config, tmp_path: Path) -> None:
    """In train ann has a and cid b; b leads, then a and c by their ids."""
    rules = {"k": 2, "seen_items": "drop"}
    dropped = config_.parse({**config.resolved(), "evaluation": rules}, tmp_path)
    submit(dropped, "popular", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "who,what\nann,b|c\ncid,a|c\nnew,b|a\n"


def test_an_upload_learns_from_all_events(config: Config, tmp_path: Path) -> None:
    """In all events b has three, a, c and d one each."""
    submit(config, "popular", tmp_path / "out.csv", all_events=True)
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "ann,b|a"
    longer = config_.parse({**config.resolved(), "evaluation": {"k": 4}}, tmp_path)
    submit(longer, "popular", tmp_path / "out.csv", all_events=True)
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "ann,b|a|c|d"


@pytest.mark.parametrize(
    ("model", "out", "repeat", "words"),
    [
        ("populr", "out.csv", 0, 'no model "populr"; did you mean "popular"'),
        ("popular", "out.csv", 1, "no repeat 1; the last is 0"),
        ("popular", "out.xlsx", 0, ".csv or .csv.gz"),
        ("popular", "log.csv/out.csv", 0, "cannot be written"),
    ],
)
def test_what_cannot_be_submitted(
    config: Config, tmp_path: Path, model: str, out: str, repeat: int, words: str
) -> None:
    with refusal(UsageError, words):
        submit(config, model, tmp_path / out, repeat=repeat)


def test_what_is_shown_behind_the_window_is_unknown(tmp_path: Path) -> None:
    ponpare = config_.read(ROOT / "configs" / "demo-ponpare.toml")
    with refusal(UsageError, "--all-events: the candidates are the items shown in the window"):
        submit(ponpare, "popular", tmp_path / "out.csv", all_events=True)


def test_lists_as_a_file(tmp_path: Path) -> None:
    lists = np.array([[1, 0], [0, -1], [-1, -1]], np.int32)
    users, items = pl.Series(["ann", "b,ob", "cid"]), pl.Series(["x", "y"])
    to_csv(lists, tmp_path / "out.csv", users, items, FORMATS["kion"])
    text = 'user_id,item_ids\nann,y x\n"b,ob",x\ncid,\n'
    assert (tmp_path / "out.csv").read_text() == text
    to_csv(lists, tmp_path / "out.csv.gz", users, items, FORMATS["kion"])
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode() == text
    with refusal(UsageError, 'item "x y" holds " "'):
        to_csv(lists, tmp_path / "no.csv", users, pl.Series(["x y", "y"]), generic("u", "i"))
    assert not (tmp_path / "no.csv").exists()
