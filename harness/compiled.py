"""The one way numba is used: compiled at the first call, kept on disk, free of Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` at its first call and keep the result where there is a place for it.

    Neither ``parallel`` nor ``fastmath``: results must not depend on threads or on the machine.
    """
    try:
        return numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # no directory can be written: compile in every process
        return numba.njit(nogil=True, error_model="numpy")(function)
