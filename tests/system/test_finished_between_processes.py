"""Finished models between processes: killed, and at once."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import small
from small import POPULAR

from harness.core import cache
from harness.evaluation.run import run
from harness.results.run import read


@pytest.fixture(autouse=True)
def kept(at_once: None) -> Path:
    return cache.folder() / "models"


def started(folder: Path, arguments: list[str]) -> subprocess.Popen[str]:
    """Start Python in a folder."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


SLOW = """
import time
from pathlib import Path
from baselines.popular import Popular

class Slow(Popular):
    def fit(self, train):
        Path(__file__).with_name("reached").touch()
        time.sleep(600)
"""


def test_what_was_finished_before_a_run_was_killed_is_kept(tmp_path: Path, kept: Path) -> None:
    text = small.toml(POPULAR, {"name": "slow", "use": "slow:Slow"}, data={"cache": True})
    small.write(tmp_path, {"log.csv": small.MANY, "slow.py": SLOW, "exam.toml": text})
    process = started(tmp_path, ["-m", "harness", "run", str(tmp_path / "exam.toml")])
    end = time.monotonic() + 300
    while not ((tmp_path / "reached").exists() and len(list(kept.glob("[!.]*"))) == 1):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    process.kill()
    process.communicate()
    result = run(small.config_of(tmp_path, POPULAR, small.RANDOM, data={"cache": True}))
    assert [model.name for model in result.models if model.reused] == ["popular"]


# Two runs meet after they have read, and each writes when both have evaluated.
MEETING = """
import os, sys, time
from pathlib import Path
from harness.cli import main
from harness.evaluation.finished import Finished
from harness.results.run import Run

def before(function, place):
    def met(*given, **named):
        Path(f"{place}-{os.getpid()}").touch()
        end = time.monotonic() + 300
        while len(list(Path().glob(f"{place}-*"))) < 2:
            assert time.monotonic() < end
            time.sleep(0.01)
        return function(*given, **named)
    return met

Finished.keep = before(Finished.keep, "keep")
Run.write = before(Run.write, "write")
sys.argv[:] = ["harness", "run", str(Path("exam.toml").absolute()), *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("out", [[], ["--out", "mine"]])
def test_two_processes_on_one_run(tmp_path: Path, out: list[str]) -> None:
    """Neither takes the other's folder from it, unless both were told to write there."""
    text = small.toml(POPULAR, data={"cache": True})
    small.write(tmp_path, {"log.csv": small.MANY, "exam.toml": text})
    both = [started(tmp_path, ["-c", MEETING, *out]) for _ in range(2)]
    outputs = [process.communicate()[1] for process in both]
    assert (outputs, [process.returncode for process in both]) == (["", ""], [0, 0])
    runs = [tmp_path / "mine"] if out else sorted((tmp_path / "runs").iterdir())
    assert len(runs) == (1 if out else 2)
    means = [read(folder).record.models[0].metrics for folder in runs]
    assert all(metrics == means[0] for metrics in means)
    assert not [path for path in tmp_path.rglob("*") if "part" in path.name]
    (model,) = run(small.config_of(tmp_path, POPULAR, data={"cache": True})).models
    assert model.reused
