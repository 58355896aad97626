"""A submission validated and scored, as the command ``score`` does."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from harness.core.errors import HarnessError, UsageError, counted
from harness.core.progress import stopwatch
from harness.metrics import USUAL, Metric, parse
from harness.metrics.inputs.read import longest_of
from harness.protocol.truth import Solution
from harness.scoring.options import SubmissionOptions
from harness.scoring.score import Scored
from harness.scoring.score import score as score_lists
from harness.scoring.submitted_lists import SubmittedLists, lists_of_file, lists_of_positions
from harness.scoring.terms import Terms, path_or_frame
from harness.submission.expected import Against, columns_in
from harness.submission.format import Format
from harness.submission.problems import Problem, Validation
from harness.submission.validate import Examined, examine

_log = logging.getLogger(__name__)

_K = 12


class SubmissionError(HarnessError):
    """A submission with errors, which is not scored.

    Attributes
    ----------
    validation : Validation
        Everything that is wrong with it.
    """

    exit_status = 1

    def __init__(self, validation: Validation, refusal: str = "", whose: str = "") -> None:
        problems = "\n".join(
            f"{p.code} {'' if p.line is None else f'line {p.line:,}: '}{p.message}; {p.hint}"
            for p in validation.errors
        )
        if not refusal and any(problem.code == "SUB001" for problem in validation.errors):
            refusal = "cannot be read"
        refusal = refusal or "has errors and is not scored; mend it, or force it"
        super().__init__(f"{whose}{validation.path}: {refusal}\n{problems}")
        self.validation = validation


def score_on(
    path: Path | pl.DataFrame,
    terms: Terms,
    metrics: tuple[Metric, ...] = (),
    k: int | None = None,
    *,
    conventions: bool = False,
    strict: bool = False,
    force: bool = False,
) -> Scored:
    """Validate a submission and score it.

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
        Whether a submission with errors is scored as it stands.

    Raises
    ------
    SubmissionError
        It has errors, and `force` is not given.
    HarnessError
        What it is checked or scored against cannot be used.
    """
    scorer = Scorer.of(terms, metrics, k, conventions=conventions)
    validation, submitted = scorer.lists(path, strict=strict, force=force)
    took = stopwatch()
    scored = score_lists(submitted, scorer.solution.metrics, scorer.cut, conventions)
    users, metrics_ = counted(scored.users, "user"), counted(len(scored.metrics), "metric")
    _log.info("scored %s under %s, %s", users, metrics_, took())
    return replace(scored, validation=validation)


@dataclass(frozen=True, eq=False)
class Scorer:
    """What submissions are validated and scored against, read once for all of them.

    Attributes
    ----------
    against : Against
        What their rows and lists are checked against.
    solution : Solution
        With the metrics that they are scored by.
    cut : int
        The cut-off of usual metrics and of the conventions.
    longest : int, optional
        Positions of a list that are read; all by default.
    """

    against: Against
    solution: Solution
    cut: int
    longest: int | None

    @classmethod
    def of(
        cls,
        terms: Terms,
        metrics: tuple[Metric, ...] = (),
        k: int | None = None,
        *,
        conventions: bool = False,
    ) -> Scorer:
        """Return it, of what `score_on` takes.

        Raises
        ------
        HarnessError
            What they are checked or scored against cannot be used.
        """
        if metrics and k is not None and not conventions:
            raise UsageError(
                f"metric {metrics[0]} says its own cut-off; leave --k out (in Python, k=)"
            )
        against, solution = terms.checking(metrics)
        if solution is None:
            solution = terms.scored_against(metrics)  # it says what is missing
        wanted = against.format
        solution, cut = by_metrics(solution, wanted, metrics, k)
        against = replace(against, allowed=k or 0)
        if wanted is not None and wanted.kinds:
            solution = solution.of_kinds(wanted.kinds)
        longest = None if conventions else longest_of(solution.metrics)
        return cls(against, solution, cut, longest)

    def lists(
        self, path: Path | pl.DataFrame, *, strict: bool = False, force: bool = False
    ) -> tuple[Validation, SubmittedLists]:
        """Return what is wrong with a submission, and its lists.

        Raises
        ------
        SubmissionError
            It has errors, and `force` is not given.
        """
        found = examine(path, self.against, self.solution, places=self.longest, strict=strict)
        if not found.validation.valid and not force:
            raise SubmissionError(found.validation)
        lists = lists_of_validated(path, found, self.solution, self.longest)
        return found.validation, lists


def by_metrics(
    solution: Solution, wanted: Format | None, metrics: tuple[Metric, ...], k: int | None
) -> tuple[Solution, int]:
    """Return a solution with the metrics that lists are scored by, and the cut-off of usual ones.

    Parameters
    ----------
    wanted : Format, optional
        That of the competition.
    metrics, k
        As `score_on` takes them.

    Raises
    ------
    UsageError
        `k` is no cut-off.
    """
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        found = repr(k) if isinstance(k, (str, int, float)) else type(k).__name__
        raise UsageError(f"k is {found}; expected a whole number, 1 or more")
    cut = k or solution.k or (wanted and wanted.k) or _K
    if not metrics and (k is not None or not solution.metrics):
        own = [] if wanted is None or k is not None else [wanted.metric]
        texts = dict.fromkeys([*own, *(f"{metric}@{cut}" for metric in USUAL)])
        solution = replace(solution, metrics=tuple(parse(text) for text in texts))
    return solution, cut


def refused(path: Path, terms: Terms, metrics: tuple[Metric, ...] = ()) -> tuple[Problem, ...]:
    """Return the errors for which `score` refuses a submission."""
    against, solution = terms.checking(metrics)
    return examine(path, against, solution).validation.errors


def lists_of_validated(
    path: Path | pl.DataFrame,
    found: Examined,
    solution: Solution,
    longest: int | None,
) -> SubmittedLists:
    """Return the lists of a submission that was validated, up to the `longest` if there is one.

    Raises
    ------
    DataError
        It has no user of the solution.
    """
    summary = found.summary
    none_known = summary is not None and summary.rows > 0 and summary.answered == 0
    if found.lists is None or summary is None or none_known:  # told by whoever reads the ids
        between = found.against.between or " "
        named = columns_in(path, found.against)
        return lists_of_file(path, solution, named, longest, between=between)
    left_out = {"users_outside": summary.outside, "rows_outside": summary.rows_outside}
    title = str(found.validation.path)
    return lists_of_positions(title, solution, found.lists, solution.items, left_out)


def score(
    submission: Any,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    k: int | None = None,
    conventions: bool = False,
    strict: bool = False,
    force: bool = False,
    **options: Unpack[SubmissionOptions],
) -> Scored:
    """Validate a submission and score it.

    Parameters
    ----------
    submission : path or frame
        As for `validate`.
    metrics : text, Metric or a sequence of them
        The config's, the competition's or the usual ones by default.
    k : int, optional
        The cut-off where no metric is named.
    conventions : bool
        Whether MAP@k is worked out under every convention.
    strict : bool
        Whether warnings are errors.
    force : bool
        Whether a submission with errors is scored as it stands.
    **options
        What it is checked and scored against, and how it is read; a config or a solution is
        needed. See `harness.scoring.options.SubmissionOptions`.

    Returns
    -------
    Scored
        ``metrics["MAP@12"].mean``, ``leaderboards["Public"]``, ``validation``, ``to_dict()``.

    Raises
    ------
    SubmissionError
        The submission has errors, and `force` is not given.
    HarnessError
        What it is checked or scored against cannot be used.
    """
    from harness.metrics.evaluate import metrics_of  # commands do without

    terms = Terms.of(**options)
    none = isinstance(metrics, (list, tuple)) and not metrics
    asked = () if none else metrics_of(metrics, folder=terms.folder)
    file = path_or_frame(submission, "submission")
    return score_on(file, terms, asked, k, conventions=conventions, strict=strict, force=force)
