"""Ids in a file's bytes: where one ends, its key, and the code of a key that is known.

Up to 64 bytes are looked at in one step. A buffer therefore ends in `PAD` bytes that may be read
but mean nothing.

The key of an id is its SipHash-1-3 (Aumasson and Bernstein, 2012), as Python has it, with a secret
that is drawn at random for each table of ids: nobody can write ids that share a key, or a slot of
the table, and no result depends on it. With those 64 bits 32 more of the same state are compared:
that any two of ten million different ids agree in all has a chance of about 10⁻¹⁵.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness.core.arrays import Bool, Bytes, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited import blocks
from harness.delimited.blocks import padded
from harness.submission import _kernels

if TYPE_CHECKING:
    import polars as pl

    Texts: TypeAlias = pl.Series | Sequence[str] | Sequence[bytes]


@dataclass(frozen=True, eq=False)
class Known:
    """Ids and their codes, 0, 1, 2 … in the order they were given.

    `table`, (rows, 2), has keys, made with `secret`, and codes, as `KeyTable` holds them. If
    `complete`, there are no others, so that an id that is not here is wrong; if `exact`, such an id
    is another one, however alike; if `telling`, so many are known that all others must look like
    them.

    `digits`: all are numbers; `width`: how many bytes all have, and `length`: those that `more`
    added among them (0: they differ); `lower` and `upper`: any holds a letter a–z, and A–Z, as no
    id can be known in that case else; `zeros`: any is a number with a zero in front; `odd`: the
    form of any (`harness.core.alike`) may be plain ASCII, and differ from the id in more than case
    and zeros. `texts` return the ids again, some at a time: they are asked for where one may be
    alike.
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
    zeros: bool = False
    odd: bool = False
    length: int = 0
    exact: bool = False
    texts: tuple[Callable[[], Iterable[Texts]], ...] = ()

    def __len__(self) -> int:
        return self.size

    @property
    def exactly(self) -> Known:
        """The same where ids are compared letter by letter, whatever they look like."""
        return replace(self, digits=False, width=0, telling=False, exact=True)

    def write(self, folder: Path) -> dict[str, Any]:
        """Keep these ids in a folder; return what is noted with it."""
        np.save(folder / "table.npy", self.table, allow_pickle=False)
        np.save(folder / "secret.npy", self.secret, allow_pickle=False)
        return {name: int(getattr(self, name)) for name in ("size", *_LENGTHS, *_TRAITS)}

    @classmethod
    def read(cls, folder: Path, notes: dict[str, Any]) -> Known:
        """Return what `write` has kept; the table is mapped, and changes to it stay in memory."""
        table = np.load(folder / "table.npy", mmap_mode="c", allow_pickle=False)
        secret = np.load(folder / "secret.npy", allow_pickle=False)
        traits: dict[str, Any] = {name: bool(notes[name]) for name in _TRAITS}
        traits |= {name: notes[name] for name in _LENGTHS}
        return cls(np.asarray(table), secret, notes["size"], **traits)

    def more(self, ids: Texts) -> Known:
        """Return the same and others; digits and width stay what they are, if there were any."""
        if bool(self.has(ids).all()):
            return self
        learning = Learning(known=self)
        learning.add(*packed(ids))
        texts = (*self.texts, lambda: [ids])
        more = replace(learning.known(complete=self.complete), texts=texts)
        if len(self) > 0:
            more = replace(more, digits=self.digits, width=self.width)
        return more.exactly if self.exact else more

    def has(self, ids: Texts) -> Bool:
        """Return which ids are known."""
        return self.codes_of(ids) >= 0

    def codes_of(self, ids: Texts) -> Int32:
        """Return the code of each id, −1 where it is not known."""
        return self.codes(*packed(ids))

    def named(self, codes: Int64) -> list[bytes]:
        """Return the ids of some codes; all are read again, as far as they are needed."""
        names, is_asked = dict[int, bytes](), np.zeros(len(self), np.bool_)
        is_asked[codes] = True
        for ids in chain.from_iterable(read() for read in self.texts):
            known = self.codes_of(ids)
            for row in np.flatnonzero((known >= 0) & is_asked[known]).tolist():
                text = ids[row]
                name = text.encode() if isinstance(text, str) else text
                names.setdefault(int(known[row]), name)
            if len(names) == len(codes):
                break
        return [names[code] for code in codes.tolist()]

    def codes(self, buffer: Bytes, starts: Int64, stops: Int64) -> Int32:
        """Return the code of each id that stands in a buffer, −1 where it is not known."""
        starts, stops = np.ascontiguousarray(starts), np.ascontiguousarray(stops)
        codes = np.empty(len(starts), np.int32)
        _kernels.codes(buffer, starts, stops, _kernels.Ids(self), codes)
        return codes


_LENGTHS = ("width", "length")
_TRAITS = ("complete", "digits", "lower", "upper", "zeros", "odd")


class Learning:
    """Ids that are told one part after another, beside those that are `known` before."""

    def __init__(self, known: Known | None = None) -> None:
        self._known = nothing() if known is None else known
        self._table = KeyTable(self._known.table.copy(), len(self._known))
        self._secret = self._known.secret
        self._digits, self._width = True, -1
        self._lower, self._upper = self._known.lower, self._known.upper
        self._zeros, self._odd = self._known.zeros, self._known.odd

    def add(self, buffer: Bytes, starts: Int64, stops: Int64) -> Int32:
        """Return the codes of ids that stand in a buffer, which may be known already.

        PAD bytes stand behind the last id; `starts` and `stops` are first bytes, and those behind
        the last.
        """
        starts, stops = np.ascontiguousarray(starts), np.ascontiguousarray(stops)
        digits, self._width, lower, upper, zeros, odd = _kernels.looks(
            buffer, starts, stops, self._width
        )
        self._digits = self._digits and digits
        self._lower, self._upper = self._lower or lower, self._upper or upper
        self._zeros, self._odd = self._zeros or zeros, self._odd or odd
        return self._table.codes(blocks.keys(buffer, starts, stops, self._secret))

    def known(self, *, complete: bool) -> Known:
        """Return what has been told."""
        table, width, before = self._table, max(self._width, 0), self._known
        return Known(
            table=table.rows,
            secret=self._secret,
            size=len(table),
            complete=complete,
            digits=len(table) > 0 and self._digits,
            width=width,
            lower=self._lower,
            upper=self._upper,
            zeros=self._zeros,
            odd=self._odd,
            length=width if len(before) == 0 or before.length == width else 0,
        )


def nothing() -> Known:
    """Return no ids: nobody says which there are."""
    return Known(
        KeyTable().rows,
        blocks.secret(),
        size=0,
        complete=False,
        digits=False,
        width=0,
        lower=False,
        upper=False,
    )


def learnt(ids: Texts) -> Known:
    """Return ids as all that there are."""
    learning = Learning()
    learning.add(*packed(ids))
    return replace(learning.known(complete=True), texts=(lambda: [ids],))


def packed(ids: Texts) -> tuple[Bytes, Int64, Int64]:
    """Return texts one behind the other, PAD bytes behind the last, and where each stands."""
    if isinstance(ids, Sequence):
        parts = [text.encode() if isinstance(text, str) else text for text in ids]
        whole, lengths = b"".join(parts), np.array([len(text) for text in parts], np.int64)
    else:
        whole = ids.str.join("").item().encode()
        lengths = ids.str.len_bytes().to_numpy().astype(np.int64)
    stops = np.cumsum(lengths)
    return padded(whole), stops - lengths, stops


def first_met(table: KeyTable, keys: UInt64) -> Bool:
    """Return which keys, (n, 2), are met for the first time; `table` takes them."""
    before = len(table)
    codes = table.codes(keys)
    highest = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1]
    return codes > highest
