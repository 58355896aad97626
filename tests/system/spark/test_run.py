"""`harness run` on Spark: the record, the scores and the lists of a run in memory."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, refusal, tells
from reader import follow
from small import CONFIGS, LOG, POPULAR, timeless

from harness.core.errors import DataError, RecommenderError, UsageError
from harness.evaluation.run import run as run_locally
from harness.results.folder import FILES, RECOMMENDATIONS, TABLES
from harness.results.run import read
from harness.spark import run
from harness.spark.population import SparkParts
from spark.conftest import NOISE

pytestmark = NOISE
COUNTS = """
import numpy as np
from harness.models.sums import FromSums
from harness.models.bases import OneOrder

class Rarest(OneOrder, FromSums):
    def fit_steps(self, train):
        n = len(train.item_ids)
        total = yield lambda part: {"items": np.bincount(part.events.item, minlength=n)}
        self.order_ = np.argsort(total["items"][train.candidates], kind="stable").astype(np.int32)
"""
"""A model beside a config, which no worker has a file of."""


@pytest.mark.parametrize(
    "name", ["every metric", "slices", "grades", "k-core", "users the same way"]
)
def test_the_record_is_that_of_a_run_in_memory(spark: Any, tmp_path: Path, name: str) -> None:
    settings = small.many(tmp_path, **CONFIGS[name])
    result = run(settings, tmp_path / "run", buckets=3)
    assert timeless(result.to_dict()) == timeless(run_locally(settings).to_dict())


def test_a_model_beside_the_config_travels(spark: Any, tmp_path: Path) -> None:
    small.write(tmp_path, {"rare.py": COUNTS})
    settings = small.config(tmp_path, POPULAR, {"name": "rare", "use": "rare:Rarest"})
    result = run(settings, tmp_path / "run", buckets=2)
    assert timeless(result.to_dict()) == timeless(run_locally(settings).to_dict())


def test_what_a_model_raises_in_a_worker_is_told(spark: Any, tmp_path: Path) -> None:
    broken = COUNTS.replace("class Rarest(OneOrder, FromSums):", "class Rarest(FromSums):")
    broken += "    def recommend(self, users, k, draws, exclude=None):\n        return 1 / 0\n"
    small.write(tmp_path, {"rare.py": broken})
    settings = small.config(tmp_path, {"name": "rare", "use": "rare:Rarest"})
    refused = refusal(RecommenderError, 'model "rare" raised in recommend', "ZeroDivisionError")
    with refused as caught:
        run(settings, tmp_path / "run", buckets=2)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_tables_may_be_elsewhere(spark: Any, tmp_path: Path) -> None:
    place = (tmp_path / "far" / "run-1").as_uri()
    run(small.config(tmp_path), tmp_path / "run", tables=place)
    assert {p.name for p in (tmp_path / "far" / "run-1").iterdir()} == {*TABLES}
    assert not {*TABLES} & {path.name for path in (tmp_path / "run").iterdir()}
    assert read(tmp_path / "run").environment["tables"] == place
    with refusal(UsageError, f"Spark wrote its tables to {place}; copy per_user.parquet"):
        _ = read(tmp_path / "run").table("per_user.parquet")
    table = "per_user.parquet"
    shutil.copytree(tmp_path / "far" / "run-1" / table, tmp_path / "run" / table)
    assert len(read(tmp_path / "run").table("per_user.parquet")) == 3
    # That tables are there already is told before anything is read.
    settings = small.config(tmp_path)
    (tmp_path / "log.csv").unlink()
    with refusal(UsageError, "--tables", "per_user.parquet already exists", "another place"):
        run(settings, tmp_path / "other", tables=place)


def test_lists_may_be_left_out(spark: Any, tmp_path: Path) -> None:
    run(small.config(tmp_path), tmp_path / "run", recommendations=False)
    written = {path.name for path in (tmp_path / "run").iterdir()}
    tables = {*TABLES} - {RECOMMENDATIONS}
    assert written == {*FILES} | tables


EASE = {"name": "all", "use": "baselines.ease:EASE"}, "1 model learns from all events at once: all"
LISTS = {"name": "mine", "lists": "mine.csv"}, 'model "mine" is a file of lists'


@pytest.mark.parametrize(("model", "words"), [EASE, LISTS])
def test_models_that_cannot_run_are_told_before_anything_is_read(
    tmp_path: Path, model: dict[str, str], words: str
) -> None:
    small.write(tmp_path, {"mine.csv": "user,items\nann,a\n"})
    settings = small.config(tmp_path, POPULAR, model)
    (tmp_path / "log.csv").unlink()
    with refusal(UsageError, words, "Remove it and score it" if "lists" in model else "in parts"):
        run(settings, tmp_path / "run", master="no master")


def test_tables_that_are_not_seen_here_are_told(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that have disks of their own write nothing here."""
    monkeypatch.setattr(SparkParts, "write", lambda *_: None)
    with refusal(DataError, "of 3 users 0 are there", "--tables"):
        run(small.config(tmp_path), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command_prints_what_it_prints_here(spark: Any, cli: Cli, here: Path) -> None:
    small.write(here, {"c.toml": small.toml(POPULAR), "log.csv": LOG})
    _, expected, _ = cli("run", "c.toml", "--out", "local")
    done = cli("run", "c.toml", "--engine", "spark", "--buckets", "2", "--out", "there")
    tells(done, 0, "MAP@2", "written to there/")
    assert done[1].replace("there", "local") == expected


FAR = {"split": {"strategy": "time", "folds": 2}, "data": {"path": "s3a://shop"}}
GIVEN = {
    "data": {"events": ["one.base", "two.base"]},
    "split": {"strategy": "given", "valid": ["one.test", "two.test"]},
}
ONE_SET = "--engine spark evaluates one evaluation set: "
IN_MEMORY = "; or run without Spark (--memory sets how much memory to use)"


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (GIVEN, f"{ONE_SET}name one file as valid, and one in [data] events{IN_MEMORY}"),
        (FAR, f"{ONE_SET}set folds = 1, which is the last fold"),
    ],
)
def test_folds_are_refused_with_what_names_one(
    tmp_path: Path, sections: dict[str, Any], message: str
) -> None:
    """What Spark alone can read is not sent back to one machine."""
    with refusal(UsageError, "config: [split] ", message) as caught:
        run(small.config(tmp_path, **sections), tmp_path / "run")
    assert str(caught.value).endswith(message)


def test_the_page_on_spark_works_as_written(
    spark: Any, here: Path, cli: Cli, capfd: pytest.CaptureFixture[str]
) -> None:
    follow("docs/how-to/spark.md", here, cli, capfd)
