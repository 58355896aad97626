"""Standard output and standard error: what becomes of what cannot be written."""

from __future__ import annotations

import errno
import io
import os
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
            return super().write(data)
        except OSError as error:
            if error.errno != errno.EPIPE:
                self.failure = self.failure or error
            return memoryview(data).nbytes


def guard_streams() -> Stream:
    """Let standard output and standard error take all that is written; return the former."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # where a stream is closed, the next file that is opened would stand
    os.close(spare)
    output, errors = Stream(1, "w", closefd=False), Stream(2, "w", closefd=False)
    sys.stdout, sys.stderr = _text(output, sys.stdout), _text(errors, sys.stderr)
    return output


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
