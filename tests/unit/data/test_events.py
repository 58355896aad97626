"""Events of a few users: some are chosen, and brought into order."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import pytest

from harness.data.dataset import DAY_US, Events
from harness.data.loading import sorted_ids
from harness.data.ordering import merged


def log() -> Events:
    """Return five events of three users, of whom the second has none."""
    user = np.array([0, 0, 2, 2, 2], np.int32)
    item = np.array([7, 8, 7, 9, 8], np.int32)
    time = np.array([1, 4, 2, 3, 5], np.int64)
    return Events(user, item, time, np.zeros(5, np.uint8))


KEEP = np.array([True, True, False, True, True])


@pytest.mark.parametrize("times_made", [False, True])
def test_the_events_of_some_users_in_the_order_they_are_asked_for(times_made: bool) -> None:
    kept = log().where(KEEP)
    assert not times_made or kept.time.tolist() == [1, 4, 3, 5]
    assert kept.since(4).tolist() == [False, True, False, True]
    result = kept.of_users(np.array([2, 1, 0], np.int32), 3)
    assert result.user_starts(3).tolist() == [0, 2, 2, 4]
    assert (result.user.tolist(), result.kind.tolist()) == ([0, 0, 2, 2], [0, 0, 0, 0])
    assert (result.item.tolist(), result.time.tolist()) == ([9, 8, 7, 8], [3, 5, 1, 4])


@pytest.mark.parametrize(
    ("users", "items", "starts"),
    [([0, 0], [7, 8, 7, 8], [0, 2, 4]), ([2, 0], [7, 9, 8, 7, 8], [0, 3, 5]), ([], [], [0])],
)
def test_users_may_be_a_list_of_any_length(users: Any, items: list[int], starts: Any) -> None:
    result = log().of_users(users, 3)
    assert (result.item.tolist(), result.user_starts(len(users)).tolist()) == (items, starts)


def of_starts(starts: Iterable[int], times: int = 1) -> Events:
    """Return `log` with the events of each user so many times, and where they begin."""
    user, item, time, kind = (
        np.repeat(getattr(log(), name), times) for name in ("user", "item", "time", "kind")
    )
    return Events(user, item, time, kind, starts=np.array(list(starts)) * times)


@pytest.mark.parametrize("times", [1, 30_000])  # few are found by their places, many are counted
def test_chosen_events_begin_where_those_of_their_users_do(times: int) -> None:
    some = of_starts([0, 2, 2, 5], times).where(np.repeat(KEEP, times))
    assert some.user_starts(3).tolist() == [0, 2 * times, 2 * times, 4 * times]
    for _ in range(2):  # before the column is made, and of it
        assert some.item_counts(10)[7:].tolist() == [times, 2 * times, times]
        assert some.item[0] == 7


def test_events_beyond_the_last_are_not_counted() -> None:
    some = of_starts([0, 2, 2, 6], 30_000).where(np.repeat(KEEP, 30_000))
    with pytest.raises(IndexError, match="events of user 2"):
        some.user_starts(3)


def test_ids_are_ordered_by_their_bytes() -> None:
    for ids in (
        ["b", "a", "", "ab"],
        ["customer2", "customer10", "customer1", "other"],  # alike in eight bytes
        ["abcdefgh", "abcdefg", "abcdefghi", "abcdefg\0", "b"],
        ["ééééz", "éééé", "z", "\U0001f600", "ﬀ"],
        ["b", "a", "b"],
    ):
        index, places = sorted_ids(pl.Series(ids))
        assert index.to_list() == sorted(set(ids), key=str.encode)
        assert index.gather(places).to_list() == ids


USER = np.array([1, 0, 1, 0, 1], np.int32)
ITEM = np.array([2, 0, 1, 1, 0], np.int32)
DAYS = np.array([3, 9, 3, 2, 1])


def in_order(parts: int, times: Any, users: list[int]) -> Events:
    """Return events in pieces as one, those of each code of a user in the place of `users`."""
    kinds = np.zeros(len(times), np.uint8)
    user, item, time, kind = (np.array_split(c, parts) for c in (USER, ITEM, times, kinds))
    pieces = [Events(user[n], item[n], time[n], kind[n]) for n in range(parts)]
    result = merged(pieces, np.array(users, np.int32), np.arange(3, dtype=np.int32), 1)
    assert pieces == []
    return result


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("users", "order", "items", "days"),
    [
        ([0, 1], [0, 0, 1, 1, 1], [1, 0, 0, 1, 2], [2, 9, 1, 3, 3]),
        ([1, 0], [0, 0, 0, 1, 1], [0, 1, 2, 1, 0], [1, 3, 3, 2, 9]),
        ([0, 0], [0, 0, 0, 0, 0], [0, 1, 1, 2, 0], [1, 2, 3, 3, 9]),  # two codes of one user
    ],
)
def test_pieces_are_put_together(parts: int, users: Any, order: Any, items: Any, days: Any) -> None:
    result = in_order(parts, DAYS * DAY_US, users)
    assert (result.user.tolist(), result.item.tolist()) == (order, items)
    assert (result.time // DAY_US).tolist() == days


@pytest.mark.parametrize("unit", [DAY_US, 1_000_000, 1])
@pytest.mark.parametrize("before", [0, 5])
def test_times_are_kept_to_the_microsecond(unit: int, before: int) -> None:
    """Days, seconds and microseconds are packed in fewer bits or in more."""
    result = in_order(1, (DAYS - before) * unit, [0, 1])
    assert result.time.tolist() == [unit * (day - before) for day in (2, 9, 1, 3, 3)]


@pytest.mark.parametrize("last", [7, 1 << 62])  # which fit into one number with the rest, or not
def test_equal_events_are_ordered_by_row_and_then_by_value(last: int) -> None:
    user, item = np.zeros(4, np.int32), np.array([2, 0, 2, 0], np.int32)
    time, kind = np.array([last, 1, last, 1]), np.array([1, 1, 1, 0], np.uint8)
    row, value = np.array([9, 4, 9, 5]), np.array([2.5, 0.0, -1.0, 2.5])
    events = Events(user, item, time, kind, row, value)
    users, items = np.arange(1, dtype=np.int32), np.arange(3, dtype=np.int32)
    result = merged([events], users, items, 2)
    assert result.time.tolist() == [1, 1, last, last]
    assert (result.item.tolist(), result.kind.tolist()) == ([0, 0, 2, 2], [0, 1, 1, 1])
    assert result.row is not None
    assert result.value is not None
    assert (result.row.tolist(), result.value.tolist()) == ([5, 4, 9, 9], [2.5, 0.0, -1.0, 2.5])
