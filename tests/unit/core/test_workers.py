"""Work that is shared with workers, which are threads of this process here."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from harness.core import sources
from harness.core.errors import RecommenderError, UsageError
from harness.core.workers import EndedError, Workers, threads_of

REST = "this process does the rest of its work"
started: list[Any] = []
endings: dict[str, list[str]] = {}
"""How pools end that are asked for an item, each time."""


class Pool:
    """What ends as loky's processes do."""

    def __init__(self) -> None:
        started.append(self)

    def submit(self, ask: Any, open_: Any, item: str = "") -> Future[Any]:
        if endings.get(item):
            raise BrokenProcessPool(f"The exit codes are {{{endings[item].pop()}}}")
        future = Future[Any]()
        future.set_result(ask(open_, item) if item else ask(open_))
        return future

    def shutdown(self, kill_workers: bool) -> None: ...


def there(item: str) -> str:
    if item == "fail":
        raise UsageError("no such thing")
    return "there"


def opened() -> Callable[[str], str]:
    return there


@pytest.fixture(autouse=True)
def workers() -> Workers:
    started.clear()
    endings.clear()
    return Workers(1, Pool, patience=0)


def here(item: str) -> str:
    return "here"


def result(answer: Callable[[], str]) -> str:
    try:
        return answer()
    except EndedError as error:
        return str(error)


def results(workers: Workers, units: list[list[str]], open_: Any = opened) -> dict[str, str]:
    """Return the results: workers do what is left behind the first unit, or refuse it."""
    shared = workers.share(units, lambda: open_, here, first=1)
    first = next(shared)
    for thread in threading.enumerate():
        if thread.name == "share":
            thread.join(120)
    return {item: result(answer) for item, answer in (first, *shared)}


@pytest.mark.parametrize("count", [0, 2])
def test_no_worker_is_started_for_short_work(count: int) -> None:
    with Workers(count, Pool, patience=3600) as workers:
        done = [(i, answer()) for i, answer in workers.share([["a", "b"], ["c"]], opened, here)]
    assert done == [("a", "here"), ("b", "here"), ("c", "here")]
    assert started == []


def test_a_worker_takes_units_whole(workers: Workers) -> None:
    there = {"b": "there", "c": "there", "d": "there"}
    assert results(workers, [["a"], ["b"], ["c", "d"]]) == {"a": "here", **there}


@pytest.mark.parametrize(("processors", "processes", "threads"), [(2, 2, 2), (7, 4, 4), (4, 16, 1)])
def test_a_worker_has_twice_its_share_of_the_processors(
    processors: int, processes: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert threads_of(processes - 1) == threads


@pytest.mark.parametrize(
    ("times", "result"),
    [
        (["EXIT(3)"], "there"),
        (["EXIT(3)", "SIGSEGV(-11)"], "ended its process, which ended with status 3"),
        (["SIGSEGV(-11)", "EXIT(3)"], "ended its process, which ended by signal 11"),
        (["UNKNOWN", "EXIT(3)"], "ended its process, which ended"),
    ],
)
def test_an_item_that_ends_a_worker_twice_is_lost(
    times: list[str], result: str, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    """It is asked again in another process, and those behind it in that one or the next."""
    endings["c"] = [*times]
    done = results(workers, [["a"], ["b"], ["c", "d"], ["e"]])
    assert done == {"a": "here", "b": "there", "c": result, "d": "there", "e": "there"}
    assert len(started) == 1 + len(times)
    assert not caplog.messages


def test_what_a_worker_raises_is_raised_where_its_result_is_asked_for(workers: Workers) -> None:
    with pytest.raises(UsageError, match="no such thing"):
        results(workers, [["a"], ["fail"]])


def test_a_worker_is_not_used_when_a_file_was_edited_after_its_import(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sources, "edited", lambda modules: Path("a.py"))
    assert results(workers, [["a"], ["b"]]) == {"a": "here", "b": "here"}
    assert caplog.messages == [
        f"a worker process has other code: a.py may have changed since its import; {REST}"
    ]


def test_two_versions_of_a_module_are_never_in_one_run(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker opens and answers b with version 1; c there, and all here, would be of version 2."""
    versions = iter("1122")
    monkeypatch.setattr(sources, "digests", lambda: {"helper": next(versions, "2")})
    with pytest.raises(RecommenderError, match="source of helper changed during the run"):
        results(workers, [["a"], ["b"], ["c"]])


def no_file() -> Any:
    raise UsageError("finds no file")


@pytest.mark.parametrize(
    ("open_", "why"),
    [(no_file, "finds no file"), (lambda: {}["x"], "failed (KeyError: 'x' (")],
)
def test_a_worker_that_is_of_no_use_is_not_used(
    open_: Any, why: str, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    units = [["a"], ["b"], ["c"], ["d"]]
    done = results(workers, units, open_)
    assert list(done.items()) == [(item, "here") for item in "abcd"]
    (message,) = caplog.messages
    assert message.startswith(f"a worker process {why}")
    assert message.endswith(f"; {REST}")


def test_workers_that_end_before_they_are_asked_are_not_used(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    endings[""], endings["b"] = ["EXIT(1)"], ["SIGKILL(-9)"]
    assert results(workers, [["a"], ["b"]]) == {"a": "here", "b": "here"}
    assert caplog.messages == [
        f"a worker process ended with status 1 before it started work; {REST}"
    ]


def test_a_machine_that_starts_no_processes_is_told(caplog: pytest.LogCaptureFixture) -> None:
    def none() -> Any:
        raise OSError("no semaphores")

    with Workers(1, none, patience=0) as workers:
        assert results(workers, [["a"], ["b"]]) == {"a": "here", "b": "here"}
    assert caplog.messages == [
        "a worker process cannot be started here (no semaphores; --jobs 1 does not need one); "
        f"{REST}"
    ]
