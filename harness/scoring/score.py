"""Lists and a solution in, estimates for everyone and for each leaderboard out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.core.errors import counted, printable
from harness.core.table import Column, Sheet, Shown, ends, low_high, number, signed
from harness.metrics import Metric, value_of
from harness.metrics.conventions import CONVENTIONS, map_by_convention
from harness.metrics.scores import sums_of_lists, user_scores
from harness.scoring.submitted_lists import SubmittedLists
from harness.scoring.terms import last_of
from harness.stats.estimates import Estimate, estimate_of
from harness.stats.intervals import Sample
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
    own: str
    conventions: Mapping[str, float | None] | None = None
    validation: Validation | None = None
    folds: int = 1
    truth: str = ""

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

    def content(self) -> dict[str, Any]:
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
        if self.truth:
            found["evaluation"]["truth"] = self.truth
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
    estimates = estimates_of(submitted, metrics)
    return Scored(
        submitted.title,
        k,
        estimates.pop(ALL),
        estimates,
        int(solution.counted.sum()),
        solution.fingerprint,
        submitted.left_out,
        "ml_metrics" if solution.averaged is None else "kaggle",
        map_by_convention(submitted.whole, solution.judgments, k) if conventions else None,
        folds=solution.folds,
        truth=solution.shape,
    )


ALL = "all"
"""Everyone who is averaged; leaderboards are some of them."""


def estimates_of(
    submitted: SubmittedLists, metrics: Sequence[Metric]
) -> dict[str, dict[str, Estimate]]:
    """Return the estimates of `ALL` and of each leaderboard that has users, by metric."""
    solution, lists, judgments = submitted.solution, submitted.lists, submitted.solution.judgments
    counted = solution.counted
    boards = {name: users & counted for name, users in solution.leaderboards.items()}
    groups = {ALL: counted} | {name: users for name, users in boards.items() if users.any()}
    of_users = [metric for metric in metrics if metric.definition.of == "user"]
    of_lists = [metric for metric in metrics if metric.definition.of != "user"]
    scores = user_scores(lists, judgments, of_users)
    values = {
        (group, metric): estimate_of(metric, Sample.of(scores[metric][users]))
        for group, users in groups.items()
        for metric in of_users
    }
    for group, users in groups.items() if of_lists else ():
        sums = sums_of_lists(lists[users], judgments.pick(users), of_lists)
        for place, metric in enumerate(of_lists):
            value = value_of(metric, sums[place], judgments.weights)
            values[group, metric] = Estimate(value, None)
    return {group: {str(m): values[group, m] for m in metrics} for group in groups}


_DIGITS = 6


_Named = tuple[str, Estimate]


def _table(scored: Scored) -> Sheet:
    columns: list[Column[_Named]] = [
        Column("metric", lambda row: row[0], "name"),
        Column("mean", lambda row: number(row[1].mean, _DIGITS)),
        Column("95 % interval", lambda row: ends(row[1].ci95, _DIGITS)),
        *(Column(name, partial(_mean, own)) for name, own in scored.leaderboards.items()),
    ]
    fingerprint = "" if scored.fingerprint is None else f" · {scored.fingerprint[:6]}"
    lines = ["checked as " + scored.validation.checked] if scored.validation else []
    lines += [f"truth: {scored.truth}"] if scored.truth else []
    lines += [f"lists  {printable(scored.title)} · {counted(scored.users, 'user')}{fingerprint}"]
    lines += [f"note   {last_of(scored.folds)}"] if scored.folds > 1 else []
    lines += [f"note   {line}" for line in left_out_lines(scored.left_out)]
    lines += _problems(scored.validation)
    return Sheet.of(scored.metrics.items(), columns, heading=lines)


def _mean(leaderboard: Mapping[str, Estimate], row: _Named) -> str:
    return number(leaderboard[row[0]].mean, _DIGITS)


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
