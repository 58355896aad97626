"""What a page shows of a run: its record, with what every chart and table asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from harness.core.errors import UsageError
from harness.core.table import MISSING, digits_of
from harness.protocol.leaderboard_estimate import LeaderboardEstimates
from harness.results.record import Chance, ModelRecord
from harness.results.run import Run
from harness.stats.pairwise import Comparison

_MAY_LACK = {"metrics", "use", "lists", "of", "params", "tuned", "folds", "failed", "reused"}
"""Keys of result.json that the page does without."""


class View:
    """A run as the page looks at it; models are known by their position, best first.

    Attributes
    ----------
    metric : str
        The first metric, which charts and tests go by.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.record = run.record
        self.models = self.record.models
        self.bridge = _refuse_older(run)
        self.names = [model.name for model in self.models]
        self.metrics = list(self.models[0].metrics)
        self.metric = self.metrics[0]

    @cached_property
    def at(self) -> dict[str, int]:
        """The position of each model."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def decimals(self) -> int:
        """How many decimals the first metric needs."""
        return decimals([self.mean(model) for model in self.models])

    @cached_property
    def higher_first(self) -> bool:
        """Whether the best stands first because its mean is the highest."""
        return self.mean(self.models[0]) >= self.mean(self.models[-1])

    @property
    def chance(self) -> Chance | None:
        """The first metric of a random ranking, if that is known."""
        return self.record.chance.get(self.metric)

    @property
    def comparison(self) -> Comparison | None:
        """The pairs of models, if there are any."""
        found = self.record.comparison
        return found if found and found.pairs else None

    @property
    def verdicts(self) -> tuple[str, str]:
        """The words for two models that differ."""
        return self.comparison.words if self.comparison else ("better", "worse")

    def mean(self, model: ModelRecord) -> float:
        """Return a model's mean under the first metric."""
        return model.metrics[self.metric].mean

    def ends(self, model: ModelRecord) -> tuple[float, float] | None:
        """Return the 95 % interval of that mean, if it has one."""
        return model.metrics[self.metric].ci95


def _refuse_older(run: Run) -> LeaderboardEstimates | None:
    """Return the leaderboard estimates; raise UsageError where a run lacks what runs hold now.

    None of a run of several folds: each has its own.
    """
    lacks = [
        key
        for part in (run.record, *run.record.models)
        for key in type(part).model_fields
        if key not in part.model_fields_set | _MAY_LACK
    ]
    found = run.record.bridge
    if found is None and run.record.folds and not lacks:
        return None
    if found is not None and found.with_items is not None and not lacks:
        return found
    lacking = lacks[0] if lacks else "bridge.with_items"
    raise UsageError(
        f"{run.folder}: was made by an earlier version (no {lacking} in its result.json); "
        + run.again
    )


def decimals(values: Sequence[float]) -> int:
    """Return the decimals that a column of numbers needs, fewer where they are large."""
    largest = max(map(abs, values), default=0.0)
    if largest >= 10:
        return 1 if largest >= 100 else 2
    return digits_of(values)


def shown(value: float | None, places: int) -> str:
    """Return a number with a true minus sign, or a dash where there is none.

    Examples
    --------
    >>> shown(-0.01234, 4), shown(None, 4)
    ('−0.0123', '–')
    """
    if value is None:
        return MISSING
    return f"{value:,.{places}f}".replace("-", "−")


def spread(ends: Sequence[float] | None, places: int) -> str:
    """Return an interval."""
    if ends is None:
        return MISSING
    return " … ".join(shown(end, places) for end in ends)
