"""What standard error shows while a command works: the log of `harness`, notes, bars."""

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
        tqdm = sys.modules.get("tqdm")
        if tqdm is None:  # there is no bar, and it is slow to import
            super().emit(record)
        else:
            with tqdm.tqdm.external_write_mode(self.stream):
                super().emit(record)


@contextmanager
def logged() -> Iterator[None]:
    """Print the log of `harness` on standard error within; afterwards it is as it was before.

    Warnings alone, unless an option is `asking_for` another level.
    """
    level, propagate, lines = _log.level, _log.propagate, _Lines(sys.stderr)
    _log.addHandler(lines)
    _log.setLevel(logging.WARNING)
    _log.propagate = False  # a model may have a log printed as well
    try:
        yield
    finally:
        _log.removeHandler(lines)
        _log.setLevel(level)
        _log.propagate = propagate


def asking_for(level: int) -> Callable[[bool], bool]:
    """Return the callback of an option that prints this level, and what is graver.

    It raises UsageError where one option asks for silence and another for more.
    """

    def choose(is_typed: bool) -> bool:
        if is_typed:
            levels = _log.level, level
            if logging.ERROR in levels and min(levels) < logging.WARNING:
                raise UsageError(
                    "--quiet leaves out what --verbose and --debug show: give it, or one of them"
                )
            _log.setLevel(level if level == logging.ERROR else min(levels))
        return is_typed

    return choose


def note(text: str) -> None:
    """Print what is no result; ``--quiet`` leaves it out."""
    _notes.warning("%s", text)


def shows_bars() -> bool:
    """Return whether bars are drawn: at a terminal, but with ``--quiet``."""
    return sys.stderr.isatty() and _log.isEnabledFor(logging.WARNING)
