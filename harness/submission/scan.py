"""The one pass over a block of lines: users and lists as codes, and everything wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from harness.core.arrays import Bool, Int32, Int64, UInt64
from harness.delimited import fields
from harness.delimited._lines import NO_ROW
from harness.delimited.blocks import Block
from harness.delimited.tally import Tally
from harness.submission import _items, _scan, faults
from harness.submission._keys import Aliases, Strangers
from harness.submission._scan import LIST, STRANGER, USER
from harness.submission.alike import NO_ALIASES, Alike
from harness.submission.format import Format
from harness.submission.header import Header
from harness.submission.keys import Known

GROUP = 0x1D
"""What stands between items where a space may stand within one."""


@dataclass(frozen=True)
class Form:
    """How lines are cut.

    Attributes
    ----------
    fields : int
        How many a row has.
    user, items : int
        Which of them are looked at, from 0.
    between : int
        The byte between items.
    width : int
        Positions that a list may have.
    order : int, optional
        The field with ranks or scores.
    long : bool
        Whether a row holds one item, and all rows are kept.
    letters, length : bytes and int
        What ids of unknown users are written with, and how many bytes they have; empty and 0 where
        anything goes.
    """

    fields: int
    user: int
    items: int
    between: int
    width: int = 1 << 31
    order: int | None = None
    long: bool = False
    letters: bytes = b""
    length: int = 0

    @classmethod
    def of(cls, head: Header, places: dict[str, int], wanted: Format) -> Form:
        """Return how a file of this header and format is cut; `places` are those of the columns."""
        form = cls(
            fields=len(head.columns),
            user=places[wanted.user],
            items=places[wanted.items],
            between=ord(wanted.between),
            letters=wanted.letters.encode(),
            length=wanted.length,
        )
        if wanted.long:
            order = places[wanted.order] if wanted.order else None
            return replace(form, order=order, long=True)
        return form if wanted.k is None else replace(form, width=wanted.k)

    def between_in(self, block: Block) -> int:
        """Return the byte between items of a block; where a row holds one, a byte no field has."""
        return block.end if self.long else self.between

    @property
    def in_ids(self) -> Bool:
        """Whether each byte may stand in the id of an unknown user, (256,)."""
        letters = np.full(256, not self.letters)
        letters[list(self.letters)] = True
        return letters

    @property
    def wanted(self) -> Int32:
        """The columns of fields: first the user, then the list, then what orders it."""
        order = () if self.order is None else (self.order,)
        return fields.wanted(self.fields, self.user, self.items, *order)


@dataclass(frozen=True, eq=False)
class Expected:
    """What is known beforehand.

    Attributes
    ----------
    users, items : Known
    answered : int32 array, one a known user
        The user's row in the solution, −1 without one.
    kept : int
        Positions of a list that are kept.
    user_alike, item_alike : Alike, optional
        What ids mean that are not known; None where nobody asks.
    """

    users: Known
    items: Known
    answered: Int32
    kept: int
    user_alike: Alike | None = None
    item_alike: Alike | None = None

    @classmethod
    def of(cls, users: Known, items: Known, answered: Int32, kept: int, wanted: Format) -> Expected:
        """Return the same with what ids mean that are not known, unless they are to be exact."""
        # In a list a space of any kind may stand between items.
        joined = wanted.long or wanted.between != " "
        of_users = None if users.exact else Alike(users, of_users=True, joined=True)
        of_items = None if items.exact else Alike(items, of_users=False, joined=joined)
        return cls(users, items, answered, kept, of_users, of_items)


class Lists(NamedTuple):
    """Lists that are kept.

    Attributes
    ----------
    rows : int32 array
        The row of the truth that each belongs to.
    ends : int64 array
        Where each ends in `items`.
    items : int32 array
        Codes; one that is not known has the number of known items + its first rank in the list.
    """

    rows: Int32
    ends: Int64
    items: Int32


@dataclass(frozen=True, eq=False)
class Scanned:
    """What a block holds.

    Attributes
    ----------
    users : int32 array, (lines,)
        Code of the user, −1 unknown, NO_ROW where there is no row.
    keys : uint64 array, (lines, 2)
        Keys of the users' ids.
    list_keys : uint64 array, (lines,)
        Keys of the lists as they stand, but of lines that are no rows.
    starts, stops : int64 array, (lines, 2)
        Where the user's id and the list of each line stand.
    tally : Tally
        Faults.
    lists : Lists
        Those that are kept; where a row holds one item, each belongs to a line of the block.
    first_sum, n_same : int
        A sum over the first of all lists, and how many have the same.
    sound : bool array, (lines,)
        Whether the list is that of the known user.
    torn : int32 array
        Known users of lines that are no rows: they are not missing.
    user_aliases, item_aliases : Aliases
        Ids that are not known and alike to one that is.
    """

    users: Int32
    keys: UInt64
    list_keys: UInt64
    starts: Int64
    stops: Int64
    tally: Tally
    lists: Lists
    first_sum: int
    n_same: int
    sound: Bool
    torn: Int32
    user_aliases: Aliases
    item_aliases: Aliases

    def spans(self, lines: Int64, column: int) -> Int64:
        """Return some lines, and where their fields of a column begin and end, (n, 3)."""
        return np.stack((lines, self.starts[lines, column], self.stops[lines, column]), axis=1)


def scan(block: Block, form: Form, expected: Expected) -> Scanned:
    """Read whole fields; once more where ids turn out to be alike to known ones."""
    of_users, of_items = expected.user_alike, expected.item_alike
    no_users = NO_ALIASES if of_users is None else of_users.none
    no_items = NO_ALIASES if of_items is None else of_items.none
    strangers = Strangers(), Strangers()
    found = _scanned(block, form, expected, no_users, no_items, *strangers)
    users = None if of_users is None else of_users.aliases(block, strangers[0])
    items = None if of_items is None else of_items.aliases(block, strangers[1])
    if users is None and items is None:
        return found
    return _scanned(block, form, expected, users or no_users, items or no_items, *strangers)


def _scanned(
    block: Block,
    form: Form,
    expected: Expected,
    user_aliases: Aliases,
    item_aliases: Aliases,
    strange_users: Strangers,
    strange_items: Strangers,
) -> Scanned:
    """Read whole fields; take ids that may be alike to known ones."""
    buffer, tally = block.buffer, Tally(faults.COUNT)
    starts, stops, codes = fields.fields(block, form.wanted, tally)
    n = len(codes)
    keys, sound = np.empty((n, 2), np.uint64), np.zeros(n, np.bool_)
    list_keys = np.empty(n, np.uint64)
    users, items = expected.users.ids, expected.items.ids
    known = users, user_aliases, form.in_ids, form.length
    _scan.read_users(buffer, starts, stops, *known, codes, keys, sound, strange_users, tally)
    broken = np.flatnonzero((codes == NO_ROW) & (starts[:, USER] < stops[:, USER]))
    torn = expected.users.codes(buffer, starts[broken, USER], stops[broken, USER])
    wanted = np.full(n, -1, np.int32)
    if form.long:
        wanted[codes >= STRANGER] = np.flatnonzero(codes >= STRANGER)
    else:
        wanted[sound] = expected.answered[codes[sound]]
    most = int((stops[:, LIST] - starts[:, LIST])[wanted >= 0].sum()) // 2 + n
    lists = Lists(np.empty(n, np.int32), np.empty(n, np.int64), np.empty(most, np.int32))
    given = starts, stops, codes, wanted, form.between_in(block), form.width, expected.kept
    known_items = items, item_aliases, strange_items
    found = _items.read_items(buffer, *given, *known_items, tally, *lists, list_keys)
    n_lists, n_items, first_sum, n_same = found
    return Scanned(
        users=codes,
        keys=keys,
        list_keys=list_keys,
        starts=starts,
        stops=stops,
        tally=tally,
        lists=Lists(lists.rows[:n_lists], lists.ends[:n_lists], lists.items[:n_items]),
        first_sum=first_sum,
        n_same=n_same,
        sound=sound,
        torn=torn[torn >= 0],
        user_aliases=user_aliases,
        item_aliases=item_aliases,
    )
