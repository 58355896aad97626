"""What folds of given files hold out: it may overlap, be the same, or have ids written otherwise.

Windows of a time split cannot overlap, and people may well do the same every week.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from harness.config import Config, GivenSplit
from harness.core.alike import AT, FORM, Forms
from harness.core.errors import UsageError, counted, visible
from harness.protocol.evaluation_set import EvaluationSet
from harness.results.folder import FOLD
from harness.results.tables import frames_of


class HeldOut:
    """What the folds of a config hold out, as far as they are known.

    Attributes
    ----------
    overlaps : list of str
        A note on every two folds that hold out the same items of the same users.
    """

    def __init__(self, config: Config) -> None:
        self._given = isinstance(config.split, GivenSplit) and config.n_folds > 1
        self._pairs: list[pl.DataFrame] = []
        self._users: list[pl.DataFrame] = []
        self.overlaps: list[str] = []

    def add(self, of: EvaluationSet) -> None:
        """Add the next fold.

        Raises
        ------
        UsageError
            It holds out what an earlier one does: it would count as news, and says nothing new.
        """
        if not self._given:
            return
        users = of.user_ids.gather(np.repeat(np.arange(len(of.users)), of.truth.sizes))
        items = of.candidate_ids.gather(of.truth.indices)
        pairs = pl.DataFrame({"user": users, "item": items})
        for number, other in enumerate(self._pairs, 1):
            both = len(other.join(pairs, on=other.columns, how="semi"))
            if both == len(other) == len(pairs) > 0:
                raise UsageError(
                    f"[split] valid: its file holds out the same items of the same users as that "
                    f"of fold {number}; name files of different events, or leave one out"
                )
            if both:
                self.overlaps.append(
                    f"folds {number} and {len(self._pairs) + 1} overlap: {both:,} of the "
                    f"{counted(len(other), 'true item')} of fold {number} "
                    f"{'is' if both == 1 else 'are'} true in both"
                )
        self._pairs.append(pairs)
        self._users.append(pl.DataFrame({"user": of.user_ids.cast(pl.String)}))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is odd about the folds together."""
        return (*self.overlaps, *(_written_otherwise(self._users) if self._given else ()))


def _written_otherwise(folds: Sequence[pl.DataFrame]) -> Iterator[str]:
    """Yield a note where users of two folds have ids that are alike."""
    users = frames_of(folds).with_row_index(AT)
    plain = Forms.of(users["user"]).plain.rename({FORM: "plain"})
    # Where one file has both, they are two users.
    apart = pl.col("user").n_unique().over("plain", FOLD) == 1
    alike = (
        users.join(plain, on=AT, maintain_order="left")
        .filter(apart)
        .unique(["plain", "user"], keep="first", maintain_order=True)
        .filter(pl.len().over("plain") > 1)
        .sort("plain", maintain_order=True)
    )
    if len(alike):
        first = alike.head(2).select("user", FOLD).iter_rows()
        examples = (f'"{visible(user)}" of fold {n}' for user, n in first)
        yield (
            f"{counted(alike['plain'].n_unique(), 'user')} may be written in two ways, such as "
            f"{' and '.join(examples)}: ids are texts, so these are different users; write them "
            "alike"
        )
