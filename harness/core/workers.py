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
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Event, RLock, Thread
from typing import Any, Generic, Self, TypeVar

from harness.core import plugins, sources
from harness.core.errors import DataError, HarnessError, RecommenderError, UsageError
from harness.core.progress import doing

_log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

_THREADS = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "POLARS_MAX")


class EndedError(Exception):
    """An item ended two processes; the message says how."""


Open = Callable[[], Callable[[T], R]]
"""What is sent to a worker: it reads the data there, unless it has, and returns what answers."""
Answer = tuple[T, Callable[[], R]]
"""An item with what returns its answer, or raises what was raised in a worker."""


@dataclass(eq=False)
class _Worker:
    """A process that is started when it is asked, and again when it has ended."""

    pool: Any = None

    def end(self) -> None:
        """End it, whatever it does."""
        pool, self.pool = self.pool, None
        if pool is not None:
            pool.shutdown(kill_workers=True)


@dataclass(eq=False)
class _Share(Generic[T, R]):
    """Units of items, which workers do from the end, and their answers."""

    units: deque[Sequence[T]]
    ready: Callable[[], Open[T, R]]
    done: SimpleQueue[Answer[T, R] | None] = field(default_factory=SimpleQueue)
    ended: Event = field(default_factory=Event)


class Workers:
    """Processes beside this one, each started when there has been work for a second."""

    def __init__(
        self, count: int, start: Callable[[], Any] | None = None, patience: float = 1.0
    ) -> None:
        self._start, self._patience = start or partial(_pool, threads_of(count)), patience
        self._workers = [_Worker() for _ in range(count)]
        self._digests: dict[str, str] = {}

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
        return len(self._workers)

    def share(
        self,
        units: Sequence[Sequence[T]],
        ready: Callable[[], Open[T, R]],
        here: Callable[[T], R],
        first: int = 0,
    ) -> Generator[Answer[T, R], None, None]:
        """Yield every item with its answer, by `here` or a worker's, as soon as it is there.

        Units are not divided. This process has the first, a worker the last, but none of the
        `first` ones. `ready` returns what is sent to a worker, when the files can be read there;
        what that answers is of our own types, as this process may lack the classes of models.
        """
        alone, share = deque(units[:first]), _Share(deque(units[first:]), ready)
        threads: dict[Thread, _Worker] = {}
        for worker in self._workers[: max(0, len(units) - max(first, 1))]:
            thread = Thread(target=self._feed, args=(worker, share), name="share", daemon=True)
            threads[thread] = worker
            thread.start()
        waiting = sum(map(len, units))
        try:
            while waiting:
                if share.done.empty():
                    with suppress(IndexError):  # workers have all that are left
                        for item in (alone or share.units).popleft():
                            share.done.put((item, partial(self._answer, here, item)))
                with doing("waiting for other processes"):
                    answer = share.done.get()
                if answer is not None:  # else a worker has left its unit to others
                    waiting -= 1
                    yield answer
        finally:
            share.ended.set()
            for thread, worker in threads.items():
                while thread.is_alive():
                    if waiting:  # nobody waits for what is under way
                        worker.end()
                    thread.join(0.1)

    def _answer(self, here: Callable[[T], R], item: T) -> R:
        answer = here(item)
        if self._digests:
            self._refuse_other_code(sources.digests())
        return answer

    def _feed(self, worker: _Worker, share: _Share[T, R]) -> None:
        """Let a worker do units from the end, as long as there are any."""
        if worker.pool is None and share.ended.wait(self._patience):
            return
        unit: Sequence[T] = ()
        try:
            open_ = share.ready()
            while not share.ended.is_set():
                with suppress(IndexError):  # this process has the others
                    unit = unit or share.units.pop()
                if not unit:
                    return
                answer = self._ask(worker, open_, unit[0], share.ended)
                share.done.put((unit[0], partial(_result, answer)))
                unit = unit[1:]
        except Exception as error:
            if not share.ended.is_set():
                _log.warning("a worker process %s; this process does the rest of its work", error)
            self._workers.remove(worker)
            if unit:
                share.units.append(unit)
            share.done.put(None)
            worker.end()

    def _ask(self, worker: _Worker, open_: Open[T, R], item: T, ended: Event) -> R | Exception:
        """Return what it answers or raises; of the next process, where the first one ends.

        What `_ask` raises says that the worker is of no use: it has other data or other code.
        """
        ending = ""
        for _ in range(2):
            if worker.pool is None:
                self._open(worker, open_)
            try:
                (answer,), digests = worker.pool.submit(answered, open_, item).result()
            except BrokenProcessPool as error:
                worker.end()
                if ended.is_set():  # nobody waits for it
                    raise
                ending = _ending(error)
            else:
                _refuse_edited(digests)
                self._refuse_other_code(digests)
                return answer  # type: ignore[no-any-return]
        return EndedError(f"ended its process, which {ending}")

    def _open(self, worker: _Worker, open_: Open[T, R]) -> None:
        try:
            worker.pool = self._start()
            worker.pool.submit(answered, open_).result()
        except (ImportError, NotImplementedError, OSError) as error:
            raise UsageError(
                f"cannot be started here ({error}; --jobs 1 does not need one)"
            ) from error
        except BrokenProcessPool as error:
            raise DataError(f"{_ending(error)} before it started work") from error

    def _refuse_other_code(self, digests: Mapping[str, str]) -> None:
        """Raise RecommenderError where an answer was made with another version of a module."""
        for name, digest in digests.items():
            if self._digests.setdefault(name, digest) != digest:
                raise RecommenderError(
                    f"the source of {name} changed during the run, so two processes have "
                    "different versions; run again"
                )


def _result(answer: R | Exception) -> R:
    if isinstance(answer, Exception):
        raise answer
    return answer


def _refuse_edited(digests: Mapping[str, str]) -> None:
    """Raise DataError where this process may have imported another version of a module."""
    if (file := sources.edited(digests)) is not None:
        raise DataError(f"has other code: {file.name} may have changed since its import")


def answered(open_: Open[T, R], *items: T) -> tuple[list[R | Exception], dict[str, str]]:
    """Return what a worker answers or raises, and its code."""
    try:
        answer = open_()
        answers = [_plain(answer, item) for item in items]
        digests = sources.digests()
        _refuse_edited(digests)
    except HarnessError as error:
        raise DataError(str(error)) from None
    except BaseException as error:  # a model's, Ctrl-C of its own, or a fault of ours
        traceback.print_exc()
        raise DataError(f"failed ({plugins.told(error)})") from None
    return answers, digests


def _plain(answer: Callable[[T], R], item: T) -> R | Exception:
    """Return an answer, or its error as one of our own, with the traceback as a note."""
    try:
        return answer(item)
    except HarnessError as error:
        kind = type(error) if type(error) in (UsageError, DataError) else RecommenderError
        plain = kind(str(error))
        plain.add_note("".join(traceback.format_exception(error)))
        return plain


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

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    tqdm.set_lock(RLock())  # its own is a semaphore, which stays behind when a process is killed
    process_executor._USE_PSUTIL = False  # else one that holds more data than before is replaced
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a model may read and print as it likes
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    logger = logging.getLogger("harness")  # the parent says the same
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    Thread(target=end_with_parent, daemon=True).start()
