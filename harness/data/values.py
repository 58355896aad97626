"""Values of events: numbered as they are met, of which there are mostly few."""

from __future__ import annotations

import secrets

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Floats, Int32
from harness.core.ids import KeyTable
from harness.data import _events
from harness.data.dataset import Events


class Values:
    """Numbers 0, 1, 2 … for values, in the order in which they are met."""

    def __init__(self) -> None:
        self._table, self._met = KeyTable(), [np.zeros(0)]
        self._secret = secrets.randbits(64)

    def codes(self, values: Floats) -> Int32:
        """Return the number of each value.

        Examples
        --------
        >>> seen = Values()
        >>> seen.codes(np.array([4.5, 3.0, 4.5])).tolist(), seen.met.tolist()
        ([0, 1, 0], [4.5, 3.0])
        """
        keys, known = np.empty((len(values), 2), np.uint64), len(self._table)
        _events.number_keys(values, self._secret, keys)
        codes = self._table.codes(keys)
        first = np.empty(len(self._table) - known, np.int64)
        if len(first) > 0:
            _kernels.first_met(codes, known, first)
            self._met.append(values[first])
        return codes

    @property
    def met(self) -> Floats:
        """Every value, in the order of the numbers."""
        return np.concatenate(self._met)

    def coded(self, events: Events) -> Events:
        """Return the same events with the numbers of their values."""
        if events.value is None:
            return events
        columns = events.user, events.item, events.time, events.kind, events.row
        return Events(*columns, self.codes(np.ascontiguousarray(events.value)))
