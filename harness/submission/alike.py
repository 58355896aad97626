"""Ids of a submission that are not known, and alike to one that is (`harness.core.alike`).

The scan of a block says which ids may be. They are compared here with those that are known. Where
any is alike, the block is scanned once more, with these as aliases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.core.arrays import Int64, Ragged, UInt64
from harness.core.ids import KeyTable
from harness.delimited.blocks import Block
from harness.submission import _keys, faults
from harness.submission._keys import Aliases, Strangers
from harness.submission._repair import SURE
from harness.submission.keys import Known, Learning, packed

if TYPE_CHECKING:
    import polars as pl

    from harness.core.alike import Forms

NO_ALIASES = Aliases(KeyTable().rows, np.zeros(0, np.int32), np.zeros(0, np.int64), *packed([]))
_STRANGER, _MEANT, _COUNT, _CERTAIN = "stranger", "meant", "count", "certain"
_MOST_KEPT = 1 << 20
"""Ids that are remembered as alike to none, as items come again in each block."""
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


class Meant(NamedTuple):
    """A known id that another is alike to: of several the first by its text.

    Attributes
    ----------
    others : int
        How many more there are.
    certain : bool
        Whether the other can be mended.
    """

    id: str
    others: int
    certain: bool


class Alike:
    """What ids of a column mean that are not known.

    Parameters
    ----------
    known : Known
    of_users : bool
        Whether it is the column of users, else that of items.
    joined : bool
        As `Forms.of` takes it, for ids that are not known.
    """

    def __init__(self, known: Known, *, of_users: bool, joined: bool) -> None:
        self._known, self._of_users, self._joined = known, of_users, joined
        self._lock, self._unlike = Lock(), KeyTable()
        self._index: _Index | None = None

    def aliases(self, block: Block, strangers: Strangers) -> Aliases | None:
        """Return the strangers of a block that are alike to known ids, if any are."""
        keys = strangers.keys
        rows = self._unmet(keys)
        if len(rows) == 0:
            return None
        texts = [text.decode("utf-8", "replace") for text in block.texts(*strangers.spans[rows].T)]
        found, marks = self._compared(texts)
        are_alike = np.zeros(len(rows), np.bool_)
        are_alike[found[_STRANGER].to_numpy()] = True
        self._keep_unlike(keys[rows[~are_alike]])
        if len(found) == 0:
            return None
        table = KeyTable()
        table.codes(keys[rows[are_alike]])
        buffer, starts, stops = packed(found[_MEANT])
        codes = np.where(found[_COUNT] == 1, self._known.codes(buffer, starts, stops), -1)
        stops = np.where(found[_CERTAIN], stops, starts)
        return Aliases(table.rows, codes.astype(np.int32), marks, buffer, starts, stops)

    def meant(self, texts: Sequence[str]) -> Mapping[str, Meant]:
        """Return the known ids that texts are alike to, if any text was compared before."""
        if self._index is None:
            return {}
        found, _ = self._compared(texts)
        rows = found.select(_STRANGER, _MEANT, _COUNT, _CERTAIN).iter_rows()
        return {texts[at]: Meant(meant, count - 1, certain) for at, meant, count, certain in rows}

    def _compared(self, texts: Sequence[str]) -> tuple[pl.DataFrame, Int64]:
        """Return which texts are alike to known ids, in their order, and the marks of each."""
        import polars as pl  # slow to import

        from harness.core.alike import ONE, OTHER, Forms, alike, damage

        with self._lock:
            index = self._index = self._index or _Index(self._known)
        some = Forms.of(pl.Series(texts, dtype=pl.String), joined=self._joined)
        pairs = alike(some, index.near(some))
        read = ~some.ids.gather(pairs[ONE]).str.contains(_UNREADABLE, literal=True)
        found = (
            pairs.with_columns(index.forms.ids.gather(pairs[OTHER]).alias(_MEANT))
            .filter(read)
            .group_by(pl.col(ONE).alias(_STRANGER))
            .agg(pl.col(_MEANT).min(), pl.len().alias(_COUNT))
            .sort(_STRANGER)
        )
        own = some.ids.gather(found[_STRANGER])
        happened = damage(own, found[_MEANT])
        certain = (found[_COUNT] == 1) & self._is_certain(happened, own)
        return found.with_columns(certain.alias(_CERTAIN)), self._marks(happened)

    def _is_certain(self, happened: pl.Series, ids: pl.Series) -> pl.Series:
        """Return which ids that are alike to one known id alone can be mended.

        Digits that an exponent has lost are lost. Where others may be, an item may be another one,
        and so may a short id in another case.
        """
        from harness.core.alike import CASE, EXPONENT

        whole = happened != EXPONENT
        if self._known.complete:
            return whole
        long = (happened != CASE) | (ids.str.len_bytes() >= SURE)
        return whole & long & self._of_users

    def _marks(self, happened: pl.Series) -> Int64:
        """Return what is wrong with ids, 1 << fault."""
        import polars as pl

        from harness.core.alike import DECIMAL, EXPONENT, QUOTES, SPACES, ZEROS

        if self._of_users:
            of, other = {SPACES: faults.PADDED_ID}, faults.MANGLED_ID
        elif self._known.complete:
            of, other = (
                {
                    EXPONENT: faults.EXPONENT,
                    DECIMAL: faults.DECIMAL,
                    QUOTES: faults.BRACKETS,
                    ZEROS: faults.ZEROS_LOST,
                },
                faults.RESPELLED,
            )
        else:
            of, other = {}, faults.ALIKE
        found = happened.replace_strict(of, default=other, return_dtype=pl.Int64)
        marks: Int64 = np.left_shift(1, found.to_numpy())
        return marks

    def _unmet(self, keys: UInt64) -> Int64:
        """Return the first row of each key, but for ids that are alike to none."""
        _, first = np.unique(KeyTable().codes(keys), return_index=True)
        rows = np.sort(first)
        held = np.zeros(len(rows), np.uint8)
        with self._lock:  # nobody adds to the table meanwhile
            _keys.held(keys[rows], self._unlike.rows, held)
        unmet: Int64 = rows[held == 0]
        return unmet

    def _keep_unlike(self, keys: UInt64) -> None:
        with self._lock:
            if len(self._unlike) > _MOST_KEPT:
                self._unlike = KeyTable()
            self._unlike.codes(keys)


class _Index:
    """Known ids by their forms.

    Attributes
    ----------
    forms : Forms
    """

    def __init__(self, known: Known) -> None:
        import polars as pl

        from harness.core.alike import FORM, Forms

        parts = [pl.Series(part, dtype=pl.String) for texts in known.texts for part in texts()]
        ids = pl.concat([pl.Series(dtype=pl.String), *(part.rename("") for part in parts)]).unique()
        self.forms, learning = Forms.of(ids), Learning()
        codes = learning.add(*packed(self.forms.plain[FORM]))
        self._codes = learning.known(complete=True)
        ends = np.cumsum(np.bincount(codes, minlength=len(self._codes)))
        order = np.argsort(codes, kind="stable").astype(np.int32)
        self._rows = Ragged(np.concatenate(([0], ends)), order)

    def near(self, some: Forms) -> Forms:
        """Return those that share a form with one of some."""
        from harness.core.alike import FORM

        codes = np.unique(self._codes.codes(*packed(some.plain[FORM])))
        rows = self._rows.gather(codes[codes >= 0]).indices
        return replace(self.forms, plain=self.forms.plain[rows])
