"""Work shared with worker processes, which are joblib's loky: the same results, whoever does it."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, RLock, Thread
from typing import Any, Generic, Self, TypeVar

from harness.core import plugins
from harness.core.errors import DataError, HarnessError, RecommenderError, UsageError
from harness.core.sources import imported_sources

_log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

Answering = tuple[Callable[[T], R], list[Any]]
"""What a worker answers an item by, and what identifies the data that it has read."""
Prepare = Callable[[], Answering[T, R]]
"""What is sent to a worker, and called there."""
Reply = tuple[Any, list[Any], dict[str, str]]
"""What a worker sends: an item's result or error, what identifies its data, and its source."""

_THREADS = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "POLARS_MAX")


class EndedError(Exception):
    """An item ended two processes; the message says how."""


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
        self._sources = _sources() if count else {}

    def __enter__(self) -> Self:
        """Return itself; the processes end with the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.end()

    @property
    def count(self) -> int:
        """How many there are, without those that are of no use."""
        return sum(worker.is_of_use for worker in self._workers)

    def share(
        self,
        units: Sequence[Sequence[T]],
        prepare: Callable[[], Prepare[T, R]],
        data: Callable[[], list[Any]],
        first: int = 0,
    ) -> Generator[tuple[T, Callable[[], R] | None], None, None]:
        """Yield every item with what returns, or raises, a worker's answer; None: do it yourself.

        Units are not divided. You have the first, a worker the last, but none of the `first` ones.

        Parameters
        ----------
        prepare : function
            Returns what is sent to a worker, when the files can be read there. What it answers is
            of our own types: this process may lack the classes of models.
        data : function
            Returns what identifies the data of a worker that is of use.
        """
        share = _Share[T, R](units, first, prepare, partial(self._trusted, data))
        workers = [worker for worker in self._workers if worker.is_of_use]
        workers = workers[: max(0, len(units) - max(first, 1))]
        feeds = [partial(share.feed, worker, self._patience) for worker in workers]
        threads = [Thread(target=feed, name="share", daemon=True) for feed in feeds]
        for thread in threads:
            thread.start()
        try:
            yield from share.items()
        finally:
            share.ended.set()
            for worker, thread in zip(workers, threads, strict=True):
                while thread.is_alive():
                    if share.waiting:  # nobody waits for what is under way
                        worker.end()
                    thread.join(0.1)

    def require_same_source(self, name: str) -> None:
        """Raise RecommenderError where what a model imported here is otherwise in a worker."""
        changed = self._changed(_sources()) if self._workers else None
        if changed is not None:
            raise RecommenderError(
                f'model "{name}": {changed} may have been written during the run, after another '
                "process had evaluated models with what it was; run the same command again, or "
                "with --jobs 1"
            )

    def _trusted(self, data: Callable[[], list[Any]], message: Reply) -> Any:
        """Return a worker's result; DataError where it has other code or data."""
        result, identity, sources = message
        changed = self._changed(sources)
        if changed is not None:
            raise DataError(f"finds other code: {changed.name} may have changed since its import")
        if identity != data():
            raise DataError("finds other data: its files have changed since they were read")
        return result

    def _changed(self, sources: Mapping[str, str]) -> Path | None:
        """Add what a process has imported; return a file that another has imported otherwise."""
        for path, digest in sources.items():
            if self._sources.setdefault(path, digest) != digest:
                return Path(path)
        return None


class _Worker:
    """A process that is started when it is asked, and again when it has ended."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self.pool: Any = None
        self.is_of_use = True

    def ask(self, prepare: Prepare[T, R], item: T) -> Reply:
        """Return its reply; raises BrokenProcessPool where the item ends it."""
        if self.pool is None:
            try:
                self.pool = self._start()
                self.pool.submit(reply, prepare).result()
            except (ImportError, NotImplementedError, OSError) as error:
                raise UsageError(
                    f"cannot be started here ({error}; --jobs 1 needs none)"
                ) from error
            except BrokenProcessPool as error:
                raise DataError(f"{_ending(error)} before it was asked for anything") from error
        answer: Reply = self.pool.submit(reply, prepare, item).result()
        return answer

    def end(self) -> None:
        """End it, whatever it does."""
        pool, self.pool = self.pool, None
        if pool is not None:
            pool.shutdown(kill_workers=True)


class _Share(Generic[T, R]):
    """Units of items that are done from the front here, and from the end by workers."""

    def __init__(
        self,
        units: Sequence[Sequence[T]],
        first: int,
        prepare: Callable[[], Prepare[T, R]],
        trusted: Callable[[Reply], Any],
    ) -> None:
        self.waiting, self.ended = sum(map(len, units)), Event()
        self._alone, self._shared = deque(units[:first]), deque(units[first:])
        self._done = SimpleQueue[tuple[T, Callable[[], R] | None] | None]()
        self._prepare, self._trusted = prepare, trusted

    def items(self) -> Iterator[tuple[T, Callable[[], R] | None]]:
        """Yield what workers have answered, else the items of the first unit, until all are."""
        while self.waiting:
            if self._done.empty():
                with suppress(IndexError):  # workers have all that are left
                    for item in (self._alone or self._shared).popleft():
                        self._done.put((item, None))
            answered = self._done.get()
            if answered is not None:
                self.waiting -= 1
                yield answered

    def feed(self, worker: _Worker, patience: float) -> None:
        """Let a worker do units from the end, as long as there are any; called in a thread."""
        if worker.pool is None and self.ended.wait(patience):
            return
        unit: Sequence[T] = ()
        try:
            prepare = self._prepare()
            while not self.ended.is_set():
                with suppress(IndexError):  # this process has the others
                    unit = unit or self._shared.pop()
                if not unit:
                    return
                result = self._result(worker, prepare, unit[0])
                self._done.put((unit[0], partial(_outcome, result)))
                unit = unit[1:]
        except Exception as error:
            if not self.ended.is_set():
                _log.warning("a worker process %s: the rest of its work is done by this one", error)
            worker.is_of_use = False
            if unit:
                self._shared.append(unit)
            self._done.put(None)  # it is not waited for
            worker.end()

    def _result(self, worker: _Worker, prepare: Prepare[T, R], item: T) -> Any:
        """Return what a worker answers; the next process, where the first one ends."""
        ended = None
        for _ in range(2):
            try:
                return self._trusted(worker.ask(prepare, item))
            except BrokenProcessPool as error:
                worker.end()
                if self.ended.is_set():  # nobody waits for it
                    raise
                ended = EndedError(f"ended its process, which {_ending(error)}")
        return ended


def _outcome(result: Any) -> Any:
    if isinstance(result, Exception):
        raise result
    return result


def reply(prepare: Prepare[T, R], *items: T) -> Reply:
    """Return what a worker sends, of an item or of none; called in it."""
    try:
        answer, data = prepare()
        result: Any = None
        for item in items:
            try:
                result = answer(item)
            except HarnessError as error:
                result = _plain(error)
        return result, data, _sources()
    except HarnessError as error:
        raise DataError(str(error)) from None
    except BaseException as error:  # a model's, Ctrl-C of its own, or a fault of ours
        traceback.print_exc()
        raise DataError(f"failed ({plugins.told(error)})") from None


def _plain(error: HarnessError) -> HarnessError:
    """Return an error as one of our own, with its traceback as a note."""
    kind = type(error) if type(error) in (UsageError, DataError) else RecommenderError
    plain = kind(str(error))
    plain.add_note("".join(traceback.format_exception(error)))
    return plain


def _sources() -> dict[str, str]:
    """Return the source of this process; what it is not sure of is equal to no other's."""
    return imported_sources(unsure=f" {os.getpid()}")


def _ending(error: BrokenProcessPool) -> str:
    """Return how a process ended."""
    status = re.search(r"\((-?\d+)\)", str(error))  # loky writes EXIT(7) or SIGKILL(-9)
    if status is None:
        return "ended"
    code = int(status[1])
    if code == -9:
        return "was killed (memory may have run out; --jobs 1 leaves it more)"
    return f"ended by signal {-code}" if code < 0 else f"ended with status {code}"


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
