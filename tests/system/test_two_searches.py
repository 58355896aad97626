"""Two searches at once share what they find."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import small

from harness.tuning.tuning import tune


def test_two_searches_at_once_find_the_same_and_share_what_they_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    model = small.POPULAR | {"space": {"window_days": {"low": 1.5, "high": 9.5}}}
    sections = {"data": {"cache": True}, "tune": {"trials": 8}}
    text = small.toml(model, **sections)
    small.write(tmp_path, {"log.csv": small.TO_TUNE, "exam.toml": text})
    command = [sys.executable, "-m", "harness", "tune", str(tmp_path / "exam.toml")]
    both = [
        subprocess.Popen(
            [*command, "--out", out, "--format", "json"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for out in ("one.toml", "other.toml")
    ]
    told = [process.communicate(timeout=600)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    (last,) = tune(tmp_path / "exam.toml").to_dict()["models"]
    assert [result["reused"] for result in last["results"]] == [True] * 9
    for out in told:
        (model,) = json.loads(out)["models"]
        assert [r["mean"] for r in model["results"]] == [r["mean"] for r in last["results"]]
