"""What submissions are scored against, in buckets: a config's evaluation sets, or a solution.

A file of ids or true items is read by one worker, as the local engine reads it, and divided.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from harness.config import Config
from harness.core import steps
from harness.core.arrays import Ragged
from harness.data import attributes
from harness.data.dataset import Dataset
from harness.data.layout import AttributeTable, Table
from harness.experiment.in_parts import Plan, plan_steps
from harness.experiment.terms import Terms
from harness.metrics import Judgments, Metric, parse
from harness.protocol import evaluation_set, truth
from harness.protocol.task import asked, refuse_rows_without_order
from harness.protocol.truth import Solution
from harness.spark import remote
from harness.spark.buckets import prepared
from harness.spark.examining import AT, IDS, content_of
from harness.spark.packing import unpacked
from harness.spark.parts import (
    SCHEMA,
    Batches,
    Content,
    attempted,
    contents,
    facts_of,
    pairs,
    refuse_first,
    rows,
)
from harness.spark.tables import quoted
from harness.spark.users import Division
from harness.submission.expected import Against, texts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_IDS, _ITEMS = -2, -3
"""Numbers of what is told of ids and of true items."""
_SUMS = "sums"
_NOBODY = pl.Series([], dtype=pl.String)
_NOTHING = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int32))
"""The items of nobody."""
_MOST_IDS = 1 << 22
"""Of a file, that are divided at a time."""


class Truths(NamedTuple):
    """What submissions are scored against.

    Attributes
    ----------
    known : Solution
        What all buckets share: all but users.
    frame : DataFrame
        The share of each bucket, by its key.
    division : Division
        Of users into buckets.
    """

    known: Solution
    frame: DataFrame
    division: Division


def of_config(
    spark: SparkSession,
    stack: ExitStack,
    config: Config,
    metrics: tuple[Metric, ...],
    buckets: int | None,
) -> Truths:
    """Return a config's evaluation set, which is made by the workers.

    Parameters
    ----------
    stack : ExitStack
        Lets Spark forget, at its end, what it keeps.
    metrics : tuple of Metric
        What lists are to be scored by; the config's own by default.
    """
    layout = config.layout()
    refuse_rows_without_order(layout, config.split)
    found = stack.enter_context(prepared(spark, layout, buckets))
    plan = steps.found(plan_steps(config, found.empty()), found.parts.total)
    metrics = metrics or asked(config)
    wanted = any(metric.definition.needs for metric in metrics)
    catalogue = plan.catalogue(metrics, found.parts.total) if wanted else None
    shares = found.parts.kept(partial(_share, plan), _sums_of)
    stack.callback(shares.release)
    evaluation = plan.evaluation(shares.total(dict))
    known = Solution(
        users=_NOBODY,
        items=plan.data.item_ids.gather(plan.candidates),
        # Of grades, metrics are told the highest.
        judgments=Judgments(_NOTHING, _NOTHING.sizes, plan.highest, catalogue=catalogue),
        history=_NOTHING,
        metrics=metrics,
        k=evaluation.k,
        fingerprint=evaluation.fingerprint,
        folds=config.n_folds,
    )
    keys = ", ".join(map(str, found.division.keys))
    frame = shares.frame.selectExpr(
        f"element_at(array({keys}), part + 1) AS part", "source", "at", "count", "content", "told"
    )
    return Truths(known, frame, found.division)


def _share(plan: Plan, part: Dataset) -> Content:
    task, _ = plan.tasks(part)
    solution = truth.of_task(task, (parse("MAP@1"),))  # any that needs nothing
    every = np.ones(len(solution.users), np.bool_)
    none = np.zeros(0, np.bool_)
    content = content_of(solution, every, none, first=False)
    return {**content, _SUMS: evaluation_set.sums(task.evaluation_set)}


def _sums_of(_: int, content: Content) -> Content:
    sums: Content = content[_SUMS]
    return sums


def of_file(
    spark: SparkSession,
    stack: ExitStack,
    place: Path | Table,
    terms: Terms,
    division: Division,
    *,
    keep: bool,
) -> Truths:
    """Return a solution, which one worker reads and divides.

    Parameters
    ----------
    place : Path or Table
        A file that workers see, or what Spark reads.
    terms : Terms
        How it is read.
    keep : bool
        Whether users without true items are averaged.
    """
    if isinstance(place, Path):
        terms = replace(terms, solution=place.absolute())
        frame = spark.range(0, 1, 1, 1)
    else:
        frame = remote.whole(spark, place).repartition(1)
    read = partial(_solution, terms, keep, isinstance(place, Path), division)
    held = frame.mapInArrow(read, SCHEMA).persist()
    stack.callback(held.unpersist)
    told = held.where("part < 0")
    facts: dict[str, Any] = {}
    refuse_first(words for _, words in pairs(told.select("part", "told").toArrow()))
    for _, content, words in contents(told.toArrow().to_batches()):
        items, facts = unpacked(content)["items"], facts_of(words)
    grades = np.zeros(0) if facts["graded"] else None
    known = Solution(
        users=_NOBODY,
        items=items,
        judgments=Judgments(_NOTHING, _NOTHING.sizes, grades),
        averaged=None if facts["everyone"] else np.zeros(0, np.bool_),
        repeated=0,
        between=facts["between"],
    )
    return Truths(known, held.where("part >= 0"), division)


def _solution(
    terms: Terms, keep: bool, is_file: bool, division: Division, batches: Batches
) -> Batches:
    def work() -> Batches:
        given = terms
        if not is_file:
            read = [pl.DataFrame(pl.from_arrow(batch)) for batch in batches]
            given = replace(terms, solution=pl.concat(read) if read else terms.solution)
        solution = given.solution_of(keep=keep)
        facts = {
            "graded": solution.judgments.grades is not None,
            "everyone": solution.averaged is None,
            "between": solution.between,
        }
        yield from rows(_ITEMS, {"items": solution.items}, facts)
        bucket, ignored = map(division.buckets_of, (solution.users, solution.ignored))
        for at, key in enumerate(division.keys):
            own, others = bucket == at, ignored == at
            if at == 0 or own.any() or others.any():
                yield from rows(key, content_of(solution, own, others, first=at == 0))

    yield from attempted(_ITEMS, work)
    for _ in batches:
        pass


def ids(
    spark: SparkSession, against: Against, table: AttributeTable | None, division: Division
) -> DataFrame:
    """Return the ids of users who must have a row, by the key of their bucket.

    Parameters
    ----------
    against : Against
        Names the file that has them.
    table : AttributeTable, optional
        The table that has them instead.
    """
    if table is not None and table.table.remote:
        found = remote.texts(spark, table).select(quoted(table.id))
        return found.mapInArrow(partial(_ids_of_rows, division), SCHEMA)
    task = spark.range(0, 1, 1, 1)
    given = None if against.ids is None else against.ids.absolute()
    return task.mapInArrow(partial(_ids_of_file, given, against.user, table, division), SCHEMA)


def _ids_of_file(
    path: Path | None,
    column: str | None,
    table: AttributeTable | None,
    division: Division,
    batches: Batches,
) -> Batches:
    def work() -> Batches:
        if table is not None:
            yield from _divided(division, attributes.read(table, [])[table.id], 0)
            return
        assert path is not None  # noqa: S101 - or there is a table
        held: list[str] = []
        before = 0
        for texts in texts_of(path, column):
            held += texts
            if len(held) >= _MOST_IDS:
                yield from _divided(division, held, before)
                before, held = before + len(held), []
        yield from _divided(division, held, before)

    for _ in batches:
        yield from attempted(_IDS, work)


def _ids_of_rows(division: Division, batches: Batches) -> Batches:
    for number, batch in enumerate(batches):
        texts = pl.DataFrame(pl.from_arrow(batch)).to_series().drop_nulls()
        yield from attempted(_IDS, partial(_divided, division, texts, number))


def _divided(division: Division, texts: Iterable[str], source: int) -> Batches:
    found = pl.Series(texts, dtype=pl.String)
    bucket = division.buckets_of(found)
    for at, key in enumerate(division.keys):
        own = np.flatnonzero(bucket == at)
        if len(own) > 0:
            yield from rows(key, {IDS: found.gather(own), AT: own + source}, source=source)
