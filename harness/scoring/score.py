"""The estimates of submitted lists: for everyone and each leaderboard, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.core.errors import counted, printable
from harness.core.table import Column, Sheet, Shown, ends, low_high, number
from harness.metrics.conventions import CONVENTIONS
from harness.scoring.terms import which_fold
from harness.stats.estimates import Estimate
from harness.submission.problems import Validation

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
        records: list[dict[str, object]] = []
        for name, estimate in self.metrics.items():
            figures = {"value": estimate.mean, **low_high(estimate.ci95)}
            boards = {board: means[name].mean for board, means in self.leaderboards.items()}
            records.append({"kind": "metric", "name": name, **figures, **boards})
        none = {**low_high(None), **dict.fromkeys(self.leaderboards)}
        for name, value in (self.conventions or {}).items():
            records.append({"kind": "convention", "name": name, "value": value, **none})
        return records

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
