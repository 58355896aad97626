"""What gzip and zip files hold, as streams that give no more than a cap allows."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Literal, cast

RATIO = 200
"""How many times as large as the file its content may be; text seldom packs better than 20."""
_PACKED, _CHUNK = 1 << 16, 1 << 20
_DIRECTORY = 1 << 20
"""Bytes that the list of a zip's members may have: it is held in memory."""
_MEMBERS, _MEMBER = 1 << 14, 1 << 10
"""Parts of a gzip file: so many, and one more for so many bytes that they hold."""
_GZIP = 31
"""What zlib calls gzip: a header, and a checksum that it compares."""
_MAGIC = {b"\x1f\x8b": "gz", b"PK": "zip"}
PARQUET = b"PAR1"
"""What a Parquet file begins and ends with."""
_UNREADABLE = (
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


FAULTS = ("members", "large", "damaged", "kind")


class UnpackingError(Exception):
    """A packed file that cannot be read.

    Attributes
    ----------
    fault : str
        ``members``: other files are in it than expected; ``large``: it unpacks to too much;
        ``damaged``; ``kind``: it is packed in another way.
    value : str
        What was found.
    """

    def __init__(self, fault: Literal["members", "large", "damaged", "kind"], value: str) -> None:
        super().__init__(value)
        self.fault, self.value = fault, value


@dataclass(frozen=True)
class Cap:
    """How much a file may unpack to.

    Attributes
    ----------
    free : int
        Bytes that any file may unpack to, however small it is.
    most : int
        Bytes that no file may unpack to, however large it is.
    cure : str
        What to do where a file is larger and should be.
    """

    free: int
    most: int
    cure: str

    def of(self, packed: int) -> int:
        """Return how many bytes may come of so many packed ones."""
        return min(max(self.free, RATIO * packed), self.most)

    def check(self, size: int, packed: int) -> None:
        """Raise UnpackingError where a file is said to unpack to more than it may."""
        if size > self.of(packed):
            raise UnpackingError("large", f"{self.of(packed):,} bytes")


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
def content(raw: BinaryIO, packed_in: str, size: int, cap: Cap) -> Iterator[io.RawIOBase]:
    """Yield what a packed file holds; reading it raises UnpackingError too.

    Parameters
    ----------
    raw : binary file
        Unbuffered, at its first byte.
    packed_in : str
        As `kind` gives it.
    size : int
        Bytes of the file.

    Raises
    ------
    UnpackingError
        It is damaged, holds other than one file, or unpacks to too much.
    """
    if packed_in == "gz":
        _refuse_swelling(raw, cap)
        stream = Inflated(raw)
        yield _Capped(stream, cap, lambda: stream.consumed)
    else:
        with _member(raw, size, cap) as member:
            yield _Capped(member, cap, lambda: size)


def _refuse_swelling(raw: BinaryIO, cap: Cap) -> None:
    """Raise UnpackingError where a gzip file swells beyond the cap from its first byte on.

    What a gzip file says of its size stands at its end, where a file that was cut has anything.
    So its beginning is unpacked for nothing, as long as it stays suspicious.
    """
    stream, unpacked, held = Inflated(raw), 0, bytearray(_CHUNK)
    try:
        while count := stream.readinto(held):
            unpacked += count
            cap.check(unpacked, stream.consumed)
            if unpacked < RATIO // 2 * stream.consumed:
                break
    except _UNREADABLE:
        pass  # told when it is read
    raw.seek(0)


@contextmanager
def _member(raw: BinaryIO, size: int, cap: Cap) -> Iterator[BinaryIO]:
    """Yield the content of a zip archive's one file, once the size it tells is within the cap."""
    try:
        archive = zipfile.ZipFile(cast(BinaryIO, _Bounded(raw)))
        members = [member for member in archive.infolist() if not _is_beside(member)]
    except _UNREADABLE as error:
        raise UnpackingError("damaged", str(error)) from error
    names = [member.filename for member in members]
    if any(name.startswith("xl/") for name in names):
        raise UnpackingError("kind", "a workbook of Excel")
    if len(names) != 1:
        raise UnpackingError("members", ", ".join(names[:5]) or "none")
    if members[0].compress_type in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        raise UnpackingError("kind", "a zip archive packed by bzip2 or LZMA")  # without bounds
    cap.check(members[0].file_size, size)
    try:
        stream = archive.open(members[0])
    except _UNREADABLE as error:  # a password, a method of compression
        raise UnpackingError("damaged", str(error)) from error
    with stream:
        yield cast(BinaryIO, stream)


def _is_beside(member: zipfile.ZipInfo) -> bool:
    """Return whether it is a folder, or what a Mac puts beside the files."""
    *folders, name = member.filename.split("/")
    return member.is_dir() or "__MACOSX" in folders or name == ".DS_Store"


class _Bounded(io.RawIOBase):
    """A file of which no more is read at once than the list of an honest zip's members has."""

    def __init__(self, raw: BinaryIO) -> None:
        self.raw = raw

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0) -> int:
        return self.raw.seek(place, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            here = self.raw.tell()
            size = self.raw.seek(0, io.SEEK_END) - here
            self.raw.seek(here)
        if size > _DIRECTORY:
            raise zipfile.BadZipFile("its list of members is too long")
        return self.raw.read(size)


class Inflated(io.RawIOBase):
    """What a gzip file holds: the standard library's reader takes 8 kB at a time, which is slow."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.packed, self.read_bytes = stream, b"", 0
        self.member, self.members, self.given = zlib.decompressobj(_GZIP), 1, 0

    @property
    def consumed(self) -> int:
        """How many packed bytes were needed so far."""
        return self.read_bytes - len(self.packed)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read some bytes; return how many. Raise zlib.error or EOFError over a damaged file."""
        while True:
            if not self.packed:
                self.packed = self.stream.read(_PACKED)
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
            self.packed = (
                self.member.unused_data if self.member.eof else self.member.unconsumed_tail
            )
            if content:
                buffer[: len(content)] = content
                self.given += len(content)
                return len(content)


class _Capped(io.RawIOBase):
    """A stream that never gives more than may come of what was `consumed` of the file."""

    def __init__(
        self, stream: io.RawIOBase | BinaryIO, cap: Cap, consumed: Callable[[], int]
    ) -> None:
        self.stream, self.cap, self.consumed, self.given = stream, cap, consumed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            count = self.stream.readinto(memoryview(buffer)[:_CHUNK])  # type: ignore[union-attr]
        except _UNREADABLE as error:
            raise UnpackingError("damaged", str(error)) from error
        self.given += count
        self.cap.check(self.given, self.consumed())
        return int(count)
