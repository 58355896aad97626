"""One scored submission as Codabench and EvalAI read it."""

import json
from pathlib import Path

import polars as pl
import pytest

import harness
from harness.core.errors import UsageError
from harness.hosting.export import codabench, evalai, write_codabench, write_evalai
from harness.scoring.submissions import Scored


@pytest.fixture(scope="module")
def scored() -> Scored:
    lists = pl.DataFrame({"user": ["ann", "bob"], "items": ["a", "x b"]})
    truth = {"user": ["ann", "bob"], "items": ["a", "b"], "Usage": ["Public", "Private"]}
    return harness.score(lists, solution=pl.DataFrame(truth), metrics=["MRR", "HitRate@1"])


def test_codabench(scored: Scored, tmp_path: Path) -> None:
    expected = {"MRR": (1 + 1 / 2) / 2, "MRR Public": 1.0, "MRR Private": 1 / 2}
    expected |= {"HitRate@1": 1 / 2, "HitRate@1 Public": 1.0, "HitRate@1 Private": 0.0}
    assert codabench(scored) == expected
    path = write_codabench(scored, tmp_path / "output", {"score": "MRR"})
    assert path.name == "scores.json"
    assert json.loads(path.read_text()) == {"score": 3 / 4}
    with pytest.raises(UsageError, match='no estimate "MAP@12"'):
        codabench(scored, {"score": "MAP@12"})


def test_evalai(scored: Scored, tmp_path: Path) -> None:
    exported = evalai(scored, "test")
    assert exported["submission_result"] == {"MRR": 3 / 4, "HitRate@1": 1 / 2}
    assert exported["result"] == [
        {"test": {"MRR": 3 / 4, "HitRate@1": 1 / 2}},
        {"Public": {"MRR": 1.0, "HitRate@1": 1.0}},
        {"Private": {"MRR": 1 / 2, "HitRate@1": 0.0}},
    ]
    assert (
        json.loads(write_evalai(scored, tmp_path / "result.json", "test").read_text()) == exported
    )
