"""Lists and a solution in, estimates for everyone and for each leaderboard out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from harness.core.arrays import Bool, Floats
from harness.core.errors import counted, printable
from harness.core.exact_sum import Sums
from harness.core.steps import Steps, found, of_one
from harness.core.table import Column, Sheet, Shown, ends, low_high, number, signed
from harness.experiment.submitted_lists import SubmittedLists
from harness.experiment.terms import last_of
from harness.metrics import Metric, value_of
from harness.metrics.conventions import CONVENTIONS, map_by_convention
from harness.metrics.scores import sums_of_lists, user_scores
from harness.stats.estimates import Estimate, estimate_of
from harness.stats.intervals import Sample, sample_steps
from harness.submission.problems import Validation


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
    own : str
        The convention that the metrics follow.
    conventions : mapping of name to MAP@k, optional
        None where a convention averages none of these users.
    validation : Validation, optional
        What is wrong with the file.
    folds : int
        Of how many evaluation sets of a config it was the last.
    """

    title: str
    k: int
    metrics: dict[str, Estimate]
    leaderboards: dict[str, dict[str, Estimate]]
    users: int
    fingerprint: str | None
    left_out: Mapping[str, int]
    own: str
    conventions: Mapping[str, float | None] | None = None
    validation: Validation | None = None
    folds: int = 1

    def sheets(self) -> list[Sheet]:
        """Return the estimates, and MAP@k by convention where it was asked for."""
        found = [_table(self)]
        return found if self.conventions is None else [*found, _conventions_table(self)]

    def records(self) -> list[dict[str, object]]:
        """Return one record a metric and one a convention, in full precision."""
        none = {**low_high(None), **dict.fromkeys(self.leaderboards)}
        metrics = (
            {"kind": "metric", "name": name, "value": f.mean, **low_high(f.ci95)}
            | {leaderboard: own[name].mean for leaderboard, own in self.leaderboards.items()}
            for name, f in self.metrics.items()
        )
        conventions = (
            {"kind": "convention", "name": name, "value": value, **none}
            for name, value in (self.conventions or {}).items()
        )
        return [*metrics, *conventions]

    def record(self) -> dict[str, Any]:
        """Return what JSON holds; what was not asked for has no key."""
        found: dict[str, Any] = {
            "evaluation": {
                "k": self.k,
                "users": self.users,
                "fingerprint": self.fingerprint,
                "left_out": self.left_out,
            },
            "metrics": self.metrics,
            "usage": self.leaderboards,
        }
        if self.folds > 1:
            found["evaluation"] |= {"fold": self.folds, "folds": self.folds}
        if self.validation is not None:
            found["problems"] = self.validation.summary(forced=not self.validation.valid)
        if self.conventions is not None:
            found["conventions"] = on_conventions(self.conventions)
        return found


def on_conventions(values: Mapping[str, float | None]) -> list[OnConvention]:
    """Return what each convention makes of lists, and what it decides."""
    return [
        OnConvention(name, value, c.divisor_text, c.repeats_text, c.users, c.tools)
        for name, value in values.items()
        for c in [CONVENTIONS[name]]
    ]


def score(
    submitted: SubmittedLists, metrics: tuple[Metric, ...], k: int, conventions: bool = False
) -> Scored:
    """Score submitted lists.

    Parameters
    ----------
    k : int
        The cut-off of the conventions.

    Raises
    ------
    UsageError
        A metric looks further than the evaluation set, or needs what a solution alone does not
        tell.
    """
    solution = submitted.solution
    for metric in (*metrics, *([Metric("MAP", k)] if conventions else [])):
        solution.require(metric)
    part = ScoredUsers.of(submitted, metrics)
    weights = solution.judgments.weights
    users, estimates = found(score_steps(metrics, weights), of_one(part))
    return Scored(
        submitted.title,
        k,
        estimates.pop(ALL),
        estimates,
        users,
        solution.fingerprint,
        submitted.left_out,
        "ml_metrics" if solution.averaged is None else "kaggle",
        map_by_convention(submitted.whole, solution.judgments, k) if conventions else None,
        folds=solution.folds,
    )


ALL = "all"
"""Everyone who is averaged; leaderboards are some of them."""


@dataclass(frozen=True, eq=False)
class ScoredUsers:
    """Users of a part of a solution, and what their lists score.

    Attributes
    ----------
    groups : mapping of text to bool array, (n,)
        Who is averaged, and who of them is on which leaderboard.
    values : mapping of Metric to float64 array, (n,)
        Of metrics of users.
    sums : Sums
        By group: how many users, and what metrics of all lists add up.
    """

    groups: Mapping[str, Bool]
    values: Mapping[Metric, Floats]
    sums: Sums

    @classmethod
    def of(cls, submitted: SubmittedLists, metrics: Sequence[Metric]) -> ScoredUsers:
        """Return what lists score."""
        solution, lists = submitted.solution, submitted.lists
        counted = solution.counted
        boards = {name: users & counted for name, users in solution.leaderboards.items()}
        groups = {ALL: counted, **boards}
        of_users, of_set = _apart(metrics)
        sums: dict[str, Sums] = {}
        for name, users in groups.items():
            judgments = solution.judgments.pick(users) if of_set else solution.judgments
            own = sums_of_lists(lists[users] if of_set else lists, judgments, of_set)
            sums[name] = {_USERS: np.array([int(users.sum())]), **own}
        return cls(groups, user_scores(lists, solution.judgments, of_users), sums)

    def of_group(self, metric: Metric, group: str) -> Floats:
        """Return the values of the users of a group."""
        users = self.groups.get(group)
        if users is None:
            return np.empty(0)
        return self.values[metric] if users.all() else self.values[metric][users]


_USERS = "users"
Estimates = dict[str, dict[str, Estimate]]
"""By group and metric."""


def _apart(metrics: Sequence[Metric]) -> tuple[list[Metric], list[Metric]]:
    """Return metrics of users, and those of all lists together."""
    of_users = [metric for metric in metrics if metric.definition.of == "user"]
    return of_users, [metric for metric in metrics if metric not in of_users]


def score_steps(
    metrics: Sequence[Metric], weights: Sequence[float]
) -> Steps[ScoredUsers, tuple[int, Estimates]]:
    """Yield steps; return how many users are averaged, and the estimates of each group.

    Parameters
    ----------
    weights : sequence of float
        Of the kinds of users, for metrics of all lists.
    """
    sums: Any = yield _sums_of
    groups = [name for name in sums if name == ALL or sums[name][_USERS][0] > 0]
    of_users, of_set = _apart(metrics)
    keys = [(name, metric) for name in groups for metric in of_users]
    samples = yield from sample_steps(partial(_columns, keys))
    estimates = dict(zip(keys, map(_estimate_of, keys, samples), strict=True))
    for name in groups:
        for at, metric in enumerate(of_set):
            value = value_of(metric, sums[name][at], weights)
            estimates[name, metric] = Estimate(value, None)
    found = {name: {str(m): estimates[name, m] for m in metrics} for name in groups}
    return int(sums[ALL][_USERS][0]), found


def _sums_of(part: ScoredUsers) -> Sums:
    return part.sums


def _estimate_of(key: tuple[str, Metric], sample: Sample) -> Estimate:
    return estimate_of(key[1], sample)


def _columns(keys: Sequence[tuple[str, Metric]], part: ScoredUsers) -> list[Callable[[], Floats]]:
    return [partial(part.of_group, metric, group) for group, metric in keys]


_DIGITS = 6


_Named = tuple[str, Estimate]


def _table(scored: Scored) -> Sheet:
    columns: list[Column[_Named]] = [
        Column("metric", lambda row: row[0], "name"),
        Column("mean", lambda row: number(row[1].mean, _DIGITS)),
        Column("95 % interval", lambda row: ends(row[1].ci95, _DIGITS)),
        *(Column(name, partial(_mean, own)) for name, own in scored.leaderboards.items()),
    ]
    return Sheet.of(scored.metrics.items(), columns, heading=_heading(scored))


def _mean(leaderboard: Mapping[str, Estimate], row: _Named) -> str:
    return number(leaderboard[row[0]].mean, _DIGITS)


def _heading(scored: Scored) -> list[str]:
    fingerprint = "" if scored.fingerprint is None else f" · {scored.fingerprint[:6]}"
    lines = [f"lists  {printable(scored.title)} · {counted(scored.users, 'user')}{fingerprint}"]
    lines += [f"note   {last_of(scored.folds)}"] if scored.folds > 1 else []
    lines += [f"note   {line}" for line in left_out_lines(scored.left_out)]
    return lines + _problems(scored.validation)


def left_out_lines(left_out: Mapping[str, int]) -> list[str]:
    """Return a line on each count of what was left out of a submission, or is odd."""
    counts = {name: count for name, count in left_out.items() if count > 0}
    if counts.get("rows_outside") == counts.get("users_outside"):
        counts.pop("rows_outside", None)  # a row a user says nothing new
    return [f"{_NOTES[name]}: {count:,}" for name, count in counts.items()]


def _problems(found: Validation | None) -> list[str]:
    """Return a line on each kind of thing that is wrong with the file."""
    problems = () if found is None else found.problems
    lines = [
        f"{p.severity:8}{p.code} {p.message}" + (f" (× {p.count:,})" if p.count > 1 else "")
        for p in problems
    ]
    forced = found is not None and not found.valid
    return [*lines, *(["note   scored with its errors, as it was forced"] if forced else [])]


_NOTES = {
    "users_without_items": "users without true items, who are not averaged, as in H&M on Kaggle",
    "users_without_items_kept": "users without true items, who score 0",
    "users_without_list": "users without a list, who score 0",
    "users_outside": "users of the file who are not evaluated",
    "rows_outside": "rows of those users, left out",
    "users_ignored": "users whom the solution ignores",
    "items_unknown": "positions that hold no candidate and never hit",
    "true_items_repeated": "true items that stand again, counted once",
}


def _conventions_table(scored: Scored) -> Sheet:
    values = scored.conventions or {}
    own = values.get(scored.own)
    name, value, *words = convention_columns(f"MAP@{scored.k}")
    difference: Column[OnConvention] = Column(
        "difference",
        lambda c: "" if c.value is None or own is None else signed(c.value - own, _DIGITS),
    )
    users: Column[OnConvention] = Column("users averaged", lambda c: c.users, "words")
    return Sheet.of(on_conventions(values), [name, value, difference, *words, users], kept=3)


def convention_columns(title: str) -> list[Column[OnConvention]]:
    """Return the columns of every table of conventions, the value's under `title`."""
    return [
        Column("convention", lambda c: c.name, "name"),
        Column(title, lambda c: "not counted" if c.value is None else number(c.value, _DIGITS)),
        Column("who prints it", lambda c: c.tools, "words"),
        Column("divisor D", lambda c: c.divisor, "words"),
        Column("repeated item", lambda c: c.repeats, "words"),
    ]
