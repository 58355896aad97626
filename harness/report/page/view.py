"""What a page shows of a run: its record, with what every chart and table asks of it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.table import MISSING
from harness.results.record import ModelRecord
from harness.results.run import Run
from harness.results.wording import decimals


class View:
    """A run as the page looks at it; models are known by their position, best first.

    Attributes
    ----------
    metric : str
        The first metric, which charts and tests go by; `decimals` are those that it is shown with.
    places : dict of metric to int
        The decimals of each.
    higher_first : bool
        Whether the best stands first because its mean is the highest.
    chance : Chance, optional
        The first metric of a random ranking, if that is known.
    verdicts : (str, str)
        The words for two models that differ.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.record, self.models = run, run.record, run.models
        self.names = [model.name for model in self.models]
        self.metric, self.metrics = run.record.metric, list(self.models[0].metrics)
        self.places = {
            name: decimals([model.metrics[name].mean for model in self.models])
            for name in self.metrics
        }
        self.decimals = self.places[self.metric]
        self.higher_first = self.mean(self.models[0]) >= self.mean(self.models[-1])
        self.chance = self.record.chance.get(self.metric)
        self.comparison = self.record.comparison
        self.verdicts = self.comparison.words if self.comparison else ("better", "worse")

    def mean(self, model: ModelRecord) -> float:
        """Return a model's mean under the first metric."""
        return model.metrics[self.metric].mean

    def ends(self, model: ModelRecord) -> tuple[float, float] | None:
        """Return the 95 % interval of that mean, if it has one."""
        return model.metrics[self.metric].ci95


def shown(value: float | None, places: int) -> str:
    """Return a number with a true minus sign, or a dash where there is none.

    Examples
    --------
    >>> shown(-0.01234, 4), shown(None, 4)
    ('−0.0123', '–')
    """
    return MISSING if value is None else f"{value:,.{places}f}".replace("-", "−")


def spread(ends: Sequence[float] | None, places: int) -> str:
    """Return an interval."""
    return MISSING if ends is None else " … ".join(shown(end, places) for end in ends)
