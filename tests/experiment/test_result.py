"""A run's JSON and its folder: the shape, the figures again, whole or not at all."""

import json
import math
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small

from harness import config as config_
from harness.config import Config
from harness.core.errors import UsageError
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.experiment.run_folder import is_run

TOML = """
[data]
layout = "table"
path = "../logs"
events = "log.csv"

[split]
strategy = "time"
valid_days = 1

[evaluation]
k = 2
metrics = ["MAP@2", "MAP(divisor=hits)@2"]

[[models]]
name = "popular"
use = "baselines.popular:Popular"
params = { window_days = 30, weights = { event = 2.0 } }

[[models]]
name = "random"
use = "baselines.random_items:RandomItems"
repeats = 3
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    small.write(tmp_path, {"logs/log.csv": small.LOG, "configs/shop.toml": TOML})
    return config_.read(tmp_path / "configs" / "shop.toml")


@pytest.fixture
def result(config: Config) -> Result:
    return run(config)


def test_the_document(result: Result) -> None:
    """Its shape is docs/schema, which tests/report/test_schemas.py holds it to."""
    document = json.loads(result.to_json())
    assert document["schema"] == 1
    evaluation = document["evaluation"]
    assert (evaluation["k"], evaluation["users"], evaluation["candidates"]) == (2, 3, 4)
    assert [step["users"] for step in evaluation["funnel"]] == [3, 3, 3]
    assert evaluation["window"] == "1 day from 2020-01-08"
    popular, random = sorted(document["models"], key=lambda m: str(m["name"]))
    assert popular["metrics"]["MAP@2"]["mean"] == 0.5  # b, a: 1 for ann, 0 for bob, 1/2 for cid
    assert (popular["repeats"], random["repeats"]) == (1, 3)
    assert isinstance(random["metrics"]["MAP@2"]["sd_repeats"], float)


def test_intervals_of_three_users(result: Result) -> None:
    popular = next(m for m in result.models if m.name == "popular")
    # 1, 0, 1/2: s = 1/2; with 2 degrees of freedom t has the closed form (2p-1)·√(1/(2p(1-p)))
    half = 0.95 * math.sqrt(1 / (2 * 0.975 * 0.025)) * 0.5 / math.sqrt(3)
    figure = popular.metrics["MAP@2"]
    # The inverse of t in SciPy 1.13 is good to 2e-11.
    assert figure.ci95_t == pytest.approx((0.5 - half, 0.5 + half), abs=1e-10)
    assert figure.ci95 == (0, 1)  # no skewness; values are from 0 to 1
    assert figure.ci95_bootstrap == (0, 1)  # ann alone, or bob alone, in 9 % each


def test_what_is_no_number_is_null_or_refused(result: Result) -> None:
    from dataclasses import replace

    from harness.stats.chance import Verdict

    nothing = Verdict(None, 0.0, 1.0, "no better than chance")
    odd = result.models[0].model_copy(update={"vs_random": nothing})
    document = json.loads(replace(result, models=(odd, *result.models[1:])).to_json())
    assert document["models"][0]["vs_random"]["lift"] is None
    with pytest.raises(ValueError, match="finite number"):
        replace(result, seconds={"read": math.nan}).to_json()


def test_pandas_shows_one_row_a_model(result: Result) -> None:
    frame = result.to_pandas()
    assert list(frame.index) == [m.name for m in result.models]
    assert frame.loc["popular", "MAP@2"] == 0.5
    metrics = ["MAP@2", "MAP(divisor=hits)@2"]
    ends = [f"{metric} {end}" for metric in metrics for end in ("low", "high", "sd_repeats")]
    assert list(frame.columns) == ["repeats", "tuned", *metrics, *ends, "lift", "p", "verdict"]
    assert frame.loc["popular", "MAP@2 high"] == 1


def test_the_folder(result: Result, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    result.write(folder)
    tables = ["per_user.parquet", "recommendations.parquet", "users.parquet"]
    names = sorted(["config.toml", "environment.json", "result.json", *tables])
    assert sorted(p.name for p in folder.iterdir()) == names
    assert (folder / "result.json").read_text() == result.to_json() + "\n"
    assert [p.name for p in folder.parent.iterdir()] == ["one"]


def test_means_of_users_are_the_documents(result: Result, tmp_path: Path) -> None:
    result.write(tmp_path / "run")
    frame = pl.read_parquet(tmp_path / "run" / "per_user.parquet")
    assert frame.columns == ["user", "model", "repeat", "MAP@2", "MAP(divisor=hits)@2"]
    assert frame.filter(model="popular", repeat=0)["user"].cast(pl.String).to_list() == [
        "ann", "bob", "cid"
    ]  # fmt: skip
    assert len(frame) == 3 + 3 * 3
    assert frame.select(pl.exclude("user").null_count().sum()).row(0) == (0, 0, 0, 0)
    for model in json.loads(result.to_json())["models"]:
        for metric, figure in model["metrics"].items():
            rows = [
                frame.filter(model=model["name"], repeat=r)[metric].to_list()
                for r in range(model["repeats"])
            ]
            of_users = np.array(rows).mean(axis=0).tolist()
            assert figure["mean"] == math.fsum(of_users) / 3


def test_the_written_config_is_the_same_and_repeats_the_run(
    config: Config, result: Result, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "deep" / "one"
    result.write(folder)
    again = config_.read(folder / "config.toml")
    decided: Any = {"folder": True, "data": True, "evaluation": {"metrics", "candidates"}}
    assert again.model_dump(exclude=decided) == config.model_dump(exclude=decided)
    assert again.evaluation.candidates == "train"
    assert again.layout() == config.layout()
    repeated = run(again)
    assert timeless(repeated) == timeless(result)
    values = tomllib.loads((folder / "config.toml").read_text())
    assert values["evaluation"]["seed"] == 42  # a default, written out


def timeless(result: Result) -> Any:
    document = json.loads(result.to_json())
    for part in (document, *document["models"]):
        del part["seconds"]
    return document


def test_the_environment(result: Result, tmp_path: Path) -> None:
    result.write(tmp_path / "run")
    found = json.loads((tmp_path / "run" / "environment.json").read_text())
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["numpy"] == np.__version__
    assert found["submission-harness"] == version("submission-harness")


def test_a_failure_in_the_middle_leaves_all_as_it_was(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result.write(tmp_path / "one")
    (tmp_path / "one" / "result.json").write_text("earlier")

    def fails(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fails)
    with pytest.raises(UsageError, match="disk full"):
        result.write(tmp_path / "one")
    assert (tmp_path / "one" / "result.json").read_text() == "earlier"
    assert len(list((tmp_path / "one").iterdir())) == 6


def test_an_earlier_run_and_an_empty_folder_are_replaced(result: Result, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    result.write(tmp_path / "run")
    (tmp_path / "run" / "result.json").write_text("{}")
    result.write(tmp_path / "run")
    assert (tmp_path / "run" / "result.json").stat().st_size > 2


def test_a_foreign_folder_or_file_is_refused(result: Result, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.doc").touch()
    (tmp_path / "file").touch()
    result.write(tmp_path / "run")
    (tmp_path / "run" / "note.txt").write_text("mine")
    for name in ("mine", "file", "run"):
        with pytest.raises(UsageError, match=rf"{name}: exists and is no run folder.*--out"):
            result.write(tmp_path / name)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.doc"]
    assert (tmp_path / "run" / "note.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_named(result: Result, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=rf"{tmp_path}/file/run: cannot be written"):
        result.write(tmp_path / "file" / "run")


def test_what_a_run_folder_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x").touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "result.json").touch()
    found = {name: is_run(tmp_path / name) for name in ("empty", "other", "run", "none")}
    assert found == {"empty": True, "other": False, "run": True, "none": False}
