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
from weakref import WeakSet

_log = logging.getLogger(__name__)

FIRST, AGAIN, PLAIN = 1.0, 0.5, 10.0
"""Seconds to the first drawing at a terminal, and to the next; and between plain lines."""
_CLEAR = "\r\x1b[K"
_SPARE = 3
"""Columns that stay free: a terminal shows ^C there."""
_BAR = " " * 8
"""The shortest bar."""


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
        self._lock, self._ended = RLock(), Event()
        self.handle: int | None = None  # of standard error, if its buffer waits for this line
        _lines.add(self)

    def begin(self, stage: Stage) -> None:
        """Add a stage within the others."""
        with self._lock:
            self._stages.append(stage)

    def end(self, stage: Stage) -> None:
        """Take a stage away; the line goes with the last one."""
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
        while not self._ended.wait(wait):
            from rich.cells import cell_len  # noqa: F401 - slow, and not to be waited for
            from tqdm import tqdm  # noqa: F401

            wait = again
            sys.stderr.flush()  # what others have begun to write, before the lock is taken
            self.draw()

    def draw(self) -> None:
        """Draw or print the line as it is now, unless ``--quiet`` asks for silence."""
        with self._lock:
            if not self._stages or not _log.isEnabledFor(logging.WARNING):
                return
            if not sys.stderr.isatty():
                self._write(self._shown(None) + "\n")
            elif not self._unfinished:  # else it is a line of others, such as a bar of a model's
                self._write(_CLEAR + self._shown(_columns() - _SPARE))
                self._drawn = True

    def _shown(self, width: int | None) -> str:
        """Return the line. Where room is short, it leaves out the bar, then the time left."""
        from rich.cells import cell_len
        from tqdm import tqdm  # slow to import

        from harness.core.terminal import shortened

        *outer, stage = self._stages
        elapsed, done = time.perf_counter() - stage.start, min(stage.count, stage.total or math.inf)
        texts = [
            f"{s.text} {min(s.count + 1, s.total):,.0f} of {s.total:,.0f}" if s.total else s.text
            for s in outer  # the one that is being done
        ]
        text, seconds = "  ".join([*texts, stage.text]), f"  {_duration(elapsed)}"
        amount = f"  {done:,.0f}{stage.unit}" if done else ""
        endings = [amount]
        if stage.total:
            amount = f"  {done:,.0f} of {stage.total:,.0f}{stage.unit}"
            left = ", {remaining} left" if done else ""
            endings = [f"  {{percentage:3.0f}} % |{{bar}}|{amount}{left}", amount + left, amount]
        if width is None:
            ending = endings[-2] if len(endings) > 1 else amount
        else:
            room = width - cell_len(text + seconds)
            least = {end: end.format(percentage=0, bar=_BAR, remaining="00:00") for end in endings}
            ending = next((end for end in endings if len(least[end]) <= room), "")
            text = shortened([text], max(width - cell_len(seconds + least.get(ending, "")), 8))[0]
        meter: str = tqdm.format_meter(
            n=done,
            total=stage.total or 0,
            elapsed=elapsed,
            ncols=width,
            prefix=text + seconds,
            bar_format="{desc}" + ending,
        )
        return meter.rstrip()

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
        """Drop all stages: a forked process has this line, but no thread that draws it."""
        self._lock, self._drawn = RLock(), False
        self._stages.clear()

    def stop(self) -> None:
        """End the thread that draws."""
        self._ended.set()


_line = ContextVar[Line | None]("line", default=None)
_lines = WeakSet[Line]()


def _forget() -> None:
    for line in _lines:
        line.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def shown(wanted: bool = True) -> Iterator[Line]:
    """Show within what is being done, if it is `wanted` and not shown already; yield the line.

    Threads and processes that are started within show nothing.
    """
    line = _line.get() or Line()
    if not wanted or line is _line.get():
        yield line
        return
    Thread(target=line.draw_until_ended, name="progress", daemon=True).start()
    token = _line.set(line)
    try:
        yield line
    finally:
        _line.reset(token)
        line.stop()


@contextmanager
def doing(text: str, total: float | None = None, unit: str = "") -> Iterator[Stage]:
    """Show what is being done within the block; yield the stage that counts its `total` steps."""
    line, stage = _line.get(), Stage(text, total, unit)
    if line is None:
        yield stage
        return
    line.begin(stage)
    try:
        yield stage
    finally:
        line.end(stage)


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


def _columns() -> int:
    """Return the columns of the terminal that standard error is."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return 80


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
