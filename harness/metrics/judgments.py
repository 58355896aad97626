"""What a metric's formula reads: lists, judgments, and what is known of the items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Bool, Counts, Floats, Int32, Int64, Ragged
from harness.metrics.kernels import Tally, ranks, tally

if TYPE_CHECKING:
    from harness.models.item_stats import Catalogue


@dataclass(frozen=True, eq=False)
class Judgments:
    """What each user's list is scored against.

    `truth` has the positions of the true items that have one, and `relevant` R of each user: all
    true items. Where there are `grades`, above 0, they are those of the entries of
    ``truth.indices``, and `outside_grades` those of the true items without a position, user by
    user; else every grade is 1. `kinds` are the event types that a competition asks each user for:
    a type's weight, and which rows are of it.
    """

    truth: Ragged
    relevant: Counts
    grades: Floats | None = None
    outside_grades: Floats | None = None
    catalogue: Catalogue | None = None
    kinds: tuple[tuple[float, Bool], ...] = ()

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each event type; 1 where there are none."""
        return tuple(weight for weight, _ in self.kinds) or (1.0,)

    def rows(self, start: int, stop: int) -> Judgments:
        """Return the judgments of the users from `start` to `stop`, or to the last."""
        stop = min(stop, len(self.truth))
        ends = self.truth.indptr[[start, stop]]
        grades = None if self.grades is None else self.grades[ends[0] : ends[1]]
        outside = self.outside_grades
        if outside is not None:
            first, behind = self._outside_ends[[start, stop]]
            outside = outside[first:behind]
        rows = self.truth.rows(start, stop)
        kinds = tuple((weight, is_kind[start:stop]) for weight, is_kind in self.kinds)
        relevant = self.relevant[start:stop]
        return Judgments(rows, relevant, grades, outside, self.catalogue, kinds)

    def pick(self, keep: Bool) -> Judgments:
        """Return the judgments of the users whom `keep` selects, in their order."""
        grades = None if self.grades is None else self.grades[np.repeat(keep, self.truth.sizes)]
        outside = self.outside_grades
        if outside is not None:
            outside = outside[np.repeat(keep, np.diff(self._outside_ends))]
        kinds = tuple((weight, is_kind[keep]) for weight, is_kind in self.kinds)
        rows, relevant = self.truth.gather(np.flatnonzero(keep)), self.relevant[keep]
        return Judgments(rows, relevant, grades, outside, self.catalogue, kinds)

    @cached_property
    def _outside_ends(self) -> Int64:
        """Where each user's true items without a position begin among those of all, and the end."""
        return np.append(0, np.cumsum(self.relevant - self.truth.sizes))

    @cached_property
    def all_grades(self) -> tuple[Int64, Floats]:
        """The grades of all true items, and whose each is."""
        users = np.arange(len(self.truth))
        known, grades = np.repeat(users, self.truth.sizes), self.grades
        assert grades is not None, "needed for grades"  # noqa: S101
        if self.outside_grades is None:
            return known, grades
        unknown = np.repeat(users, np.diff(self._outside_ends))
        return np.append(known, unknown), np.append(grades, self.outside_grades)


@dataclass(frozen=True, eq=False)
class Block:
    """Lists of n users at one cut-off, (n, K), best first, −1 = empty, and their judgments."""

    items: Int32
    judgments: Judgments
    k: int

    def __len__(self) -> int:
        return len(self.items)

    @property
    def lists(self) -> Int32:
        """The first k positions, (n, min(k, K))."""
        return self.items[:, : self.k]

    @cached_property
    def tally(self) -> Tally:
        """Hits, their ranks and their sums for each list."""
        return tally(self.items, self.judgments.truth, self.k, self.judgments.relevant)

    @cached_property
    def found(self) -> Found:
        """Every hit, by user and rank."""
        truth = self.judgments.truth
        rank = ranks(self.items, truth, self.k)
        user = np.repeat(np.arange(len(self)), truth.sizes)
        entry = np.flatnonzero(rank)
        entry = entry[np.lexsort((rank[entry], user[entry]))]
        return Found(user[entry], rank[entry], entry)

    def sum_by_user(self, user: Int64, values: Floats) -> Floats:
        """Return the sum of each user's values, added in the order they stand, (n,)."""
        return np.bincount(user, values, minlength=len(self)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Found:
    """Hits, one entry each: whose, at which rank, and which entry of ``truth.indices``."""

    user: Int64
    rank: Int32
    entry: Int64
