"""Object files of Linux, as far as linking them safely needs: the names they leave to others."""

from __future__ import annotations

import struct

_MAGIC = b"\x7fELF\x02\x01"
"""64 bits, the lowest byte first."""
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOLS = 2


def undefined(content: bytes) -> list[str]:
    """Return the names that an object file uses and does not define.

    Source: Tool Interface Standard, Executable and Linking Format 1.2, in its form of 64 bits.

    Raises
    ------
    ValueError
        It is no such file.
    """
    if not content.startswith(_MAGIC):
        raise ValueError("is no object file of 64-bit Linux")
    try:
        start, size, count = _sections(content)
        tables = [_SECTION.unpack_from(content, start + size * n) for n in range(count)]
        found = []
        for _, kind, _, _, offset, length, names, *_ in tables:
            if kind == _SYMBOLS:
                found += _undefined(content, offset, length, tables[names][4])
    except (struct.error, IndexError) as error:
        raise ValueError(f"is a damaged object file ({error})") from error
    return found


def _sections(content: bytes) -> tuple[int, int, int]:
    """Return where the table of sections begins, the size of an entry, and how many there are."""
    (start,) = struct.unpack_from("<Q", content, 0x28)
    size, count = struct.unpack_from("<HH", content, 0x3A)
    return start, size, count


def _undefined(content: bytes, offset: int, length: int, names: int) -> list[str]:
    found = []
    for at in range(offset, offset + length, _SYMBOL.size):
        name, _, _, section, _, _ = _SYMBOL.unpack_from(content, at)
        if section == 0 and name > 0:
            end = content.index(b"\0", names + name)
            found.append(content[names + name : end].decode())
    return found
