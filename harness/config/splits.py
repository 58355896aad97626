"""How events are divided into training and evaluation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.config.paths import PathTexts, Section, paths_of


class TimeSplit(Section):
    """The last days are evaluated; ``days = "elapsed"`` counts whole days back from the last event.

    ``window = "test"`` evaluates the test days and trains on everything before them. `folds`
    windows of as many days, one before the other, are evaluation sets of their own.
    """

    strategy: Literal["time"]
    valid_days: Annotated[int, Field(ge=1, le=100_000)] = 7
    test_days: Annotated[int, Field(ge=0, le=100_000)] = 0
    days: Literal["calendar", "elapsed"] = "calendar"
    window: Literal["valid", "test"] = "valid"
    folds: Annotated[int, Field(ge=1, le=1_000)] = 1

    @model_validator(mode="after")
    def _a_test_window_has_days(self) -> TimeSplit:
        if self.window == "test" and self.test_days == 0:
            raise ValueError('window = "test" needs test_days >= 1')
        if self.window == "test" and self.folds > 1:
            raise ValueError(
                f'window = "test" is one window, but folds = {self.folds}; set folds = 1 to '
                "evaluate the test days"
            )
        return self

    def earlier(self, back: int) -> TimeSplit:
        """Return the split of one fold, `back` windows before the last."""
        if self.folds == 1:
            return self
        held_back = self.test_days + back * self.valid_days
        return self.model_copy(update={"test_days": held_back, "folds": 1})


class _PerUserSplit(Section):
    """The last events of each user are held out; `ties` says which of several of one time are last.

    ``shuffle``: drawn by `seed`, as a pure function of seed, user and item. ``file``: those that
    stand last in the file. ``id``: those of the highest item ids.
    """

    ties: Literal["shuffle", "file", "id"] = "shuffle"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


class LastNSplit(_PerUserSplit):
    """The last `n` events of each user are held out."""

    strategy: Literal["last_n"]
    n: Annotated[int, Field(ge=1, lt=2**31)]


class FractionSplit(_PerUserSplit):
    """The last share of each user's events (rounded down) is held out."""

    strategy: Literal["fraction"]
    fraction: Annotated[float, Field(gt=0, lt=1)]


class GivenSplit(Section):
    """A second table, `valid`, holds the events to be evaluated on; layout ``table`` alone.

    Or one a fold, beside as many in ``[data] events``.
    """

    strategy: Literal["given"]
    valid: PathTexts

    @property
    def folds(self) -> int:
        """How many evaluation sets there are."""
        return len(paths_of(self.valid))


InnerSplit = TimeSplit | LastNSplit | FractionSplit
SplitConfig = InnerSplit | GivenSplit
INNER = ("time", "last_n", "fraction")
STRATEGIES = (*INNER, "given")
