"""Models evaluated side by side: the same results, whoever asks them, whatever becomes of it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import small
from small import MODELS, timeless

from harness.config import Config
from harness.core.errors import RecommenderError, UsageError
from harness.experiment import side_by_side
from harness.experiment.memory import Limit
from harness.experiment.result import Findings
from harness.experiment.run import run
from harness.experiment.side_by_side import processes

# Every process writes down that it asked; this one waits until a worker has done so, too.
OWN = """
import os, sys, threading, time
from pathlib import Path
from baselines.popular import Popular
WORKS = sys.argv[1:2] == ["harness.experiment.worker"]

class Meets(Popular):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def fit_steps(self, train):
        Path(self.folder, "worker" if WORKS else "parent").touch()
        end = time.monotonic() + 60
        while not WORKS and not Path(self.folder, "worker").exists():
            assert time.monotonic() < end, "no worker came"
            time.sleep(0.01)
        yield from super().fit_steps(train)

class Waits(Popular):
    def fit_steps(self, train):
        for thread in threading.enumerate():
            if "_feed" in thread.name:
                thread.join(60)
        yield from super().fit_steps(train)

class Leaves(Meets):
    def fit_steps(self, train):
        Path(self.folder, "worker").touch()
        os._exit(7) if WORKS else None
        yield from Popular.fit_steps(self, train)

class Raises(Meets):
    def fit_steps(self, train):
        Path(self.folder, "worker").touch()
        raise ValueError("in a worker" if WORKS else "here")
"""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep models of files that were written just now."""
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")


def own(folder: Path, use: str, name: str) -> dict[str, Any]:
    met = folder / "met"
    met.mkdir(exist_ok=True)
    return {"name": name, "use": f"own:{use}", "params": {"folder": str(met)}}


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    """Return a config whose first model waits for a worker."""
    small.write(folder, {"log.csv": small.MANY, "own.py": OWN})
    data = {"cache": True, **sections.pop("data", {})}
    return small.config_of(folder, own(folder, "Meets", "first"), *models, data=data, **sections)


def figures(found: Findings) -> Any:
    """Return all that is recorded but seconds, and who was asked."""
    record = timeless(found.to_dict())
    for part in (record, *record["folds"]):
        for model in part["models"]:
            del model["reused"]
    return record


FOLDS = {"strategy": "time", "valid_days": 2, "folds": 2}


@pytest.mark.parametrize("split", [{"strategy": "time", "valid_days": 1}, FOLDS])
def test_the_results_are_the_same(tmp_path: Path, split: dict[str, Any]) -> None:
    settings = config(tmp_path, *MODELS, own(tmp_path, "Meets", "last"), split=split)
    found = run(settings, jobs=2)
    assert {path.name for path in (tmp_path / "met").iterdir()} == {"parent", "worker"}
    again = run(settings)
    assert [model.name for model in again.models if not model.reused] == []
    assert figures(again) == figures(found)
    alone = run(settings, fresh=True)
    assert figures(found) == figures(alone)
    assert found.per_user().equals(alone.per_user())
    assert found.recommendations().equals(alone.recommendations())


def test_a_model_that_ends_its_process_fails(tmp_path: Path) -> None:
    found = run(config(tmp_path, own(tmp_path, "Leaves", "last")), jobs=2)
    assert [model.name for model in found.models] == ["first"]
    (failed,) = found.failed
    assert failed.error == 'model "last" ended its process, which ended with status 7'


def test_models_that_fail_in_a_worker_are_told_in_the_configs_order(tmp_path: Path) -> None:
    failing = [own(tmp_path, "Raises", name) for name in ("b", "a", "c")]
    found = run(config(tmp_path, *failing), jobs=2)
    assert [model.name for model in found.models] == ["first"]
    assert [failed.name for failed in found.failed] == ["b", "a", "c"]
    last = found.failed[-1].error
    assert last.startswith('model "c" raised in fit: ValueError: in a worker (')


def test_fail_fast_stops_at_a_workers_failure(tmp_path: Path) -> None:
    settings = config(tmp_path, own(tmp_path, "Raises", "last"))
    with pytest.raises(RecommenderError, match=r'model "last" raised in fit'):
        run(settings, jobs=2, fail_fast=True)


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
        "import harness, harness.core.sharing as sharing\n"
        "sharing._PATIENCE = 0\n"
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


# How many processes.


def layouts(folder: Path) -> Any:
    small.write(folder, {"log.csv": small.MANY})
    return [small.config_of(folder, small.POPULAR).layout()]


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True, "2", None])
def test_jobs_are_a_whole_number(tmp_path: Path, jobs: Any) -> None:
    with pytest.raises(UsageError) as refused:
        run(config(tmp_path), jobs=jobs)
    assert str(refused.value) == f"jobs is {jobs!r}; expected a whole number of processes, from 1"


def test_each_process_needs_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of 0.3 GB for a small log and 1.5 for a model: 4 GB have room for two."""
    own = layouts(tmp_path)
    assert processes(2, own, Limit(4_000_000_000, "4 GB is free")) == 2
    assert not caplog.messages
    assert processes(3, own, Limit(4_000_000_000, "4 GB is free")) == 2
    assert processes(3, own, Limit(1_000_000_000, "1 GB is free")) == 1
    assert caplog.messages == [
        "--jobs 3: 2 processes, as each needs about 1.8 GB of memory; 4 GB is free",
        "--jobs 3: 1 process, as each needs about 1.8 GB of memory; 1 GB is free",
    ]
