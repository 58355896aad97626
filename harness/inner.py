"""The inner exam, which models are tuned on: set by train's own last events alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from harness.config import Config, GivenSplit, InnerSplit, TimeSplit
from harness.dataset import Bool, Dataset, Events, Int32
from harness.errors import DataError, EmptyExamError, UsageError
from harness.setting import Setting, exam_of, read
from harness.split import by_time, split


def inner_exam(config: Config, *, progress: bool = False) -> Setting:
    """Return an exam like the config's within its training events.

    Of a time split it examines the days just before the outer cut-off. All other rules are those
    of `[evaluation]`. What lies behind the outer cut-off is dropped before anything is asked of it:
    events, and the users and items that no training event and no table has.

    Raises
    ------
    HarnessError
        The split says no inner one, or leaves one side of it empty.
    """
    rule = inner_split(config)
    known, end = _known(config, rule, progress)
    try:
        if isinstance(rule, TimeSplit) and isinstance(config.split, TimeSplit) and end is not None:
            parts = by_time(known, rule, end)
        else:
            parts = split(known, rule)
        return exam_of(config.model_copy(update={"split": rule}), known, parts)
    except (DataError, EmptyExamError) as error:
        raise type(error)(f"the inner split of train: {error}\n[tune] split sets another") from None


def inner_split(config: Config) -> InnerSplit:
    """Return how train is split again: as ``[tune] split`` says, or as the exam was.

    Raises
    ------
    UsageError
        The exam is given, so nothing says how train is to be split.
    """
    if config.tune.split is not None:
        return config.tune.split
    match config.split:
        case GivenSplit():
            raise UsageError(
                '[split] strategy "given" does not say how train is split for tuning; write '
                '[tune] split = { strategy = "time", valid_days = 7 }, "last_n" or "fraction"'
                if config.data.time
                else "events without times cannot be split for tuning; name their column under "
                "[data] time"
            )
        case TimeSplit():  # the test days were held back already
            return config.split.model_copy(update={"test_days": 0, "window": "valid"})
        case rule:
            return rule


def _known(config: Config, rule: InnerSplit, progress: bool) -> tuple[Dataset, int | None]:
    """Return what was known at the outer cut-off, and when that is; the exam is let go."""
    with ThreadPoolExecutor(1) as background:
        data = read(config, background, progress, rule)
    outer = split(data, config.split)
    return past(data, outer.train), outer.cutoff


def past(data: Dataset, events: Events) -> Dataset:
    """Return a data set as if it had these events alone: no other user, and no other item.

    Items that the table of items describes stay.
    """
    users = _marked(len(data.user_ids), events.user)
    items = _marked(len(data.item_ids), events.item)
    if data.catalogue is not None:
        items[data.catalogue] = True
    user_at, item_at = _places(users), _places(items)
    return replace(
        data,
        user_ids=data.user_ids.filter(users),
        item_ids=data.item_ids.filter(items),
        events=replace(events, user=user_at[events.user], item=item_at[events.item]),
        catalogue=None if data.catalogue is None else item_at[data.catalogue],
        shown_from=None if data.shown_from is None else data.shown_from[items],
        registered=None if data.registered is None else data.registered[users],
        notes=(),
    )


def _marked(n: int, positions: Int32) -> Bool:
    found = np.zeros(n, np.bool_)
    found[positions] = True
    return found


def _places(kept: Bool) -> Int32:
    """Return the position of every entry among those that are kept."""
    return np.cumsum(kept, dtype=np.int32) - np.int32(1)
