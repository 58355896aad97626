"""What a submission is checked against and marked by, as options of a command say it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from harness import solutions
from harness.errors import DataError, UsageError
from harness.metrics import Metric
from harness.solutions import Solution
from harness.submission import against as against_
from harness.submission import formats
from harness.submission.against import Against
from harness.submission.formats import Format
from harness.submission.read import Named

if TYPE_CHECKING:
    from harness.config import Config


@dataclass(frozen=True)
class Terms:
    """What a person names: a config alone, or a sample, items and a solution.

    Attributes
    ----------
    sample, items : Path, optional
        A file with a row for each id that must be there; a table of all items, ids first.
    solution : Path or polars.DataFrame, optional
        True items.
    named : Named
        What the submission's columns are called, where they are not to be found by themselves.
    """

    config: Config | None = None
    sample: Path | None = None
    items: Path | None = None
    solution: Path | pl.DataFrame | None = None
    named: Named | None = None

    def __post_init__(self) -> None:
        files = {"--sample": self.sample, "--items": self.items, "--solution": self.solution}
        given = [option for option, path in files.items() if path is not None]
        if self.config is not None and given:
            raise UsageError(f"a config says it all: leave {' and '.join(given)} out, or --config")
        named = self.named or Named()
        columns = list(named.columns.values())
        if len(set(columns)) < len(columns):
            raise UsageError(f"one column for two things: {', '.join(columns)}; name each its own")
        if named.rank and named.score:
            raise UsageError("a list is ordered by rank or score, not both: name one column")
        if named.row_order and (named.rank or named.score):
            raise UsageError("a list is ordered by a column or as its rows stand: name one")

    @property
    def files(self) -> list[Path]:
        """The files of the config's competition that are there."""
        from harness.files import parts

        tables = () if self.config is None else self.config.layout().tables
        found = []
        for table in tables:
            with suppress(DataError):
                found += parts(table.path)
        return found

    def checking(self, k: int | None = None) -> tuple[Against, Solution | None]:
        """Return what a file is checked against with lists of up to k, and a solution at hand.

        Raises
        ------
        HarnessError
            A file that cannot be used; k below 1.
        """
        against, marking = self.against().cut_at(k), self.marking_at_hand()
        return (against if marking is None else against.marked_by(marking)), marking

    def against(self) -> Against:
        """Return what rows and lists are checked against; nothing is marked.

        Raises
        ------
        DataError, UsageError
            A file that cannot be read.
        """
        if self.config is not None:
            from harness.submission import competition

            found = competition.of_config(self.config)
        else:
            found = against_.of_tables(self.sample, self.items)
        wanted = found.format or self._solution_format()
        return replace(found, format=wanted, named=self.named)

    def marking(self, metrics: tuple[Metric, ...] = ()) -> Solution:
        """Return the solution: that of the config's exam, or the file's.

        Raises
        ------
        HarnessError
            No solution is named; a file that cannot be used.
        """
        if self.config is not None:
            return solutions.of_config(self.config, metrics)
        if self.solution is None:
            raise UsageError("marked by what? name one of --config CONFIG and --solution SOLUTION")
        return replace(solutions.of_file(self.solution), metrics=metrics)

    def marking_at_hand(self) -> Solution | None:
        """Return the solution if that needs no reading of events."""
        if self.config is not None:
            return solutions.kept_of(self.config)
        return None if self.solution is None else self.marking()

    def _solution_format(self) -> Format | None:
        """Return the competition that the solution's header speaks of."""
        if self.solution is None:
            return None
        if isinstance(self.solution, pl.DataFrame):
            return formats.of_competition(self.solution.columns)
        return formats.of_competition(against_.columns(self.solution))
