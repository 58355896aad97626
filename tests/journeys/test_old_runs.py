"""Run folders written at commit 173efcc, which every reader opens."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT, Cli, tells

OLD = ROOT / "tests" / "files" / "runs_173efcc"
MEANS = {
    "plain": ("0.5000", "0.5436"),
    "folds": ("0.6250", "0.6796"),
    "spark": ("0.5000", "0.5436"),
    "tuned": ("0.5000", "0.5436"),
    "neighbours": ("0.5000", "0.5436"),
}
"""MAP@2 and NDCG@2 of popular in each result.json, with four digits.

Popular lists a, then b. Of the 12 users four have a on the last day, four b, four c: MAP is
(4 + 4/2) / 12. On the day before, the first fold, six have a and six b: (6 + 6/2) / 12.
"""


@pytest.fixture(params=MEANS)
def name(request: pytest.FixtureRequest, here: Path) -> str:
    """Copy an old folder, with its config and log, into the current one; return its name."""
    shutil.copytree(OLD / request.param, here, dirs_exist_ok=True)
    return str(request.param)


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "run"),
        ("compare", "run", "--metric", "NDCG@2"),
        ("leaderboard", "."),
        ("check", "run", "--at-least", "MAP@2 of popular >= {0}"),
        ("score", "run", "--metric", "MRR@2"),
        ("score", "run", "--metric", "NDCG@2"),
    ],
    ids=" ".join,
)
def test_readers_print_the_means(cli: Cli, name: str, command: tuple[str, ...]) -> None:
    """Each user has one true item, so that MRR@2 is MAP@2."""
    average_precision, gain = MEANS[name]
    done = cli(*(word.format(average_precision) for word in command))
    tells(done, 0, gain if "NDCG@2" in command else average_precision)


def test_a_user_is_explained(cli: Cli, name: str) -> None:
    """On the last day user1 has b, the second item of popular."""
    tells(cli("explain", "run", "--model", "popular", "--user", "user1"), 0, "AP@2 = 0.5000")


def test_the_report_shows_the_means(cli: Cli, name: str, here: Path, no_charts: None) -> None:
    tells(cli("report", "run", "--users", "9"), 0)
    page = (here / "run" / "report.html").read_text(encoding="utf-8")
    assert all(mean in page for mean in MEANS[name])


def test_lists_are_submitted_scored_and_exported(cli: Cli, name: str, here: Path) -> None:
    """Of several folds the last is submitted, whose MAP@2 is that of a run without folds."""
    tells(cli("submit", "run", "--model", "popular", "--out", "lists.csv"), 0)
    assert pl.read_csv(here / "lists.csv").height == 12
    tells(cli("score", "lists.csv", "config.toml", "--codabench", "out"), 0)
    scores = json.loads((here / "out" / "scores.json").read_text(encoding="utf-8"))
    assert scores["MAP@2"] == 0.5


def test_a_failed_model_is_named(cli: Cli, here: Path) -> None:
    shutil.copytree(OLD / "plain", here, dirs_exist_ok=True)
    tells(cli("score", "run"), 0, 'model "fails" raised in fit: ValueError: not today')


def test_old_runs_are_compared_with_one_another(cli: Cli, here: Path) -> None:
    shutil.copytree(OLD, here, dirs_exist_ok=True)
    names = [name for name in MEANS if name != "folds"]  # which are another evaluation set
    tells(
        cli("compare", *(f"{name}/run" for name in names)), 0, MEANS["plain"][0], "neighbours/run"
    )
