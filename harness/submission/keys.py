"""Ids in a file's bytes: where one ends, its key, and the code of a key that is known.

Up to 64 bytes are looked at in one step. A buffer therefore ends in `PAD` bytes that may be read
but mean nothing.

The key of an id is its SipHash-1-3 (Aumasson and Bernstein, 2012), as Python has it, with a secret
that is drawn at random for each table of ids: nobody can write ids that share a key, or a slot of
the table, and no result depends on it. With those 64 bits 32 more of the same state are compared:
that any two of ten million different ids agree in all has a chance of about 10⁻¹⁵.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness.core.arrays import Bool, Bytes, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited import _bytes, fields
from harness.delimited.blocks import padded
from harness.submission import _keys
from harness.submission._keys import Ids

if TYPE_CHECKING:
    import polars as pl

    Texts: TypeAlias = pl.Series | Sequence[str]


@dataclass(frozen=True, eq=False)
class Known:
    """Ids and their codes, 0, 1, 2 … in the order they were given.

    Attributes
    ----------
    table : uint64 array, (rows, 2)
        Keys and codes, as `KeyTable` holds them.
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
    lower, upper : bool
        Whether any holds a letter a–f, and A–F: no id can be known in that case else.
    telling : bool
        Whether so many are known that all others must look like them.
    """

    table: UInt64
    secret: UInt64
    size: int
    complete: bool
    digits: bool
    width: int
    lower: bool
    upper: bool
    telling: bool = True

    def __len__(self) -> int:
        return self.size

    @property
    def ids(self) -> Ids:
        """The same for compiled code."""
        return Ids(**vars(self))

    def write(self, folder: Path) -> dict[str, Any]:
        """Keep these ids in a folder; return what is noted with it."""
        np.save(folder / "table.npy", self.table, allow_pickle=False)
        np.save(folder / "secret.npy", self.secret, allow_pickle=False)
        names = ("size", "complete", "digits", "width", "lower", "upper")
        return {name: int(getattr(self, name)) for name in names}

    @classmethod
    def read(cls, folder: Path, notes: dict[str, Any]) -> Known:
        """Return what `write` has kept; the table is mapped, and changes to it stay in memory."""
        table = np.load(folder / "table.npy", mmap_mode="c", allow_pickle=False)
        own = np.load(folder / "secret.npy", allow_pickle=False)
        traits = {name: bool(notes[name]) for name in ("complete", "digits", "lower", "upper")}
        return cls(np.asarray(table), own, notes["size"], width=notes["width"], **traits)

    def more(self, ids: Texts) -> Known:
        """Return the same and others; digits and width stay what they are, if there were any."""
        if bool(self.has(ids).all()):
            return self
        learning = Learning(known=self)
        learning.add(*packed(ids))
        more = learning.known(complete=self.complete)
        return more if len(self) == 0 else replace(more, digits=self.digits, width=self.width)

    def has(self, ids: Texts) -> Bool:
        """Return which ids are known."""
        return self.codes(*packed(ids)) >= 0

    def codes(self, buffer: Bytes, starts: Int64, stops: Int64) -> Int32:
        """Return the code of each id that stands in a buffer, −1 where it is not known."""
        codes = np.empty(len(starts), np.int32)
        _keys.codes(buffer, *map(np.ascontiguousarray, (starts, stops)), self.ids, codes)
        return codes


class Learning:
    """Ids that are told one part after another.

    Parameters
    ----------
    known : Known, optional
        Ids that are known before.
    """

    def __init__(self, known: Known | None = None) -> None:
        self._table = KeyTable() if known is None else KeyTable(known.table.copy(), len(known))
        self._secret = fields.secret() if known is None else known.secret
        self._digits, self._width = True, -1
        self._lower = known is not None and known.lower
        self._upper = known is not None and known.upper

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
        _bytes.keys(buffer, starts, stops, self._secret, keys)
        digits, self._width, lower, upper = _keys.looks(buffer, starts, stops, self._width)
        self._digits = self._digits and digits
        self._lower, self._upper = self._lower or lower, self._upper or upper
        return self._table.codes(keys)

    def known(self, *, complete: bool) -> Known:
        """Return what has been told."""
        table = self._table
        some = len(table) > 0
        width = max(self._width, 0)
        digits = some and self._digits
        traits = complete, digits, width, self._lower, self._upper
        return Known(table.rows, self._secret, len(table), *traits)


def nothing() -> Known:
    """Return no ids: nobody says which there are."""
    return Known(KeyTable().rows, fields.secret(), 0, *(False, False), 0, *(False, False))


def learnt(ids: Texts) -> Known:
    """Return ids as all that there are."""
    learning = Learning()
    learning.add(*packed(ids))
    return learning.known(complete=True)


def packed(ids: Texts) -> tuple[Bytes, Int64, Int64]:
    """Return texts one behind the other, PAD bytes behind the last, and where each stands."""
    if isinstance(ids, Sequence):
        text, lengths = "".join(ids), np.array([len(text.encode()) for text in ids], np.int64)
    else:
        text, lengths = ids.str.join("").item(), ids.str.len_bytes().to_numpy().astype(np.int64)
    stops = np.cumsum(lengths)
    return padded(text.encode()), stops - lengths, stops
