"""A paper marked: figures for everyone and for each board, and what other tools would print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.dataset import Bool
from harness.figures import Figure, figure
from harness.metrics import Floats, Metric
from harness.metrics.conventions import CONVENTIONS, audit
from harness.papers import Paper
from harness.report.shown import Shown
from harness.results import SCHEMA
from harness.scoring import marks
from harness.submission.problems import Validation

if TYPE_CHECKING:
    from harness.report.sheet import Sheet


@dataclass(frozen=True, eq=False, repr=False)
class Scored(Shown):
    """What a paper earned.

    Attributes
    ----------
    metrics : mapping of text to Figure
    boards : mapping of board to the same of its users
    conventions : mapping of name to MAP@k, optional
        None where a convention averages none of these users.
    validation : Validation, optional
        What is wrong with the file.
    """

    paper: Paper
    k: int
    metrics: Mapping[str, Figure]
    boards: Mapping[str, Mapping[str, Figure]]
    conventions: Mapping[str, float | None] | None
    validation: Validation | None = None

    def sheets(self) -> list[Sheet]:
        """Return the figures, and the audit of conventions where it was asked for."""
        from harness.report import scored

        return scored.sheets(self)

    def records(self) -> list[dict[str, object]]:
        """Return one record a metric and one a convention, with full figures."""
        from harness.report import scored

        return scored.records(self)

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
            "metrics": _figures(self.metrics),
            "usage": {board: _figures(figures) for board, figures in self.boards.items()},
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
    values = marks(paper.lists, paper.key, metrics)
    counted = paper.counted
    boards = {board: users & counted for board, users in paper.boards.items()}
    figures = {
        board: _figures_of(_of_users(paper, users, values))
        for board, users in boards.items()
        if users.any()
    }
    audited = audit(paper.whole, paper.key, k) if conventions else None
    everyone = _figures_of(_of_users(paper, counted, values))
    return Scored(paper, k, everyone, figures, audited)


def _figures_of(values: Mapping[Metric, Floats]) -> dict[str, Figure]:
    return {str(metric): figure(metric, value) for metric, value in values.items()}


def _of_users(
    paper: Paper, users: Bool, values: Mapping[Metric, Floats]
) -> Mapping[Metric, Floats]:
    """Return the values of some users; what is one of all lists is worked out anew."""
    if users.all():
        return values
    whole = [metric for metric in values if metric.definition.of == "set"]
    anew = marks(paper.lists[users], paper.key.pick(users), whole) if whole else {}
    return {m: anew[m] if m in anew else v[users] for m, v in values.items()}


def _figures(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {name: {"mean": f.mean, "ci95": f.ci95 and list(f.ci95)} for name, f in figures.items()}
