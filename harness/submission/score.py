"""A submission validated, and then marked like any model's lists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from harness import papers
from harness.errors import HarnessError
from harness.metrics import USUAL, Metric, parse
from harness.papers import Paper
from harness.scored import Scored
from harness.scored import score as mark
from harness.solutions import Solution
from harness.submission.against import Against, columns
from harness.submission.formats import Format
from harness.submission.problems import Problem, Validation
from harness.submission.read import Named
from harness.submission.terms import Terms
from harness.submission.validate import Examined, examine

_K = 12


class SubmissionError(HarnessError):
    """A submission with errors, which is not marked.

    Attributes
    ----------
    validation : Validation
        Everything that is wrong with it.
    """

    exit_status = 1

    def __init__(self, validation: Validation, refusal: str = "") -> None:
        problems = "\n".join(
            f"{p.code} {'' if p.line is None else f'line {p.line:,}: '}{p.message}; {p.hint}"
            for p in validation.errors
        )
        refusal = refusal or "has errors and is not marked; mend it, or force it"
        super().__init__(f"{validation.path}: {refusal}\n{problems}")
        self.validation = validation


def score(
    path: Path | pl.DataFrame,
    terms: Terms,
    metrics: tuple[Metric, ...] = (),
    k: int | None = None,
    *,
    conventions: bool = False,
    strict: bool = False,
    force: bool = False,
) -> Scored:
    """Validate a submission and mark it.

    Parameters
    ----------
    metrics : tuple of Metric
        The config's, or the usual ones, by default.
    k : int, optional
        The cut-off of the usual metrics and of the conventions; the config's, the competition's,
        or 12 by default.
    conventions : bool
        Whether MAP@k is worked out under every convention.
    strict : bool
        Whether warnings are errors.
    force : bool
        Whether a submission with errors is marked as it stands.

    Raises
    ------
    SubmissionError
        It has errors, and `force` is not given.
    HarnessError
        What it is checked against or marked by cannot be used.
    """
    solution = terms.marking(metrics)
    against = terms.against().marked_by(solution)
    wanted = against.format
    cut = k or solution.k or (wanted and wanted.k) or _K
    if not metrics and (k is not None or not solution.metrics):
        solution = replace(solution, metrics=_usual(cut, wanted if k is None else None))
    if wanted is not None and wanted.kinds:
        solution = solution.of_kinds(wanted.kinds)
    places = None if conventions else _longest(solution.metrics)
    found = examine(path, against, solution, places=places, strict=strict)
    if not found.validation.valid and not force:
        raise SubmissionError(found.validation)
    paper = paper_of(path, found, solution, terms, places)
    return replace(mark(paper, solution.metrics, cut, conventions), validation=found.validation)


def refused(path: Path, terms: Terms, metrics: tuple[Metric, ...] = ()) -> tuple[Problem, ...]:
    """Return the errors for which `score` refuses a submission."""
    solution = terms.marking(metrics)
    return examine(path, terms.against().marked_by(solution), solution).validation.errors


def _usual(cut: int, wanted: Format | None) -> tuple[Metric, ...]:
    """Return the competition's metric and the usual ones."""
    texts = [f"{metric}@{cut}" for metric in USUAL]
    own = [] if wanted is None else [wanted.metric]
    return tuple(parse(text) for text in dict.fromkeys([*own, *texts]))


def _longest(metrics: tuple[Metric, ...]) -> int | None:
    """Return how many places are looked at; None where a metric takes them all."""
    cuts = [metric.k for metric in metrics]
    return None if None in cuts else max(cut for cut in cuts if cut is not None)


def paper_of(
    path: Path | pl.DataFrame,
    found: Examined,
    solution: Solution,
    terms: Terms,
    places: int | None,
) -> Paper:
    """Return the paper of a submission that was examined.

    Raises
    ------
    DataError
        It has no user of the solution.
    """
    strangers = found.validation.rows > 0 and found.answered == 0
    if found.lists is None or strangers:  # these are told by whoever reads the ids
        between = found.against.between or " "
        named = _named(path, found.against, terms.named or Named())
        return papers.of_file(path, solution, named, places, between=between)
    left_out = {"users_outside": found.users_outside, "rows_outside": found.rows_outside}
    title = str(found.validation.path)
    return papers.of_lists(title, solution, found.lists, solution.items, left_out)


def _named(path: Path | pl.DataFrame, against: Against, named: Named) -> Named:
    """Return the names with those of users and items, where the header has both."""
    head = path.columns if isinstance(path, pl.DataFrame) else columns(path)
    wanted = against.wanted(tuple(head))
    if not {wanted.user, wanted.items} <= set(head):
        return named
    return replace(named, user=wanted.user, item=wanted.items)
