"""A data set in, its training and validation events out; no event is lost, none is in both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.config import FractionSplit, GivenSplit, LastNSplit, SplitConfig, TimeSplit
from harness.core.arrays import Bool, Int32, Int64
from harness.core.errors import DataError, counted
from harness.core.exact_sum import Largest, Sums
from harness.core.random import id_hashes, mixed
from harness.data.dataset import DAY_US, NO_TIME, Dataset, Events
from harness.protocol.newcomers import newcomers, sides_of, users_of


@dataclass(frozen=True)
class Cuts:
    """How many users are cut within their events, how many among equal times, and what decided."""

    users: int
    tied: int
    decided: str

    def note(self) -> str:
        """Return a note."""
        users, are = counted(self.users, "user"), "is" if self.tied == 1 else "are"
        note = f"{self.tied:,} of {users} {are} cut between events of equal time"
        return f"{note}; {self.decided}" if self.tied > 0 else note


@dataclass(frozen=True, eq=False)
class Split:
    """The events before the cut-off, and those that models are evaluated on."""

    train: Events
    valid: Events
    held_back: int  # events on neither side: of the test days, or of the days between
    cutoff: int | None  # microseconds since 1970, exclusive for train; None: there are no times
    until: int | None  # the end of the window, exclusive; None: split per user, or given
    cuts: Cuts | None = None  # of a split per user
    sizes: tuple[int, int] | None = None  # events on each side, where they are on disk
    in_both: int = 0  # validation events of a given split that are training events too
    alike: tuple[str, ...] = ()  # notes on new ids of a given split that look like known ones

    @property
    def n_events(self) -> tuple[int, int]:
        """How many events there are for training, and how many are held out."""
        return self.sizes or (len(self.train), len(self.valid))

    def notes(self, seen_items: str = "keep") -> tuple[str, ...]:
        """Return what decided where times did not, and whether events are on both sides."""
        notes = [] if self.cuts is None else [self.cuts.note()]
        notes += self.alike
        if self.in_both > 0:
            notes.append(f"{self.in_both_told}: {_CONSEQUENCE[seen_items]}")
        return tuple(notes)

    @property
    def in_both_told(self) -> str:
        """How many validation events are training events too."""
        are = "is a training event" if self.in_both == 1 else "are training events"
        same = "user and item" if self.cutoff is None else "user, item and time"
        return (
            f"{self.in_both:,} of {counted(self.n_events[1], 'validation event')} {are} too (the "
            f"same {same})"
        )

    def summary(self) -> str:
        """Return the split in a few words, such as ``7 days from 2020-09-16``."""
        if self.cutoff is None or self.until is None:
            return f"{counted(self.n_events[1], 'event')} held out"
        days = (self.until - self.cutoff) / DAY_US
        start = np.datetime64(self.cutoff, "us")
        text = str(start.astype("datetime64[D]" if self.cutoff % DAY_US == 0 else "datetime64[s]"))
        return f"{days:g} day{'s' if days != 1 else ''} from {text.replace('T', ' ')}"


_CONSEQUENCE = {
    "keep": "models know the answer in advance; remove these events from one of the tables",
    "drop": 'seen_items = "drop" removes them from the truth; to predict them, remove them from '
    "[data] events",
}


def split(dataset: Dataset, config: SplitConfig) -> Split:
    """Split the events of `dataset` as the config says; DataError where one side is empty."""
    division = divided(dataset, config)
    refuse_empty(division, dataset)
    if isinstance(config, GivenSplit):
        users = newcomers(users_of(dataset, division.train, division.valid))
        n = len(dataset.item_ids)
        counts = division.train.item_counts(n), division.valid.item_counts(n)
        alike = *users.notes("user"), *newcomer_items(dataset, counts[0], counts[1])
        return replace(division, alike=alike)
    return division


def newcomer_items(dataset: Dataset, train: Int64, valid: Int64) -> tuple[str, ...]:
    """Return notes on new items that look like known ones, by the events of each on both sides."""
    return newcomers(sides_of(dataset.item_ids, train > 0, valid > 0)).notes("item")


def divided(dataset: Dataset, config: SplitConfig) -> Split:
    """Return the same, also where a side is empty, as may be in a bucket of users."""
    match config:
        case TimeSplit():
            return by_time(dataset, config, end_of(dataset, config))
        case LastNSplit():
            return _last(dataset, config, lambda size: np.minimum(size, config.n))
        case FractionSplit():
            # The share as it was written: 0.29 of 100 events are 29, though 100 · 0.29 < 29.
            share = Fraction(config.fraction).limit_denominator(10**9)
            return _last(dataset, config, lambda size: size * share.numerator // share.denominator)
        case GivenSplit():
            held = np.isin(np.arange(len(dataset.kinds)), dataset.valid_kinds)[dataset.events.kind]
            per_user = _per_user(dataset, held)
            return replace(per_user, in_both=_in_both(dataset, held, per_user.valid.user))


def sums(part: Split) -> Sums:
    """Return what `of_sums` is made of; those of parts of the users add up."""
    cuts = part.cuts or Cuts(0, 0, "")
    return {
        "events": np.array([*part.n_events, part.held_back, part.in_both]),
        "cuts": np.array([cuts.users, cuts.tied]),
        "cutoff": Largest(np.array([NO_TIME if part.cutoff is None else part.cutoff])),
    }


def of_sums(empty: Split, sums: Mapping[str, Any]) -> Split:
    """Return the split of a log by the sums of its parts; `empty` is that of its span, no events.

    Of a split per user the cut-off is the latest of all.
    """
    train, valid, held_back, in_both = sums["events"].tolist()
    users, tied = sums["cuts"].tolist()
    latest = int(sums["cutoff"].values[0])
    return replace(
        empty,
        cutoff=None if latest == NO_TIME else latest,
        cuts=None if empty.cuts is None else replace(empty.cuts, users=users, tied=tied),
        held_back=held_back,
        in_both=in_both,
        sizes=(train, valid),
    )


def end_of(dataset: Dataset, config: TimeSplit) -> int:
    """Return when the days that are counted back end: after the last date, or the last event.

    Elapsed days follow RecoTour's Ponpare protocol: an event is floor((last − time) / day) whole
    days back, so a window of days 7–13 ends 7 days before the last event, that moment excluded
    from the test days and so the window's own last.
    """
    last = dataset.times[1]
    return last + 1 if config.days == "elapsed" else (last // DAY_US + 1) * DAY_US


def by_time(dataset: Dataset, config: TimeSplit, end: int) -> Split:
    """Cut at whole days, counted back from `end` (microseconds since 1970, exclusive)."""
    time = dataset.events.time
    test_from = end - config.test_days * DAY_US
    valid_from = test_from - config.valid_days * DAY_US
    cutoff, until = (valid_from, test_from) if config.window == "valid" else (test_from, end)
    train = time < cutoff
    return _of(dataset, train, (time < until) ^ train, cutoff, until)


def _last(
    dataset: Dataset, config: LastNSplit | FractionSplit, count: Callable[[Int64], Int64]
) -> Split:
    """Hold out the last ``count(size)`` events of each user."""
    events = dataset.events
    starts = events.user_starts(len(dataset.user_ids))
    cuts = starts[1:] - count(np.diff(starts))
    held: Bool = np.arange(len(events)) >= cuts[events.user]
    inside = cuts[(starts[:-1] < cuts) & (cuts < starts[1:])]
    tied = inside[events.time[inside - 1] == events.time[inside]]
    if config.ties != "id" and len(tied) > 0:
        positions, group, kept = _equal_times(events, tied)
        order = np.lexsort((_order(dataset, positions, config), group))
        held[positions[order]] = kept
    decided = {
        "shuffle": f'ties = "shuffle", seed {config.seed}, chose the held-out ones',
        "file": 'ties = "file": the last rows are held out',
        "id": 'ties = "id": the highest item ids are held out',
    }[config.ties]
    met = Cuts(len(inside), len(tied), decided)
    return replace(_per_user(dataset, held), cuts=met)


def _equal_times(events: Events, cuts: Int64) -> tuple[Int64, Int64, Bool]:
    """Return the events among whose equal times a cut falls, user by user."""
    user, time = events.user, events.time
    changes = np.flatnonzero((user[1:] != user[:-1]) | (time[1:] != time[:-1])) + 1
    edges = np.concatenate(([0], changes, [len(events)]))
    behind = np.searchsorted(edges, cuts, side="right")
    first, sizes = edges[behind - 1], edges[behind] - edges[behind - 1]
    group = np.repeat(np.arange(len(cuts)), sizes)
    positions = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + first[group]
    return positions, group, positions >= cuts[group]


def _order(
    dataset: Dataset, positions: Int64, config: LastNSplit | FractionSplit
) -> npt.NDArray[Any]:
    """Return what some events of equal time are ordered by: their rows, or their draws."""
    events = dataset.events
    if config.ties == "file":
        assert events.row is not None  # noqa: S101 - the layout of such a config asks for rows
        return events.row[positions]
    users, user = np.unique(events.user[positions], return_inverse=True)
    items, item = np.unique(events.item[positions], return_inverse=True)
    seed = mixed(np.array([config.seed], np.uint64))
    user_draws = mixed(id_hashes(dataset.user_ids.gather(users)) ^ seed)
    return mixed(user_draws[user] ^ id_hashes(dataset.item_ids.gather(items))[item])


def _per_user(dataset: Dataset, valid: Bool) -> Split:
    cutoff = None
    if dataset.has_time and not valid.all():
        cutoff = int(dataset.events.time[~valid].max()) + 1
    return _of(dataset, ~valid, valid, cutoff, None)


def _in_both(dataset: Dataset, valid: Bool, user: Int32) -> int:
    """Return how many validation events have the user, item and time of a training event."""
    # Equal events stand together, those of training first, as their types come first.
    events = dataset.events
    held_out = np.flatnonzero(valid)
    before = held_out - 1
    same = held_out > events.user_starts(len(dataset.user_ids))[user]
    same &= events.time[held_out] == events.time[before]
    same &= events.item[held_out] == events.item[before]
    first = ~(same & valid[before])
    return int(np.count_nonzero(same[first][np.cumsum(first) - 1]))


def _of(dataset: Dataset, train: Bool, valid: Bool, cutoff: int | None, until: int | None) -> Split:
    return Split(
        train=dataset.events.where(train),
        valid=dataset.events.where(valid),
        held_back=len(train) - int(np.count_nonzero(train)) - int(np.count_nonzero(valid)),
        cutoff=cutoff,
        until=until,
    )


def refuse_empty(division: Split, dataset: Dataset) -> None:
    """Raise DataError where one side of a split of `dataset` is empty."""
    n_events = sum(division.n_events) + division.held_back
    for name, size in zip(("train", "validation"), division.n_events, strict=True):
        if size == 0:
            window = "" if division.until is None else f", and the window is {division.summary()}"
            raise DataError(
                f"the split leaves no {name} event of {n_events:,}"
                f"{_range(dataset)}{window}; change [split]"
            )


def _range(dataset: Dataset) -> str:
    if not dataset.has_time:
        return ""
    times = np.array(dataset.times, "datetime64[us]").astype("datetime64[s]").astype(str)
    first, last = (time.replace("T", " ") for time in times)
    doubt = ""
    if first >= "1970" and last < "1970-01-02":  # such as ratings
        doubt = ": is [data] time the column of times?"
    elif first >= "1970" and last < "1970-03":
        # Today's seconds since 1970, read as milliseconds, are three weeks.
        doubt = ': are they seconds ("epoch_s")?'
    return f" (they run from {first} to {last}{doubt})"
