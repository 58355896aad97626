"""A run's lists written, read back, and scored by other metrics: no model learns again."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small
from conftest import Cli, is_refused
from small import POPULAR, RANDOM, timeless

from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.experiment.explain import of_run
from harness.experiment.list_table import UNKNOWN, ListTable, ids_of
from harness.experiment.rescore import rescore
from harness.experiment.result import Findings, Result
from harness.experiment.run import run
from harness.metrics import parse
from harness.models.recommendations import Recommendations

FORGETS = """
from pathlib import Path
from baselines.popular import Popular

class Once(Popular):
    def fit(self, train):
        Path(__file__).with_name("learnt").touch(exist_ok=False)
        return super().fit(train)
"""
ONCE = {"name": "once", "use": "forgets:Once"}
FILE = {"name": "file", "lists": "lists.csv"}
LISTS = "user,item\nann,nobody\nann,b\ncid,a\n"
METRICS = ["Recall@1", "NDCG@2", "Coverage@2", "Novelty@2"]


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    small.write(folder, {"forgets.py": FORGETS, "lists.csv": LISTS})
    return small.config(folder, *models, **sections)


def written(folder: Path, settings: Config, **given: Any) -> Findings:
    found = run(settings)
    found.write(folder / "run", **given)
    return found


def figures(found: Findings) -> Any:
    """Return all figures; leaderboards know of no others, and what the config says is apart."""
    record: Any = timeless(found.to_dict())
    for part in (record, *record["folds"]):
        part.pop("bridge")
    return record


def test_lists_stand_in_a_table_best_first(tmp_path: Path) -> None:
    """b, twice bought, and then a, by its id; the file has an item that nobody knows."""
    found = run(config(tmp_path, POPULAR, FILE))
    rows = found.list_rows().cast({"user": pl.String, "items": pl.List(pl.String)})
    assert dict(rows.filter(model="popular").select("user", "items").iter_rows()) == {
        "ann": ["b", "a"],
        "bob": ["b", "a"],
        "cid": ["b", "a"],
    }
    assert dict(rows.filter(model="file").select("user", "items").iter_rows()) == {
        "ann": [UNKNOWN, "b"],
        "bob": [],
        "cid": ["a"],
    }
    assert rows["repeat"].unique().to_list() == [0]


def test_a_position_that_is_empty_is_null_and_one_behind_the_last_is_not_there() -> None:
    lists = Recommendations(np.array([[1, -1, 0], [-1, -1, -1], [0, -1, -1]], np.int32))
    found = ids_of(lists, pl.Series(["a", "b"]))
    assert found.to_list() == [["b", None, "a"], [], ["a"]]
    nobody = Recommendations(np.empty((0, 3), np.int32))
    assert ids_of(nobody, pl.Series(["a", "b"])).to_list() == []


def test_what_is_written_is_read_back_whatever_the_order_of_rows(tmp_path: Path) -> None:
    found = run(config(tmp_path, FILE, {**RANDOM, "repeats": 2}))
    assert isinstance(found, Result)
    rows = found.list_rows().sample(fraction=1, shuffle=True, seed=1)
    table = ListTable(rows, tmp_path, found.evaluation_set)
    for model in found.models:
        read = table.of(model.name, model.repeats)
        for own, then in zip(read, model.recommendations, strict=True):
            assert own.items.tolist() == then.items.tolist()
            assert own.strange.to_list() == then.strange.to_list()


@pytest.mark.parametrize("rows", ["fewer", "twice", "long"])
def test_rows_that_are_not_the_lists_of_all_users_are_refused(tmp_path: Path, rows: str) -> None:
    found = run(config(tmp_path))
    assert isinstance(found, Result)
    whole = found.list_rows().cast({"user": pl.String, "items": pl.List(pl.String)})
    changed = {
        "fewer": whole[1:],
        "twice": pl.concat([whole[1:], whole[1:2]]),
        "long": whole.with_columns(pl.lit(["a", "b", "c"]).alias("items")),
    }
    table = ListTable(changed[rows], tmp_path / "x.parquet", found.evaluation_set)
    with pytest.raises(DataError, match=r"x.parquet: has not one list of up to 2 .* the 3 users"):
        table.of("popular", 1)


def test_other_metrics_are_those_of_a_run_that_asks_for_them(tmp_path: Path) -> None:
    models = POPULAR, {**RANDOM, "repeats": 3}, FILE, ONCE
    written(tmp_path, config(tmp_path, *models, log=small.MANY.replace("user1,", "ann,")))
    found = rescore(tmp_path / "run", [parse(metric) for metric in METRICS])
    (tmp_path / "learnt").unlink()
    wanted = {"metrics": METRICS}
    log = small.MANY.replace("user1,", "ann,")
    again = run(config(tmp_path, *models, log=log, evaluation=wanted))
    assert figures(found) == figures(again)


def test_lists_of_a_model_with_a_removed_parameter_are_scored(tmp_path: Path) -> None:
    """As a run of an earlier version holds it: its lists are there, so nothing is made."""
    knn = {"name": "knn", "use": "baselines.item_knn:ItemKNN", "params": {"neighbours": 5}}
    found = written(tmp_path, config(tmp_path, POPULAR, knn))
    path = tmp_path / "run" / "config.toml"
    path.write_text(path.read_text().replace("neighbours = 5", "neighbours = 5\nmax_voters = 20"))
    again, before = (
        {m.name: m.metrics for m in r.models} for r in (rescore(tmp_path / "run"), found)
    )
    assert again == before


def test_each_fold_has_its_lists(tmp_path: Path) -> None:
    folds = {"split": {"strategy": "time", "valid_days": 2, "folds": 3}, "log": small.MANY}
    first = written(tmp_path, config(tmp_path, POPULAR, RANDOM, **folds))
    assert pl.read_parquet(tmp_path / "run/recommendations.parquet")["fold"].n_unique() == 3
    assert figures(rescore(tmp_path / "run")) == figures(first)
    found = rescore(tmp_path / "run", [parse("Recall@1")])
    again = run(config(tmp_path, POPULAR, RANDOM, evaluation={"metrics": ["Recall@1"]}, **folds))
    assert figures(found) == figures(again)


def test_a_model_that_failed_is_left_out(tmp_path: Path) -> None:
    small.write(tmp_path, {"learnt": ""})
    written(tmp_path, config(tmp_path, POPULAR, ONCE, RANDOM))
    assert {m.name for m in rescore(tmp_path / "run").models} == {"popular", "random"}


def test_explaining_needs_no_model_to_learn(tmp_path: Path) -> None:
    written(tmp_path, config(tmp_path, POPULAR, ONCE))
    explained = of_run(tmp_path / "run", "once")  # it would raise if it learnt once more
    assert explained.lists.tolist() == of_run(tmp_path / "run", "popular").lists.tolist()


def test_a_run_can_be_written_without_its_lists(tmp_path: Path) -> None:
    written(tmp_path, config(tmp_path), recommendations=False)
    assert not (tmp_path / "run/recommendations.parquet").exists()
    with pytest.raises(UsageError, match=r"holds no recommendations.parquet.*run it again: harn"):
        rescore(tmp_path / "run")
    assert of_run(tmp_path / "run", "popular").lists.tolist() == [[1, 0], [1, 0], [1, 0]]


def test_data_that_changed_is_refused(tmp_path: Path) -> None:
    written(tmp_path, config(tmp_path))
    small.write(tmp_path, {"log.csv": small.LOG.replace("bob,d", "bob,b")})
    with pytest.raises(UsageError, match=r"data has changed since this run \(it differs in truth"):
        rescore(tmp_path / "run")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("folds = 3", "folds = 2", "says 2 folds, and the run had 3 folds"),
        ("folds = 3", "folds = 4", "says 4 folds, and the run had 3 folds"),
        ("k = 2", "k = 3", "k is 3, and the run had 2"),
        ("valid_days = 2", "valid_days = 1", "the data has changed since this run"),
    ],
)
def test_another_config_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    folds = {"split": {"strategy": "time", "valid_days": 2, "folds": 3}, "log": small.MANY}
    written(tmp_path, config(tmp_path, POPULAR, **folds))
    path = tmp_path / "run/config.toml"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        rescore(tmp_path / "run")


def test_a_cut_off_beyond_the_lists_is_refused(tmp_path: Path) -> None:
    written(tmp_path, config(tmp_path))
    with pytest.raises(UsageError, match=r"MAP@3 looks at 3 positions, and the lists.* up to 2;"):
        rescore(tmp_path / "run", [parse("MAP@3")])


@pytest.mark.parametrize("change", ["no column", "no lists"])
def test_a_table_of_something_else_is_refused(tmp_path: Path, change: str) -> None:
    written(tmp_path, config(tmp_path))
    path = tmp_path / "run/recommendations.parquet"
    rows = pl.read_parquet(path)
    rows = rows.drop("model") if change == "no column" else rows.with_columns(items=pl.lit("a"))
    rows.write_parquet(path)
    with pytest.raises(DataError, match="holds no lists of harness run: no column"):
        rescore(tmp_path / "run")


def test_the_command(here: Path, cli: Cli) -> None:
    small.write(here, {"log.csv": small.LOG, "exam.toml": small.toml()})
    assert cli("run", "exam.toml", "--out", "one")[0] == 0
    status, out, err = cli("score", "one", "--metric", "Recall@1", "--format", "csv")
    assert (status, err) == (0, "")
    header, row = out.splitlines()
    assert header.startswith("model,repeats,tuned,lift,p,verdict,error,Recall@1 mean")
    assert row.split(",")[7] == "0.3333333333333333"  # ann's b alone of three users
    is_refused(cli("score", "one", "--k", "3"), "a run knows its evaluation set")
    assert cli("run", "exam.toml", "--out", "two", "--no-recommendations")[0] == 0
    is_refused(cli("score", "two"), "holds no recommendations.parquet")
