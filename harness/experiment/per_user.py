"""What a run has of every user, as tables: scores and lists, a row a user; and for pandas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from harness.core.errors import UsageError, suggest
from harness.experiment.record import FailedModel, ModelRecord
from harness.experiment.run_folder import FOLD
from harness.metrics.scores import ScoreTable

if TYPE_CHECKING:
    import pandas as pd

_KEYS = (FOLD, "model", "repeat", "user")
_TEXTS = ("model", "user", "item")


def scores_by_row(users: pl.Series, tables: Mapping[str, ScoreTable]) -> pl.DataFrame:
    """Return one row a user, model and repeat, with a column for each metric of users."""
    frames = [
        pl.DataFrame(
            {
                "user": users,
                "model": pl.Series([name], dtype=pl.String).new_from_index(0, len(users)),
                "repeat": pl.Series([repeat], dtype=pl.Int32).new_from_index(0, len(users)),
                **{
                    str(metric): values[repeat]
                    for metric, values in table.values.items()
                    if metric.definition.of == "user"
                },
            }
        )
        for name, table in tables.items()
        for repeat in range(table.repeats)
    ]
    return pl.concat(frames)


class PerUser(ABC):
    """A run that has the scores and the lists of its users."""

    models: tuple[ModelRecord, ...]
    failed: tuple[FailedModel, ...]

    @abstractmethod
    def score_rows(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return a row a user, model and repeat, of some models; of all, what a run folder has."""

    @abstractmethod
    def list_rows(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the lists, the best item first; see `score_rows`."""

    def per_user(self, model: str | None = None, *, repeat: int | None = None) -> pd.DataFrame:
        """Return a row a user and a column for each metric of users, as `harness.evaluate` does.

        Parameters
        ----------
        model : str, optional
            Without it the index has model, repeat and user.
        repeat : int, optional
            Of the model, from 0; by default a user's mean over its repeats, by which models are
            compared.

        Returns
        -------
        pandas.DataFrame
            Users, as text, in the index. Of several folds their number comes first in it.

        Raises
        ------
        UsageError
            No such model or repeat.
        """
        if model is None:
            return _indexed(self.score_rows(self._names(model, repeat)))
        rows = self.score_rows(self._names(model, repeat))
        rows = rows if repeat is None else rows.filter(repeat=repeat)
        keys = [key for key in (FOLD, "user") if key in rows.columns]
        rows = rows.drop("model", "repeat").group_by(keys, maintain_order=True).mean()
        return _indexed(rows)

    def recommendations(
        self, model: str | None = None, *, repeat: int | None = None
    ) -> pd.DataFrame:
        """Return the lists, a row an item; users with an empty list have none.

        Parameters
        ----------
        model : str, optional
            Without it columns model and repeat come first.
        repeat : int, optional
            Of the model, from 0; needed where it has several.

        Returns
        -------
        pandas.DataFrame
            Columns user, rank (from 1) and item, ids as text; of several folds their number first.
            An item of a file of lists that the data does not know is "".

        Raises
        ------
        UsageError
            No such model or repeat, or several of which none is named.
        """
        names = self._names(model, repeat)
        repeats = next((one.repeats for one in self.models if one.name == model), 1)
        if repeats > 1 and repeat is None:
            raise UsageError(
                f'model "{model}" has {repeats} repeats with lists of their own; say which, such '
                "as repeat=0"
            )
        rows = self.list_rows(names)
        if model is not None:
            rows = rows.filter(repeat=repeat or 0).drop("model", "repeat")
        keys = [key for key in _KEYS if key in rows.columns]
        ranks = pl.int_ranges(1, pl.col("items").list.len() + 1).alias("rank")
        listed = rows.filter(pl.col("items").list.len() > 0).with_columns(ranks)
        items = listed.explode("items", "rank").drop_nulls("items")  # empty places have none
        return _pandas(items.select(*keys, "rank", pl.col("items").alias("item")))

    def _names(self, model: str | None, repeat: int | None) -> list[str] | None:
        """Return the model that is named, or none."""
        if model is None:
            if repeat is not None:
                raise UsageError(f"repeat = {repeat} goes with a model: name it first")
            return None
        there = {one.name: one.repeats for one in self.models}
        if model not in there:
            failed = [one for one in self.failed if one.name == model]
            hint = f"it failed: {failed[0].says}" if failed else suggest(str(model), there)
            raise UsageError(f'no model "{model}" in this run; {hint}')
        if repeat is not None and repeat not in range(there[model]):
            last = there[model] - 1
            raise UsageError(f'model "{model}" has no repeat {repeat!r}; the last is {last}')
        return [model]


def _pandas(rows: pl.DataFrame) -> pd.DataFrame:
    import pandas as pd

    texts = [pl.col(name).cast(pl.String) for name in _TEXTS if name in rows.columns]
    plain = rows.with_columns(texts)
    return pd.DataFrame(
        {s.name: s.to_list() if s.dtype == pl.String else s.to_numpy() for s in plain}
    )


def _indexed(rows: pl.DataFrame) -> pd.DataFrame:
    return _pandas(rows).set_index([key for key in _KEYS if key in rows.columns])
