"""Submissions against each other: paired, per leaderboard, with ranks; and what is refused."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
import small
from conftest import exactly, refusal

import harness
from harness.core.errors import HarnessError, UsageError
from harness.experiment.contest import named
from harness.experiment.standings import Board, Ranking

SOLUTION = """user,items,Usage
ann,a,Public
bob,b,Private
cid,c,Private
dee,d,Private
eve,e,Ignored
"""
FILES = {
    "solution.csv": SOLUTION,
    "good.csv": "user,items\nann,a\nbob,b\ncid,c\ndee,x\n",
    "half.csv": "user,items\nann,x\nbob,b\ncid,c\ndee,x\n",
    "poor.csv": "user,items\nann,a\nbob,x\ncid,y a\ndee,x d\n",
    "again.csv": "user,items\ndee,x d\ncid,y a\nbob,x\nann,a\n",
    "twin.csv": "user,items\nann,a\nbob,b\ncid,c\ndee,x\n",
    "few.csv": "user,items\nann,a\nzed,a\n",
    "faulty.csv": "user,items\nann,a b\nann,b\n",
    "faults.csv": "user,items\nann,a b\nann,b b\nbob,\n,x\n",
    "odd.csv": "x\n1\n",
    "ids.csv": "user,items\n1,a\n2,b\n",
    "my file.csv": "user,items\nann,nan\n",
    "my solution.csv": SOLUTION,
    "usage.csv": SOLUTION.replace("Usage", "usage"),
    "run/result.json": "{}",
    "more/x.csv": "user,items\n",
}
"""AP of ann | bob, cid, dee: good 1 | 1, 1, 0; half 0 | 1, 1, 0; poor 1 | 0, 0, 1/2."""
THREE = ("good.csv", "half.csv", "poor.csv")
BY = {"solution": "solution.csv", "metric": "MAP@2"}


@pytest.fixture(autouse=True)
def _folder(here: Path) -> None:
    small.write(here, FILES)


def ranked(hits: dict[str, int], users: int = 30, metric: str = "MAP@1") -> Ranking:
    """Return the ranking of submissions that hit the first so many users."""
    ids = [f"u{n:02}" for n in range(users)]
    frames = {
        name: pl.DataFrame({"user": ids, "items": ["a"] * n + ["b"] * (users - n)})
        for name, n in hits.items()
    }
    solution = pl.DataFrame({"user": ids, "items": ["a"] * users})
    return harness.leaderboard(frames, solution=solution, metric=metric)


def ranks(board: Board) -> dict[str, int]:
    return {one.submission: one.rank for one in board.standings}


def test_two_are_compared_on_every_leaderboard() -> None:
    """Public is ann alone, whom two submissions cannot be compared by."""
    found = harness.compare("good.csv", "poor.csv", **BY)
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
    for own, alone in zip(every.standings, private.standings, strict=True):
        scored = harness.score(f"{own.submission}.csv", solution="solution.csv", metrics=["MAP@2"])
        assert (own.mean, own.ci95) == (scored.metrics["MAP@2"].mean, scored.metrics["MAP@2"].ci95)
        assert alone.mean == scored.leaderboards["Private"]["MAP@2"].mean


def test_who_is_tied_and_how_far_a_rank_could_move() -> None:
    """All of 30 against 2 is certain (p < 2^-27); 2 of 30 against 3, of whom 2 agree, is not."""
    (board,) = ranked({"all": 30, "two": 2, "three": 3, "other three": 3}).boards
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
    ids = [f"u{n:02}" for n in range(17)]
    items = {"ann": ["a"] * 13 + ["x"] * 4, "bob": ["x"] * 13 + ["a"] * 4}
    frames = {name: pl.DataFrame({"user": ids, "item": of}) for name, of in items.items()}
    solution = pl.DataFrame({"user": ids, "item": ["a"] * 17})
    found = harness.leaderboard(frames, solution=solution, k=1)
    (board,) = found.boards
    assert [(one.submission, one.borderline) for one in board.standings] == [
        ("ann", ("bob",)),
        ("bob", ("ann",)),
    ]
    assert [one["borderline"] for one in found.records()] == ["bob", "ann"]
    (verdict,) = {pair.verdict for pair in board.comparison.pairs}
    line = f"borderline  ann and bob ({verdict}): other draws could say otherwise"
    assert f"{line}; more leave fewer open: --resamples 100000" in str(found)
    for draws, hint in ((200_000, "--resamples 1000000"), (1_000_000, f"{line}\n")):
        comparison = replace(board.comparison, flips=draws)
        assert hint in str(replace(found, boards=(replace(board, comparison=comparison),)))


def test_a_baseline_is_compared_with_every_other() -> None:
    by_name = harness.compare(*THREE, baseline="half", **BY)
    pairs = {frozenset((p.one, p.other)) for p in by_name.boards[0].comparison.pairs}
    assert pairs == {frozenset(("half", "good")), frozenset(("half", "poor"))}
    assert harness.compare(*THREE, baseline="half.csv", **BY).boards == by_name.boards


def test_frames_rows_and_the_order_of_files_change_no_figure() -> None:
    files = harness.compare(*THREE, **BY)
    frames = {
        "poor": "again.csv",
        "good": pd.read_csv("good.csv"),
        "half": pl.read_csv("half.csv").to_arrow(),
    }
    found = harness.compare(frames, solution=pd.read_csv("solution.csv"), metric="MAP@2")
    assert found.boards == files.boards


def test_one_that_cannot_be_scored_is_not_ranked() -> None:
    files = ("good.csv", "faulty.csv", "faults.csv", "half.csv", "odd.csv", "gone.csv")
    found = harness.leaderboard(*files, **BY)
    assert ranks(found.boards[0]) == {"good": 1, "half": 2}
    assert {name: why.split()[0] for name, why in found.refused.items()} == {
        "faulty": "SUB203", "faults": "SUB203", "odd": "SUB101", "gone": "SUB001"
    }  # fmt: skip
    assert "line 3" in found.refused["faulty"]
    assert "validate" not in found.refused["faulty"]
    assert "harness validate faults.csv --solution solution.csv" in found.refused["faults"]
    forced = harness.compare("good.csv", "faulty.csv", force=True, **BY)
    assert {name: one.errors for name, one in forced.submissions.items()} == {
        "good": 0, "faulty": 1
    }  # fmt: skip


@pytest.mark.parametrize(
    ("files", "note"),
    [
        ("good few poor", "few: users without a list, who score 0: 3"),
        ("good half", "good, half: 1 kind of warnings (SUB404)"),
        (
            "good twin poor few",
            "good and twin have the same known items at the same ranks: copies?",
        ),
        # As a shell's *.csv names it.
        ("good half solution", "solution: is the solution itself, and left out"),
    ],
)
def test_a_note(files: str, note: str) -> None:
    found = harness.leaderboard(*(f"{name}.csv" for name in files.split()), **BY)
    assert f"note  {note}" in str(found)
    assert str(found).count("users whom the solution ignores: 1") == 1
    assert "solution" not in ranks(found.boards[0])


def test_files_have_names_of_their_own() -> None:
    files = [Path("mon/a.csv"), Path("tue/a.csv.gz"), Path("tue/b.csv")]
    assert list(named(files)) == ["mon/a.csv", "tue/a.csv.gz", "b"]
    with refusal(UsageError, "a.csv: is named twice"):
        named([Path("a.csv"), Path("./a.csv")])


TWO = ["good.csv", "half.csv"]


@pytest.mark.parametrize(
    ("of", "options", "words"),
    [
        (["good.csv"], {}, "1 submission: two are needed; name another"),
        (["good.csv", "run"], {}, "run: is a run; harness submit RUN --model NAME --out FILE"),
        (["good.csv", "more"], {}, "more: is a folder; more/*.csv"),
        (["good.csv", "solution.csv"], {}, "is the solution itself; 1 submission: two are needed"),
        (["good.csv", "faulty.csv"], {}, "faulty.csv; line 3; ann"),
        (["good.csv", "ids.csv"], {"force": True}, "ids.csv: not one of the users is in the truth"),
        (["good.csv", "my file.csv"], {"solution": "my solution.csv"},
         "harness validate 'my file.csv' --solution 'my solution.csv'"),
        (["good.csv", "faulty.csv", "odd.csv", "gone.csv"], {},  # all at once
         "faulty.csv: SUB203; odd.csv: SUB101; gone.csv: SUB001"),
        # Its leaderboards would be none, and those who are ignored be averaged.
        (TWO, {"solution": "usage.csv"},
         'usage.csv: column "usage": leaderboards are said by a column "Usage"'),
        (TWO, {"metric": "Coverage@2"}, "Coverage@2; no users to compare"),
        (TWO, {"metric": 3}, "metric: found int"),
        (TWO, {"resamples": 5}, "resamples = 5; from 100"),
        (TWO, {"slices": ["activity"]}, "slices goes with runs"),
        ([pl.DataFrame({"user": ["ann"]}), "half.csv"], {}, "DataFrame; a frame needs a name"),
        ([{"a": "good.csv", "b": 3}], {}, 'submission "b"'),
        (THREE, {"baseline": "hlaf"}, 'no model "hlaf"; half'),
        (TWO, {"solution": None}, "good.csv: is no run; --solution SOLUTION; solution="),
        (["run"], {"solution": None, "k": 3}, "k goes with submissions; solution="),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(
    of: list[object], options: dict[str, object], words: str
) -> None:
    with refusal(HarnessError, *words.split("; ")):
        harness.compare(*of, **{"solution": "solution.csv", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("of", "options", "words"),
    [
        (["good.csv", "faulty.csv"], BY, "1 submission: two are needed; faulty.csv: SUB"),
        (["runs"], {"k": 0}, "k goes with submissions"),
        (TWO, {}, "good.csv: is no run; --solution SOLUTION"),
        (["runs", "more"], {}, "2 folders of runs"),
        (TWO, {"solution": "solution.csv", "model": "x"}, "model goes with runs"),
    ],
)
def test_what_cannot_be_ranked_is_refused(
    of: list[str], options: dict[str, object], words: str
) -> None:
    with refusal(UsageError, *words.split("; ")):
        harness.leaderboard(*of, **options)  # type: ignore[call-overload]


@pytest.mark.parametrize(("users", "said"), [(9, False), (10, True)])
def test_a_submission_that_is_right_for_all_is_asked_about(users: int, said: bool) -> None:
    note = "best: every user has the value 1: is it the solution?"
    assert (note in ranked({"best": users, "other": users - 1}, users).notes) == said


def test_a_1_of_everybody_is_nothing_where_less_is_better(here: Path) -> None:
    worst = "def worst(hits, n_relevant, k):\n    return 1\n\nworst.better = 'lower'\n"
    small.write(here, {"plugged.py": worst})
    notes = ranked({"one": 30, "other": 20}, metric="plugged:worst@1").notes
    assert not any("is it the solution" in note for note in notes)


def test_equal_notes_are_one() -> None:
    small.write(Path(), {f"more{n}.csv": FILES["good.csv"] + "zed,a\n" for n in range(5)})
    shown = str(harness.leaderboard(*(f"more{n}.csv" for n in range(5)), **BY))
    assert "note  more0, more1, more2 and 2 more: users of the file who are not eval" in shown


def test_what_the_header_says_of_the_competition_is_said() -> None:
    """KION's columns: its metric and k, unless others are named."""
    rows = "user_id,item_ids\nu1,1 2\nu2,2 1\n"
    true = "user_id,item_ids\nu1,1\nu2,2\n"
    small.write(Path(), {"a.csv": rows, "b.csv": rows.replace("1 2", "2 1"), "s.csv": true})
    found = harness.compare("a.csv", "b.csv", solution="s.csv")
    (note,) = [note for note in found.notes if "by the columns" in note]
    assert "KION" in note
    assert "MAP@10" in note
    assert "--metric" in note
    named = harness.compare("a.csv", "b.csv", solution="s.csv", metric="MAP@2")
    assert not any("by the columns" in note for note in named.notes)
