"""Workers that find other files than the process that asks them, and a script without a guard."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import small
from beside import OWN, own

from harness.experiment import side_by_side
from harness.experiment.run import run

pytestmark = pytest.mark.usefixtures("at_once")


def test_a_worker_that_finds_other_data_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(side_by_side, "stamps_of", lambda layout: [["log.csv", 1]])
    small.write(tmp_path, {"log.csv": small.MANY, "own.py": OWN})
    waits = {"name": "first", "use": "own:Waits"}
    found = run(small.config_of(tmp_path, waits, small.POPULAR, data={"cache": True}), jobs=2)
    assert [model.name for model in found.models] == ["first", "popular"]
    assert caplog.messages == [
        "a worker process finds other data: its files have changed since they were read: the "
        "rest of its work is done by this one"
    ]


WRITES = """
class Writes(Waits):
    def fit_steps(self, train):
        Path(__file__).write_text(Path(__file__).read_text() + "# edited")
        yield from super().fit_steps(train)
"""


def test_a_worker_that_finds_other_code_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The class is edited when the first process has imported it, before a worker does."""
    small.write(tmp_path, {"log.csv": small.MANY, "own.py": OWN + WRITES})
    first = {"name": "first", "use": "own:Writes"}
    run(small.config_of(tmp_path, first, small.POPULAR, data={"cache": True}), jobs=2)
    assert caplog.messages[0].startswith(
        "a worker process finds other code: own.py has changed since its import: the rest of its "
    )


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    models = own(tmp_path, "Meets", "first"), own(tmp_path, "Meets", "last")
    script = "import harness\nfound = harness.run('shop.toml', jobs=2)\nprint(found.models[1].name)"
    small.write(tmp_path, {"log.csv": small.MANY, "own.py": OWN, "script.py": script})
    small.write(tmp_path, {"shop.toml": small.toml(*models)})
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "last\n")
