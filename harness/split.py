"""A data set in, its training and validation events out; no event is lost, none is in both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from harness import schema
from harness.config import FractionSplit, GivenSplit, LastNSplit, SplitConfig, TimeSplit
from harness.dataset import Bool, Dataset, Events, Int64
from harness.errors import DataError
from harness.layouts.table import VALID_KIND


@dataclass(frozen=True, eq=False)
class Split:
    """The two sides of the exam.

    Attributes
    ----------
    train, valid : Events
        What models may learn from, and what they are examined on.
    held_back : int
        Events of the window that is not examined now (of the test days, or of the days between).
    cutoff : int, optional
        Microseconds since 1970: models know what happened before it. None: events have no times.
    until : int, optional
        The end of the validation window, exclusive; None for splits per user and given ones.
    """

    train: Events
    valid: Events
    held_back: int
    cutoff: int | None
    until: int | None

    def summary(self) -> str:
        """Return the split in a few words, such as ``7 days from 2020-09-16``."""
        if self.cutoff is None or self.until is None:
            return f"{len(self.valid):,} events held out"
        days = (self.until - self.cutoff) / schema.DAY_US
        start = np.datetime64(self.cutoff, "us")
        text = str(
            start.astype("datetime64[D]" if self.cutoff % schema.DAY_US == 0 else "datetime64[s]")
        )
        return f"{days:g} day{'s' if days != 1 else ''} from {text.replace('T', ' ')}"


def split(dataset: Dataset, config: SplitConfig) -> Split:
    """Split the events of `dataset` as the config says.

    Raises
    ------
    DataError
        One side would be empty.
    """
    match config:
        case TimeSplit():
            return by_time(dataset, config, _end(dataset, config))
        case LastNSplit():
            return _per_user(dataset, _held_out(dataset, lambda size: np.minimum(size, config.n)))
        case FractionSplit():
            # The share as it was written: 0.29 of 100 events are 29, though 100 · 0.29 < 29.
            share = Fraction(config.fraction).limit_denominator(10**9)
            return _per_user(
                dataset,
                _held_out(dataset, lambda size: size * share.numerator // share.denominator),
            )
        case GivenSplit():
            return _per_user(dataset, dataset.events.kind == dataset.kinds.index(VALID_KIND))


def _end(dataset: Dataset, config: TimeSplit) -> int:
    """Return when the days that are counted back end: after the last date, or the last event.

    Elapsed days follow RecoTour's Ponpare protocol: an event is floor((last − time) / day) whole
    days back, so a window of days 7–13 ends 7 days before the last event, that moment excluded
    from the test days and so the window's own last.
    """
    last = int(dataset.events.time.max())
    return last + 1 if config.days == "elapsed" else (last // schema.DAY_US + 1) * schema.DAY_US


def by_time(dataset: Dataset, config: TimeSplit, end: int) -> Split:
    """Cut at whole days, counted back from `end` (microseconds since 1970, exclusive).

    Raises
    ------
    DataError
        One side would be empty.
    """
    time = dataset.events.time
    test_from = end - config.test_days * schema.DAY_US
    valid_from = test_from - config.valid_days * schema.DAY_US
    cutoff, until = (valid_from, test_from) if config.window == "valid" else (test_from, end)
    train = time < cutoff
    valid = (time >= cutoff) & (time < until)
    return _checked(dataset, train, valid, cutoff, until)


def _held_out(dataset: Dataset, count: Callable[[Int64], Int64]) -> Bool:
    """Return which events are among the last ``count(size)`` of their user."""
    events = dataset.events
    starts = events.user_starts(len(dataset.user_ids))
    from_end = starts[events.user + 1] - np.arange(len(events))
    held: Bool = from_end <= count(np.diff(starts))[events.user]
    return held


def _per_user(dataset: Dataset, valid: Bool) -> Split:
    cutoff = None
    if dataset.has_time and not valid.all():
        cutoff = int(dataset.events.time[~valid].max()) + 1
    return _checked(dataset, ~valid, valid, cutoff, None)


def _checked(
    dataset: Dataset, train: Bool, valid: Bool, cutoff: int | None, until: int | None
) -> Split:
    result = Split(
        train=dataset.events.where(train),
        valid=dataset.events.where(valid),
        held_back=len(train) - int(train.sum()) - int(valid.sum()),
        cutoff=cutoff,
        until=until,
    )
    for name, side in (("train", result.train), ("validation", result.valid)):
        if len(side) == 0:
            raise DataError(
                f"the split leaves no {name} event of {len(dataset.events):,}"
                f"{_range(dataset)}; change [split]"
            )
    return result


def _range(dataset: Dataset) -> str:
    if not dataset.has_time:
        return ""
    times: npt.NDArray[np.datetime64] = dataset.events.time.astype("datetime64[us]")
    first, last = (
        str(t.astype("datetime64[s]")).replace("T", " ") for t in (times.min(), times.max())
    )
    return f" (they run from {first} to {last})"
