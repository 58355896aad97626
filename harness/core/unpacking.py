"""What gzip and zip files hold, as streams that give no more than a cap allows."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from harness.core.errors import HarnessError

RATIO = 200
"""How many times as large as the file its content may be; text seldom packs better than 20."""
_PACKED = 1 << 16
_DIRECTORY = 1 << 20
"""Bytes that the list of a zip's members may have: it is held in memory."""
_MEMBERS, _MEMBER = 1 << 14, 1 << 10
"""Parts of a gzip file: so many, and one more for so many bytes that they hold."""
_GZIP = 31
"""What zlib calls gzip: a header, and a checksum that it compares."""
_MAGIC = {b"\x1f\x8b": "gz", b"PK": "zip"}
PARQUET = b"PAR1"
"""What a Parquet file begins and ends with."""
_DAMAGED = (EOFError, zipfile.BadZipFile, zlib.error)
_NO_ARCHIVE = (*_DAMAGED, LookupError, OSError, RuntimeError, ValueError, struct.error)
"""What opening a damaged archive raises: also over a password, or another method of packing."""


class Refused(HarnessError):  # noqa: N818 - it is the file that is refused
    """A file that cannot be read: the fault, what was found, and in which line, from 1.

    Faults of a packed file are ``members``, ``large``, ``damaged`` and ``kind``; of any file
    ``missing``, ``folder``, ``closed``, ``empty``, ``endless``, ``encoding`` and ``json``.
    """

    exit_status = 1

    def __init__(self, fault: str, value: str, line: int | None = None) -> None:
        super().__init__(f"{fault}: {value}")
        self.fault, self.value, self.line = fault, value, line


@dataclass(frozen=True)
class Cap:
    """How much a file may unpack to, in bytes."""

    free: int  # however small it is
    most: int  # however large it is
    cure: str  # what to do where a file is larger and should be

    def of(self, packed: int) -> int:
        """Return how many bytes may come of so many packed ones."""
        return min(max(self.free, RATIO * packed), self.most)

    def check(self, size: int, packed: int) -> None:
        """Raise Refused where a file unpacks to more than it may."""
        if size > self.of(packed):
            raise Refused("large", f"{self.of(packed):,} bytes")


SENT = Cap(1 << 24, 1 << 36, "unpack it yourself, and give it as plain CSV")
"""For what others send: submissions, and whatever they are read with."""
OWN = Cap(
    1 << 30,
    1 << 40,
    "set max_unpacked_gb under [data] to what it unpacks to, in GB, if that is right "
    "(--set data.max_unpacked_gb=…)",
)
"""For a config's own tables."""


def kind(first: bytes) -> str:
    """Return what a file is packed in by its first bytes, ``gz`` or ``zip``; empty if plain."""
    return next((name for magic, name in _MAGIC.items() if first.startswith(magic)), "")


@contextmanager
def content(raw: io.FileIO, packed_in: str, size: int, cap: Cap) -> Iterator[BinaryIO]:
    """Yield what a packed file of `size` bytes holds, ``gz`` or ``zip``; `raw` is at its beginning.

    Raise Refused where it cannot be read, or unpacks to too much; also while it is read.
    """
    try:
        if packed_in == "gz":
            _refuse_swelling(raw, cap)
            yield cast(BinaryIO, Inflated(raw, cap))
        else:
            with _member(raw, size, cap) as stream:
                yield cast(BinaryIO, stream)
    except _DAMAGED as error:
        raise Refused("damaged", str(error)) from error


def _refuse_swelling(raw: io.FileIO, cap: Cap) -> None:
    """Unpack the beginning for nothing as long as it swells: to read its lines takes longer."""
    stream, held = Inflated(raw, cap), bytearray(1 << 20)
    with suppress(EOFError, zlib.error):  # told when it is read
        while stream.readinto(held) and stream.given > RATIO // 2 * stream.consumed:
            pass
    raw.seek(0)


def _member(raw: io.FileIO, size: int, cap: Cap) -> zipfile.ZipExtFile:
    """Return a zip archive's one file; no more is read of it than the size that it tells."""
    try:
        archive = zipfile.ZipFile(_Directory(raw.fileno(), closefd=False))
        members = [
            member
            for member in archive.infolist()
            if not member.is_dir()
            and not re.search(r"(^|/)(__MACOSX/|\.DS_Store$)", member.filename)  # a Mac adds them
        ]
        names = [member.filename for member in members]
        if any(name.startswith("xl/") for name in names):
            raise Refused("kind", "a workbook of Excel")
        if len(names) != 1:
            raise Refused("members", ", ".join(names[:5]) or "none")
        if members[0].compress_type in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            raise Refused("kind", "a zip archive packed by bzip2 or LZMA")  # without bounds
        cap.check(members[0].file_size, size)
        return cast(zipfile.ZipExtFile, zipfile.ZipFile(raw).open(members[0]))
    except _NO_ARCHIVE as error:
        raise Refused("damaged", str(error)) from error


class _Directory(io.FileIO):
    """A file of which no more is read at once than the list of an honest zip's members has."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _DIRECTORY:
            raise zipfile.BadZipFile("its list of members is too long")
        return super().read(size) or b""


class Inflated(io.RawIOBase):
    """What a gzip file holds, capped by what was read of it so far.

    The standard library's reader takes 8 kB at a time, which is slow.
    """

    def __init__(self, stream: io.RawIOBase, cap: Cap) -> None:
        self.stream, self.cap, self.packed, self.read_bytes = stream, cap, b"", 0
        self.member, self.members, self.given = zlib.decompressobj(_GZIP), 1, 0

    @property
    def consumed(self) -> int:
        """How many packed bytes were needed so far."""
        return self.read_bytes - len(self.packed)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read some bytes; return how many."""
        while True:
            if not self.packed:
                self.packed = self.stream.read(_PACKED) or b""
                self.read_bytes += len(self.packed)
                if not self.packed and self.member.eof:
                    return 0
                if not self.packed:
                    raise EOFError("the file ends before its end was marked")
            if self.member.eof:
                self.packed = self.packed.lstrip(b"\0")  # what pads an archive
                if not self.packed:
                    continue
                self.member, self.members = zlib.decompressobj(_GZIP), self.members + 1
                if self.members > _MEMBERS + self.given // _MEMBER:  # each takes its time
                    raise zlib.error("it is cut into too many parts")
            content = self.member.decompress(self.packed, len(buffer))
            self.packed = self.member.unused_data or self.member.unconsumed_tail
            if content:
                buffer[: len(content)] = content
                self.given += len(content)
                self.cap.check(self.given, self.consumed)
                return len(content)
