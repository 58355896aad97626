"""Runs whose evaluation sets have grades, ties of time, or a leaderboard's sample."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, exactly, tells

from harness.evaluation.rescore import rescore
from harness.evaluation.run import run
from harness.results.run import read

LOG = """user,item,time,stars
ann,a,2020-01-01,1
ann,b,2020-01-01,5
bob,b,2020-01-01,2
bob,c,2020-01-01,3
cid,c,2020-01-01,1
ann,b,2020-01-08,1
ann,c,2020-01-08,3
ann,z,2020-01-08,1
bob,a,2020-01-08,0
bob,c,2020-01-08,4
cid,a,2020-01-08,5
"""
"""The last day is held out. z is no candidate: nobody had it before."""
LINEAR, EXPONENTIAL = "NDCG(gain=linear)@3", "NDCG(gain=exponential)@3"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a config whose values are grades, and its run."""
    folder = tmp_path_factory.mktemp("graded")
    text = small.toml(
        data={"value": "stars"},
        evaluation={"metrics": [LINEAR, EXPONENTIAL, "NDCG@3"], "k": 3},
    )
    small.write(folder, {"log.csv": LOG, "c.toml": text})
    run(folder / "c.toml").write(folder / "run")
    return folder


def test_graded_metrics_take_values_as_grades(graded: Path) -> None:
    """Popular is b, c, a. Cid's a, grade 5, is third; the ideal list has it first: 1/log2(4)."""
    scores = read(graded / "run").table("per_user.parquet", "popular")
    by_user = {row["user"]: row for row in scores.to_dicts()}
    assert [by_user["cid"][name] for name in (LINEAR, EXPONENTIAL, "NDCG@3")] == exactly([0.5] * 3)
    # Ann: b (grade 1) first, c (3) second; best c, b, z (1): (1 + 3·d)/(3 + 1·d + 1/2), d = 0.6309.
    d = 0.6309297535714575
    assert by_user["ann"][LINEAR] == exactly((1 + 3 * d) / (3 + d + 0.5))
    assert by_user["ann"][EXPONENTIAL] == exactly((1 + 7 * d) / (7 + d + 0.5))
    again, record = rescore(graded / "run"), read(graded / "run").record
    assert [model.metrics for model in again.models] == [model.metrics for model in record.models]


@pytest.mark.parametrize(
    ("sections", "truth"),
    [
        (
            {"data": {"kind": "event"}, "evaluation": {"hits": ["sale"]}},
            "sale (view counts as history)",
        ),
        (
            {"split": {"strategy": "given", "valid": "later.csv"}, "data": {"kind": "event"}},
            "sale (view counts as history)",
        ),
        ({}, ""),
    ],
)
def test_event_types_that_are_truth_are_named_wherever_a_run_is_shown(
    cli: Cli, here: Path, no_charts: None, sections: dict[str, Any], truth: str
) -> None:
    text = small.toml(**sections)
    small.write(here, {"log.csv": small.MANY, "later.csv": small.LATER, "c.toml": text})
    words = f" candidates · truth: {truth} · k = 2 · " if truth else " candidates · k = "
    for form in ("table", "markdown"):
        tells(cli("run", "c.toml", "--out", "run", "--format", form), 0, words)
    assert read(here / "run").record.evaluation.truth == truth
    tells(cli("report", "run"), 0)
    page = (here / "run" / "report.html").read_text(encoding="utf-8")
    assert (f"; truth: {truth}</dd>" in page) == bool(truth)
