"""Runs side by side: the best of each name, by evaluation set, and what cannot be read is told."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from small import POPULAR

import harness
from harness.core.errors import UsageError
from harness.experiment.leaderboard import Leaderboard, leaderboard
from harness.experiment.run import run

LOG = small.LOG.replace("2020-01-04", "2020-01-06")
LAST = {**POPULAR, "params": {"window_days": 3}}
OTHER = {"name": "again", "use": "baselines.repurchase:Repurchase"}


def ran(folder: Path, name: str, *models: Any, written: str, **evaluation: Any) -> None:
    asked = {"metrics": ["MAP@2", "Recall@1"], **evaluation}
    target = folder / "runs" / name
    run(small.config(folder, *models, log=LOG, evaluation=asked)).write(target)
    environment = json.loads((target / "environment.json").read_text())
    (target / "environment.json").write_text(json.dumps(environment | {"written": written}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three runs: two on one evaluation set, one on another."""
    ran(tmp_path, "monday", POPULAR, OTHER, written="2026-11-02T10:00:00+00:00")
    ran(tmp_path, "deep/tuesday", LAST, written="2026-11-03T10:00:00+00:00", seed=7)
    ran(tmp_path, "other", POPULAR, written="2026-11-01T10:00:00+00:00", k=1, metrics=["MAP@1"])
    return tmp_path / "runs"


def models(found: Leaderboard) -> list[list[str]]:
    return [[entry.model for entry in group.entries] for group in found.groups]


def test_the_best_run_of_each_name_by_evaluation_set(folder: Path) -> None:
    """AP@2 of the popular b, a: 1, 0, 1/2. Of the last three days (d, then b and c) it is less."""
    first, second = harness.leaderboard(folder).groups
    assert (first.metric, first.runs, first.users, first.k) == ("MAP@2", 2, 3, 2)
    assert (second.metric, second.runs, second.k) == ("MAP@1", 1, 1)
    best = next(entry for entry in first.entries if entry.model == "popular")
    runs = {
        name: json.loads((folder / name / "result.json").read_text())["models"]
        for name in ("monday", "deep/tuesday")
    }
    means = {
        name: next(m for m in found if m["name"] == "popular")["metrics"]["MAP@2"]["mean"]
        for name, found in runs.items()
    }
    assert best.mean == max(means.values())
    assert best.run == str(folder / max(means, key=lambda name: means[name]))
    assert best.runs == 2
    assert [entry.mean for entry in first.entries] == sorted(
        (entry.mean for entry in first.entries), reverse=True
    )


def test_chance_is_that_of_the_metric_shown(folder: Path) -> None:
    (group,) = leaderboard(folder, metric="Recall@1").groups
    for entry in group.entries:
        run = json.loads((Path(entry.run) / "result.json").read_text())
        floor = run["chance"]["Recall@1"]["mean"]
        assert entry.lift == pytest.approx(entry.mean / floor)
        assert entry.verdict is None  # a run has it of its first metric


def test_the_metric_of_most_runs_is_shown_and_the_others_are_counted(folder: Path) -> None:
    written = "2026-11-09T10:00:00+00:00"
    ran(folder.parent, "late", POPULAR, written=written, metrics=["NDCG@2"])
    first = leaderboard(folder).groups[0]
    assert (first.metric, first.runs, first.without) == ("MAP@2", 2, 1)
    assert "2 runs, 1 without MAP@2 left out" in repr(leaderboard(folder))


def test_what_is_told_of_an_entry(folder: Path) -> None:
    (group,) = leaderboard(
        folder, evaluation_set=leaderboard(folder).groups[1].fingerprint[:8]
    ).groups
    (entry,) = group.entries
    assert (entry.date, entry.seed, entry.settings) == (
        "2026-11-01T10:00:00+00:00", 42, "Popular()"
    )  # fmt: skip
    assert entry.differs == ()


def test_where_the_config_differs_from_the_leaders(tmp_path: Path) -> None:
    ran(tmp_path, "one", POPULAR, written="2026-11-01T10:00:00+00:00")
    ran(tmp_path, "two", OTHER, written="2026-11-02T10:00:00+00:00", users="all")
    (group,) = leaderboard(tmp_path / "runs").groups
    assert [entry.differs for entry in group.entries].count(()) == 1
    (differs,) = (entry.differs for entry in group.entries if entry.differs)
    assert differs in [("evaluation.users = all",), ("evaluation.users = seen",)]


@pytest.mark.parametrize(("sort", "falls"), [("date", True), ("model", False), ("run", False)])
def test_sorting(folder: Path, sort: Any, falls: bool) -> None:
    keys = [getattr(entry, sort) for entry in leaderboard(folder, sort=sort).groups[0].entries]
    assert keys == sorted(keys, reverse=falls)


def test_filters(folder: Path) -> None:
    assert models(leaderboard(folder, model="AGA")) == [["again"]]
    assert models(leaderboard(folder, metric="MAP@1")) == [["popular"]]
    assert leaderboard(folder, metric="Recall@1").groups[0].metric == "Recall@1"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"evaluation_set": "zzz"}, ['"zzz…"', "there are"]),
        ({"metric": "MAP@3"}, ['"MAP@3"', "MAP@2"]),
        ({"model": "popluar"}, ['"popluar"', '"popular"']),
    ],
)
def test_nothing_is_left(folder: Path, options: Any, named: list[str]) -> None:
    with refusal(UsageError, *named):
        leaderboard(folder, **options)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("result.json", "{"),
        ("result.json", '{"evaluation": {"fields": {}, "fingerprint": "f"}, "models": []}'),
        ("config.toml", "= nothing"),
        ("environment.json", "[]"),
    ],
)
def test_a_damaged_run_is_told_and_the_others_stand(folder: Path, name: str, content: str) -> None:
    (folder / "other" / name).write_text(content)
    found = leaderboard(folder)
    assert len(found.groups) == 1
    (told,) = found.left_out
    assert "other" in told
    assert "left out" in repr(found)


@pytest.mark.parametrize("name", [".other.1-0.0.part", ".hidden", "run.part"])
def test_runs_that_are_hidden_or_not_whole_yet_are_passed_over(folder: Path, name: str) -> None:
    before = harness.leaderboard(folder)
    shutil.copytree(folder / "monday", folder / name)
    assert harness.leaderboard(folder) == before


def test_nothing_that_a_run_says_of_itself_steers_a_terminal(folder: Path) -> None:
    (folder / "other" / "environment.json").write_text(json.dumps({"written": "x\x1b[2J"}))
    path = folder / "other" / "result.json"
    content = json.loads(path.read_text())
    content["evaluation"]["fingerprint"] = "\x1b[2J"
    content["metrics"] = {"M\x1b": {"better": "higher"}}
    (model,) = content["models"]
    model["metrics"] = {"M\x1b": model["metrics"]["MAP@1"]}
    path.write_text(json.dumps(content))
    text = leaderboard(folder).to_markdown()
    assert "x�[2J" in text
    assert "\x1b" not in text


def test_a_run_with_a_verdict_that_there_is_not_is_left_out(folder: Path) -> None:
    path = folder / "other" / "result.json"
    content = json.loads(path.read_text())
    content["models"][0]["vs_random"]["verdict"] = "\x1b"
    path.write_text(json.dumps(content))
    (left_out,) = leaderboard(folder).left_out
    assert "models.0.vs_random.verdict" in left_out
    assert "\x1b" not in left_out


def test_a_run_without_a_date_has_that_of_its_file(folder: Path) -> None:
    (folder / "other" / "environment.json").write_text("{}")
    os.utime(folder / "other" / "result.json", (0, 0))
    assert leaderboard(folder).groups[-1].entries[0].date == "1970-01-01T00:00:00+00:00"


def test_no_folder_and_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        leaderboard(tmp_path / "runs")
    with pytest.raises(UsageError, match="holds no run"):
        leaderboard(tmp_path)


def test_a_table_an_evaluation_set_and_its_other_forms(folder: Path) -> None:
    found = leaderboard(folder)
    assert repr(found).count("evaluation set  ") == 2
    assert set(found.to_pandas()["model"]) == {"popular", "again"}
    assert json.loads(json.dumps(found.to_dict()))["groups"][0]["entries"][0]["ci95"] is not None
    assert found._repr_html_().count("<table>") == 2


def test_folds_have_columns(tmp_path: Path) -> None:
    """On the 8th all want b, on the 9th a; popular puts a first: 0 and 1, and 1/2 is the mean."""
    split = {"strategy": "time", "valid_days": 1, "folds": 2}
    asked = {"k": 1, "metrics": ["MAP@1"]}
    log = small.TO_TUNE + "dan,a,2020-01-01\neve,a,2020-01-01\n"
    config = small.config(tmp_path, log=log, split=split, evaluation=asked)
    run(config).write(tmp_path / "runs" / "folded")
    found = leaderboard(tmp_path / "runs")
    (entry,) = found.groups[0].entries
    assert (entry.mean, entry.folds) == (0.5, (0.0, 1.0))
    assert [found.records()[0][f"fold {at}"] for at in (1, 2)] == [0.0, 1.0]
    (sheet,) = found.sheets()
    assert [sheet.titles[at] for at, cell in enumerate(sheet.rows[0]) if cell == "1.0000"] == [
        "fold 2"
    ]
    assert {sheet.titles[at] for at in sheet.first_out} == {"fold 1", "fold 2"}
