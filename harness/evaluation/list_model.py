"""Precomputed recommendations: a file or frame of lists instead of a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.config.paths import paths_of
from harness.core.arrays import Int32, Ragged
from harness.core.errors import DataError, UsageError, counted
from harness.core.given import is_given, no_file
from harness.core.io import exists
from harness.metrics import Judgments
from harness.models.base import Draws, Train
from harness.models.recommendations import EMPTY, Recommendations
from harness.models.topk import extend

if TYPE_CHECKING:
    from harness.config import Config
    from harness.protocol.evaluation_set import EvaluationSet
    from harness.scoring.submissions import SubmittedLists

_OF_PLACES = ("SUB303", "SUB315", "SUB316", "SUB319", "SUB320")
"""Warnings after which an item may be another, or stand elsewhere, than was meant."""


class PrecomputedLists:
    """The lists of a file or frame: as they stand for users (`on`), and as a base model.

    They are evaluated as ``harness score FILE --config CONFIG`` reads them: what is no candidate,
    or stands twice, uses its position and never hits. A base model must answer as every recommender
    does, so there such items are passed over and the next ones move up.
    """

    def __init__(self, name: str, config: Config) -> None:
        file = paths_of(config.by_name[name].lists or "")[-1]
        self.name, self.config = name, config
        self.source: Path | pl.DataFrame = config.folder / file
        if is_given(file):
            if file not in config.given.frames:
                raise no_file(file, "write them as CSV or Parquet, and name that file")
            self.source = config.given.frames[file]
        elif not (exists(self.source) and self.source.is_file()):
            start = "the config's folder"
            if not config.is_file:
                start = 'the current folder; an import path is "my_model:MyModel"'
            raise UsageError(f'model "{name}": no file {self.source}; paths start at {start}')

    def fit(self, train: Train) -> Self:
        """Read the lists of all users; nothing is learnt."""
        items = self.on(train.user_ids, train.candidate_ids, train.item_ids, None).items
        self.lists_ = np.where(items < len(train.candidates), items, EMPTY)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the first `k` candidates of each user's list that `exclude` allows."""
        return extend(np.full((len(users), k), EMPTY, np.int32), self.lists_[users], exclude)

    def on(
        self, users: pl.Series, candidates: pl.Series, items: pl.Series, k: int | None
    ) -> Recommendations:
        """Return the lists of users as they stand, with an id for every item that `items` has."""
        lists, warnings = self._read(users, candidates, k)
        if lists.whole.max(initial=EMPTY) >= len(lists.items):  # read for their ids once more
            beyond = items.filter(~items.is_in(candidates.implode())).alias(candidates.name)
            lists, _ = self._read(users, pl.concat([candidates, beyond]), k, force=True)
        positions = np.ascontiguousarray(lists.whole[:, :k])
        unknown = int(positions.max(initial=EMPTY)) + 1 - len(lists.items)
        strange = lists.items[len(candidates) :].cast(pl.String)
        strange = strange.extend_constant(None, max(unknown, 0))
        return Recommendations(positions, strange, warnings)

    def _read(
        self, users: pl.Series, items: pl.Series, k: int | None, *, force: bool = False
    ) -> tuple[SubmittedLists, tuple[str, ...]]:
        """Return the lists and what is odd; with `force` whatever errors they have."""
        # Slow to import, and for files alone.
        from harness.protocol.truth import Solution
        from harness.scoring.submissions import SubmissionError, lists_of_validated
        from harness.scoring.terms import Terms
        from harness.submission.validate import examine

        # Reading asks for no truth: nothing is scored here.
        nothing = Ragged(np.zeros(len(users) + 1, np.int64), np.zeros(0, np.int32))
        solution = Solution(users, items, Judgments(nothing, nothing.sizes), k=k)
        against = Terms({"config": self.config}).against().scored_by(solution)
        examined = examine(self.source, against, solution, places=k)
        if not examined.validation.valid and not force:
            refusal = "these lists have errors; fix them"
            if self.config.is_file:
                command = ["harness", "validate", str(self.source), "--config", self.config.file]
                refusal += f", or see all of them: {shlex.join(command)}"
            raise SubmissionError(examined.validation, refusal, f'model "{self.name}": ')
        try:
            lists = lists_of_validated(examined, solution)
        except DataError as error:
            raise DataError(f'model "{self.name}": {error}') from error
        words = {"SUB301": "a row has no item"} if examined.against.long else {}
        return lists, tuple(
            f"{p.code} {words.get(p.code, p.message)}{f' (× {p.count:,})' if p.count > 1 else ''}"
            for p in examined.validation.problems
            if p.code in _OF_PLACES or p.code in words
        )


def odd(name: str, lists: Recommendations, evaluation_set: EvaluationSet) -> tuple[str, ...]:
    """Return notes on a file's lists: users without one, and items that are no candidates."""
    users = int((lists.items < 0).all(axis=1).sum())
    positions = int((lists.items >= len(evaluation_set.candidates)).sum())
    notes = []
    if users > 0:
        plural = "evaluated users have no list, so they score 0"
        notes.append(counted(users, "evaluated user has no list, so it scores 0", plural))
    if positions > 0:
        plural = "positions have items that are not candidates, so they cannot hit"
        single = "position has an item that is not a candidate, so it cannot hit"
        notes.append(counted(positions, single, plural))
    return tuple(f'model "{name}": {note}' for note in (*notes, *lists.warnings))
