"""A file as a stream of bytes, whatever it is packed in; what is no text of rows is told."""

from __future__ import annotations

import codecs
import io
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from harness.core import unpacking
from harness.core.unpacking import PARQUET, SENT, Cap, Refused

__all__ = ["UTF_8", "Opened", "Refused", "Transcoded", "is_parquet", "opened"]

_BEGINNING = 1 << 16
UTF_8, _UTF_16 = "utf-8", "utf-16"
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[{\]])")
_OTHERS = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"(\xb5/\xfd": "a zstd archive",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel",
}


@dataclass(frozen=True, eq=False)
class Opened:
    """A stream of the file's text, in UTF-8, whatever the file is."""

    stream: BinaryIO
    encoding: str  # of the file: ``utf-16`` where it is, else as was said
    packed: str = ""  # ``gz``, ``zip``, or empty

    @property
    def is_json(self) -> bool:
        """Whether the text begins as JSON does, with an object or an array of objects."""
        return _JSON.match(self.stream.peek(_BEGINNING)) is not None  # type: ignore[attr-defined]


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, by its first bytes."""
    try:
        if not path.is_file():  # a pipe would wait for its writer
            return False
        with path.open("rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except (OSError, ValueError):  # it is told when it is read
        return False


@contextmanager
def opened(path: Path, cap: Cap = SENT, encoding: str = UTF_8) -> Iterator[Opened]:
    """Yield a file's bytes, of a packed one no more than the cap allows.

    A byte order mark says more than `encoding`. Raise Refused for no such file, a folder, an
    archive that holds other than one file or is damaged or too large, and what is no text.
    """
    try:
        mode = path.stat().st_mode
        raw = path.open("rb", buffering=0) if stat.S_ISREG(mode) else None
    except PermissionError as error:  # of the file, or of its folder
        raise Refused("closed", str(path)) from error
    except (OSError, ValueError) as error:  # also a name too long, or with a NUL
        raise Refused("missing", str(path)) from error
    if raw is None and stat.S_ISDIR(mode):
        raise Refused("folder", str(path))
    if raw is None:
        raise Refused("kind", "a pipe or a device; write it to a file first")
    with raw:
        first = raw.read(8)
        raw.seek(0)
        for magic, kind in _OTHERS.items():
            if first.startswith(magic):
                raise Refused("kind", kind)
        packed = unpacking.kind(first)
        size = path.stat().st_size
        with unpacking.content(raw, packed, size, cap) if packed else raw as stream:
            yield replace(_decoded(stream, encoding), packed=packed)


def _decoded(stream: BinaryIO, encoding: str) -> Opened:
    """Return the stream as UTF-8, from its first byte."""
    buffered = io.BufferedReader(cast(io.RawIOBase, stream), _BEGINNING)
    first = buffered.peek(4)[:4]
    if [byte == 0 for byte in first] in ([False, True] * 2, [True, False] * 2):
        raise Refused("kind", "UTF-16 text, it seems, without its byte order mark")
    if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = _UTF_16
    if encoding == UTF_8 or first.startswith(codecs.BOM_UTF8):
        return Opened(cast(BinaryIO, buffered), UTF_8)
    text = io.BufferedReader(Transcoded(cast(BinaryIO, buffered), encoding), _BEGINNING)
    return Opened(cast(BinaryIO, text), encoding)


class Transcoded(io.RawIOBase):
    """Another encoding read as UTF-8.

    What is no text becomes the sign of replacement in UTF-16; in others it is refused, as two ids
    would become one.
    """

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        errors = "replace" if encoding == _UTF_16 else "strict"
        self.stream, self.encoding = codecs.getreader(encoding)(stream, errors), encoding
        self.held, self.lines = b"", 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read some bytes; return how many."""
        if not self.held:
            self.held = self._text().encode()
        count = min(len(buffer), len(self.held))
        buffer[:count], self.held = self.held[:count], self.held[count:]
        return count

    def _text(self) -> str:
        try:
            text = self.stream.read(_BEGINNING)
        except UnicodeDecodeError as error:
            line = self.lines + error.object[: error.start].count(b"\n") + 1
            odd = f"line {line} holds the byte 0x{error.object[error.start]:02X}"
            raise Refused("encoding", f"{odd}, which {self.encoding} does not have") from error
        self.lines += text.count("\n")
        return text
