"""Events of a few users: some are chosen, and brought into order."""

import numpy as np
import polars as pl
import pytest

from harness.data import _events
from harness.data.dataset import DAY_US, Events
from harness.data.loading import _order
from harness.data.ordering import _places, merged


def log() -> Events:
    """Return five events of three users, of whom the second has none."""
    user = np.array([0, 0, 2, 2, 2], np.int32)
    item = np.array([7, 8, 7, 9, 8], np.int32)
    time = np.array([1, 4, 2, 3, 5], np.int64)
    return Events(user, item, time, np.zeros(5, np.uint8))


@pytest.mark.parametrize("times_made", [False, True])
def test_events_since_a_moment(times_made: bool) -> None:
    kept = log().where(np.array([True, True, False, True, True]))
    assert not times_made or kept.time.tolist() == [1, 4, 3, 5]
    assert kept.since(4).tolist() == [False, True, False, True]


@pytest.mark.parametrize("times_made", [False, True])
def test_the_events_of_some_users_in_the_order_they_are_asked_for(times_made: bool) -> None:
    kept = log().where(np.array([True, True, False, True, True]))
    assert not times_made or len(kept.time) == 4
    found = kept.of_users(np.array([2, 1, 0], np.int32), 3)
    assert found.user_starts(3).tolist() == [0, 2, 2, 4]
    assert found.user.tolist() == [0, 0, 2, 2]
    assert found.item.tolist() == [9, 8, 7, 8]
    assert found.time.tolist() == [3, 5, 1, 4]
    assert found.kind.tolist() == [0, 0, 0, 0]


def test_a_user_asked_for_twice_has_the_events_twice() -> None:
    found = log().of_users(np.array([0, 0], np.int32), 3)
    assert found.item.tolist() == [7, 8, 7, 8]


def test_users_may_be_a_list() -> None:
    assert log().of_users([2, 0], 3).item.tolist() == [7, 9, 8, 7, 8]  # type: ignore[arg-type]


def test_nobody_has_no_events() -> None:
    found = log().of_users(np.zeros(0, np.int32), 3)
    assert (len(found), found.user_starts(0).tolist()) == (0, [0])


def test_chosen_events_begin_where_those_of_their_users_do() -> None:
    starts = np.array([0, 2, 2, 5])
    events = Events(log().user, log().item, log().time, log().kind, starts=starts)
    some = np.array([False, True, True, False, True])
    assert events.where(some).user_starts(3).tolist() == [0, 1, 1, 3]


def test_kept_events_are_counted_user_by_user() -> None:
    keep, ends = np.array([1, 0, 1, 1, 0], np.uint8), np.zeros(3, np.int64)
    _events.kept(keep, np.array([0, 2, 2, 5]), ends)
    assert ends.tolist() == [1, 1, 3]
    with pytest.raises(IndexError, match="events of user 2"):
        _events.kept(keep, np.array([0, 2, 2, 6]), ends)


@pytest.mark.parametrize(
    ("times", "unit"),
    [([0, DAY_US], 0), ([-DAY_US, DAY_US], 0), ([DAY_US, 2_000_000], 1), ([DAY_US, 1], 2)],
)
def test_the_coarsest_unit_of_times(times: list[int], unit: int) -> None:
    units = np.array([DAY_US, 1_000_000, 1])
    assert _events.span(np.array(times), units) == (min(times), max(times), unit)


@pytest.mark.parametrize("units", [[0, 1], [DAY_US]])
def test_units_end_with_one(units: list[int]) -> None:
    with pytest.raises(ValueError, match="1 is the last"):
        _events.span(np.array([5]), np.array(units))


IDS = {
    "short": ["b", "a", "", "ab"],
    "alike in eight bytes": ["customer2", "customer10", "customer1", "other"],
    "long and short": ["abcdefgh", "abcdefg", "abcdefghi", "abcdefg\0", "b"],
    "beyond ASCII": ["ééééz", "éééé", "z", "\U0001f600", "ﬀ"],
    "few alike": ["customer9", "b", "customer1", "a"],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS.keys())
def test_ids_are_ordered_by_their_bytes(ids: list[str]) -> None:
    found = pl.Series(ids).gather(_order(pl.Series(ids))).to_list()
    assert found == sorted(ids, key=str.encode)


def test_where_the_events_of_codes_go() -> None:
    starts, free = _places(np.array([2, 1, 3]), np.array([1, 0, 2], np.int32))
    assert (starts.tolist(), free.tolist()) == ([0, 1, 3, 6], [1, 0, 3])


def test_two_codes_of_one_user_share_a_place() -> None:
    starts, free = _places(np.array([2, 1, 3]), np.array([1, 0, 1], np.int32))
    assert (starts.tolist(), free.tolist()) == ([0, 1, 6], [1, 0, 3])


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_events_in_any_number_of_pieces_are_put_together(parts: int) -> None:
    user = np.array([1, 0, 1, 0, 1], np.int32)
    item = np.array([2, 0, 1, 1, 0], np.int32)
    time = np.array([3, 9, 3, 2, 1]) * DAY_US
    cut = [np.array_split(column, parts) for column in (user, item, time)]
    pieces = [
        Events(*columns, np.zeros(len(columns[0]), np.uint8)) for columns in zip(*cut, strict=True)
    ]
    found = merged(pieces, np.arange(2, dtype=np.int32), np.arange(3, dtype=np.int32), 1)
    assert pieces == []
    assert found.user.tolist() == [0, 0, 1, 1, 1]
    assert found.item.tolist() == [1, 0, 0, 1, 2]
    assert (found.time // DAY_US).tolist() == [2, 9, 1, 3, 3]
