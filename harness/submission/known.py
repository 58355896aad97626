"""Ids that are known beforehand: the users that must be there, the items that may be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.arrays import Bool, Bytes, Int32, Int64, UInt64
from harness.compiled import compiled
from harness.submission.key_table import KeyTable
from harness.submission.words import PAD, key, look_up, secret

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Known:
    """Ids and their codes, 0, 1, 2 … in the order they were given.

    Attributes
    ----------
    table : uint64 array, (rows, 2)
        Keys and codes, as `words.look_up` reads it.
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
    def arrays(self) -> tuple[UInt64, Int64, UInt64]:
        """For compiled code: table; complete, digits, width, size and telling; secret."""
        traits = [self.complete, self.digits, self.width, self.size, self.telling]
        return self.table, np.array(traits), self.secret

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
    text = "".join(ids.to_list()).encode() + bytes(PAD)
    return np.frombuffer(text, np.uint8), stops - lengths, stops
