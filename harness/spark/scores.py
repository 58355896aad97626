"""The scores of runs, read by Spark's workers and divided into parts of users, and checked there.

Files of this machine, which every worker has to see, are read as the local engine reads them, some
rows or a file a task. Tables elsewhere Spark reads. Of users only counts come to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.core.arrays import Floats, UInt64
from harness.core.errors import DataError
from harness.core.io import parts as files_of
from harness.core.random import id_hashes
from harness.data.bucketing import bucket_count
from harness.data.parts import ends_of
from harness.experiment.compare_plan import columns_by
from harness.experiment.run_folder import PER_USER, USERS, Run
from harness.experiment.run_tables import (
    checked_scores,
    checked_users,
    described,
    is_whole,
    refuse_lost,
    rows_of,
)
from harness.spark.packing import unpacked
from harness.spark.parts import (
    SCHEMA,
    Batches,
    Content,
    Parts,
    attempted,
    contents,
    kept,
    pairs,
    refuse_first,
    rows,
)
from harness.spark.reading import ranges
from harness.spark.users import Division
from harness.stats.slices import USER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_GROUP_ROWS = 1 << 22
"""Of a table that Spark reads: so many are divided at a time, more or less."""
HASHES, SCORES, PROFILE = "hashes", "scores", "profile"
_COUNT, _TWICE, _OTHERS, _BROKEN = "users", "twice", "others", "broken"


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Users of a part, and their scores in every run.

    Attributes
    ----------
    hashes : uint64 array, (n,)
    scores : mapping of int to mapping of int to mapping of int to float64 array, (repeats, n)
        By the number of the run, of the model in its record, and of the metric of users.
    profile : polars.DataFrame
        The columns of the first run's users that they are sliced by.
    """

    hashes: UInt64
    scores: Mapping[int, Mapping[int, Mapping[int, Floats]]]
    profile: pl.DataFrame


@dataclass(frozen=True)
class _Wanted:
    """What is read of a run.

    Attributes
    ----------
    names : mapping of table to where it is, as a person is told
    repeats : mapping of model to int
    metrics, by : sequence of str
        Columns of scores and of users.
    """

    names: Mapping[str, str]
    repeats: Mapping[str, int]
    metrics: Sequence[str]
    by: Sequence[str]

    def read(self, table: str, found: pl.DataFrame) -> pl.DataFrame:
        """Return what is wanted of rows of a table, models by their number, after their check."""
        name = self.names[table]
        if table == USERS:
            return checked_users(name, found)[[USER, *self.by]].cast(pl.String)
        scores = checked_scores(name, found)
        refuse_lost(name, scores.columns, self.metrics)
        number = {model: at for at, model in enumerate(self.repeats)}
        model = scores["model"].replace_strict(number, default=-1, return_dtype=pl.Int32)
        known = scores.with_columns(model.alias("model")).filter(model >= 0)
        return known[[USER, "model", "repeat", *self.metrics]]


@dataclass(frozen=True)
class _Piece:
    """What one task reads, or where Spark reads a table, all tasks of it.

    Attributes
    ----------
    run : int
    table : str
    path : Path, optional
        None: a table that Spark reads.
    only : (int, int)
        The first row, and how many.
    """

    run: int
    table: str
    path: Path | None = None
    only: tuple[int, int] = (0, 0)


_Frames = Callable[[], Iterator[pl.DataFrame]]


@contextmanager
def scored(
    spark: SparkSession, opened: Sequence[Run], by: Sequence[str], count: int | None
) -> Iterator[Parts[ScoredRuns]]:
    """Yield the users of runs in parts, with their scores; Spark forgets them afterwards.

    Parameters
    ----------
    by : sequence of str
        Columns of the first run's users.
    count : int, optional
        How many parts, 4,096 at most; by default as many as buckets of so many events.

    Raises
    ------
    UsageError, DataError
        As `harness.experiment.compare.compare` does for tables of runs.
    """
    if count is None:
        count = bucket_count(sum(map(_about, opened)))
    division = Division.of(spark, count)
    with ExitStack() as stack:
        given, wanted = _read(spark, opened, by, division)
        stack.callback(given.unpersist)
        told = given.where("content IS NULL").select("part", "told").toArrow()
        refuse_first(words for _, words in sorted(pairs(told), key=lambda pair: pair[0]))
        gather = partial(_gather, wanted, division)
        found = kept(given.mapInArrow(gather, SCHEMA), _opened)
        stack.callback(found.release)
        given.unpersist()
        _refuse(opened, list(found.facts.values()))
        yield found


def _about(run: Run) -> int:
    """Return how many rows of scores a run has."""
    return run.record.evaluation.users * sum(model.repeats for model in run.record.models)


def _read(
    spark: SparkSession, opened: Sequence[Run], by: Sequence[str], division: Division
) -> tuple[DataFrame, list[_Wanted]]:
    """Return what each part gets, all of it in one partition, by the key of the part."""
    wanted: list[_Wanted] = []
    tasks: list[tuple[int, _Piece]] = []
    frames: list[DataFrame] = []
    remote: list[tuple[int, _Piece, DataFrame]] = []
    at = 0
    for number, run in enumerate(opened):
        own = by if number == 0 else ()
        for table in (PER_USER, USERS) if own else (PER_USER,):
            frame, columns, pieces = _table(spark, run, number, table)
            if table == USERS:
                own = columns_by(run, columns, own)
            if frame is not None:
                remote.append((at, pieces[0], frame))
            else:
                tasks += enumerate(pieces, at)
            at += len(pieces)
        names = {table: run.name_of(table) for table in (PER_USER, USERS)}
        repeats = {model.name: model.repeats for model in run.record.models}
        wanted.append(_Wanted(names, repeats, list(run.user_metrics.values()), own))
    if tasks:
        numbers = spark.range(0, len(tasks), 1, len(tasks))
        frames.append(numbers.mapInArrow(partial(_of_files, wanted, division, tasks), SCHEMA))
    for at, piece, frame in remote:
        work = partial(_of_rows, wanted[piece.run], division, at, piece)
        frames.append(frame.mapInArrow(work, SCHEMA))
    every = reduce(lambda one, other: one.unionAll(other), frames)
    return every.repartition(len(division.keys), "part").persist(), wanted


def _table(
    spark: SparkSession, run: Run, number: int, table: str
) -> tuple[DataFrame | None, list[str], list[_Piece]]:
    """Return a table where Spark reads it, its columns, and what is read of it."""
    if run.elsewhere is not None and not (run.folder / table).exists():
        frame = spark.read.parquet(run.name_of(table))
        return frame, frame.columns, [_Piece(number, table)]
    files = [(file.absolute(), *described(file)) for file in files_of(run.table(table))]
    pieces = [
        _Piece(number, table, file, only) for file, count, _ in files for only in ranges(count)
    ]
    return None, files[0][2], pieces


def _of_files(
    wanted: Sequence[_Wanted],
    division: Division,
    tasks: Sequence[tuple[int, _Piece]],
    batches: Batches,
) -> Batches:
    for batch in batches:
        for task in batch["id"].to_pylist():
            at, piece = tasks[task]
            yield from _parts(wanted[piece.run], division, at, piece, partial(_file, piece))


def _file(piece: _Piece) -> Iterator[pl.DataFrame]:
    assert piece.path is not None  # noqa: S101
    if not piece.path.exists():
        raise DataError(
            f"{piece.path}: is not seen by a worker; put the run where all of them see it, or have "
            "its tables written there: harness run … --engine spark --tables hdfs://…/run-1"
        )
    yield rows_of(piece.path, piece.only)


def _of_rows(
    wanted: _Wanted, division: Division, at: int, piece: _Piece, batches: Batches
) -> Batches:
    yield from _parts(wanted, division, at, piece, partial(_groups, batches))
    for _ in batches:  # whoever sends them waits until they are taken
        pass


def _groups(batches: Batches) -> Iterator[pl.DataFrame]:
    """Yield the rows of several batches together."""
    held: list[pl.DataFrame] = []
    for batch in batches:
        held.append(pl.DataFrame(pl.from_arrow(batch)))
        if sum(map(len, held)) >= _GROUP_ROWS:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _parts(wanted: _Wanted, division: Division, at: int, piece: _Piece, frames: _Frames) -> Batches:
    """Yield what each part gets of the rows of a task."""

    def work() -> Batches:
        for source, frame in enumerate(frames()):
            read = wanted.read(piece.table, frame)
            bucket = division.buckets_of(read[USER])
            ends = ends_of(bucket, len(division.keys)).tolist()
            ordered = read[np.argsort(bucket, kind="stable")]
            for number, key in enumerate(division.keys):
                own = ordered[ends[number] : ends[number + 1]]
                if len(own) > 0:
                    yield from rows(key, {piece.table: {piece.run: own}}, source=source)

    return attempted(at, work)


def _gather(wanted: Sequence[_Wanted], division: Division, batches: Batches) -> Batches:
    """Yield the parts of a partition, which holds all that each of them gets."""
    number = {key: at for at, key in enumerate(division.keys)}
    found: dict[int, list[Content]] = {}
    for key, content, _ in contents(batches):
        found.setdefault(number[key], []).append(unpacked(content))
    for at in sorted(found):
        yield from attempted(at, partial(_part, wanted, at, found.pop(at)))


def _part(wanted: Sequence[_Wanted], at: int, pieces: Sequence[Content]) -> Batches:
    """Yield a part, without a content where something is wrong, and what is told of it."""
    tables = [_rows(pieces, PER_USER, run) for run in range(len(wanted))]
    ids = [_ids(table) for table in tables]
    facts: dict[str, Any] = {
        _COUNT: [len(own) for own in ids],
        _TWICE: [own.n_unique() != len(own) for own in ids],
        _OTHERS: [not own.equals(ids[0]) for own in ids],
    }
    models = [_models(*of) for of in zip(wanted, tables, ids, strict=True)]
    facts[_BROKEN] = [[m for m, of in own.items() if of is None] for own in models]
    content: dict[str, Any] = {HASHES: id_hashes(ids[0]), SCORES: dict(enumerate(models))}
    facts[PROFILE] = False
    if wanted[0].by:
        profile = _rows(pieces, USERS, 0)
        profile = profile if profile is None else profile.sort(USER)
        facts[PROFILE] = profile is None or not profile[USER].equals(ids[0])
        content[PROFILE] = profile if profile is None else profile[list(wanted[0].by)]
    yield from rows(at, None if _is_wrong(facts) else content, facts)


def _is_wrong(facts: Mapping[str, Any]) -> bool:
    broken = any(facts[_TWICE]) or any(facts[_OTHERS]) or any(facts[_BROKEN])
    return broken or facts[PROFILE] or facts[_COUNT][0] == 0


def _rows(pieces: Sequence[Content], table: str, run: int) -> pl.DataFrame | None:
    """Return all rows of a table that a part gets."""
    own = [of[table][run] for of in pieces if run in of.get(table, {})]
    return pl.concat(own) if own else None


def _ids(table: pl.DataFrame | None) -> pl.Series:
    """Return the users of the first model's first repeat, in id order."""
    if table is None:
        return pl.Series(USER, [], pl.String)
    return table.filter(model=0, repeat=0)[USER].sort()


def _models(
    wanted: _Wanted, table: pl.DataFrame | None, ids: pl.Series
) -> dict[int, dict[int, Floats] | None]:
    """Return the scores of every model by metric; None where they are not whole."""
    found: dict[int, dict[int, Floats] | None] = {}
    ordered = None if table is None else table.sort("repeat", USER)
    for at, repeats in enumerate(wanted.repeats.values()):
        own = None if ordered is None else ordered.filter(model=at)
        if own is None or len(ids) == 0:
            found[at] = None if own is not None and len(own) > 0 else {}
        elif is_whole(own, ids, repeats):
            shape = repeats, len(ids)
            columns = (own[name].to_numpy().reshape(shape) for name in wanted.metrics)
            found[at] = dict(enumerate(columns))
        else:
            found[at] = None
    return found


def _opened(_: int, content: Content) -> ScoredRuns:
    profile = content.get(PROFILE, pl.DataFrame())
    return ScoredRuns(content[HASHES], content[SCORES], profile)


def _refuse(opened: Sequence[Run], facts: Sequence[Mapping[str, Any]]) -> None:
    """Raise DataError for what is wrong in any part, in the order that is told locally."""
    for at, run in enumerate(opened):
        users = sum(of[_COUNT][at] for of in facts)
        if users != run.record.evaluation.users or any(of[_TWICE][at] for of in facts):
            raise run.not_all_users
    for at, run in enumerate(opened):
        if any(of[_OTHERS][at] for of in facts):
            raise run.other_users(PER_USER)
    for at, run in enumerate(opened):
        broken = {number for of in facts for number in of[_BROKEN][at]}
        if broken:
            raise run.not_all_of(run.record.models[min(broken)].name)
    if any(of[PROFILE] for of in facts):
        raise opened[0].other_users(USERS)
