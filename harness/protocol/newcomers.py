"""Who is new in the second table of a given split, and alike to somebody in the first.

Ids are texts: with a space behind its id a user is somebody else. Users are divided by their ids,
so that two who are alike may be in two parts. A part tells keys of ids, hashes of their forms:
first those of ids that are not their own form, as one of two that are alike always is; then, of all
ids, those among these keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from harness.core.alike import AT, FORM, HEAD, KEPT, LENGTH, MEANT, Forms, Meanings
from harness.core.arrays import Bool, Int64
from harness.core.errors import counted, visible
from harness.core.exact_sum import Sums, Total
from harness.core.random import id_hashes
from harness.data.dataset import Dataset, Events

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEW, KNOWN = "new", "known"
_KEY, _OF_FORM = "key", "of form"
_KEYS = 1 << 62
Sides: TypeAlias = Mapping[str, pl.Series]
"""Ids that are `NEW` in the second table, and those `KNOWN` from the first."""


class Newcomers(NamedTuple):
    """How many new ids are alike to known ones; the first of them, and the one it is like."""

    number: int = 0
    first: str = ""
    known: str = ""

    def notes(self, noun: str) -> tuple[str, ...]:
        """Return what a run says of them; nothing where there are none."""
        if self.number == 0:
            return ()
        new = "is new, and looks" if self.number == 1 else "are new, and look"
        return (
            f"{counted(self.number, noun)} of [split] valid {new} like {noun}s of [data] events, "
            f'such as "{visible(self.first)}" like "{visible(self.known)}": ids are text, so '
            f"these are different {noun}s; use one spelling",
        )


def sides_of(ids: pl.Series, known: Bool, active: Bool) -> Sides:
    """Return the ids that have validation events alone, and those that have training events."""
    return {NEW: ids.filter(pl.Series(active & ~known)), KNOWN: ids.filter(pl.Series(known))}


def users_of(data: Dataset, train: Events, valid: Events) -> Sides:
    """Return the users of both tables."""
    n = len(data.user_ids)
    known, active = (np.diff(events.user_starts(n)) > 0 for events in (train, valid))
    return sides_of(data.user_ids, known, active)


def newcomers(sides: Sides) -> Newcomers:
    """Return the new ids that are alike to known ones, where all are in one place."""
    new = sides[NEW]
    alike = Meanings(sides[KNOWN]).of(new)
    if len(alike) == 0:
        return Newcomers()
    pairs = pl.DataFrame({NEW: new.gather(alike[AT]), KNOWN: alike[MEANT]})
    first, known = pairs.sort(NEW).row(0)
    return Newcomers(len(alike), first, known)


def odd_keys(sides: Sides) -> Sums:
    """Return the keys of ids that are not their own form, and how many digits exponents keep."""
    odd, kept = [], set[int]()
    for ids in sides.values():
        forms = Forms.of(ids)
        odd.append(forms.plain.filter(forms.plain[FORM] != ids.gather(forms.plain[AT]))[FORM])
        kept |= {*forms.exponents[KEPT]}
    return {
        "odd": _set_of(_hashed(pl.concat(odd))),
        "kept": {digits: np.array([1]) for digits in sorted(kept)},
    }


def newcomers_of_parts(
    odd: Mapping[str, Any], sides: Callable[[Dataset], Sides], total: Total[Dataset]
) -> Newcomers:
    """Return the same where the users are in parts.

    Parameters
    ----------
    odd : mapping
        What `odd_keys` returns, of all parts.
    sides : callable
        Returns the users of a part.
    """
    keys, kept = odd["odd"].indices, tuple(odd["kept"])
    if len(keys) == 0 and not kept:
        return Newcomers()
    sums: Any = total(partial(_shared, sides, keys, kept))
    both = np.intersect1d(sums[NEW].indices, sums[KNOWN].indices)
    if len(both) == 0:
        return Newcomers()
    sums = total(partial(_matched, sides, both, kept))
    number, first = int(sums["number"][0]), min(sums["first"])
    sums = total(partial(_like, sides, first))
    return Newcomers(number, first, min(sums["like"]))


def _shared(
    sides: Callable[[Dataset], Sides], odd: Int64, kept: Collection[int], part: Dataset
) -> Sums:
    """Return the keys of both sides; those of forms only where they are among the odd."""
    shared = {}
    for side, ids in sides(part).items():
        keys = _keys(ids, kept, side)
        shared[side] = _set_of(keys.filter(~pl.col(_OF_FORM) | pl.col(_KEY).is_in(odd))[_KEY])
    return shared


def _matched(
    sides: Callable[[Dataset], Sides], both: Int64, kept: Collection[int], part: Dataset
) -> Sums:
    """Return how many new ids have a key of both sides, and the first of them."""
    ids = sides(part)[NEW]
    matched = ids.gather(_keys(ids, kept, NEW).filter(pl.col(_KEY).is_in(both))[AT].unique())
    first: Sums = {matched.min(): np.array([1])} if len(matched) > 0 else {}
    return {"number": np.array([len(matched)]), "first": first}


def _like(sides: Callable[[Dataset], Sides], first: str, part: Dataset) -> Sums:
    """Return the first known id that an id is alike to."""
    pair = newcomers({NEW: pl.Series([first]), KNOWN: sides(part)[KNOWN]})
    like: Sums = {pair.known: np.array([1])} if pair.number > 0 else {}
    return {"like": like}


def _keys(ids: pl.Series, kept: Collection[int], side: str) -> pl.DataFrame:
    """Return a row a key, with the place of its id, and whether it is of a form."""
    # The keys of one side's exponents are those of the other side's numbers, rounded alike.
    forms = Forms.of(ids)
    rounded = {True: [forms.exponents], False: [forms.rounded(digits) for digits in kept]}
    texts = [forms.plain.select(AT, FORM, pl.lit(True).alias(_OF_FORM))]
    for are_exponents, frames in rounded.items():
        whose = pl.lit(NEW if are_exponents == (side == NEW) else KNOWN)
        text = pl.concat_str(whose, KEPT, HEAD, LENGTH, separator=" ").alias(FORM)
        texts += [frame.select(AT, text, pl.lit(False).alias(_OF_FORM)) for frame in frames]
    keys = pl.concat(texts)
    return keys.with_columns(_hashed(keys[FORM]).alias(_KEY))


def _hashed(texts: pl.Series) -> pl.Series:
    return pl.Series((id_hashes(texts) % np.uint64(_KEYS)).astype(np.int64))


def _set_of(keys: pl.Series) -> csr_array[Any]:
    """Return distinct keys as the columns of a row, which add up."""
    from scipy.sparse import csr_array  # slow to import

    columns = np.unique(keys.to_numpy())
    data = np.ones(len(columns), np.int64), columns, np.array([0, len(columns)])
    return csr_array(data, shape=(1, _KEYS))
