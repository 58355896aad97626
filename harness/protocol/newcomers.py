"""Who is new in the second table of a given split, and alike to somebody in the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from harness.core.alike import AT, FORM, MEANT, Forms, Meanings
from harness.core.arrays import Bool
from harness.core.errors import counted, visible
from harness.core.exact_sum import Distinct, Sums, Total
from harness.data.dataset import Dataset, Events

NEW, KNOWN = "new", "known"
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


def odd_forms(sides: Sides) -> Sums:
    """Return the forms of ids that are not their own form, and how many ids are exponents."""
    every = pl.concat([ids.rename("id") for ids in sides.values()])
    forms = Forms.of(every)
    odd = forms.plain.filter(forms.plain[FORM] != every.gather(forms.plain[AT]))[FORM]
    return {"forms": Distinct(odd.unique()), "exponents": np.array([len(forms.exponents)])}


def newcomers_of_parts(
    odd: Mapping[str, Any], sides: Callable[[Dataset], Sides], total: Total[Dataset]
) -> Newcomers:
    """Return the same where the users are in parts.

    Of two ids that are alike, one is not its own form, or is an exponent: only ids with such forms
    are brought together, and numbers where there are exponents. `odd` is the sum of the `odd_forms`
    of all parts, and `sides` returns the users of a part.
    """
    forms, has_exponents = odd["forms"].values, odd["exponents"][0] > 0
    if len(forms) == 0 and not has_exponents:
        return Newcomers()
    shared: Any = total(lambda part: _sharing(sides(part), forms, has_exponents))
    return newcomers({side: shared[side].values for side in (NEW, KNOWN)})


def _sharing(sides: Sides, odd: pl.Series, has_exponents: bool) -> Sums:
    """Return the ids of both sides that may be alike to others."""
    shared = {}
    for side, ids in sides.items():
        forms = Forms.of(ids)
        rows = [forms.plain.filter(pl.col(FORM).is_in(odd.implode()))[AT]]
        if has_exponents:
            rows += [forms.numbers[AT], forms.exponents[AT]]
        shared[side] = Distinct(ids.gather(pl.concat(rows).unique()))
    return shared
