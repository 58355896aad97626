"""Case 2.2: ids in another case are told as such (SUB213), those beyond the sample among them."""

from pathlib import Path

import polars as pl
import pytest

import harness


@pytest.mark.parametrize(
    ("users", "code"),
    [
        (["ANN", "BOB", "CY"], "SUB213"),
        (["CY"], "SUB213"),  # whom the solution alone has
        (["ANN", "ZED"], "SUB212"),
    ],
)
def test_another_case_is_told(tmp_path: Path, users: list[str], code: str) -> None:
    (tmp_path / "sample.csv").write_text("user,items\nann,\nbob,\n")
    solution = pl.DataFrame({"user": ["ann", "bob", "cy"], "items": ["a", "b", "c"]})
    file = pl.DataFrame({"user": users, "items": ["a b"] * len(users)})
    found = harness.validate(file, solution=solution, sample=tmp_path / "sample.csv")
    (problem,) = [p for p in found.errors if p.code in ("SUB212", "SUB213")]
    assert problem.code == code
    if code == "SUB213":
        assert problem.value == f'found "{users[0]}", asked for "{users[0].lower()}"'


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ("CA9F02B1", ["SUB209"]),
        ("cA9f02B1", ["SUB209"]),
        ("CA9F02B2", []),  # of whom nobody knows
        ("CA9F02B10", []),
    ],
)
def test_by_a_solution_alone_a_number_in_another_case_is_told(user: str, told: list[str]) -> None:
    solution = pl.DataFrame({"user": ["ca9f02b1", "bob"], "items": ["a", "b"]})
    file = pl.DataFrame({"user": [user, "bob"], "items": ["a b", "b a"]})
    assert [p.code for p in harness.validate(file, solution=solution).problems] == told
