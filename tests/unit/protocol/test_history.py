"""What users did before the window, and what their items are called."""

from pathlib import Path

import pytest
import small

from harness.protocol.history import History, TrainingEvent, histories, titles_of
from harness.protocol.task import make_task

TYPED = """user,item,time,event
ann,a,2020-01-02 08:00,view
ann,b,2020-01-01 00:00,sale
ann,c,2020-01-03 23:59,view
bob,a,2020-01-05 00:00,sale
ann,a,2020-01-08 00:00,sale
bob,b,2020-01-08 00:00,sale
cid,b,2020-01-08 00:00,sale
"""
ITEMS = 'item,Prod_Name,colour\na,"Strap, top",red\nb,,blue\nz,Cat,\n'


def test_the_last_events_stand_in_order_the_latest_first(tmp_path: Path) -> None:
    """Of those of everyone who is evaluated, by their place there; cid has none before the 8th."""
    config = small.config(tmp_path, log=TYPED, data={"kind": "event"}, evaluation={"users": "all"})
    bob, ann, cid = histories(make_task(config), [1, 0, 2], last=2)
    assert bob == History((TrainingEvent("2020-01-05", "a", "sale"),), 1)
    last = TrainingEvent("2020-01-03", "c", "view"), TrainingEvent("2020-01-02", "a", "view")
    assert ann == History(last, 3)
    assert cid == History((), 0)


def test_without_times_and_types_there_are_none(tmp_path: Path) -> None:
    small.write(tmp_path, {"later.csv": "user,item\nann,b\n"})
    config = small.config(
        tmp_path,
        log="user,item\nann,a\nbob,b\n",
        data={"time": False},
        split={"strategy": "given", "valid": "later.csv"},
    )
    assert histories(make_task(config), [0]) == [History((TrainingEvent(None, "a", None),), 1)]


@pytest.mark.parametrize(
    ("items", "titles"), [(ITEMS, {"a": "Strap, top"}), (ITEMS.replace("Prod_Name", "code"), {})]
)
def test_titles_are_those_of_a_column_that_is_called_so(
    tmp_path: Path, items: str, titles: dict[str, str]
) -> None:
    small.write(tmp_path, {"items.csv": items})
    task = make_task(small.config(tmp_path, data={"items": "items.csv"}))
    assert titles_of(task.data, ["a", "b", "nobody knows"]) == titles
    assert titles_of(make_task(small.config(tmp_path)).data, ["a"]) == {}
