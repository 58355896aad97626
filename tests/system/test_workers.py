"""Workers that find other files than the process that asks them, and a script without a guard."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import small
from beside import OWN, config, own

from harness.experiment import side_by_side
from harness.experiment.run import run


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep models of files that were written just now."""
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")


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


def test_a_worker_that_finds_other_code_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The class is edited when the first process has imported it, before a worker does."""
    writes = "class Writes(Waits):\n    def fit_steps(self, train):\n"
    writes += "        Path(__file__).write_text(Path(__file__).read_text() + '# edited')\n"
    writes += "        yield from super().fit_steps(train)\n"
    small.write(tmp_path, {"log.csv": small.MANY, "own.py": OWN + writes})
    first = {"name": "first", "use": "own:Writes"}
    run(small.config_of(tmp_path, first, small.POPULAR, data={"cache": True}), jobs=2)
    assert caplog.messages == [
        "a worker process finds other code: own.py has changed since its import: the rest of "
        "its work is done by this one",
        "not kept for later runs, so that the same command evaluates anew: first (own.py was "
        "written while it was in use)",
    ]


LAZY = """
class Lazy(Meets):
    def fit_steps(self, train):
        import helped
        yield from super().fit_steps(train)

class Edits(Waits):
    def fit_steps(self, train):
        yield from super().fit_steps(train)
        Path(__file__).with_name("helped.py").write_text("NUMBER = 2")
        import helped
"""


def test_a_helper_that_is_edited_between_two_imports_is_in_no_figures_beside_the_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker imports it as it was, and the first process after the edit, for another model."""
    monkeypatch.syspath_prepend(tmp_path)
    small.write(tmp_path, {"log.csv": small.MANY, "own.py": OWN + LAZY, "helped.py": "NUMBER = 1"})
    models = {"name": "edits", "use": "own:Edits"}, own(tmp_path, "Lazy", "lazy")
    found = run(small.config_of(tmp_path, *models, data={"cache": True}), jobs=2)
    del sys.modules["helped"]
    assert [model.name for model in found.models] == ["lazy"]
    (failed,) = found.failed
    assert failed.error == (
        f'model "edits": {tmp_path}/helped.py was written during the run, after another process '
        "had evaluated models with what it was; run the same command again"
    )


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    config(tmp_path)
    models = own(tmp_path, "Meets", "first"), own(tmp_path, "Meets", "last")
    script = (
        "import harness\n"
        "found = harness.run('shop.toml', jobs=2)\n"
        "print(*(model.name for model in found.models))\n"
    )
    small.write(tmp_path, {"script.py": script, "shop.toml": small.toml(*models)})
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "first last\n"
