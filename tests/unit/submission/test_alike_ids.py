"""Ids of a submission that look like known ones, and are not the same."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from checking import checked
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import harness
from harness.core.alike import Meanings
from harness.core.errors import UsageError
from harness.delimited import blocks
from harness.scoring.submissions import SubmissionError
from harness.submission.expected import Against, of_tables
from harness.submission.fix import fix
from harness.submission.problems import Problem
from harness.submission.solution import of_file
from harness.submission.validate import validate

SOLUTION = "user_id,items\n0012,a b\n0345,c\n9007199254740993,d\n"
GOOD = "user_id,items\n0012,a x b\n0345,y c\n9007199254740993,d\n"


@pytest.fixture(autouse=True)
def _(here: Path) -> None:
    Path("solution.csv").write_text(SOLUTION)


def problems(lists: str, solution: str = SOLUTION, **options: Any) -> dict[str, Problem]:
    """Return what is wrong with a file, by code."""
    Path("lists.csv").write_text(lists)
    Path("solution.csv").write_text(solution)
    faults = harness.validate("lists.csv", solution="solution.csv", **options).problems
    return {problem.code: problem for problem in faults}


@pytest.mark.parametrize(
    ("known", "written", "code", "line", "shown"),
    [
        ("0345", "0345\u00a0", "SUB207", 3, r"0345\u00a0"),
        ("0345", "\u200b0345", "SUB209", 3, r"\u200b0345"),
        ("0345", "345", "SUB209", 3, "345"),
        ("9007199254740993", "9.0072E+15", "SUB209", 4, "9.0072E+15"),
        ("0345", "\uff10\uff13\uff14\uff15", "SUB209", 3, "\uff10\uff13\uff14\uff15"),
        ("9007199254740993", "9007199254740993\u00ad", "SUB209", 4, r"9007199254740993\u00ad"),
    ],
)
def test_a_user_who_looks_like_a_known_one_is_an_error_that_shows_both(
    known: str, written: str, code: str, line: int, shown: str
) -> None:
    faults = problems(GOOD.replace(known, written))
    problem = faults.pop(code)
    assert faults == {}
    assert (problem.severity, problem.line, problem.count) == ("error", line, 1)
    assert (problem.value, problem.known) == (shown, known)
    assert f'"{shown}"' in problem.message
    assert problem.message.endswith(f'; "{known}" is known')
    with pytest.raises(SubmissionError, match=code):
        harness.score("lists.csv", solution="solution.csv")


@pytest.mark.parametrize("size", [64, 1 << 22])
def test_they_are_counted_whatever_their_number(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second of 200 users has lost zeros; blocks of any size count the same."""
    monkeypatch.setattr(blocks, "SIZE", size)
    users = [f"{'0' * (1 + n % 3)}{n}" for n in range(1, 201)]
    damaged = [user.lstrip("0") if n % 2 else user for n, user in enumerate(users)]
    rows = "".join(f"{user},a\n" for user in [*damaged, "zoe"])
    faults = problems(f"user,items\n{rows}", "user,items\n" + "".join(f"{u},a\n" for u in users))
    assert (faults["SUB209"].count, faults["SUB209"].lines) == (100, 100)
    assert [place.line for place in faults["SUB209"].places] == [3, 5, 7, 9, 11]
    assert [place.known for place in faults["SUB209"].places] == [users[n] for n in range(1, 10, 2)]


ALL = "user,items\n007,a\nbob44,b\nA1b2,d\na1b2,e\n"


@pytest.mark.parametrize("known", ["solution", "sample"])
@pytest.mark.parametrize(
    ("rows", "code", "count"),
    [
        (("007,a", "7,b", "bob44,c"), "SUB215", 1),
        (("x,b", "bob44,c", "Bob44,d"), "SUB215", 1),
        (("7,a", "07,b", "bob44,c"), "SUB209", 2),
        (("A1b2,a", "A1B2,b", "a1b2,b"), "SUB215", 1),
        (("A1b2,a", "A1B2,b", "bob44,b"), "SUB209", 1),
        (("007,a", "[A1B2],b", "bob44,b"), "SUB209", 1),
    ],
)
def test_users_who_look_alike_stay_apart_in_any_order(
    rows: tuple[str, ...], code: str, count: int, known: str
) -> None:
    """A user who has a row is nobody else. Which of two ids is a damaged one, nobody can tell."""
    Path("known.csv").write_text(ALL)
    path, out = Path("lists.csv"), Path("out.csv")
    against = of_tables(Path("known.csv"))
    if known == "solution":
        against = Against().scored_by(of_file(Path("known.csv")))
    for order in (rows, rows[::-1]):  # each of two is once the first
        path.write_text("user,items\n" + "\n".join(order) + "\n")
        faults = {p.code: p for p in validate(path, against).problems}
        assert (faults[code].count, faults[code].fixed) == (count, False)
        assert ("SUB203" in faults, "SUB207" in faults) == (False, False)
        assert ("SUB202" in faults) == (known == "sample" and code == "SUB215")
        fix(path, against, out)
        assert out.read_text().splitlines()[1:4] == [*order]


@pytest.mark.parametrize(("last", "all_by_case"), [("'FAY", False), ("FAY", True)])
def test_whether_all_ids_have_another_case_is_told_by_all(last: str, all_by_case: bool) -> None:
    """Not by the five that are shown."""
    rows = "".join(f"{user},a\n" for user in ["ANN", "BOB", "CEM", "DAN", "EVE", last])
    Path("sample.csv").write_text("user,items\n" + rows.lower().replace("'", ""))
    faults = checked(Path(), "user,items\n" + rows, of_tables(Path("sample.csv"))).errors
    assert ("SUB213" in {p.code for p in faults}) == all_by_case


# Items.


def by_rank(*rows: str) -> str:
    return "user,item,rank\n" + "".join(f"u{n},{row},1\n" for n, row in enumerate(rows, 1))


def truth(*rows: str) -> str:
    return "user,item\n" + "".join(f"u{n},{row}\n" for n, row in enumerate(rows, 1))


def test_ids_of_so_many_digits_say_how_many() -> None:
    faults = problems(by_rank("7", "123", "999"), truth("0007", "0123", "0999"))
    assert faults["SUB305"].message == (
        '"7" lost its leading zeros: ids have 4 digits; "0007" is known (user "u1")'
    )
    assert (faults["SUB305"].severity, faults["SUB305"].count) == ("error", 3)


def test_lists_of_a_sample_tell_how_many_digits_items_have() -> None:
    Path("sample.csv").write_text("user,items\nann,0376951 1234567\n")
    Path("lists.csv").write_text("user,items\nann,376951 7654321\n")
    (problem,) = harness.validate("lists.csv", sample="sample.csv").errors
    assert problem.message == '"376951" lost its leading zeros: ids have 7 digits'
    assert harness.validate("lists.csv", sample="sample.csv", ids="exact").problems == ()


def test_an_item_in_one_list_with_the_one_that_it_looks_like_is_another() -> None:
    lists = "user,items\nu1,7 0007\nu2,123\n"
    faults = problems(lists, "user,items\nu1,0007 0123\nu2,0123\n")
    assert [(p.code, p.value, p.known, p.count) for p in faults.values()] == [
        ("SUB305", "123", "0123", 1),
        ("SUB320", "7", "0007", 1),
    ]
    fix(Path("lists.csv"), Against().scored_by(harness_solution()), Path("fixed.csv"))
    assert Path("fixed.csv").read_text() == lists.replace("123", "0123")


def test_where_lengths_differ_the_known_id_is_named() -> None:
    """A warning: 7 may be an item beside 007, of which no user has it."""
    faults = problems(by_rank("7", "123", "0999"), truth("007", "0123", "0999"))
    problem = faults["SUB320"]
    assert (problem.severity, problem.line, problem.user, problem.count) == ("warning", 2, "u1", 2)
    assert (problem.value, problem.known, problem.fixed) == ("7", "007", False)
    assert harness.score("lists.csv", solution="solution.csv", metrics="MAP@3").metrics[
        "MAP@3"
    ].mean == pytest.approx(1 / 3)


CATALOGUE = "item\n007\n0123\ncaf\u00e9\n12345\nx 1\nx-1\n100000\n"


@pytest.mark.parametrize(
    ("item", "code", "known"),
    [
        ("7", "SUB305", "007"),
        ("00123", "SUB317", "0123"),
        ("123.0", "SUB306", "0123"),
        ("1.2345E+04", "SUB307", "12345"),
        ("1e5", "SUB307", "100000"),
        ("'0123", "SUB310", "0123"),
        ("CAF\u00c9", "SUB317", "caf\u00e9"),
        ("0123\u00a0", "SUB317", "0123"),
    ],
)
def test_an_item_of_a_catalogue_is_an_error_that_shows_both(
    item: str, code: str, known: str
) -> None:
    Path("items.csv").write_text(CATALOGUE)
    (problem,) = checked(
        Path(), f"user,items\nann,0123 {item}\nbob,007 12345\n", of_tables(items=Path("items.csv"))
    ).problems
    assert (problem.code, problem.severity, problem.known) == (code, "error", known)
    assert (problem.line, problem.user) == (2, "ann")


# What is mended, and what ends it all.


def harness_solution() -> Any:
    return of_file(Path("solution.csv"))


def test_items_of_a_catalogue_are_mended() -> None:
    Path("items.csv").write_text(CATALOGUE)
    known = of_tables(items=Path("items.csv"))
    Path("lists.csv").write_text("user,items\nann,7 0123\u00a0 cafe\u0301 CAF\u00c9\nbob,12345 7\n")
    fix(Path("lists.csv"), known, Path("fixed.csv"))
    assert Path("fixed.csv").read_text() == "user,items\nann,007 0123 caf\u00e9\nbob,12345 007\n"


def test_exact_ids_are_what_they_are() -> None:
    """Nobody else is blamed; the lists of users who are not known are left out."""
    for written in ("0345\u00a0", " 0345", "345", "0345.0", "'0345"):
        assert problems(GOOD.replace("0345", written), ids="exact") == {}
        scored = harness.score("lists.csv", solution="solution.csv", ids="exact")
        assert scored.left_out["users_outside"] == 1
    faults = problems(by_rank("7", "123", "0999"), truth("0007", "0123", "0999"), ids="exact")
    assert [*faults] == ["SUB404"]
    Path("sample.csv").write_text("user_id,items\n0345,\n12,\n")
    Path("lists.csv").write_text("user_id,items\n345,a b\n12,a\n")
    exact = harness.validate("lists.csv", sample="sample.csv", ids="exact")
    assert [problem.code for problem in exact.errors] == ["SUB201", "SUB202"]
    with pytest.raises(UsageError, match="ids is 'all'; expected 'exact'"):
        harness.validate("lists.csv", ids="all")  # type: ignore[arg-type]


# No hit at all.


def test_no_hit_at_all_is_a_warning_of_few_users_too() -> None:
    lists = "user,items\nann,x y\nbob,y x\n"
    assert problems(lists, "user,items\nann,a\nbob,b\n")["SUB402"].value == "0 of 2"
    assert "SUB402" not in problems(lists, "user,items\nann,a\nbob,x\n")
    assert "SUB402" not in problems("user,items\nann,\nzoe,a\n", "user,items\nann,a\nbob,b\n")


# What the scan passes over is alike to nothing.

LETTERS = st.sampled_from("0017aAb\u00a0\u200b'.+eE\u00e9 ")
IDS = st.lists(st.text(LETTERS, min_size=1, max_size=5), min_size=1, max_size=30)


@settings(max_examples=settings.default.max_examples // 2)  # a tenth of a second each
@given(known=IDS, strangers=IDS)
def test_every_user_who_is_alike_is_found(known: list[str], strangers: list[str]) -> None:
    """Whichever ids the scan need not look at closely."""
    users = list(dict.fromkeys(text.strip(" \t\r") for text in known if text.strip(" \t\r")))
    unknown = [text for text in dict.fromkeys(strangers) if text.strip(" \t\r") not in ("", *users)]
    assume(users and unknown)
    bare = pl.Series([text.strip(" \t\r") for text in unknown], dtype=pl.String)
    expected = len(Meanings(pl.Series(users, dtype=pl.String)).of(bare))
    solution = pl.DataFrame({"user": users, "items": ["a"] * len(users)})
    rows = pl.DataFrame(
        {"user": pl.Series(unknown, dtype=pl.String), "items": ["a"] * len(unknown)}
    )
    faults = harness.validate(rows, solution=solution).problems
    assert sum(p.count for p in faults if p.code in ("SUB207", "SUB209")) >= expected
