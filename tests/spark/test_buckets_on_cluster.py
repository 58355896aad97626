"""Buckets on a real standalone cluster, of which a worker is lost, and by Spark Connect."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import refusal

from harness import config as config_
from harness.core.errors import DataError
from harness.data import buckets
from harness.data.dataset import Dataset
from harness.spark.buckets import prepared
from harness.spark.session import session
from spark.conftest import NOISE, Cluster, by_value, small, until
from spark.test_buckets import ROOT, compare, many, table
from spark.test_cluster import kill

pytestmark = [pytest.mark.slow, *NOISE]  # a cluster is started: make test-full


@pytest.fixture(scope="module", autouse=True)
def _by_value(installed: None) -> None:
    by_value(__name__)


@pytest.fixture
def on_cluster(cluster: Cluster, on_loopback: None) -> Iterator[Any]:
    with session(cluster.url) as opened:
        small(opened)
        yield opened


@pytest.mark.parametrize("name", ["demo", "demo-ponpare"])
@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_sample_competitions(
    on_cluster: Any, monkeypatch: pytest.MonkeyPatch, name: str, count: int
) -> None:
    layout = config_.read(ROOT / f"configs/{name}.toml").layout()
    compare(on_cluster, layout, count, monkeypatch)


@pytest.mark.parametrize("name", ["demo", "demo-ponpare"])
def test_sample_competitions_by_connect(
    connected: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    compare(connected, config_.read(ROOT / f"configs/{name}.toml").layout(), 7, monkeypatch)


def test_a_mistake_is_told_by_connect_as_it_is(connected: Any, tmp_path: Path) -> None:
    layout = table(tmp_path, "user,item,time\nann,a,soon\n").layout()
    told = refusal(DataError, "log.csv: line 2", 'found "soon"')
    with told as caught, prepared(connected, layout):
        pass
    assert "\n" not in str(caught.value)


def sums(data: Dataset) -> dict[str | int, Any]:
    events = data.events
    return {
        "items": np.bincount(events.item, minlength=len(data.item_ids)),
        "time": events.time[:1],
    }


def test_a_worker_that_is_killed_changes_nothing(
    cluster: Cluster, on_loopback: None, tmp_path: Path
) -> None:
    many(4, 200_000).write_parquet(tmp_path / "log.parquet", row_group_size=10_000)
    layout = table(tmp_path, events="log.parquet").layout()
    with session(cluster.url) as spark:
        small(spark)
        with prepared(spark, layout, 16) as found:
            expected = found.parts.total(sums)
            killed = threading.Timer(0.3, kill, [cluster.workers[0]])
            killed.start()
            totals = [found.parts.total(sums) for _ in range(3)]
            killed.join()
            totals.append(found.parts.total(sums))  # parts that were lost are made again
        cluster.workers[0] = cluster.add_worker()
        until("two workers again", lambda: cluster.alive() == 2)
    for total in totals:
        assert total["items"].tolist() == expected["items"].tolist()
    with buckets.prepared(layout, kept=False) as local:
        (data,) = local.datasets()
    assert expected["items"].tolist() == np.bincount(data.events.item).tolist()
