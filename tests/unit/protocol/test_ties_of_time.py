"""Per-user splits whose cut falls among events of equal time: `ties` decides, not item ids."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Write, refusal

from harness import config as config_
from harness.config import Config
from harness.core.errors import UsageError
from harness.protocol.task import Task, make_task
from harness.tuning.inner import inner_tasks

ONE_DAY = "2020-01-01"
LAST_ONE = {"strategy": "last_n", "n": 1}
HEAD = "user,item,time\n"


def log_of(*rows: str) -> str:
    """Return a log of `user item` pairs, all on one day."""
    return HEAD + "".join(f"{row.replace(' ', ',')},{ONE_DAY}\n" for row in rows)


def config_of(folder: Path, split: dict[str, Any] | None = None, **sections: Any) -> Config:
    values: dict[str, Any] = {
        "data": {"layout": "table", "path": str(folder), "events": "log.csv"},
        "split": split if split and "strategy" in split else LAST_ONE | (split or {}),
        "evaluation": {"k": 2, "require_hit": False},
        "models": [{"name": "popular", "use": "baselines.popular:Popular"}],
    }
    for name, section in sections.items():
        values[name] = values.get(name, {}) | section
    return config_.parse(values, Path())


def held_out(task: Task) -> dict[str, str]:
    """Return the last item held out of each user."""
    data, valid = task.data, task.split.valid
    users, items = data.user_ids.to_list(), data.item_ids.to_list()
    return {users[u]: items[i] for u, i in zip(valid.user, valid.item, strict=True)}


def three_each(users: int) -> list[str]:
    return [f"u{n:03} {item}" for n in range(users) for item in "abc"]


def test_shuffle_favours_no_item_where_id_takes_the_highest(write: Write) -> None:
    folder = write(log=log_of(*three_each(900)))
    by_count = held_out(make_task(config_of(folder)))
    shuffled = Counter(by_count.values())
    # A third of 900 each; five standard deviations (14.1) are 71.
    assert all(abs(shuffled[item] - 300) < 71 for item in "abc"), shuffled
    by_share = {"strategy": "fraction", "fraction": 1 / 3}
    assert held_out(make_task(config_of(folder, by_share))) == by_count
    by_id = Counter(held_out(make_task(config_of(folder, {"ties": "id"}))).values())
    assert by_id == {"c": 900}


def test_only_equal_times_are_shuffled_and_nothing_else_moves_what_is_held_out(
    write: Write,
) -> None:
    rows = three_each(40)
    one = held_out(make_task(config_of(write("one", log=log_of(*rows)))))
    turned = held_out(make_task(config_of(write("two", log=log_of(*rows[::-1])))))
    more = ["aaa z", "aaa y", *rows, "u000 earlier", "zzz y", "zzz z"]
    text = log_of(*more).replace(f"u000,earlier,{ONE_DAY}", "u000,earlier,2019-01-01")
    folder = write("three", log=text + "aaa,x,2020-01-02\n")
    wider = held_out(make_task(config_of(folder)))
    assert turned == one
    assert {user: item for user, item in wider.items() if user in one} == one
    assert {held_out(make_task(config_of(folder, {"seed": n})))["aaa"] for n in range(8)} == {"x"}


def test_the_split_has_a_seed_of_its_own(write: Write) -> None:
    folder = write(log=log_of(*three_each(40)))
    plain = make_task(config_of(folder)).evaluation_set.fingerprint
    assert make_task(config_of(folder, evaluation={"seed": 7})).evaluation_set.fingerprint == plain
    assert make_task(config_of(folder, {"seed": 7})).evaluation_set.fingerprint != plain
    assert make_task(config_of(folder, {"seed": 0})).evaluation_set.fingerprint == plain


@pytest.mark.parametrize("minimum", [{}, {"where": {"rating": {"min": 1}}}])
def test_file_holds_out_what_stands_last_in_the_file(write: Write, minimum: dict[str, Any]) -> None:
    text = (
        "user,item,rating,time\n"
        f"ann,c,1,{ONE_DAY}\nbob,a,1,{ONE_DAY}\nann,b,1,{ONE_DAY}\nann,a,1,{ONE_DAY}\n"
        f"ann,d,0,{ONE_DAY}\nbob,c,1,{ONE_DAY}\nbob,b,1,{ONE_DAY}\n"
    )
    config = config_of(write(log=text), {"ties": "file"}, data=minimum)
    expected = {"ann": "a" if minimum else "d", "bob": "b"}
    assert held_out(make_task(config)) == expected


def test_file_order_is_kept_in_the_cache_too(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(log=log_of("ann b", "ann c", "ann a", "bob a", "bob b"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")  # else files just written are not kept
    read = make_task(config_of(folder, {"ties": "file"}))
    monkeypatch.setattr("harness.data.loading.load", lambda *_: pytest.fail("read again"))
    again = make_task(config_of(folder, {"ties": "file"}))
    assert held_out(again) == held_out(read) == {"ann": "a", "bob": "b"}


OWN_INNER = {"split": LAST_ONE | {"ties": "file"}}


def test_file_is_refused_where_rows_have_no_common_order(write: Write) -> None:
    folder = write("data/log", one=log_of("ann a", "ann b"), two=log_of("bob a", "bob b"))
    config = config_of(folder.parent, {"ties": "file"}, data={"events": "log"})
    with refusal(UsageError, '[split] ties = "file"', str(folder), 'ties = "shuffle"'):
        make_task(config)
    config = config_of(folder.parent, data={"events": "log"}, tune=OWN_INNER)
    make_task(config)  # a run takes no notice of [tune]
    with refusal(UsageError, "[tune] split", 'ties = "file"', 'set ties = "shuffle"'):
        inner_tasks(config)[0]


def test_file_is_refused_where_events_come_from_several_tables() -> None:
    root = Path(__file__).parents[3] / "configs"
    config = config_.read(
        root / "demo-ponpare.toml", ["split={strategy='last_n', n=1, ties='file'}"]
    )
    with pytest.raises(UsageError, match=r"detail_train.* and .*visit_train"):
        make_task(config)


# ann is cut among equal times, bob between two days, and all of cid is held out.
ONE_OF_TWO = log_of("ann a", "ann b", "bob a", "cid a") + "bob,b,2020-01-02\n"
NONE_OF_TWO = log_of("ann a", "bob b") + "ann,b,2020-01-02\nbob,a,2020-01-02\n"


@pytest.mark.parametrize(
    ("log", "split", "words"),
    [
        (ONE_OF_TWO, {}, ["1 of 2 users", 'ties = "shuffle", seed 0']),
        (ONE_OF_TWO, {"seed": 3}, ["1 of 2 users", 'ties = "shuffle", seed 3']),
        (ONE_OF_TWO, {"ties": "id"}, ["1 of 2 users", '"id": the highest item ids are held out']),
        (ONE_OF_TWO, {"ties": "file"}, ["1 of 2 users", '"file": the order of rows matters']),
        (NONE_OF_TWO, {}, ["0 of 2 users are cut among events of equal time"]),
    ],
)
def test_notes_tell_how_many_cuts_fall_among_equal_times(
    write: Write, log: str, split: dict[str, Any], words: list[str]
) -> None:
    (note,) = make_task(config_of(write(log=log), split)).split.notes()
    assert [word for word in words if word not in note] == []
    assert log == ONE_OF_TWO or note == words[0]


def test_an_inner_split_keeps_the_order_of_rows_where_the_outer_one_does_not(write: Write) -> None:
    # ann's last day of training is the 1st; the last of its rows is a.
    text = log_of("ann c", "bob b", "ann b", "ann a", "bob c") + "ann,c,2020-01-09\n"
    outer = {"strategy": "time", "valid_days": 1}
    config = config_of(write(log=text), outer, tune=OWN_INNER)
    assert held_out(inner_tasks(config)[0]) == {"ann": "a", "bob": "c"}
