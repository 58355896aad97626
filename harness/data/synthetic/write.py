"""Files written whole or not at all: frames in, CSV in a sibling folder, renamed at the end."""

import gzip
import io
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from harness.core.errors import UsageError
from harness.core.io import scratch_folder

_LEVEL = 9


def write_tables(
    tables: Iterable[tuple[str, pl.DataFrame]], out: Path, *, compress: bool
) -> list[Path]:
    """Write each frame behind those of the same file name, under one header; return the files."""
    files: dict[str, BinaryIO] = {}
    try:
        with ExitStack() as folders:
            draft = _draft(out, folders)
            with ExitStack() as stack:
                for name, frame in tables:
                    file = f"{name}.csv.gz" if compress else f"{name}.csv"
                    header = file not in files
                    if header:
                        files[file] = _open(draft / file, stack)
                    _append(frame, files[file], header)
                    del frame  # before the next is made
            _publish(draft, out, files)
    except OSError as error:
        why = f"{out}: cannot be written: {error.strerror or error}"
        raise UsageError(f"{why}; free some disk space, or name another --out") from error
    return [out / file for file in files]


def _draft(out: Path, stack: ExitStack) -> Path:
    try:
        return stack.enter_context(scratch_folder(out))
    except OSError as error:
        raise UsageError(f"out: cannot make {out}: {error.strerror}") from error


def _open(path: Path, stack: ExitStack) -> BinaryIO:
    """Open a file for writing, without a time stamp where it is compressed."""
    file = stack.enter_context(path.open("wb"))
    if path.suffix != ".gz":
        return file
    return cast(BinaryIO, stack.enter_context(gzip.GzipFile("", "wb", _LEVEL, file, mtime=0)))


def _append(frame: pl.DataFrame, file: BinaryIO, header: bool) -> None:
    if not isinstance(file, gzip.GzipFile):
        frame.write_csv(file, include_header=header)
        return
    text = io.BytesIO()  # in one piece: how it is cut decides the compressed bytes
    frame.write_csv(text, include_header=header)
    file.write(text.getbuffer())


def _publish(draft: Path, out: Path, files: Iterable[str]) -> None:
    if not out.exists():  # all tables at once
        draft.replace(out)
        return
    for file in files:
        (draft / file).replace(out / file)
        # The same table in the other form would now be stale.
        twin = file.removesuffix(".gz") if file.endswith(".gz") else f"{file}.gz"
        (out / twin).unlink(missing_ok=True)
