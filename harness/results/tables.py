"""What a run has of each user: scores, lists, and who the users are; in memory or in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness.core.errors import DataError, counted, printable
from harness.core.frames import UNREADABLE, bytes_of
from harness.core.io import parts, unusable
from harness.core.unpacking import OWN, Cap, Refused
from harness.data.dataset import positions
from harness.metrics.registry import LARGEST_SCORE
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.evaluation_set import EvaluationSet
from harness.results.folder import FOLD, PER_USER, RECOMMENDATIONS, USERS, again, table
from harness.results.record import RunRecord, differs
from harness.stats.slices import USER, ProfiledUsers

_CAP = replace(OWN, cure="harness run writes the folder again, from its config.toml")


class ContradictionError(DataError):
    """The files of a run folder have different figures of one thing."""


@dataclass(frozen=True, eq=False)
class RunTables(ProfiledUsers):
    """The tables of one evaluation set, in memory; users are in id order."""

    item_ids: pl.Series  # of the candidates
    lists: Mapping[str, Sequence[Recommendations]]  # by model, of each repeat

    @property
    def user_ids(self) -> pl.Series:
        """The evaluated users."""
        return self.profile[USER]

    def rows(self, name: str, models: Sequence[str]) -> pl.DataFrame:
        """Return a table as a folder has it, of some models; `name` is that of its file."""
        if name == USERS:
            return self.profile
        users, items = self.user_ids.cast(pl.Categorical), self.item_ids.cast(pl.Categorical)
        frames = []
        for model in models:
            if name == PER_USER:
                columns = [
                    pl.Series(str(metric), values.ravel())
                    for metric, values in self.tables[model].values.items()
                    if metric.definition.of == "user"
                ]
            else:
                columns = [pl.concat([ids_of(lists, items) for lists in self.lists[model]])]
            frames.append(_keys(users, model, len(self.lists[model])).with_columns(columns))
        return pl.concat(frames)


def _keys(users: pl.Series, model: str, repeats: int) -> pl.DataFrame:
    """Return what every row of a table begins with: its user, model and repeat."""
    return pl.DataFrame(
        {
            USER: pl.concat([users] * repeats),
            "model": pl.Series([model], dtype=pl.String).new_from_index(0, len(users) * repeats),
            "repeat": np.repeat(np.arange(repeats, dtype=np.int32), len(users)),
        }
    )


def other_users(path: Path) -> DataError:
    """Return the error where a table has other users than the evaluation set."""
    return DataError(f"{path}: has other users than its evaluation set")


@dataclass(frozen=True, eq=False)
class FolderTables:
    """The tables of one evaluation set in a run folder, read when they are asked for.

    `fold` is its number, from 1, of several; `files` holds what was read, for all folds.
    """

    folder: Path
    record: RunRecord
    fold: int | None
    files: dict[str, pl.DataFrame]

    @cached_property
    def user_ids(self) -> pl.Series:
        """The users that have scores, in id order."""
        with _readable(self.folder / PER_USER):
            return self._read(PER_USER, [USER])[USER].unique().cast(pl.String).sort()

    def rows(
        self, name: str, models: Sequence[str], users: pl.Series | None = None
    ) -> pl.DataFrame:
        """Return a table of some models, ordered by model, repeat and user.

        Of `users` alone, in id order, where they are named: then no more is read.
        """
        with _readable(self.folder / name):
            if name == USERS:
                rows = self._read(USERS, [USER]).cast({USER: pl.String}).sort(USER)
                if not rows[USER].equals(self.user_ids):
                    raise other_users(self.folder / USERS)
                return rows
            types: dict[Any, Any] = {USER: pl.String, "model": pl.String, "repeat": pl.Int32}
            types |= {"items": pl.List(pl.String)} if name == RECOMMENDATIONS else {}
            every = self._read(name, [*types], users)
            if name == PER_USER:
                types |= {column: pl.Float64 for column in every.columns if column not in types}
            frames = []
            for model in models:
                of_model = every.filter(pl.col("model").cast(pl.String) == model).cast(types)
                # Spark writes them in any order.
                frames.append(self._whole(name, model, of_model.sort("repeat", USER), users))
            return pl.concat(frames)

    def _whole(
        self, name: str, model: str, rows: pl.DataFrame, users: pl.Series | None
    ) -> pl.DataFrame:
        """Return the rows of a model; raise DataError unless all are there, as the record says."""
        evaluation, repeats = self.record.evaluation, self.record.model(model).repeats
        keys = _keys(self.user_ids if users is None else users, model, repeats)
        whole = rows.select(keys.columns).equals(keys)
        whole &= users is not None or len(self.user_ids) == evaluation.users
        if name == RECOMMENDATIONS:
            whole &= (rows["items"].list.len() <= evaluation.k).fill_null(False).all()
        if not whole:
            raise DataError(
                f'{self.folder / name}: not all rows are there for model "{printable(model)}": '
                f"expected one for each of {counted(evaluation.users, 'user')} in "
                f"{counted(repeats, 'repeat')}; {again(self.folder)}"
            )
        if name == PER_USER:
            self._refuse_other_means(model, rows)
        return rows

    def _read(
        self, name: str, columns: Sequence[str], users: pl.Series | None = None
    ) -> pl.DataFrame:
        """Return the rows of a fold, which have these columns, in the order of the file."""
        path = table(self.folder, name)
        if users is None and name in self.files:
            rows = self.files[name]
        else:
            rows = pl.concat([rows_of(file, users=users) for file in parts(path)])
        if users is None:
            self.files[name] = rows
        needed = {*columns} if self.fold is None else {*columns, FOLD}
        for column in sorted(needed - {*rows.columns}):
            raise DataError(f'{path}: has no column "{column}"; {again(self.folder)}')
        return rows if self.fold is None else rows.filter(pl.col(FOLD) == self.fold).drop(FOLD)

    def _refuse_other_means(self, model: str, rows: pl.DataFrame) -> None:
        """Raise ContradictionError where the scores of a model have other means than the record."""
        for metric, estimate in self.record.model(model).metrics.items():
            if metric not in rows.columns:
                continue
            scores, then = rows[metric].to_numpy(), estimate.mean
            if not np.abs(scores).max(initial=0) <= LARGEST_SCORE:
                raise DataError(f"{self.folder / PER_USER}: a score is not a number")
            mean = float(scores.mean())
            if differs(mean, then, float(np.abs(scores).mean())):
                fold = "" if self.fold is None else f"fold {self.fold}: "
                raise ContradictionError(
                    f'{self.folder / PER_USER}: {fold}model "{printable(model)}" has a mean '
                    f"{printable(metric)} of {mean:.12g} there, and {then:.12g} in result.json, "
                    f"so one of the two has changed since the run; {again(self.folder)} --fresh"
                )


def rows_of(path: Path, cap: Cap = _CAP, users: pl.Series | None = None) -> pl.DataFrame:
    """Return the rows of a file, or those of some users; DataError if it unpacks to too much."""
    with _readable(path):
        frame = pl.scan_parquet(path.absolute(), glob=False)  # Polars expands "~"
        if users is not None:
            frame = frame.filter(pl.col(USER).cast(pl.String).is_in(users.implode()))
        size = frame.select(bytes_of(frame.collect_schema()).sum()).collect(engine="streaming")
        cap.check(size.item(), path.stat().st_size)
        return frame.collect()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise DataError for whatever is wrong with a file."""
    try:
        yield
    except Refused as error:
        raise unusable(path, error, _CAP) from error
    except UNREADABLE as error:
        raise DataError(f"{path}: cannot be read: {str(error).partition(chr(10))[0]}") from error


UNKNOWN = ""  # the id of an item of a file of lists that the data does not know


def ids_of(lists: Recommendations, candidate_ids: pl.Series) -> pl.Series:
    """Return the ids of each list; null where a position before the last item is empty."""
    items, ids = lists.items, candidate_ids
    if len(lists.strange):
        strange = lists.strange.fill_null(UNKNOWN).cast(ids.dtype).alias(ids.name)
        ids = pl.concat([ids, strange])
    if items.shape[1] == 0:
        return pl.Series("items", [[]] * len(items), dtype=pl.List(ids.dtype))
    held, places = items >= 0, pl.Series(items.ravel())
    rows = ids.gather(places.set(places < 0, None)).reshape(items.shape).arr.to_list()
    last = items.shape[1] - held[:, ::-1].argmax(axis=1)
    whole = pl.DataFrame({"items": rows, "length": np.where(held.any(axis=1), last, 0)})
    return whole.select(pl.col("items").list.head("length"))["items"]


def positions_of(items: pl.Series, evaluation_set: EvaluationSet) -> Recommendations:
    """Return lists of ids as positions; items that nobody knows are each their own."""
    k, known = evaluation_set.k, evaluation_set.candidate_ids.cast(pl.String)
    lengths = items.list.len().to_numpy().astype(np.int64)
    user = np.repeat(np.arange(len(items)), lengths)
    rank = np.arange(len(user)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    ids = items.filter(items.list.len() > 0).explode().cast(pl.String)
    names = ids.filter(ids != UNKNOWN).unique(maintain_order=True)
    strange = names.filter(~names.is_in(known.implode()))
    places = positions(ids, pl.concat([known, strange.alias(known.name)])).copy()
    unknown = (ids == UNKNOWN).fill_null(False).to_numpy()
    places[unknown] = len(known) + len(strange) + rank[unknown]
    width = min(k, len(known)) if lengths.max(initial=0) <= len(known) else k
    lists = np.full((len(items), width), EMPTY, np.int32)
    lists[user, rank] = places
    behind = int(rank[unknown].max(initial=-1)) + 1
    return Recommendations(lists, strange.alias("item").extend_constant(None, behind))
