"""What is told of work that takes time: a bar on standard error, and the seconds of each step."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

_log = logging.getLogger(__name__)


class Clock:
    """Seconds spent in each named step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add the time until the end of the block to `name`."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


class Observer(Clock):
    """What hears how far an evaluation is: the seconds of its steps, bars, and lines of the log."""

    def __init__(self, *, bars: bool = False, label: str = "") -> None:
        super().__init__()
        self.bars, self._label = bars, label

    def bar(self, name: str, total: int | None, unit: str) -> AbstractContextManager[tqdm[Any]]:
        """Return a bar to ``update``, as `steps` does."""
        return steps(name, total, unit, self.bars)

    def log(self, text: str) -> None:
        """Write a line to the log."""
        _log.info("%s%s", self._label, text)


def stopwatch() -> Callable[[], str]:
    """Start one; return what reads it, such as ``1.2 s``."""
    start = time.perf_counter()
    return lambda: f"{time.perf_counter() - start:.1f} s"


@contextmanager
def steps(
    label: str, total: int | None, unit: str, shown: bool = True, delay: float = 1
) -> Iterator[tqdm[Any]]:
    """Yield a bar to ``update``; it appears after `delay` seconds, and leaves nothing behind."""
    from tqdm import tqdm

    with tqdm(
        desc=label,
        total=total,
        unit=unit,
        unit_scale=True,
        delay=delay,
        leave=False,
        file=sys.stderr,
        disable=not shown,
    ) as bar:
        try:
            yield bar
        finally:
            if sys.stderr.isatty():  # a line of a log may have drawn it early: it would be left
                bar.clear()
