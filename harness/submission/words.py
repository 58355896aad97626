"""Compiled steps over the bytes of a file: find a separator, turn an id into a key, look it up.

Eight bytes are looked at in one step, as one number. A buffer therefore ends in `PAD` bytes that
may be read but mean nothing.

The key of an id is its SipHash-1-3 (Aumasson and Bernstein, 2012), as Python has it, with a secret
that is drawn at random for each table of ids: nobody can write ids that share a key, or a slot of
the table, and no result depends on it. With those 64 bits 32 more of the same state are compared:
that any two of ten million different ids agree in all has a chance of about 10⁻¹⁵.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from harness.arrays import UInt64
from harness.compiled import Intrinsic, compiled

PAD = 8
"""Bytes behind the last that may be read."""

_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_LOW = np.uint64(0xFFFFFFFF)
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
    return np.frombuffer(secrets.token_bytes(16), np.uint64)


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


@compiled
def look_up(first: Any, second: Any, table: Any) -> int:
    """Return the code of a key, −1 where it is not known.

    A row of the table holds the first half of a key, and 32 bits of the second beside code + 1;
    0, 0 is free. One row is one access to memory.
    """
    mask = np.uint64(len(table) - 1)
    slot = first & mask
    while True:
        held = table[slot, 1]
        if held == _0:
            return -1
        if table[slot, 0] == first and (held ^ second) <= _LOW:
            return int(held & _LOW) - 1
        slot = (slot + _1) & mask


@compiled
def give_slot(first: Any, second: Any, code: int, table: Any) -> None:
    """Give the code of a new key a row of the table; there must be a free one."""
    mask = np.uint64(len(table) - 1)
    slot = first & mask
    while table[slot, 1] != _0:
        slot = (slot + _1) & mask
    table[slot, 0] = first
    table[slot, 1] = (second & ~_LOW) | np.uint64(code + 1)
