"""Trials made side by side: the same search, whoever makes them."""

from pathlib import Path
from typing import Any

import pytest
import small

from harness.config import Config
from harness.core.errors import UsageError
from harness.tuning.result import Tuned
from harness.tuning.tuning import tune

# A worker writes down that it has made a trial; this process waits for that, at its first one.
OWN = """
import sys, time
from pathlib import Path
from baselines.popular import Popular
WORKS = sys.argv[1:2] == ["harness.tuning.worker"]

class Meets(Popular):
    def __init__(self, folder, window_days=None):
        super().__init__(window_days=window_days)
        self.folder = folder

    def fit_steps(self, train):
        if self.window_days == 3:
            raise ValueError("no three")
        if WORKS:
            Path(self.folder, "worker").touch()
        end = time.monotonic() + 60
        while not Path(self.folder, "worker").exists():
            assert time.monotonic() < end, "no worker came"
            time.sleep(0.01)
        yield from super().fit_steps(train)
"""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep trials of files that were written just now."""
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")


def config(folder: Path, *models: dict[str, Any], **tuning: Any) -> Config:
    (folder / "met").mkdir(exist_ok=True)
    small.write(folder, {"log.csv": small.TO_TUNE, "own.py": OWN})
    own = {
        "name": "mine",
        "use": "own:Meets",
        "params": {"folder": str(folder / "met")},
        "space": {"window_days": [1, 2, 3, 4, 5, 6]},
    }
    split = {"strategy": "time", "valid_days": 1}
    data = {"cache": True}
    return small.config_of(folder, own, *models, data=data, split=split, tune=tuning)


def figures(found: Tuned) -> Any:
    """Return all that is recorded but seconds, and who made the trials."""
    return small.timeless(found.to_dict(), "reused")


def test_the_search_is_the_same(tmp_path: Path) -> None:
    """Of a model and an ensemble, which is tuned on the tuned model."""
    fill: dict[str, Any] = {"name": "filled", "use": "baselines.filter:Filter", "of": ["mine"]}
    fill["space"] = {"seen": [True, False]}
    settings = config(tmp_path, fill, search="grid")
    found = tune(settings, jobs=2)
    assert (tmp_path / "met/worker").exists()
    again = tune(settings)
    for model in again.to_dict()["models"]:
        assert model["reused"] == model["trials"] - model["failed"]
    assert figures(again) == figures(found) == figures(tune(settings, fresh=True))
    results = found.to_dict()["models"][0]["results"]
    assert [one["params"]["window_days"] for one in results if one["error"]] == [3]


def test_what_learns_from_each_trial_is_not_made_side_by_side(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        tune(config(tmp_path, search="tpe"), jobs=2)
    assert str(refused.value) == (
        'search = "tpe" proposes by what the trials before have scored, so they are made one after '
        'the other: leave --jobs out, or search = "random" or "grid"'
    )
