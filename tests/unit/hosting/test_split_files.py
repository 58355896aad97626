"""A config's evaluation set written as the files of a competition: what they hold and score."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import small
from conftest import ROOT, refusal

import harness
from harness import config as config_
from harness.core.errors import HarnessError, UsageError
from harness.core.random import id_hashes, mixed
from harness.hosting.split import write
from harness.protocol.task import make_task
from harness.submission.solution import of_file

LOG = """user,item,time,stars
bob,c,2020-01-03,2
bob,b,2020-01-03,5
ann,a,2020-01-01,4.5
ann,b,2020-01-02,3
cid,d,2020-01-04,1
ann,b,2020-01-08,2
cid,a,2020-01-08,4
bob,new,2020-01-08,3
bob,d,2020-01-08,3
bob,d,2020-01-08,0.5
"""
"""The last day is held out: ann b, bob d and new, which is no candidate, cid a."""


def texts(folder: Path, names: Iterable[str]) -> list[str]:
    return [(folder / name).read_text(encoding="utf-8") for name in names]


def lines_of(folder: Path, name: str) -> list[list[str]]:
    return [line.split(",") for line in (folder / name).read_text().splitlines()[1:]]


def test_what_the_files_hold(tmp_path: Path) -> None:
    """In train b stands twice, a, c and d once: b and a are the most popular two."""
    done = harness.split(small.config(tmp_path, log=LOG), tmp_path / "out")
    names = ("train.csv", "valid.csv", "items.csv", "sample_submission.csv")
    assert texts(tmp_path / "out", names) == [
        "user,item,time\nann,a,2020-01-01\nann,b,2020-01-02\nbob,b,2020-01-03\nbob,c,2020-01-03\n"
        "cid,d,2020-01-04\n",
        "user,item,time\nann,b,2020-01-08\nbob,d,2020-01-08\nbob,d,2020-01-08\n"
        "bob,new,2020-01-08\ncid,a,2020-01-08\n",
        "item\na\nb\nc\nd\n",
        "user,item\nann,b a\nbob,b a\ncid,b a\n",
    ]
    rows = lines_of(tmp_path / "out", "solution.csv")
    assert [row[:2] for row in rows] == [["ann", "b"], ["bob", "d new"], ["cid", "a"]]
    assert sorted(row[2] for row in rows) == ["Private", "Private", "Public"]
    record = done.record
    assert (record.train, record.valid, record.held_back, record.sample) == (5, 5, 0, 3)
    assert (record.public, record.private, record.public_share) == (1, 2, 0.3)


def test_event_types_and_values(tmp_path: Path) -> None:
    """Events of equal user, time and item stand by type and value; grades are the highest ones."""
    data = {"kind": "item", "value": "stars"}
    hits = {"hits": ["a", "b", "c", "d", "new"]}
    harness.split(small.config(tmp_path, log=LOG, data=data, evaluation=hits), tmp_path / "out")
    again = config_.read(tmp_path / "out" / "config.toml")
    assert again.evaluation.hits == ["a", "b", "d", "new"]  # those that there are
    train, valid = texts(tmp_path / "out", ["train.csv", "valid.csv"])
    assert train.startswith("user,item,time,kind,value\nann,a,2020-01-01,a,4.5\n")
    assert "bob,d,2020-01-08,d,0.5\nbob,d,2020-01-08,d,3.0\n" in valid
    rows = [",".join(row[:3]) for row in lines_of(tmp_path / "out", "solution.csv")]
    assert rows == ["ann,b,2.0", "bob,d,3.0", "bob,new,3.0", "cid,a,4.0"]


@pytest.mark.parametrize(
    ("before", "held", "as_they_are"),
    [
        ("2020-01-01 00:00:00", "2020-01-08 00:00:00", False),
        ("2020-01-01 10:00:05", "2020-01-08 00:00:00", True),
        ("0200-01-01 00:00:00.000000", "0200-01-08 00:00:00.500000", True),
    ],
)
def test_times_are_as_short_as_all_of_them_allow(
    before: str, held: str, as_they_are: bool, tmp_path: Path
) -> None:
    log = f"user,item,time\nann,a,{before}\nbob,b,{before}\nann,b,{held}\nbob,a,{held}\n"
    harness.split(small.config(tmp_path, log=log), tmp_path / "out")
    times = [lines_of(tmp_path / "out", name)[0][2] for name in ("train.csv", "valid.csv")]
    assert times == ([before, held] if as_they_are else ["2020-01-01", "2020-01-08"])


@pytest.mark.parametrize(
    ("user", "item", "written"),
    [
        ("kunde", "sku", "kunde,sku"),
        ("a", "b", "a,b"),
        ("Usage", "b", "user,item"),  # a solution says by it who is on which leaderboard
        ("b", "customer", "user,item"),  # would be read the other way round
    ],
)
def test_columns_are_called_as_in_the_log(
    tmp_path: Path, user: str, item: str, written: str
) -> None:
    log = LOG.replace("user,item", f"{user},{item}")
    config = small.config(tmp_path, log=log, data={"user": user, "item": item})
    harness.split(config, tmp_path / "out")
    train, solution, sample = texts(
        tmp_path / "out", ["train.csv", "solution.csv", "sample_submission.csv"]
    )
    assert train.startswith(f"{written},time\n")
    assert (solution.split("\n")[0], sample.split("\n")[0]) == (f"{written},Usage", written)
    judged = of_file(tmp_path / "out" / "solution.csv")
    assert judged.columns[:2] == tuple(written.split(","))
    again = make_task(config_.read(tmp_path / "out" / "config.toml"))
    assert again.evaluation_set.fingerprint == make_task(config).evaluation_set.fingerprint


def test_events_without_times(tmp_path: Path) -> None:
    small.write(tmp_path, {"held.csv": "user,item\nann,b\nbob,a\n"})
    sections = {"data": {"time": False}, "split": {"strategy": "given", "valid": "held.csv"}}
    config = small.config(tmp_path, log="user,item\nbob,b\nann,a\n", **sections)
    harness.split(config, tmp_path / "out")
    assert texts(tmp_path / "out", ["train.csv"]) == ["user,item\nann,a\nbob,b\n"]
    again = make_task(config_.read(tmp_path / "out" / "config.toml"))
    assert again.evaluation_set.fingerprint == make_task(config).evaluation_set.fingerprint


def test_who_is_public_follows_from_the_fingerprint_and_the_id(tmp_path: Path) -> None:
    """The 12 of 40 users with the lowest numbers."""
    done = harness.split(small.many(tmp_path), tmp_path / "out")
    key = mixed(np.array([int(done.record.evaluation.fingerprint[:16], 16)], np.uint64))
    users, *_, usage = zip(*lines_of(tmp_path / "out", "solution.csv"), strict=True)
    order = np.argsort(mixed(id_hashes(pl.Series(users)) ^ key))
    assert {users[n] for n in order[: round(len(users) * 0.3)]} == {
        user for user, board in zip(users, usage, strict=True) if board == "Public"
    }


EVENTS = LOG.splitlines(keepends=True)[1:]


def written(folder: Path, rows: list[str]) -> list[str]:
    log = "".join(["user,item,time,stars\n", *rows])
    harness.split(small.config(folder, log=log, data={"value": "stars"}), folder / "out")
    return texts(folder / "out", sorted(path.name for path in (folder / "out").iterdir()))


def test_the_order_of_rows_changes_no_byte(tmp_path: Path) -> None:
    orders = EVENTS, EVENTS[::-1], sorted(EVENTS), EVENTS[5:] + EVENTS[:5]
    first, *shuffled = (written(tmp_path / str(n), rows) for n, rows in enumerate(orders))
    assert shuffled == [first] * 3


def test_many_parts_are_written_as_one(tmp_path: Path) -> None:
    task = make_task(small.many(tmp_path))
    for folder, rows in (("whole", 1_000), ("parts", 7)):
        (tmp_path / folder).mkdir()
        write(task, tmp_path / folder, 0.3, rows=rows)
    names = ("train.csv", "valid.csv")
    assert texts(tmp_path / "parts", names) == texts(tmp_path / "whole", names)


def test_a_header_whose_competition_has_other_rules_is_not_written(tmp_path: Path) -> None:
    """OTTO's ids end with a type of events, which sessions do not; H&M looks at 12 items."""
    late = {"aid": 2, "ts": 800_000_000, "type": "carts"}
    sessions = [
        {"session": n, "events": [{"aid": n + 1, "ts": n, "type": "clicks"}, late]}
        for n in range(3)
    ]
    small.write(
        tmp_path, {"train.jsonl": "".join(json.dumps(session) + "\n" for session in sessions)}
    )
    otto = {"data": {"layout": "otto", "path": ".", "cache": False}}
    done = harness.split(config_.parse(small.values() | otto, tmp_path), tmp_path / "out")
    (sample,) = texts(tmp_path / "out", ["sample_submission.csv"])
    assert sample == "user,item\n0,1 2\n1,1 2\n2,1 2\n"
    assert done.record.evaluation.users == 3
    for k, columns in ((12, "customer_id,prediction"), (20, "user,item")):
        demo = config_.read(ROOT / "configs" / "demo.toml", [f"evaluation.k={k}"])
        harness.split(demo, tmp_path / f"{k}")
        header, first = texts(tmp_path / f"{k}", ["sample_submission.csv"])[0].splitlines()[:2]
        assert (header, len(first.split(",")[1].split())) == (columns, k)


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ({}, [["ann", "b"], ["bob", ""], ["cid", "a"]]),
        ({"value": "stars"}, [["ann", "b", "2.0"], ["bob", "a", "0.0"], ["cid", "a", "0.0"]]),
    ],
)
def test_users_without_true_items_have_a_row(
    data: dict[str, str], rows: list[list[str]], tmp_path: Path
) -> None:
    """With truth = "candidates" bob's one item is none, with grades cid's event has the value 0."""
    kept = [line for line in LOG.splitlines(keepends=True) if not line.startswith("bob,d")]
    log = "".join(kept).replace("cid,a,2020-01-08,4", "cid,a,2020-01-08,0")
    rules = {"truth": "candidates", "require_hit": False}
    done = harness.split(
        small.config(tmp_path, log=log, data=data, evaluation=rules), tmp_path / "out"
    )
    assert [row[:-1] for row in lines_of(tmp_path / "out", "solution.csv")] == rows
    assert done.record.without_items == len([row for row in rows if row[-1] in ("", "0.0")])


def test_who_registered_when_is_not_written(tmp_path: Path) -> None:
    config = config_.read(ROOT / "configs" / "demo-ponpare.toml")
    done = harness.split(config, tmp_path / "out")
    assert "registered" in done.record.config
    assert not (tmp_path / "out" / "config.toml").exists()
    (sample,) = texts(tmp_path / "out", ["sample_submission.csv"])
    assert sample.startswith("USER_ID_hash,PURCHASED_COUPONS\n")
    everyone = config_.read(ROOT / "configs" / "demo-ponpare.toml", ["evaluation.users=all"])
    done = harness.split(everyone, tmp_path / "out")
    again = make_task(config_.read(tmp_path / "out" / "config.toml"))
    assert again.evaluation_set.fingerprint == done.record.evaluation.fingerprint


def test_each_fold_is_a_split_of_its_own(tmp_path: Path) -> None:
    """The same bytes as where its window is the only one."""
    windows = {"fold-1": {"test_days": 2}, "fold-2": {}}
    rule = {"strategy": "time", "valid_days": 2}
    harness.split(small.many(tmp_path, split={**rule, "folds": 2}), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == list(windows)
    for name, more in windows.items():
        harness.split(small.many(tmp_path, split={**rule, **more}), tmp_path / "one")
        names = sorted(path.name for path in (tmp_path / "one").iterdir())
        assert texts(tmp_path / "out" / name, names) == texts(tmp_path / "one", names)
    folded = small.many(tmp_path, split={**rule, "folds": 2})
    harness.split(folded, tmp_path / "out")  # folds of an earlier split may be replaced
    small.write(tmp_path, {"out/fold-2/mine.csv": "mine"})
    with refusal(
        UsageError, "out: exists and is not a folder of harness split; choose another --out"
    ):
        harness.split(folded, tmp_path / "out")


def test_a_fold_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Nobody has events on the 7th; nothing is written of the 8th."""
    config = small.config(tmp_path, split={"strategy": "time", "valid_days": 1, "folds": 2})
    with refusal(HarnessError, "fold 1 of 2: "):
        harness.split(config, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    config = small.config(tmp_path)
    small.write(tmp_path, {"out/train.csv": "mine"})
    with refusal(
        UsageError, "out: exists and is not a folder of harness split; choose another --out"
    ):
        harness.split(config, tmp_path / "out")
    assert texts(tmp_path / "out", ["train.csv"]) == ["mine"]
    for share in (0.3, 0.5):  # its own may be replaced
        harness.split(config, tmp_path / "new", public_share=share)
    with refusal(UsageError, "holds train.csv, an input of this command"):
        harness.split(config_.read(tmp_path / "new" / "config.toml"), tmp_path / "new")
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize(("share", "public"), [(0.01, 1), (0.5, 2), (0.99, 2), (None, 2)])
def test_both_leaderboards_have_users(share: float | None, public: int, tmp_path: Path) -> None:
    """Of three users: one, two (1.5 rounded to even) and two; by the config 2.1."""
    config = small.config(tmp_path, compare={"public_shares": [0.7, 0.2]})
    done = harness.split(config, tmp_path / "out", public_share=share)
    assert (done.record.public, done.record.public_share) == (public, share or 0.7)


ONE = "user,item,time\nann,a,2020-01-01\nann,a,2020-01-08\n"


@pytest.mark.parametrize(
    ("share", "log", "words"),
    [
        (0.0, LOG, "--public-share is 0; expected a number between 0 and 1"),
        (1.0, LOG, "--public-share is 1; expected"),
        (float("nan"), LOG, "--public-share is nan; expected"),
        (None, LOG, "[compare] public_shares is empty; name a share, --public-share 0.3"),
        (0.3, ONE, "1 user cannot be divided between a public and a private leaderboard"),
    ],
)
def test_shares_that_are_refused(share: float | None, log: str, words: str, tmp_path: Path) -> None:
    config = small.config(tmp_path, log=log, compare={"public_shares": []})
    with refusal(UsageError, words):
        harness.split(config, tmp_path / "out", public_share=share)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("user", "item", "words"),
    [
        ("ann", "a b", "from a file; choose another: --set submission.separator=,"),
        ("ann", "a|b", 'solution.csv would be read back with other items: item "a|b" contains'),
        ("ann", "a\tb", "would be read back with other items: item 'a\\tb' contains a separator"),
        ("ann", "[a]", 'item "[a]" contains a separator, bracket or quote (a space,'),
        (" ann", "a", 'user " ann" begins or ends with a space'),
    ],
)  # fmt: skip
def test_ids_that_cannot_be_read_again_are_refused(
    user: str, item: str, words: str, tmp_path: Path
) -> None:
    rows = [f'{user},"{item}",2020-01-0{day}\nzoe,z,2020-01-0{day}\n' for day in (1, 8)]
    log = "".join(["user,item,time\n", *rows])
    with refusal(UsageError, words):
        harness.split(small.config(tmp_path, log=log), tmp_path / "out")
    assert not (tmp_path / "out").exists()
