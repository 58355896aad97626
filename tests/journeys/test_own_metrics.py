"""A function of one's own that is edited between two runs."""

import json
from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused, tells

EARLY = "def early(hits, n_relevant, k): return hits[:1].sum()\n"
"""Popular puts b first: one of three users has it."""
LATE = "def early(hits, n_relevant, k): return 2 * hits[:10].sum()\n"
"""Popular lists b and a: ann has b, cid a, so two of three have a 2."""
ALONE = {"metrics": ["own:early@2"]}


@pytest.fixture
def harness(cli: Cli, here: Path) -> Cli:
    """Return a command in a folder with two runs, between which the function was edited."""
    rules = {"metrics": ["own:early@2", "MAP@2"]}
    models = small.POPULAR, {**small.RANDOM, "repeats": 3}
    text = small.toml(models=models, evaluation=rules)
    small.write(here, {"log.csv": small.LOG, "own.py": EARLY, "exam.toml": text})
    tells(cli("run", "exam.toml", "--out", "one"), 0, "own:early@2 0.3333")
    small.write(here, {"own.py": LATE})
    tells(cli("run", "exam.toml", "--out", "two"), 0, "own:early@2 1.3333")
    return cli


def test_what_is_scored_again_says_that_the_source_has_changed(harness: Cli, here: Path) -> None:
    """No figure of the run stands beside it."""
    message = "own:early@2: its code has changed since this run; the scores here use the new code"
    for options in ([], ["--metric", "own:early@2"]):
        tells(harness("score", "one", options), 0, "1.3333", f"note  {message}")
        assert message not in harness("score", "two", options)[1]
    assert message not in harness("score", "one", "--metric", "Recall@2")[1]
    explained = ["--model", "popular", "--user", "cid", "--format", "json"]
    for run, notes in (("one", [f"note  {message}"]), ("two", [])):
        status, out, err = harness("explain", run, explained)
        assert (status, err.splitlines()) == (0, notes)
        (user,) = json.loads(out)["users"]
        assert user["metrics"]["own:early@2"] == 2
    tells(harness("submit", "one", "--model", "popular", "--out", "own.csv"), 0, "own.csv")


def test_a_run_of_a_folders_config_has_the_same_names(harness: Cli, here: Path) -> None:
    refused = harness("compare", "one", "two", "--metric", "own:early@2")
    is_refused(refused, "harness run one/config.toml --out one")
    tells(harness("run", "one/config.toml", "--out", "one"), 0, "own:early@2 1.3333")
    compared = harness("compare", "one", "two", "--metric", "own:early@2")
    tells(compared, 0, "own:early@2")
    assert str(here) not in compared[1]


def test_functions_of_two_files_are_not_compared(harness: Cli, here: Path) -> None:
    rules = {"metrics": ["more/own.py:early@2"]}
    small.write(here, {"more/own.py": LATE, "three.toml": small.toml(evaluation=rules)})
    assert harness("run", "three.toml", "--out", "three")[0] == 0
    refused = harness("compare", "two", "three", "--metric", "own:early@2")
    is_refused(refused, f"{here}/more/own.py:early@2", f"{here}/own.py:early@2; rename a file")


def test_where_no_metric_is_as_it_was_nothing_tells_whose_lists_they_are(
    harness: Cli, here: Path
) -> None:
    small.write(here, {"own.py": EARLY, "alone.toml": small.toml(evaluation=ALONE)})
    assert harness("run", "alone.toml", "--out", "three")[0] == 0
    submit = "submit", "three", "--model", "popular", "--out", "own.csv"
    assert harness(submit)[0] == 0
    small.write(here, {"own.py": LATE})
    words = "three: the source of own:early@2 has changed since this run, so harness cannot check"
    is_refused(harness(submit), words, "harness run three/config.toml")
