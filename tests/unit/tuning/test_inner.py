"""The inner evaluation set against some worked out by hand, and blind to the outer one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from conftest import refusal, words_of

from harness.config import Config, GivenSplit
from harness.core.errors import HarnessError, UsageError
from harness.protocol.task import Task, make_task
from harness.tuning.inner import inner_tasks, past

LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-01
cid,d,2020-01-02
dan,c,2020-01-05
ann,c,2020-01-08
bob,a,2020-01-07
bob,c,2020-01-08
eve,c,2020-01-08
"""
"""Up to the evaluation set, which is of 2020-01-09 or 10; eve is not seen before the 8th."""
HELD_OUT = "cid,b,2020-01-09\nann,d,2020-01-09\n"
OTHER = "zoe,e,2020-01-09\naaa,0,2020-01-09\nann,a,2020-01-09\nann,b,2020-01-09\n"
"""Other users and items, first and last by name, that nobody knew before."""
TIME = {"strategy": "time", "valid_days": 1}
GIVEN = {"strategy": "given", "valid": "valid.csv"}


def config(folder: Path, log: str = LOG + HELD_OUT, **sections: Any) -> Config:
    small.write(folder, {"valid.csv": "user,item,time\n" + HELD_OUT})
    return small.config(folder, log=log, **sections)


def inner_task(config: Config) -> Task:
    (only,) = inner_tasks(config)
    return only


NOON = (LOG + HELD_OUT).replace("\n", " 12:00:00\n").replace("time 12:00:00", "time")
LATER = LOG + HELD_OUT + "bob,d,2020-01-10\n"


def bought(**users: str) -> str:
    """Return a log of users who buy an item a day."""
    rows = [(u, i, day) for u, items in users.items() for day, i in enumerate(items, 1)]
    return "user,item,time\n" + "".join(f"{u},{i},2020-01-0{day}\n" for u, i, day in rows)


THE_8TH = "1 day from 2020-01-08"
TEST, ELAPSED = TIME | {"test_days": 1, "window": "test"}, TIME | {"days": "elapsed"}
LAST, HALF = {"strategy": "last_n", "n": 1}, {"strategy": "fraction", "fraction": 0.5}
SPLITS: list[tuple[str, Any, Any, str, dict[str, str]]] = [
    (LOG + HELD_OUT, TIME, TIME | {"valid_days": 2}, "2 days", {"ann": "c", "bob": "ac"}),
    (LOG + HELD_OUT, TIME, {}, THE_8TH, {"ann": "c", "bob": "c"}),
    # Ann and cid buy on the 9th what they did not know.
    (LATER, TEST, {}, "1 day from 2020-01-09", {"ann": "d", "cid": "b"}),
    (NOON, ELAPSED, {}, "1 day from 2020-01-07 12:00:00", {"ann": "c", "bob": "c"}),
    (LOG, GIVEN, TIME, THE_8TH, {"ann": "c", "bob": "c"}),
    # Of what is left; ann's c is no candidate, and cid has no event before.
    (bought(ann="acd", bob="bac", cid="ca"), LAST, {}, "", {"bob": "a"}),
    (bought(ann="abcd", bob="badc"), HALF, {}, "", {"ann": "b", "bob": "a"}),
]


@pytest.mark.parametrize(("log", "split", "inner", "summary", "truths"), SPLITS)
def test_the_inner_split(
    tmp_path: Path, log: str, split: Any, inner: Any, summary: str, truths: dict[str, str]
) -> None:
    tune = {"split": inner} if inner else {}
    task = inner_task(config(tmp_path, log, split=split, tune=tune))
    assert task.split.summary().startswith(summary)
    assert words_of(task.evaluation_set, task.evaluation_set.truth) == truths


def test_folds_are_tuned_before_the_earliest_cut_off(tmp_path: Path) -> None:
    """The 8th and 9th are the folds; the 7th and 6th the inner ones, the last drawing as alone."""
    log = LOG + HELD_OUT + "ann,b,2020-01-06\n"
    two = TIME | {"folds": 2}
    first, last = inner_tasks(config(tmp_path, log, split=two, tune={"split": two}))
    assert (first.split.summary(), first.config.fold) == ("1 day from 2020-01-06", 1)
    assert (last.split.summary(), last.config.fold) == ("1 day from 2020-01-07", 0)
    alone = inner_task(config(tmp_path, log, split=two))
    assert alone.evaluation_set.fingerprint == last.evaluation_set.fingerprint


INNER = "config: the inner split of train, [tune] split folds = 30: the events run from 2020-01-01"
QUIET = "user,item,time\nann,a,2020-01-01\nann,a,2020-01-07\n"
"""Nothing happens on the 8th, the day before the cut-off, which is a window nevertheless."""
MANY = TIME | {"folds": 30}
SHORT = "user,item,time\nann,a,2020-01-08\n"
STRANGERS = "user,item,time\nann,a,2020-01-01\nbob,a,2020-01-08\n"


@pytest.mark.parametrize(
    ("log", "outer", "inner", "words"),
    [
        # The events run from the 1st: eight of nine days have a day before them, of train seven.
        (LOG, MANY, {}, "config: [split] folds = 30: the events run from 2020-01-01"),
        (LOG, TIME, MANY, f"{INNER} to 2020-01-08, with room for 7 windows of 1 day"),
        (QUIET, TIME, MANY, f"{INNER} to 2020-01-07, with room for 7 windows of 1 day"),
        (SHORT, TIME, {}, "inner split of train: the split leaves no train event"),
        (STRANGERS, TIME, {}, "inner split of train: no user is left"),
        (LOG, GIVEN, {}, '"given" does not say how train is split for tuning; write [tune] split'),
    ],
)
def test_there_is_no_inner_split(
    tmp_path: Path, log: str, outer: dict[str, Any], inner: dict[str, Any], words: str
) -> None:
    tune = {"split": inner} if inner else {}
    with refusal(HarnessError, words):
        inner_tasks(config(tmp_path, log + HELD_OUT, split=outer, tune=tune))


def test_there_is_none_of_folds_that_are_given_nor_without_times(tmp_path: Path) -> None:
    settings = config(tmp_path, LOG, split=GIVEN)
    folds = GivenSplit(strategy="given", valid=["a.test", "b.test"])
    with refusal(UsageError, "[split] valid names 2 files", "tune a config with one file"):
        inner_tasks(settings.model_copy(update={"split": folds}))
    data = settings.data.model_copy(update={"time": False})
    with refusal(UsageError, "events without times cannot be split"):
        inner_tasks(settings.model_copy(update={"data": data}))


def test_the_rules_of_the_evaluation_set_are_kept(tmp_path: Path) -> None:
    """As the only one, on a log that ends where the outer one would begin, it is the same."""
    evaluation = {"seen_items": "drop", "users": "all", "require_hit": False}
    inner = inner_task(config(tmp_path, evaluation=evaluation))
    alone = make_task(config(tmp_path, LOG, evaluation=evaluation))
    assert inner.evaluation_set.fingerprint == alone.evaluation_set.fingerprint


def test_what_is_held_out_changes_nothing(tmp_path: Path) -> None:
    split = TIME | {"test_days": 1}
    ends = HELD_OUT + "cid,a,2020-01-10\n", OTHER + "yan,f,2020-01-10\nann,e,2020-01-10\n"
    first, other = (inner_task(config(tmp_path, LOG + end, split=split)) for end in ends)
    assert first.evaluation_set.fingerprint == other.evaluation_set.fingerprint
    for task in (first, other):
        assert task.train.user_ids.to_list() == ["ann", "bob", "cid", "dan", "eve"]
        assert task.train.item_ids.to_list() == list("abcd")
    assert first.train.frame.equals(other.train.frame)
    assert np.array_equal(first.hashes, other.hashes)
    assert first.data.notes == other.data.notes


def test_tables_keep_their_items_and_users_their_times(tmp_path: Path) -> None:
    """Of bob's c alone: he, c, and the items of the catalogue, a and d, stay."""
    data = make_task(config(tmp_path)).data
    assert data.user_ids[1] == "bob"
    whole = replace(
        data,
        catalogue=np.array([0, 3], np.int32),
        shown_from=np.arange(len(data.item_ids), dtype=np.int64),
        registered=np.arange(len(data.user_ids), dtype=np.int64) * 10,
    )
    kept: Any = past(whole, whole.events.where((data.events.user == 1) & (data.events.item == 2)))
    assert (kept.user_ids.to_list(), kept.item_ids.to_list()) == (["bob"], ["a", "c", "d"])
    assert (kept.events.user.tolist(), kept.events.item.tolist()) == ([0], [1])
    assert (kept.catalogue.tolist(), kept.shown_from.tolist()) == ([0, 2], [0, 2, 3])
    assert kept.registered.tolist() == [10]
