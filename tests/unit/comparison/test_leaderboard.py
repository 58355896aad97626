"""Runs side by side: the best of each name by evaluation set, and why others are left out."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from run_files import change, document, write_run

import harness
from harness.comparison.compare import compare
from harness.comparison.leaderboard import Leaderboard, leaderboard
from harness.core.errors import DataError, UsageError

MONDAY, TUESDAY = "2026-11-02T10:00:00+00:00", "2026-11-03T10:00:00+00:00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of four runs: three on one evaluation set, one on another."""
    models = {
        "popular": {"MAP@2": [1.0, 0.0], "Recall@1": [1.0, 0.0]},
        "retry": {"MAP@2": [1.0, 0.5], "Recall@1": [0.5, 0.0]},
    }
    chance = {"Recall@1": {"mean": 0.125, "sd": 0.1}}
    monday = write_run(tmp_path / "monday", models, written=MONDAY, chance=chance)
    config = {"evaluation": {"seed": 7, "users": "all"}}
    later = {"popular": {"MAP@2": [0.5, 0.75], "Recall@1": [0.5, 0.0]}}
    write_run(tmp_path / "deep/tuesday", later, written=TUESDAY, config=config)
    write_run(tmp_path / "late", {"popular": {"NDCG@2": [1.0, 0.0]}}, written="2026-11-09")
    other_set = {"fingerprint": "e" * 64, "k": 1}
    other = write_run(tmp_path / "other", {"popular": {"MAP@1": [1.0, 0.0]}}, evaluation=other_set)
    better = {"verdict": "better", "lift": 2.0, "z": 3.0, "p": 0.01}
    change(monday, **small.put(document(monday), "models 1 vs_random", better))
    change(other, **small.put(document(other), "models 0 vs_random", better))
    return tmp_path


def order(board: Leaderboard) -> list[list[str]]:
    return [[entry.model for entry in group.entries] for group in board.groups]


def test_the_best_run_of_each_name_by_evaluation_set(folder: Path) -> None:
    """The set of the latest run is first; popular has 1/2 on Monday, then 5/8."""
    board = harness.leaderboard(folder)
    first, second = board.groups
    assert (first.metric, first.runs, first.without) == ("MAP@2", 2, 1)
    assert (first.users, first.k) == (2, 3)
    assert [(e.model, e.mean, Path(e.run).name, e.runs) for e in first.entries] == [
        ("retry", 3 / 4, "monday", 1),
        ("popular", 5 / 8, "tuesday", 2),
    ]
    differs = [(None, ()), (7, ("evaluation.users = all",))]
    assert [(e.seed, e.differs) for e in first.entries] == differs
    (entry,) = second.entries
    assert (second.metric, second.k, entry.settings) == ("MAP@1", 1, "Popular()")
    assert (entry.date, entry.verdict) == ("2026-11-01T10:00:00+00:00", "better")
    assert "2 runs, 1 without MAP@2 left out" in repr(board)
    assert repr(board).count("evaluation set  ") == 2
    assert set(board.to_pandas()["model"]) == {"popular", "retry"}
    assert json.loads(board.to_json())["groups"][0]["entries"][0]["ci95"] is None
    (group,) = leaderboard(folder, metric="Recall@1").groups
    by_chance = [(entry.model, entry.lift, entry.verdict) for entry in group.entries]
    assert by_chance == [("popular", 4.0, None), ("retry", 2.0, None)]  # 1/2 over 1/8, and 1/4


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sort": "date"}, [["popular", "retry"], ["popular"]]),  # the latest first
        ({"sort": "model"}, [["popular", "retry"], ["popular"]]),
        ({"sort": "run"}, [["popular", "retry"], ["popular"]]),  # deep/tuesday, monday
        ({"model": "RET"}, [["retry"]]),
        ({"metric": "MAP@1"}, [["popular"]]),
        ({"evaluation_set": "ee"}, [["popular"]]),
    ],
)
def test_sorted_and_filtered(folder: Path, options: Any, expected: list[list[str]]) -> None:
    assert order(leaderboard(folder, **options)) == expected


@pytest.mark.parametrize(
    ("below", "options", "words"),
    [
        ("", {"evaluation_set": "zzz"}, '"zzz…"; allowed: ffffff, eeeeee'),
        ("", {"metric": "MAP@3"}, '"MAP@3"; MAP@2'),
        ("", {"model": "popluar"}, '"popluar"; "popular"'),
        ("", {"sort": "best"}, "sort is 'best'; expected 'score', 'date', 'model' or 'run'"),
        ("", {"model": 3}, "model is 3; expected a valid string"),
        ("nowhere", {}, "not a folder"),
        ("empty", {}, "no run in this folder"),
    ],
)
def test_nothing_is_left(folder: Path, below: str, options: Any, words: str) -> None:
    (folder / "empty").mkdir()
    with refusal(UsageError, *words.split("; ")):
        leaderboard(folder / below, **options)


def test_a_run_without_a_date_and_runs_that_are_hidden_or_not_whole_yet(folder: Path) -> None:
    (folder / "other" / "environment.json").write_text("{}")
    board = leaderboard(folder)
    assert board.groups[-1].entries[0].date == ""
    for name in (".hidden", "run.part"):
        shutil.copytree(folder / "monday", folder / name)
        assert leaderboard(folder) == board


@pytest.mark.parametrize("name", ["result.json", "config.toml", "environment.json"])
def test_a_damaged_run_is_left_out_and_the_others_stand(folder: Path, name: str) -> None:
    (folder / "other" / name).write_text("[")
    board = leaderboard(folder)
    (reason,) = board.left_out
    assert (len(board.groups), f"other/{name}" in reason) == (1, True)
    assert "left out" in repr(board)


def test_nothing_in_a_run_steers_a_terminal(folder: Path) -> None:
    (folder / "other" / "environment.json").write_text(json.dumps({"written": "x\x1b[2J"}))
    record = small.put(document(folder / "other"), "evaluation fingerprint", "\x1b[2J")
    small.put(record, "models 0 metrics", {"M\x1b": {"mean": 0.5, "ci95": None}})
    change(folder / "other", **record | {"metrics": {"M\x1b": {"better": "higher"}}})
    text = leaderboard(folder).to_markdown()
    assert r"x�\[2J" in text
    assert "\x1b" not in text


# Which values of a metric are better.

MISSES = "mine:misses@1"
OWN = "def misses(hits, n_relevant, k):\n    return 1 - hits.any()\n\nmisses.better = 'lower'\n"


def of_own(folder: Path, better: str | None = "lower", **means: float) -> Path:
    """Return a run under `misses`, which an earlier version did not write the direction of."""
    small.write(folder, {"mine.py": OWN})
    models = {name: {MISSES: [mean, mean]} for name, mean in means.items()}
    write_run(folder, models, config={"evaluation": {"k": 1}})
    return change(folder, metrics={MISSES: {"better": better}} if better else None)


def test_the_lowest_is_best_and_no_code_of_the_run_is_read(tmp_path: Path) -> None:
    worse, best = of_own(tmp_path / "a", mine=0.5, bad=1.0), of_own(tmp_path / "b", mine=0.0)
    for run in (worse, best):
        (run / "mine.py").write_text("raise SystemExit('imported')")
    board = leaderboard(tmp_path)
    (group,) = board.groups
    assert group.better == "lower"
    entries = [(entry.model, entry.mean, entry.run, entry.runs) for entry in group.entries]
    assert entries == [("mine", 0, str(best), 2), ("bad", 1, str(worse), 1)]
    assert "lower is better" in repr(board)


def test_an_earlier_run_is_ranked_where_the_metric_is_ours(tmp_path: Path) -> None:
    models = {"good": {"Gini@1": 0.25, "MAP@1": [1.0]}, "bad": {"Gini@1": 0.75, "MAP@1": [0.0]}}
    change(write_run(tmp_path / "ours/one", models), metrics=None)
    for metric, better in (("Gini@1", "lower"), ("MAP@1", "higher")):
        board = leaderboard(tmp_path / "ours", metric=metric)
        assert (order(board), board.groups[0].better) == ([["good", "bad"]], better)
    run = of_own(tmp_path / "own/one", None, bad=1.0)
    with refusal(UsageError, MISSES, "does not say", f"harness run {run / 'config.toml'}"):
        leaderboard(tmp_path / "own")
    of_own(tmp_path / "own/two", good=0.0)
    board = leaderboard(tmp_path / "own")
    assert order(board) == [["good"]]
    assert f"left out  {run}: was scored by another version of the code" in repr(board)


def test_runs_by_another_source_than_the_latest_are_left_out(tmp_path: Path) -> None:
    for name, digest, date in (("a", "0", MONDAY), ("b", "1", TUESDAY), ("c", "1", MONDAY)):
        of_own(tmp_path / name, **{name: 0.5})
        (tmp_path / name / "environment.json").write_text(json.dumps({"written": date}))
        change(tmp_path / name, metrics={MISSES: {"better": "lower", "digest": digest * 64}})
    board = leaderboard(tmp_path)
    assert order(board) == [["b", "c"]]
    (reason,) = board.left_out
    assert f"{tmp_path / 'a'}: was scored by another version of the code of {MISSES} than" in reason
    assert f"; run it again: harness run {tmp_path / 'a'}" in reason


def test_an_own_metric_is_one_wherever_a_config_names_its_file(tmp_path: Path) -> None:
    """The config of a run folder names the file with its folder."""
    elsewhere = f"/home/ann/{MISSES}"
    for name, metric, mean in (("a", elsewhere, 0.25), ("b", MISSES, 0.5)):
        write_run(tmp_path / name, {name: {metric: [mean, mean]}})
        change(tmp_path / name, metrics={metric: {"better": "lower"}})
    for asked in (None, MISSES, elsewhere):
        board = leaderboard(tmp_path, metric=asked)
        assert order(board) == [["a", "b"]]
    assert [group.metric for group in board.groups] == [MISSES]


def test_a_run_of_the_other_direction_is_left_out_of_the_latest(tmp_path: Path) -> None:
    """The function's `better` was changed after the first run."""
    first = of_own(tmp_path / "first", "higher", good=0.0, bad=1.0)
    of_own(tmp_path / "second", good=0.0)
    (tmp_path / "second/environment.json").write_text(json.dumps({"written": TUESDAY}))
    board = leaderboard(tmp_path)
    assert order(board) == [["good"]]
    (reason,) = board.left_out
    assert f"{first}: was scored by another version of the code of {MISSES}" in reason
    with refusal(DataError, "higher is better", "now says lower", "harness run"):
        compare(first)
