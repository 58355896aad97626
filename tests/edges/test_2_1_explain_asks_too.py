"""explain asks what orders the rows of a user, as score does."""

import json
from pathlib import Path

import pytest

from harness.cli import app, guarded

BY = ("lists.csv", "--solution", "solution.csv", "--user", "ann")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "solution.csv").write_text("user,item\nann,a\n")
    (tmp_path / "lists.csv").write_text("user,item,prediction\nann,x,1.5\nann,a,4.5\n")
    monkeypatch.chdir(tmp_path)


def explained(capfd: pytest.CaptureFixture[str], *options: str) -> list[str]:
    status = guarded(
        lambda: app(["explain", *BY, *options, "--format", "json"], standalone_mode=False)
    )
    told = capfd.readouterr()
    assert (status, told.err) == (0, "")
    return [place["item"] for place in json.loads(told.out)["users"][0]["places"]]


def test_nothing_says_what_orders_the_rows(capfd: pytest.CaptureFixture[str]) -> None:
    status = guarded(lambda: app(["explain", *BY], standalone_mode=False))
    told = capfd.readouterr()
    assert (status, told.out) == (2, "")
    assert 'lists.csv: the column "prediction" holds numbers, which may order the rows' in told.err
    assert "--score-column prediction, --rank-column prediction or --row-order" in told.err


def test_the_column_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert explained(capfd, "--score-column", "prediction") == ["a", "x"]


def test_the_order_of_rows_is_meant(capfd: pytest.CaptureFixture[str]) -> None:
    assert explained(capfd, "--row-order") == ["x", "a"]
