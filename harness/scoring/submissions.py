"""A submission validated and scored, as the command ``score`` does, and its tables and JSON."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from harness.core.arrays import Bool, Int32
from harness.core.errors import DataError, HarnessError, UsageError, counted, printable
from harness.core.progress import doing, stopwatch
from harness.core.table import Column, Sheet, Shown, ends, low_high, number
from harness.metrics import USUAL, Metric, parse
from harness.metrics.conventions import CONVENTIONS, map_by_convention
from harness.metrics.inputs.read import longest_of
from harness.metrics.scores import user_scores
from harness.protocol.truth import Solution
from harness.scoring.options import SubmissionOptions, require, require_options
from harness.scoring.terms import Terms, path_or_frame, which_fold
from harness.stats.estimates import Estimate, estimate
from harness.submission.expected import Against
from harness.submission.problems import Problem, Validation
from harness.submission.validate import Examined, examine

_log = logging.getLogger(__name__)

_K = 12
_DIGITS = 6
_NOTES = {
    "users_without_items": "users without true items, left out of the mean, as in H&M on Kaggle",
    "users_without_items_kept": "users without true items, which score 0",
    "users_without_list": "users without a list, which score 0",
    "users_outside": "users of the file that are not in the evaluation set",
    "rows_outside": "rows of those users, left out",
    "users_ignored": "users that the solution ignores",
    "items_unknown": "positions without a candidate, which cannot hit",
    "true_items_repeated": "repeated true items, counted once",
}


def brief(problem: Problem) -> str:
    """Return a problem in a line, with what to do."""
    line = "" if problem.line is None else f"line {problem.line:,}: "
    return f"{problem.code} {line}{problem.message}; {problem.hint}"


class SubmissionError(HarnessError):
    """A submission with errors, which is not scored.

    Attributes
    ----------
    validation : Validation
        Everything that is wrong with it.
    """

    exit_status = 1

    def __init__(self, validation: Validation, refusal: str = "", whose: str = "") -> None:
        problems = "\n".join(map(brief, validation.errors))
        if not refusal and any(problem.code == "SUB001" for problem in validation.errors):
            refusal = "cannot be read"
        refusal = refusal or (
            "has errors and is not scored; fix it, or use --force (in Python, force=True)"
        )
        super().__init__(f"{whose}{validation.path}: {refusal}\n{problems}")
        self.validation = validation


@dataclass(frozen=True, eq=False)
class SubmittedLists:
    """Lists from a file or from a run's model, with the solution they are scored against.

    `title` is the file, or the model of a run; `solution` has the users of the rows of `whole`.
    These are the lists, as far as they were read, (n, K), −1 = empty; `items` has the id of every
    position in them and in judgments, first those of the solution. `left_out` has counts of what
    was left out, and of users without a list.
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


@dataclass(frozen=True)
class OnConvention:
    """MAP@k under one convention, and what that decides."""

    name: str
    value: float | None
    divisor: str
    repeats: str
    users: str
    tools: str


@dataclass(frozen=True, eq=False, repr=False)
class Scored(Shown):
    """The estimates of submitted lists.

    Attributes
    ----------
    title : str
        Where the lists are from: a file, or a model of a run.
    metrics : mapping of text to Estimate
    leaderboards : mapping of Public and Private to the same of their users
    users : int
        Who are averaged.
    fingerprint : str, optional
        That of the evaluation set, where a config sets one.
    left_out : mapping
        Counts of what was left out, and of users without a list.
    convention : str
        The one that the metrics follow.
    conventions : mapping of name to MAP@k, optional
        None where a convention averages none of these users.
    validation : Validation, optional
        What is wrong with the file.
    folds : int
        Of how many evaluation sets of a config it was the last.
    truth : str
        How a file of true items was read: ``one row an item, 3 users``.
    """

    title: str
    k: int
    metrics: dict[str, Estimate]
    leaderboards: dict[str, dict[str, Estimate]]
    users: int
    fingerprint: str | None
    left_out: Mapping[str, int]
    convention: str
    conventions: Mapping[str, float | None] | None = None
    validation: Validation | None = None
    folds: int = 1
    truth: str = ""

    def sheets(self) -> list[Sheet]:
        """Return the estimates, and MAP@k by convention where it was asked for."""
        columns: list[Column[str]] = [
            Column("metric", lambda name: name, "name"),
            Column("mean", partial(_mean, self.metrics)),
            Column("95 % interval", lambda name: ends(self.metrics[name].ci95, _DIGITS)),
            *(Column(board, partial(_mean, means)) for board, means in self.leaderboards.items()),
        ]
        sheet = Sheet.of(self.metrics, columns, heading=self._heading())
        return [sheet] if self.conventions is None else [sheet, self._conventions_sheet()]

    def _heading(self) -> list[str]:
        problems = [] if self.validation is None else self.validation.problems
        fingerprint = "" if self.fingerprint is None else f" · {self.fingerprint[:6]}"
        lines = ["checked as " + self.validation.checked] if self.validation else []
        lines += [f"truth: {self.truth}"] if self.truth else []
        lines += [f"lists  {printable(self.title)} · {counted(self.users, 'user')}{fingerprint}"]
        notes = [which_fold(self.folds, self.folds), *left_out_lines(self.left_out)]
        lines += [f"note   {note}" for note in notes if note]
        for problem in problems:
            times = f" (× {problem.count:,})" if problem.count > 1 else ""
            lines.append(f"{problem.severity:8}{problem.code} {problem.message}{times}")
        if self.validation is not None and not self.validation.valid:
            lines.append("note   scored with its errors, because of --force")
        return lines

    def _conventions_sheet(self) -> Sheet:
        values = self.conventions or {}
        followed = values.get(self.convention)
        name, value, *words = convention_columns(f"MAP@{self.k}")

        def difference(row: OnConvention) -> str:
            if row.value is None or followed is None:
                return ""
            return number(row.value - followed, _DIGITS, "+")

        columns = [
            *(name, value, Column("difference", difference), *words),
            Column("users averaged", lambda row: row.users, "words"),
        ]
        return Sheet.of(on_conventions(values), columns)

    def records(self) -> list[dict[str, object]]:
        """Return one record a metric and one a convention, in full precision."""
        none = {**low_high(None), **dict.fromkeys(self.leaderboards)}
        metrics: list[dict[str, object]] = [
            {
                "kind": "metric",
                "name": name,
                "value": estimate.mean,
                **low_high(estimate.ci95),
                **{board: means[name].mean for board, means in self.leaderboards.items()},
            }
            for name, estimate in self.metrics.items()
        ]
        return metrics + [
            {"kind": "convention", "name": name, "value": value, **none}
            for name, value in (self.conventions or {}).items()
        ]

    def content(self) -> dict[str, Any]:
        """Return what JSON holds; what was not asked for has no key."""
        evaluation = {
            "k": self.k,
            "users": self.users,
            "fingerprint": self.fingerprint,
            "left_out": self.left_out,
        }
        evaluation |= {"truth": self.truth} if self.truth else {}
        evaluation |= {"fold": self.folds, "folds": self.folds} if self.folds > 1 else {}
        content = {"evaluation": evaluation, "metrics": self.metrics, "usage": self.leaderboards}
        if self.validation is not None:
            content["problems"] = self.validation.summary(forced=not self.validation.valid)
        if self.conventions is not None:
            content["conventions"] = on_conventions(self.conventions)
        return content


def _mean(estimates: Mapping[str, Estimate], name: str) -> str:
    return number(estimates[name].mean, _DIGITS)


def left_out_lines(left_out: Mapping[str, int]) -> list[str]:
    """Return a line on each count of what was left out of a submission, or is odd."""
    counts = {name: count for name, count in left_out.items() if count > 0}
    if counts.get("rows_outside") == counts.get("users_outside"):
        counts.pop("rows_outside", None)  # a row a user says nothing new
    return [f"{_NOTES[name]}: {count:,}" for name, count in counts.items()]


def on_conventions(values: Mapping[str, float | None]) -> list[OnConvention]:
    """Return what each convention makes of lists, and what it decides."""
    return [
        OnConvention(name, value, c.divisor_text, c.repeats_text, c.users, c.tools)
        for name, value in values.items()
        for c in [CONVENTIONS[name]]
    ]


def convention_columns(title: str) -> list[Column[OnConvention]]:
    """Return the columns of every table of conventions, the value's under `title`."""
    return [
        Column("convention", lambda c: c.name, "name"),
        Column(title, lambda c: "not counted" if c.value is None else number(c.value, _DIGITS)),
        Column("used by", lambda c: c.tools, "words"),
        Column("divisor D", lambda c: c.divisor, "words"),
        Column("repeated item", lambda c: c.repeats, "words"),
    ]


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
    """Check a submission, then score it.

    Parameters
    ----------
    submission : path or frame
        As for `validate`.
    metrics : text, Metric or a sequence of them
        By default those of the config or the competition, else the usual ones.
    k : int, optional
        The cut-off of the usual metrics and of the conventions; by default that of the config or
        the competition, else 12.
    conventions : bool
        Also compute MAP@k under every convention.
    strict : bool
        Treat warnings as errors.
    force : bool
        Score a submission even if it has errors.
    **options
        What to score it against (a config or a solution), and how to read it:
        `harness.scoring.options.SubmissionOptions`.

    Returns
    -------
    Scored
        ``metrics["MAP@12"].mean``, ``leaderboards["Public"]``, ``validation``, ``to_dict()``.

    Raises
    ------
    SubmissionError
        The submission has errors, and `force` is false.
    HarnessError
        The config, the solution or another file cannot be used.
    """
    from harness.metrics.evaluate import metrics_of  # commands do without

    require_options(score, options, SubmissionOptions)
    require(bool, "True or False", conventions=conventions, strict=strict, force=force)
    terms = Terms(options)
    none = isinstance(metrics, (list, tuple)) and not metrics
    asked = () if none else metrics_of(metrics, folder=terms.folder)
    file = path_or_frame(submission, "submission")
    scorer = Scorer.of(terms, asked, k, conventions=conventions)
    return scorer.score(file, strict=strict, force=force)


@dataclass(frozen=True, eq=False)
class Scorer:
    """What submissions are validated and scored against, read once for all of them.

    `against` checks their rows and lists; `solution` has the metrics that they are scored by. Usual
    metrics and the conventions, if these are asked for, are cut off at `cut`.
    """

    against: Against
    solution: Solution
    cut: int
    conventions: bool = False

    @classmethod
    def of(
        cls,
        terms: Terms,
        metrics: tuple[Metric, ...] = (),
        k: int | None = None,
        *,
        conventions: bool = False,
    ) -> Scorer:
        """Return it, of what `score` takes."""
        if metrics and k is not None and not conventions:
            raise UsageError(f"metric {metrics[0]} has its own cut-off; remove --k (in Python, k=)")
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
            raise UsageError(f"k is {k!r}; expected a whole number, 1 or more")
        against, solution = terms.checking(metrics)
        wanted = against.format
        cut = k or solution.k or (wanted and wanted.k) or _K
        if not metrics and (k is not None or not solution.metrics):
            texts = [] if wanted is None or k is not None else [wanted.metric]
            texts += [f"{metric}@{cut}" for metric in USUAL]
            solution = replace(solution, metrics=tuple(map(parse, dict.fromkeys(texts))))
        if wanted is not None and wanted.kinds:
            solution = solution.of_kinds(wanted.kinds)
        return cls(replace(against, allowed=k or 0), solution, cut, conventions)

    def lists(
        self, path: Path | pl.DataFrame, *, strict: bool = False, force: bool = False
    ) -> tuple[Validation, SubmittedLists]:
        """Return what is wrong with a submission, and its lists; SubmissionError unless forced."""
        longest = None if self.conventions else longest_of(self.solution.metrics)
        examined = examine(path, self.against, self.solution, places=longest, strict=strict)
        if not examined.validation.valid and not force:
            raise SubmissionError(examined.validation)
        validation = examined.validation
        if examined.summary is None and self.against.format is not None:
            # Its header is not the sample's: read by the names of its columns.
            examined = examine(
                path, replace(self.against, format=None), self.solution, places=longest
            )
            examined = replace(examined, validation=validation)
        return validation, lists_of_validated(examined, self.solution)

    def score(
        self, path: Path | pl.DataFrame, *, strict: bool = False, force: bool = False
    ) -> Scored:
        """Return the estimates of a submission; SubmissionError unless forced."""
        validation, submitted = self.lists(path, strict=strict, force=force)
        took = stopwatch()
        scored = score_lists(submitted, self.solution.metrics, self.cut, self.conventions)
        n_users, n_metrics = counted(scored.users, "user"), counted(len(scored.metrics), "metric")
        _log.info("scored %s under %s, %s", n_users, n_metrics, took())
        return replace(scored, validation=validation)


def lists_of_validated(examined: Examined, solution: Solution) -> SubmittedLists:
    """Return the lists of a submission that was examined; DataError where they are none's.

    Items that the solution does not have have an id if `examine` was asked to keep these.
    """
    summary, against, path = examined.summary, examined.against, examined.validation.path
    if summary is None:
        raise SubmissionError(examined.validation, "cannot be read")
    if summary.lists is None:
        raise DataError(
            f"{path}: a rank is far too high, so that the lists do not fit in memory; write ranks "
            "from 1, or give every metric a cut-off"
        )
    ignored = summary.present[against.users.codes_of(solution.ignored)]
    if summary.rows > 0 and summary.answered == 0 and not ignored.any():
        shown = f"{printable(repr(summary.stranger))} here, " if summary.stranger else ""
        raise DataError(
            f"{path}: none of the users is in the truth: {shown}{solution.users[0]!r} there; "
            "write ids the same way"
        )
    left_out = {"users_outside": summary.outside, "rows_outside": summary.rows_outside}
    items = pl.concat([solution.items, pl.Series(solution.items.name, summary.names, pl.String)])
    return lists_of_positions(str(path), solution, summary.lists, items, left_out)


def lists_on_terms(
    path: Path, terms: Terms, metrics: tuple[Metric, ...] = ()
) -> tuple[Validation, SubmittedLists]:
    """Return what is wrong with a file, and its lists with the id of every item.

    SubmissionError where it is open which rows are a list, and in which order.
    """
    against, solution = terms.checking(metrics)
    examined = examine(path, against, solution, named=True)
    if any(problem.code in _OPEN for problem in examined.validation.errors):
        raise SubmissionError(examined.validation, "its lists can be read in several ways")
    return examined.validation, lists_of_validated(examined, solution)


_OPEN = ("SUB111", "SUB114")
"""Errors after which rows may be of several lists, or in another order."""


def lists_of_positions(
    title: str, solution: Solution, whole: Int32, items: pl.Series, left_out: Mapping[str, int]
) -> SubmittedLists:
    """Return lists of positions, with a solution; positions behind those of its items never hit.

    `items` are the ids of the positions, first those of the solution.
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


@doing("scoring")
def score_lists(
    submitted: SubmittedLists, metrics: tuple[Metric, ...], k: int, conventions: bool = False
) -> Scored:
    """Return the estimates of lists: of everyone who is averaged, and of each leaderboard.

    The conventions are cut at `k`. UsageError where a metric looks further than the evaluation set,
    or needs what a solution alone does not tell.
    """
    solution, averaged = submitted.solution, submitted.solution.counted
    for metric in (*metrics, *([Metric("MAP", k)] if conventions else [])):
        solution.require(metric)
    lists, judgments = submitted.lists, solution.judgments
    of_users = [metric for metric in metrics if metric.definition.of == "user"]
    of_lists = [metric for metric in metrics if metric.definition.of != "user"]
    scores = user_scores(lists, judgments, of_users)

    def estimates(users: Bool) -> dict[str, Estimate]:
        values = {metric: scores[metric][users] for metric in of_users}
        if of_lists:
            values |= user_scores(lists[users], judgments.pick(users), of_lists)
        return {str(metric): estimate(metric, values[metric]) for metric in metrics}

    boards = {name: users & averaged for name, users in solution.leaderboards.items()}
    return Scored(
        title=submitted.title,
        k=k,
        metrics=estimates(averaged),
        leaderboards={name: estimates(users) for name, users in boards.items() if users.any()},
        users=int(averaged.sum()),
        fingerprint=solution.fingerprint,
        left_out=submitted.left_out,
        convention="ml_metrics" if solution.averaged is None else "kaggle",
        conventions=map_by_convention(submitted.whole, judgments, k) if conventions else None,
        folds=solution.folds,
        truth=solution.shape,
    )
