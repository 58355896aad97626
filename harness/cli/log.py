"""What is told on standard error while a command works: the log of `harness`, notes, bars."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from harness.core.errors import UsageError

_log = logging.getLogger("harness")
_notes = logging.getLogger(__name__)


class _Lines(logging.StreamHandler[TextIO]):
    """Lines on standard error; a bar that stands there is taken away, and drawn again below."""

    def emit(self, record: logging.LogRecord) -> None:
        bars = sys.modules.get("tqdm")  # where nobody imported it, there is none
        if bars is None:
            super().emit(record)
            return
        with bars.tqdm.external_write_mode(self.stream):
            super().emit(record)


@contextmanager
def logged() -> Iterator[None]:
    """Print the log of `harness` on standard error within; afterwards it is as it was before.

    Warnings alone, unless an option is `asking_for` another level.
    """
    before, lines = (_log.level, _log.propagate), _Lines(sys.stderr)
    _log.addHandler(lines)
    _log.setLevel(logging.WARNING)
    _log.propagate = False  # a model may have a log printed as well
    try:
        yield
    finally:
        _log.removeHandler(lines)
        _log.setLevel(before[0])
        _log.propagate = before[1]


def asking_for(level: int) -> Callable[[bool], bool]:
    """Return the callback of an option that has this level, and what is graver, printed.

    The callback raises UsageError where another option asks for silence, or this one does and
    another for more.
    """

    def chosen(wanted: bool) -> bool:
        if wanted:
            both = _log.level, level
            if logging.ERROR in both and min(both) < logging.WARNING:
                raise UsageError(
                    "--quiet leaves out what --verbose and --debug show: give it, or one of them"
                )
            _log.setLevel(level if level == logging.ERROR else min(both))
        return wanted

    return chosen


def note(text: str) -> None:
    """Tell what is no result; with ``--quiet`` it is left out."""
    _notes.warning("%s", text)


def shows_bars() -> bool:
    """Return whether bars are drawn: at a terminal, but with ``--quiet``."""
    return sys.stderr.isatty() and _log.isEnabledFor(logging.WARNING)
