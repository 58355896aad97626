"""harness.spark.evaluate on a real standalone cluster, and by Spark Connect."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import exactly, refusal

import harness
from harness.core.errors import UsageError
from harness.spark import evaluate, scoring
from harness.spark.session import session
from spark.conftest import LOOPBACK, NOISE, Cluster, Twice, small, until

pytestmark = NOISE
ASKED = ["MAP@12", "NDCG@12", "Recall@5", "MRR", "TotalRecall@12"]
USERS, K = 3000, 12


@pytest.fixture(scope="module")
def rows() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return lists of twelve items and a truth of one to five, of which a few hit; in no order."""
    draw = np.random.default_rng(11)
    users = np.char.add("u", np.arange(USERS).astype(str))
    lists = [draw.choice(200, K, replace=False) for _ in users]
    true = [draw.choice(200, draw.integers(1, 6), replace=False) for _ in users]
    listed = {
        "user": np.repeat(users, K),
        "item": np.char.add("i", np.concatenate(lists).astype(str)),
        "rank": np.tile(np.arange(1, K + 1), USERS),
    }
    truth = {
        "user": np.repeat(users, list(map(len, true))),
        "item": np.char.add("i", np.concatenate(true).astype(str)),
    }
    frames = (pl.DataFrame(of).sample(fraction=1, shuffle=True, seed=7) for of in (listed, truth))
    one, other = frames
    return one, other


def sides(spark: Any, rows: tuple[pl.DataFrame, pl.DataFrame]) -> list[Any]:
    return [spark.createDataFrame(frame.to_arrow()) for frame in rows]


@pytest.fixture
def on_cluster(cluster: Cluster, on_loopback: None) -> Iterator[Any]:
    with session(cluster.url) as opened:
        small(opened)
        yield opened


def test_the_bits_of_a_local_call(on_cluster: Any, rows: Any) -> None:
    expected = harness.evaluate(*rows, ASKED)
    for partitions in (1, 7):
        on_cluster.conf.set("spark.sql.shuffle.partitions", str(partitions))
        found = evaluate(*sides(on_cluster, rows), ASKED)
        assert found.to_dict() == expected.to_dict()
        assert found.attrs == expected.attrs
    assert on_cluster.conf.get("spark.master").startswith(f"spark://{LOOPBACK}:")


def test_the_bits_of_a_local_call_by_connect(connected: Any, rows: Any) -> None:
    expected = harness.evaluate(*rows, ASKED)
    found = evaluate(*sides(connected, rows), ASKED)
    assert found.to_dict() == expected.to_dict()
    of_users = harness.evaluate(*rows, ASKED[:3], per_user=True)
    values = evaluate(*sides(connected, rows), ASKED[:3], per_user=True).toArrow()
    seen = pl.DataFrame(values).sort("user")
    assert seen["user"].to_list() == of_users.index.tolist()
    assert seen.drop("user").rows() == list(of_users.itertuples(index=False, name=None))


def test_a_mistake_is_told_by_connect_as_by_a_classic_session(connected: Any, rows: Any) -> None:
    lists, truth = rows
    bad = lists.with_columns(rank=pl.col("rank") - 1)
    with refusal(Exception, 'predictions: column "rank", user \'u', "found 0") as caught:
        evaluate(*sides(connected, (bad, truth)), "MRR")
    assert "\n" not in str(caught.value)


def test_a_worker_that_is_killed_changes_nothing(
    cluster: Cluster, on_loopback: None, rows: Any
) -> None:
    expected = harness.evaluate(*rows, ASKED)
    with session(cluster.url) as spark:
        small(spark)
        spark.conf.set("spark.sql.shuffle.partitions", "64")
        given = sides(spark, rows)
        evaluate(*given, ASKED)  # workers have imported what they need
        killed = threading.Thread(target=kill_when, args=(at_work(spark), cluster.workers[0]))
        killed.start()
        found = evaluate(*given, ASKED)
        assert not killed.is_alive()  # it was killed meanwhile
        again = evaluate(*given, ASKED)
    cluster.workers[0] = cluster.add_worker()
    until("two workers again", lambda: cluster.alive() == 2)
    assert found.to_dict() == again.to_dict() == expected.to_dict()


def at_work(spark: Any) -> Callable[[], bool]:
    """Return what says whether some tasks of a stage are done and others are not."""
    tracker = spark.sparkContext.statusTracker()

    def some_done() -> bool:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        return any(stage is not None and stage.numCompletedTasks for stage in stages)

    return some_done


def kill_when(due: Callable[[], bool], worker: subprocess.Popen[bytes]) -> None:
    while not due():
        time.sleep(0.01)
    kill(worker)


def kill(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker and what it runs, as where a machine is lost."""
    children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text()
    worker.kill()
    worker.wait()
    for pid in map(int, children.split()):
        os.kill(pid, signal.SIGKILL)


def test_tasks_that_are_run_twice_change_nothing(twice: Twice, rows: Any) -> None:
    expected = harness.evaluate(*rows, ASKED).to_dict()
    for _ in range(4):
        assert evaluate(*sides(twice.session, rows), ASKED).to_dict() == expected
    assert twice.happened()


def test_a_worker_without_our_package(
    cluster: Cluster, on_loopback: None, rows: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "harness.py").write_text("raise ModuleNotFoundError(\"No module named 'harness'\")")
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}:$PYTHONPATH exec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(bare))
    words = 'a worker has no Python module "harness"', "PYSPARK_PYTHON", "install this package"
    with session(cluster.url) as spark, refusal(UsageError, *words):
        evaluate(*sides(spark, rows), "MRR")


def test_a_python_that_workers_have_not(
    cluster: Cluster, on_loopback: None, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/no/such/python")
    words = 'a worker cannot run "/no/such/python"', "PYSPARK_PYTHON"
    with session(cluster.url) as spark, refusal(UsageError, *words):
        evaluate(*sides(spark, rows), "MRR")


def test_another_python(spark: Any, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "{}.{}".format(*sys.version_info)
    monkeypatch.setattr(spark.sparkContext, "pythonVer", "3.9")
    with refusal(
        UsageError, f"a worker runs Python {own}, the driver Python 3.9", "PYSPARK_PYTHON"
    ):
        evaluate(*sides(spark, rows), "MRR")


def test_another_version_of_our_package(
    spark: Any, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["harness.spark.evaluate"], "own_version", lambda: "9.9")
    monkeypatch.setattr(scoring.Call, "scored", lambda *_: None)  # which is not asked of the driver
    with refusal(UsageError, "a worker has version", "the driver has 9.9"):
        evaluate(*sides(spark, rows), "MRR")


def test_mllib_finds_the_same_map(spark: Any, rows: Any) -> None:
    """PySpark's meanAveragePrecision divides by R, as trec_eval does."""
    from pyspark.mllib.evaluation import RankingMetrics

    lists, truth = (
        frame.sort([c for c in ("rank",) if c in frame.columns])
        .group_by("user", maintain_order=True)
        .agg("item")
        for frame in rows
    )
    pairs = lists.join(truth, on="user").select("item", "item_right").rows()
    given = spark.sparkContext.parallelize(pairs, 2)
    found = evaluate(*sides(spark, rows), "MAP(divisor=trec)@12")
    theirs = RankingMetrics(given)
    assert found.iloc[0] == exactly(theirs.meanAveragePrecision)
    by_tool = harness.conventions(*rows, 5)["MAP@5"]["spark"]
    assert by_tool == exactly(theirs.meanAveragePrecisionAt(5))
