"""Worker processes: what they answer, what they must not disturb, and how they end."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.core.errors import RecommenderError
from harness.core.processes import Answer, LostError, Worker
from harness.core.sharing import Work, Workers

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
            names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_WAIT_POLICY")
            return Answer({name: os.environ[name] for name in names})
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            os._exit(3)
        case "break":
            raise ZeroDivisionError
        case "interrupt":
            raise KeyboardInterrupt
        case "sleep":
            time.sleep(60)
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
    found = Worker(module, 1, tmp_path)
    yield found
    found.close()


def test_it_answers_with_values_and_arrays(worker: Worker) -> None:
    told, arrays = worker.ask({"do": "arrays", "n": 1.5})
    assert told == {"n": 1.5}
    assert [array.tolist() for array in arrays] == [[[0, 1, 2], [3, 4, 5]], []]
    assert [(array.shape, array.dtype) for array in arrays] == [
        ((2, 3), np.dtype(np.int32)),
        ((0, 4), np.dtype(np.int32)),
    ]


def test_what_a_person_can_mend_is_raised_here_and_it_goes_on(worker: Worker) -> None:
    with pytest.raises(RecommenderError, match="no such thing") as raised:
        worker.ask({"do": "fail"})
    assert str(raised.value) == "no such thing"
    assert "UsageError: no such thing" in raised.value.__notes__[0]
    assert worker.ask({"do": ""}).told["pid"] != os.getpid()


def test_models_may_print_and_read(
    capfd: pytest.CaptureFixture[str], module: str, tmp_path: Path
) -> None:
    worker = Worker(module, 1, tmp_path)
    assert worker.ask({"do": "print"}).told == {"read": ""}
    worker.close()
    out, err = capfd.readouterr()
    assert out == ""
    assert sorted(err.split("\n")) == ["", "said by a model", "said by a program"]


def test_its_libraries_have_so_many_threads_unless_the_environment_says_how_many(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    worker = Worker(module, 3, tmp_path)
    assert worker.ask({"do": "threads"}).told == {
        "OMP_NUM_THREADS": "3",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "passive",
    }
    worker.close()


@pytest.mark.parametrize(
    ("do", "told"),
    [
        ("die", r"was killed \(memory may have run out\)"),
        ("leave", "ended with status 3"),
        ("break", "ended with status 70"),
        ("interrupt", "ended with status 130"),
    ],
)
def test_one_that_ended_is_told(worker: Worker, do: str, told: str) -> None:
    with pytest.raises(LostError, match=f"^{told}$"):
        worker.ask({"do": do})


def _is_there(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_it_ends_with_the_process_that_started_it(module: str, tmp_path: Path) -> None:
    script = (
        "import sys, threading, time; from pathlib import Path\n"
        "from harness.core.processes import Worker\n"
        f"worker = Worker({module!r}, 1, Path('.'))\n"
        "print(worker.ask({'do': ''}).told['pid'], flush=True)\n"
        "worker.ask({'do': 'sleep'})\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert _is_there(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 120
    while _is_there(pid):
        assert time.monotonic() < end, "the worker goes on without its parent"
        time.sleep(0.01)


# Units are shared between this process and workers.


def work(here: list[str]) -> Work[str, str]:
    """Return work that writes down what this process does of it."""

    def done(item: str) -> str:
        here.append(item)
        return f"{item} here"

    return Work(
        prepare=lambda: {"do": ""},
        accept=lambda answer: None,
        request=lambda item: {"do": item},
        received=lambda answer: f"{answer.told['pid']} there",
        here=done,
        lost=lambda item, how: f"{item} {how}",
    )


def wait_for_workers() -> None:
    """Wait until the workers have done all that is left, or have ended."""
    for thread in threading.enumerate():
        if thread.name == "share":
            thread.join(120)


def test_a_worker_takes_the_last_unit_whole(module: str) -> None:
    here: list[str] = []
    found = {}
    with Workers(module, 1, patience=0) as workers:
        shared = workers.share([["a"], ["b"], ["c", "d"]], work(here))
        first, get = next(shared)
        wait_for_workers()
        found[first] = get()
        found |= {item: get() for item, get in shared}
    assert here == ["a"]
    pid = found["b"]
    assert found == {"a": "a here", "b": pid, "c": pid, "d": pid}
    assert pid.endswith(" there")


@pytest.mark.parametrize(
    ("processors", "processes", "threads"),
    [(2, 2, "2"), (16, 4, "8"), (7, 4, "4"), (4, 16, "1")],
)
def test_a_worker_has_twice_its_share_of_the_processors(
    processors: int, processes: int, threads: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    asked = replace(work([]), received=lambda answer: answer.told["OMP_NUM_THREADS"])
    with Workers(module, processes - 1, patience=0) as workers:
        shared = workers.share([["a"], ["threads"]], asked)
        next(shared)
        wait_for_workers()
        assert [get() for _, get in shared] == [threads]


@pytest.mark.parametrize("do", ["die", "break"])
def test_what_a_worker_had_that_ended_is_done_here(
    module: str, do: str, caplog: pytest.LogCaptureFixture
) -> None:
    here: list[str] = []
    with Workers(module, 1, patience=0) as workers:
        shared = workers.share([["a"], ["b"], [do]], work(here))
        first = next(shared)
        wait_for_workers()
        found = [first[1](), *(get() for _, get in shared)]
    assert sorted(found) == sorted(["a here", "b here", f"{do} here"])
    (told,) = caplog.messages
    assert told.startswith("a worker process ")
    assert told.endswith(": the rest of its work is done by this one")


def test_what_ends_a_worker_is_not_done_here(module: str, caplog: pytest.LogCaptureFixture) -> None:
    here: list[str] = []
    with Workers(module, 1, patience=0) as workers:
        shared = workers.share([["a"], ["b", "leave", "c"]], work(here))
        first = next(shared)
        wait_for_workers()
        found = {item: get() for item, get in (first, *shared)}
    assert here == ["a", "c"]
    assert found.pop("b").endswith(" there")
    assert found == {"a": "a here", "leave": "leave ended with status 3", "c": "c here"}
    assert caplog.messages == [
        "a worker process ended with status 3: the rest of its work is done by this one"
    ]


def test_what_a_worker_raises_is_raised_where_its_result_is_asked_for(module: str) -> None:
    with Workers(module, 1, patience=0) as workers:
        shared = workers.share([["a"], ["fail"]], work([]))
        next(shared)
        wait_for_workers()
        (failed,) = shared
        with pytest.raises(RecommenderError, match="no such thing"):
            failed[1]()


def test_a_worker_that_cannot_be_prepared_is_not_used(
    module: str, caplog: pytest.LogCaptureFixture
) -> None:
    def no(answer: Answer) -> None:
        raise RecommenderError("finds other data")

    with Workers(module, 1, patience=0) as workers:
        shared = workers.share([["a"], ["b"]], replace(work([]), accept=no))
        first = next(shared)
        wait_for_workers()
        assert [first[1](), *(get() for _, get in shared)] == ["a here", "b here"]
    assert caplog.messages == [
        "a worker process finds other data: the rest of its work is done by this one"
    ]
