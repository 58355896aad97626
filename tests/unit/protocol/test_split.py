"""Splits against what their rules say, in plain Python; no event may be lost or stand twice."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small
from conftest import refusal
from few_events import DAY, Row, dataset
from hypothesis import example, given
from hypothesis import strategies as st

from harness.config import FractionSplit, GivenSplit, LastNSplit, SplitConfig, TimeSplit
from harness.core.errors import DataError
from harness.data.dataset import Dataset, Events
from harness.data.loading import load
from harness.protocol.split import Split, by_time, divided, end_of, split


def rows_of(data: Dataset, events: Events) -> list[Row]:
    users, items = data.user_ids.to_list(), data.item_ids.to_list()
    triples = zip(events.user, events.item, events.time, strict=True)
    return [(users[u], items[i], int(t)) for u, i, t in triples]


def at(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def days(events: Events) -> list[int]:
    return sorted({(int(t) - at("2020-09-01")) // DAY + 1 for t in events.time})


def a_month(hours: int = 0) -> Dataset:
    """Return an event a day, 1 to 30 September 2020, at so many hours past midnight."""
    first = at("2020-09-01") + hours * DAY // 24
    return dataset([("ann", "a", first + day * DAY) for day in range(30)])


def time_split(**keys: Any) -> TimeSplit:
    return TimeSplit(strategy="time", **keys)


@pytest.mark.parametrize("hours", [0, 23])
@pytest.mark.parametrize(
    ("keys", "first", "last", "held_back"),
    [
        # The test days are held back while the valid days are evaluated, or evaluated themselves.
        ({"valid_days": 3, "test_days": 2}, 26, 28, 2),
        ({"valid_days": 3, "test_days": 2, "window": "test"}, 29, 30, 0),
    ],
)
def test_calendar_holds_out_exactly_the_last_dates(
    keys: dict[str, Any], first: int, last: int, held_back: int, hours: int
) -> None:
    """The time of day changes nothing."""
    data, config = a_month(hours), time_split(**keys)
    parts = by_time(data, config, end_of(data, config))
    assert days(parts.train) == [*range(1, first)]
    assert days(parts.valid) == [*range(first, last + 1)]
    assert parts.held_back == held_back
    midnight = at(f"2020-09-{first}")
    assert (parts.cutoff, parts.until) == (midnight, midnight + (last - first + 1) * DAY)
    assert parts.summary() == f"{last - first + 1} days from 2020-09-{first}"


@pytest.mark.parametrize(
    ("times", "held"), [([DAY - 1, DAY], [DAY]), ([-DAY - 1, -DAY, -1], [-DAY, -1])]
)
def test_a_day_begins_at_midnight(times: list[int], held: list[int]) -> None:
    """The last date counts even where it has just begun; dates before 1970 are dates too."""
    parts = split(dataset([("ann", "a", time) for time in times]), time_split(valid_days=1))
    assert parts.valid.time.tolist() == held


def ponpare_side(time: int, last: int) -> str:
    """RecoTour: whole days back; 0–6 test, 7–13 valid, 14 and more train."""
    back = timedelta(microseconds=last - time).days
    return "test" if back <= 6 else "valid" if back <= 13 else "train"


moments = st.integers(-25 * DAY, 25 * DAY) | st.builds(
    lambda day, off: day * DAY + off, st.integers(-25, 25), st.integers(-1, 1)
)
EDGES = [-days * DAY + microsecond for days in (7, 14) for microsecond in (-1, 0, 1)]


@given(st.lists(moments, min_size=1, max_size=12), moments)
@example(EDGES, 0)
def test_elapsed_is_the_ponpare_protocol(times: list[int], origin: int) -> None:
    rows = [("ann", f"i{n}", origin + t) for n, t in enumerate([*times, 0, -8 * DAY, -40 * DAY])]
    last = max(t for _, _, t in rows)
    sides: dict[str, list[Row]] = {"train": [], "valid": [], "test": []}
    for row in sorted(rows):
        sides[ponpare_side(row[2], last)].append(row)
    data = dataset(rows)
    keys = {"days": "elapsed", "valid_days": 7, "test_days": 7}
    if sides["valid"]:
        parts = split(data, time_split(**keys))
        assert sorted(rows_of(data, parts.train)) == sides["train"]
        assert sorted(rows_of(data, parts.valid)) == sides["valid"]
        assert parts.held_back == len(sides["test"])
    tested = split(data, time_split(window="test", **keys))
    assert sorted(rows_of(data, tested.train)) == sorted(sides["train"] + sides["valid"])
    assert sorted(rows_of(data, tested.valid)) == sides["test"]


def test_elapsed_window_names_its_first_second() -> None:
    rows = [("ann", "a", at("2012-06-23 12:00:00") - day * DAY) for day in range(20)]
    parts = split(dataset(rows), time_split(days="elapsed", valid_days=7, test_days=7))
    assert parts.summary().startswith("7 days from 2012-06-09 12:00:00")


def numbered(sizes: dict[str, int]) -> list[Row]:
    return [(user, f"{n:03}", n * DAY) for user, size in sizes.items() for n in range(size)]


def test_last_n_takes_the_last_events_of_each_user() -> None:
    data = dataset(numbered({"ann": 4, "bob": 2, "cid": 1}))
    parts = split(data, LastNSplit(strategy="last_n", n=2))
    held = [(user, item) for user, item, _ in rows_of(data, parts.valid)]
    assert held == [("ann", "002"), ("ann", "003"), ("bob", "000"), ("bob", "001"), ("cid", "000")]
    assert len(parts.train) == 2
    assert parts.summary() == "5 events held out"
    assert (parts.cutoff, parts.until) == (DAY + 1, None)  # just after the last training event


@pytest.mark.parametrize(
    ("size", "fraction", "held"),
    [(5, 0.5, 2), (1, 0.9, 0), (10, 0.3, 3), (9, 0.3, 2), (100, 0.29, 29), (3, 1 / 3, 1)],
)
def test_fraction_is_rounded_down(size: int, fraction: float, held: int) -> None:
    data = dataset(numbered({"ann": size, "bob": 20}))
    parts = split(data, FractionSplit(strategy="fraction", fraction=fraction))
    anns = [item for user, item, _ in rows_of(data, parts.valid) if user == "ann"]
    assert anns == [f"{n:03}" for n in range(size - held, size)]


def given_split(folder: Path, log: str, valid: str, **data: Any) -> Split:
    small.write(folder, {"valid.csv": valid})
    rule = {"strategy": "given", "valid": "valid.csv"}
    config = small.config(folder, log=log, split=rule, data=data)
    return split(load(config.layout()), config.split)


def test_given_takes_the_second_table(tmp_path: Path) -> None:
    parts = given_split(tmp_path, small.LOG, "user,item,time\nann,z,2020-01-05\n")
    assert (len(parts.train), parts.valid.time.tolist()) == (8, [at("2020-01-05")])
    assert parts.cutoff == at("2020-01-08") + 1


def test_given_does_without_times(tmp_path: Path) -> None:
    log = "user,item\nann,a\n"
    parts = given_split(tmp_path, log, "user,item\nann,b\nann,a\n", time=False)
    assert (len(parts.train), len(parts.valid), parts.cutoff) == (1, 2, None)
    assert parts.notes()[0].startswith(
        "1 of 2 validation events is a training event too (the same user and item): models know"
    )


times = st.integers(0, 20).map(lambda day: day * DAY) | st.integers(0, 20 * DAY)
row = st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), times)
rows_strategy = st.lists(row, min_size=1, max_size=25)
GIVEN = GivenSplit(strategy="given", valid="evaluation_set.csv")


def test_validation_events_that_are_training_events_are_noted() -> None:
    """Of six events ann's two of a and bob's b are in both; others differ in one of the three."""
    train = [("ann", "a", 1), ("ann", "a", 1), ("ann", "b", 2), ("bob", "b", 1)]
    valid = [("ann", "a", 1), ("ann", "a", 1), ("ann", "a", 2), ("ann", "c", 2), ("bob", "b", 1)]
    parts = split(dataset(train, [*valid, ("cid", "b", 1)]), GIVEN)
    note = "3 of 6 validation events are training events too (the same user, item and time): "
    assert parts.notes() == (
        note + "models know the answer in advance; remove these events from one of the tables",
    )
    assert parts.notes("drop") == (
        note + 'seen_items = "drop" removes them from the truth; to predict them, remove them '
        "from [data] events",
    )


def test_another_type_of_event_at_the_same_time_is_the_same_event() -> None:
    """Types are not compared: a table to be evaluated on may have its own."""
    events = Events(
        *(np.zeros(3, dtype) for dtype in (np.int32, np.int32, np.int64)),
        np.array([0, 1, 2], np.uint8),
    )
    users, items, kinds = pl.Series(["ann"]), pl.Series(["a"]), ("sale", "view", "view")
    parts = split(Dataset("table", users, items, events, kinds, "train", valid_kinds=(2,)), GIVEN)
    assert parts.notes()[0].startswith("1 of 1 validation event is a training event too")


@pytest.mark.parametrize(
    ("config", "side"),
    [
        (time_split(valid_days=30), "train"),
        (time_split(valid_days=1, test_days=30), "train"),
        (LastNSplit(strategy="last_n", n=30), "train"),
        (FractionSplit(strategy="fraction", fraction=0.01), "validation"),
    ],
)
def test_an_empty_side_is_an_error_that_names_the_range(config: SplitConfig, side: str) -> None:
    named = f"no {side} event of 30 (they run from 2020-09-01 00:00:00 to 2020-09-30 00:00:00)"
    with refusal(DataError, named, "[split]"):
        split(a_month(), config)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        # Ratings of 5 and 4 as seconds since 1970, and seconds read as milliseconds.
        ([5_000_000, 4_000_000], ["from 1970-01-01", "is [data] time the column of times?"]),
        ([1_577_836_800_000] * 2, ["from 1970-01-19", 'are they seconds ("epoch_s")?']),
    ],
)
def test_odd_times_are_noted(times: list[int], words: list[str]) -> None:
    data = dataset([("ann", "a", time) for time in times])
    with refusal(DataError, words):
        split(data, time_split(valid_days=7))


configs = st.one_of(
    st.builds(
        time_split,
        valid_days=st.integers(1, 9),
        test_days=st.integers(1, 5),
        days=st.sampled_from(["calendar", "elapsed"]),
        window=st.sampled_from(["valid", "test"]),
    ),
    st.builds(LastNSplit, strategy=st.just("last_n"), n=st.integers(1, 4)),
    st.builds(FractionSplit, strategy=st.just("fraction"), fraction=st.floats(0.05, 0.95)),
)


@given(rows_strategy, configs, st.randoms(use_true_random=False))
def test_what_holds_for_every_split(rows: list[Row], config: SplitConfig, random: Any) -> None:
    turned = rows[:]
    random.shuffle(turned)
    data = dataset(rows)
    parts, again = divided(data, config), divided(dataset(turned), config)
    train, valid = rows_of(data, parts.train), rows_of(data, parts.valid)
    assert (train, valid) == (rows_of(data, again.train), rows_of(data, again.valid))
    rest = Counter(rows)
    rest.subtract(Counter(train) + Counter(valid))
    assert min(rest.values()) >= 0
    assert rest.total() == parts.held_back
    if train and valid:
        assert parts.cutoff is not None
        assert all(time < parts.cutoff for _, _, time in train)
    if train and valid and isinstance(config, TimeSplit):
        assert max(t for _, _, t in train) < min(t for _, _, t in valid)
    for user in "abc":
        times = [[t for u, _, t in side if u == user] for side in (train, valid)]
        assert max(times[0], default=0) <= min(times[1], default=10**18)
