"""Submissions against each other: paired, per leaderboard, with ranks; and what is refused."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
import small
from conftest import exactly, refusal

import harness
from harness.comparison.submissions import Board, Ranking
from harness.core.errors import HarnessError, UsageError

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
    "run/result.json": "{}",
}
"""AP of ann | bob, cid, dee: good 1 | 1, 1, 0; half 0 | 1, 1, 0; poor 1 | 0, 0, 1/2."""
TWO = ("good.csv", "half.csv")
THREE = (*TWO, "poor.csv")
BY = {"solution": "solution.csv", "metric": "MAP@2"}


@pytest.fixture(autouse=True)
def _folder(here: Path) -> None:
    small.write(here, FILES)


WIDTH = """
def width(hits, n_relevant, k): return hits.sum()
width.better = "neither"
"""


def hits_of(hits: dict[str, int], users: int = 30) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return a solution, and submissions that hit the first so many users."""
    solution = pl.DataFrame({"user": [f"u{n:02}" for n in range(users)], "items": "a"})
    return solution, {
        name: solution.with_columns(items=pl.Series(["a"] * n + ["b"] * (users - n)))
        for name, n in hits.items()
    }


def ranked(hits: dict[str, int], users: int = 30, metric: str = "MAP@1") -> Ranking:
    """Return the ranking of submissions that hit the first so many users."""
    solution, frames = hits_of(hits, users)
    return harness.leaderboard(frames, solution=solution, metric=metric)


def ranks(board: Board) -> dict[str, int]:
    return {standing.submission: standing.rank for standing in board.standings}


def test_two_are_compared_on_every_leaderboard() -> None:
    """Public is ann alone, whom two submissions cannot be compared by."""
    compared = harness.compare("good.csv", "poor.csv", **BY)
    every, private = compared.boards
    assert (every.name, private.name) == ("all", "Private")
    few = "Public: 1 user; a comparison needs two"
    truth = "truth: one row per item, 4 users"
    assert compared.notes == (truth, "users that the solution ignores: 1", few)
    assert list(ranks(every)) == ["good", "poor"]
    assert [standing.mean for standing in every.standings] == exactly([3 / 4, 3 / 8])
    assert [standing.mean for standing in private.standings] == exactly([2 / 3, 1 / 6])
    (pair,) = private.comparison.pairs
    assert (pair.one, pair.other, pair.difference) == ("good", "poor", exactly(1 / 2))
    assert (pair.wins, pair.ties, pair.losses) == (2, 0, 1)
    scored = harness.score("poor.csv", solution="solution.csv", metrics=["MAP@2"])
    assert every.standings[1].ci95 == scored.metrics["MAP@2"].ci95
    assert private.standings[1].mean == scored.leaderboards["Private"]["MAP@2"].mean


def test_verdicts_are_of_submissions() -> None:
    sheet, last = harness.compare("good.csv", "half.csv", "poor.csv", **BY).sheets(pairs=True)[1:3]
    assert (sheet.titles[1], last.titles[0]) == ("submission", "submission")
    assert "▲ better than the submission of the column, ▼ worse, = tied" in sheet.footing


def test_who_is_tied_and_how_far_a_rank_could_move() -> None:
    """All of 30 against 2 is certain (p < 2^-27); 2 of 30 against 3, of whom 2 agree, is not."""
    ranking = ranked({"all": 30, "two": 2, "three": 3, "other three": 3})
    (board,) = ranking.boards
    assert ranks(board) == {"all": 1, "three": 2, "other three": 2, "two": 4}
    best, *rest = board.standings
    assert (best.tied, best.best_rank, best.worst_rank) == ((), 1, 1)
    assert {(standing.best_rank, standing.worst_rank) for standing in rest} == {(2, 4)}
    assert str(ranking).count("2–4") == 3
    for standing in rest:
        assert {standing.submission, *standing.tied} == {"two", "three", "other three"}


@pytest.mark.parametrize("baseline", [None, "all", "none"])
def test_where_neither_end_is_better_the_highest_is_first(baseline: str | None) -> None:
    """30 hits of 30 are more than 5 and than none, whichever of a pair is compared with which."""
    small.write(Path(), {"plugged.py": WIDTH})
    solution, frames = hits_of({"all": 30, "few": 5, "none": 0})
    by = {"solution": solution, "metric": "plugged:width@1"}
    compared = harness.compare(frames, baseline=baseline, **by)
    (board,) = compared.boards
    assert ranks(board) == {"all": 1, "few": 2, "none": 3}
    for standing in board.standings:
        assert standing.best_rank <= standing.rank <= standing.worst_rank
    first, *_, last = board.standings
    assert (first.worst_rank, last.best_rank) == ((2, 2) if baseline == "none" else (1, 2))
    assert board.comparison.better == "neither"
    text = str(harness.leaderboard(frames, **by))
    assert "rank 1 is the highest: for plugged:width@1 neither high nor low is better" in text
    assert "really higher" in text
    assert "better to" not in text


def test_what_other_draws_could_decide_is_said() -> None:
    """13 of 17 signs against 4: by all of 2^17, p is 0.049, too near 0.05 for 10,000 draws."""
    solution = pl.DataFrame({"user": [f"u{n:02}" for n in range(17)], "item": "a"})
    items = {"ann": ["a"] * 13 + ["x"] * 4, "bob": ["x"] * 13 + ["a"] * 4}
    frames = {name: solution.with_columns(item=pl.Series(column)) for name, column in items.items()}
    ranking = harness.leaderboard(frames, solution=solution, k=1)
    (board,) = ranking.boards
    assert [standing.borderline for standing in board.standings] == [("bob",), ("ann",)]
    assert [row["borderline"] for row in ranking.records()] == ["bob", "ann"]
    (pair,) = board.comparison.pairs
    line = f"borderline  ann and bob ({pair.verdict}): other draws could change the verdict"
    assert f"{line}; use more --resamples" in str(ranking)


def test_frames_rows_and_the_order_of_files_change_no_figure() -> None:
    files = harness.compare("good.csv", "half.csv", "poor.csv", **BY)
    frames = {
        "poor": "again.csv",
        "good": pd.read_csv("good.csv"),
        "half": pl.read_csv("half.csv").to_arrow(),
    }
    compared = harness.compare(frames, solution=pd.read_csv("solution.csv"), metric="MAP@2")
    assert compared.boards == files.boards
    for name in ("half", "half.csv"):
        compared = harness.compare("good.csv", "half.csv", "poor.csv", baseline=name, **BY)
        pairs = compared.boards[0].comparison.pairs
        assert [{pair.one, pair.other} - {"half"} for pair in pairs] == [{"good"}, {"poor"}]


def test_one_that_cannot_be_scored_is_not_ranked() -> None:
    ranking = harness.leaderboard(
        "good.csv", "half.csv", "faulty.csv", "faults.csv", "odd.csv", "gone.csv", **BY
    )
    assert ranks(ranking.boards[0]) == {"good": 1, "half": 2}
    codes = {name: why.split()[0] for name, why in ranking.refused.items()}
    assert codes == {"faulty": "SUB203", "faults": "SUB203", "odd": "SUB101", "gone": "SUB001"}
    assert "line 3" in ranking.refused["faulty"]
    assert "also" not in ranking.refused["faulty"]
    assert ranking.refused["faults"].endswith("; also SUB208")
    forced = harness.compare("good.csv", "faulty.csv", force=True, **BY).submissions
    assert (forced["good"].errors, forced["faulty"].errors) == (0, 1)


@pytest.mark.parametrize(
    ("files", "note"),
    [
        ("good few poor", "few: users without a list, which score 0: 3"),
        ("good half", "good, half: 1 warning: SUB404 (one item)"),
        ("good twin poor", "good and twin have the same score for every user: is one a copy?"),
        # As a shell's *.csv names it.
        ("good half solution", "solution: left out, as it is the solution itself"),
    ],
)
def test_a_note(files: str, note: str) -> None:
    ranking = harness.leaderboard(*(f"{name}.csv" for name in files.split()), **BY)
    assert f"note  {note}" in str(ranking)
    assert str(ranking).count("users that the solution ignores: 1") == 1
    assert "solution" not in ranks(ranking.boards[0])


@pytest.mark.parametrize(
    ("submissions", "options", "words"),
    [
        (["good.csv"], {}, "1 submission; a comparison needs two: name another"),
        (["good.csv", "run"], {}, "run: a folder, not; harness submit run --model NAME --out FILE"),
        (["good.csv", "run/.."], {}, "run/..: a folder; run/../*.csv"),
        (["good.csv", "faulty.csv"], {}, "faulty.csv; line 3; ann"),
        (["good.csv", "ids.csv"], {"force": True}, "ids.csv: none of the users is in the truth"),
        (["good.csv", "gone.csv", "odd.csv"], {}, "gone: SUB001; odd: SUB101"),
        (TWO, {"metric": "Coverage@2"}, "Coverage@2; none per user"),
        (TWO, {"metric": 3}, "found int"),
        (TWO, {"resamples": 5}, "resamples = 5; from 100"),
        (TWO, {"slices": ["activity"]}, "--slices; slices=): only with runs, not"),
        (["good.csv", "./good.csv"], {}, "good.csv: named twice"),
        ([{"a": "good.csv", "b": 3}], {}, 'submission "b"'),
        (THREE, {"baseline": "hlaf"}, 'no model "hlaf"; half'),
        (TWO, {"solution": None},
         "good.csv: not a run. To compare submissions; --solution SOLUTION; solution="),
        (TWO, {"metric": "MAP@2", "k": 3}, "MAP@2 has its own cut-off; in Python, k="),
        (["run"], {"solution": None, "k": 3},
         "--k (in Python, k=): only with submissions, not with runs; leave out --k"),
        (["run"], {"solution": None, "k": 0}, "--k (in Python, k=): only with submissions"),
        (["run"], {"solution": None, "k": 3, "strict": True},
         "--k and --strict (in Python, k= and strict=): only with submissions, not with runs"),
        (TWO, {"solution": None, "k": 3},
         "good.csv: not a run. To compare submissions; --solution SOLUTION; solution="),
        (TWO, {"correction": ""}, "correction is ''; expected 'holm' or 'bh'"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(submissions: Any, options: Any, words: str) -> None:
    with refusal(HarnessError, *words.split("; ")):
        harness.compare(*submissions, **{"solution": "solution.csv"} | options)


@pytest.mark.parametrize(
    ("submissions", "options", "words"),
    [
        (["good.csv", "faulty.csv"], BY, "1 submission; a comparison needs two; faulty: SUB"),
        (["runs", "old"], {}, "2 folders of runs"),
        (TWO, BY | {"model": "x"}, "--model; model=): only with runs"),
    ],
)
def test_what_cannot_be_ranked_is_refused(submissions: Any, options: Any, words: str) -> None:
    with refusal(UsageError, *words.split("; ")):
        harness.leaderboard(*submissions, **options)


@pytest.mark.parametrize(
    ("function", "option", "meant"),
    [
        (harness.compare, "basline", "baseline"),
        (harness.leaderboard, "models", "model"),
        (harness.score, "metric", "metrics"),
        (harness.validate, "solutions", "solution"),
    ],
)
def test_an_unknown_option_is_told_from_the_one_that_is_meant(
    function: Any, option: str, meant: str
) -> None:
    words = f"{function.__name__}() got an unexpected keyword argument '{option}'", f'"{meant}"'
    with refusal(TypeError, words):
        function("good.csv", **{option: "x"})


def test_equal_submissions_are_noted_once_a_group() -> None:
    """A baseline, of whose pairs alone there are, is in a group as any other."""
    solution, frames = hits_of({"a": 9, "b": 9, "c": 9, "d": 5, "e": 5, "f": 0, "g": 0})
    for baseline in (None, "c"):
        compared = harness.compare(frames, solution=solution, metric="MAP@1", baseline=baseline)
        groups = [note.partition(" have the same")[0] for note in compared.notes if "copy?" in note]
        names = [sorted(group.replace(" and ", ", ").split(", ")) for group in groups]
        assert names == ([["a", "b", "c"]] if baseline else [["a", "b", "c"], ["d", "e"]])


def test_what_the_header_says_of_the_competition_is_said() -> None:
    """KION's columns: its metric and k."""
    lists, true = "user_id,item_ids\n7,1 2\n8,2 1\n", "user_id,item_ids\n7,1\n8,2\n"
    small.write(Path(), {"a.csv": lists, "b.csv": lists.replace("1 2", "2 1"), "s.csv": true})
    compared = harness.compare("a.csv", "b.csv", solution="s.csv")
    (note,) = [note for note in compared.notes if "has the columns of" in note]
    assert [word for word in ("KION", "MAP@10", "--metric") if word not in note] == []
