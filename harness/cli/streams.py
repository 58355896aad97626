"""Standard output and standard error: whose they are, and what becomes of what is lost."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO


class Stream(io.FileIO):
    """A stream that takes all that is written, so that no command stops halfway through its work.

    Attributes
    ----------
    failure : OSError, optional
        Why something is lost, unless its reader has gone: a reader may leave early.
    """

    failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write what can be written, and say that all is."""
        try:
            while (written := super().write(data)) is None:  # full, and nobody is to wait: we do
                select.select([], [self], [])
            return written
        except OSError as error:
            if error.errno != errno.EPIPE:
                self.failure = self.failure or error
            return memoryview(data).nbytes


def guard_streams() -> Stream | None:
    """Let standard output and standard error take all that is written; return the former.

    None is for an output that is no file, as in a notebook. One that was closed before the command
    began stays closed, where else the next file that is opened would come to stand in its place.
    """
    output = _guarded(sys.stdout, 1, os.O_RDONLY)  # who writes there is told that it is closed
    errors = _guarded(sys.stderr, 2, os.O_WRONLY)
    sys.stderr = sys.stderr if errors is None else _text(errors, sys.stderr)
    sys.stdout = sys.stdout if output is None else _text(output, sys.stdout)
    return output


def _guarded(stream: TextIO | None, number: int, if_closed: int) -> Stream | None:
    if stream is None:  # the null device stands where no file is
        null = os.open(os.devnull, if_closed)
        if null != number:
            os.dup2(null, number)
            os.close(null)
    elif not isinstance(stream, io.TextIOWrapper):
        return None
    return Stream(number, "w", closefd=False)


def _text(stream: Stream, before: TextIO | None) -> TextIO:
    """Return a stream of text, written line by line where the one before it was."""
    lines = isinstance(before, io.TextIOWrapper) and (before.line_buffering or before.write_through)
    return io.TextIOWrapper(
        io.BufferedWriter(stream),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors="replace",  # a terminal without × or … shows ? instead
        line_buffering=lines,
    )


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Let everything that is printed go to standard error, by Python or by anything it starts."""
    try:
        kept = os.dup(sys.stdout.fileno())
    except (OSError, ValueError):  # no real file behind it, as in a notebook
        kept = None
    with redirect_stdout(sys.stderr):
        if kept is not None:
            os.dup2(sys.stderr.fileno(), 1)
        try:
            yield
        finally:
            if kept is not None:
                os.dup2(kept, 1)
                os.close(kept)
