"""Repetitions within lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def repeats(lists: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return whether an earlier place of the same row holds the same item; −1 is no item.

    Examples
    --------
    >>> repeats(np.array([[3, 5, 3, -1, -1]])).tolist()
    [[False, False, True, False, False]]
    """
    order = np.argsort(lists, axis=1, kind="stable")
    ranked = np.take_along_axis(lists, order, axis=1)
    again = np.zeros(lists.shape, np.bool_)
    again[:, 1:] = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] >= 0)
    result = np.zeros(lists.shape, np.bool_)
    np.put_along_axis(result, order, again, axis=1)
    return result
