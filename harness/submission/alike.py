"""Ids of a submission that are not known, and alike to one that is (`harness.core.alike`).

The scan of a block says which ids may be. They are compared here with those that are known. Where
any is alike, the block is scanned once more, with these as aliases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.core.arrays import Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited.blocks import Block
from harness.submission import _keys, faults
from harness.submission._keys import Aliases, Strangers
from harness.submission._repair import SURE
from harness.submission.keys import Known, packed

if TYPE_CHECKING:
    import polars as pl

    from harness.core.alike import Meanings

_NOTHING = KeyTable().rows, np.zeros(0, np.int32), np.zeros(0, np.int64), *packed([])
NO_ALIASES = Aliases(*_NOTHING)
_MOST_KEPT = 1 << 20
"""Ids that are remembered as alike to none, as items come again in each block."""
_AT_ONCE = 1 << 16
"""Ids that are compared at once."""
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


class Meant(NamedTuple):
    """What an id means that is not known.

    Attributes
    ----------
    id : str
        The known id that it is alike to, of several the first by its text.
    others : int
        How many more there are.
    certain : bool
        Whether it can be mended.
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
        As `Meanings.of` takes it.

    Attributes
    ----------
    none : Aliases
        No aliases; with the forms of known ids as soon as these are asked for.
    """

    def __init__(self, known: Known, *, of_users: bool, joined: bool) -> None:
        self._known, self._of_users, self._joined = known, of_users, joined
        self._lock, self._unlike = Lock(), KeyTable()
        self._meanings: Meanings | None = None
        self._forms: UInt64 | None = None
        self.none = NO_ALIASES

    def aliases(self, block: Block, strangers: Strangers) -> Aliases | None:
        """Return the strangers of a block that are alike to known ids, if any are."""
        parts = list(self._parts(block, strangers))
        if not any(len(found) for _, found in parts):
            return None
        import polars as pl  # slow to import

        found, table = pl.concat([found for _, found in parts]), KeyTable()
        table.codes(np.concatenate([keys for keys, _ in parts]))
        buffer, starts, stops = packed(found["meant"])
        codes = np.where(found["count"] == 1, self._known.codes(buffer, starts, stops), -1)
        stops = np.where(found["certain"], stops, starts)
        marks = found["marks"].to_numpy()
        own = table.rows, codes.astype(np.int32), marks, buffer, starts, stops
        return Aliases(*own, forms=self._forms)

    def meant(self, texts: Sequence[str]) -> Mapping[str, Meant]:
        """Return what texts mean, if any text was compared before."""
        if self._meanings is None:
            return {}
        rows = self._compared(texts).select("at", "meant", "count", "certain").iter_rows()
        return {texts[at]: Meant(meant, count - 1, certain) for at, meant, count, certain in rows}

    def _parts(self, block: Block, strangers: Strangers) -> Iterator[tuple[UInt64, pl.DataFrame]]:
        """Yield the keys of strangers that are alike to known ids, and what they mean."""
        rows = self._unmet(strangers.keys)
        for start in range(0, len(rows), _AT_ONCE):
            own = rows[start : start + _AT_ONCE]
            texts = block.texts(*strangers.spans[own].T)
            found = self._compared([text.decode("utf-8", "replace") for text in texts])
            are_alike = np.zeros(len(own), np.bool_)
            are_alike[found["at"].to_numpy()] = True
            self._keep_unlike(strangers.keys[own[~are_alike]])
            yield strangers.keys[own[are_alike]], found

    def _compared(self, texts: Sequence[str]) -> pl.DataFrame:
        """Return which texts are alike to known ids, in their order.

        Returns
        -------
        polars.DataFrame
            What `Meanings.of` returns, ``marks`` of what is wrong, 1 << fault, and whether what is
            meant is ``certain``.
        """
        import polars as pl

        from harness.core.alike import CASE, EXPONENT, damage

        with self._lock:
            meanings = self._meanings = self._meanings or self._made()
        ids = pl.Series(texts, dtype=pl.String)
        found = meanings.of(ids, joined=self._joined)
        found = found.filter(~ids.gather(found["at"]).str.contains(_UNREADABLE, literal=True))
        own = ids.gather(found["at"])
        happened = damage(own, found["meant"])
        # Digits that an exponent has lost are lost. Where others may be, an item may be another
        # one, and so may a short id in another case.
        certain = (found["count"] == 1) & (happened != EXPONENT)
        if not self._known.complete:
            certain &= (happened != CASE) | (own.str.len_bytes() >= SURE)
            certain &= self._of_users
        return found.with_columns(self._marks(happened).alias("marks"), certain.alias("certain"))

    def _made(self) -> Meanings:
        """Return what ids mean, by all known ids, which are read again."""
        from harness.core.alike import Meanings

        found = Meanings(_texts_of(self._known))
        if found.forms is not None:
            self._forms = self._known.more(found.forms).table
            self.none = Aliases(*_NOTHING, forms=self._forms)
        return found

    def _marks(self, happened: pl.Series) -> pl.Series:
        """Return what is wrong with ids, 1 << fault, by what happened to them."""
        import polars as pl

        from harness.core.alike import DECIMAL, EXPONENT, QUOTES, SPACES, ZEROS

        of, other = dict[str, int](), faults.ALIKE
        if self._of_users:
            of, other = {SPACES: faults.PADDED_ID}, faults.MANGLED_ID
        elif self._known.complete:
            of = {EXPONENT: faults.EXPONENT, DECIMAL: faults.DECIMAL, QUOTES: faults.BRACKETS}
            of, other = of | {ZEROS: faults.ZEROS_LOST}, faults.RESPELLED
        marks = {name: 1 << fault for name, fault in of.items()}
        return happened.replace_strict(marks, default=1 << other, return_dtype=pl.Int64)

    def _unmet(self, keys: UInt64) -> Int64:
        """Return the first row of each key, but for ids that are alike to none."""
        _, first = np.unique(KeyTable().codes(keys), return_index=True)
        held = np.zeros(len(first), np.uint8)
        with self._lock:  # nobody adds to the table meanwhile
            _keys.held(keys[first], self._unlike.rows, held)
        unmet: Int64 = first[held == 0]
        return unmet

    def _keep_unlike(self, keys: UInt64) -> None:
        with self._lock:
            if len(self._unlike) > _MOST_KEPT:
                self._unlike = KeyTable()
            self._unlike.codes(keys)


def _texts_of(known: Known) -> pl.Series:
    """Return known ids, each once."""
    import polars as pl

    parts = (pl.Series("id", part, dtype=pl.String) for texts in known.texts for part in texts())
    return pl.concat([pl.Series("id", [], pl.String), *parts]).unique()
