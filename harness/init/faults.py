"""All rows of a log that cannot be read, counted."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace

import polars as pl

from harness.core.errors import DataError
from harness.data.layout import EventTable, Table
from harness.data.rules import bad_texts, rules_of
from harness.data.source import Wanted
from harness.data.table_files import sources

MOST_TEXTS = 1_000
"""Different texts of a column that are kept."""


@dataclass
class Unread:
    """The values of a column that are not what they should be.

    In `empty` rows nothing stands, and in `rows` others; `texts` counts these, `MOST_TEXTS` at
    most.
    """

    expected: str
    empty: int = 0
    rows: int = 0
    texts: Counter[str] = field(default_factory=Counter)

    def add(self, texts: pl.Series) -> None:
        """Count more of them."""
        filled = texts.drop_nulls()
        self.empty += texts.null_count()
        self.rows += len(filled)
        distinct = filled.unique(maintain_order=True)
        for text, count in zip(distinct, filled.unique_counts(), strict=True):
            if text in self.texts or len(self.texts) < MOST_TEXTS:
                self.texts[text] += count


@dataclass
class Faults:
    """What is wrong with a log: lines whose fields cannot be told, and values by column."""

    rows: int = 0
    bad_lines: int = 0
    columns: dict[str, Unread] = field(default_factory=dict)


def lenient(table: Table) -> Table:
    """Return a table without the lines of text whose fields cannot be told."""
    return replace(table, bad_lines="drop", key="")  # of other files that says nothing


def faults_of(table: EventTable) -> Faults:
    """Return all that is wrong with a log; rows that ``where`` leaves out may hold anything.

    DataError where it cannot be read at all.
    """
    faults = Faults()
    for source in sources(lenient(table)):
        source.require(table.columns)
        pattern = None if table.time is None else source.pattern(table.time, table.time_format)
        for rows in source.rows(Wanted(table.columns)):
            faults.rows += rows.frame.height + rows.left_out
            faults.bad_lines += rows.left_out
            for rule in rules_of(table, rows.frame.schema, pattern):
                text, bad = bad_texts(rows.frame, rule, table.where)
                if bad.any():
                    unread = faults.columns.setdefault(rule.column, Unread(rule.expected))
                    unread.add(text.filter(pl.Series(bad)))
    return faults


def misshapen(table: Table) -> float:
    """Return how many of the first lines of text have fields that cannot be told.

    Infinity: no line can be read.
    """
    try:
        with closing(sources(lenient(table))) as files:
            source = next(files)
            first = next(source.rows(Wanted(source.names[:1], count=1)), None)
    except DataError:
        return math.inf
    return 0 if first is None else first.left_out
