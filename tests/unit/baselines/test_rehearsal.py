"""A rehearsal of the task: what was known then, and what would have been asked for."""

from dataclasses import replace
from typing import Any

import pytest
import shops
from shops import CUTOFF, DAY

from baselines.ranker import rehearsal
from harness.models.base import Train


def shop(
    ages: dict[str, list[float]], candidates: str, shown: dict[str, float] | None = None
) -> Train:
    """Return a shop of one user's events, by item and days before the cut-off."""
    rows = [("u", item, age) for item, each in ages.items() for age in each]
    others = "".join(shown or {})
    return shops.shop(rows, candidates, shown=shown, everyone=["u"], others=others)


def test_events_lie_before_the_window() -> None:
    past = rehearsal(shop({"a": [9, 7.5, 7, 1], "b": [8]}, "ab"), 7)
    assert past.frame["item"].to_list() == ["a", "b", "a"]
    assert past.cutoff == CUTOFF - 7 * DAY
    assert len(past.dataset.events) == 3


SHOWN = {"a": 30.0, "n": 0.0, "m": -2.0, "x": 7.0, "y": 0.1, "z": 7.1}


@pytest.mark.parametrize(
    ("ages", "candidates", "shown", "days", "expected"),
    [
        # Of three candidates one is new, so all that was met; "x" is met in the window, "n" never.
        ({"a": [9], "b": [8], "x": [3]}, "abn", None, 7, "abx"),
        # Two of three are new. "x" and "y" are first met in the window, "a" before.
        ({"a": [9, 3], "x": [7, 3], "y": [0.5], "z": [7.5]}, "anm", None, 7, "xy"),
        ({"a": [9, 3], "x": [7, 3], "y": [0.5], "z": [7.5]}, "anm", None, 8, "xyz"),
        # The table says that "n" is shown from the cut-off on, although it was seen before.
        ({"a": [9], "n": [8], "x": [3], "h": [3]}, "nm", SHOWN, 7, "xy"),
    ],
)
def test_candidates_are_as_new_as_those_of_the_task(
    ages: Any, candidates: str, shown: Any, days: int, expected: str
) -> None:
    assert "".join(rehearsal(shop(ages, candidates, shown), days).candidate_ids) == expected


def test_events_without_times_cannot_be_rehearsed() -> None:
    train = shop({"a": [9]}, "a")
    with pytest.raises(ValueError, match="carry no time, so there are no last days to learn from"):
        rehearsal(replace(train, cutoff=None), 7)
