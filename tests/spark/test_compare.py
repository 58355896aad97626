"""`harness compare` on Spark: the very record of a comparison in memory."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, exactly, is_refused, refusal, tells
from small import LOG, POPULAR, RANDOM

from harness.config import Config
from harness.core.errors import DataError, HarnessError, UsageError
from harness.experiment import run_folder
from harness.experiment.compare import compare as compare_locally
from harness.experiment.run import run as run_locally
from harness.spark import compare, run
from harness.spark.session import session
from spark.conftest import Cluster
from spark.conftest import small as set_small

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
QUICK = {"resamples": 100}
SHARE = """
import numpy as np
from harness.metrics import metric

@metric(name="Tenth")
def tenth(block):
    return np.full(len(block.hits), 0.1)
"""


def ran(folder: Path, name: str, settings: Config) -> Path:
    """Run here; return the folder."""
    run_locally(settings).write(folder / name)
    return folder / name


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """Return the folder of a run of all models, which random items have three repeats of."""
    sections = {"compare": {**QUICK, "slices": ["town"]}, "data": {"users": "people.csv"}}
    return ran(tmp_path, "one", small.many(tmp_path, **sections))


@pytest.mark.parametrize("buckets", [1, 7, None])
def test_one_run(spark: Any, one: Path, buckets: int | None) -> None:
    by = ["activity", "town"]
    found = compare(one, by=by, buckets=buckets)
    assert found.to_dict() == compare_locally(one, by=by).to_dict()


def test_what_is_asked_for(spark: Any, one: Path) -> None:
    asked: Any = {
        "models": ["random", "trending", "gaps"],
        "baseline": "popular",
        "correction": "bh",
        "resamples": 200,
        "seed": 5,
        "public_shares": [0.25, 0.5],
    }
    assert compare(one, buckets=3, **asked).to_dict() == compare_locally(one, **asked).to_dict()


@pytest.fixture
def several(spark: Any, one: Path, tmp_path: Path) -> list[Path]:
    """Return runs: here, on Spark with tables elsewhere, and with another seed and other models."""
    far = tmp_path / "far"
    sections: dict[str, Any] = {"compare": QUICK}
    run(small.many(tmp_path, **sections), far, tables=(tmp_path / "tables").as_uri(), buckets=2)
    models = [{**RANDOM, "repeats": 3}, POPULAR, {**POPULAR, "name": "again"}]
    sections = {"evaluation": {"seed": 9, "metrics": ["NDCG@2", "MAP@2"]}, "compare": QUICK}
    other = ran(tmp_path, "other", small.config(tmp_path, *models, log=small.MANY, **sections))
    return [one, far, other]


def near(folder: Path, tables: Path) -> None:
    """Put the tables of a run into its folder."""
    for name in run_folder.TABLES:
        (tables / name).rename(folder / name)


def test_several_runs(several: list[Path], tmp_path: Path) -> None:
    """Equal scores count once; those of random items differ with the seed."""
    found = compare(*several, by=["repeats"], buckets=5)
    near(several[1], tmp_path / "tables")
    assert found.to_dict() == compare_locally(*several, by=["repeats"]).to_dict()
    runs = {model.name: model.run for model in found.models}
    assert runs["popular"] == ", ".join(map(str, several))
    assert {f"random ({several[0]})", f"random ({several[2]})", "again"} <= set(runs)
    assert "random" not in runs


def test_tables_elsewhere_are_refused_here(several: list[Path]) -> None:
    with refusal(UsageError, "far: holds no per_user.parquet", "tables", "--engine spark"):
        compare_locally(several[1])
