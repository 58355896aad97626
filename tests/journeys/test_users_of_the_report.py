"""Users of a run one by one on its page: who is chosen, and what is packed of them."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, is_refused, tells

LATEST = {"name": "latest", "use": "baselines.popular:Popular", "params": {"window_days": 1}}
FILES = {
    "log.csv": small.LOG,
    "items.csv": 'item,title\na,"A, </script>"\nb,Bees\nd,Dogs\n',
    "days.csv": small.TWO_WEEKS,
    "shop.toml": small.toml(small.POPULAR, LATEST, data={"items": "items.csv"}),
    "folds.toml": small.toml(
        small.POPULAR,
        data={"events": "days.csv"},
        split={"strategy": "time", "valid_days": 1, "folds": 2},
    ),
    "set.toml": small.toml(small.POPULAR, evaluation={"metrics": ["Coverage@2"]}),
}
RUNS = {"shop": "shop.toml", "folds": "folds.toml", "set": "set.toml"}

pytestmark = pytest.mark.usefixtures("no_charts")


def page_of(cli: Cli, run: str, users: int) -> tuple[str, Any]:
    """Write the page of a run, and return its text and what it holds of users."""
    tells(cli("report", run, "--users", str(users), "--out", "page.html"), 0)
    text = Path("page.html").read_text(encoding="utf-8")
    packed = re.findall(r'<template id="user-data">([A-Za-z0-9+/=]+)</template>', text)
    return text, json.loads(gzip.decompress(base64.b64decode(packed[0])))


@pytest.fixture
def folder(harness: Cli, here: Path) -> Path:
    return here


def test_what_is_packed(folder: Path, cli: Cli) -> None:
    """Popular lists b, a for all; the last day before had d, b: on the 8th ann has b, bob d."""
    text, data = page_of(cli, "shop", 600)
    says = "3 of 3 users: of each model up to 3 of the worst and of the best"
    assert says in " ".join(text.split())
    assert (data["metric"], data["users"]) == ("MAP@2", ["ann", "bob", "cid"])
    item, title = data["items"], dict(zip(data["items"], data["titles"], strict=True))
    lists = {
        model: [[item[code] for code in codes] for codes in of_users]
        for model, of_users in zip(data["models"], data["lists"], strict=True)
    }
    rows = pl.read_parquet("shop/recommendations.parquet").sort("user")
    for model, of_users in lists.items():
        assert of_users == rows.filter(model=model)["items"].to_list()
    assert lists["popular"] == [["b", "a"]] * 3
    assert [[item[code] for code in codes] for codes in data["truth"]] == [["b"], ["d"], ["a"]]
    assert data["reachable"] == [1, 1, 1]
    assert title == {"a": "A, </script>", "b": "Bees", "d": "Dogs"} | {
        i: "" for i in item if i == "c"
    }
    assert data["events"] == [2, 2, 1]
    days = [
        [(data["days"][day], item[code]) for day, code, _ in history] for history in data["history"]
    ]
    assert days[0] == [("2020-01-02", "b"), ("2020-01-01", "a")]
    popular = data["models"].index("popular")
    assert data["values"][popular] == [1, 0, 0.5]


def test_who_is_chosen(folder: Path, cli: Cli) -> None:
    """A sixth of the users for each group, never more than asked, the same ones each time."""
    text, data = page_of(cli, "shop", 6)
    names = {
        group: [[data["users"][place] for place in places] for places in of_models]
        for group, of_models in data["groups"].items()
    }
    popular = data["models"].index("popular")
    assert names["best"][popular] == ["ann"]
    assert names["worst"][popular] == ["bob"]  # the only one that popular has nothing for
    assert len(names["different"][0]) == 1
    chosen = {
        name
        for group in ("worst", "best", "different")
        for metric in names[group]
        for name in metric
    }
    assert {*names["random"][0]} == {"ann", "bob", "cid"} - chosen
    assert page_of(cli, "shop", 6) == (text, data)
    words = "--users 5: there are 6 groups of users", "use --users 6 or more"
    is_refused(cli("report", "shop", "--users", "5"), words)


def test_without_the_log_lists_remain_and_a_note_says_why(folder: Path, cli: Cli) -> None:
    (folder / "log.csv").unlink()
    text, data = page_of(cli, "shop", 600)
    assert "was true for them is left out. " in text
    assert "only have true items that no model could recommend" in text
    assert "log.csv" in text
    assert not {"truth", "history", "events"} & set(data)
    assert (data["titles"], len(data["lists"][0])) == ([], 3)
    explained = cli("explain", "shop", "--model", "popular", "--worst", "1")
    is_refused(
        explained,
        "log.csv: no such file",
        "the true items come from the log: fix it, or write its place into",
    )


def test_of_folds_it_is_the_last(folder: Path, cli: Cli) -> None:
    """On the 3rd ann and cid have b; on the 2nd, before, it was bob."""
    text, data = page_of(cli, "folds", 600)
    assert "2 of 2 users of fold 2 of 2, the last: of each" in " ".join(text.split())
    assert data["users"] == ["ann", "cid"]


def test_lists_with_other_scores_are_refused(folder: Path, cli: Cli) -> None:
    path = folder / "shop" / "recommendations.parquet"
    rows = pl.read_parquet(path)
    rows.with_columns(pl.lit(["a", "b"]).alias("items")).write_parquet(path)
    done = cli("report", "shop", "--users", "9")
    is_refused(done, 'model "', "gives other lists than in this run (MAP@2 differs)")
    path.unlink()
    is_refused(cli("report", "shop", "--users", "9"), "has no recommendations.parquet")


def test_a_metric_of_all_lists_orders_no_users(folder: Path, cli: Cli) -> None:
    is_refused(cli("report", "set", "--users", "9"), "Coverage@2 has one value for all lists")
