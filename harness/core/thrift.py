"""The compact protocol of Apache Thrift, as far as Parquet's own notes are written in it.

What is read may be hostile: nothing is believed, and no more is held than the bytes that are there.
A value of another type than the one expected is refused, since readers that do not look at types
would take the rest of the bytes for something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = Any
"""What stands in a field: INT, BYTE, BOOL, DOUBLE or TEXT, a list of one of them, or a Struct."""
Struct = Mapping[int, Spec]
"""Fields by number; others are passed over."""

BOOL, BYTE, INT, DOUBLE, TEXT = (1, 2), (3,), (4, 5, 6), (7,), (8,)
_LIST, _MAP, _STRUCT = (9, 10), (11,), (12,)
_DEEPEST = 16
_UNKNOWN, _UNKNOWN_SHARE = 1_000, 16
"""Values of which nothing is known: so many, and one more for so many bytes."""
_WIDTHS = {7: 8, 13: 16}
"""Bytes of doubles and of UUIDs."""


class ThriftError(ValueError):
    """Bytes that are not what they should be."""


class EndError(ThriftError):
    """The bytes end before the value does."""


def read(data: bytes, struct: Struct) -> tuple[dict[int, Any], int]:
    """Return the fields of the struct that `data` begins with, and how many bytes it has.

    Raises
    ------
    ThriftError
        It is none, a field stands twice, or holds another type.
    """
    reader = _Reader(data)
    return reader.struct(struct, 0), reader.at


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.unknown = _UNKNOWN + len(data) // _UNKNOWN_SHARE

    def struct(self, spec: Struct, depth: int) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ThriftError("its notes are nested too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self.bytes(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.integer()
            if number in fields:
                raise ThriftError("its notes say a thing twice")
            fields[number] = self.value(head & 15, spec.get(number), depth, alone=True)
        return fields

    def value(self, kind: int, spec: Spec, depth: int, *, alone: bool = False) -> Any:
        """Return a value of the type `kind`; `alone`: it is that of a field, and of no list."""
        if spec is not None and kind not in _kinds(spec):
            raise ThriftError("its notes hold another type than they should")
        self.unknown -= spec is None
        if self.unknown < 0:
            raise ThriftError("its notes hold too much that is not known")
        if kind in BOOL:
            return kind == BOOL[0] if alone else self.bytes(1)
        if kind in INT:
            return self.integer()
        if kind in BYTE:
            return self.bytes(1)
        if kind in TEXT:
            return self.bytes(self.varint())
        if kind in _WIDTHS:
            return self.bytes(_WIDTHS[kind])
        return self.nested(kind, spec, depth + 1)

    def nested(self, kind: int, spec: Spec, depth: int) -> Any:
        if kind in _LIST:
            return self.list(None if spec is None else spec[0], depth)
        if kind in _STRUCT:
            return self.struct(spec or {}, depth)
        if kind in _MAP:
            return self.map(depth)
        raise ThriftError("its notes hold a type that is none")

    def list(self, spec: Spec, depth: int) -> list[Any]:
        if depth > _DEEPEST:
            raise ThriftError("its notes are nested too deep")
        head = self.bytes(1)[0]
        count = self.count(self.varint() if head >> 4 == 15 else head >> 4)
        return [self.value(head & 15, spec, depth) for _ in range(count)]

    def map(self, depth: int) -> None:
        count = self.count(self.varint())
        kinds = self.bytes(1)[0] if count else 0
        if depth > _DEEPEST:
            raise ThriftError("its notes are nested too deep")
        for _ in range(count):
            self.value(kinds >> 4, None, depth)
            self.value(kinds & 15, None, depth)

    def count(self, count: int) -> int:
        """Return a number of values, each of which has a byte at least."""
        if count > len(self.data) - self.at:
            raise EndError("its notes end too soon")
        return count

    def integer(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def varint(self) -> int:
        number = shift = 0
        while True:
            byte = self.bytes(1)[0]
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 63:
                raise ThriftError("its notes hold a number without an end")
        if number >= 1 << 64:
            raise ThriftError("its notes hold a number that is too large")
        return number

    def bytes(self, count: int) -> bytes:
        start, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise EndError("its notes end too soon")
        return self.data[start : self.at]


def _kinds(spec: Spec) -> tuple[int, ...]:
    if isinstance(spec, tuple):
        return spec
    return _LIST[:1] if isinstance(spec, list) else _STRUCT
