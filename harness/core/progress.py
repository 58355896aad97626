"""Progress: one line on standard error while work lasts, and the seconds of each step."""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, RLock, Thread

from rich.cells import cell_len

from harness.core.table import shortened

_log = logging.getLogger(__name__)

FIRST, AGAIN, PLAIN = 1.0, 0.5, 10.0
"""Seconds to the first drawing at a terminal, and to the next; and between plain lines."""
_CLEAR = "\r\x1b[K"
_SPARE, _BAR, _TEXT = 3, 18, 8
"""Columns that stay free, as a terminal shows ^C there, and that a bar and a text need."""


@dataclass(eq=False)
class Stage:
    """A piece of work: how many of its steps are done, and how many there are, if that is known."""

    text: str
    total: float | None = None
    unit: str = ""
    count: float = 0
    start: float = field(default_factory=time.perf_counter)

    def update(self, steps: float = 1) -> None:
        """Add steps that are done."""
        self.count += steps

    def reset(self) -> None:
        """Begin again."""
        self.count = 0

    def close(self) -> None:
        """Do nothing: pooch closes what it updates."""


class Line:
    """The stages that last, the outer ones first, drawn on one line by a thread.

    At a terminal the line appears after a second, grows every half, and leaves nothing behind.
    Elsewhere, as in a log, a line is printed every ten seconds.
    """

    def __init__(self) -> None:
        self._stages, self._drawn, self._unfinished = list[Stage](), False, False
        self._lock, self.ended = RLock(), Event()
        self.handle: int | None = None  # of standard error, if its buffer waits for this line

    @contextmanager
    def during(self, stage: Stage) -> Iterator[None]:
        """Show a stage within the others; the line goes with the last one."""
        with self._lock:
            self._stages.append(stage)
        try:
            yield
        finally:
            with self._lock:
                self._stages.remove(stage)
                if not self._stages:
                    self._clear()

    @contextmanager
    def above(self, text: bytes) -> Iterator[None]:
        """Clear the line while others write a text; it is drawn again below."""
        with self._lock:
            self._clear()
            yield
            self._unfinished = not text.endswith(b"\n")

    def draw_until_ended(self) -> None:
        """Draw the line again and again, by the clock."""
        wait, again = (FIRST, AGAIN) if sys.stderr.isatty() else (PLAIN, PLAIN)
        while not self.ended.wait(wait):
            from tqdm import tqdm  # noqa: F401 - slow, and not to be waited for

            wait = again
            sys.stderr.flush()  # what others have begun to write, before the lock is taken
            self.draw()

    def draw(self) -> None:
        """Draw or print the line as it is now, unless ``--quiet`` asks for silence."""
        with self._lock:
            if not self._stages or not _log.isEnabledFor(logging.WARNING):
                return
            if not sys.stderr.isatty():
                self._write(f"{self._shown()}\n")
            elif not self._unfinished:  # else it is a line of others, such as a bar of a model's
                width = 80
                with suppress(OSError, ValueError):
                    width = os.get_terminal_size(sys.stderr.fileno()).columns
                self._write(_CLEAR + self._shown(width - _SPARE))
                self._drawn = True

    def _shown(self, width: int | None = None) -> str:
        """Return the line. Where room is short, the bar goes first, then letters of the text."""
        from tqdm import tqdm  # slow to import

        *outer, stage = self._stages
        elapsed, done = time.perf_counter() - stage.start, min(stage.count, stage.total or math.inf)
        texts = [
            f"{s.text} {min(s.count + 1, s.total):,.0f} of {s.total:,.0f}" if s.total else s.text
            for s in outer  # the one that is being done
        ]
        minutes, rest = divmod(round(elapsed), 60)
        text, bar = "  ".join([*texts, stage.text]), ""
        seconds = f"  {minutes} min {rest} s" if minutes else f"  {rest} s"
        total = f" of {stage.total:,.0f}" if stage.total else ""
        amount = f"  {done:,.0f}{total}{stage.unit}" if done or total else ""
        if stage.total and done:
            remaining = elapsed * (stage.total / done - 1)
            amount += f", {tqdm.format_interval(remaining)} left"
        if width is not None:
            amount = amount if len(seconds + amount) + _TEXT <= width else ""
            text = shortened([text], max(width - len(seconds + amount), _TEXT))[0]
            room = width - cell_len(text) - len(seconds + amount)
            if stage.total and room >= _BAR:
                form = "  {percentage:3.0f} % |{bar}|"
                bar = tqdm.format_meter(done, stage.total, elapsed, ncols=room, bar_format=form)
        return f"{text}{seconds}{bar}{amount}"

    def _clear(self) -> None:
        if self._drawn:
            self._write(_CLEAR)
            self._drawn = False

    def _write(self, text: str) -> None:
        """Write to standard error, past its buffer if others hold its lock while they wait."""
        if self.handle is None:
            sys.stderr.write(text)
            sys.stderr.flush()
        else:
            with suppress(OSError):  # a reader that has gone
                os.write(self.handle, text.encode(sys.stderr.encoding or "utf-8", "replace"))

    def forget(self) -> None:
        """Be of no use: a forked process has this line, but no thread that draws it."""
        self._lock, self._drawn = RLock(), False


_line = ContextVar[Line | None]("line", default=None)


@contextmanager
def shown(wanted: bool = True) -> Iterator[Line]:
    """Show within what is being done, if it is `wanted` and not shown already; yield the line.

    Threads and processes that are started within show nothing.
    """
    line = _line.get() or Line()
    if not wanted or line is _line.get():
        yield line
        return
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=line.forget)
    Thread(target=line.draw_until_ended, name="progress", daemon=True).start()
    token = _line.set(line)
    try:
        yield line
    finally:
        _line.reset(token)
        line.ended.set()


@contextmanager
def doing(text: str, total: float | None = None, unit: str = "") -> Iterator[Stage]:
    """Show what is being done within the block; yield the stage that counts its `total` steps."""
    line, stage = _line.get(), Stage(text, total, unit)
    with nullcontext() if line is None else line.during(stage):
        yield stage


class Observer:
    """Takes the seconds of an evaluation's steps, shows each step, and writes to the log."""

    def __init__(self, label: str = "") -> None:
        self.label, self.seconds = label, dict[str, float]()

    @contextmanager
    def step(
        self, name: str, text: str = "", total: float | None = None, unit: str = ""
    ) -> Iterator[Stage]:
        """Add the time until the end of the block to `name`; the line says `text`, if any."""
        start = time.perf_counter()
        stage = doing(self.label + text, total, unit) if text else nullcontext(Stage(text))
        with stage as counted:
            yield counted
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def log(self, text: str) -> None:
        """Write a line to the log."""
        _log.info("%s%s", self.label, text)


def stopwatch() -> Callable[[], str]:
    """Start a stopwatch; return a function that reads it, such as ``1.2 s``."""
    start = time.perf_counter()
    return lambda: f"{time.perf_counter() - start:.1f} s"
