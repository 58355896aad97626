"""Per-user splits whose cut falls among events of equal time: `ties` decides, not item ids."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import ROOT, refusal

from harness import config as config_
from harness.config import Config
from harness.core.errors import UsageError
from harness.protocol.task import Task, make_task
from harness.tuning.inner import inner_tasks

ONE_DAY = "2020-01-01"
THREE_EACH = [f"u{n:03} {item}" for n in range(40) for item in "abc"]


def log_of(rows: Iterable[str]) -> str:
    """Return a log of `user item` pairs, all on one day."""
    return "user,item,time\n" + "".join(f"{row.replace(' ', ',')},{ONE_DAY}\n" for row in rows)


def config_of(folder: Path, log: str, split: dict[str, Any] | None = None, **more: Any) -> Config:
    """Return a config that holds out the last event of each user, or else splits so."""
    rule = {"strategy": "last_n", "n": 1, **(split or {})}
    if rule["strategy"] != "last_n":
        del rule["n"]
    evaluation = {"require_hit": False, "seed": more.pop("seed", 0)}
    return small.config(folder, log=log, split=rule, evaluation=evaluation, **more)


def held_out(task: Task) -> dict[str, str]:
    data, valid = task.data, task.split.valid
    users, items = data.user_ids.to_list(), data.item_ids.to_list()
    return {users[u]: items[i] for u, i in zip(valid.user, valid.item, strict=True)}


def last_items(folder: Path, log: str, split: Any = None, **more: Any) -> dict[str, str]:
    return held_out(make_task(config_of(folder, log, split, **more)))


def test_shuffle_favours_no_item_where_id_takes_the_highest(tmp_path: Path) -> None:
    log = log_of(f"u{n} {item}" for n in range(900) for item in "abc")
    shuffled = Counter(last_items(tmp_path, log).values())
    # A third of 900 each; five standard deviations (14.1) are 71.
    assert all(abs(shuffled[item] - 300) < 71 for item in "abc"), shuffled
    assert set(last_items(tmp_path, log, {"ties": "id"}).values()) == {"c"}


def test_nothing_but_the_seed_moves_what_is_held_out(tmp_path: Path) -> None:
    """Neither rows in another order, nor other users, earlier events and the seed of metrics."""
    alone = last_items(tmp_path, log_of(THREE_EACH))
    assert last_items(tmp_path, log_of(THREE_EACH), {"seed": 0}, seed=7) == alone
    assert last_items(tmp_path, log_of(THREE_EACH), {"seed": 7}) != alone
    assert last_items(tmp_path, log_of(THREE_EACH[::-1])) == alone
    more = log_of(["aaa z", "aaa y", *THREE_EACH, "zzz y", "zzz z"])
    more += "u000,earlier,2019-01-01\naaa,x,2020-01-02\n"
    wider = last_items(tmp_path, more)
    assert {user: item for user, item in wider.items() if user in alone} == alone
    assert {last_items(tmp_path, more, {"seed": seed})["aaa"] for seed in range(8)} == {"x"}


def test_file_holds_out_what_stands_last_in_the_file(tmp_path: Path) -> None:
    rows = "ann,c,1", "bob,a,1", "ann,b,1", "ann,a,1", "ann,d,0", "bob,c,1", "bob,b,1"
    log = "user,item,rating,time\n" + "".join(f"{row},{ONE_DAY}\n" for row in rows)
    for data, ann in (({}, "d"), ({"where": {"rating": {"min": 1}}}, "a")):
        assert last_items(tmp_path, log, {"ties": "file"}, data=data) == {"ann": ann, "bob": "b"}


def test_file_order_is_kept_in_the_cache_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(["ann b", "ann c", "ann a", "bob a", "bob b"])
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")  # else files just written are not kept
    config = config_of(tmp_path, log, {"ties": "file"}, data={"cache": True})
    read = make_task(config)
    monkeypatch.setattr("harness.data.loading.load", lambda *_: pytest.fail("read again"))
    assert held_out(make_task(config)) == held_out(read) == {"ann": "a", "bob": "b"}


LAST_IN_FILE = {"split": {"strategy": "last_n", "n": 1, "ties": "file"}}


def test_file_is_refused_where_rows_have_no_common_order(tmp_path: Path) -> None:
    small.write(tmp_path, {"log/1.csv": log_of(["ann a", "ann b"]), "log/2.csv": log_of(["bob a"])})
    folder = {"events": "log"}
    config = config_of(tmp_path, "", {"ties": "file"}, data=folder)
    with refusal(UsageError, '[split] ties = "file"', str(tmp_path / "log"), 'ties = "shuffle"'):
        make_task(config)
    config = config_of(tmp_path, "", data=folder, tune=LAST_IN_FILE)
    make_task(config)  # a run takes no notice of [tune]
    with refusal(UsageError, "[tune] split", 'ties = "file"', 'set ties = "shuffle"'):
        inner_tasks(config)


def test_file_is_refused_where_events_come_from_several_tables() -> None:
    last_in_file = "split={strategy='last_n', n=1, ties='file'}"
    config = config_.read(ROOT / "configs" / "demo-ponpare.toml", [last_in_file])
    with pytest.raises(UsageError, match=r"detail_train.* and .*visit_train"):
        make_task(config)


# ann is cut among equal times, bob between two days, and all of cid is held out.
ONE_OF_TWO = log_of(["ann a", "ann b", "bob a", "cid a"]) + "bob,b,2020-01-02\n"
NONE_OF_TWO = log_of(["ann a", "bob b"]) + "ann,b,2020-01-02\nbob,a,2020-01-02\n"
HALF = {"strategy": "fraction", "fraction": 0.5, "seed": 3}
ONE = "1 of 2 users is cut between events of equal time; "


@pytest.mark.parametrize(
    ("log", "split", "note"),
    [
        (ONE_OF_TWO, {}, ONE + 'ties = "shuffle", seed 0, chose the held-out ones'),
        (ONE_OF_TWO, HALF, ONE + 'ties = "shuffle", seed 3, chose the held-out ones'),
        (ONE_OF_TWO, {"ties": "id"}, ONE + 'ties = "id": the highest item ids are held out'),
        (ONE_OF_TWO, {"ties": "file"},
         ONE + 'ties = "file": the last rows are held out'),
        (NONE_OF_TWO, {}, "0 of 2 users are cut between events of equal time"),
    ],
)  # fmt: skip
def test_a_note_tells_how_many_cuts_fall_among_equal_times(
    tmp_path: Path, log: str, split: dict[str, Any], note: str
) -> None:
    assert make_task(config_of(tmp_path, log, split)).split.notes() == (note,)


def test_an_inner_split_keeps_the_order_of_rows_where_the_outer_one_does_not(
    tmp_path: Path,
) -> None:
    """Ann's last day of training is the 1st; the last of its rows is a."""
    log = log_of(["ann c", "bob b", "ann b", "ann a", "bob c"]) + "ann,c,2020-01-09\n"
    outer = {"strategy": "time", "valid_days": 1}
    (task,) = inner_tasks(config_of(tmp_path, log, outer, tune=LAST_IN_FILE))
    assert held_out(task) == {"ann": "a", "bob": "c"}
