"""A rehearsal of the task: what was known then, and what would have been asked for."""

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


def asked(found: Train) -> str:
    return "".join(found.candidate_ids)


def test_events_lie_before_the_window() -> None:
    found = rehearsal(shop({"a": [9, 7.5, 7, 1], "b": [8]}, "ab"), 7)
    assert found.frame["item"].to_list() == ["a", "b", "a"]
    assert found.cutoff == CUTOFF - 7 * DAY
    assert len(found.dataset.events) == 3


def test_known_candidates_rehearse_with_all_that_was_met() -> None:
    """Of three candidates one is new: most are known. "x" is met in the window, "n" never."""
    train = shop({"a": [9], "b": [8], "x": [3]}, "abn")
    assert asked(rehearsal(train, 7)) == "abx"


def test_new_candidates_rehearse_with_what_was_new() -> None:
    """Two of three are new. "x" and "y" are first met in the window, "a" before."""
    train = shop({"a": [9, 3], "x": [7, 3], "y": [0.5], "z": [7.5]}, "anm")
    assert asked(rehearsal(train, 7)) == "xy"
    assert asked(rehearsal(train, 8)) == "xyz"


def test_a_table_that_says_when_items_are_shown_is_believed() -> None:
    """Candidates are shown from the cut-off on, although "n" was seen before; "h" has no row."""
    shown = {"a": 30.0, "n": 0.0, "m": -2.0, "x": 7.0, "y": 0.1, "z": 7.1}
    train = shop({"a": [9], "n": [8], "x": [3], "h": [3]}, "nm", shown)
    assert asked(rehearsal(train, 7)) == "xy"


def test_events_without_times_cannot_be_rehearsed() -> None:
    train = shop({"a": [9]}, "a")
    with pytest.raises(ValueError, match="carry no time, so there are no last days to learn from"):
        rehearsal(Train(train.dataset, train.events, train.candidates, None), 7)
