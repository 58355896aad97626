"""Users to whom a solution gives no true items are averaged by no command, or by all that ask."""

import json
from pathlib import Path

import pandas as pd
import pytest
from conftest import Cli, is_refused, tells

import harness
from harness import kaggle
from harness.core.errors import HarnessError

SOLUTION = (
    "user,items,Usage\nann,x y,Public\nbob,y,Public\ncem,z,Private\ndee,,Public\neva,,Private\n"
)
LISTS = "user,items\nann,x\nbob,q y\ncem,q\ndee,x\n"
"""AP@12: ann 1/2, bob 1/2, cem 0; dee and eva have nothing to hit."""
LEFT_OUT, KEPT = (1 / 2 + 1 / 2 + 0) / 3, (1 / 2 + 1 / 2 + 0) / 5


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "solution.csv").write_text(SOLUTION)
    (here / "lists.csv").write_text(LISTS)
    return here


BY = ("lists.csv", "--solution", "solution.csv")
KEEP = "--keep-users-without-items"


@pytest.mark.parametrize(("keep", "figure"), [(False, LEFT_OUT), (True, KEPT)])
def test_one_figure_for_the_same_files(folder: Path, keep: bool, figure: float) -> None:
    scored = harness.score("lists.csv", solution="solution.csv", keep_users_without_items=keep)
    assert scored.metrics["MAP@12"].mean == pytest.approx(figure, rel=1e-15)
    rows = pd.read_csv("solution.csv", keep_default_na=False)
    lists = pd.read_csv("lists.csv").merge(rows[["user"]], how="right").fillna("")
    told = kaggle.score(rows, lists, "user", keep_users_without_items=keep)
    assert told == pytest.approx(figure, rel=1e-15)


def test_the_command_notes_how_many_and_counts_them_by_an_option(folder: Path, cli: Cli) -> None:
    """Public: ann and bob, 1/2 each, and dee; private: cem, 0, and eva."""
    status, out, _ = cli("score", *BY)
    assert status == 0
    assert "3 users" in out.splitlines()[0]
    assert "users without true items, who are not averaged, as in H&M on Kaggle: 2" in out
    assert "users without a list" not in out  # eva is not averaged in any case
    assert "users of the file who are not examined" not in out
    done = cli("score", *BY, KEEP)
    assert "5 users" in done[1].splitlines()[0]
    tells(done, 0, "users without true items, who score 0: 2", "MAP@12     0.200000")
    hosts = ("--codabench", "out", "--evalai", "result.json")
    document = json.loads(cli("score", *BY, "--format", "json", *hosts)[1])
    assert document["evaluation"]["users"] == 3
    assert document["evaluation"]["left_out"]["users_without_items"] == 2
    assert document["usage"]["Public"]["MAP@12"]["mean"] == (1 / 2 + 1 / 2) / 2
    assert json.loads(Path("out/scores.json").read_text())["MAP@12"] == pytest.approx(LEFT_OUT)
    figures = json.loads(Path("result.json").read_text())["submission_result"]
    assert figures["MAP@12"] == pytest.approx(LEFT_OUT)
    kept = json.loads(cli("score", *BY, KEEP, "--format", "json")[1])
    assert kept["evaluation"]["users"] == 5
    assert kept["evaluation"]["left_out"]["users_without_items_kept"] == 2
    assert kept["usage"]["Public"]["MAP@12"]["mean"] == pytest.approx((1 / 2 + 1 / 2) / 3)


def test_a_metric_of_all_lists_is_one_of_those_who_are_averaged(tmp_path: Path) -> None:
    """TotalRecall sums hits and true items, of which such users have none either way."""
    (tmp_path / "s.csv").write_text("user,items\nann,x y\ndee,\n")
    (tmp_path / "l.csv").write_text("user,items\nann,x\ndee,x\n")
    for keep in (False, True):
        found = harness.score(
            tmp_path / "l.csv",
            solution=tmp_path / "s.csv",
            metrics=["TotalRecall@2", "Precision@1"],
            keep_users_without_items=keep,
        )
        assert found.metrics["TotalRecall@2"].mean == 1 / 2
        assert found.metrics["Precision@1"].mean == (1 / 2 if keep else 1)


def test_conventions_say_which_is_which(folder: Path, cli: Cli) -> None:
    """H&M averages users with true items; ml_metrics averages all, with 0."""
    for option in ([], [KEEP]):
        out = cli("score", *BY, "--conventions", *option, "--format", "json")[1]
        told = {entry["name"]: entry for entry in json.loads(out)["conventions"]}
        assert told["kaggle"]["value"] == pytest.approx(LEFT_OUT)
        assert told["kaggle"]["users"] == "with truth"
        assert told["ml_metrics"]["value"] == pytest.approx(KEPT)
        assert told["ml_metrics"]["users"] == "all"
        table = cli("score", *BY, "--conventions", *option)[1].splitlines()
        own = next(line for line in table if "+0.000000" in line)
        assert own.startswith("ml_metrics" if option else "kaggle")


def test_explain_takes_nobody_who_is_not_averaged_for_the_worst(folder: Path, cli: Cli) -> None:
    arguments = ("explain", *BY, "--worst", "1", "--user", "dee", "--format", "json")
    found = json.loads(cli(*arguments)[1])["users"]
    assert [(one["user"], one["averaged"]) for one in found] == [("dee", False), ("cem", True)]
    out = cli(*arguments[:-2])[1]
    assert "no true items: the user is not averaged" in out
    found = json.loads(cli("explain", *BY, KEEP, "--worst", "3", "--format", "json")[1])
    assert [one["user"] for one in found["users"]] == ["cem", "dee", "eva"]


def test_a_solution_without_any_true_item(folder: Path) -> None:
    Path("solution.csv").write_text("user,items\nann,\nbob,\n")
    with pytest.raises(HarnessError, match=r"no user has a true item.*--keep-users-without-items"):
        harness.score("lists.csv", solution="solution.csv")
    kept = harness.score("lists.csv", solution="solution.csv", keep_users_without_items=True)
    assert kept.metrics["MAP@12"].mean == 0
    assert harness.validate("lists.csv", solution="solution.csv").valid


def test_a_config_says_itself_who_counts(folder: Path, cli: Cli) -> None:
    config = Path(__file__).parents[2] / "configs" / "demo.toml"
    for command in ("score", "explain"):
        options = ["--user", "ann"] if command == "explain" else []
        told = "--keep-users-without-items goes with --solution"
        is_refused(cli(command, "lists.csv", "--config", str(config), KEEP, *options), told)
