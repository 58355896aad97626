"""A file as a stream of bytes, whatever it is packed in; what is no text of rows is told."""

from __future__ import annotations

import codecs
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from harness.errors import HarnessError

_FREE = 1 << 26
"""Bytes that any archive may unpack to, however small it is."""
_MOST_RATIO = 200
_MOST = 1 << 36
_BEGINNING, _PACKED = 1 << 16, 1 << 20
_GZIP = 31
"""What zlib calls gzip: a header, and a checksum that it compares."""

UNREADABLE = (
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a damaged archive raises."""

_PACKED_AS = {b"\x1f\x8b": "gz", b"PK": "zip"}
_OTHERS = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"(\xb5/\xfd": "a zstd archive",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel",
}


class Refused(HarnessError):  # noqa: N818 - it is the file that is refused
    """A file that cannot be read; `check` is the code of the check, `value` what was found."""

    exit_status = 1

    def __init__(self, check: str, value: str) -> None:
        super().__init__(check)
        self.check, self.value = check, value


@dataclass(frozen=True, eq=False)
class Opened:
    """A stream of the file's text.

    Attributes
    ----------
    stream : binary file
        UTF-8 where the file is UTF-16.
    encoding : str
        ``utf-16`` where the file is, else ``utf-8``.
    packed : str
        ``gz``, ``zip``, or empty.
    """

    stream: BinaryIO
    encoding: str
    packed: str = ""


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """Yield a file's bytes.

    Raises
    ------
    Refused
        No such file, a folder, an archive that holds other than one file or is damaged or too
        large, and what is no text.
    """
    if "\0" in str(path) or not path.exists():
        raise Refused("SUB001", str(path))
    if path.is_dir():
        raise Refused("SUB002", str(path))
    if not path.is_file():
        raise Refused("SUB016", "a pipe or a device; write it to a file first")
    try:
        with path.open("rb", buffering=0) as raw:
            first = raw.read(8)
            raw.seek(0)
            packed = next(
                (kind for start, kind in _PACKED_AS.items() if first.startswith(start)), ""
            )
            with _unpacked(cast(BinaryIO, raw), first, path.stat().st_size) as stream:
                yield replace(_decoded(stream), packed=packed)
    except PermissionError as error:
        raise Refused("SUB018", str(path)) from error


@contextmanager
def _unpacked(raw: BinaryIO, first: bytes, size: int) -> Iterator[BinaryIO]:
    for magic, kind in _OTHERS.items():
        if first.startswith(magic):
            raise Refused("SUB016", kind)
    most = min(max(_FREE, _MOST_RATIO * size), _MOST)
    if first.startswith(b"\x1f\x8b"):
        yield cast(BinaryIO, Capped(cast(BinaryIO, Inflated(raw)), most))
    elif first.startswith(b"PK"):
        with _member(raw) as unpacked:
            yield cast(BinaryIO, Capped(unpacked, most))
    else:
        yield raw


@contextmanager
def _member(raw: BinaryIO) -> Iterator[BinaryIO]:
    try:
        archive = zipfile.ZipFile(raw)
        names = [m.filename for m in archive.infolist() if not m.is_dir()]
    except UNREADABLE as error:
        raise Refused("SUB015", str(error)) from error
    if any(name.startswith("xl/") for name in names):
        raise Refused("SUB016", "a workbook of Excel")
    if len(names) != 1:
        raise Refused("SUB013", ", ".join(names[:5]) or "none")
    try:
        member = archive.open(names[0])
    except UNREADABLE as error:  # a password, a method of compression
        raise Refused("SUB015", str(error)) from error
    with member:
        yield cast(BinaryIO, member)


class Inflated(io.RawIOBase):
    """What a gzip file holds: the standard library's reader takes 8 kB at a time, which is slow."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.packed = stream, b""
        self.member = zlib.decompressobj(_GZIP)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read some bytes; return how many. Raise zlib.error or EOFError over a damaged file."""
        while True:
            self.packed = self.packed or self.stream.read(_PACKED)
            if not self.packed and self.member.eof:
                return 0
            if not self.packed:
                raise EOFError("the file ends before its end was marked")
            if self.member.eof:
                self.packed = self.packed.lstrip(b"\0")  # what pads an archive
                if not self.packed:
                    continue
                self.member = zlib.decompressobj(_GZIP)
            found = self.member.decompress(self.packed, len(buffer))
            self.packed = (
                self.member.unused_data if self.member.eof else self.member.unconsumed_tail
            )
            if found:
                buffer[: len(found)] = found
                return len(found)


class Capped(io.RawIOBase):
    """A stream that refuses to give more than so many bytes."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self.stream, self.left, self.most = stream, most, most

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read some bytes; return how many."""
        try:
            held = self.stream.readinto(buffer)  # type: ignore[attr-defined]
        except UNREADABLE as error:
            raise Refused("SUB015", str(error)) from error
        self.left -= held
        if self.left < 0:
            raise Refused("SUB014", f"{self.most:,} bytes")
        return int(held)


def _decoded(stream: BinaryIO) -> Opened:
    """Return the stream as UTF-8, from its first byte."""
    buffered = io.BufferedReader(cast(io.RawIOBase, stream), _BEGINNING)
    first = buffered.peek(4)[:4]
    if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        text = io.BufferedReader(Transcoded(cast(BinaryIO, buffered)), _BEGINNING)
        return Opened(cast(BinaryIO, text), "utf-16")
    return Opened(cast(BinaryIO, buffered), "utf-8")


class Transcoded(io.RawIOBase):
    """UTF-16 read as UTF-8; what is no text becomes the sign of replacement."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = codecs.getreader("utf-16")(stream, "replace")
        self.held = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read some bytes; return how many."""
        if not self.held:
            self.held = self.stream.read(_BEGINNING).encode()
        count = min(len(buffer), len(self.held))
        buffer[:count], self.held = self.held[:count], self.held[count:]
        return count
