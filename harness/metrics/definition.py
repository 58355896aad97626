"""What a metric's declaration holds: formula, text, source, parameters, range, examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

from harness.core.arrays import Int64
from harness.core.errors import UsageError, suggest
from harness.metrics.judgments import Block
from harness.metrics.ranking import Settings


@dataclass(frozen=True)
class Choice:
    """A parameter with a few named values; the first is the default."""

    values: tuple[str, ...]

    @property
    def default(self) -> str:
        """The value when none is given."""
        return self.values[0]

    @property
    def allowed(self) -> str:
        """The values in words."""
        return ", ".join(self.values)

    def read(self, text: str) -> str:
        """Return the value that `text` names, or raise UsageError."""
        if text not in self.values:
            raise UsageError(f'cannot be "{text}"; {suggest(text, self.values)}')
        return text


@dataclass(frozen=True)
class Number:
    """A parameter that is a number from `low` to `high`."""

    default: float
    low: float
    high: float

    @property
    def allowed(self) -> str:
        """The values in words."""
        return f"a number from {self.low:g} to {self.high:g}"

    def read(self, text: str) -> float:
        """Return the number that `text` names, or raise UsageError."""
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not self.low <= number <= self.high:
            raise UsageError(f'cannot be "{text}"; expected {self.allowed}, as {self.default:g}')
        return number + 0.0  # −0 is 0


@dataclass(frozen=True)
class Names:
    """A parameter that is ``all``, or names joined by +."""

    default: str = "all"
    allowed: str = "all, or names of columns joined by +"

    def read(self, text: str) -> str:
        """Return the text."""
        return text


Param = Choice | Number | Names
Better = Literal["higher", "lower", "neither"]
Cut = Literal["required", "optional"]


@dataclass(frozen=True)
class Example:
    """A case small enough to be worked out in the head, as `harness.evaluate` takes it."""

    recommendations: Mapping[str, Sequence[str]]
    truth: Mapping[str, Sequence[str] | Mapping[str, float]]
    metric: str
    steps: str
    """The sum as one writes it down."""
    value: float
    train: Mapping[str, Sequence[str]] | None = None
    """The items of each training user."""
    attributes: Mapping[str, Sequence[str]] | None = None
    """The column ``item`` and the attribute columns."""


@dataclass(frozen=True)
class Definition:
    """What there is to know about one metric."""

    formula: Callable[[Block, Settings], NDArray[Any]]
    """One value per user of a block under the parameters given; where all lists together have one,
    whole numbers that those of other users are added to."""
    text: str
    """The formula as it is written in the documents."""
    source: str
    """Where the formula stands."""
    examples: tuple[Example, ...]
    params: Mapping[str, Param] = field(default_factory=dict)
    value: Callable[[Int64, Sequence[float]], float] | None = None
    """What all lists together have, of the sums of all users and the weights of event types; None
    where each user has a value."""
    range: tuple[float, float] = (0.0, 1.0)
    """The lowest and the highest value there can be."""
    better: Better = "higher"
    """Which values are better; neither: the metric describes."""
    cut: Cut = "required"
    """Whether there is a value without a cut-off, for lists as long as they are."""
    needs: Literal["", "candidates", "train", "attributes"] = ""
    """What must be known beside lists and truth."""
    shares: bool = False
    """Whether it needs the share of users that have an item, which takes all events once more."""
    digest: str | None = None
    """Of a user's own function what tells its source; None where that is not known."""

    @property
    def of(self) -> Literal["user", "set"]:
        """Whether each user has a value, or all lists together have one."""
        return "user" if self.value is None else "set"

    @property
    def sign(self) -> int:
        """What values are multiplied by so that the best is the smallest."""
        return 1 if self.better == "lower" else -1

    @property
    def zero_without_hits(self) -> bool:
        """Whether a user's value is 0 without hits, and higher is better."""
        plain = self.of == "user" and self.needs == "" and self.better == "higher"
        return plain and self.range[0] == 0

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """Every parameter that is a choice, with its values."""
        return {n: p.values for n, p in self.params.items() if isinstance(p, Choice)}

    @property
    def defaults(self) -> dict[str, Any]:
        """Every parameter with its default value."""
        return {name: param.default for name, param in self.params.items()}
