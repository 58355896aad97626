"""Lists and a solution in, figures for everyone and each leaderboard out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.core.arrays import Bool, Floats, Int32
from harness.core.errors import UsageError, printable
from harness.core.table import Sheet, Shown
from harness.experiment.result import SCHEMA
from harness.experiment.terms import Terms
from harness.metrics import Judgments, Metric
from harness.metrics.conventions import CONVENTIONS, audit
from harness.metrics.inputs import ids, lists
from harness.metrics.inputs import read as strangers
from harness.metrics.scores import user_scores
from harness.protocol.truth import Solution
from harness.stats.estimates import Estimate, estimate
from harness.submission import format, order
from harness.submission import read as file
from harness.submission.problems import Validation

if TYPE_CHECKING:
    from harness.config import Config

_NEEDS = {
    "train": "the training events",
    "attributes": "the items' attributes",
    "candidates": "the candidates",
}


@dataclass(frozen=True, eq=False)
class Paper:
    """Everyone's list, and what it is marked by.

    Attributes
    ----------
    title : str
        What is marked: a file, or a model of a run.
    users : polars.Series of str, (n,)
    items : polars.Series of str
        The id of every position in lists and key.
    whole : int32 array, (n, K)
        The lists, as far as they were read; −1 = empty.
    judgments : Judgments, n rows
    left_out : mapping
        Counts of what was left out, and of users without a list.
    outside : polars.Series of str
        True items that are no candidates, by user; they count in R alone.
    averaged : bool array, (n,), optional
        Whose values means are of; None: everyone's.
    leaderboards : mapping of Public and Private to bool array, (n,)
        Which users belong to which board, where the solution says so.
    metrics : tuple of Metric
        Those asked for, or the config's.
    k : int, optional
        Places that the exam looks at; None where all are.
    fingerprint : str, optional
        That of the exam, where a config sets one.
    """

    title: str
    users: pl.Series
    items: pl.Series
    whole: Int32
    judgments: Judgments
    left_out: Mapping[str, int]
    outside: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))
    averaged: Bool | None = None
    leaderboards: Mapping[str, Bool] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    k: int | None = None
    fingerprint: str | None = None

    @property
    def lists(self) -> Int32:
        """The places that the exam looks at."""
        return self.whole[:, : self.k]

    @property
    def counted(self) -> Bool:
        """Whether each user's value is averaged, (n,)."""
        return np.ones(len(self.users), np.bool_) if self.averaged is None else self.averaged

    def require(self, metric: Metric) -> None:
        """Raise UsageError where a metric looks further than the exam, or needs what is unknown."""
        if self.k is not None and metric.k is not None and metric.k > self.k:
            raise UsageError(
                f"metric {metric} looks at {metric.k} places, but the exam has k = {self.k}; set a "
                "smaller cut-off, or a larger k under [evaluation]"
            )
        if metric.graded and self.judgments.grades is None:
            raise UsageError(f"metric {metric} needs grades, which the true items here do not have")
        if metric.definition.needs and self.judgments.catalogue is None:
            raise UsageError(
                f"metric {metric} needs {_NEEDS[metric.definition.needs]}, of which a solution "
                "says nothing; use --config instead of --solution"
            )


def of_solution(
    path: Path,
    solution: Path,
    named: format.Named | None = None,
    *,
    keep_users_without_items: bool = False,
) -> Paper:
    """Return the paper of a file of lists and a file of true items; see `of_terms`."""
    keep = keep_users_without_items
    return of_terms(path, Terms(solution=solution, named=named, keep_users_without_items=keep))


def of_config(
    path: Path,
    config: Config,
    named: format.Named | None = None,
    metrics: tuple[Metric, ...] = (),
) -> Paper:
    """Return the paper of a file of lists on the exam that a config sets; see `of_terms`."""
    return of_terms(path, Terms(config, named=named), metrics)


def of_terms(path: Path, terms: Terms, metrics: tuple[Metric, ...] = ()) -> Paper:
    """Return the paper of a file of lists, of any shape, on what a person names.

    Users outside the solution are counted, not blamed; those whose Usage is Ignored are left out.

    Parameters
    ----------
    metrics : tuple of Metric
        What it is to be marked by; the config's own by default.

    Raises
    ------
    HarnessError
        A file or a config that cannot be used, an empty exam.
    """
    solution = terms.marking(metrics)
    between = terms.between()[0] or solution.between or " "
    return of_file(path, solution, terms.named, between=between, asks=True)


def of_file(
    path: Path | pl.DataFrame,
    solution: Solution,
    named: format.Named | None = None,
    longest: int | None = None,
    *,
    between: str = " ",
    asks: bool = False,
) -> Paper:
    """Return the paper of a file or frame of lists, of any shape, on a solution.

    Parameters
    ----------
    longest : int, optional
        Places of a list that are looked at; all by default.
    between : str
        What stands between the items of a list that is one text.
    asks : bool
        Whether a column that may order the rows of a user, though nobody says so, is refused.

    Raises
    ------
    DataError
        A file that cannot be used.
    """
    examined = len(solution.users)
    with ids.coders() as coders:
        coders.users.codes(solution.users, "the examined users")
        coders.users.codes(solution.ignored, "the ignored users")
        coders.items.codes(solution.items, "the items of the solution")
        read = file.read(path, named, between=between)
        if asks:
            order.refuse_unsaid(read, named)
        found = lists.Reading(read.table, coders, longest).lists()
        items = coders.items.ids()
    if found.outside_users > 0 and not found.known_users:
        strangers.refuse_users(str(read.path), examined + len(solution.ignored), coders.users.ids())
    return of_lists(
        str(read.path),
        solution,
        found.items[:examined],
        items,
        {"users_outside": found.outside_users, "rows_outside": found.outside_rows},
    )


def of_lists(
    title: str, solution: Solution, whole: Int32, items: pl.Series, left_out: Mapping[str, int]
) -> Paper:
    """Return the paper of lists that hold positions; those behind the solution's never hit.

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
    without = ~(whole >= 0).any(axis=1)
    if solution.averaged is not None:
        without &= solution.averaged
    return Paper(
        title=title,
        users=solution.users,
        items=items,
        whole=whole,
        judgments=replace(judgments, catalogue=catalogue),
        left_out={"users_without_list": int(without.sum()), **left_out, **solution.left_out},
        outside=solution.outside,
        averaged=solution.averaged,
        leaderboards=solution.leaderboards,
        metrics=solution.metrics,
        k=solution.k,
        fingerprint=solution.fingerprint,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Scored(Shown):
    """What a paper earned.

    Attributes
    ----------
    metrics : mapping of text to Estimate
    leaderboards : mapping of board to the same of its users
    conventions : mapping of name to MAP@k, optional
        None where a convention averages none of these users.
    validation : Validation, optional
        What is wrong with the file.
    """

    paper: Paper
    k: int
    metrics: Mapping[str, Estimate]
    leaderboards: Mapping[str, Mapping[str, Estimate]]
    conventions: Mapping[str, float | None] | None
    validation: Validation | None = None

    def sheets(self) -> list[Sheet]:
        """Return the figures, and the audit of conventions where it was asked for."""
        return sheets(self)

    def records(self) -> list[dict[str, object]]:
        """Return one record a metric and one a convention, with full figures."""
        return records(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        paper = self.paper
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "evaluation": {
                "k": self.k,
                "users": int(paper.counted.sum()),
                "fingerprint": paper.fingerprint,
                "left_out": dict(paper.left_out),
            },
            "metrics": _estimates(self.metrics),
            "usage": {
                board: _estimates(estimates) for board, estimates in self.leaderboards.items()
            },
        }
        if self.validation is not None:
            document["problems"] = self.validation.summary() | {"forced": not self.validation.valid}
        if self.conventions is not None:
            document["conventions"] = [
                {"name": name, "value": value, **CONVENTIONS[name].to_dict()}
                for name, value in self.conventions.items()
            ]
        return document


def score(paper: Paper, metrics: tuple[Metric, ...], k: int, conventions: bool = False) -> Scored:
    """Mark a paper.

    Parameters
    ----------
    k : int
        The cut-off of the conventions.

    Raises
    ------
    UsageError
        A metric looks further than the exam, or needs what a solution alone does not tell.
    """
    for metric in (*metrics, *([Metric("MAP", k)] if conventions else [])):
        paper.require(metric)
    values = user_scores(paper.lists, paper.judgments, metrics)
    counted = paper.counted
    leaderboards = {board: users & counted for board, users in paper.leaderboards.items()}
    estimates = {
        board: _estimates_of(_of_users(paper, users, values))
        for board, users in leaderboards.items()
        if users.any()
    }
    audited = audit(paper.whole, paper.judgments, k) if conventions else None
    everyone = _estimates_of(_of_users(paper, counted, values))
    return Scored(paper, k, everyone, estimates, audited)


def _estimates_of(values: Mapping[Metric, Floats]) -> dict[str, Estimate]:
    return {str(metric): estimate(metric, value) for metric, value in values.items()}


def _of_users(
    paper: Paper, users: Bool, values: Mapping[Metric, Floats]
) -> Mapping[Metric, Floats]:
    """Return the values of some users; what is one of all lists is worked out anew."""
    if users.all():
        return values
    whole = [metric for metric in values if metric.definition.of == "set"]
    anew = user_scores(paper.lists[users], paper.judgments.pick(users), whole) if whole else {}
    return {m: anew[m] if m in anew else v[users] for m, v in values.items()}


def _estimates(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        name: {"mean": f.mean, "ci95": f.ci95 and list(f.ci95)} for name, f in estimates.items()
    }


_DIGITS = 6


def sheets(scored: Scored) -> list[Sheet]:
    """Return the figures, and the audit where it was asked for."""
    found = [_table(scored)]
    return found if scored.conventions is None else [*found, _audit(scored)]


def records(scored: Scored) -> list[dict[str, object]]:
    """Return one record a metric and one a convention, with full figures."""
    return [
        *(_record("metric", n, f.mean, f.ci95, scored) for n, f in scored.metrics.items()),
        *(_record("convention", n, v, None, scored) for n, v in (scored.conventions or {}).items()),
    ]


def _record(
    kind: str,
    name: str,
    value: float | None,
    ci95: tuple[float, float] | None,
    scored: Scored,
) -> dict[str, object]:
    low, high = ci95 or (None, None)
    leaderboards = {board: estimates.get(name) for board, estimates in scored.leaderboards.items()}
    return {
        "kind": kind,
        "name": name,
        "value": value,
        "low": low,
        "high": high,
        **{
            board: None if estimate is None else estimate.mean
            for board, estimate in leaderboards.items()
        },
    }


def _table(scored: Scored) -> Sheet:
    leaderboards = list(scored.leaderboards)
    rows = [
        [
            name,
            _number(estimate.mean),
            _ends(estimate),
            *(_of_board(scored, b, name) for b in leaderboards),
        ]
        for name, estimate in scored.metrics.items()
    ]
    return Sheet(
        ["metric", "mean", "95 % interval", *leaderboards],
        rows,
        heading=_heading(scored),
    )


def _heading(scored: Scored) -> list[str]:
    paper = scored.paper
    evaluation_set = "" if paper.fingerprint is None else f" · {paper.fingerprint[:6]}"
    users = int(paper.counted.sum())
    lines = [f"paper  {printable(paper.title)} · {users:,} users{evaluation_set}"]
    counts = {name: count for name, count in paper.left_out.items() if count > 0}
    if counts.get("rows_outside") == counts.get("users_outside"):
        counts.pop("rows_outside", None)  # a row a user says nothing new
    lines += [f"note   {_NOTES[name]}: {count:,}" for name, count in counts.items()]
    return lines + _problems(scored.validation)


def _problems(found: Validation | None) -> list[str]:
    """Return a line on each kind of thing that is wrong with the file."""
    problems = () if found is None else found.problems
    lines = [
        f"{p.severity:8}{p.code} {p.message}" + (f" (× {p.count:,})" if p.count > 1 else "")
        for p in problems
    ]
    forced = found is not None and not found.valid
    return [*lines, *(["note   marked with its errors, as it was forced"] if forced else [])]


_NOTES = {
    "users_without_items": "users without true items, who are not averaged, as in H&M on Kaggle",
    "users_without_items_kept": "users without true items, who score 0",
    "users_without_list": "users without a list, who score 0",
    "users_outside": "users of the file who are not examined",
    "rows_outside": "rows of those users, left out",
    "users_ignored": "users whom the solution ignores",
    "items_unknown": "places that hold no candidate and never hit",
    "true_items_repeated": "true items that stand again, counted once",
}


def _audit(scored: Scored) -> Sheet:
    values = scored.conventions or {}
    own = values.get("ml_metrics" if scored.paper.averaged is None else "kaggle")
    rows = [
        [
            name,
            "not counted" if value is None else _number(value),
            "" if value is None or own is None else f"{value - own:+.{_DIGITS}f}",
            *(
                CONVENTIONS[name].to_dict()[judgments]
                for judgments in ("tools", "divisor", "repeats", "users")
            ),
        ]
        for name, value in values.items()
    ]
    titles = [
        "convention",
        f"MAP@{scored.k}",
        "difference",
        "who prints it",
        "divisor D",
        "repeated item",
        "users averaged",
    ]
    words = frozenset({3, 4, 5, 6})
    return Sheet(titles, rows, left=words | {0}, kept=3, wrapped=words)


def _of_board(scored: Scored, board: str, metric: str) -> str:
    estimate = scored.leaderboards[board].get(metric)
    return "" if estimate is None else _number(estimate.mean)


def _ends(estimate: Estimate) -> str:
    return "" if estimate.ci95 is None else " … ".join(map(_number, estimate.ci95))


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}f}"
