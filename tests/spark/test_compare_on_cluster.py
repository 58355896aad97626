"""`harness compare` on a real standalone cluster, and by Spark Connect."""

from pathlib import Path
from typing import Any

import pytest
import small

from harness.experiment.compare import compare as compare_locally
from harness.experiment.run import run as run_locally
from harness.spark import compare
from spark.conftest import NOISE, Cluster

pytestmark = [pytest.mark.slow, *NOISE]  # a cluster is started: make test-full


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Return two runs of all models, whose seeds differ."""
    sections: dict[str, Any] = {"data": {"users": "people.csv"}, "compare": {"resamples": 100}}
    sections["compare"]["slices"] = ["town"]
    for seed in (1, 2):
        settings = small.many(tmp_path, evaluation={"seed": seed}, **sections)
        run_locally(settings).write(tmp_path / str(seed))
    return [tmp_path / "1", tmp_path / "2"]


def test_on_a_cluster(cluster: Cluster, on_loopback: None, runs: list[Path]) -> None:
    found = compare(*runs, slices=["town"], master=cluster.url, buckets=5)
    assert found.to_dict() == compare_locally(*runs, slices=["town"]).to_dict()


def test_by_connect(connected: Any, runs: list[Path]) -> None:
    found = compare(*runs, slices=["town"], buckets=5)
    assert found.to_dict() == compare_locally(*runs, slices=["town"]).to_dict()
