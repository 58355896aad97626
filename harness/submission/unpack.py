"""Parquet of strangers, unpacked in a process of its own.

A small file of Parquet may ask its reader for any amount of memory. So a second process reads it
and writes the rows as Arrow; the first one watches its memory, its time and what it writes, and
ends it: ``python -m harness.submission.unpack FILE OUT NOTE CAP PARENT``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from weakref import finalize

import polars as pl
import psutil

from harness.core.cache import stamps
from harness.core.frames import UNREADABLE
from harness.core.io import temporary_folder
from harness.core.unpacking import SENT, Refused
from harness.core.workers import end_with

MEMORY, _MEMORY_SHARE = 900 << 20, 10
"""Bytes that the process may hold: so many, and so many for each byte of the file."""
SECONDS, _BYTES_A_SECOND = 30, 1 << 20
"""Seconds that it may take, and one more for so many bytes of the file."""
_VALUE = 8
"""Bytes that a row takes at least."""
_DAMAGED, _LARGE = 3, 4
"""Exit statuses of the process."""


class Unpacked:
    """An Arrow file, which goes with this object."""

    def __init__(self) -> None:
        folder = ExitStack()
        self.path = folder.enter_context(temporary_folder()) / "rows.arrow"
        finalize(self, folder.close)


def parquet(path: Path) -> Unpacked:
    """Return the rows of a file; hold the object as long as you read them.

    Refused where it is damaged, or unpacks to more than it may.
    """
    return _unpacked(*stamps([path])[0])


@lru_cache(maxsize=4)  # a command reads its submission, sample, solution and items more than once
def _unpacked(path: str, size: int, *_stamp: int) -> Unpacked:
    rows, cap = Unpacked(), SENT.of(size)
    note = rows.path.with_suffix(".txt")
    # -P: a module in the folder where the command was typed is none of ours.
    command = [sys.executable, "-P", "-m", __name__, path, str(rows.path), str(note), str(cap)]
    command.append(str(os.getpid()))
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        try:
            _watch(process, rows.path, size)
        except BaseException:
            process.kill()
            raise
    if process.returncode == _LARGE or (rows.path.exists() and rows.path.stat().st_size > cap):
        raise Refused("large", f"{cap:,} bytes")
    if process.returncode != 0:
        status = f"its reader ended with status {process.returncode}"
        raise Refused("damaged", note.read_text("utf-8") if note.exists() else status)
    return rows


def _watch(process: subprocess.Popen[bytes], out: Path, size: int) -> None:
    """Wait for the process; raise Refused as soon as it takes too much."""
    memory, written = MEMORY + _MEMORY_SHARE * size, SENT.of(size)
    end = time.monotonic() + SECONDS + size / _BYTES_A_SECOND
    with suppress(psutil.NoSuchProcess):
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            if watched.memory_info().rss > memory:
                raise Refused("large", f"{memory:,} bytes")
            if out.exists() and out.stat().st_size > written:
                raise Refused("large", f"{written:,} bytes")
            if time.monotonic() > end:
                raise Refused("damaged", "reading it takes too long")
            time.sleep(0.01)
    process.wait()


def main(path: str, out: str, note: str, cap: str, parent: str) -> int:
    """Write the rows of a file as Arrow, or a note on why not; return an exit status."""
    end_with(int(parent))
    try:
        frame = pl.scan_parquet(path, glob=False)
        if _VALUE * frame.select(pl.len()).collect().item() > int(cap):
            return _LARGE
        frame.sink_ipc(out)
    except UNREADABLE as error:
        Path(note).write_text(str(error).partition("\n")[0], encoding="utf-8")
        return _DAMAGED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
