"""One small run with models of every kind: its record, its folder, its tables, read many times."""

import json
import math
import statistics
import sys
import tomllib
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
import small
from conftest import Cli, is_refused, refusal, tells
from small import POPULAR, timeless

import harness
from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.experiment.explain import of_run
from harness.experiment.list_table import UNKNOWN
from harness.experiment.rescore import rescore
from harness.experiment.result import ModelResult, Result
from harness.experiment.run import run
from harness.experiment.run_folder import is_run
from harness.experiment.submit import submit
from harness.metrics import parse
from harness.stats.chance import Verdict

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
    result: Result
    folder: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The run; its folder is not to be written to."""
    here = tmp_path_factory.mktemp("plain")
    rules = {"data": {"path": "../logs"}, "evaluation": {"metrics": METRICS}}
    text = small.toml(*MODELS, **rules)
    files = {"plugged.py": PLUGGED, "lists.csv": LISTS, "shop.toml": text}
    small.write(here / "configs", files)
    small.write(here / "logs", {"log.csv": small.LOG})
    config = config_.read(here / "configs" / "shop.toml")
    result = run(here / "configs" / "shop.toml")
    assert isinstance(result, Result)
    result.write(here / "runs" / "deep" / "one")
    return Done(config, result, here / "runs" / "deep" / "one")


def model(of: Done, name: str) -> ModelResult:
    return next(one for one in of.result.models if one.name == name)


def values(result: Result, name: str, metric: str = "MAP@2") -> list[list[float]]:
    table = next(one for one in result.models if one.name == name).scores.values
    return next(v.tolist() for m, v in table.items() if str(m) == metric)


def copied(of: Done, folder: Path, **texts: tuple[str, str]) -> Path:
    """Return a copy of the run's folder with other words in some files."""
    small.write(folder, {})
    folder.mkdir(exist_ok=True)
    for path in of.folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for name, (old, new) in texts.items():
        (path,) = folder.glob(f"{name}.*")
        assert path.read_text().count(old) >= 1
        path.write_text(path.read_text().replace(old, new))
    return folder


# Scores.


def test_scores_by_hand(done: Done) -> None:
    """Popular says b, a; the latest first are d, b; the file has a stranger and then b for ann."""
    assert done.result.evaluation_set.user_ids.to_list() == ["ann", "bob", "cid"]
    assert values(done.result, "popular") == [[1, 0, 1 / 2]]
    assert values(done.result, "popular", "Recall@2") == [[1, 0, 1]]
    assert model(done, "popular").metrics["NDCG@2"].mean == pytest.approx(
        (1 + 1 / math.log2(3)) / 3, abs=1e-15
    )
    assert values(done.result, "mine") == [[1 / 2, 1, 0]]
    assert values(done.result, "last day") == [[0, 1, 0]]
    assert values(done.result, "file") == [[1 / 2, 0, 1]]
    # One true item of four candidates: 1/4 at the first place, and half of 1/4 at the second.
    assert done.result.chance["MAP@2"].mean == pytest.approx(3 / 8, abs=1e-15)


def test_the_best_stands_first_and_equals_keep_their_order(done: Done) -> None:
    order = [one.name for one in done.result.models]
    equal = ["popular", "mine", "file", "with params", "in c", "once"]
    assert [name for name in order if name in equal] == equal
    means = [one.metrics["MAP@2"].mean for one in done.result.models]
    assert means == sorted(means, reverse=True)


def test_the_figure_of_repeats_is_their_mean_and_has_their_spread(done: Done) -> None:
    rows = values(done.result, "random")
    means = [statistics.fmean(row) for row in rows]
    figure = model(done, "random").metrics["MAP@2"]
    assert len({tuple(row) for row in rows}) > 1
    assert figure.mean == pytest.approx(statistics.fmean(means), abs=1e-15)
    assert figure.sd_repeats == pytest.approx(statistics.stdev(means), abs=1e-15)
    assert model(done, "popular").metrics["MAP@2"].sd_repeats is None


def test_intervals_of_three_users(done: Done) -> None:
    # 1, 0, 1/2: s = 1/2; with 2 degrees of freedom t has the closed form (2p-1)·√(1/(2p(1-p)))
    half = 0.95 * math.sqrt(1 / (2 * 0.975 * 0.025)) * 0.5 / math.sqrt(3)
    figure = model(done, "popular").metrics["MAP@2"]
    # The inverse of t in SciPy 1.13 is good to 2e-11.
    assert figure.ci95_t == pytest.approx((0.5 - half, 0.5 + half), abs=1e-10)
    assert figure.ci95 == (0, 1)  # no skewness; values are from 0 to 1
    assert figure.ci95_bootstrap == (0, 1)  # ann alone, or bob alone, in 9 % each


def test_notes(done: Done) -> None:
    assert done.result.notes == (
        "no exact chance value is known for MAP(divisor=hits)@2",
        'model "file": 1 evaluated user has no list, and scores 0',
        'model "file": 1 position holds an item that is no candidate, and cannot hit',
        'model "with params": its 2 repeats are all the same: it has no seed and takes nothing '
        "from draws; leave repeats out, or take random numbers from draws",
    )


def test_the_verdict_is_on_the_first_metric_or_on_none(tmp_path: Path) -> None:
    rules = {"metrics": ["MAP(divisor=hits)@2", "Recall@2"]}
    found = run(small.config(tmp_path, evaluation=rules))
    assert list(found.chance) == ["Recall@2"]
    assert found.models[0].vs_random is None
    assert found.to_dict()["models"][0]["vs_random"] is None
    found = run(small.config(tmp_path, evaluation={"metrics": rules["metrics"][::-1]}))
    verdict = found.models[0].vs_random
    assert verdict is not None
    assert verdict.lift == pytest.approx((2 / 3) / (1 / 2), abs=1e-15)


CHANGES = """
import numpy as np

class Changes:
    def fit(self, train):
        matrix = train.matrix
        matrix.data = np.zeros_like(matrix.data)
        train.frame[0, "item"] = "dee"
        train.user_ids[0] = "dee"
        return self

    def recommend(self, users, k, draws, exclude=None):
        exclude.indices[:] = 0
        exclude.data[:] = False
        return np.full((len(users), k), -1)
"""


def test_what_a_model_changes_the_next_one_does_not_see(tmp_path: Path) -> None:
    """Of what they have not had, the latest first are d, c for ann, d, a for bob, b, c for cid."""
    models: list[dict[str, Any]] = [
        {"name": "changes", "use": "plugged:Changes"},
        {"name": "mine", "use": "plugged:LatestFirst"},
        {"name": "cosine", "use": "baselines.item_knn:ItemKNN", "params": {"counts": True}},
    ]
    small.write(tmp_path, {"plugged.py": CHANGES + small.LATEST_FIRST})
    log = small.LOG.replace("ann,b,2020-01-08", "ann,c,2020-01-08")
    sections: dict[str, Any] = {"log": log, "evaluation": {"seen_items": "drop"}}
    before = run(small.config(tmp_path, *models[1:], **sections))
    after = run(small.config(tmp_path, *models, **sections))
    assert isinstance(before, Result)
    assert isinstance(after, Result)
    assert (after.failed, values(after, "mine")) == ((), [[1 / 2, 1, 0]])
    assert values(before, "cosine") == values(after, "cosine")


def test_a_class_that_is_not_there_is_told_before_anything_is_read(tmp_path: Path) -> None:
    settings = small.config(tmp_path, {"name": "mine", "use": "baselines.popular:Popula"})
    (tmp_path / "log.csv").unlink()
    with refusal(UsageError, 'model "mine"', '"Popula"; did you mean "Popular"'):
        run(settings)


def test_events_of_another_window_are_noted(tmp_path: Path) -> None:
    split = {"strategy": "time", "valid_days": 1, "test_days": 4}
    everyone = {"require_hit": False, "users": "all"}
    found = run(small.config(tmp_path, split=split, evaluation=everyone))
    assert found.notes == ("3 events lie in another window and are left out",)


def test_a_quick_run_says_nothing_and_has_times_of_every_step(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = run(small.config(tmp_path), progress=True)
    assert capfd.readouterr() == ("", "")
    assert list(found.seconds) == ["read", "evaluation set", "users", "compare"]
    assert list(found.models[0].seconds) == ["fit", "recommend", "score"]
    assert min(found.seconds.values()) >= 0


# The record.


def test_the_document(done: Done) -> None:
    """Its shape is docs/schema, which the tests of schemas hold it to."""
    document = json.loads(done.result.to_json())
    assert document["schema"] == 1
    evaluation = document["evaluation"]
    assert (evaluation["k"], evaluation["users"], evaluation["candidates"]) == (2, 3, 4)
    assert [step["users"] for step in evaluation["funnel"]] == [3, 3, 3]
    assert evaluation["window"] == "1 day from 2020-01-08"


def recorded(of: Done) -> dict[str, Any]:
    return {one["name"]: one for one in json.loads(of.result.to_json())["models"]}


def test_a_model_has_its_class_and_all_its_parameters(done: Done) -> None:
    """Defaults that no config could hold are left out: a function, and a table with a number."""
    found = recorded(done)["with params"]
    assert found["use"] == f"{done.config.folder / 'plugged.py'}:Mine"  # as config.toml has it
    assert (found["lists"], found["of"], found["repeats"]) == ([], [], 2)
    assert found["params"] == {
        "days": 3, "since": "2020-01-02", "at": "2020-05-06", "extra": ["-inf"],
        "most": "inf", "of": ["a", 1.5], "name": None, "flag": False,
    }  # fmt: skip
    assert recorded(done)["in c"]["params"] == {}


def test_one_that_is_made_of_others_names_them_and_a_file_has_no_class(done: Done) -> None:
    found = recorded(done)
    assert found["both"]["of"] == ["popular", "file"]
    assert "models" not in found["both"]["params"]
    assert found["popular"]["params"].keys() == {
        "window_days", "half_life_days", "weights", "values",
    }  # fmt: skip
    file = found["file"]
    assert (file["use"], file["params"]) == (None, {})
    assert file["lists"] == [str(done.config.folder / "lists.csv")]


def test_what_is_no_number_is_null_or_refused(done: Done) -> None:
    nothing = Verdict(None, 0.0, 1.0, "no better than chance")
    odd = done.result.models[0].model_copy(update={"vs_random": nothing})
    document = json.loads(replace(done.result, models=(odd, *done.result.models[1:])).to_json())
    assert document["models"][0]["vs_random"]["lift"] is None
    with pytest.raises(ValueError, match="finite number"):
        replace(done.result, seconds={"read": math.nan}).to_json()


@pytest.mark.parametrize(
    "line", ["report run", "compare run", "leaderboard .", "score run", "explain run --user ann"]
)
def test_a_run_of_before_models_were_recorded_is_read(
    done: Done, cli: Cli, here: Path, line: str
) -> None:
    path = copied(done, here / "run") / "result.json"
    document = json.loads(path.read_text())
    for one in document["models"]:
        for key in ("use", "lists", "of", "params"):
            del one[key]
    path.write_text(json.dumps(document))
    which = ["--model", "popular"] if line.startswith("explain") else []
    tells(cli(*line.split(), *which), 0)


# The folder.


def test_the_folder(done: Done) -> None:
    tables = ["per_user.parquet", "recommendations.parquet", "users.parquet"]
    names = sorted(["config.toml", "environment.json", "result.json", *tables])
    assert sorted(p.name for p in done.folder.iterdir()) == names
    assert (done.folder / "result.json").read_text() == done.result.to_json() + "\n"
    assert [p.name for p in done.folder.parent.iterdir()] == ["one"]


def test_means_of_users_are_the_documents(done: Done) -> None:
    frame = pl.read_parquet(done.folder / "per_user.parquet")
    assert frame.columns == ["user", "model", "repeat", *METRICS]
    users = frame.filter(model="popular", repeat=0)["user"].cast(pl.String)
    assert users.to_list() == ["ann", "bob", "cid"]
    assert len(frame) == 3 * sum(one.get("repeats", 1) for one in MODELS)
    for one in json.loads(done.result.to_json())["models"]:
        for metric, figure in one["metrics"].items():
            repeats = range(one["repeats"])
            rows = [frame.filter(model=one["name"], repeat=r)[metric].to_list() for r in repeats]
            assert figure["mean"] == pytest.approx(np.mean(rows), abs=1e-15)


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
    assert repeated.list_rows().equals(done.result.list_rows())


def test_the_environment(done: Done) -> None:
    found = json.loads((done.folder / "environment.json").read_text())
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["numpy"] == np.__version__
    assert found["submission-harness"] == version("submission-harness")


def test_a_failure_in_the_middle_leaves_all_as_it_was(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done.result.write(tmp_path / "one")
    (tmp_path / "one" / "result.json").write_text("earlier")

    def fails(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fails)
    with refusal(UsageError, "disk full"):
        done.result.write(tmp_path / "one")
    assert (tmp_path / "one" / "result.json").read_text() == "earlier"
    assert len(list((tmp_path / "one").iterdir())) == 6


def test_an_earlier_run_and_an_empty_folder_are_replaced_and_no_other(
    done: Done, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    done.result.write(tmp_path / "run")
    (tmp_path / "run" / "result.json").write_text("{}")
    done.result.write(tmp_path / "run")
    assert (tmp_path / "run" / "result.json").stat().st_size > 2
    small.write(tmp_path, {"mine/thesis.doc": "", "file": "", "run/note.txt": "mine"})
    for name in ("mine", "file", "run"):
        with refusal(UsageError, f"{name}: exists and is no run folder", "--out"):
            done.result.write(tmp_path / name)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.doc"]
    assert (tmp_path / "run" / "note.txt").read_text() == "mine"
    with refusal(UsageError, f"{tmp_path}/file/run: cannot be written"):
        done.result.write(tmp_path / "file" / "run")


def test_what_a_run_folder_is(tmp_path: Path) -> None:
    small.write(tmp_path, {"other/x": "", "run/result.json": ""})
    (tmp_path / "empty").mkdir()
    found = {name: is_run(tmp_path / name) for name in ("empty", "other", "run", "none")}
    assert found == {"empty": True, "other": False, "run": True, "none": False}


# Lists.


def test_lists_stand_in_a_table_best_first(done: Done) -> None:
    """b, twice bought, and then a, by its id; the file has an item that nobody knows."""
    rows = done.result.list_rows().cast({"user": pl.String, "items": pl.List(pl.String)})
    lists = {
        name: dict(rows.filter(model=name, repeat=0).select("user", "items").iter_rows())
        for name in ("popular", "file")
    }
    assert lists["popular"] == {"ann": ["b", "a"], "bob": ["b", "a"], "cid": ["b", "a"]}
    assert lists["file"] == {"ann": [UNKNOWN, "b"], "bob": [], "cid": ["a"]}
    table = done.result.recommendations("file")
    assert table.to_dict("list") == {
        "user": ["ann", "ann", "cid"], "rank": [1, 2, 1], "item": [UNKNOWN, "b", "a"],
    }  # fmt: skip
    columns = ["model", "repeat", "user", "rank", "item"]
    assert done.result.recommendations().columns.to_list() == columns


@pytest.mark.parametrize(
    ("name", "repeat", "words"),
    [
        ("randm", None, 'no model "randm" in this run; did you mean "random"?'),
        ("random", 3, 'model "random" has no repeat 3; the last is 2'),
        ("random", None, "has 3 repeats with lists of their own; say which, such as repeat=0"),
        (None, 1, "repeat = 1 goes with a model: name it first"),
    ],
)
def test_lists_of_another_model_are_refused(
    done: Done, name: str | None, repeat: int | None, words: str
) -> None:
    with refusal(UsageError, words):
        done.result.recommendations(name, repeat=repeat)


def test_values_per_user_have_the_shape_of_evaluate(done: Done) -> None:
    truth = {"ann": ["b"], "bob": ["d"], "cid": ["a"]}
    own, lists = done.result.per_user("mine"), done.result.recommendations("mine")
    metrics = own.columns.to_list()
    expected = harness.evaluate(lists, truth, metrics, rank="rank", per_user=True)
    assert own.index.name == "user"
    assert own.to_dict() == expected.to_dict()
    assert done.result.per_user().index.names == ["model", "repeat", "user"]


def test_of_several_repeats_a_user_has_the_mean(done: Done) -> None:
    each = [done.result.per_user("random", repeat=n)["MAP@2"].to_numpy() for n in range(3)]
    mean = done.result.per_user("random")["MAP@2"].to_numpy()
    assert mean == pytest.approx(np.mean(each, axis=0))


def test_other_metrics_are_those_of_a_run_that_asks_for_them(done: Done, tmp_path: Path) -> None:
    """Nothing learns again: `once` would raise."""
    metrics = ["Recall@1", "NDCG@2", "Coverage@2", "Novelty@2"]
    (done.config.folder / "learnt").touch()
    found = rescore(done.folder, [parse(metric) for metric in metrics])
    differ = "bridge", "notes"  # leaderboards know of no others
    same = rescore(done.folder)
    assert timeless(same.to_dict(), *differ) == timeless(done.result.to_dict(), *differ)
    assert set(same.notes) == set(done.result.notes)
    (done.config.folder / "learnt").unlink(missing_ok=True)
    text = small.toml(*MODELS, data={"path": "../logs"}, evaluation={"metrics": metrics})
    small.write(done.config.folder, {"other.toml": text})
    again = run(done.config.folder / "other.toml")
    assert timeless(found.to_dict(), *differ) == timeless(again.to_dict(), *differ)


def test_explaining_needs_no_model_to_learn(done: Done) -> None:
    (done.config.folder / "learnt").touch()
    once = of_run(done.folder, "once")
    assert once.lists.tolist() == [[1, 0]] * 3
    found = of_run(done.folder, "file")
    assert found.items.gather(found.lists[0]).to_list() == ["(an item that nobody knows)", "b"]
    assert found.solution.users.to_list() == ["ann", "bob", "cid"]


def test_a_run_without_its_lists(tmp_path: Path) -> None:
    """Models are asked again, and must answer as they did."""
    small.write(tmp_path, {"lists.csv": LISTS})
    found = run(small.config(tmp_path, POPULAR, {"name": "file", "lists": "lists.csv"}))
    found.write(tmp_path / "run", recommendations=False)
    assert not (tmp_path / "run/recommendations.parquet").exists()
    with refusal(UsageError, "holds no recommendations.parquet", "run it again: harn"):
        rescore(tmp_path / "run")
    assert of_run(tmp_path / "run", "popular").lists.tolist() == [[1, 0]] * 3
    small.write(tmp_path, {"lists.csv": LISTS.replace("cid,a", "cid,b")})
    with refusal(UsageError, 'model "file" gives other lists than in this run'):
        of_run(tmp_path / "run", "file")


def test_lists_of_a_model_with_a_removed_parameter_are_scored(done: Done, tmp_path: Path) -> None:
    """As a run of an earlier version holds it: its lists are there, so nothing is made."""
    old = copied(done, tmp_path / "old", config=("window_days = 30", "max_voters = 20"))
    found = {one.name: one.metrics for one in rescore(old).models}
    assert found == {one.name: one.metrics for one in done.result.models}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("k = 2", "k = 3", "k is 3, and the run had 2"),
        ("valid_days = 1", "valid_days = 5", "the data has changed since this run"),
        ("log.csv", "other.csv", "data has changed since this run (it differs in truth"),
    ],
)
def test_another_config_or_other_data_are_refused(
    done: Done, tmp_path: Path, old: str, new: str, words: str
) -> None:
    log = done.config.folder.parent / "logs"
    small.write(log, {"other.csv": small.LOG.replace("bob,d", "bob,b")})
    with refusal(UsageError, words):
        rescore(copied(done, tmp_path / "run", config=(old, new)))


def test_a_cut_off_beyond_the_lists_is_refused(done: Done) -> None:
    with refusal(UsageError, "MAP@3 looks at 3 positions, and the lists", " up to 2;"):
        rescore(done.folder, [parse("MAP@3")])


@pytest.mark.parametrize("change", ["no column", "no lists"])
def test_a_table_of_something_else_is_refused(done: Done, tmp_path: Path, change: str) -> None:
    path = copied(done, tmp_path / "run") / "recommendations.parquet"
    rows = pl.read_parquet(path)
    rows = rows.drop("model") if change == "no column" else rows.with_columns(items=pl.lit("a"))
    rows.write_parquet(path)
    with refusal(DataError, "holds no lists of harness run: no column"):
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


# Submissions.


def test_lists_of_a_file_as_a_submission_score_the_same(done: Done, tmp_path: Path) -> None:
    """An item of the log that is no candidate may be submitted; one that nobody knows may not."""
    log = small.LOG + "dee,new,2020-01-08\n"
    small.write(tmp_path, {"lists.csv": "user,items\nann,new b\nbob,a\n"})
    settings = small.config(tmp_path, {"name": "file", "lists": "lists.csv"}, POPULAR, log=log)
    submit(settings, "file", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "user,item\nann,new b\nbob,a\ncid,\n"
    scored = harness.score(tmp_path / "out.csv", config=settings)
    ours = {one.name: one for one in run(settings).models}["file"]
    assert scored.metrics["MAP@2"].mean == ours.metrics["MAP@2"].mean == 1 / 2 / 3
    with refusal(UsageError, 'model "file": its lists hold items that neither'):
        submit(done.config, "file", tmp_path / "other.csv")
    with refusal(UsageError, "lists.csv"):
        submit(settings, "file", tmp_path / "lists.csv")
