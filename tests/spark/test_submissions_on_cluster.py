"""`harness validate` and `score` on a real standalone cluster and by Connect: as without Spark."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.config import Config
from harness.experiment import competition
from harness.protocol import truth
from harness.spark import score, validate
from spark.conftest import NOISE
from spark.test_run_on_cluster import on_cluster, settings

__all__ = ["on_cluster"]
pytestmark = [pytest.mark.slow, *NOISE]  # a cluster is started: make test-full
METRICS = ["MAP@10", "NDCG@10", "MRR@10", "Coverage@10", "Novelty@10"]
CONFIGS = ["demo", "demo-ponpare", "csv", "parquet"]


def lists(config: Config, path: Path) -> Path:
    """Write a list for everybody who must have one, some with faults; return the file."""
    chance = np.random.default_rng(3)
    solution, asked = truth.of_config(config), competition.of_config(config)
    items, users = solution.items.to_list(), asked.all_names() or solution.users.to_list()
    head = asked.format
    names = ("user", "items") if head is None else (head.user, head.items)
    rows = [f"{user},{' '.join(chance.choice(items, 10, replace=False))}" for user in users]
    rows[3] += f" {items[0]} {items[0]} nothing"
    rows[5] = rows[4]
    rows[7] = f"nobody,{items[1]}"
    path.write_text("\n".join([",".join(names), *rows]))
    return path


def check(config: Config, path: Path, **spark: Any) -> None:
    found = score(path, config=config, metrics=METRICS, force=True, **spark)
    expected = harness.score(path, config=config, metrics=METRICS, force=True)
    assert found.metrics["MAP@10"].mean > 0
    assert found.to_dict() == expected.to_dict()
    told = validate(path, config=config, **spark)
    assert told.to_dict() == harness.validate(path, config=config).to_dict()
    assert json.loads(json.dumps(told.to_dict()))["problems"]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_submission_is_scored_as_without_spark(
    on_cluster: Any, tmp_path: Path, name: str
) -> None:
    config = settings(name, tmp_path)
    path = lists(config, tmp_path / "mine.csv")
    for buckets in (1, 7):
        check(config, path, buckets=buckets)


def test_by_connect(connect_server: str, tmp_path: Path) -> None:
    config = settings("demo", tmp_path)
    path = lists(config, tmp_path / "mine.csv")
    check(config, path, remote=connect_server, buckets=4)
