"""Work shared with worker processes, which are joblib's loky: the same results, whoever does it."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Condition, Event, Lock, RLock, Thread
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from harness.core import plugins
from harness.core.arrays import Int32
from harness.core.errors import DataError, HarnessError, RecommenderError, UsageError
from harness.core.sources import imported_sources

_log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")
Item = TypeVar("Item", contravariant=True)

Reply = tuple[str, list[list[Int32]]]
"""What a worker sends: a JSON document, and the arrays of each item."""
Ask = Callable[[Sequence[T]], Reply]
_THREADS = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "POLARS_MAX")


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """What is done with items, by this process or by a worker.

    Attributes
    ----------
    open : function
        Returns, when workers can read the files, what they are asked by: a function of items that
        returns what `reply` does. It is sent to them. Without items it only prepares.
    seen : function
        Returns what a worker must have seen, too, as JSON has it.
    read : function of a JSON document and arrays
        Returns the result of an item.
    here : function of an item
        Returns its result in this process.
    lost : function of an item and a text
        Returns, or raises, what becomes of an item that ended the worker, as the text says.
    """

    open: Callable[[], Ask[T]]
    seen: Callable[[], list[Any]]
    read: Callable[[Mapping[str, Any], list[Int32]], R]
    here: Callable[[T], R]
    lost: Callable[[T, str], R]


class Workers:
    """Processes beside this one, each started when there has been work for a second.

    Parameters
    ----------
    count : int
        How many; without any, all is done here.
    start : function
        Returns a pool of one process.
    patience : float
        Seconds of work before they are started. What is done by then gains nothing from them.
    """

    def __init__(
        self, count: int, start: Callable[[], Any] | None = None, patience: float = 1.0
    ) -> None:
        start = start or partial(_pool, threads_of(count))
        self._workers, self._patience = [_Worker(start) for _ in range(count)], patience
        self._sources, self._changed = _sources() if count else {}, Lock()

    def __enter__(self) -> Self:
        """Return itself; the processes end with the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        for worker in list(self._workers):  # one that is of no use may be taken out meanwhile
            worker.end()

    @property
    def count(self) -> int:
        """How many there are, without those that are of no use."""
        return len(self._workers)

    def share(
        self, units: Sequence[Sequence[T]], work: Work[T, R], first: int = 0
    ) -> Generator[tuple[T, Callable[[], R]], None, None]:
        """Yield every item with what returns its result, or raises, as soon as it can be asked.

        Units are not divided. This process takes the first that is left, a worker the last, but
        none of the `first` ones.
        """
        queue, threads = _Queue[T, R](units, first), list[tuple[_Worker, Thread]]()
        for worker in self._workers[: len(units) - max(first, 1)] if units else ():
            feed = partial(self._feed, worker, queue, work)
            threads.append((worker, Thread(target=feed, name="share", daemon=True)))
            threads[-1][1].start()
        try:
            yield from queue.results(work.here)
        finally:
            queue.ended.set()
            for worker, thread in threads:
                while thread.is_alive():
                    if queue.taken:  # nobody waits for what is under way
                        worker.end()
                    thread.join(0.1)

    def require_same_source(self, name: str) -> None:
        """Raise RecommenderError where this process has imported a file otherwise than a worker.

        Parameters
        ----------
        name : str
            The model that it has asked.
        """
        other = self._other_source(_sources()) if self._sources else None
        if other is not None:
            raise RecommenderError(
                f'model "{name}": {other} was written during the run, after another process had '
                "evaluated models with what it was; run the same command again"
            )

    def _other_source(self, imported: Mapping[str, str]) -> Path | None:
        """Add what a process has imported; return a file that another has imported otherwise."""
        with self._changed:
            for path, digest in imported.items():
                if self._sources.get(path, digest) != digest:
                    return Path(path)
            self._sources.update(imported)
            return None

    def _feed(self, worker: _Worker, queue: _Queue[T, R], work: Work[T, R]) -> None:
        """Let a worker take units from the end, as long as there are any."""
        if worker.pool is None and queue.ended.wait(self._patience):
            return
        unit = None
        try:
            ask = work.open()
            while (unit := queue.take()) is not None:
                try:
                    results = self._results(worker, ask, unit, work)
                except BrokenProcessPool:
                    worker.end()
                    results = [self._alone(worker, ask, item, work) for item in unit]
                queue.give(results)
        except Exception as error:
            if not queue.ended.is_set():
                _log.warning("a worker process %s: the rest of its work is done by this one", error)
            worker.end()
            self._workers.remove(worker)
            if unit is not None:
                queue.give_back(unit)

    def _alone(
        self, worker: _Worker, ask: Ask[T], item: T, work: Work[T, R]
    ) -> tuple[T, Callable[[], R]]:
        """Return the result of an item; if it ends a worker that has read the data, it is lost."""
        if worker.pool is None:
            try:
                self._results(worker, ask, (), work)
            except BrokenProcessPool as error:
                raise DataError(f"{_ending(error)} before it was asked for anything") from error
        try:
            return self._results(worker, ask, (item,), work)[0]
        except BrokenProcessPool as error:
            worker.end()
            return item, partial(work.lost, item, _ending(error))

    def _results(
        self, worker: _Worker, ask: Ask[T], unit: Sequence[T], work: Work[T, R]
    ) -> list[tuple[T, Callable[[], R]]]:
        """Return what a worker finds, unless it is of no use."""
        text, arrays = worker.reply(ask, unit)
        document = json.loads(text)
        if "refused" in document:
            raise DataError(document["refused"])
        other = self._other_source(document["sources"])
        if other is not None:
            raise DataError(f"finds other code: {other.name} has changed since its import")
        if document["seen"] != work.seen():
            raise DataError("finds other data: its files have changed since they were read")
        return [
            (item, partial(_raise, told) if "error" in told else partial(work.read, told, lists))
            for item, told, lists in zip(unit, document["items"], arrays, strict=True)
        ]


class _Worker:
    """A process that is started when it is asked, and again when it has ended."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self.pool: Any = None

    def reply(self, ask: Ask[T], unit: Sequence[T]) -> Reply:
        """Return its reply; raises BrokenProcessPool where it ends before."""
        try:
            self.pool = self.pool or self._start()
            future: Future[Reply] = self.pool.submit(ask, unit)
        except (ImportError, NotImplementedError, OSError) as error:
            raise UsageError(f"cannot be started here ({error}; --jobs 1 needs none)") from error
        return future.result()

    def end(self) -> None:
        """End it, whatever it does."""
        pool, self.pool = self.pool, None
        if pool is not None:
            pool.shutdown(kill_workers=True)


class _Queue(Generic[T, R]):
    """Units that are left, and what workers found."""

    def __init__(self, units: Sequence[Sequence[T]], first: int) -> None:
        self.ended, self.taken = Event(), 0
        self._left, self._first = deque(units), first
        self._results = list[tuple[T, Callable[[], R]]]()
        self._changed = Condition()

    def results(self, here: Callable[[T], R]) -> Iterator[tuple[T, Callable[[], R]]]:
        """Yield what workers have found, and what is to be done `here`, until nothing is left."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._left or self._results or not self.taken)
                results, self._results = self._results, []
                if not (results or self._left):
                    return
                if not results:
                    self._first -= 1
                    results = [(item, partial(here, item)) for item in self._left.popleft()]
            yield from results

    def take(self) -> Sequence[T] | None:
        """Return the last unit that is left for a worker, if there is one; it is to be given."""
        with self._changed:
            if self.ended.is_set() or len(self._left) <= max(self._first, 0):
                return None
            self.taken += 1
            return self._left.pop()

    def give(self, results: Sequence[tuple[T, Callable[[], R]]]) -> None:
        """Take what a worker has found of a unit."""
        with self._changed:
            self.taken -= 1
            self._results += results
            self._changed.notify()

    def give_back(self, unit: Sequence[T]) -> None:
        """Leave what a worker has taken to the others."""
        with self._changed:
            self.taken -= 1
            self._left.append(unit)
            self._changed.notify()


def _sources() -> dict[str, str]:
    """Return the source of this process; what it is not sure of is equal to no other's."""
    return imported_sources(unsure=f" {os.getpid()}")


def _raise(told: Mapping[str, str]) -> Any:
    kinds = {kind.__name__: kind for kind in (UsageError, DataError)}
    error = kinds.get(told["kind"], RecommenderError)(told["error"])
    error.add_note(told["traceback"])
    raise error


def _ending(error: BrokenProcessPool) -> str:
    """Return how a process ended."""
    status = re.search(r"\((-?\d+)\)", str(error))  # loky writes EXIT(7) or SIGKILL(-9)
    if status is None:
        return "ended"
    code = int(status[1])
    if code == -9:
        return "was killed (memory may have run out; --jobs 1 leaves it more)"
    return f"ended by signal {-code}" if code < 0 else f"ended with status {code}"


class Prepared(Protocol[Item]):
    """What a worker has made of a job."""

    def seen(self) -> list[Any]:
        """Return what tells the data that it has read."""

    def ask(self, item: Item) -> tuple[dict[str, Any], list[Int32]]:
        """Return what `Work.read` takes."""


def reply(prepare: Callable[[], Prepared[T]], items: Sequence[T]) -> Reply:
    """Return what a worker sends; called in it.

    It is text and plain arrays: this process unpickles nothing that a model's classes have made.
    """
    told, arrays = list[dict[str, Any]](), list[list[Int32]]()
    try:
        prepared = prepare()
        for item in items:
            try:
                values, lists = prepared.ask(item)
            except HarnessError as error:
                text = "".join(traceback.format_exception(error))
                kind = type(error).__name__
                values, lists = {"error": str(error), "kind": kind, "traceback": text}, []
            told.append(values)
            arrays.append([np.ascontiguousarray(one, np.int32) for one in lists])
        document = {"items": told, "seen": prepared.seen(), "sources": _sources()}
        return json.dumps(document), arrays
    except HarnessError as error:
        return json.dumps({"refused": str(error)}), []
    except BaseException as error:  # a model's, Ctrl-C of its own, or a fault of ours
        traceback.print_exc()
        return json.dumps({"refused": f"failed ({plugins.told(error)})"}), []


def threads_of(count: int) -> int:
    """Return how many threads each of `count` workers may have.

    Twice its share: while others use one thread, or have ended, none is left unused.
    """
    processors = os.cpu_count() or 1
    return min(processors, -(-2 * processors // (count + 1)))


def _pool(threads: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    # Threads that wait for one another leave the processors to the other processes.
    env = {f"{name}_THREADS": str(threads) for name in _THREADS} | {"OMP_WAIT_POLICY": "passive"}
    env = {name: value for name, value in env.items() if name not in os.environ}
    env["PYTHONSAFEPATH"] = "1"  # a file of the current folder is not taken for one of Python's
    return ProcessPoolExecutor(1, env=env, initializer=_settle, initargs=(os.getpid(),))


def _settle(parent: int) -> None:
    """Let this process be a worker, which says nothing and ends with its parent."""
    from joblib.externals.loky import process_executor
    from tqdm import tqdm

    tqdm.set_lock(RLock())  # its own is a semaphore, which stays behind when a process is killed
    process_executor._USE_PSUTIL = False  # else one that holds more data than before is replaced
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a model may read and print as it likes
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    logger = logging.getLogger("harness")  # the parent says the same
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)
