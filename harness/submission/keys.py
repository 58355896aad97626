"""Ids in a file's bytes: where one ends, its key, and the code of a key that is known.

Eight bytes are looked at in one step, as one number. A buffer therefore ends in `PAD` bytes that
may be read but mean nothing.

The key of an id is its SipHash-1-3 (Aumasson and Bernstein, 2012), as Python has it, with a secret
that is drawn at random for each table of ids: nobody can write ids that share a key, or a slot of
the table, and no result depends on it. With those 64 bits 32 more of the same state are compared:
that any two of ten million different ids agree in all has a chance of about 10⁻¹⁵.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.core.arrays import Bool, Bytes, Int32, Int64, UInt64
from harness.core.ids import KeyTable, look_up
from harness.core.jit import Intrinsic, compiled

if TYPE_CHECKING:
    import polars as pl

PAD = 8
"""Bytes behind the last that may be read."""

_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_8, _1, _0 = (np.uint64(n) for n in (8, 1, 0))
_INITIAL = tuple(
    np.uint64(int.from_bytes(text, "big"))
    for text in (b"somepseu", b"dorandom", b"lygenera", b"tedbytes")
)
_FINAL = np.uint64(0xFF)


def _load_eight(_context: Any, buffer: Any, _at: Any) -> Any:
    """Return the code of `_eight`."""
    from llvmlite import ir
    from numba import types

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, given[0])
        place = builder.gep(array.data, [given[1]])
        number = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        number.align = 1
        return number

    return types.uint64(buffer, types.int64), code


_eight: Any = Intrinsic(_load_eight)
"""Returns the eight bytes at a place of a buffer as one number, the first of them lowest."""


def _count_zeros(_context: Any, _number: Any) -> Any:
    """Return the code of `_zeros_below`."""
    from llvmlite import ir
    from numba import types

    def code(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), code


_zeros_below: Any = Intrinsic(_count_zeros)
"""Returns how many zero bits stand below a number's lowest one."""


@compiled
def _is_zero(eight: Any) -> Any:
    """Return a mark in the lowest byte that is zero, and perhaps in higher ones."""
    return (eight - _ONES) & ~eight & _HIGH


@compiled
def find(buffer: Any, start: int, stop: int, wanted: Any) -> int:
    """Return the first place from `start` that holds the byte `wanted`, or `stop`."""
    eight_wanted = np.uint64(wanted) * _ONES
    at = start
    while at < stop:
        marks = _is_zero(_eight(buffer, at) ^ eight_wanted)
        if marks != _0:
            return min(stop, at + (_zeros_below(marks) >> 3))  # type: ignore[no-any-return]
        at += 8
    return stop


@compiled
def behind_last(buffer: Any, start: int, stop: int, wanted: Any) -> int:
    """Return the place behind the last byte `wanted` from `start` on; 0 without one."""
    at = stop
    while at > start:
        if buffer[at - 1] == wanted:
            return at
        at -= 1
    return 0


@compiled
def find_either(buffer: Any, start: int, stop: int, one: Any, other: Any) -> int:
    """Return the first place from `start` that holds one of two bytes, or `stop`."""
    eight_one, eight_other = np.uint64(one) * _ONES, np.uint64(other) * _ONES
    at = start
    while at < stop:
        eight = _eight(buffer, at)
        marks = _is_zero(eight ^ eight_one) | _is_zero(eight ^ eight_other)
        if marks != _0:
            return min(stop, at + (_zeros_below(marks) >> 3))  # type: ignore[no-any-return]
        at += 8
    return stop


def secret() -> UInt64:
    """Return a secret for `key`, (2,), drawn at random."""
    return np.frombuffer(bytearray(secrets.token_bytes(16)), np.uint64)


@compiled
def _left(number: Any, bits: int) -> Any:
    """Return a number with its bits moved to the left, those that fall off at the right."""
    return number << np.uint64(bits) | number >> np.uint64(64 - bits)


@compiled
def _round(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any, Any, Any]:
    a, c = a + b, c + d
    b, d = _left(b, 13) ^ a, _left(d, 16) ^ c
    a, c = _left(a, 32) + d, c + b
    return a, _left(b, 17) ^ c, _left(c, 32), _left(d, 21) ^ a


@compiled
def _taken(a: Any, b: Any, c: Any, d: Any, eight: Any) -> tuple[Any, Any, Any, Any]:
    """Take eight bytes into the state."""
    a, b, c, d = _round(a, b, c, d ^ eight)
    return a ^ eight, b, c, d


@compiled
def key(buffer: Any, start: int, stop: int, secret: Any) -> tuple[Any, Any]:
    """Return the key of the bytes from `start` to `stop`: SipHash-1-3, and more of its state.

    Parameters
    ----------
    secret : uint64 array, (2,)
        Keys are compared only with those made with the same.
    """
    a, b = secret[0] ^ _INITIAL[0], secret[1] ^ _INITIAL[1]
    c, d = secret[0] ^ _INITIAL[2], secret[1] ^ _INITIAL[3]
    at, last = start, np.uint64(stop - start) << np.uint64(56)
    while at + 8 <= stop:
        a, b, c, d = _taken(a, b, c, d, _eight(buffer, at))
        at += 8
    if at < stop:
        last |= _eight(buffer, at) & ((_1 << (_8 * np.uint64(stop - at))) - _1)
    a, b, c, d = _taken(a, b, c, d, last)
    a, b, c, d = _round(*_round(*_round(a, b, c ^ _FINAL, d)))
    return a ^ b ^ c ^ d, a ^ c


class KnownArrays(NamedTuple):
    """What `Known` says, for compiled code."""

    table: UInt64
    secret: UInt64
    size: int
    complete: bool
    digits: bool
    width: int
    telling: bool


@dataclass(frozen=True, eq=False)
class Known:
    """Ids and their codes, 0, 1, 2 … in the order they were given.

    Attributes
    ----------
    table : uint64 array, (rows, 2)
        Keys and codes, as `look_up` reads it.
    secret : uint64 array, (2,)
        What the keys are made with.
    size : int
        How many ids there are.
    complete : bool
        Whether there are no others, so that an id that is not here is wrong.
    digits : bool
        Whether all are numbers.
    width : int
        How many bytes all have; 0 where they differ.
    telling : bool
        Whether so many are known that all others must look like them.
    """

    table: UInt64
    secret: UInt64
    size: int
    complete: bool
    digits: bool
    width: int
    telling: bool = True

    def __len__(self) -> int:
        return self.size

    @property
    def arrays(self) -> KnownArrays:
        """The same for compiled code."""
        return KnownArrays(**vars(self))

    def write(self, folder: Path) -> dict[str, Any]:
        """Keep these ids in a folder; return what is noted with it."""
        np.save(folder / "table.npy", self.table, allow_pickle=False)
        np.save(folder / "secret.npy", self.secret, allow_pickle=False)
        names = ("size", "complete", "digits", "width")
        return {name: int(getattr(self, name)) for name in names}

    @classmethod
    def read(cls, folder: Path, notes: dict[str, Any]) -> Known:
        """Return what `write` has kept; the table is mapped, and changes to it stay in memory."""
        table = np.load(folder / "table.npy", mmap_mode="c", allow_pickle=False)
        own = np.load(folder / "secret.npy", allow_pickle=False)
        traits = bool(notes["complete"]), bool(notes["digits"]), notes["width"]
        return cls(np.asarray(table), own, notes["size"], *traits)

    def more(self, ids: pl.Series) -> Known:
        """Return the same and others; digits and width stay what they are, if there were any."""
        if bool(self.has(ids).all()):
            return self
        learning = Learning(known=self)
        learning.add(*packed(ids))
        more = learning.known(complete=self.complete)
        return more if len(self) == 0 else replace(more, digits=self.digits, width=self.width)

    def has(self, ids: pl.Series) -> Bool:
        """Return which ids are known."""
        return self.codes(*packed(ids)) >= 0

    def codes(self, buffer: Bytes, starts: Int64, stops: Int64) -> Int32:
        """Return the code of each id that stands in a buffer, −1 where it is not known."""
        codes = np.empty(len(starts), np.int32)
        _look_up(buffer, starts, stops, self.table, self.secret, codes)
        return codes


class Learning:
    """Ids that are told one part after another."""

    def __init__(self, known: Known | None = None) -> None:
        self._table = KeyTable() if known is None else KeyTable(known.table.copy(), len(known))
        self._secret = secret() if known is None else known.secret
        self._digits, self._width = True, -1

    def add(self, buffer: Bytes, starts: Int64, stops: Int64) -> Int32:
        """Return the codes of ids that stand in a buffer, which may be known already.

        Parameters
        ----------
        buffer : uint8 array
            With PAD bytes behind the last id.
        starts, stops : int64 arrays, (n,)
            First byte, and the byte behind the last.
        """
        keys = np.empty((len(starts), 2), np.uint64)
        digits, width = _keys(buffer, starts, stops, self._secret, keys, self._width)
        self._digits, self._width = self._digits and bool(digits), int(width)
        return self._table.codes(keys)

    def known(self, *, complete: bool) -> Known:
        """Return what has been told."""
        table = self._table
        some = len(table) > 0
        width = max(self._width, 0)
        digits = some and self._digits
        return Known(table.rows, self._secret, len(table), complete, digits, width)


@compiled
def _look_up(buffer: Any, starts: Any, stops: Any, table: Any, secret: Any, codes: Any) -> None:
    for at in range(len(starts)):
        first, second = key(buffer, starts[at], stops[at], secret)
        codes[at] = look_up(first, second, table)


@compiled
def _keys(
    buffer: Any, starts: Any, stops: Any, secret: Any, keys: Any, width: int
) -> tuple[bool, int]:
    """Work out keys; return whether all are numbers, and how long all are (0: they differ)."""
    digits = True
    for at in range(len(starts)):
        start, stop = starts[at], stops[at]
        keys[at, 0], keys[at, 1] = key(buffer, start, stop, secret)
        width = stop - start if width < 0 or width == stop - start else 0
        for place in range(start, stop):
            digits &= 48 <= buffer[place] <= 57
    return digits, width


def nothing() -> Known:
    """Return no ids: nobody says which there are."""
    return Known(KeyTable().rows, secret(), 0, False, False, 0)


def learnt(ids: pl.Series) -> Known:
    """Return ids as all that there are."""
    learning = Learning()
    learning.add(*packed(ids))
    return learning.known(complete=True)


def packed(ids: pl.Series) -> tuple[Bytes, Int64, Int64]:
    """Return texts one behind the other, PAD bytes behind the last, and where each stands."""
    lengths = ids.str.len_bytes().to_numpy().astype(np.int64)
    stops = np.cumsum(lengths)
    return padded("".join(ids.to_list()).encode()), stops - lengths, stops


def padded(text: bytes) -> Bytes:
    """Return bytes with PAD bytes behind the last, as a buffer like those that files fill."""
    buffer = np.zeros(len(text) + PAD, np.uint8)
    buffer[: len(text)] = np.frombuffer(text, np.uint8)
    return buffer
