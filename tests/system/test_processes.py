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

import pytest

from harness.core.errors import RecommenderError
from harness.core.processes import Answer, Worker
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
    worker = Worker(module, 1, tmp_path)
    yield worker
    worker.close()


def test_it_answers_with_values_and_arrays(worker: Worker) -> None:
    told, arrays = worker.ask({"do": "arrays", "n": 1.5})
    assert told == {"n": 1.5}
    assert [array.tolist() for array in arrays] == [[[0, 1, 2], [3, 4, 5]], []]
    assert [(array.shape, array.dtype) for array in arrays] == [((2, 3), "i4"), ((0, 4), "i4")]


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
        parent.send_signal(signal.SIGKILL)
    end = time.monotonic() + 120
    while is_there(pid):
        assert time.monotonic() < end, "the worker goes on without its parent"
        time.sleep(0.01)


# Units are shared between this process and workers.

REST = "the rest of its work is done by this one"


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


def results(workers: Workers, units: list[list[str]], work: Work[str, str]) -> dict[str, str]:
    """Return the results: the workers do what is left behind the first item."""
    shared = workers.share(units, work)
    first = next(shared)
    for thread in threading.enumerate():
        if thread.name == "share":
            thread.join(120)
    return {item: get() for item, get in (first, *shared)}


@pytest.fixture
def workers(module: str) -> Iterator[Workers]:
    with Workers(module, 1, patience=0) as workers:
        yield workers


def test_a_worker_takes_the_last_unit_whole(workers: Workers) -> None:
    here: list[str] = []
    done = results(workers, [["a"], ["b"], ["c", "d"]], work(here))
    assert here == ["a"]
    there = done["b"]
    assert done == {"a": "a here", "b": there, "c": there, "d": there}
    assert there.endswith(" there")


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
        assert results(workers, [["a"], ["threads"]], asked)["threads"] == threads


@pytest.mark.parametrize(
    ("do", "how"),
    [
        ("die", "was killed (memory may have run out)"),
        ("break", "ended with status 70"),
        ("interrupt", "ended with status 130"),
    ],
)
def test_what_a_worker_had_that_ended_is_done_here(
    workers: Workers, do: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    done = results(workers, [["a"], ["b"], [do]], work([]))
    assert done == {item: f"{item} here" for item in ("a", "b", do)}
    assert caplog.messages == [f"a worker process {how}: {REST}"]


def test_what_ends_a_worker_is_not_done_here(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    here: list[str] = []
    done = results(workers, [["a"], ["b", "leave", "c"]], work(here))
    assert here == ["a", "c"]
    assert done.pop("b").endswith(" there")
    assert done == {"a": "a here", "leave": "leave ended with status 3", "c": "c here"}
    assert caplog.messages == [f"a worker process ended with status 3: {REST}"]


def test_what_a_worker_raises_is_raised_where_its_result_is_asked_for(workers: Workers) -> None:
    with pytest.raises(RecommenderError, match="no such thing"):
        results(workers, [["a"], ["fail"]], work([]))


def test_a_worker_that_cannot_be_prepared_is_not_used(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    def no(answer: Answer) -> None:
        raise RecommenderError("finds other data")

    done = results(workers, [["a"], ["b"]], replace(work([]), accept=no))
    assert done == {"a": "a here", "b": "b here"}
    assert caplog.messages == [f"a worker process finds other data: {REST}"]
