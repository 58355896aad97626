"""The exam's rehearsal: the last training days as a window that a model may learn from."""

from __future__ import annotations

import numpy as np

from harness import schema
from harness.dataset import Int64
from harness.parameters import ParameterError
from harness.recommender import Train


def rehearsal(train: Train, days: float) -> Train:
    """Return what was known `days` before the cut-off, and which candidates there would have been.

    Where most of the real candidates are new at the cut-off, these are the items that were new
    within the last `days`; else all items that were there before the cut-off. An item is new from
    the time that its table says it was first shown, where the table tells times, else from its
    first event.

    Parameters
    ----------
    train : Train
    days : float
        Of the rehearsed window, which ends at the cut-off.

    Returns
    -------
    Train
        Its events lie before the window, and its cut-off is where the window begins.

    Raises
    ------
    ValueError
        The events carry no time.
    """
    if train.cutoff is None:
        raise ParameterError("the events carry no time, so there are no last days to learn from")
    start = train.cutoff - round(days * schema.DAY_US)
    began = _began(train)
    there = began < train.cutoff
    if np.mean(began[train.candidates] >= train.cutoff) > 0.5:
        there &= began >= start
    candidates = np.flatnonzero(there).astype(np.int32)
    return Train(train.dataset, train.events.where(~train.last_days(days)), candidates, start)


def _began(train: Train) -> Int64:
    """Return when each item was first shown, or else met; never: after everything."""
    if train.dataset.shown_from is not None:
        return train.dataset.shown_from
    first = np.full(len(train.item_ids), np.iinfo(np.int64).max)
    np.minimum.at(first, train.events.item, train.events.time)
    return first
