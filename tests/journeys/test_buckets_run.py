"""A log that seems larger than memory: one run in buckets of users, and what it refuses."""

import re
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from small import timeless

from harness.core.errors import UsageError
from harness.evaluation import memory
from harness.evaluation.run import run

FILE = {"name": "mine", "lists": "mine.csv"}
LISTS = "user,items\n" + "".join(f"user{n},{'z d' if n == 9 else 'b a'}\n" for n in range(40))


def test_a_run_in_buckets(tmp_path: Path, at_once: None, caplog: pytest.LogCaptureFixture) -> None:
    """Figures, lists, seconds and log; a file of lists is read once for all users."""
    caplog.set_level("INFO", "harness")
    small.write(tmp_path, {"mine.csv": LISTS})
    rules = {"metrics": ["MAP@2", "Coverage@2", "NDCG@2"]}
    settings = small.many(tmp_path, more=[FILE], evaluation=rules, data={"cache": True})
    with small.in_buckets(3):
        result = run(settings, memory="4GB")
    decision, *log = caplog.records
    assert (decision.name, decision.levelname) == ("harness.evaluation.parts", "WARNING")
    needed = "all events need about 1,000,000 GB of memory; --memory allows 4 GB"
    assert decision.getMessage() == f"{needed}: users are evaluated in 3 buckets"
    lines = [re.sub(r"\d+\.\d s", "T", record.getMessage()) for record in log]
    read = f"read {small.MANY.count(chr(10)) - 1} events into buckets, T"
    assert lines[:3] == [read, "fit 9 models, T", "recommend in 3 buckets, T"]
    assert lines[4] == "popular (1 of 10): fit T, recommend T, score T"
    assert lines[-1] == "compared 45 pairs, T"
    steps = ["read", "evaluation set", "fit", "recommend", "users", "compare"]
    assert list(result.record.seconds) == steps
    again, whole = run(settings), run(settings, fresh=True)
    assert [model.name for model in again.models if not model.reused] == ["mine"]
    for other in (again, whole):
        assert timeless(other.to_dict(), "reused") == timeless(result.to_dict(), "reused")


def test_a_log_that_needs_more_than_is_free_runs_in_buckets_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = small.config(tmp_path)
    for free, needed, in_buckets in ((9, 9, False), (9, 10, True)):
        monkeypatch.setattr(memory, "free", lambda free=free: free * 10**8)
        monkeypatch.setattr(memory, "needed", lambda layout, size=needed: size * 10**8)
        assert ("recommend" in run(settings).record.seconds) == in_buckets


# A column of users without values.

TELLS = """
from pathlib import Path
from baselines.popular import Popular

class Tells(Popular):
    def fit_steps(self, train):
        Path(__file__).with_name("learnt").touch()
        return (yield from super().fit_steps(train))
"""
TOWNS = "user,town\nann,\nbob,  \ncid,\n", "user,town\nann,\nzoe,ash\n"


def run_in_buckets(settings: Any) -> None:
    with small.in_buckets(3):
        run(settings)


@pytest.mark.parametrize("how", [run, run_in_buckets, small.in_parts])
def test_a_column_without_values_is_refused_before_a_model_learns(tmp_path: Path, how: Any) -> None:
    small.write(tmp_path, {"tells.py": TELLS})
    sections: dict[str, Any] = {"data": {"users": "people.csv"}, "compare": {"slices": ["town"]}}
    settings = small.config(tmp_path, {"name": "tells", "use": "tells:Tells"}, **sections)
    empty, unequal = TOWNS
    without = ['no evaluated user has a value of "town" in', "remove it", "leading zeros (lost if"]
    for towns, words in (
        (empty, without),
        (unequal, without),
        (empty.replace("town", "city"), ['no column "town"']),
    ):
        small.write(tmp_path, {"people.csv": towns})
        with refusal(UsageError, "[compare] slices", words):
            how(settings)
    assert not (tmp_path / "learnt").exists()
    small.write(tmp_path, {"people.csv": "user,town\nann,ash\nbob,\n"})
    how(settings)
    assert (tmp_path / "learnt").exists()
