"""A submission on Spark: its lines in buckets of users, which workers check and score."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from harness.core.errors import DataError, UsageError
from harness.data.bucketing import bucket_count
from harness.data.layout import AttributeTable, Table
from harness.delimited.stream import Refused
from harness.experiment import competition
from harness.experiment.score import ScoredUsers
from harness.experiment.submissions import SubmissionError
from harness.experiment.terms import Terms
from harness.metrics import Metric
from harness.metrics.inputs.read import longest_of
from harness.protocol.truth import Solution
from harness.spark import lines, remote, truths
from harness.spark.buckets import whole
from harness.spark.examining import (
    OPEN,
    Examining,
    asked_of,
    meant_by,
    scored_of,
    told_of,
)
from harness.spark.lines import FINDINGS, UNREAD, Meant
from harness.spark.parts import SCHEMA, Parts, facts_of, kept, pairs, refuse_first
from harness.spark.session import session
from harness.spark.travelling import travelling
from harness.spark.truths import Truths
from harness.spark.users import Division
from harness.submission import order
from harness.submission.expected import Against
from harness.submission.findings import Findings
from harness.submission.format import Format
from harness.submission.keys import learnt, nothing
from harness.submission.problems import Validation
from harness.submission.rules import OF_FAULT
from harness.submission.source import Source, of_frame, source
from harness.submission.told import Told
from harness.submission.validate import ask_order, checked_as, concluded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LINE_BYTES = 32
"""Of a file, for each row that it may have."""


class Examined(NamedTuple):
    """A submission that was examined.

    Attributes
    ----------
    told : Told
    parts : Parts of ScoredUsers, optional
        None where nothing could be read.
    """

    validation: Validation
    told: Told
    parts: Parts[ScoredUsers] | None = None
    kinds: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Submission:
    """A submission on Spark, and how it is checked.

    Attributes
    ----------
    place, solution : Path or Table
        A file that workers see, or what Spark reads.
    terms : Terms
        What it is checked against, where a solution may stand for its columns alone.
    stack : ExitStack
        Lets Spark forget, at its end, what it keeps.
    """

    spark: SparkSession
    stack: ExitStack
    name: str
    place: Path | Table
    terms: Terms
    solution: Path | Table | None
    strict: bool
    buckets: int | None

    def like(self, k: int | None = None) -> Against:
        """Return what is known beforehand of submissions, but for users."""
        terms = self.terms
        if terms.config is None:
            return terms.like().cut_at(k)
        layout = terms.config.layout()
        if layout.items is not None and layout.items.table.remote:
            table = whole(self.spark, layout.items)
            assert table is not None  # noqa: S101 - it is remote
            items = learnt(table[layout.items.id])
        else:
            items = competition.items_of(layout)
        found = competition.like_config(terms.config, items)
        return replace(found, named=terms.named).cut_at(k)

    def truths_of_file(self, *, keep: bool) -> Truths:
        """Return the solution."""
        assert self.solution is not None  # noqa: S101 - asked for where there is one
        division = self._division()
        given = self.spark, self.stack, self.solution, self.terms, division
        return truths.of_file(*given, keep=keep)

    def truths_of_config(self, metrics: tuple[Metric, ...]) -> Truths:
        """Return the config's evaluation set."""
        assert self.terms.config is not None  # noqa: S101 - asked for where there is one
        return truths.of_config(self.spark, self.stack, self.terms.config, metrics, self.buckets)

    def _division(self) -> Division:
        count = bucket_count(self._about()) if self.buckets is None else self.buckets
        return Division.of(self.spark, count)

    def _about(self) -> int:
        """Return how many rows there are, more or less."""
        if isinstance(self.place, Path):
            return self.place.stat().st_size // _LINE_BYTES if self.place.is_file() else 0
        rows: int = remote.whole(self.spark, self.place).count()
        return rows

    def examined(
        self,
        against: Against,
        of: Truths | None,
        metrics: tuple[Metric, ...] = (),
        *,
        admitted: bool = False,
    ) -> Examined:
        """Return everything that is wrong with the submission, and what its lists score.

        Parameters
        ----------
        of : Truths, optional
            What it is scored against.
        admitted : bool
            Whether that only tells which users and items there may be.
        """
        known = None if of is None else of.known
        if known is not None:
            against = against.admitting(known) if admitted else against.scored_by(known)
        findings = Findings()
        try:
            look = self._look(against, findings, known)
            return self._read(look, against, of, metrics, findings, admitted=admitted)
        except Refused as refused:
            findings.note(OF_FAULT[refused.fault], refused.value)
        return self._unread(findings, against, against.format)

    def _unread(self, findings: Findings, against: Against, wanted: Format | None) -> Examined:
        """Return what is wrong with a submission of which nothing can be read."""
        return Examined(self._concluded(Told(findings), against, wanted, ""), Told())

    def refuse_unreadable(self, against: Against) -> None:
        """Raise SubmissionError where the header tells that nothing can be read."""
        findings = Findings()
        with suppress(Refused):  # told when it is read
            look = self._look(against, findings, None)
            if not look.readable:
                found = self._unread(findings, against, look.wanted)
                raise SubmissionError(found.validation)

    def _look(self, against: Against, findings: Findings, known: Solution | None) -> Source:
        """Return the submission opened for its header; note what is wrong with that."""
        if against.zeros:
            findings.note("SUB318", against.zeros)
        if isinstance(self.place, Path):
            with source(self.place, against, findings) as opened:
                found = opened
        else:
            found = of_frame(self._first(0).lazy(), against, findings)
            if found.readable:
                findings.found.pop("SUB102", None)  # tables have columns of many uses
            for own in findings.found.values():
                own.places = [replace(place, line=None) for place in own.places]
        wanted = found.wanted
        if self._asks(against) or known is not None:  # users tell what ids look like
            wanted = replace(wanted, letters="", length=0)
        return replace(found, wanted=wanted)

    def _first(self, rows: int) -> pl.DataFrame:
        """Return the first rows of what Spark reads."""
        assert isinstance(self.place, Table)  # noqa: S101 - asked for where it is one
        found = remote.whole(self.spark, self.place).limit(rows).toArrow()
        return pl.DataFrame(pl.from_arrow(found))

    @property
    def _ids_table(self) -> AttributeTable | None:
        """The table that has the ids of users who must have a row, if a table has them."""
        config = self.terms.config
        return None if config is None else competition.users_table(config)

    def _read(
        self,
        look: Source,
        against: Against,
        of: Truths | None,
        metrics: tuple[Metric, ...],
        findings: Findings,
        *,
        admitted: bool,
    ) -> Examined:
        if isinstance(self.place, Path) and order.row_an_item(self.place, against) is not None:
            raise self._not_ordered
        division = self._division() if of is None else of.division
        examining = Examining(
            title=self.name,
            against=against,
            head=look.head,
            wanted=look.wanted,
            places=look.places,
            between=look.between,
            keys=division.keys,
            numbered=isinstance(self.place, Path),
            asks=self._asks(against),
            known=None if of is None else of.known,
            longest=longest_of(metrics) if metrics else None,
            metrics=metrics,
            admitted=admitted,
        )
        every = self._divided(look, against, of, division, {})
        if not self._note_told(every, findings):
            return self._unread(findings, against, look.wanted)
        parts = self._parts(every, examining)
        meant = meant_by(every.where(_PIECES), examining, parts.facts)
        if meant:
            every = self._divided(look, against, of, division, meant)
            parts = self._parts(every, examining)
        if metrics and any(facts.get(OPEN) for facts in parts.facts.values()):
            self._refuse_odd(told_of(parts.facts))
            parts = self._parts(every, replace(examining, anew=True))
        return self._whole(parts, look, against, findings)

    def _parts(self, every: DataFrame, examining: Examining) -> Parts[ScoredUsers]:
        """Return what workers find in all buckets."""
        pieces = every.where(_PIECES).mapInArrow(examining, SCHEMA)
        parts = kept(pieces, partial(scored_of, examining.metrics))
        self.stack.callback(parts.release)
        return parts

    def _refuse_odd(self, told: Told) -> None:
        """Raise DataError over faults of rows where equal scores leave lists open."""
        for code, finding in sorted(told.findings.found.items()):
            if code in _OF_ROWS:
                first = finding.places[0]
                where = f"line {first.line:,}" if first.line is not None else f"user {first.user}"
                raise DataError(
                    f"{self.name}: {where}: {code} and equal scores, which are told apart in a "
                    "file without such faults alone; mend it"
                )

    def _asks(self, against: Against) -> bool:
        """Return whether there are users who must have a row."""
        return self._ids_table is not None or against.ids is not None

    def _divided(
        self,
        look: Source,
        against: Against,
        of: Truths | None,
        division: Division,
        meant: Meant,
    ) -> DataFrame:
        """Return all that each bucket gets, its lines where they can be read among it."""
        frames = [] if of is None else [of.frame]
        if look.readable:
            light = replace(against, items=nothing())
            frames.append(lines.of(self.spark, self.place, light, division, meant))
        if self._asks(against):
            frames.append(truths.ids(self.spark, against, self._ids_table, division))
        nobody = self.spark.createDataFrame([], SCHEMA)
        every = reduce(_both, frames, nobody).repartition(len(division.keys), "part").persist()
        self.stack.callback(every.unpersist)
        return every

    def _note_told(self, every: DataFrame, findings: Findings) -> bool:
        """Note what was told of the file's bytes and lines; return whether all could be read."""
        told = every.where("content IS NULL").select("part", "told").toArrow()
        words = [text for _, text in sorted(pairs(told), key=lambda pair: pair[0])]
        refuse_first(words)
        told_of_file = list(map(facts_of, words))
        for facts in told_of_file:
            if UNREAD in facts:
                findings.note(*facts[UNREAD])
            else:
                findings.found |= (findings + Findings.of_json(facts[FINDINGS])).found
        return not any(UNREAD in facts for facts in told_of_file)

    def _whole(
        self, parts: Parts[ScoredUsers], look: Source, against: Against, findings: Findings
    ) -> Examined:
        """Return what all buckets tell together."""
        told = told_of(parts.facts)
        told = replace(told, findings=findings + told.findings)
        if not look.readable:
            return self._unread(told.findings, against, look.wanted)
        wanted, single = look.wanted, told.common.single == told.common.lists > 0
        loose = against.may_be_long and not wanted.long
        if loose and single and "SUB203" in told.findings.found:
            raise self._not_ordered
        if told.rows == 0 and isinstance(self.place, Table):
            told.findings.note("SUB004")
        rows = self.place if isinstance(self.place, Path) else self._first(_FIRST)
        ask_order(rows, wanted, against, told.findings)
        against = asked_of(parts.facts, against)
        validation = self._concluded(told, against, wanted, checked_as(wanted, against))
        kinds = () if against.format is None else against.format.kinds
        return Examined(validation, told, parts, kinds)

    @property
    def _not_ordered(self) -> UsageError:
        without = ", or leave --engine spark out" if isinstance(self.place, Path) else ""
        return UsageError(
            f"{self.name}: users have a row for each item, and no column orders them; Spark keeps "
            'no order of rows: add a column "rank" (1 first) or "score" (the highest first), or '
            f"name it (--rank-column, --score-column){without}"
        )

    def _concluded(
        self, told: Told, against: Against, wanted: Format | None, checked: str
    ) -> Validation:
        name = Path(self.name)
        return concluded(name, told, against, wanted, checked, strict=self.strict)


_PIECES = "part >= 0 AND content IS NOT NULL"
_OF_ROWS = frozenset({"SUB204", "SUB205", "SUB206", "SUB208", "SUB209", "SUB210", "SUB313"})
"""Faults of rows that are not read where ids are told apart."""
_FIRST = 1000
"""Rows of a table that tell what its columns hold."""


def _both(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.unionAll(other)


class SparkOptions(NamedTuple):
    """On which Spark, and in how many buckets.

    Attributes
    ----------
    master, remote : str, optional
        As `harness.spark.session.session` takes them.
    buckets : int, optional
        How many parts users are divided into; by default as many as there are lines for.
    """

    master: str | None = None
    remote: str | None = None
    buckets: int | None = None


@contextmanager
def opened(
    name: Path | str,
    terms: Terms,
    solution: Path | str | None,
    options: SparkOptions,
    *,
    strict: bool,
) -> Iterator[Submission]:
    """Yield a submission; what Spark keeps of it goes afterwards.

    Parameters
    ----------
    name, solution : path or text
        A file that workers see, or what Spark reads.
    terms : Terms
        What it is checked against but for a solution.
    strict : bool
        Whether warnings are errors.
    """
    if terms.named is not None and terms.named.row_order:
        raise UsageError(
            "--row-order: Spark keeps no order of rows; name the column that orders those of a "
            "user (--rank-column or --score-column), or leave --engine spark out"
        )
    place = lines.place_of(name, "the submission")
    true = None if solution is None else lines.place_of(solution, "the solution")
    with session(options.master, options.remote) as spark, ExitStack() as stack:
        stack.enter_context(travelling())
        if isinstance(true, Table):
            empty = remote.whole(spark, true).limit(0).toArrow()
            terms = replace(terms, solution=pl.DataFrame(pl.from_arrow(empty)))
        elif true is not None:
            terms = replace(terms, solution=true)
        yield Submission(spark, stack, str(name), place, terms, true, strict, options.buckets)
