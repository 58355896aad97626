"""New ids of a given split that look like known ones, in one place or in parts."""

from typing import Any

import polars as pl
import pytest
from few_events import dataset

from harness.config import GivenSplit
from harness.core.exact_sum import of_parts
from harness.protocol.newcomers import Newcomers, Sides, newcomers, newcomers_of_parts, odd_forms
from harness.protocol.split import split

GIVEN = GivenSplit(strategy="given", valid="valid.csv")


def sides(new: list[str], known: list[str]) -> Sides:
    return {"new": pl.Series(new, dtype=pl.String), "known": pl.Series(known, dtype=pl.String)}


def in_parts(parts: list[Sides]) -> Newcomers:
    """Return what parts tell that know only their own users."""
    whole: Any = of_parts(lambda: parts)
    odd: Any = whole(odd_forms)
    return newcomers_of_parts(odd, lambda part: part, whole)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("new", "known", "expected"),
    [
        (["107 ", "100.0", "x"], ["100", "107"], Newcomers(2, "100.0", "100")),
        (["7"], ["007", "07"], Newcomers(1, "7", "007")),
        (["007", "7"], ["07"], Newcomers(2, "007", "07")),
        (["12\u00a0345"], ["12345", "12 345"], Newcomers(1, "12\u00a0345", "12 345")),
        (["1.2E+05", "1.3E+05"], ["123456", "x"], Newcomers(1, "1.2E+05", "123456")),
        (["123456", "124000"], ["1.2e+05"], Newcomers(2, "123456", "1.2e+05")),
        (["123456"], ["124000"], Newcomers()),  # rounded alike, and two numbers
        (["bob", "8"], ["ann", "7"], Newcomers()),
        ([], ["ann"], Newcomers()),
    ],
)
def test_wherever_users_are(new: list[str], known: list[str], expected: Newcomers) -> None:
    assert newcomers(sides(new, known)) == expected
    apart = [sides([user], []) for user in new] + [sides([], [user]) for user in known]
    assert in_parts(apart) == expected
    assert in_parts([sides(new, known)]) == expected


def test_a_split_notes_users_and_items() -> None:
    """Ann, who is new with a space behind her, is no new person; the item 07 is 7."""
    train = [("ann", "7", 1), ("bob", "b", 1), ("cid", "b", 1)]
    valid = [("ann ", "b", 2), ("Bob", "7", 2), ("zoe", "07\u00a0", 2), ("cid", "8", 2)]
    assert split(dataset(train, valid), GIVEN).notes() == (
        '2 users of [split] valid are new, and look like users of [data] events, such as "Bob" '
        'like "bob": ids are text, so these are different users; use one spelling',
        "1 item of [split] valid is new, and looks like items of [data] events, such as "
        r'"07\u00a0" like "7": ids are text, so these are different items; use one spelling',
    )
