"""Runs and evaluate on a real standalone cluster and by Spark Connect: what they find here."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import ROOT, refusal
from small import timeless

import harness
from harness.config import Config
from harness.evaluation.run import run as run_locally
from harness.results.folder import PER_USER, RECOMMENDATIONS, TABLES
from harness.spark import evaluate, reading, run
from spark.conftest import LONG, NOISE, Cluster, sides, until
from spark.test_buckets import many

pytestmark = NOISE
HM = ROOT / "data/hm-sample"
SPLIT = {"strategy": "last_n", "n": 2, "ties": "shuffle"}


def settings(folder: Path) -> Config:
    """Return the sample competition of H&M as a table of Parquet."""
    log = pl.read_csv(HM / "transactions_train.csv.gz", infer_schema=False)
    log = log.with_columns(pl.col("t_dat").str.to_date())
    log.write_parquet(folder / "log.parquet", row_group_size=1_000)
    columns = {"user": "customer_id", "item": "article_id", "time": "t_dat"}
    data = {"events": "log.parquet", "items": str(HM / "articles.csv.gz"), **columns}
    metrics = ["MAP@12", "NDCG@12", "Coverage@12", "Novelty@12"]
    evaluation = {"k": 12, "metrics": metrics}
    models = small.MODELS[1:4]  # one of them at random
    return small.config_of(folder, models=models, data=data, split=SPLIT, evaluation=evaluation)


def frames(folder: Path) -> dict[str, pl.DataFrame]:
    """Return the tables of a run, rows in an order that does not tell who wrote them."""
    read: dict[str, pl.DataFrame] = {}
    for name in TABLES:
        path = folder / name
        if path.exists():
            table = pl.read_parquet(path / "*.parquet" if path.is_dir() else path)
            keys = [key for key in ("model", "repeat", "user") if key in table.columns]
            read[name] = table.sort(keys).select(sorted(table.columns))
    return read


def same_tables(there: Path, here: Path) -> None:
    """Check that the workers wrote the rows of the run without Spark, once each."""
    tables = frames(there)
    assert {*tables} == {*TABLES}
    lists = tables[RECOMMENDATIONS]
    assert lists.select("user", "model", "repeat").is_unique().all()
    for name, rows in frames(here).items():
        assert tables[name].equals(rows), name


@pytest.fixture
def local(tmp_path: Path) -> Any:
    """Return what runs a config without Spark, into the folder local, and returns its record."""

    def ran(settings: Config) -> Any:
        result = run_locally(settings)
        result.write(tmp_path / "local")
        return timeless(result.to_dict())

    return ran


def test_a_run_is_that_without_spark(
    on_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local: Any
) -> None:
    monkeypatch.setattr(reading, "PIECE_ROWS", 5_000)  # several ranges of a file
    config = settings(tmp_path)
    expected = local(config)
    result = run(config, tmp_path / "run", buckets=7)
    assert timeless(result.to_dict()) == expected
    same_tables(tmp_path / "run", tmp_path / "local")


def test_by_connect(connect_server: str, tmp_path: Path, local: Any) -> None:
    config = settings(tmp_path)
    expected = local(config)
    result = run(config, tmp_path / "run", remote=connect_server, buckets=7)
    assert timeless(result.to_dict()) == expected
    same_tables(tmp_path / "run", tmp_path / "local")


SOME = [small.POPULAR, {**small.RANDOM, "repeats": 3}, *small.MODELS[3:6:2]]
"""What learns from sums, draws at random, and remembers or pairs events."""


def large(folder: Path) -> Config:
    many(4, 100_000).write_parquet(folder / "log.parquet", row_group_size=10_000)
    return small.config_of(folder, models=SOME, data={"events": "log.parquet"}, split=SPLIT)


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
        with suppress(ProcessLookupError):  # it ends with its worker
            os.kill(pid, signal.SIGKILL)


def writing(folder: Path) -> bool:
    """Return whether workers write the tables of the run, which stand in a folder beside it."""
    there = {path.parent.name for path in folder.glob(f"*/{PER_USER}")}
    return not there <= {"local"}


@pytest.mark.parametrize("moment", ["at work", pytest.param("writing", marks=LONG)])
def test_a_worker_that_is_killed_changes_nothing(
    on_cluster: Any, cluster: Cluster, tmp_path: Path, local: Any, moment: str
) -> None:
    """As soon as some tasks of a stage are done, or when its tables are being written."""
    settings = large(tmp_path)
    expected = local(settings)
    due = at_work(on_cluster) if moment == "at work" else partial(writing, tmp_path)
    killed = threading.Thread(target=kill_when, args=(due, cluster.workers[0]), daemon=True)
    killed.start()
    result = run(settings, tmp_path / "run", buckets=8)
    killed.join(60)
    assert not killed.is_alive(), "the run ended before the worker was killed"
    cluster.workers[0] = cluster.add_worker()
    until("two workers again", lambda: cluster.alive() == 2)
    assert timeless(result.to_dict()) == expected
    same_tables(tmp_path / "run", tmp_path / "local")


ASKED = ["MAP@12", "NDCG@12", "Recall@5", "MRR", "TotalRecall@12"]


def test_evaluate_has_the_bits_of_a_local_call_by_connect(connected: Any, rows: Any) -> None:
    lists, truth = rows
    expected = harness.evaluate(lists, truth, ASKED)
    result = evaluate(*sides(connected, rows), ASKED)
    assert result.to_dict() == expected.to_dict()
    of_users = harness.evaluate(lists, truth, ASKED[:3], per_user=True)
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
