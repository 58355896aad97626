"""Metrics that look beyond hits, and a person's own, in a run.

In training b has two events of two users, the others one each; there are three users, whose true
items are b, d and a.
"""

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, exactly, is_refused, refusal, tells
from small import POPULAR, RANDOM

from harness.core.errors import UsageError
from harness.evaluation.run import run
from harness.results.run import Run

MODELS = """
import numpy as np

class Spread:
    def fit(self, train):
        return self

    def recommend(self, users, k, draws, exclude=None):
        return np.array([[0, 1], [2, 3], [0, 1]], np.int32)[users]
"""
OWN = """
def early(hits, n_relevant, k):
    return hits[:2].sum() / 2

def counts(hits, n_relevant, k):
    return 100 * n_relevant + 10 * k + hits.sum()
"""
ITEMS = "item,colour,kind,price,gaps\na,red,hat,3,\nb,blue,hat,4,\nc,red,hat,5,x\nd,blue,hat,6,x\n"
SPREAD = {"name": "spread", "use": "models:Spread"}


def evaluate_models(folder: Path, metrics: list[str], models: list[Any]) -> Run:
    """Run models on the log: popular lists b, a; spread a, b or c, d."""
    files = {"items.csv": ITEMS, "models.py": MODELS, "own.py": OWN, "lib/shop.py": OWN}
    small.write(folder, files)
    sections: dict[str, Any] = {"evaluation": {"metrics": metrics}, "data": {"items": "items.csv"}}
    return run(small.config(folder, models=models, **sections))


A, B = log2(3), log2(3 / 2)
"""What a and b are worth to novelty: one of three users has a, as c and d, two have b."""
EARLY = "shop:early@1"
"""Of lib/shop.py."""
EXPECTED: dict[str, dict[str, float]] = {
    "RPrecision": {"popular": 1 / 3, "spread": 1 / 3},
    "pFound": {"popular": (1 + 0.85) / 3, "spread": (2 * 0.85 + 1) / 3},
    "Novelty@2": {"popular": (B + A) / 2, "spread": (2 * (A + B) / 2 + A) / 3},
    "Popularity@2": {"popular": 3 / 2, "spread": (3 / 2 + 1 + 3 / 2) / 3},
    "Serendipity@2": {"popular": 0, "spread": 1 / 6},  # b and a are expected
    "Coverage@2": {"popular": 2 / 4, "spread": 1},
    # Listed 0, 0, 3 and 3 times, or 1, 1, 2 and 2 times.
    "Gini@2": {"popular": (3 + 9) / (4 * 6), "spread": (-3 - 1 + 2 + 6) / (4 * 6)},
    "ILD(attributes=price)@2": {"popular": 1, "spread": 1},  # read as text: 3 ≠ 4
    "ILD(attributes=colour+kind)@2": {"popular": 1 / 2, "spread": 1 / 2},
    "own:counts@2": {"popular": (121 + 120 + 121) / 3, "spread": 121},
    EARLY: {"popular": (1 / 2 + 0 + 0) / 3, "spread": (0 + 0 + 1 / 2) / 3},
    # An empty cell is no attribute: neither b nor a has one, d has.
    "ILD(attributes=gaps)@2": {"popular": 1, "spread": (1 + 0 + 1) / 3},
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Run:
    models = [POPULAR, SPREAD, RANDOM | {"repeats": 4}]
    metrics = ["lib/shop.py:early@1" if m == EARLY else m for m in EXPECTED]
    return evaluate_models(tmp_path_factory.mktemp("items"), metrics, models)


@pytest.mark.parametrize("name", ["popular", "spread"])
def test_figures_of_a_run_by_hand(result: Run, name: str) -> None:
    (model,) = (model for model in result.models if model.name == name)
    for metric, expected in EXPECTED.items():
        assert model.metrics[metric].mean == exactly(expected[name]), metric


def test_diversity_needs_a_table_of_items(tmp_path: Path) -> None:
    with refusal(UsageError, "ILD needs a table of item attributes", "[data] items"):
        run(small.config(tmp_path, evaluation={"metrics": ["ILD@2"]}))


# A function of your own that is edited between two runs.


ONE_PLACE = "def early(hits, n_relevant, k): return hits[:1].sum()\n"
"""Popular puts b first: one of three users has it."""
TEN_PLACES = "def early(hits, n_relevant, k): return 2 * hits[:10].sum()\n"
"""Popular lists b and a: ann has b, cid a, so two of three have a 2."""
OWN_ALONE = {"metrics": ["own:early@2"]}


@pytest.fixture
def harness(cli: Cli, here: Path) -> Cli:
    """Return a command in a folder with two runs, between which the function was edited."""
    rules = {"metrics": ["own:early@2", "MAP@2"]}
    models = small.POPULAR, {**small.RANDOM, "repeats": 3}
    text = small.toml(models=models, evaluation=rules)
    small.write(here, {"log.csv": small.LOG, "own.py": ONE_PLACE, "exam.toml": text})
    tells(cli("run", "exam.toml", "--out", "one"), 0, "own:early@2 0.3333")
    small.write(here, {"own.py": TEN_PLACES})
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
    for folder, notes in (("one", [f"note  {message}"]), ("two", [])):
        status, out, err = harness("explain", folder, explained)
        assert (status, err.splitlines()) == (0, notes)
        (user,) = json.loads(out)["users"]
        assert user["metrics"]["own:early@2"] == 2
    tells(harness("submit", "one", "--model", "popular", "--out", "own.csv"), 0, "own.csv")


def test_functions_of_two_files_are_not_compared(harness: Cli, here: Path) -> None:
    rules = {"metrics": ["more/own.py:early@2"]}
    small.write(here, {"more/own.py": TEN_PLACES, "three.toml": small.toml(evaluation=rules)})
    assert harness("run", "three.toml", "--out", "three")[0] == 0
    refused = harness("compare", "two", "three", "--metric", "own:early@2")
    is_refused(refused, f"{here}/more/own.py:early@2", f"{here}/own.py:early@2; rename a file")


def test_where_no_metric_is_as_it_was_nothing_tells_whose_lists_they_are(
    harness: Cli, here: Path
) -> None:
    small.write(here, {"own.py": ONE_PLACE, "alone.toml": small.toml(evaluation=OWN_ALONE)})
    assert harness("run", "alone.toml", "--out", "three")[0] == 0
    submit = "submit", "three", "--model", "popular", "--out", "own.csv"
    assert harness(submit)[0] == 0
    small.write(here, {"own.py": TEN_PLACES})
    words = "three: the source of own:early@2 has changed since this run, so harness cannot check"
    is_refused(harness(submit), words, "harness run three/config.toml")
