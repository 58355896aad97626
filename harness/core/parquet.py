"""What a Parquet file unpacks to, read from its notes before anything of it is unpacked.

A footer says where the pages of each column are, and each header of a page how large it becomes.
Readers take the memory that headers claim, and footers may say otherwise, so both are read, and
nothing is read that does not lie within the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import polars as pl
from polars import selectors

from harness.core.thrift import BOOL, BYTE, INT, TEXT, EndError, Struct, ThriftError, read
from harness.core.unpacking import PARQUET, Cap, UnpackingError

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What reading a file raises whose pages are damaged."""
_ENCRYPTED = b"PARE"
_VALUE = 8
"""Bytes that a value takes in memory at least, however well it is packed."""
_FOOTER, _FOOTER_SHARE = 1 << 20, 64
"""Bytes of a footer: so many, or one of so many of the file's."""
_PAGES, _PAGE_SHARE = 1 << 16, 1 << 12
"""Pages: so many, and one more for so many bytes."""
_GROUPS, _GROUP_SHARE = 1 << 11, 1 << 14
"""Groups of rows: so many, and one more for so many bytes."""
_WINDOW, _LONGEST_HEADER = 1 << 10, 1 << 24
_DEEPEST, _COLUMNS = 16, 10_000
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_FIXED_LENGTH = 7
_SHARED_BEGINNINGS = 7
"""The encoding DELTA_BYTE_ARRAY: a text is so many bytes of the one before, and others."""
_DELTAS = (5, 6, _SHARED_BEGINNINGS)
_REPEATED = 2

_UNIT: Struct = {1: {}, 2: {}, 3: {}}
_TIME: Struct = {1: BOOL, 2: _UNIT}
_LOGICAL: Struct = {
    **{number: {} for number in (1, 2, 3, 4, 6, 11, 12, 13, 14, 15)},
    **{5: {1: INT, 2: INT}, 7: _TIME, 8: _TIME, 10: {1: BYTE, 2: BOOL}},
}
_ELEMENT: Struct = {n: INT for n in range(1, 10) if n != 4} | {4: TEXT, 10: _LOGICAL}
_PAIR: Struct = {1: TEXT, 2: TEXT}
_STATISTICS: Struct = {1: TEXT, 2: TEXT, 3: INT, 4: INT, 5: TEXT, 6: TEXT, 7: BOOL, 8: BOOL}
_COLUMN: Struct = dict.fromkeys((1, 4, 5, 6, 7, 9, 10, 11, 14, 15), INT) | {
    2: [INT],
    3: [TEXT],
    8: [_PAIR],
    12: _STATISTICS,
    13: [{1: INT, 2: INT, 3: INT}],
    16: {1: INT, 2: [INT], 3: [INT]},
}
_CHUNK: Struct = {1: TEXT, 2: INT, 3: _COLUMN, 4: INT, 5: INT, 6: INT, 7: INT, 8: {}, 9: TEXT}
_GROUP: Struct = {
    1: [_CHUNK],
    2: INT,
    3: INT,
    4: [{1: INT, 2: BOOL, 3: BOOL}],
    5: INT,
    6: INT,
    7: INT,
}
_FILE: Struct = {
    **{1: INT, 2: [_ELEMENT], 3: INT, 4: [_GROUP], 5: [_PAIR], 6: TEXT},
    **{7: [{1: {}}], 8: {}, 9: TEXT},
}
_PAGE: Struct = {
    **{1: INT, 2: INT, 3: INT, 4: INT, 6: {}},
    5: {1: INT, 2: INT, 3: INT, 4: INT, 5: _STATISTICS},
    7: {1: INT, 2: INT, 3: BOOL},
    8: {1: INT, 2: INT, 3: INT, 4: INT, 5: INT, 6: INT, 7: BOOL, 8: _STATISTICS},
}
_HEADER_OF = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}
"""Of a page of each kind: its own header, and there the number of values and their encoding."""


@dataclass(frozen=True)
class Leaf:
    """A column of values.

    Attributes
    ----------
    width : int
        Bytes that a value takes at least.
    nested : bool
        Whether a row may hold several.
    """

    width: int
    nested: bool


@dataclass(frozen=True)
class Page:
    """What a page's header says.

    Attributes
    ----------
    is_dictionary : bool
        Whether its values are those that other pages name by number.
    header, packed, unpacked : int
        Bytes.
    values, encoding : int
    """

    is_dictionary: bool
    header: int
    packed: int
    unpacked: int
    values: int
    encoding: int

    def size(self, leaf: Leaf) -> int:
        """Return the bytes that it may become in memory."""
        texts = self.values * self.unpacked if self.encoding == _SHARED_BEGINNINGS else 0
        return self.unpacked + leaf.width * self.values + texts


def check(path: Path, cap: Cap, packed: int | None = None) -> tuple[int, int]:
    """Return how many rows a file has, and how many values, if it is to be read.

    Pages with delta encodings claim memory within what is packed, where it is not seen; few
    writers use them unasked, and only files that are trusted may have any.

    Parameters
    ----------
    packed : int, optional
        Bytes that it had when it came; those of the file by default.

    Raises
    ------
    UnpackingError
        It is damaged, encrypted, or unpacks to more than it may.
    """
    size = path.stat().st_size
    packed = size if packed is None else packed
    try:
        with path.open("rb", buffering=0) as file:
            rows, pages = contents(cast(BinaryIO, file), size)
            total, values = _VALUE * rows, 0
            cap.check(total, packed)
            for page, leaf in pages:
                if page.encoding in _DELTAS and not cap.trusted:
                    raise UnpackingError("kind", "Parquet with delta encodings")
                total += page.size(leaf)
                values += page.values
                cap.check(total, packed)
    except (ThriftError, OSError) as error:
        raise UnpackingError("damaged", str(error)) from error
    return rows, values


def scan(path: Path, cap: Cap, packed: int | None = None) -> pl.LazyFrame:
    """Return the rows of a file, after `check`.

    Lists of a fixed size are looked at too: that stands beside the schema, and a row without a
    list takes as much memory as any other.

    Raises
    ------
    UnpackingError
        As `check` does.
    polars.exceptions.PolarsError
        Its schema is damaged.
    """
    rows, values = check(path, cap, packed)
    frame = pl.scan_parquet(path.absolute(), glob=False)  # Polars expands "~"
    size = path.stat().st_size if packed is None else packed
    for kind in frame.collect_schema().dtypes():
        cap.check(_VALUE * _fixed(kind, rows, values), size)
    return frame


def _fixed(kind: Any, rows: int, values: int) -> int:
    """Return how many values the lists of a fixed size in a column have, whoever is missing.

    `rows` is how many there are of the type, and `values` how many there may be within lists.
    """
    if isinstance(kind, pl.Array):
        return rows * kind.size + _fixed(kind.inner, rows * kind.size, values * kind.size)
    if isinstance(kind, pl.List):
        return _fixed(kind.inner, values, values)
    if isinstance(kind, pl.Struct):
        return sum(_fixed(field.dtype, rows, values) for field in kind.fields)
    return 0


def check_texts(frame: pl.LazyFrame, cap: Cap, packed: int) -> None:
    """Raise UnpackingError where texts are too long in all, each as often as it stands there.

    A dictionary lets a small file hold a long text in every row.
    """
    lengths = [
        length.cast(pl.Int64).sum()
        for name, kind in frame.collect_schema().items()
        if (length := _lengths(column_of(name), kind)) is not None
    ]
    if lengths:
        cap.check(frame.select(pl.sum_horizontal(lengths)).collect().item(), packed)


def column_of(name: str) -> pl.Expr:
    """Return a column by its name, also where that would be a pattern to Polars."""
    return selectors.by_name(name).as_expr()


def _lengths(column: pl.Expr, kind: Any) -> pl.Expr | None:
    """Return the bytes of every text of a column, None where it holds none."""
    while isinstance(kind, pl.List | pl.Array):
        column, kind = column.explode(), kind.inner
    text = isinstance(kind, pl.String | pl.Categorical | pl.Enum)
    return column.cast(pl.String).str.len_bytes() if text else None


def contents(
    file: BinaryIO, size: int, most_pages: int = _PAGES
) -> tuple[int, Iterator[tuple[Page, Leaf]]]:
    """Return how many rows a file of `size` bytes has, and its pages, each beside its column.

    Parameters
    ----------
    most_pages : int
        How many pages there may be beside those that the file's size allows.

    Raises
    ------
    ThriftError, UnpackingError
        It is damaged, or encrypted; for pages, while they are asked for.
    """
    notes, start = _footer(file, size)
    leaves, groups = list(_leaves(notes.get(2, []))), notes.get(4, [])
    if len(groups) > _GROUPS + size // _GROUP_SHARE:
        raise ThriftError("it is cut into too many groups of rows")
    rows = [_number(group, 3) for group in groups]
    if sum(rows) != _number(notes, 3):
        raise ThriftError("its parts hold other rows than it says")
    pages = (
        (page, leaf)
        for group, count in zip(groups, rows, strict=True)
        for chunk, leaf in _columns(group, leaves)
        for page in _pages(file, chunk, leaf, count, start)
    )
    return sum(rows), _few(pages, size, most_pages + size // _PAGE_SHARE)


def _columns(group: dict[int, Any], leaves: list[Leaf]) -> Iterator[tuple[dict[int, Any], Leaf]]:
    chunks = group.get(1, [])
    if len(chunks) != len(leaves):
        raise ThriftError("a part of it has other columns than it says")
    return zip(chunks, leaves, strict=True)


def _few(pages: Iterator[tuple[Page, Leaf]], size: int, most: int) -> Iterator[tuple[Page, Leaf]]:
    """Yield pages; each takes its time, so that there may be only so many, each in its place."""
    remaining = size
    for count, (page, leaf) in enumerate(pages):
        remaining -= page.header + page.packed
        if count == most:
            raise ThriftError("it is cut into too many pages")
        if remaining < 0:
            raise ThriftError("its pages lie upon each other")
        yield page, leaf


def _footer(file: BinaryIO, size: int) -> tuple[dict[int, Any], int]:
    """Return what the footer says, and where it begins."""
    if size < 12:
        raise ThriftError("it is too short for a Parquet file")
    first, tail = _read(file, 0, 4), _read(file, size - 8, 8)
    if _ENCRYPTED in (first, tail[4:]):
        raise UnpackingError("kind", "an encrypted Parquet file")
    if (first, tail[4:]) != (PARQUET, PARQUET):
        raise ThriftError("it does not begin and end as a Parquet file does")
    (length,) = struct.unpack("<I", tail[:4])
    if length > min(max(_FOOTER, size // _FOOTER_SHARE), size - 12):
        raise ThriftError("its footer is longer than it may be")
    notes, _ = read(_read(file, size - 8 - length, length), _FILE)
    if 8 in notes:
        raise UnpackingError("kind", "an encrypted Parquet file")
    return notes, size - 8 - length


def _leaves(elements: list[dict[int, Any]]) -> Iterator[Leaf]:
    """Yield the columns of values of a schema, whose elements stand depth first."""
    if len(elements) > _COLUMNS:
        raise ThriftError(f"it has more than {_COLUMNS:,} columns")
    waiting: list[tuple[int, bool]] = []
    for place, element in enumerate(elements):
        while waiting and waiting[-1][0] == 0:
            waiting.pop()
        nested = bool(waiting) and waiting[-1][1]
        if place > 0 and not waiting:
            raise ThriftError("its columns are told wrongly")
        if waiting:
            waiting[-1] = (waiting[-1][0] - 1, nested)
        nested |= place > 0 and element.get(3) == _REPEATED
        children = _number(element, 5) if 5 in element else 0
        if children or place == 0:
            waiting.append((children, nested))
        else:
            fixed = element.get(1) == _FIXED_LENGTH
            yield Leaf(max(_VALUE, _number(element, 2) if fixed else 0), nested)
        if len(waiting) > _DEEPEST:
            raise ThriftError("its columns are nested too deep")
    if any(count for count, _ in waiting):
        raise ThriftError("its columns are told wrongly")


def _pages(
    file: BinaryIO, chunk: dict[int, Any], leaf: Leaf, rows: int, footer: int
) -> Iterator[Page]:
    """Yield the pages of a column, up to its last value."""
    if 8 in chunk or 9 in chunk:
        raise UnpackingError("kind", "an encrypted Parquet file")
    if 1 in chunk or 3 not in chunk:
        raise ThriftError("a column of it is elsewhere")
    column = chunk[3]
    values = _number(column, 5)
    if values < rows if leaf.nested else values != rows:
        raise ThriftError("a column of it has not as many values as there are rows")
    start = _number(column, 11 if 11 in column else 9)
    stop = start + _number(column, 7)
    if start < len(PARQUET) or stop > footer:
        raise ThriftError("a column of it lies outside")
    while values > 0:
        page, start = _page(file, start, stop)
        if not page.is_dictionary:
            values -= page.values
        if values < 0:
            raise ThriftError("a column of it has more values than it says")
        yield page


def _page(file: BinaryIO, start: int, stop: int) -> tuple[Page, int]:
    """Return the page that begins at `start`, and where it ends, `stop` at the latest."""
    notes, length = _header(file, start, stop)
    kind, packed = _number(notes, 1, 31), _number(notes, 3, 31)
    if kind not in _HEADER_OF:
        raise ThriftError("it has a page of an unknown kind")
    header, values, encoding = _HEADER_OF[kind]
    if header not in notes:
        raise ThriftError("a page of it has no header")
    if start + length + packed > stop:
        raise ThriftError("a page of it lies outside its column")
    counts = _number(notes[header], values, 31), _number(notes[header], encoding, 31)
    page = Page(kind == _DICTIONARY, length, packed, _number(notes, 2, 31), *counts)
    return page, start + length + packed


def _header(file: BinaryIO, start: int, stop: int) -> tuple[dict[int, Any], int]:
    """Return what a page's header says, and how long it is: it may hold a column's longest text."""
    window = _WINDOW
    while True:
        length = min(window, stop - start)
        try:
            return read(_read(file, start, length), _PAGE)
        except EndError:
            if length < window or window >= _LONGEST_HEADER:
                raise
        window <<= 4


def _number(notes: dict[int, Any], field: int, bits: int = 63) -> int:
    number = notes.get(field)
    if not isinstance(number, int) or not 0 <= number < 1 << bits:
        raise ThriftError("its notes lack a number, or hold one that cannot be")
    return number


def _read(file: BinaryIO, start: int, count: int) -> bytes:
    file.seek(start)
    content = file.read(count)
    if len(content) < count:
        raise EndError("it ends too soon")
    return content
