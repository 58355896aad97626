"""Work that is shared between this process and workers beside it."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Generic, Self, TypeVar

from harness.core.errors import HarnessError
from harness.core.processes import Answer, LostError, Worker

_log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """What is to be done with items, here or by a worker; the results are the same.

    Attributes
    ----------
    prepare : function
        Returns the first request to a worker, when it may be asked.
    accept : function of an Answer
        Raises HarnessError where a worker that answers so is of no use, first or later.
    request : function of an item
        What a worker is asked.
    received : function of an Answer
        What its answer means.
    here : function of an item
        What this process does.
    lost : function of an item and a text
        Returns, or raises, what becomes of an item that ended the worker, as the text says.
    """

    prepare: Callable[[], Mapping[str, Any]]
    accept: Callable[[Answer], object]
    request: Callable[[T], Mapping[str, Any]]
    received: Callable[[Answer], R]
    here: Callable[[T], R]
    lost: Callable[[T, str], R]


class Workers:
    """Processes that share work with this one, each started when there is something for it.

    Parameters
    ----------
    module : str
        As of `Worker`.
    count : int
        How many there may be; without any, all is done here.
    patience : float
        Seconds of work before a worker is started. What is done by then gains nothing from one.
    """

    def __init__(self, module: str, count: int, patience: float = 1.0) -> None:
        self.count = count
        self._patience = patience
        self._module, self._folder = module, Path.cwd()
        processors = os.cpu_count() or 1
        # Twice its share: while others use one thread, or have ended, none is left unused.
        self._threads = min(processors, -(-2 * processors // (count + 1)))
        self._places = [_Place() for _ in range(count)]

    def __enter__(self) -> Self:
        """Return itself; the processes end with the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        for place in self._places:
            place.close()

    def share(
        self, units: Sequence[Sequence[T]], work: Work[T, R], own: int = 0
    ) -> Iterator[tuple[T, Callable[[], R]]]:
        """Yield every item with what returns its result, or raises, as soon as it can be asked.

        Units are not divided. This process takes the first that is left, a worker the last, but
        none of the first `own`; what a worker had that ended is done here.
        """
        shared = _Shared[T, R](units, own)
        for place in self._places[: len(units) - max(own, 1)] if units else ():
            feeding = partial(self._feed, place, shared, work)
            Thread(target=feeding, name="share", daemon=True).start()
        try:
            while (unit := shared.first()) is not None or shared.open:
                yield from [(item, partial(work.here, item)) for item in unit or ()]
                yield from shared.arrived(wait=unit is None)
        finally:
            shared.ended.set()

    def _feed(self, place: _Place, shared: _Shared[T, R], work: Work[T, R]) -> None:
        """Let one worker take units from the end, as long as there are any."""
        if not place.opened and shared.ended.wait(self._patience):
            return
        with place.alone:  # whoever shared work before may still wait for it
            try:
                worker = place.worker(self._module, self._threads, self._folder)
                if worker is not None and not shared.ended.is_set():
                    work.accept(worker.ask(work.prepare()))
                    _take(worker, shared, work)
            except (LostError, HarnessError) as error:
                if not shared.ended.is_set():
                    _log.warning(
                        "a worker process %s: the rest of its work is done by this one", error
                    )
                place.close()


class _Place:
    """Where a worker is, may come to be, or was."""

    def __init__(self) -> None:
        self.alone, self._changed = Lock(), Lock()
        self._worker: Worker | None = None
        self._closed = False

    @property
    def opened(self) -> bool:
        """Whether a worker was started."""
        return self._worker is not None

    def worker(self, *given: Any) -> Worker | None:
        """Return the worker, started if need be; None where it has ended."""
        with self._changed:
            if self._worker is None and not self._closed:
                self._worker = Worker(*given)
            return None if self._closed else self._worker

    def close(self) -> None:
        """End the worker; there will be no other."""
        with self._changed:
            if self._worker is not None and not self._closed:
                self._worker.close()
            self._closed = True


class _Shared(Generic[T, R]):
    """Units that are left, and what was found of those that workers took."""

    def __init__(self, units: Sequence[Sequence[T]], own: int) -> None:
        self.ended = Event()
        self._own, self._left = own, deque(units)
        self._taken, self._changed = 0, Lock()
        self._found = SimpleQueue[list[tuple[T, Callable[[], R]]]]()

    def first(self) -> Sequence[T] | None:
        """Return the first unit that is left, for this process."""
        with self._changed:
            self._own = max(self._own - 1, 0)
            return self._left.popleft() if self._left else None

    def last(self) -> Sequence[T] | None:
        """Return the last unit that is left, for a worker; it is to be given back."""
        with self._changed:
            if self.ended.is_set() or len(self._left) <= self._own:
                return None
            self._taken += 1
            return self._left.pop()

    def give_back(self, found: list[tuple[T, Callable[[], R]]], rest: Sequence[T]) -> None:
        """Take what a worker found of a unit, and what it has left of that where it has ended."""
        with self._changed:
            self._taken -= 1
            if rest:
                self._left.insert(self._own, rest)
            self._found.put(found)

    @property
    def open(self) -> bool:
        """Whether anything is left, under way or not fetched."""
        with self._changed:
            return bool(self._left or self._taken) or not self._found.empty()

    def arrived(self, *, wait: bool) -> Iterator[tuple[T, Callable[[], R]]]:
        """Yield what workers have found since; `wait` until one of them has."""
        while wait or not self._found.empty():
            yield from self._found.get()
            wait = False


def _take(worker: Worker, shared: _Shared[T, R], work: Work[T, R]) -> None:
    while (unit := shared.last()) is not None:
        found: list[tuple[T, Callable[[], R]]] = []
        try:
            for item in unit:
                found.append((item, _outcome(worker, item, work)))  # kept if one ends
        except LostError as error:
            if error.by_itself:
                item = unit[len(found)]
                found.append((item, partial(work.lost, item, str(error))))
            raise
        finally:
            shared.give_back(found, unit[len(found) :])


def _outcome(worker: Worker, item: T, work: Work[T, R]) -> Callable[[], R]:
    try:
        found = worker.ask(work.request(item))
    except HarnessError as error:
        return partial(_raise, error)
    work.accept(found)
    return partial(work.received, found)


def _raise(error: HarnessError) -> Any:
    raise error
