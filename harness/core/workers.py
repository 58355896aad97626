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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
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

    open: Callable[[], Callable[[Sequence[T]], Reply]]
    seen: Callable[[], list[Any]]
    read: Callable[[Mapping[str, Any], list[Int32]], R]
    here: Callable[[T], R]
    lost: Callable[[T, str], R]


class Workers:
    """Processes beside this one, started when there has been work for a second.

    Parameters
    ----------
    count : int
        How many; without any, all is done here.
    start : function of a number
        Returns a pool of so many processes.
    patience : float
        Seconds of work before they are started. What is done by then gains nothing from them.

    Attributes
    ----------
    count : int
        How many there may be from now on: one when a worker has died, none when one is of no use.
    """

    def __init__(
        self, count: int, start: Callable[[int], Any] | None = None, patience: float = 1.0
    ) -> None:
        self.count, self._patience = count, patience
        self._start = start or partial(_pool, threads=threads_of(count))
        self._pool: Any = None
        self._lock = Lock()
        self._sources = imported_sources() if count else {}

    def __enter__(self) -> Self:
        """Return itself; the processes end with the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        self._end(0)

    def share(
        self, units: Sequence[Sequence[T]], work: Work[T, R], first: int = 0
    ) -> Iterator[tuple[T, Callable[[], R]]]:
        """Yield every item with what returns its result, or raises, as soon as it can be asked.

        Units are not divided. This process takes the first that is left, a worker the last, but
        none of the `first` ones.
        """
        queue = _Queue[T, R](units, first)
        feeder = Thread(target=self._feed, args=(queue, work), name="share", daemon=True)
        if self.count > 0 and len(units) > max(first, 1):
            feeder.start()
        try:
            yield from queue.results(work.here)
        finally:
            queue.ended.set()
            if queue.taken:  # nobody waits for what is under way
                self._end(0)
            if feeder.is_alive():
                feeder.join()

    def require_same_source(self, name: str) -> None:
        """Raise RecommenderError where this process has imported a file otherwise than a worker.

        Parameters
        ----------
        name : str
            The model that it has asked.
        """
        other = self._other_source(imported_sources()) if self._sources else None
        if other is not None:
            raise RecommenderError(
                f'model "{name}": {other} was written during the run, after another process had '
                "evaluated models with what it was; run the same command again"
            )

    def _other_source(self, imported: Mapping[str, str]) -> Path | None:
        """Add what a process has imported; return a file that another has imported otherwise."""
        with self._lock:
            for path, digest in imported.items():
                if self._sources.get(path, digest) != digest:
                    return Path(path)
            self._sources.update(imported)
            return None

    def _feed(self, queue: _Queue[T, R], work: Work[T, R]) -> None:
        """Let workers take units from the end, as long as there are any."""
        if self._pool is None and queue.ended.wait(self._patience):
            return
        futures = dict[Future[Reply], Sequence[T]]()
        try:
            ask = work.open()
            while True:
                try:
                    while len(queue.taken) < self.count and (unit := queue.take()) is not None:
                        futures[self._submit(ask, unit)] = unit
                    if not queue.taken:
                        return
                    for future in wait(futures, return_when=FIRST_COMPLETED).done:
                        unit = futures.pop(future)
                        queue.give(unit, self._results(unit, future, work))
                except BrokenProcessPool:  # any of them may have ended it
                    futures.clear()
                    self._end(1)
                    for unit in list(queue.taken):
                        queue.give(unit, [self._alone(item, work, ask) for item in unit])
        except Exception as error:
            self._end(0)
            if not queue.ended.is_set():
                _log.warning("a worker process %s: the rest of its work is done by this one", error)
            queue.give_back()

    def _alone(
        self, item: T, work: Work[T, R], ask: Callable[[Sequence[T]], Reply]
    ) -> tuple[T, Callable[[], R]]:
        """Return the result of an item that the only worker is asked for."""
        if self._pool is None:
            try:
                self._results((), self._submit(ask, ()), work)
            except BrokenProcessPool as error:
                raise DataError(f"{_ending(error)} before it was asked for anything") from error
        try:
            return self._results((item,), self._submit(ask, (item,)), work)[0]
        except BrokenProcessPool as error:
            self._end(1)
            return item, partial(work.lost, item, _ending(error))

    def _submit(self, ask: Callable[[Sequence[T]], Reply], unit: Sequence[T]) -> Future[Reply]:
        with self._lock:
            if self.count == 0:
                raise RuntimeError("has ended")
            try:
                if self._pool is None:
                    self._pool = self._start(self.count)
                future: Future[Reply] = self._pool.submit(ask, unit)
            except (ImportError, NotImplementedError, OSError) as error:
                raise UsageError(
                    f"cannot be started here ({error}; --jobs 1 needs none)"
                ) from error
            return future

    def _results(
        self, unit: Sequence[T], future: Future[Reply], work: Work[T, R]
    ) -> list[tuple[T, Callable[[], R]]]:
        """Return what a worker has found, unless it is of no use."""
        text, arrays = future.result()
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

    def _end(self, count: int) -> None:
        """End the processes; `count` others may be started."""
        with self._lock:
            self.count, pool, self._pool = min(count, self.count), self._pool, None
        if pool is not None:
            pool.shutdown(kill_workers=True)


class _Queue(Generic[T, R]):
    """Units that are left, those that workers have taken, and what they found."""

    def __init__(self, units: Sequence[Sequence[T]], first: int) -> None:
        self.ended, self.taken = Event(), list[Sequence[T]]()
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
        """Return the last unit that is left for a worker, if there is one."""
        with self._changed:
            if self.ended.is_set() or len(self._left) <= max(self._first, 0):
                return None
            self.taken.append(self._left.pop())
            return self.taken[-1]

    def give(self, unit: Sequence[T], results: Sequence[tuple[T, Callable[[], R]]]) -> None:
        """Take what a worker found."""
        with self._changed:
            self.taken.remove(unit)
            self._results += results
            self._changed.notify()

    def give_back(self) -> None:
        """Leave what workers have taken to this process."""
        with self._changed:
            self._left += reversed(self.taken)
            self.taken.clear()
            self._changed.notify()


def _raise(told: Mapping[str, str]) -> Any:
    kinds = {kind.__name__: kind for kind in (UsageError, DataError)}
    error = kinds.get(told["kind"], RecommenderError)(told["error"])
    error.add_note(told["traceback"])
    raise error


def _ending(error: BrokenProcessPool) -> str:
    """Return how the only process of a pool ended."""
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
        document = {"items": told, "seen": prepared.seen(), "sources": imported_sources()}
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


def _pool(count: int, threads: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    # Threads that wait for one another leave the processors to the other processes.
    env = {f"{name}_THREADS": str(threads) for name in _THREADS} | {"OMP_WAIT_POLICY": "passive"}
    env = {name: value for name, value in env.items() if name not in os.environ}
    env["PYTHONSAFEPATH"] = "1"  # a file of the current folder is not taken for one of Python's
    return ProcessPoolExecutor(count, env=env, initializer=_settle, initargs=(os.getpid(),))


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
