"""Work that is shared with workers, which are threads of this process here."""

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.core import sharing
from harness.core.errors import UsageError
from harness.core.processes import Answer, LostError
from harness.core.sharing import Work, Workers

REST = "the rest of its work is done by this one"
RAISED = {"fail": UsageError("no such thing"), "leave": LostError(3)}
RAISED |= {"die": LostError(-signal.SIGKILL)}
started: list[tuple[Any, ...]] = []


class Worker:
    """What a worker answers, without a process."""

    def __init__(self, *how: Any) -> None:
        started.append(how)

    def ask(self, request: dict[str, Any]) -> Answer:
        error = RAISED.get(request["do"])
        if error is not None:
            raise error
        return Answer({})

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    started.clear()
    monkeypatch.setattr(sharing, "Worker", Worker)
    with Workers("module", 1, patience=0) as workers:
        yield workers


WORK = Work[str, str](
    prepare=lambda: {"do": ""},
    accept=lambda answer: None,
    request=lambda item: {"do": item},
    received=lambda answer: "there",
    here=lambda item: "here",
    lost=lambda item, how: how,
)


def wait() -> None:
    """Wait for the threads that ask workers."""
    for thread in threading.enumerate():
        if thread.name == "share":
            thread.join(120)


def results(
    workers: Workers, units: list[list[str]], work: Work[str, str] = WORK
) -> dict[str, str]:
    """Return the results: the workers do what is left behind the first item."""
    shared = workers.share(units, work, own=1)
    first = next(shared)
    wait()
    return {item: get() for item, get in (first, *shared)}


@pytest.mark.parametrize("count", [0, 2])
def test_no_worker_is_started_for_short_work(count: int) -> None:
    with Workers("module", count, patience=3600) as workers:
        done = [(item, get()) for item, get in workers.share([["a", "b"], ["c"]], WORK)]
        wait()
    assert done == [("a", "here"), ("b", "here"), ("c", "here")]
    assert started == []


def test_a_worker_takes_the_last_unit_whole(workers: Workers) -> None:
    done = results(workers, [["a"], ["b"], ["c", "d"]])
    assert done == {"a": "here", "b": "there", "c": "there", "d": "there"}


@pytest.mark.parametrize(("processors", "processes", "threads"), [(2, 2, 2), (7, 4, 4), (4, 16, 1)])
def test_a_worker_has_twice_its_share_of_the_processors(
    processors: int, processes: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    with Workers("module", processes - 1, patience=0) as workers:
        results(workers, [["a"], ["b"]])
    assert started == [("module", threads, Path.cwd())]


@pytest.mark.parametrize(
    ("do", "how", "result"),
    [
        ("die", "was killed (memory may have run out)", "here"),
        ("leave", "ended with status 3", "ended with status 3"),
    ],
)
def test_what_a_lost_worker_had_is_done_here_but_not_what_ended_it(
    do: str, how: str, result: str, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    done = results(workers, [["a"], ["b", do, "c"]])
    assert done == {"a": "here", "b": "there", do: result, "c": "here"}
    assert caplog.messages == [f"a worker process {how}: {REST}"]


def test_what_a_worker_raises_is_raised_where_its_result_is_asked_for(workers: Workers) -> None:
    with pytest.raises(UsageError, match="no such thing"):
        results(workers, [["a"], ["fail"]])


def test_a_worker_that_cannot_be_prepared_is_not_used(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    def no(answer: Answer) -> None:
        raise UsageError("finds other data")

    work = replace(WORK, accept=no)
    assert results(workers, [["a"], ["b"]], work) == {"a": "here", "b": "here"}
    assert caplog.messages == [f"a worker process finds other data: {REST}"]
