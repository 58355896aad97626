"""Worker processes: what they disturb, how they end, and what makes them of no use."""

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import small
from beside import OWN, config, own
from conftest import python

from harness.core.sources import watch_imports
from harness.core.workers import EndedError, Workers, threads_of
from harness.evaluation import workers
from harness.evaluation.run import run

pytestmark = pytest.mark.usefixtures("at_once")

ECHO = """
import os, signal, sys, time
def answer(item):
    print(os.getpid(), flush=True)
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "sleep":
        time.sleep(600)
    os.system("echo said by a program")
    return {"read": sys.stdin.read()} | dict(os.environ)

def opened():
    return answer
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of a module that has what a worker is asked by."""
    watch_imports()  # as a run does before it imports what a config names
    (tmp_path / "echo_worker.py").write_text(ECHO)
    monkeypatch.syspath_prepend(tmp_path)
    yield "echo_worker"
    sys.modules.pop("echo_worker", None)


def answer(module: str, item: str) -> Any:
    opened = importlib.import_module(module).opened
    with Workers(1, patience=0) as processes:
        shared = processes.share([["mine"], [item]], lambda: opened, str, first=1)
        results: dict[str, Any] = dict(shared)
    return results[item]()


def test_models_may_print_and_read_and_libraries_know_how_many_threads_they_have(
    capfd: pytest.CaptureFixture[str], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the environment says how many."""
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "9")
    expected = {"OPENBLAS_NUM_THREADS": "9", "OMP_WAIT_POLICY": "passive", "read": ""}
    expected["OMP_NUM_THREADS"] = str(threads_of(1))
    assert answer(module, "print").items() >= expected.items()
    out, err = capfd.readouterr()
    assert (out, err.splitlines()[1:]) == ("", ["said by a program"])


def test_a_model_that_is_killed_is_told(module: str) -> None:
    with pytest.raises(EndedError, match=r"was killed \(memory may have run out; --jobs 1 leaves"):
        answer(module, "die")


def is_there(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends_soon(pid: int) -> None:
    end = time.monotonic() + 120
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_there(pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize("ends", [signal.SIGKILL, signal.SIGINT])
def test_it_ends_with_the_process_that_started_it(module: str, ends: signal.Signals) -> None:
    """A killed one says nothing to it; Ctrl-C at a terminal goes to both."""
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from harness.core.workers import Workers; from {module} import opened\n"
        "with Workers(1, patience=0) as workers:\n"
        "    list(workers.share([['mine'], ['sleep']], lambda: opened, str, 1))\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", script]
    with subprocess.Popen(line, stderr=subprocess.PIPE, env=env, process_group=0) as parent:
        assert parent.stderr is not None
        pid = int(parent.stderr.readline())
        assert is_there(pid)
        if ends == signal.SIGINT:
            os.killpg(parent.pid, ends)
        else:
            parent.kill()
    ends_soon(pid)
    assert parent.returncode == -ends


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_the_reader_of_a_parquet_file_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """It would wait for ever: nobody writes into the pipe that it reads."""
    os.mkfifo(tmp_path / "lists.parquet")
    script = (
        "from pathlib import Path; from harness.submission.frame_rows import parquet\n"
        f"with parquet(Path('{tmp_path}/lists.parquet')): pass\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script], env=env) as parent:
        while not (children := psutil.Process(parent.pid).children()):
            assert parent.poll() is None
        parent.kill()
    (reader,) = children
    ends_soon(reader.pid)


def test_a_worker_that_finds_other_data_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workers, "stamps_of", lambda layout: [["log.csv", 1]])
    settings = config(tmp_path, [own(tmp_path, "Meets", "last")])
    small.write(
        tmp_path, {"own.py": f"{OWN}\nif WORKS:\n    Path('{tmp_path}/met/worker').touch()\n"}
    )
    result = run(settings, jobs=2)
    assert [model.name for model in result.models] == ["first", "last"]
    assert caplog.messages == [
        "a worker process has other data: the files have changed since the run read them; this "
        "process does the rest of its work"
    ]


def test_code_that_is_written_while_a_worker_runs_and_before_its_import_is_used(
    module: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Workers(1, patience=0) as processes:
        for name in (module, "later_worker"):
            (tmp_path / f"{name}.py").write_text(ECHO)
            opened = importlib.import_module(name).opened
            dict(processes.share([["mine"], ["print"]], lambda: opened, str, first=1))  # noqa: B023
        assert processes.count == 1
    assert caplog.messages == []
    sys.modules.pop("later_worker")


def test_a_process_begins_after_what_was_written_before_and_before_its_first_import() -> None:
    """The system counts ticks of a hundredth of a second, and files have finer times."""
    code = "import time; now = time.time_ns(); from harness.core.sources import _Clock;"
    for _ in range(5):
        before = time.time_ns()
        start, now = map(int, python(["-c", f"{code} print(_Clock.start, now)"]).stdout.split())
        assert before <= start <= now


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    models = own(tmp_path, "Meets", "first"), own(tmp_path, "Meets", "last")
    script = "import harness\nrun = harness.run('shop.toml', jobs=2)\nprint(run.models[1].name)"
    small.write(tmp_path, {"log.csv": small.MANY, "own.py": OWN, "script.py": script})
    small.write(tmp_path, {"shop.toml": small.toml(models=models)})
    done = python(["script.py"], folder=tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "last\n")
