"""A run's record says which way each metric is better, and nothing ranks by a guess of it."""

import json
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from typer.testing import CliRunner

from harness.cli import app
from harness.core.errors import DataError, UsageError
from harness.experiment.compare import compare
from harness.experiment.leaderboard import Leaderboard, leaderboard
from harness.experiment.run import run
from harness.metrics import is_own, parse

OWN = """
def misses(hits, n_relevant, k):
    return 1 - hits.any()

misses.better = "lower"

def width(hits, n_relevant, k):
    return 1 - hits.any()

width.better = "neither"

def found(hits, n_relevant, k):
    return hits.any()

def odd(hits, n_relevant, k):
    return 0

odd.better = "less"
"""
USERS = [f"u{n}" for n in range(8)]
LOG = "".join(f"{u},{i},{day}\n" for u in USERS for i, day in (("a", 1), ("c", 1), ("a", 9)))
"""Every user's truth is a: the good lists hit for each of the eight, the bad ones for none."""
MODELS = [{"name": "bad", "lists": "bad.csv"}, {"name": "good", "lists": "good.csv"}]
GINI = "Gini@1"


def ran(folder: Path, name: str, *metrics: str, models: Any = MODELS, **more: Any) -> Path:
    """Return the folder of a run of models."""
    folder.mkdir(parents=True, exist_ok=True)
    log = "user,item,time\n" + LOG.replace(",1\n", ",2020-01-01\n").replace(",9\n", ",2020-01-09\n")
    (folder / "mine.py").write_text(more.get("own", OWN))
    for model, item in (("good", "a"), ("bad", "c")):
        rows = "".join(f"{user},{item}\n" for user in USERS)
        (folder / f"{model}.csv").write_text("user,items\n" + rows)
    asked = {"k": 1, "metrics": list(metrics)}
    target = folder / "runs" / name
    config = small.config(folder, *models, log=log, evaluation=asked, compare={"resamples": 100})
    run(config).write(target)
    return target


def document(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text())


def put(folder: Path, found: Any) -> None:
    (folder / "result.json").write_text(json.dumps(found))


def of_an_earlier_version(folder: Path) -> Path:
    """Return a run whose record does not say which way metrics are better."""
    put(folder, {name: part for name, part in document(folder).items() if name != "metrics"})
    return folder


def order(found: Leaderboard) -> list[str]:
    (group,) = found.groups
    return [entry.model for entry in group.entries]


BETTER = {
    "mine:misses@1": "lower",
    "mine:width@1": "neither",
    "mine:found@1": "higher",
    "MAP@1": "higher",
    GINI: "lower",
    "Novelty@1": "neither",
}


def test_the_record_says_which_way_a_metric_is_better_and_ranks_so_everywhere(
    tmp_path: Path,
) -> None:
    folder = ran(tmp_path, "one", *BETTER)
    record = document(folder)
    assert record["metrics"] == {name: {"better": better} for name, better in BETTER.items()}
    assert [model["name"] for model in record["models"]] == ["good", "bad"]
    assert [m["metrics"]["mine:misses@1"]["mean"] for m in record["models"]] == [0, 1]
    compared = compare(folder).comparison
    assert list(compared.means) == ["good", "bad"]
    (pair,) = compared.pairs
    assert (pair.one, pair.difference, pair.verdict, pair.wins) == ("good", -1, "better", 8)
    # No code of the run is read for its leaderboard.
    (tmp_path / "mine.py").write_text("raise SystemExit('imported')")
    board = leaderboard(tmp_path / "runs")
    assert order(board) == ["good", "bad"]
    assert board.groups[0].better == "lower"
    assert "lower is better" in repr(board)


def test_the_best_of_several_runs_is_that_with_the_least(tmp_path: Path) -> None:
    ran(tmp_path, "worse", "mine:misses@1", models=[{"name": "mine", "lists": "bad.csv"}])
    ran(tmp_path, "best", "mine:misses@1", models=[{"name": "mine", "lists": "good.csv"}])
    (entry,) = leaderboard(tmp_path / "runs").groups[0].entries
    assert (entry.mean, Path(entry.run).name, entry.runs) == (0, "best", 2)


@pytest.mark.parametrize("place", ["Gini(x)", "Gini@1", "my data (new) @home"])
def test_a_path_that_looks_like_a_metric_is_a_path(tmp_path: Path, place: str) -> None:
    here = tmp_path / place
    ran(here, "one", f"{here / 'mine.py'}:found@1", "MAP@1")
    assert order(leaderboard(here / "runs")) == ["good", "bad"]


def test_an_earlier_run_without_the_record_is_ranked_where_the_metric_is_ours(
    tmp_path: Path,
) -> None:
    """Lists of one item each: all places go to a (or to c), so both have the same Gini."""
    folder = of_an_earlier_version(ran(tmp_path, "one", "MAP(divisor=trec)@1", GINI))
    found = document(folder)
    for model in found["models"]:
        model["metrics"][GINI]["mean"] = {"good": 0.25, "bad": 0.75}[model["name"]]
    put(folder, found)
    assert order(leaderboard(tmp_path / "runs")) == ["good", "bad"]
    board = leaderboard(tmp_path / "runs", metric=GINI)
    assert (order(board), board.groups[0].better) == (["good", "bad"], "lower")


def test_an_earlier_run_of_an_own_metric_is_left_out_and_the_way_out_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = of_an_earlier_version(ran(tmp_path, "one", "mine:misses@1"))
    again = f"harness run {folder / 'config.toml'}"
    with refusal(UsageError, "mine:misses@1", "higher or lower", again):
        leaderboard(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, again.split()[1:]).exit_code == 0
    board = leaderboard(tmp_path / "runs")
    assert board.groups[0].entries[0].model == "good"
    assert board.groups[0].without == 1  # now the function is named by its whole path


def test_an_earlier_run_is_named_below_the_others(tmp_path: Path) -> None:
    folder = of_an_earlier_version(ran(tmp_path, "one", "mine:misses@1", models=MODELS[:1]))
    ran(tmp_path, "two", "mine:misses@1", models=MODELS[1:])
    board = leaderboard(tmp_path / "runs")
    assert order(board) == ["good"]
    assert f"left out  {folder}: does not say whether" in repr(board)


def test_a_run_of_the_other_direction_is_left_out_of_the_latest(tmp_path: Path) -> None:
    """The function's `better` was written after the first run."""
    first = ran(tmp_path, "first", "mine:misses@1", own=OWN.replace('"lower"', '"higher"'))
    environment = json.loads((first / "environment.json").read_text())
    early = json.dumps(environment | {"written": "2020-01-01T00:00:00+00:00"})
    (first / "environment.json").write_text(early)
    ran(tmp_path, "second", "mine:misses@1", models=MODELS[1:])
    board = leaderboard(tmp_path / "runs")
    assert order(board) == ["good"]
    (told,) = board.left_out
    words = ("first", "mine:misses@1", "higher", "lower", "harness run")
    assert [word for word in words if word not in told] == []
    with pytest.raises(DataError, match=r"higher .* lower.*harness run"):
        compare(first)


def test_a_word_that_is_no_direction_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    with pytest.raises(UsageError, match=r'"mine:odd": .*better.*"less".*allowed: higher, lower'):
        parse("mine:odd@1", tmp_path)


@pytest.mark.parametrize(
    ("metrics", "named"),
    [
        ({"MAP@1": {"better": "more"}}, "metrics.MAP@1.better"),
        ({"MAP@2": {"better": "higher"}}, "metrics are not those"),
    ],
)
def test_a_record_that_was_changed_by_hand_is_told(
    tmp_path: Path, metrics: Any, named: str
) -> None:
    folder = ran(tmp_path, "one", "MAP@1")
    put(folder, document(folder) | {"metrics": metrics})
    with pytest.raises(UsageError, match=named):
        leaderboard(tmp_path / "runs")


def test_own_metrics_are_told_by_their_text_alone() -> None:
    texts = ("none:f@3", "no/such (file)@x.py:f@3", "MAP(divisor=trec)@10", "Gini@1")
    assert [is_own(text) for text in texts] == [True, True, False, False]
