"""k-cores: users with so many events, of items with so many, until none goes."""

from pathlib import Path

import pytest
import small
from conftest import refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.config import Config
from harness.core.errors import DataError
from harness.data.loading import load
from harness.protocol.evaluation_set import Step
from harness.protocol.k_core import core_of
from harness.protocol.task import make_task
from harness.tuning.inner import inner_tasks

LOG = """user,item,time
ann,a,2020-01-01
ann,a,2020-01-02
ann,b,2020-01-03
bob,b,2020-01-04
bob,c,2020-01-05
"""


def config(folder: Path, log: str, users: int, items: int) -> Config:
    least = {"min_user_events": users, "min_item_events": items}
    return small.config(folder, log=log, data=least)


def kept(config: Config) -> list[tuple[str, str]]:
    core = core_of(load(config.layout()), *config.data.least)
    users, items = core.user_ids.to_list(), core.item_ids.to_list()
    return [(users[u], items[i]) for u, i in zip(core.events.user, core.events.item, strict=True)]


def test_what_is_left_out_is_told_and_stands_in_the_funnel(tmp_path: Path) -> None:
    log = LOG + "ann,a,2020-01-09\ncid,z,2020-02-09\n"
    task = make_task(config(tmp_path, log, 2, 2))
    assert task.data.notes == (
        "k-core: 4 of 7 events left out (min_user_events = 2, min_item_events = 2; "
        "1 user and 1 item stay)",
    )
    assert task.evaluation_set.funnel[:2] == (Step("in the log", 3), Step("in the k-core", 1))
    assert task.split.summary() == "1 day from 2020-01-09"  # of the core's last day


def test_a_core_of_nothing_is_refused(tmp_path: Path) -> None:
    words = "[data] min_user_events = 9, min_item_events = 2: none of 5 events is left"
    with refusal(DataError, words, "use smaller numbers"):
        make_task(config(tmp_path, LOG, 9, 2))


def naive(rows: list[tuple[str, str]], users: int, items: int) -> list[tuple[str, str]]:
    """Take away whoever has too few, one rule after the other."""
    while True:
        rest = [r for r in rows if sum(u == r[0] for u, _ in rows) >= users]
        rest = [r for r in rest if sum(i == r[1] for _, i in rest) >= items]
        if rest == rows:
            return rows
        rows = rest


PAIR = st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(PAIR, min_size=1, max_size=30), users=st.integers(1, 5), items=st.integers(1, 5)
)
def test_it_is_the_largest_set_in_which_all_have_enough(
    tmp_path: Path, pairs: list[tuple[str, str]], users: int, items: int
) -> None:
    log = "user,item,time\n" + "".join(f"{u},{i},2020-01-01\n" for u, i in pairs)
    expected = sorted(naive(pairs, users, items))
    if expected:
        assert kept(config(tmp_path, log, users, items)) == expected


@pytest.mark.parametrize("least", [1, 2])
def test_the_inner_split_of_tuning_knows_nothing_behind_train(tmp_path: Path, least: int) -> None:
    """The log is its own core, so that asking for one changes nothing."""
    rows = [f"{u},{i},2020-01-{day:02}\n" for u in "abcd" for day, i in enumerate("xyxyzz", 1)]
    outer = small.config(
        tmp_path,
        log="user,item,time\n" + "".join(rows),
        split={"strategy": "last_n", "n": 2, "ties": "id"},
        tune={"split": {"strategy": "time", "valid_days": 2}},
        data={"min_user_events": least, "min_item_events": least},
    )
    (task,) = inner_tasks(outer)
    assert task.split.summary() == "2 days from 2020-01-03"
    assert task.evaluation_set.funnel[0] == Step("active in the window", 4)
