"""Who the evaluated users are, counted by hand."""

from pathlib import Path

import pytest
from small import config

from harness.core.errors import UsageError
from harness.protocol.task import make_task
from harness.protocol.users import of_events, with_attributes

LOG = """user,item,time
ann,a,2020-01-01
ann,a,2020-01-02
ann,b,2020-01-02
bob,c,2020-01-03
ann,a,2020-01-08
ann,b,2020-01-08
ann,c,2020-01-08
ann,new,2020-01-08
bob,a,2020-01-08
new,a,2020-01-08
"""


def test_activity_truth_and_repeats(tmp_path: Path) -> None:
    """ann: 3 events, 4 true items of which one is no candidate, 2 had before; bob: 1, 1, 0."""
    rows = of_events(make_task(config(tmp_path, log=LOG)))
    assert rows.to_dict(as_series=False) == {
        "user": ["ann", "bob"], "activity": [3, 1], "truth": [4, 1], "repeats": [2, 0]
    }  # fmt: skip


def test_items_seen_and_dropped_are_no_repeats(tmp_path: Path) -> None:
    dropped = config(tmp_path, log=LOG, evaluation={"seen_items": "drop"})
    assert of_events(make_task(dropped))["repeats"].to_list() == [0, 0]


@pytest.mark.parametrize(
    ("data", "column", "message"),
    [
        ({"users": "people.csv"}, "activity", 'evaluation set already has "activity"; remove it'),
        ({}, "activity", 'evaluation set already has "activity"; remove it'),
        ({"users": "people.csv"}, "twon", 'has no column "twon"; did you mean "town"?'),
        ({}, "town", 'no table of users, so no column "town"; remove it'),
    ],
)
def test_columns_that_cannot_be_slices(
    tmp_path: Path, data: dict[str, str], column: str, message: str
) -> None:
    (tmp_path / "people.csv").write_text("user,activity,town\nann,x,y\n")
    task = make_task(config(tmp_path, log=LOG, data=data))
    with pytest.raises(UsageError, match=message):
        with_attributes(of_events(task), task, [column])
