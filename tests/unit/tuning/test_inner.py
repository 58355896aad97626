"""The inner evaluation set against some worked out by hand, and blind to the outer one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from conftest import refusal

from harness import config as config_
from harness.config import Config, GivenSplit
from harness.core.errors import DataError, EmptyEvaluationSetError, UsageError
from harness.protocol.evaluation_set import EvaluationSet
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


def config(folder: Path, log: str = LOG + HELD_OUT, **sections: Any) -> Config:
    return small.config(folder, log=log, **sections)


def inner_task(config: Config) -> Task:
    (only,) = inner_tasks(config)
    return only


def truth(evaluation_set: EvaluationSet) -> dict[str, str]:
    ids, ends = evaluation_set.candidate_ids.to_list(), evaluation_set.truth.indptr.tolist()
    items = evaluation_set.truth.indices.tolist()
    return {
        user: "".join(ids[p] for p in items[ends[n] : ends[n + 1]])
        for n, user in enumerate(evaluation_set.user_ids.to_list())
    }


def candidates(evaluation_set: EvaluationSet) -> str:
    return "".join(evaluation_set.candidate_ids.to_list())


def test_a_time_split_holds_out_the_days_before_the_cut_off(tmp_path: Path) -> None:
    inner = inner_task(config(tmp_path))
    assert inner.split.summary() == "1 day from 2020-01-08"
    assert truth(inner.evaluation_set) == {"ann": "c", "bob": "c"}
    assert candidates(inner.evaluation_set) == "abcd"
    assert [step.users for step in inner.evaluation_set.funnel] == [3, 2, 2]
    assert len(inner.split.train) == 5
    assert inner.train.cutoff == inner.split.cutoff


def test_tune_split_says_another_length(tmp_path: Path) -> None:
    inner = inner_task(config(tmp_path, tune={"split": {"strategy": "time", "valid_days": 2}}))
    assert inner.split.summary() == "2 days from 2020-01-07"
    assert truth(inner.evaluation_set) == {"ann": "c", "bob": "ac"}


@pytest.mark.parametrize("window", ["valid", "test"])
def test_test_days_are_held_back_once(tmp_path: Path, window: str) -> None:
    """The 10th is the test day and the 9th the valid one; the 10th, held out, trains on the 9th."""
    log = LOG + HELD_OUT + "bob,d,2020-01-10\n"
    settings = config(tmp_path, log, split=TIME | {"test_days": 1, "window": window})
    day = {"valid": "2020-01-08", "test": "2020-01-09"}[window]
    assert inner_task(settings).split.summary() == f"1 day from {day}"


def test_folds_are_tuned_before_the_earliest_cut_off(tmp_path: Path) -> None:
    """The 8th and 9th are the folds; the 7th and 6th the inner ones, the last drawing as alone."""
    log = LOG + HELD_OUT + "ann,b,2020-01-06\n"
    inner = TIME | {"folds": 2}
    settings = config(tmp_path, log, split=TIME | {"folds": 2}, tune={"split": inner})
    first, last = inner_tasks(settings)
    assert (first.split.summary(), last.split.summary()) == (
        "1 day from 2020-01-06",
        "1 day from 2020-01-07",
    )
    assert (first.config.fold, last.config.fold) == (1, 0)
    alone = inner_task(config(tmp_path, log, split=TIME | {"folds": 2}))
    assert alone.evaluation_set.fingerprint == last.evaluation_set.fingerprint
    assert alone.config.fold == 0


INNER = (
    "config: the inner split of train, [tune] split folds = 30: the events run from 2020-01-01 to "
)
QUIET = "user,item,time\nann,a,2020-01-01\nann,a,2020-01-07\n"
"""Nothing happens on the 8th, the day before the cut-off, which is a window nevertheless."""


@pytest.mark.parametrize(
    ("log", "outer", "inner", "told"),
    [
        (LOG, TIME | {"folds": 30}, {}, "config: [split] folds = 30: "),
        (LOG, TIME, TIME | {"folds": 30}, f"{INNER}2020-01-08, with room for 7 windows of 1 day"),
        (
            LOG,
            {"strategy": "last_n", "n": 1},
            TIME | {"folds": 30},
            f"{INNER}2020-01-08, with room",
        ),
        (QUIET, TIME, TIME | {"folds": 30}, f"{INNER}2020-01-07, with room for 7 windows of 1 day"),
    ],
)
def test_more_folds_than_there_is_room_for(
    tmp_path: Path, log: str, outer: dict[str, Any], inner: dict[str, Any], told: str
) -> None:
    """The events run from the 1st: eight of nine days have a day before them, of train seven."""
    tune = {"split": inner} if inner else {}
    settings = config(tmp_path, log + HELD_OUT, split=outer, tune=tune)
    with refusal(UsageError, told, "windows of 1 day" if inner else "room for 8 windows of 1 day"):
        inner_tasks(settings)


def test_given_folds_are_not_tuned_on(tmp_path: Path) -> None:
    for name in ("a.test", "b.test"):
        (tmp_path / name).write_text("user,item,time\n" + HELD_OUT)
    settings = config(tmp_path, LOG).model_copy(
        update={"split": GivenSplit(strategy="given", valid=["a.test", "b.test"])}
    )
    with refusal(UsageError, "[split] valid names 2 files", "tune a config with one file"):
        inner_tasks(settings)


def test_elapsed_days_end_at_the_very_cut_off(tmp_path: Path) -> None:
    """All happens at noon, so a day begins just after noon, and ends with it."""
    header, *rows = (LOG + HELD_OUT).splitlines()
    log = "".join(f"{line}\n" for line in [header, *(f"{row} 12:00:00" for row in rows)])
    inner = inner_task(config(tmp_path, log, split=TIME | {"days": "elapsed"}))
    assert inner.split.summary() == "1 day from 2020-01-07 12:00:00"
    assert truth(inner.evaluation_set) == {"ann": "c", "bob": "c"}


def test_last_n_is_asked_again_of_what_is_left(tmp_path: Path) -> None:
    """Without each user's last, held out, ann has a, c and bob b, a; their last is the inner."""
    log = "user,item,time\n" + "".join(
        f"{user},{item},2020-01-0{day}\n"
        for user, items in (("ann", "acd"), ("bob", "bac"), ("cid", "ca"))
        for day, item in enumerate(items, 1)
    )
    inner = inner_task(config(tmp_path, log, split={"strategy": "last_n", "n": 1}))
    assert candidates(inner.evaluation_set) == "ab"
    assert truth(inner.evaluation_set) == {
        "bob": "a"
    }  # ann's c is no candidate; cid has no event before


def test_fraction_is_asked_again_of_what_is_left(tmp_path: Path) -> None:
    """Of four events two are held out; of the other two one is, within."""
    log = "user,item,time\n" + "".join(
        f"{user},{item},2020-01-0{day}\n"
        for user, items in (("ann", "abcd"), ("bob", "badc"))
        for day, item in enumerate(items, 1)
    )
    inner = inner_task(config(tmp_path, log, split={"strategy": "fraction", "fraction": 0.5}))
    assert truth(inner.evaluation_set) == {"ann": "b", "bob": "a"}
    assert candidates(inner.evaluation_set) == "ab"


def given(folder: Path, **tune: Any) -> Config:
    (folder / "valid.csv").write_text("user,item,time\n" + HELD_OUT)
    split = {"strategy": "given", "valid": "valid.csv"}
    return config(folder, LOG, split=split, tune=tune)


def test_a_given_evaluation_set_says_no_inner_split(tmp_path: Path) -> None:
    with refusal(UsageError, 'strategy "given"', "[tune] split", "last_n"):
        inner_task(given(tmp_path))


def test_a_given_evaluation_set_with_a_split_for_tuning(tmp_path: Path) -> None:
    inner = inner_task(given(tmp_path, split=TIME))
    assert inner.split.summary() == "1 day from 2020-01-08"
    assert truth(inner.evaluation_set) == {"ann": "c", "bob": "c"}


def test_without_times_there_is_none(tmp_path: Path) -> None:
    settings = given(tmp_path)
    timeless = settings.model_copy(
        update={"data": settings.data.model_copy(update={"time": False})}
    )
    with pytest.raises(UsageError, match="events without times cannot be split"):
        inner_task(timeless)


@pytest.mark.parametrize(
    "rules",
    [{}, {"seen_items": "drop"}, {"users": "all", "require_hit": False}, {"truth": "candidates"}],
)
def test_the_rules_of_the_evaluation_set_are_kept(tmp_path: Path, rules: dict[str, Any]) -> None:
    """As the only one, on a log that ends where the outer one would begin, it is the same."""
    evaluation = {"k": 2, **rules}
    inner = inner_task(config(tmp_path / "one", evaluation=evaluation))
    alone = make_task(config(tmp_path / "two", LOG, evaluation=evaluation))
    assert inner.evaluation_set.fingerprint == alone.evaluation_set.fingerprint


@pytest.mark.parametrize("split", [TIME, {"strategy": "time", "valid_days": 1, "test_days": 1}])
def test_what_is_held_out_changes_nothing(tmp_path: Path, split: dict[str, Any]) -> None:
    late = ["cid,a,2020-01-10\n", "yan,f,2020-01-10\nann,e,2020-01-10\n"]
    held = late if "test_days" in split else ["", ""]
    one, other = (
        inner_task(config(tmp_path / name, LOG + evaluation_set + more, split=split))
        for name, evaluation_set, more in zip("ab", (HELD_OUT, OTHER), held, strict=True)
    )
    assert one.evaluation_set.fingerprint == other.evaluation_set.fingerprint
    assert one.train.user_ids.to_list() == other.train.user_ids.to_list() == [
        "ann", "bob", "cid", "dan", "eve",
    ]  # fmt: skip
    assert one.train.item_ids.to_list() == other.train.item_ids.to_list() == list("abcd")
    assert one.train.frame.equals(other.train.frame)
    assert np.array_equal(one.hashes, other.hashes)
    assert one.data.notes == other.data.notes


def test_an_empty_inner_evaluation_set_is_told(tmp_path: Path) -> None:
    short = "user,item,time\nann,a,2020-01-08\n" + HELD_OUT
    told = ["inner split of train: the split leaves no train event", "[tune] split sets another"]
    with refusal(DataError, *told):
        inner_task(config(tmp_path, short))
    strangers = "user,item,time\nann,a,2020-01-01\nbob,a,2020-01-08\n" + HELD_OUT
    with pytest.raises(EmptyEvaluationSetError, match=r"inner split of train: no user is left"):
        inner_task(config(tmp_path, strangers))


def test_tables_keep_their_items_and_users_their_times(tmp_path: Path) -> None:
    """Of users a, b, c and items 0 to 4 the event of b with 3 stays, and what the catalogue has."""
    data = make_task(config(tmp_path)).data
    ids = data.item_ids.to_list()
    whole = replace(
        data,
        catalogue=np.array([0, 3], np.int32),
        shown_from=np.arange(len(ids), dtype=np.int64),
        registered=np.arange(len(data.user_ids), dtype=np.int64) * 10,
    )
    bob = data.user_ids.to_list().index("bob")
    kept = past(whole, whole.events.where((whole.events.user == bob) & (whole.events.item == 2)))
    assert kept.user_ids.to_list() == ["bob"]
    assert kept.item_ids.to_list() == ["a", "c", "d"]
    assert (kept.events.user.tolist(), kept.events.item.tolist()) == ([0], [1])
    assert kept.catalogue is not None
    assert kept.catalogue.tolist() == [0, 2]
    assert kept.shown_from is not None
    assert kept.shown_from.tolist() == [0, 2, 3]
    assert kept.registered is not None
    assert kept.registered.tolist() == [10]


def test_candidates_shown_in_the_inner_window(tmp_path: Path) -> None:
    """The sample of Ponpare: coupons first shown in the seven days before the cut-off."""
    settings = config_.read(Path(__file__).parents[3] / "configs" / "demo-ponpare.toml")
    inner, outer = inner_task(settings), make_task(settings)
    assert outer.split.cutoff is not None
    assert outer.data.shown_from is not None
    shown = dict(zip(outer.data.item_ids.to_list(), outer.data.shown_from.tolist(), strict=True))
    end, week = outer.split.cutoff, 7 * 86_400_000_000
    expected = {item for item, time in shown.items() if end - week <= time < end}
    assert set(inner.evaluation_set.candidate_ids.to_list()) == expected
    assert expected.isdisjoint(outer.evaluation_set.candidate_ids.to_list())
