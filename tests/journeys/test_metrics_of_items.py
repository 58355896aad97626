"""Metrics that look beyond hits, and a person's own, in a run.

In training b has two events of two users, the others one each; there are three users, whose true
items are b, d and a.
"""

import json
from math import log2
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import exactly, refusal
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


def test_metrics_of_all_lists_have_no_interval_and_no_value_of_a_user(
    result: Run, tmp_path: Path
) -> None:
    result.write(tmp_path / "out")
    written = json.loads((tmp_path / "out" / "result.json").read_text())
    (figures,) = (m["metrics"] for m in written["models"] if m["name"] == "popular")
    none = dict.fromkeys(["ci95", "sd_repeats", "ci95_t", "ci95_bootstrap"])
    assert figures["Coverage@2"] == figures["Gini@2"] == {"mean": 1 / 2} | none
    assert len(figures["Novelty@2"]["ci95_t"]) == 2
    columns = pl.read_parquet(tmp_path / "out" / "per_user.parquet").columns
    of_lists = {"Coverage@2", "Gini@2"}
    assert columns == ["user", "model", "repeat", *(m for m in EXPECTED if m not in of_lists)]


def test_metrics_of_all_lists_alone(tmp_path: Path) -> None:
    """The lowest Gini stands first, and no user has a value."""
    result = evaluate_models(tmp_path, ["Gini@2", "Coverage@2"], [POPULAR, SPREAD])
    assert [model.name for model in result.models] == ["spread", "popular"]
    assert result.per_user().shape == (2 * 3, 0)
    assert "Gini@2" in repr(result)


def test_diversity_needs_a_table_of_items(tmp_path: Path) -> None:
    with refusal(UsageError, "ILD needs a table of item attributes", "[data] items"):
        run(small.config(tmp_path, evaluation={"metrics": ["ILD@2"]}))
