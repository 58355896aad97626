"""What a search found: every trial, the best of each model, and the config with it put in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config import Config
from harness.config.space import Domain, SearchName
from harness.errors import UsageError
from harness.figures import Figure
from harness.files import refuse_overwriting, whole_file
from harness.metrics import Metric
from harness.report.shown import Shown
from harness.results import SCHEMA

if TYPE_CHECKING:
    from harness.evaluation import EvaluationSet
    from harness.report.sheet import Sheet

_NEAR = 0.05
"""The share of a range, at either end, that is called its end."""


@dataclass(frozen=True)
class Trial:
    """One choice of parameters and what it earned in the inner exam.

    Attributes
    ----------
    number : int
        0 is the model as it is, with its `params`.
    figure : Figure, optional
        None where the model failed; `error` then says why.
    """

    number: int
    params: Mapping[str, Any]
    figure: Figure | None
    seconds: float
    error: str | None = None

    @property
    def mean(self) -> float:
        """The mean over users; nan of a trial that failed."""
        return math.nan if self.figure is None else self.figure.mean


@dataclass(frozen=True)
class TunedModel:
    """All trials of one model.

    Attributes
    ----------
    trials : tuple of Trial
        As they were made; no choice of parameters twice.
    again : int
        Trials that were not made, since no choice came up that was not tried yet.
    best : Trial
        Of equally good ones the earliest.
    """

    name: str
    space: Mapping[str, Domain]
    trials: tuple[Trial, ...]
    again: int
    best: Trial

    @property
    def untuned(self) -> Trial:
        """The model with its `params` as they were."""
        return self.trials[0]

    @property
    def searched(self) -> tuple[Trial, ...]:
        """The trials that the search made."""
        return self.trials[1:]

    @property
    def at_the_edge(self) -> dict[str, str]:
        """The best's parameters that lie at an end of their domain: ``low`` or ``high``."""
        if self.best is self.untuned:
            return {}
        ends = {n: _end(domain, self.best.params[n]) for n, domain in self.space.items()}
        return {name: end for name, end in ends.items() if end}


@dataclass(frozen=True, eq=False, repr=False)
class Tuned(Shown):
    """What a search over the parameters of a config's models found.

    Attributes
    ----------
    config : Config
        The config with the best `params`, and the record `tuned`, put in.
    metric : Metric
        What was searched by.
    seed : int
    window : str
        The inner split in words.
    exam : EvaluationSet
        The inner exam; none of it is of the config's own exam.
    models : tuple of TunedModel
    """

    config: Config
    layout: str
    window: str
    exam: EvaluationSet
    metric: Metric
    search: SearchName
    seed: int
    models: tuple[TunedModel, ...]

    def sheets(self) -> list[Sheet]:
        """Return a table a model: its best trials, and last the model as it was."""
        from harness.report import tuned

        return tuned.sheets(self)

    def records(self) -> list[dict[str, object]]:
        """Return one record a trial, with full figures."""
        from harness.report import tuned

        return tuned.records(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document; the times under ``seconds`` alone may differ."""
        from harness.report import tuned

        exam = self.exam
        return {
            "schema": SCHEMA,
            "evaluation": {
                "k": exam.k,
                "users": len(exam.users),
                "candidates": len(exam.candidates),
                "fingerprint": exam.fingerprint,
                "fields": exam.fields,
                "layout": self.layout,
                "window": self.window,
            },
            "metric": str(self.metric),
            "search": self.search,
            "seed": self.seed,
            "models": [tuned.document(model) for model in self.models],
        }

    def write(self, path: Path | str, *, force: bool = False) -> None:
        """Write the config with the best parameters put in.

        Paths in it are as they were if it stands beside the first config, else absolute.

        Raises
        ------
        UsageError
            `path` is there already and `force` is not asked for, or it cannot be written.
        """
        import tomli_w

        path = Path(path)
        check_out(path, force)
        try:
            text = tomli_w.dumps(self.config.written(path.parent))
            with whole_file(path) as temporary:
                temporary.write_text(f"# Written by harness tune.\n{text}", encoding="utf-8")
        except (OSError, ValueError, TypeError) as error:
            why = getattr(error, "strerror", None) or error
            raise UsageError(f"{path}: cannot be written: {why}; choose another --out") from error


def check_out(path: Path, force: bool) -> None:
    """Raise UsageError where a config may not be written to `path`."""
    refuse_overwriting(path, [])
    if path.exists() and not force:
        raise UsageError(f"{path}: is there already; name another --out, or replace it: --force")


def _end(domain: Domain, value: Any) -> str:
    """Return which end of its domain a value lies at, nothing where it lies between."""
    if isinstance(domain, tuple):
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in domain)
        if not numbers or len(domain) < 3:
            return ""
        return {min(domain): "low", max(domain): "high"}.get(value, "")
    scale = math.log if domain.log else float
    low, high, at = scale(domain.low), scale(domain.high), scale(value)
    share = (at - low) / (high - low)
    return "low" if share <= _NEAR else "high" if share >= 1 - _NEAR else ""
