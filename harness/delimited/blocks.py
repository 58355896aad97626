"""Blocks of whole lines: quoted lines made plain, lines cut into fields, and other odd bytes."""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from typing import BinaryIO, Protocol, TypeVar

import numpy as np

from harness.core.arrays import Bytes, Int32, Int64, UInt64
from harness.delimited import _delimited
from harness.delimited._delimited import (
    FIELD,
    NO_ROW,
    PAD,
    RECORD,
    Tally,
    behind_last,
    count_byte,
    find_byte,
    odd_bytes,
)
from harness.delimited.stream import Refused

Result = TypeVar("Result")

LONGEST_QUOTE = 1 << 24
"""A record longer than this has a quote that was never closed."""
SIZE = 1 << 22
LONGEST = 1 << 28
"""Bytes of the longest line that is read."""
_LINE, _RETURN, _QUOTE = ord("\n"), ord("\r"), ord('"')
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Block:
    """Whole lines; physical lines are counted from 0."""

    buffer: Bytes  # at least `size` + PAD long
    size: int
    separator: int  # the byte between fields, or the first of several
    end: int = _LINE  # the byte behind lines
    written: int = FIELD  # what the file has for `separator`
    lines: Int64 | None = None  # the physical line of each; None where each is one
    ended: int | None = None  # how many physical lines there are; None: as many as lines
    unclosed: Int64 = field(default_factory=lambda: _NONE)  # those with a quote never closed
    torn: Int64 = field(default_factory=lambda: _NONE)  # those with text behind a closed quote
    consumed: int = 0  # bytes of the stream that the lines were
    width: int = 1  # how many bytes stand between fields

    def text(self, start: int, stop: int) -> bytes:
        """Return some bytes as they stand in the file, but for quotes."""
        return self.buffer[start:stop].tobytes().replace(bytes([FIELD]), bytes([self.written]))

    def texts(self, starts: Int64, stops: Int64) -> list[bytes]:
        """Return the `text` of many places."""
        return list(cut(self.text(0, self.size), starts, stops))


def cut(text: bytes, starts: Int64, stops: Int64) -> Iterator[bytes]:
    """Yield what stands at many places."""
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        yield text[start:stop]


def padded(text: bytes) -> Bytes:
    """Return bytes with PAD bytes behind the last, as a buffer like those that files fill."""
    buffer = np.zeros(len(text) + PAD, np.uint8)
    buffer[: len(text)] = np.frombuffer(text, np.uint8)
    return buffer


def plain(
    buffer: Bytes, size: int, separator: int, last: bool, *, quote: bool = True, escape: str = ""
) -> tuple[Block, int]:
    """Return the whole lines of some bytes as plain ones, and how many bytes those are.

    `quote` and `escape` are as of `Reader`. If nothing follows the `last`, what is open stays open.
    """
    out = np.empty(size + PAD, np.uint8)
    most = count_byte(buffer, size, _LINE) + 1
    lines, unclosed, torn = np.empty((3, most), np.int64)
    sign = ord(escape) if escape else -1
    written, n, consumed, ended, n_unclosed, n_torn = _delimited.plain(
        buffer, size, separator, quote, sign, last, LONGEST_QUOTE, out, lines, unclosed, torn
    )
    block = Block(
        buffer=out,
        size=written,
        separator=FIELD,
        end=RECORD,
        written=separator,
        lines=lines[:n],
        ended=ended,
        unclosed=unclosed[:n_unclosed],
        torn=torn[:n_torn],
        consumed=consumed,
    )
    return block, consumed


class Reader:
    """Reads a stream block by block; buffers are used again when they are given back.

    Quotes are letters if not `quote`, or where the `separator` is several bytes. An `escape` makes
    a quote, a separator or itself behind it a letter. `ends` is whether the last line that was read
    had an end.
    """

    header_lines = 1

    def __init__(
        self,
        stream: BinaryIO,
        separator: bytes,
        *,
        returns: bool = False,
        quote: bool = True,
        escape: str = "",
    ) -> None:
        self.stream, self.separator, self.returns = stream, separator, returns
        self.quote, self.escape = quote and len(separator) == 1, escape
        self.ends, self._plain = True, True
        self._free: list[Bytes] = []

    def give_back(self, block: Block) -> None:
        """Let a block's buffer be used again."""
        if block.end == _LINE:
            self._free.append(block.buffer)

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order."""
        buffer, held = self._buffer(), 0
        while True:
            if held == len(buffer) - PAD:  # a line longer than a block
                if held >= LONGEST:
                    raise Refused("endless", f"{LONGEST:,} bytes")
                buffer = np.concatenate((buffer, np.empty(len(buffer), np.uint8)))
            more = self._fill(buffer, held)
            if more == 0:
                break
            stop = behind_last(buffer, held, held + more, _LINE)
            held += more
            if stop > 0:
                is_plain = self._is_plain(buffer, stop)
                rest = self._buffer(held - stop if is_plain else held)
                used = yield from self._whole(buffer, stop, is_plain, last=False)
                rest[: held - used] = buffer[used:held]
                buffer, held = rest, held - used
        if held > 0:
            self.ends = bool(buffer[held - 1] == _LINE)
            if not self.ends:
                buffer[held] = _LINE
                held += 1
            yield from self._whole(buffer, held, self._is_plain(buffer, held), last=True)

    def _fill(self, buffer: Bytes, held: int) -> int:
        room = buffer[held : len(buffer) - PAD].data
        more = int(self.stream.readinto(room) or 0)  # type: ignore[attr-defined]
        if self.returns:
            new = buffer[held : held + more]
            new[new == _RETURN] = _LINE
        return more

    def _whole(
        self, buffer: Bytes, stop: int, is_plain: bool, *, last: bool
    ) -> Generator[Block, None, int]:
        """Yield the lines before `stop`; return how many bytes they were."""
        first, width = self.separator[0], len(self.separator)
        if width > 1:
            _delimited.mark(buffer, stop, self.separator)
            yield Block(buffer, stop, FIELD, written=first, consumed=stop, width=width)
            return stop
        if is_plain:
            yield Block(buffer, stop, first, consumed=stop)
            return stop
        block, consumed = plain(buffer, stop, first, last, quote=self.quote, escape=self.escape)
        if consumed > 0:
            yield block
        return consumed

    def _is_plain(self, buffer: Bytes, stop: int) -> bool:
        """Return whether no quote and no escape was met; then lines are read one by one."""
        signs = [_QUOTE] * self.quote + [ord(sign) for sign in self.escape]
        self._plain = self._plain and all(
            find_byte(buffer, 0, stop, sign) == stop for sign in signs
        )
        return self._plain

    def _buffer(self, least: int = 0) -> Bytes:
        if self._free and len(self._free[-1]) >= least + PAD:
            return self._free.pop()
        return np.empty(max(SIZE, 2 * least) + PAD, np.uint8)


def wanted(fields: int, places: Sequence[int]) -> Int32:
    """Return, for each of so many fields, its column among those at `places`; −1: not wanted.

    >>> wanted(3, [2, 0]).tolist()
    [1, -1, 0]
    """
    columns = np.full(fields, -1, np.int32)
    columns[places] = np.arange(len(places))
    return columns


def fields(block: Block, columns: Int32, tally: Tally | None = None) -> tuple[Int64, Int64, Int32]:
    """Return where the wanted fields of a block begin and end, and which lines are no rows.

    Of the `columns` that `wanted` gives, starts and stops are (lines, wanted fields); the third is
    NO_ROW for a line that is no row, else 0. `tally` takes those of other numbers of fields.
    """
    n = count_byte(block.buffer, block.size, block.end)
    starts, stops = np.zeros((2, n, int(columns.max()) + 1), np.int64)
    users = np.empty(n, np.int32)
    _delimited.cut(
        block.buffer,
        block.size,
        block.separator,
        block.end,
        block.width,
        columns,
        starts,
        stops,
        users,
        Tally() if tally is None else tally,
    )
    return starts, stops, users


def spans(block: Block, held: int, places: Sequence[int]) -> tuple[Int64, Int64]:
    """Return where some of the `held` fields of each row of a block begin and end, (rows, some)."""
    starts, stops, users = fields(block, wanted(held, places))
    rows = users != NO_ROW
    return starts[rows], stops[rows]


def secret() -> UInt64:
    """Return a secret for `keys`, (2,), drawn at random."""
    return np.frombuffer(bytearray(secrets.token_bytes(16)), np.uint64)


def keys(buffer: Bytes, starts: Int64, stops: Int64, secret: UInt64) -> UInt64:
    """Return the key of each field, (n, 2), made with a secret."""
    keys = np.empty((len(starts), 2), np.uint64)
    _delimited.keys(buffer, starts, stops, secret, keys)
    return keys


@dataclass(frozen=True)
class Survey:
    """What is odd in lines, which are counted from 0."""

    returns: int  # carriage returns that no end of a line follows
    nuls: list[int]  # lines that hold NULs
    undecodable: list[tuple[int, str]]  # lines that are no UTF-8, and the first such byte


def survey(buffer: Bytes, size: int, end: int) -> Survey:
    """Look at the first `size` bytes, whole lines that each end with the byte `end`."""
    text, returns, lines = buffer[:size], 0, list[bytes]()
    has_returns, has_nuls, beyond_ascii = odd_bytes(buffer, size)
    if has_returns:
        returns = int(np.count_nonzero((text == _RETURN) & (buffer[1 : size + 1] != _LINE)))
    if has_nuls or (beyond_ascii and _undecodable(text.tobytes())):
        lines = text.tobytes().split(bytes([end]))
    odd = ((number, _undecodable(line)) for number, line in enumerate(lines))
    return Survey(
        returns,
        [number for number, line in enumerate(lines) if b"\0" in line],
        [(number, what) for number, what in odd if what],
    )


def _undecodable(line: bytes) -> str:
    """Return which byte is no UTF-8, and where; nothing where all are."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1}, 0x{line[error.start]:02X}"
    return ""


_AHEAD = 3
"""Blocks that wait while one is worked on."""


class Blocks(Protocol):
    """What blocks are read from, as from a `Reader`."""

    header_lines: int
    ends: bool

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order."""

    def give_back(self, block: Block) -> None:
        """Let a block's buffer be used again."""


def in_order(reader: Blocks, work: Callable[[Block], Result]) -> Iterator[Result]:
    """Yield what `work` makes of each block, in order: threads work on a few at a time.

    A block's buffer is used again as soon as the next is asked for.
    """
    waiting: deque[tuple[Block, Future[Result]]] = deque()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for block in chain(reader.blocks(), [None] * _AHEAD):
            if block is not None:
                waiting.append((block, pool.submit(work, block)))
            if waiting and (block is None or len(waiting) > _AHEAD):
                done, future = waiting.popleft()
                yield future.result()
                reader.give_back(done)
