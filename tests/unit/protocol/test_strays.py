"""Events that a long gap cuts off at the end of a log: which are, and how they are refused."""

import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from event_files import TWO_TABLES
from few_events import DAY, dataset

from harness import config as config_
from harness.core.errors import DataError
from harness.core.exact_sum import of_parts
from harness.data.buckets import prepared
from harness.evaluation.parts import plan_of
from harness.protocol.strays import Strays, by_day, strays_of
from harness.protocol.task import make_task
from harness.tuning.inner import inner_tasks

LOG = f"{small.LOG}bob,c,2037-01-01\n"
"""Eight events in eight days, and one."""
TOLD = "8 events run from 2020-01-01 to 2020-01-08, and 1 event follows on 2037-01-01, after "


def strays(days: list[int], more: int = 0) -> list[Strays]:
    """Return the strays of a log with an event on each of some days, and `more` on the first."""
    every = [days[0]] * more + days
    data = dataset([("ann", "a", day * DAY + DAY // 2) for day in every])
    return [side for side in strays_of(data, by_day(data)) if side is not None]


@pytest.mark.parametrize(
    ("days", "more", "expected"),
    [
        # Nine days of events, and ten without any, or nine.
        ([*range(9), 19], 0, [Strays(1, 10, (0, 8), (19, 19))]),
        ([*range(9), 18], 0, []),
        # Several, and one behind the other: all that the first such gap cuts off.
        ([*range(9), 30, 99], 7, [Strays(2, 18, (0, 8), (30, 99))]),
        # One of nine is few, one of eight is not, nor are two of sixteen.
        ([0, 1, 9], 6, [Strays(1, 9, (0, 1), (9, 9))]),
        ([0, 1, 9], 5, []),
        ([0, 1, 9, 9], 12, []),
        # A quarter of the days before, and one of 201 events behind it, or of 200.
        ([*range(8), 11], 192, [Strays(1, 201, (0, 7), (11, 11))]),
        ([*range(8), 11], 191, []),
        ([*range(8), 10], 192, []),
        # Three events; one day.
        ([0, 1, 5000], 0, []),
        ([0], 20, []),
        # The first, as where a missing time is 0; at both ends, where neither hides the other.
        ([-11, *range(9)], 0, [Strays(1, 10, (0, 8), (-11, -11))]),
        ([-10, *range(9)], 0, []),
        (
            [-9999, *range(9), 9999],
            0,
            [Strays(1, 10, (0, 8), (-9999, -9999)), Strays(1, 10, (0, 8), (9999, 9999))],
        ),
    ],
)
def test_which_events_are_cut_off(days: list[int], more: int, expected: list[Strays]) -> None:
    assert strays(days, more) == expected


def hints(words: str) -> list[dict[str, Any]]:
    """Return the conditions of the hints of a refusal: what leaves events out, what keeps them."""
    lines = [line.partition(", ") for line in words.splitlines()]
    texts = [hint.partition(" under [data]")[0] for first, _, hint in lines if first[:3] == "if "]
    return [tomllib.loads(hint)["where"] for hint in texts]


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"item": {"not": ["x"]}, "stars": ["1"]},
        {"time": {"min": date(2020, 1, 1)}},
        {"time": {"empty": False}},
        {"time": {"not": ["soon"], "min": date(1970, 1, 1)}, "stars": {"empty": False, "max": 1}},
    ],
)
def test_both_hints_work(tmp_path: Path, where: dict[str, Any]) -> None:
    """Also beside conditions that there are already, which they hold."""
    log = "".join(
        f"{line},{'1' if number else 'stars'}\n" for number, line in enumerate(LOG.splitlines())
    )
    time: Any = where.get("time", {})
    log += "bob,a,,1\n" * ("empty" in time) + "bob,a,soon,1\n" * ("not" in time)
    place = "instead of the one there" if where else ""
    with refusal(DataError, TOLD, place) as caught:
        make_task(small.config(tmp_path, log=log, data={"where": where}))
    left_out, kept = hints(str(caught.value))
    for name, held in where.items():
        assert left_out[name] == (held | {"max": date(2020, 1, 8)} if name == "time" else held)
    task = make_task(small.config(tmp_path, log=log, data={"where": left_out}))
    assert task.evaluation_set.user_ids.to_list() == ["ann", "bob", "cid"]
    task = make_task(small.config(tmp_path, log=log, data={"where": kept}))
    assert task.evaluation_set.user_ids.to_list() == ["bob"]


def test_first_events_that_are_cut_off_are_noted_with_what_leaves_them_out(tmp_path: Path) -> None:
    log = f"{small.LOG}bob,c,1970-01-01\n"
    config = small.config(tmp_path, log=log, data={"where": {"time": {"empty": False}}})
    (note,) = make_task(config).data.notes
    words, hint = note.split(". ")
    assert words == (
        "8 events run from 2020-01-01 to 2020-01-08, and 1 event is on 1970-01-01, before 18,261 "
        "days without any"
    )
    where = tomllib.loads(hint.partition(", ")[2].partition(" under [data]")[0])["where"]
    assert where == {"time": {"empty": False, "min": date(2020, 1, 1)}}
    (note,) = make_task(small.config(tmp_path, log=log, data={"where": where})).data.notes
    assert note.startswith("log.csv: 1 of 9 rows left out")


def test_where_tables_name_times_otherwise_the_files_are_to_be_mended(tmp_path: Path) -> None:
    two = "who,item,at\nann,a,2020-01-02\n"
    module = small.write(tmp_path, {"mine.py": TWO_TABLES, "one.csv": LOG, "two.csv": two})
    keys = {"layout": "mine:Shop", "path": ".", "cache": False}
    config = config_.parse(small.values() | {"data": keys}, module)
    with refusal(DataError, "if its time is wrong, remove it from the files of the log") as caught:
        make_task(config)
    assert "where" not in str(caught.value)


@pytest.mark.parametrize(
    "split", [{"strategy": "last_n", "n": 1}, {"strategy": "given", "valid": "later.csv"}]
)
def test_other_splits_are_taken_as_they_are(tmp_path: Path, split: dict[str, Any]) -> None:
    small.write(tmp_path, {"later.csv": "user,item,time\nbob,a,2037-01-01\n"})
    make_task(small.config(tmp_path, log=LOG, split=split))


@pytest.mark.parametrize("data", [{}, {"min_user_events": 2}])
def test_in_parts_they_are_refused_in_the_same_words(tmp_path: Path, data: dict[str, Any]) -> None:
    """Of a k-core, too, which leaves dan out."""
    more = "dan,a,2036-01-01\n" if data else ""
    config = small.config(tmp_path, log=LOG + more, data=data)
    with pytest.raises(DataError) as whole:
        make_task(config)
    with small.in_buckets(4), prepared(config.layout(), kept=False) as made:
        assert len(list(made.datasets())) > 1
        with pytest.raises(DataError) as in_parts:
            plan_of(config, made.shared, of_parts(made.datasets))
    assert str(in_parts.value).splitlines() == str(whole.value).splitlines()[:3]
    assert TOLD in str(whole.value)


def test_a_window_within_train_is_looked_at_too(tmp_path: Path) -> None:
    """The last event of each user is held out, and the one before it is the stray."""
    log = f"{LOG}bob,d,2037-01-02\n" + "".join(f"dan,a,2020-01-0{day}\n" for day in range(1, 8))
    outer = {"strategy": "last_n", "n": 1}
    config = small.config(tmp_path, log=log, split=outer, tune={"split": {"strategy": "time"}})
    with refusal(DataError, "and 1 event follows on 2037-01-01, after 6,202 days without any"):
        inner_tasks(config)
    with refusal(DataError, "and 2 events follow from 2037-01-01 to 2037-01-02, after 6,202 days"):
        inner_tasks(small.config(tmp_path, log=log))
