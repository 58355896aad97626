"""Who the examined users are, counted by hand; and what a leaderboard would count."""

from pathlib import Path
from typing import Any

import pytest

from harness import config as config_
from harness.bridge import Bridge
from harness.errors import UsageError
from harness.profile import profile
from harness.results import Result
from harness.runner import run
from harness.setting import set_exam

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


def config(folder: Path, **more: Any) -> config_.Config:
    (folder / "log.csv").write_text(LOG)
    values = {
        "data": {"layout": "table", "path": ".", "events": "log.csv", "cache": False},
        "split": {"strategy": "time", "valid_days": 1},
        "evaluation": {"k": 2},
        "models": [{"name": "popular", "use": "baselines.popular:Popular"}],
        **more,
    }
    return config_.parse(values, folder)


def sat(folder: Path, sample: str | None = None) -> Result:
    if sample is not None:
        (folder / "sample_submission.csv").write_text(sample)
    return run(config(folder))


def test_activity_truth_and_repeats(tmp_path: Path) -> None:
    """ann: 3 events, 4 true items of which one is no candidate, 2 had before; bob: 1, 1, 0."""
    found = profile(set_exam(config(tmp_path)))
    assert found.to_dict(as_series=False) == {
        "user": ["ann", "bob"], "activity": [3, 1], "truth": [4, 1], "repeats": [2, 0]
    }  # fmt: skip


def test_items_seen_and_dropped_are_no_repeats(tmp_path: Path) -> None:
    dropped = config(tmp_path, evaluation={"k": 2, "seen_items": "drop"})
    assert profile(set_exam(dropped))["repeats"].to_list() == [0, 0]


def test_a_column_that_is_called_as_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("user,activity\nann,x\n")
    users = {"layout": "table", "path": ".", "events": "log.csv", "cache": False}
    for column in ("user", "activity"):
        given = config(tmp_path, data={**users, "users": "people.csv"})
        with pytest.raises(UsageError, match=f'every exam has "{column}"'):
            profile(set_exam(given), [column])


def test_a_bridge_by_hand() -> None:
    """2 of 3 users of the window, of 5 ids: 0.6 becomes 0.4 and 0.24."""
    bridge = Bridge(examined=2, window=3, sample=5)
    assert bridge.over_window(0.6) == pytest.approx(0.4)
    assert bridge.over_sample(0.6) == pytest.approx(0.24)
    assert Bridge(2, 3).over_sample(0.6) is None


def test_a_run_counts_the_window_and_the_sample(tmp_path: Path) -> None:
    found = sat(tmp_path, "user,item\nann,a\nbob,a\nnew,a\nzoe,a\n")
    assert found.bridge == Bridge(examined=2, window=3, sample=4)
    assert "leaderboard estimate  popular: " in repr(found)
    assert "over all 4 ids of the sample submission" in repr(found)


def test_over_all_users_it_is_what_the_exam_of_all_says(tmp_path: Path) -> None:
    """The user who is new gets no list from a model that knows nobody new: 0."""
    found = sat(tmp_path)
    assert found.bridge == Bridge(2, 3)
    mean = found.models[0].metrics["MAP@2"].mean
    assert (
        f"leaderboard estimate  popular: {mean * 2 / 3:.4f} over all 3 users active in the window"
        in repr(found)
    )


def test_a_sample_that_cannot_be_read_costs_its_figure_alone(tmp_path: Path) -> None:
    found = sat(tmp_path, "")
    assert found.bridge.sample is None
    (note,) = (note for note in found.notes if "sample" in note)
    assert "no score over the sample submission" in note
