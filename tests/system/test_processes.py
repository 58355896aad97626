"""Worker processes: what they answer, what they must not disturb, and how they end."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.errors import RecommenderError
from harness.core.processes import LostError, Worker

ECHO = """
import os, signal, sys, time
import numpy as np
from harness.core.errors import UsageError
from harness.core.processes import Answer, serve

def answer(request):
    match request["do"]:
        case "arrays":
            return Answer({"n": request["n"]}, [np.arange(6).reshape(2, 3), np.empty((0, 4))])
        case "fail":
            raise UsageError("no such thing")
        case "print":
            print("said by a model")
            os.system("echo said by a program")
            return Answer({"read": sys.stdin.read()})
        case "threads":
            return Answer(dict(os.environ))
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            os._exit(3)
        case "break":
            raise ZeroDivisionError
        case "interrupt":
            raise KeyboardInterrupt
        case "sleep":
            time.sleep(600)
    return Answer({"pid": os.getpid()})

def main():
    serve(answer)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module that serves."""
    (tmp_path / "echo_worker.py").write_text(ECHO)
    monkeypatch.syspath_prepend(tmp_path)
    return "echo_worker"


@pytest.fixture
def worker(module: str, tmp_path: Path) -> Iterator[Worker]:
    with closing(Worker(module, 1, tmp_path)) as worker:
        yield worker


def test_it_answers_with_values_and_arrays(worker: Worker) -> None:
    told, arrays = worker.ask({"do": "arrays", "n": 1.5})
    assert told == {"n": 1.5}
    assert [array.tolist() for array in arrays] == [[[0, 1, 2], [3, 4, 5]], []]
    assert [(array.shape, array.dtype) for array in arrays] == [((2, 3), "i4"), ((0, 4), "i4")]


def test_what_a_person_can_mend_is_raised_here_and_it_goes_on(worker: Worker) -> None:
    with pytest.raises(RecommenderError) as raised:
        worker.ask({"do": "fail"})
    assert str(raised.value) == "no such thing"
    assert "UsageError: no such thing" in raised.value.__notes__[0]
    assert worker.ask({"do": ""}).told["pid"] != os.getpid()


def test_models_may_print_and_read(
    capfd: pytest.CaptureFixture[str], module: str, tmp_path: Path
) -> None:
    with closing(Worker(module, 1, tmp_path)) as worker:
        assert worker.ask({"do": "print"}).told == {"read": ""}
    out, err = capfd.readouterr()
    assert (out, {*err.split("\n")}) == ("", {"", "said by a model", "said by a program"})


def test_its_libraries_have_so_many_threads_unless_the_environment_says_how_many(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    expected = {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    with closing(Worker(module, 3, tmp_path)) as worker:
        assert worker.ask({"do": "threads"}).told.items() >= expected.items()


def is_there(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_it_ends_with_the_process_that_started_it(module: str, tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from harness.core.processes import Worker\n"
        f"worker = Worker({module!r}, 1, Path('.'))\n"
        "print(worker.ask({'do': ''}).told['pid'], flush=True)\n"
        "worker.ask({'do': 'sleep'})\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    line = [sys.executable, "-c", script]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=env) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_there(pid)
        parent.kill()
    end = time.monotonic() + 120
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_there(pid)


@pytest.mark.parametrize(
    ("do", "how", "by_itself"),
    [
        ("die", "was killed (memory may have run out)", False),
        ("leave", "ended with status 3", True),
        ("break", "ended with status 70", False),
        ("interrupt", "ended with status 130", False),
    ],
)
def test_how_it_ended_is_told(worker: Worker, do: str, how: str, by_itself: bool) -> None:
    with pytest.raises(LostError) as lost:
        worker.ask({"do": do})
    assert (str(lost.value), lost.value.by_itself) == (how, by_itself)
