"""Precomputed recommendations: a file of lists instead of a model."""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.config.paths import paths_of
from harness.core.arrays import Int32, Ragged
from harness.core.errors import DataError, UsageError, counted
from harness.core.given import is_given, shown
from harness.metrics import Judgments
from harness.models.base import Draws, Train
from harness.models.recommendations import EMPTY, Recommendations
from harness.models.topk import extend

if TYPE_CHECKING:
    from harness.config import Config
    from harness.experiment.submitted_lists import SubmittedLists
    from harness.protocol.evaluation_set import EvaluationSet
    from harness.submission.validate import Examined


class PrecomputedLists:
    """The lists of a file or frame: as they stand for users (`on`), and as a base model of others.

    They are evaluated as ``harness score FILE --config CONFIG`` reads them: what is no candidate,
    or stands twice, uses its position and never hits. A base model must answer as every recommender
    does, so there such items are passed over and the next ones move up.

    Raises
    ------
    UsageError
        There is no such file.
    """

    def __init__(self, name: str, config: Config) -> None:
        lists = next(model.lists for model in config.models if model.name == name)
        last = paths_of(lists or "")[-1]
        self.name, self.config, self.path = name, config, config.folder / last
        self.frame = config.given.frames.get(last)
        there = is_given(last)  # where it is not held, the lists of an earlier run may be at hand
        with suppress(OSError):  # a name that is too long
            there = there or self.path.is_file()
        if not there:
            start = "the config file" if config.is_file else "the current folder"
            raise UsageError(f'model "{name}": no file {self.path}; paths start at {start}')

    def fit(self, train: Train) -> Self:
        """Read the lists of all users; nothing is learnt."""
        found = self.on(train.user_ids, train.candidate_ids, train.item_ids, None)
        self.lists_ = np.where(found.items < len(train.candidates), found.items, EMPTY)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the first `k` candidates of each user's list that `exclude` allows."""
        return extend(np.full((len(users), k), EMPTY, np.int32), self.lists_[users], exclude)

    def on(
        self, users: pl.Series, candidates: pl.Series, items: pl.Series, k: int | None
    ) -> Recommendations:
        """Return the lists of users as they stand, with an id for every item that `items` has.

        Parameters
        ----------
        users, candidates, items : polars.Series of str
            Who is asked for, the items that may be recommended, and all there are.
        k : int, optional
            Positions of a list; all by default.

        Raises
        ------
        SubmissionError
            The file has errors.
        DataError
            It has none of the users.
        """
        found, warnings = self._read(users, candidates, k)
        if found.whole.max(initial=EMPTY) >= len(found.items):  # read for their ids once more
            others = items.filter(~items.is_in(candidates.implode())).alias(candidates.name)
            found, _ = self._read(users, pl.concat([candidates, others]), k, force=True)
        whole = np.ascontiguousarray(found.whole[:, :k])
        strange = found.items[len(candidates) :].cast(pl.String)
        nobodys = int(whole.max(initial=EMPTY)) + 1 - len(found.items)
        strange = strange.extend_constant(None, max(nobodys, 0))
        return Recommendations(whole, strange, warnings)

    def _read(
        self, users: pl.Series, items: pl.Series, k: int | None, *, force: bool = False
    ) -> tuple[SubmittedLists, tuple[str, ...]]:
        """Return the file's lists, and what is odd; `force`: whatever errors are found in them."""
        # Slow to import, and for files alone.
        from harness.experiment.submissions import SubmissionError, lists_of_validated
        from harness.experiment.terms import Terms
        from harness.protocol.truth import Solution
        from harness.submission.validate import examine

        # Reading asks for no truth: nothing is scored here.
        nothing = Ragged(np.zeros(len(users) + 1, np.int64), np.zeros(0, np.int32))
        solution = Solution(users, items, Judgments(nothing, nothing.sizes), k=k)
        against = Terms(self.config).against().scored_by(solution)
        if self.frame is None and is_given(self.path.name):
            raise UsageError(
                f"{shown(self.path.name)}: were given in Python, and no file holds them; write "
                "them to one, and name it in place of this"
            )
        given = self.path if self.frame is None else self.frame
        found = examine(given, against, solution, places=k)
        if not found.validation.valid and not force:
            refusal = "these lists have errors; mend them"
            if self.config.is_file:
                typed = ["harness", "validate", str(self.path), "--config", self.config.file]
                refusal += f", or see all of them: {shlex.join(typed)}"
            raise SubmissionError(found.validation, refusal, f'model "{self.name}": ')
        try:
            return lists_of_validated(given, found, solution, k), _warnings(found)
        except DataError as error:
            raise DataError(f'model "{self.name}": {error}') from error


def odd(name: str, found: Recommendations, evaluation_set: EvaluationSet) -> tuple[str, ...]:
    """Return notes on a file's lists: users without one, and items that are no candidates."""
    without = int((found.items < 0).all(axis=1).sum())
    strange = int((found.items >= len(evaluation_set.candidates)).sum())
    users = "evaluated user has no list, and scores 0", "evaluated users have no list, and score 0"
    positions = (
        "position holds an item that is no candidate, and cannot hit",
        "positions hold items that are no candidates, and cannot hit",
    )
    counts = [counted(n, *words) for n, words in ((without, users), (strange, positions)) if n > 0]
    return tuple(f'model "{name}": {told}' for told in (*counts, *found.warnings))


_OF_ITEMS = ("SUB303", "SUB315", "SUB316", "SUB319", "SUB320")
"""Warnings of rules after which an item may be another, or stand elsewhere, than was meant."""


def _warnings(found: Examined) -> tuple[str, ...]:
    """Return what is odd about items and their places, as `harness score` says it."""
    words = {"SUB301": "a row has no item"} if found.against.long else {}
    return tuple(
        f"{p.code} {words.get(p.code, p.message)}" + (f" (× {p.count:,})" if p.count > 1 else "")
        for p in found.validation.problems
        if p.code in _OF_ITEMS or p.code in words
    )
