"""A file or frame of lists, of any shape, with the solution that it is scored against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from harness.core.arrays import Int32
from harness.metrics import Metric
from harness.metrics.inputs.codes import Coders
from harness.metrics.inputs.lists import read_lists
from harness.metrics.inputs.read import refuse_users
from harness.protocol.truth import Solution
from harness.scoring.terms import Terms
from harness.submission.expected import columns_in
from harness.submission.format import Named
from harness.submission.order import refuse_unsaid
from harness.submission.read import read


@dataclass(frozen=True, eq=False)
class SubmittedLists:
    """Lists from a file or from a run's model, with the solution they are scored against.

    Attributes
    ----------
    title : str
        Where the lists are from: a file, or a model of a run.
    solution : Solution
        Its users are those of the rows of `whole`.
    items : polars.Series of str
        The id of every position in lists and judgments; first those of the solution.
    whole : int32 array, (n, K)
        The lists, as far as they were read; −1 = empty.
    left_out : mapping
        Counts of what was left out, and of users without a list.
    """

    title: str
    solution: Solution
    items: pl.Series
    whole: Int32
    left_out: Mapping[str, int]

    @property
    def lists(self) -> Int32:
        """The lists up to the k of the evaluation set."""
        return self.whole[:, : self.solution.k]


def lists_on_terms(path: Path, terms: Terms, metrics: tuple[Metric, ...] = ()) -> SubmittedLists:
    """Return a file of lists, of any shape, with the solution that a person names.

    Users outside the solution are counted, not blamed; those whose Usage is Ignored are left out.

    Parameters
    ----------
    metrics : tuple of Metric
        What they are to be scored by; the config's own by default.

    Raises
    ------
    HarnessError
        A file or a config that cannot be used, an empty evaluation set.
    """
    solution, against = terms.scored_against(metrics), terms.against()
    between = terms.between()[0] or solution.between or " "
    return lists_of_file(path, solution, columns_in(path, against), between=between, asks=True)


def lists_of_file(
    path: Path | pl.DataFrame,
    solution: Solution,
    named: Named | None = None,
    longest: int | None = None,
    *,
    between: str = " ",
    asks: bool = False,
) -> SubmittedLists:
    """Return a file or frame of lists, of any shape, with a solution.

    Parameters
    ----------
    longest : int, optional
        Positions of a list that are looked at; all by default.
    between : str
        What stands between the items of a list that is one text.
    asks : bool
        Whether a column that may order the rows of a user, though nobody says so, is refused.

    Raises
    ------
    DataError
        A file that cannot be used.
    """
    evaluated = len(solution.users)
    of = Coders()
    of.users.codes(solution.users, "the evaluated users")
    of.users.codes(solution.ignored, "the ignored users")
    of.items.codes(solution.items, "the items of the solution")
    read_file = read(path, named, between=between)
    if asks:
        refuse_unsaid(read_file, named)
    found = read_lists(read_file.table, of, longest)
    title = str(read_file.path)
    if found.outside_users > 0 and not found.known_users:
        refuse_users(title, evaluated + len(solution.ignored), of.users.ids)
    left_out = {"users_outside": found.outside_users, "rows_outside": found.outside_rows}
    return lists_of_positions(title, solution, found.items[:evaluated], of.items.ids, left_out)


def lists_of_positions(
    title: str, solution: Solution, whole: Int32, items: pl.Series, left_out: Mapping[str, int]
) -> SubmittedLists:
    """Return lists that hold positions, with a solution; those behind the solution's never hit.

    Parameters
    ----------
    items : polars.Series of str
        Ids of the positions, first those of the solution.
    """
    judgments = solution.judgments
    unknown = max(int(whole.max(initial=-1)) + 1, len(items)) - len(solution.items)
    catalogue = judgments.catalogue and judgments.catalogue.wider(unknown)
    if solution.fingerprint is not None:
        left_out = {**left_out, "items_unknown": int((whole >= len(solution.items)).sum())}
    without = solution.counted & ~(whole >= 0).any(axis=1)
    return SubmittedLists(
        title=title,
        solution=replace(solution, judgments=replace(judgments, catalogue=catalogue)),
        items=items,
        whole=whole,
        left_out={"users_without_list": int(without.sum()), **left_out, **solution.left_out},
    )
