"""What is known of the items beside hits, and metrics that look at it in a run.

In training b has two events of two users, the others one each; there are three users.
"""

import json
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small
from small import LATEST_FIRST, POPULAR

from harness.core.errors import UsageError
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.models.item_stats import attribute_columns, train_counts

MODELS = f"""{LATEST_FIRST}
import numpy as np

class Spread:
    def fit(self, train):
        return self

    def recommend(self, users, k, draws, exclude=None):
        return np.array([[0, 1], [2, 3], [0, 1]], np.int32)[users]
"""
ITEMS = "item,colour,kind,price\na,red,hat,3\nb,blue,hat,4\nc,red,hat,5\nd,blue,hat,6\n"

LATEST = {"name": "latest", "use": "models:LatestFirst"}
SPREAD = {"name": "spread", "use": "models:Spread"}


def evaluate_model(
    folder: Path, metrics: list[str], *models: dict[str, str], **data: str
) -> Result:
    """Run models on the log: popular lists b, a; latest d, b; spread a, b or c, d."""
    small.write(folder, {"items.csv": ITEMS, "models.py": MODELS})
    return run(small.config(folder, *models, evaluation={"metrics": metrics}, data=data))


def means(result: Result, model: str) -> dict[str, float]:
    found = next(m for m in result.models if m.name == model)
    return {name: figure.mean for name, figure in found.metrics.items()}


EXPECTED: dict[str, dict[str, float]] = {
    "Novelty@2": {
        "popular": (log2(3 / 2) + log2(3)) / 2,
        "latest": (log2(3) + log2(3 / 2)) / 2,
        "spread": (2 * (log2(3) + log2(3 / 2)) / 2 + log2(3)) / 3,
    },
    "Novelty@1": {"popular": log2(3 / 2), "latest": log2(3), "spread": log2(3)},
    "Popularity@2": {"popular": 3 / 2, "latest": 3 / 2, "spread": (3 / 2 + 1 + 3 / 2) / 3},
    "Serendipity@2": {"popular": 0, "latest": 1 / 6, "spread": 1 / 6},  # b and a are expected
    "Coverage@2": {"popular": 2 / 4, "latest": 2 / 4, "spread": 1},
    "Coverage@1": {"popular": 1 / 4, "latest": 1 / 4, "spread": 2 / 4},
    "Gini@2": {
        "popular": 12 / 24,  # listed 0, 0, 3 and 3 times
        "latest": 12 / 24,
        "spread": (-3 * 1 - 1 * 1 + 1 * 2 + 3 * 2) / (4 * 6),
    },
    "RPrecision": {"popular": 1 / 3, "latest": 1 / 3, "spread": 1 / 3},
    "RPrecision@2": {"popular": 1 / 3, "latest": 1 / 3, "spread": 1 / 3},
    "pFound": {"popular": (1 + 0.85) / 3, "latest": (0.85 + 1) / 3, "spread": (2 * 0.85 + 1) / 3},
    "pFound(p_break=0.5)@2": {"popular": 1.5 / 3, "latest": 1.5 / 3, "spread": 2 / 3},
}


@pytest.mark.parametrize("model", ["popular", "latest", "spread"])
def test_figures_of_a_run_by_hand(tmp_path: Path, model: str) -> None:
    result = evaluate_model(tmp_path, list(EXPECTED), POPULAR, LATEST, SPREAD)
    expected = {metric: of_model[model] for metric, of_model in EXPECTED.items()}
    assert means(result, model) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ILD(attributes=colour)@2", 1),  # b is blue, a is red
        ("ILD(attributes=price)@2", 1),  # a run reads its table as text: 2 and 3 differ
        ("ILD(attributes=kind)@2", 0),
        ("ILD(attributes=colour+kind)@2", 1 / 2),
    ],
)
def test_diversity_looks_at_the_table_of_items(
    tmp_path: Path, metric: str, expected: float
) -> None:
    found = means(evaluate_model(tmp_path, [metric], items="items.csv"), "popular")
    assert found == {metric: pytest.approx(expected, abs=1e-12)}


def test_a_cell_that_is_empty_is_no_attribute(tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("item,colour\na,\nb,\nc,red\nd,red\n")
    found = means(evaluate_model(tmp_path, ["ILD@2"], items="gaps.csv"), "popular")
    assert found == {"ILD@2": 1}


def test_diversity_without_a_table_of_items_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ILD needs a table of item attributes.*\[data\] items"):
        evaluate_model(tmp_path, ["ILD@2"])


def test_an_attribute_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='"color"; did you mean "colour"'):
        evaluate_model(tmp_path, ["ILD(attributes=color)@2"], items="items.csv")


def test_metrics_of_all_lists_have_no_interval_and_no_value_of_a_user(tmp_path: Path) -> None:
    result = evaluate_model(tmp_path, ["MAP@2", "Coverage@2", "Gini@2", "Novelty@2"])
    result.write(tmp_path / "out")
    written = json.loads((tmp_path / "out" / "result.json").read_text())
    found = written["models"][0]["metrics"]
    none = dict.fromkeys(["ci95", "sd_repeats", "ci95_t", "ci95_bootstrap"])
    assert found["Coverage@2"] == found["Gini@2"] == {"mean": 1 / 2} | none
    assert len(found["Novelty@2"]["ci95_t"]) == 2
    per_user = pl.read_parquet(tmp_path / "out" / "per_user.parquet")
    assert per_user.columns == ["user", "model", "repeat", "MAP@2", "Novelty@2"]


def test_metrics_of_all_lists_alone_leave_a_table_of_users_without_values(tmp_path: Path) -> None:
    result = evaluate_model(tmp_path, ["Gini@2", "Coverage@2"])
    assert result.per_user().columns.to_list() == []
    assert result.per_user().index.names == ["model", "repeat", "user"]
    assert len(result.per_user()) == 3
    assert "Gini@2" in repr(result)


def test_the_lowest_gini_stands_first(tmp_path: Path) -> None:
    result = evaluate_model(tmp_path, ["Gini@2", "Coverage@2"], POPULAR, SPREAD)
    assert [model.name for model in result.models] == ["spread", "popular"]


def test_the_highest_coverage_stands_first(tmp_path: Path) -> None:
    result = evaluate_model(tmp_path, ["Coverage@2", "Gini@2"], POPULAR, SPREAD)
    assert [model.name for model in result.models] == ["spread", "popular"]


def test_repeats_of_a_metric_of_all_lists_have_their_spread(tmp_path: Path) -> None:
    random: dict[str, Any] = {"name": "random", "use": "baselines.random_items:RandomItems"}
    result = evaluate_model(tmp_path, ["Coverage@2", "MAP@2"], random | {"repeats": 4})
    table = next(v for m, v in result.models[0].scores.values.items() if m.name == "Coverage")
    figure = result.models[0].metrics["Coverage@2"]
    assert table.shape == (4, 1)
    assert set(table.ravel().tolist()) <= {2 / 4, 3 / 4, 4 / 4}
    assert figure.mean == pytest.approx(table.mean(), abs=1e-15)
    assert figure.sd_repeats == pytest.approx(table.std(ddof=1), abs=1e-15)
    assert figure.ci95 is None


def test_chance_is_known_for_accuracy_and_not_beyond(tmp_path: Path) -> None:
    names = ["RPrecision@2", "pFound@2", "pFound", "Novelty@2", "Gini@2"]
    result = evaluate_model(tmp_path, names)
    found = {name: chance.mean for name, chance in result.chance.items()}
    # the one true item is at either rank with 1/4
    expected = {"RPrecision@2": 1 / 4, "pFound@2": 1.85 / 4, "pFound": 1.85 / 4}
    assert found == pytest.approx(expected, abs=1e-12)
    assert "no exact chance value is known for Novelty@2, Gini@2" in result.notes
    assert result.models[0].vs_random is not None


def test_counts_of_coded_events() -> None:
    user = np.array([0, 0, 1, 2, 2, 2], np.int32)
    item = np.array([1, 1, 1, 0, 3, 3], np.int32)
    found = train_counts(user, item, 5, np.array([3, 1, 0, 2, 4]))
    assert found.user_share.tolist() == pytest.approx([1 / 3, 2 / 3, 0, 1 / 3, 0])
    assert found.count.tolist() == [1, 3, 0, 2, 0]
    assert found.popular.tolist() == [1, 3, 0]


def test_equal_counts_stand_in_the_order_of_ids() -> None:
    one = np.zeros(4, np.int32)
    found = train_counts(one, np.array([0, 1, 2, 3], np.int32), 4, np.array([2, 0, 3, 1]))
    assert found.popular.tolist() == [1, 3, 0, 2]


def test_no_events_have_no_counts() -> None:
    nothing = np.zeros(0, np.int32)
    found = train_counts(nothing, nothing, 2, np.arange(2))
    assert (found.user_share.tolist(), found.count.tolist()) == ([0, 0], [0, 0])
    assert found.popular.tolist() == []


def test_attributes_as_matrices() -> None:
    table = pl.DataFrame(
        {
            "id": ["c", "a", "b"],
            "colour": ["red", "blue", None],
            "new": [True, False, True],
            "price": [1, None, -2],
        }
    )
    found = attribute_columns(table, pl.Series(["a", "b", "c", "d"]))
    assert {name: matrix.toarray().tolist() for name, matrix in found.items()} == {
        "colour": [[1, 0], [0, 0], [0, 1], [0, 0]],
        "new": [[1, 0], [0, 1], [0, 1], [0, 0]],
        "price": [[0], [-2], [1], [0]],
    }


def test_an_attribute_that_nobody_has_is_zero_for_all() -> None:
    table = pl.DataFrame({"id": ["a"], "tag": pl.Series([None], dtype=pl.String)})
    found = attribute_columns(table, pl.Series(["a", "b"]))
    assert found["tag"].toarray().tolist() == [[0], [0]]
