"""`harness compare` on Spark: the very record of a comparison in memory."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, is_refused, refusal, tells
from small import POPULAR, RANDOM

from harness.config import Config
from harness.core.errors import DataError, HarnessError, UsageError
from harness.experiment import run_folder
from harness.experiment.compare import compare as compare_locally
from harness.experiment.run import run as run_locally
from harness.spark import compare, run, scores
from spark.conftest import NOISE

pytestmark = NOISE
QUICK = {"resamples": 100}
OWN = """
def weighed(hits, n_relevant, k):
    return hits.sum() + 0.1
"""
"""A metric beside a config, which no worker has a file of."""


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
    found = compare(one, slices=by, buckets=buckets)
    assert found.to_dict() == compare_locally(one, slices=by).to_dict()


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
    """Return runs: on Spark with tables elsewhere, here, and with another seed and other models."""
    far = tmp_path / "far"
    sections: dict[str, Any] = {"compare": QUICK}
    run(small.many(tmp_path, **sections), far, tables=(tmp_path / "tables").as_uri(), buckets=2)
    models = [{**RANDOM, "repeats": 3}, POPULAR, {**POPULAR, "name": "again"}]
    sections = {"evaluation": {"seed": 9, "metrics": ["NDCG@2", "MAP@2"]}, "compare": QUICK}
    other = ran(tmp_path, "other", small.config(tmp_path, *models, log=small.MANY, **sections))
    return [far, one, other]


def near(folder: Path, tables: Path) -> None:
    """Put the tables of a run into its folder."""
    for name in run_folder.TABLES:
        (tables / name).rename(folder / name)


def test_several_runs(several: list[Path], tmp_path: Path) -> None:
    """Equal scores count once; those of random items differ with the seed."""
    found = compare(*several, slices=["repeats"], buckets=5)
    near(several[0], tmp_path / "tables")
    assert found.to_dict() == compare_locally(*several, slices=["repeats"]).to_dict()
    runs = {model.name: model.run for model in found.models}
    assert runs["popular"] == ", ".join(map(str, several))
    assert {f"random ({several[0]})", f"random ({several[2]})", "again"} <= set(runs)
    assert "random" not in runs


def test_tables_elsewhere_are_refused_here(several: list[Path]) -> None:
    with refusal(UsageError, "far: holds no per_user.parquet", "tables", "--engine spark"):
        compare_locally(several[0])


Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Return the folders of two runs on three users, each with popular and random items."""
    settings = small.config(tmp_path, POPULAR, {**RANDOM, "repeats": 2}, compare=QUICK)
    return [ran(tmp_path, name, settings) for name in ("one", "two")]


def renamed(user: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose user bob has another id."""
    return frame.with_columns(pl.col("user").cast(pl.String).replace("bob", user))


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("per_user", lambda of: of[1:], "users and repeat"),
        ("per_user", lambda of: of[:-1], "and 1 repeats"),
        ("per_user", lambda of: of.filter(pl.col("model") != "popular"), "and 1 repeats"),
        ("per_user", lambda of: pl.concat([of, of[-1:]]), "and 1 repeats"),
        ("per_user", lambda of: of.with_columns(pl.col("repeat") + 1), "not all scores"),
        ("per_user", partial(renamed, "ann"), "not all scores"),
        ("per_user", partial(renamed, "eve"), "holds other users"),
        ("per_user", lambda of: of.with_columns(pl.lit("x").alias("MAP@2")), "holds no scores"),
        ("per_user", lambda of: of.with_columns(pl.lit(float("nan")).alias("MAP@2")), "no number"),
        ("per_user", lambda of: of.drop("MAP@2"), "no column MAP@2"),
        ("per_user", lambda of: of.drop("repeat"), "no column repeat"),
        ("users", partial(renamed, "eve"), "holds other users"),
        ("users", lambda of: of[:2], "holds other users"),
        ("users", lambda of: of.drop("user"), "holds no users"),
        ("users", lambda of: of.drop("truth"), 'knows no "truth"'),
    ],
)
def test_damage_is_told_as_it_is_here(
    spark: Any, two: list[Path], table: str, change: Change, words: str
) -> None:
    path = two[0] / f"{table}.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    by = ["truth"] if table == "users" else []
    with refusal(HarnessError, words) as expected:
        compare_locally(*two, slices=by)
    with refusal(expected.type, words) as found:
        compare(*two, slices=by, buckets=2)
    assert str(found.value) == str(expected.value)


def test_a_metric_beside_the_config_travels(spark: Any, tmp_path: Path) -> None:
    small.write(tmp_path, {"own.py": OWN})
    settings = small.config(
        tmp_path, POPULAR, RANDOM, evaluation={"metrics": ["own:weighed@2"]}, compare=QUICK
    )
    folder = ran(tmp_path, "run", settings)
    assert compare(folder, buckets=2).to_dict() == compare_locally(folder).to_dict()


def test_the_command_prints_what_it_prints_here(spark: Any, cli: Cli, two: list[Path]) -> None:
    asked = ["compare", *map(str, two), "--slices", "truth"]
    _, expected, _ = cli(*asked)
    done = cli(*asked, "--engine", "spark", "--buckets", "2")
    tells(done, 0, "MAP@2", "slices")
    assert done[1] == expected


def test_options_of_spark_are_refused_without_it(cli: Cli, two: list[Path]) -> None:
    is_refused(cli("compare", str(two[0]), "--buckets", "2"), "option of --engine spark")


def test_files_that_a_worker_does_not_see_are_told(tmp_path: Path) -> None:
    piece = scores._Piece(0, "per_user.parquet", tmp_path / "per_user.parquet", (0, 1))
    with refusal(DataError, "per_user.parquet: is not seen by a worker", "--tables"):
        list(scores._file(piece))
