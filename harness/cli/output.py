"""What a command prints: results on standard output; its log, notes and bars on standard error."""

from __future__ import annotations

import errno
import io
import logging
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from harness.core.errors import UsageError
from harness.core.progress import Line, shown

if TYPE_CHECKING:
    from harness.core.table import Sheet, Shown

Format = Literal["table", "json", "csv", "markdown"]
_log = logging.getLogger("harness")
_notes = logging.getLogger(__name__)


def show(format_: Format, result: Shown) -> None:
    """Print a result."""
    show_parts(format_, result.to_dict, result.sheets(), result.records())


def show_parts(
    format_: Format,
    document: Callable[[], object],
    sheets: Sequence[Sheet],
    records: Sequence[Mapping[str, object]],
) -> None:
    """Print what `document` returns as JSON, `records` as CSV, or `sheets` for a reader."""
    from harness.core import table

    match format_:
        case "json":
            print(table.as_json(document()))
        case "csv":
            print(table.as_csv(records))
        case "markdown":
            print("\n\n".join(map(table.markdown, sheets)))
        case "table" if sys.stdout.isatty():
            for i, sheet in enumerate(sheets):
                print("\n" if i else "", end="")
                table.print_rich(sheet)
        case "table":
            print("\n\n".join(map(table.plain, sheets)))


def say(*lines: object) -> None:
    """Print lines about what was written, and what to type next; ``--quiet`` leaves them out."""
    if _log.isEnabledFor(logging.WARNING):
        print(*lines, sep="\n")


def note(text: str) -> None:
    """Print what is no result on standard error; ``--quiet`` leaves it out."""
    _notes.warning("%s", fitting(text, sys.stderr, 6) if text.startswith("note  ") else text)


def fitting(line: str, stream: TextIO, indent: int) -> str:
    """Return a line, broken between words if `stream` is a terminal."""
    if not stream.isatty():
        return line
    from harness.core.table import wrapped

    return "\n".join(wrapped(line, shutil.get_terminal_size().columns, indent))


def to_type(*arguments: str) -> str:
    """Return the command with some arguments, by its path where a shell does not find its name."""
    path = Path(sys.argv[0])
    is_known = path.name != "harness" or shutil.which("harness") is not None
    return shlex.join(["harness" if is_known else str(path), *arguments])


@contextmanager
def logged(streams: Sequence[Stream] = ()) -> Iterator[None]:
    """Print the log of `harness` on standard error, and below it what is being done.

    What else is written to `streams` stands above that line, too. Warnings alone, unless an option
    is `asking_for` another level; afterwards all is as before.
    """
    level, propagate = _log.level, _log.propagate
    lines = logging.StreamHandler(sys.stderr)
    with shown() as line:
        line.handle = 2 if streams else None
        for stream in streams:
            stream.line = line if stream.isatty() else None
        _log.addHandler(lines)
        _log.setLevel(logging.WARNING)
        _log.propagate = False  # a model may have a log printed as well
        try:
            yield
        finally:
            for stream in streams:
                stream.line = None
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
                    "--quiet contradicts --verbose and --debug; use --quiet or one of them"
                )
            _log.setLevel(level if level == logging.ERROR else min(levels))
        return is_typed

    return choose


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Let everything that is printed go to standard error, by Python or by anything it starts."""
    kept = os.dup(1)
    with redirect_stdout(sys.stderr):
        os.dup2(2, 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


class Stream(io.FileIO):
    """A stream that takes all that is written: no command stops halfway through its work."""

    failure: OSError | None = None
    """Why something is lost, unless its reader has gone: a reader may leave early."""
    line: Line | None = None
    """The line that says what is being done, which makes room for what is written."""

    def write(self, data: Any, /) -> int:
        """Write what can be written, and say that all is."""
        try:
            with nullcontext() if self.line is None else self.line.above(bytes(data[-1:])):
                return super().write(data)
        except OSError as error:
            if error.errno != errno.EPIPE:
                self.failure = self.failure or error
            return memoryview(data).nbytes


def guard_streams() -> tuple[Stream, Stream]:
    """Let standard output and standard error take all that is written; return both."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # where a stream is closed, the next file that is opened would stand
    os.close(spare)
    output, errors = Stream(1, "w", closefd=False), Stream(2, "w", closefd=False)
    sys.stdout, sys.stderr = _text(output, sys.stdout), _text(errors, sys.stderr)
    return output, errors


def _text(stream: Stream, before: TextIO | None) -> TextIO:
    """Return a stream of text, written line by line where the one before it was."""
    lines = isinstance(before, io.TextIOWrapper) and (before.line_buffering or before.write_through)
    return io.TextIOWrapper(
        io.BufferedWriter(stream),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors="replace",  # a terminal without × or … shows ? instead
        line_buffering=lines,
    )
