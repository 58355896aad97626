"""Compiled steps over the bytes of a file: find a separator, turn an id into a key, look it up.

Eight bytes are looked at in one step, as one number. A buffer therefore ends in `PAD` bytes that
may be read but mean nothing.

The key of an id is two 64-bit sums over its bytes, of which 96 bits are compared. That any two of
ten million different ids agree in them has a chance of about 10⁻¹⁵.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compiled import Intrinsic, compiled

PAD = 8
"""Bytes behind the last that may be read."""

_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_LOW = np.uint64(0xFFFFFFFF)
_32, _29, _8, _1, _0 = (np.uint64(n) for n in (32, 29, 8, 1, 0))


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


@compiled
def _mixed(first: Any, second: Any, eight: Any) -> tuple[Any, Any]:
    first = (first ^ eight) * _FIRST
    second = (second + eight) * _SECOND
    return first ^ (first >> _32), second ^ (second >> _29)


@compiled
def key(buffer: Any, start: int, stop: int) -> tuple[Any, Any]:
    """Return the key of the bytes from `start` to `stop`."""
    first, second = np.uint64(stop - start), _SECOND
    at = start
    while at + 8 <= stop:
        first, second = _mixed(first, second, _eight(buffer, at))
        at += 8
    if at < stop:
        rest = (_1 << (_8 * np.uint64(stop - at))) - _1
        first, second = _mixed(first, second, _eight(buffer, at) & rest)
    return _mixed(first, second, _0)  # type: ignore[no-any-return]


@compiled
def look_up(first: Any, second: Any, table: Any) -> int:
    """Return the code of a key, −1 where it is not known.

    A row of the table holds the first sum, and the upper half of the second beside code + 1; 0, 0
    is free. One row is one access to memory.
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
