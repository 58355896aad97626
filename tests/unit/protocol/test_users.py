"""Who the evaluated users are, counted by hand; and what a leaderboard would count."""

from pathlib import Path

import pytest
from small import config

from harness.core.errors import UsageError
from harness.experiment.result import Result
from harness.experiment.run import run
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


def evaluated(folder: Path, sample: str | None = None) -> Result:
    if sample is not None:
        (folder / "sample_submission.csv").write_text(sample)
    return run(config(folder, log=LOG))


def test_activity_truth_and_repeats(tmp_path: Path) -> None:
    """ann: 3 events, 4 true items of which one is no candidate, 2 had before; bob: 1, 1, 0."""
    found = of_events(make_task(config(tmp_path, log=LOG)))
    assert found.to_dict(as_series=False) == {
        "user": ["ann", "bob"], "activity": [3, 1], "truth": [4, 1], "repeats": [2, 0]
    }  # fmt: skip


def test_items_seen_and_dropped_are_no_repeats(tmp_path: Path) -> None:
    dropped = config(tmp_path, log=LOG, evaluation={"seen_items": "drop"})
    assert of_events(make_task(dropped))["repeats"].to_list() == [0, 0]


def test_a_column_that_is_called_as_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("user,activity\nann,x\n")
    for column in ("user", "activity"):
        given = config(tmp_path, log=LOG, data={"users": "people.csv"})
        with pytest.raises(UsageError, match=f'every evaluation set has "{column}"'):
            task = make_task(given)
            with_attributes(of_events(task), task, [column])


def test_a_sample_that_cannot_be_read_costs_its_figure_alone(tmp_path: Path) -> None:
    found = evaluated(tmp_path, "")
    assert found.leaderboard_estimates.sample is None
    (note,) = (note for note in found.notes if "sample" in note)
    assert "no score over the sample submission" in note
