"""One small run with models of every kind: its record, its folder, its tables, read many times."""

import json
import math
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
import small
from conftest import refusal
from small import POPULAR, timeless

import harness
from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.evaluation.rescore import rescore
from harness.evaluation.run import run
from harness.metrics import parse
from harness.results.record import ModelRecord
from harness.results.run import Run, read
from harness.results.tables import UNKNOWN

PLUGGED = (
    small.LATEST_FIRST
    + """
from datetime import date
from math import inf
from pathlib import Path
from baselines.popular import Popular

class Mine(Popular):
    def __init__(
        self, days=7, *others, since=date(2020, 1, 2), most=inf, of=("a", 1.5), name=None,
        by=len, some=(1, len), named={1: "a"}, flag=False, at=None, **more
    ):
        super().__init__()

class InC(Popular):
    pass

InC.__signature__ = "none that inspect takes"

class Once(Popular):
    def fit(self, train):
        Path(__file__).with_name("learnt").touch(exist_ok=False)
        return super().fit(train)
"""
)
PARAMS = {"days": 3, "at": date(2020, 5, 6), "extra": [float("-inf")]}
MODELS: list[dict[str, Any]] = [
    {**POPULAR, "params": {"window_days": 30, "weights": {"event": 2.0}}},
    {**POPULAR, "name": "last day", "params": {"window_days": 4}},
    {"name": "mine", "use": "plugged:LatestFirst"},
    {"name": "random", "use": "baselines.random_items:RandomItems", "repeats": 3},
    {"name": "file", "lists": "lists.csv"},
    {"name": "both", "use": "baselines.blend:Blend", "of": ["popular", "file"]},
    {"name": "with params", "use": "plugged:Mine", "params": PARAMS, "repeats": 2},
    {"name": "in c", "use": "plugged:InC"},
    {"name": "once", "use": "plugged:Once"},
]
LISTS = "user,item\nann,nobody\nann,b\ncid,a\n"
METRICS = ["MAP@2", "MAP(divisor=hits)@2", "Recall@2", "NDCG@2"]


class Done(NamedTuple):
    config: Config
    result: Run
    folder: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The run; its folder is not to be written to."""
    here = tmp_path_factory.mktemp("plain")
    files = {"plugged.py": PLUGGED, "lists.csv": LISTS, "shop.toml": shop(METRICS)}
    small.write(here / "configs", files)
    small.write(here / "logs", {"log.csv": small.LOG})
    result = run(here / "configs" / "shop.toml")
    result.write(here / "runs" / "deep" / "one")
    return Done(config_.read(here / "configs/shop.toml"), result, here / "runs" / "deep" / "one")


def shop(metrics: list[str]) -> str:
    return small.toml(models=MODELS, data={"path": "../logs"}, evaluation={"metrics": metrics})


def model(result: Run, name: str) -> ModelRecord:
    return next(entry for entry in result.models if entry.name == name)


def values(result: Run, name: str, metric: str = "MAP@2") -> list[list[float]]:
    return result.scores[name].values[result.metrics[metric]].tolist()


def figures(result: Any) -> Any:
    """Return all that is recorded but what leaderboards alone have."""
    return timeless(result.to_dict(), "bridge", "notes")


# Scores.


def test_scores_by_hand(done: Done) -> None:
    """Popular says b, a; the latest first are d, b; the file has a stranger and then b for ann."""
    assert done.result.user_ids.to_list() == ["ann", "bob", "cid"]
    assert values(done.result, "popular") == [[1, 0, 1 / 2]]
    assert values(done.result, "popular", "Recall@2") == [[1, 0, 1]]
    popular = model(done.result, "popular")
    gain = (1 + 1 / math.log2(3)) / 3
    assert popular.metrics["NDCG@2"].mean == pytest.approx(gain, abs=1e-15)
    assert values(done.result, "mine") == [[1 / 2, 1, 0]]
    assert values(done.result, "last day") == [[0, 1, 0]]
    assert values(done.result, "file") == [[1 / 2, 0, 1]]
    # One true item of four candidates: 1/4 at the first place, and half of 1/4 at the second.
    assert done.result.record.chance["MAP@2"].mean == pytest.approx(3 / 8, abs=1e-15)
    assert popular.vs_random is not None
    assert popular.vs_random.lift == pytest.approx((1 / 2) / (3 / 8), abs=1e-15)
    order = [model.name for model in done.result.models if model.metrics["MAP@2"].mean == 1 / 2]
    assert order == ["popular", "mine", "file", "with params", "in c", "once"]
    assert done.result.models[-1].name == "last day"


FEW = "with fewer than 10 users, a single user can change the result"


def test_notes(done: Done) -> None:
    assert done.result.notes == (
        f"3 users are evaluated: {FEW}",
        "there is no exact chance value for MAP(divisor=hits)@2",
        'model "file": 1 evaluated user has no list, so it scores 0',
        'model "file": 1 position has an item that is not a candidate, so it cannot hit',
        'model "with params": its 2 repeats are equal, as it has no seed and does not use draws; '
        "remove repeats, or take random numbers from draws",
    )


# The record.


def test_a_model_has_its_class_its_parameters_and_what_it_is_made_of(done: Done) -> None:
    """Defaults that no config could hold are left out: a function, and a table with a number."""
    records = {record["name"]: record for record in json.loads(done.result.to_json())["models"]}
    mine = records["with params"]
    assert mine["use"] == f"{done.config.folder / 'plugged.py'}:Mine"  # as config.toml has it
    assert (mine["lists"], mine["of"], mine["repeats"]) == ([], [], 2)
    assert mine["params"] == {
        "days": 3, "since": "2020-01-02", "at": "2020-05-06", "extra": ["-inf"],
        "most": "inf", "of": ["a", 1.5], "name": None, "flag": False,
    }  # fmt: skip
    assert records["in c"]["params"] == {}
    assert records["both"]["of"] == ["popular", "file"]
    assert "models" not in records["both"]["params"]
    keys = {"window_days", "half_life_days", "weights", "values"}
    assert records["popular"]["params"].keys() == keys
    file = records["file"]
    assert (file["use"], file["params"]) == (None, {})
    assert file["lists"] == [str(done.config.folder / "lists.csv")]


# The folder.


def test_the_folder(done: Done) -> None:
    """A row of per_user.parquet for each user, model and repeat."""
    tables = ["per_user.parquet", "recommendations.parquet", "users.parquet"]
    names = sorted(["config.toml", "environment.json", "result.json", *tables])
    assert sorted(p.name for p in done.folder.iterdir()) == names
    assert (done.folder / "result.json").read_text() == done.result.to_json() + "\n"
    assert [p.name for p in done.folder.parent.iterdir()] == ["one"]
    environment = json.loads((done.folder / "environment.json").read_text())
    assert environment["python"] == ".".join(map(str, sys.version_info[:3]))
    assert environment["numpy"] == np.__version__
    frame = pl.read_parquet(done.folder / "per_user.parquet")
    assert frame.columns == ["user", "model", "repeat", *METRICS]
    assert len(frame) == 3 * sum(model.get("repeats", 1) for model in MODELS)
    means = {model.name: model.metrics["NDCG@2"].mean for model in done.result.models}
    environment = frame.group_by("model").agg(pl.col("NDCG@2").mean())
    assert dict(environment.iter_rows()) == pytest.approx(means, abs=1e-15)


def test_the_written_config_is_the_same_and_repeats_the_run(done: Done) -> None:
    again = config_.read(done.folder / "config.toml")
    decided: Any = {"folder": True, "data": True, "evaluation": {"metrics", "candidates"}}
    decided["models"] = {"__all__": {"use", "lists"}}  # paths are written out
    assert again.model_dump(exclude=decided) == done.config.model_dump(exclude=decided)
    assert again.evaluation.candidates == "train"
    assert again.layout() == done.config.layout()
    assert tomllib.loads((done.folder / "config.toml").read_text())["evaluation"]["seed"] == 42
    (done.config.folder / "learnt").unlink(missing_ok=True)
    repeated = run(again)
    assert timeless(repeated.to_dict()) == timeless(done.result.to_dict())
    assert repeated.recommendations().equals(done.result.recommendations())


def test_an_earlier_run_and_an_empty_folder_are_replaced_and_no_other(
    done: Done, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    done.result.write(tmp_path / "run")
    small.write(tmp_path, {"run/result.json": "{}", "mine/thesis.doc": "", "file": ""})
    done.result.write(tmp_path / "run")
    assert (tmp_path / "run" / "result.json").stat().st_size > 2
    small.write(tmp_path, {"run/note.txt": "mine"})
    for name in ("mine", "file", "run"):
        with refusal(UsageError, f"{name}: exists and is not a run folder", "--out"):
            done.result.write(tmp_path / name)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.doc"]
    assert (tmp_path / "run" / "note.txt").read_text() == "mine"


# Lists.


def test_lists_stand_in_a_table_best_first(done: Done) -> None:
    """b, twice bought, and then a, by its id; the file has an item that nobody knows."""
    rows = done.result.table("recommendations.parquet", "popular")["items"]
    assert rows.cast(pl.List(pl.String)).to_list() == [["b", "a"]] * 3
    table = done.result.recommendations("file").to_dict("list")
    items = [UNKNOWN, "b", "a"]
    assert table == {"user": ["ann", "ann", "cid"], "rank": [1, 2, 1], "item": items}
    columns = ["model", "repeat", "user", "rank", "item"]
    assert done.result.recommendations().columns.to_list() == columns


def test_lists_of_another_model_are_refused(done: Done) -> None:
    asked: list[tuple[str | None, int | None, str]] = [
        ("random", None, "has 3 repeats with different lists; choose one, such as repeat=0"),
        (None, 1, "repeat = 1 needs a model: name it first"),
        ("randon", None, 'no model "randon"; did you mean "random"?'),
    ]
    for name, repeat, words in asked:
        with refusal(UsageError, words):
            done.result.recommendations(name, repeat=repeat)


def test_a_run_that_is_read_back_shows_the_same(done: Done) -> None:
    back = read(done.folder)
    assert back.sheets(verbose=True) == done.result.sheets(verbose=True)
    assert back.to_pandas().equals(done.result.to_pandas())
    assert back.per_user().equals(done.result.per_user())
    assert back.recommendations().equals(done.result.recommendations())


def test_values_per_user_have_the_shape_of_evaluate(done: Done) -> None:
    """Of several repeats a user has the mean."""
    truth = {"ann": ["b"], "bob": ["d"], "cid": ["a"]}
    scores, lists = done.result.per_user("mine"), done.result.recommendations("mine")
    metrics = scores.columns.to_list()
    expected = harness.evaluate(lists, truth, metrics, rank="rank", per_user=True)
    assert scores.index.name == "user"
    assert scores.to_dict() == expected.to_dict()
    assert done.result.per_user().index.names == ["model", "repeat", "user"]
    each = [done.result.per_user("random", repeat=n)["MAP@2"].to_numpy() for n in range(3)]
    mean = done.result.per_user("random")["MAP@2"].to_numpy()
    assert mean == pytest.approx(np.mean(each, axis=0))


def test_other_metrics_are_those_of_a_run_that_asks_for_them(done: Done) -> None:
    """Nothing learns again: `once` would raise."""
    metrics = ["Recall@1", "Novelty@2"]
    (done.config.folder / "learnt").touch()
    anew, same = rescore(done.folder, list(map(parse, metrics))), rescore(done.folder)
    assert figures(same) == figures(done.result)
    assert set(same.notes) == set(done.result.notes)
    assert small.lists_of(done.folder, "once").lists.tolist() == [[1, 0]] * 3
    (done.config.folder / "learnt").unlink()
    small.write(done.config.folder, {"other.toml": shop(metrics)})
    assert figures(anew) == figures(run(done.config.folder / "other.toml"))


def test_a_run_without_its_lists(tmp_path: Path) -> None:
    """Models are asked again, and must answer as they did."""
    small.write(tmp_path, {"lists.csv": LISTS})
    result = run(small.config(tmp_path, POPULAR, {"name": "file", "lists": "lists.csv"}))
    result.write(tmp_path / "run", recommendations=False)
    assert not (tmp_path / "run/recommendations.parquet").exists()
    with refusal(UsageError, "has no recommendations.parquet", "run it again: harn"):
        rescore(tmp_path / "run")
    assert small.lists_of(tmp_path / "run", "popular").lists.tolist() == [[1, 0]] * 3
    small.write(tmp_path, {"lists.csv": LISTS.replace("cid,a", "cid,b")})
    with refusal(UsageError, 'model "file" gives other lists than in this run'):
        small.lists_of(tmp_path / "run", "file")


def test_lists_of_which_some_are_lost_are_none(done: Done, tmp_path: Path) -> None:
    done.result.write(tmp_path / "run")
    path = tmp_path / "run/recommendations.parquet"
    rows = pl.read_parquet(path)
    long = rows.with_columns(pl.lit(["a", "b", "c"]).alias("items"))
    for lost in (rows[1:], pl.concat([rows[1:2], rows[1:]]), long):
        lost.write_parquet(path)
        with refusal(DataError, f"{path}: not all rows are there for model"):
            read(tmp_path / "run").recommendations()


def test_lists_of_another_evaluation_are_refused(done: Done, tmp_path: Path) -> None:
    small.write(done.config.folder.parent / "logs", {"other.csv": small.LOG.replace("b,d", "b,b")})
    done.result.write(tmp_path / "run")
    path, rows = tmp_path / "run/config.toml", tmp_path / "run/recommendations.parquet"
    text = path.read_text()
    for old, new, words in (
        ("k = 2", "k = 3", "k = 3, but the run had 1 fold and k = 2"),
        ("log.csv", "other.csv", "data has changed since this run (it differs in truth"),
    ):
        path.write_text(text.replace(old, new))
        with refusal(UsageError, words):
            rescore(tmp_path / "run")
    path.write_text(text)
    with refusal(UsageError, "MAP@3 looks at 3 positions, but the lists", " up to 2;"):
        rescore(tmp_path / "run", [parse("MAP@3")])
    pl.read_parquet(rows).with_columns(items=pl.lit("a")).write_parquet(rows)
    with refusal(DataError, "recommendations.parquet: cannot be read: "):
        rescore(tmp_path / "run")
