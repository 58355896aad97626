"""Submissions against each other: paired, per leaderboard, with ranks; and what is refused."""

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
import small
from conftest import Cli, exactly, is_refused, refusal, tells
from small import POPULAR, RANDOM

import harness
from harness.core.errors import DataError, HarnessError, UsageError
from harness.experiment.contest import named
from harness.experiment.standings import Board
from harness.experiment.submissions import SubmissionError

SOLUTION = """user,items,Usage
ann,a,Public
bob,b,Private
cid,c,Private
dee,d,Private
eve,e,Ignored
"""
LISTS = {
    "good.csv": "user,items\nann,a\nbob,b\ncid,c\ndee,x\n",
    "half.csv": "user,items\nann,x\nbob,b\ncid,c\ndee,x\n",
    "poor.csv": "user,items\nann,a\nbob,x\ncid,y a\ndee,x d\n",
}
"""AP of ann | bob, cid, dee: good 1 | 1, 1, 0; half 0 | 1, 1, 0; poor 1 | 0, 0, 1/2."""
LAST = POPULAR | {"name": "last", "params": {"window_days": 4}}


@pytest.fixture
def folder(here: Path) -> Path:
    """Return the current folder, with a solution and three submissions."""
    small.write(here, {"solution.csv": SOLUTION, **LISTS})
    return here


def many(hits: dict[str, int], users: int = 30) -> dict[str, pl.DataFrame]:
    """Return submissions that hit the first so many users, and the solution of all."""
    ids = [f"u{at:02}" for at in range(users)]
    found = {
        name: pl.DataFrame({"user": ids, "items": ["a"] * n + ["b"] * (users - n)})
        for name, n in hits.items()
    }
    return found | {"solution": pl.DataFrame({"user": ids, "items": ["a"] * users})}


def ranks(board: Board) -> dict[str, int]:
    return {one.submission: one.rank for one in board.standings}


def test_two_are_compared_on_every_leaderboard(folder: Path) -> None:
    """Public is ann alone, whom two submissions cannot be compared by."""
    found = harness.compare("good.csv", "poor.csv", solution="solution.csv", metric="MAP@2")
    every, private = found.boards
    assert [board.name for board in found.boards] == ["all", "Private"]
    assert found.notes == (
        "users whom the solution ignores: 1",
        "Public: 1 user, and at least two are needed for a comparison",
    )
    assert [(one.submission, one.mean) for one in every.standings] == [
        ("good", exactly(3 / 4)),
        ("poor", exactly(3 / 8)),
    ]
    assert [one.mean for one in private.standings] == [exactly(2 / 3), exactly(1 / 6)]
    (pair,) = private.comparison.pairs
    assert (pair.one, pair.other, pair.difference) == ("good", "poor", exactly(1 / 2))
    assert (pair.wins, pair.ties, pair.losses) == (2, 0, 1)


def test_the_scores_are_those_of_score(folder: Path) -> None:
    found = harness.leaderboard(
        "good.csv", "half.csv", "poor.csv", solution="solution.csv", metric="MAP@2"
    )
    for name in ("good", "half", "poor"):
        one = harness.score(f"{name}.csv", solution="solution.csv", metrics=["MAP@2"])
        told = {
            board.name: next(s for s in board.standings if s.submission == name)
            for board in found.boards
        }
        assert told["all"].mean == one.metrics["MAP@2"].mean
        assert told["all"].ci95 == one.metrics["MAP@2"].ci95
        assert told["Private"].mean == one.leaderboards["Private"]["MAP@2"].mean


def test_they_are_compared_as_a_run_compares_the_same_lists(tmp_path: Path) -> None:
    """What `harness submit` writes of two models has the pair that their run has."""
    config = small.config(tmp_path, POPULAR, LAST, RANDOM)
    run = harness.run(config)
    frames = {one.name: run.recommendations(one.name)[["user", "item"]] for one in run.models}
    found = harness.compare(frames, config=config, row_order=True)
    (board,) = found.boards
    assert found.fingerprint == run.evaluation.fingerprint
    assert found.metric == str(run.comparison.metric)
    assert board.comparison.pairs == run.comparison.pairs


def test_who_is_tied_and_how_far_a_rank_could_move() -> None:
    """All of 30 against 2 is certain (p < 2^-27); 2 of 30 against 3, of whom 2 agree, is not."""
    of = many({"all": 30, "two": 2, "three": 3, "other three": 3})
    solution = of.pop("solution")
    (board,) = harness.leaderboard(of, solution=solution, k=1).boards
    best, *others = board.standings
    assert (best.submission, best.rank, best.tied) == ("all", 1, ())
    assert (best.best_rank, best.worst_rank) == (1, 1)
    assert ranks(board) == {"all": 1, "three": 2, "other three": 2, "two": 4}
    assert {(one.best_rank, one.worst_rank) for one in others} == {(2, 4)}
    assert {one.submission: set(one.tied) for one in others} == {
        "two": {"three", "other three"},
        "three": {"two", "other three"},
        "other three": {"two", "three"},
    }


def test_what_other_draws_could_decide_is_said() -> None:
    """13 of 17 signs against 4: by all of 2^17, p is 0.049, too near 0.05 for 10,000 draws."""
    users = [f"u{n:02}" for n in range(17)]
    solution = {"user": users, "item": ["a"] * 17}
    of = {name: {"user": users, "item": ["x"] * 17} for name in ("ann", "bob")}
    of["ann"]["item"][:13], of["bob"]["item"][13:] = ["a"] * 13, ["a"] * 4
    frames = {name: pl.DataFrame(own) for name, own in of.items()}
    found = harness.leaderboard(frames, solution=pl.DataFrame(solution), k=1)
    (board,) = found.boards
    assert [(one.submission, one.borderline) for one in board.standings] == [
        ("ann", ("bob",)),
        ("bob", ("ann",)),
    ]
    assert [one["borderline"] for one in found.records()] == ["bob", "ann"]
    (verdict,) = {pair.verdict for pair in board.comparison.pairs}
    line = f"borderline  ann and bob ({verdict}): other draws could say otherwise"
    assert f"{line}; more leave fewer open: --resamples 100000" in str(found)
    nearly = harness.leaderboard(frames, solution=pl.DataFrame(solution), k=1, resamples=200_000)
    assert "2000000" not in str(nearly)
    settled = harness.leaderboard(frames, solution=pl.DataFrame(solution), k=1, resamples=1_000_000)
    assert [one.borderline for one in settled.boards[0].standings] == [(), ()]
    assert settled.boards[0].comparison.pairs[0].verdict == "better"


def test_a_baseline_is_compared_with_every_other(folder: Path) -> None:
    files = [folder / name for name in LISTS]
    found = harness.compare(*files, solution="solution.csv", metric="MAP@2", baseline="half")
    pairs = found.boards[0].comparison.pairs
    assert {frozenset((p.one, p.other)) for p in pairs} == {
        frozenset(("half", "good")),
        frozenset(("half", "poor")),
    }
    with refusal(UsageError, 'no model "hlaf"', "half"):
        harness.compare(*files, solution="solution.csv", baseline="hlaf")


def test_frames_of_every_kind_are_as_their_files(folder: Path) -> None:
    names = ("good", "half", "poor")
    of = {
        "good": pd.read_csv("good.csv"),
        "half": pl.read_csv("half.csv").to_arrow(),
        "poor": "poor.csv",
    }
    frames = harness.compare(of, solution=pd.read_csv("solution.csv"), metric="MAP@2")
    files = harness.compare({n: f"{n}.csv" for n in names}, solution="solution.csv", metric="MAP@2")
    assert frames.boards == files.boards


def test_neither_rows_nor_the_order_of_files_change_a_figure(folder: Path) -> None:
    small.write(folder, {"again.csv": "user,items\ndee,x d\ncid,y a\nbob,x\nann,a\n"})
    given = {"solution": "solution.csv", "metric": "MAP@2"}
    one = harness.leaderboard({"good": "good.csv", "poor": "poor.csv"}, **given)
    other = harness.leaderboard({"poor": "again.csv", "good": "good.csv"}, **given)
    assert one.boards == other.boards


def test_one_that_cannot_be_scored_is_not_ranked(folder: Path) -> None:
    small.write(folder, {"faulty.csv": "user,items\nann,a b\nann,b\n", "odd.csv": "x\n1\n"})
    files = ["good.csv", "faulty.csv", "half.csv", "odd.csv", "gone.csv"]
    found = harness.leaderboard(*files, solution="solution.csv", metric="MAP@2")
    assert ranks(found.boards[0]) == {"good": 1, "half": 2}
    assert {name: why.split()[0] for name, why in found.refused.items()} == {
        "faulty": "SUB203", "odd": "SUB101", "gone": "SUB001"
    }  # fmt: skip
    assert "line 3" in found.refused["faulty"]
    assert "validate" not in found.refused["faulty"]
    with refusal(SubmissionError, "faulty.csv", "line 3", "ann"):
        harness.compare("good.csv", "faulty.csv", solution="solution.csv")
    forced = harness.compare("good.csv", "faulty.csv", solution="solution.csv", force=True)
    assert forced.submissions["faulty"].errors == 1
    assert forced.submissions["good"].errors == 0
    small.write(folder, {"faulty.csv": "user,items\nann,a b\nann,b b\nbob,\n,x\n"})
    several = harness.leaderboard(*files, solution="solution.csv", metric="MAP@2")
    assert "harness validate faulty.csv --solution solution.csv" in several.refused["faulty"]


def test_none_left_is_refused_with_every_reason(folder: Path) -> None:
    small.write(folder, {"faulty.csv": "user,items\nann,a b\nann,b\n"})
    with refusal(UsageError, "1 submission: two are needed", "faulty.csv: SUB"):
        harness.leaderboard("good.csv", "faulty.csv", solution="solution.csv")


def test_what_is_left_out_is_told_once_of_each(folder: Path) -> None:
    small.write(folder, {"few.csv": "user,items\nann,a\nzed,a\n"})
    found = harness.compare("good.csv", "few.csv", solution="solution.csv", k=1)
    shown = repr(found)
    assert shown.count("users whom the solution ignores: 1") == 1
    assert "note  few: users without a list, who score 0: 3" in shown


def test_files_have_names_of_their_own() -> None:
    files = [Path("mon/a.csv"), Path("tue/a.csv.gz"), Path("tue/b.csv")]
    assert list(named(files)) == ["mon/a.csv", "tue/a.csv.gz", "b"]
    with refusal(UsageError, "a.csv: is named twice"):
        named([Path("a.csv"), Path("./a.csv")])


@pytest.mark.parametrize(
    ("of", "options", "words"),
    [
        (["good.csv"], {}, ["1 submission: two are needed", "name another"]),
        (["good.csv", "run"], {}, ["run: is a run", "harness submit RUN --model NAME --out FILE"]),
        (["good.csv", "more"], {}, ["more: is a folder", "more/*.csv"]),
        (["good.csv", "half.csv"], {"metric": "Coverage@2"}, ["Coverage@2", "no users to compare"]),
        (["good.csv", "half.csv"], {"seed": -1}, ["seed = -1", "from 0"]),
        (["good.csv", "half.csv"], {"resamples": 5}, ["resamples = 5", "from 100"]),
        (["good.csv", "half.csv"], {"slices": ["activity"]}, ["slices goes with runs"]),
        ([pl.DataFrame({"user": ["ann"]}), "half.csv"], {}, ["DataFrame", "a frame needs a name"]),
        ([{"a": "good.csv", "b": 3}], {}, ['submission "b"']),
    ],
)
def test_what_cannot_be_compared_is_refused(
    folder: Path, of: list[object], options: dict[str, object], words: list[str]
) -> None:
    small.write(folder, {"run/result.json": "{}", "more/x.csv": "user,items\n"})
    with refusal(HarnessError, *words):
        harness.compare(*of, solution="solution.csv", **options)  # type: ignore[arg-type]


def test_files_without_what_they_are_scored_against_are_told_so(folder: Path) -> None:
    with refusal(UsageError, "good.csv: is no run", "--solution SOLUTION", "solution="):
        harness.compare("good.csv", "half.csv")
    with refusal(UsageError, "k goes with submissions", "solution="):
        harness.compare("run", k=3)
    with refusal(UsageError, "k goes with submissions"):
        harness.leaderboard("runs", k=0)
    with refusal(UsageError, "good.csv: is no run", "--solution SOLUTION"):
        harness.leaderboard("good.csv", "half.csv")
    with refusal(UsageError, "2 folders of runs"):
        harness.leaderboard("runs", "more")


def test_ranks_are_those_of_everyone_where_nobody_can_be_compared_on_the_private_board(
    folder: Path, cli: Cli
) -> None:
    """Those of the public board are not the last word."""
    small.write(folder, {"solution.csv": SOLUTION.replace("b,Private", "b,Public")})
    text = (folder / "solution.csv").read_text().replace("dee,d,Private", "dee,d,Ignored")
    small.write(folder, {"solution.csv": text})
    given = ("good.csv", "half.csv", "--solution", "solution.csv", "--metric", "MAP@2")
    status, out, err = cli("leaderboard", *given)
    assert (status, err) == (0, "")
    assert out.startswith("all  3 users")
    assert "public rank" in out.splitlines()[2]
    assert "note  Private: 1 user, and at least two are needed for a comparison" in out


def test_lists_of_another_competition_are_refused(folder: Path) -> None:
    small.write(folder, {"other.csv": "user,items\n1,a\n2,b\n"})
    with refusal(HarnessError, "other.csv"):
        harness.compare("good.csv", "other.csv", solution="solution.csv")


# On the command line.


def test_the_command_compares(folder: Path, cli: Cli) -> None:
    given = ("good.csv", "poor.csv", "--solution", "solution.csv", "--metric", "MAP@2")
    tells(cli("compare", *given), 0, "Private  3 users", "good", "0.6667", "2/0/1")
    status, out, err = cli("compare", *given, "--format", "json")
    assert (status, err) == (0, "")
    assert [board["users"] for board in json.loads(out)["boards"]] == [4, 3]
    status, out, err = cli("compare", *given, "--format", "csv")
    assert [line.split(",")[0] for line in out.splitlines()] == ["board", "all", "Private"]


def test_the_command_ranks_and_says_who_is_left_out(folder: Path, cli: Cli) -> None:
    given = ("leaderboard", "good.csv", "half.csv", "poor.csv", "--solution", "solution.csv")
    done = cli(*given, "--metric", "MAP@2")
    tells(done, 0, "rank", "could be", "tied with", "Private  3 users")
    small.write(folder, {"faulty.csv": "user,items\nann,a b\nann,b\n"})
    tells(cli(*given, "faulty.csv"), 1, "not ranked  faulty: SUB203 line 3")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("compare good.csv half.csv", ["good.csv: is no run", "--solution SOLUTION"]),
        (
            "compare good.csv half.csv --solution solution.csv --slices truth",
            ["--slices goes with runs"],
        ),
        ("compare run --k 3", ["--k goes with submissions", "--solution or --config"]),
        ("compare run --set evaluation.k=3", ["--set goes with submissions"]),
        ("leaderboard runs --seed 0", ["--seed goes with submissions"]),
        ("leaderboard good.csv half.csv --solution gone.csv", ["gone.csv"]),
    ],
)
def test_the_command_refuses(folder: Path, cli: Cli, line: str, words: list[str]) -> None:
    is_refused(cli(*line.split()), *words)


def test_the_solution_among_the_submissions_is_left_out_and_said(folder: Path) -> None:
    """As a shell's *.csv names it."""
    files = sorted(folder.glob("*.csv"))
    found = harness.leaderboard(*files, solution="solution.csv", metric="MAP@2")
    assert set(ranks(found.boards[0])) == {"good", "half", "poor"}
    assert "solution: is the solution itself, and left out" in found.notes
    with refusal(UsageError, "solution: is the solution itself", "1 submission: two are needed"):
        harness.compare("good.csv", "solution.csv", solution="solution.csv")


@pytest.mark.parametrize(("users", "said"), [(9, False), (10, True)])
def test_a_submission_that_is_right_for_all_is_asked_about(users: int, said: bool) -> None:
    given = many({"best": users, "other": users - 1}, users)
    solution = given.pop("solution")
    found = harness.leaderboard(given, solution=solution, metric="MAP@1")
    told = "best: every user has the value 1: is it the solution?"
    assert (told in found.notes) == said


def test_a_1_of_everybody_is_nothing_where_less_is_better(here: Path) -> None:
    worst = "def worst(hits, n_relevant, k):\n    return 1\n\nworst.better = 'lower'\n"
    small.write(here, {"plugged.py": worst})
    given = many({"one": 30, "other": 20})
    solution = given.pop("solution")
    found = harness.leaderboard(given, solution=solution, metric="plugged:worst@1")
    assert not any("is it the solution" in note for note in found.notes)


def test_a_usage_in_other_letters_is_refused(folder: Path) -> None:
    """Its leaderboards would be none, and those who are ignored be averaged."""
    small.write(folder, {"other.csv": SOLUTION.replace("Usage", "usage")})
    with refusal(DataError, 'other.csv: column "usage": leaderboards are said by a column "Usage"'):
        harness.leaderboard("good.csv", "half.csv", solution="other.csv")


def test_equal_notes_are_one(folder: Path) -> None:
    more = {f"more{n}.csv": LISTS["good.csv"] + "zed,a\n" for n in range(5)}
    small.write(folder, more)
    shown = str(harness.leaderboard(*sorted(more), solution="solution.csv", metric="MAP@2"))
    assert "note  more0, more1, more2 and 2 more: users of the file who are not eval" in shown


def test_names_are_quoted_where_a_shell_would_cut_them(folder: Path) -> None:
    small.write(folder, {"my file.csv": "user,items\nann,nan\n", "my solution.csv": SOLUTION})
    with refusal(SubmissionError, "harness validate 'my file.csv' --solution 'my solution.csv'"):
        harness.compare("good.csv", "my file.csv", solution="my solution.csv")


def test_the_same_lists_twice_are_said(folder: Path) -> None:
    small.write(folder, {"twin.csv": LISTS["good.csv"], "other.csv": LISTS["good.csv"]})
    files = ("good.csv", "twin.csv", "poor.csv", "other.csv")
    found = harness.leaderboard(*files, solution="solution.csv", metric="MAP@2")
    told = "have the same known items at the same ranks: copies?"
    assert f"good, twin and other {told}" in found.notes


def test_which_warnings_a_submission_has(folder: Path) -> None:
    found = harness.compare("good.csv", "poor.csv", solution="solution.csv", metric="MAP@2")
    assert found.submissions["good"].codes == ("SUB404",)
    assert "note  good: 1 kind of warnings (SUB404)" in str(found)


def test_all_that_cannot_be_compared_are_told_at_once(folder: Path) -> None:
    small.write(folder, {"bad.csv": "user,items\nann\n", "worse.csv": "user,items\nann,nan\n"})
    with refusal(UsageError, "bad.csv: SUB204", "worse.csv: SUB308", "nowhere.csv: SUB001"):
        harness.compare("good.csv", "bad.csv", "worse.csv", "nowhere.csv", solution="solution.csv")


def test_a_table_of_items_says_what_may_be_listed(folder: Path, cli: Cli) -> None:
    """Only poor has y."""
    small.write(folder, {"items.csv": "item\na\nb\nc\nd\nx\n"})
    typed = "good.csv", "half.csv", "poor.csv", "--solution", "solution.csv"
    assert cli("leaderboard", *typed)[0] == 0
    status, out, _ = cli("leaderboard", *typed, "--items", "items.csv", "--format", "json")
    assert status == 1
    assert {name: "SUB304" in why for name, why in json.loads(out)["refused"].items()} == {
        "poor": True
    }
    status, out, err = cli("compare", *typed, "--items", "items.csv")
    assert (status, out) == (1, "")
    assert (
        "harness validate poor.csv --solution solution.csv --items items.csv\nSUB304 line 4" in err
    )


def test_a_baseline_may_be_named_by_its_file(folder: Path) -> None:
    given = {"solution": "solution.csv", "metric": "MAP@2"}
    by_file = harness.compare("good.csv", "half.csv", "poor.csv", baseline="half.csv", **given)
    by_name = harness.compare("good.csv", "half.csv", "poor.csv", baseline="half", **given)
    assert by_file.boards == by_name.boards


def test_csv_has_the_refused_and_the_means(folder: Path, cli: Cli) -> None:
    small.write(folder, {"bad.csv": "user,items\nann,a y\nann,b\ncid,c\n"})
    against = ("--solution", "solution.csv", "--metric", "MAP@2", "--format", "csv")
    status, out, _ = cli("leaderboard", "good.csv", "bad.csv", "poor.csv", *against)
    rows = pl.read_csv(out.encode())
    assert (status, rows.filter(submission="bad")["rank"].to_list()) == (1, [None])
    (why,) = rows.filter(submission="bad")["error"].to_list()
    assert "SUB203" in why
    status, out, _ = cli("compare", "good.csv", "bad.csv", *against, "--force")
    (row, *_) = pl.read_csv(out.encode()).rows(named=True)
    assert (row["one"], row["mean"]) == ("good", 3 / 4)
    assert row["mean of other"] < 3 / 4
    assert row["forced"] == "bad"


def test_what_the_header_says_of_the_competition_is_said(folder: Path) -> None:
    """KION's columns: its metric and k, unless others are named."""
    rows = "user_id,item_ids\nu1,1 2\nu2,2 1\n"
    true = "user_id,item_ids\nu1,1\nu2,2\n"
    small.write(folder, {"a.csv": rows, "b.csv": rows.replace("1 2", "2 1"), "s.csv": true})
    found = harness.compare("a.csv", "b.csv", solution="s.csv")
    (note,) = [note for note in found.notes if "by the columns" in note]
    assert "KION" in note
    assert "MAP@10" in note
    assert "--metric" in note
    named = harness.compare("a.csv", "b.csv", solution="s.csv", metric="MAP@2")
    assert not any("by the columns" in note for note in named.notes)


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_a_metric_is_named_once(folder: Path, cli: Cli, command: str) -> None:
    files = ("good.csv", "half.csv", "--solution", "solution.csv")
    refused = cli(command, *files, "--metric", "MAP@1", "--metric", "MRR")
    is_refused(refused, "--metric: one is compared by; found MAP@1 and MRR")
