"""The one way numba is used: compiled at the first call, kept on disk, free of Python's lock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any

from harness import native

_LOCK = RLock()


class Compiled:
    """A function that is compiled at its first call; numba is imported when it has to be.

    In a process that has not imported numba, code that was kept is called without it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._natives: dict[str, native.Native | None] = {}
        self._kept = 0

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        found = None if "numba" in sys.modules else self._native(arguments)
        if found is not None:
            return found(*arguments)
        native.say_if_first()
        dispatcher = self.dispatcher
        answer = dispatcher(*arguments)
        if len(getattr(dispatcher, "overloads", ())) != self._kept:  # NUMBA_DISABLE_JIT has none
            self._keep()
        return answer

    @cached_property
    def _name(self) -> str:
        """What its kept code is named by: a change of its own file makes it another function."""
        function, changed = self.py_func, (0, 0)
        with suppress(OSError):  # code of no file
            stat = Path(function.__code__.co_filename).stat()
            changed = (stat.st_size, stat.st_mtime_ns)
        return f"{function.__module__}.{function.__qualname__} {changed}"

    @cached_property
    def dispatcher(self) -> Any:
        """The same as numba holds it.

        Neither ``parallel`` nor ``fastmath``: results must not depend on threads or on the machine.
        """
        import numba

        try:
            return numba.njit(nogil=True, error_model="numpy", cache=True)(self.py_func)
        except RuntimeError:  # no directory can be written: compile in every process
            return numba.njit(nogil=True, error_model="numpy")(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What other compiled functions call."""
        from numba import types

        return types.Dispatcher(self.dispatcher)

    def _native(self, arguments: tuple[Any, ...]) -> native.Native | None:
        """Return the code that was kept for such arguments, None without any."""
        taken = native.taken(arguments)
        if taken is None:
            return None
        with _LOCK:
            if taken not in self._natives:
                self._natives[taken] = native.load(self._name, taken)
            return self._natives[taken]

    def _keep(self) -> None:
        """Keep the code of every signature that numba has met so far."""
        self._kept = len(self.dispatcher.overloads)
        for signature in self.dispatcher.nopython_signatures:
            native.keep(self._name, self.dispatcher, signature)


class Intrinsic:
    """A function whose machine code is written by hand; numba is imported when it is compiled."""

    def __init__(self, code: Callable[..., Any]) -> None:
        self._code = code

    @cached_property
    def _numba_type_(self) -> Any:
        """What compiled functions call."""
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        known, made = cpu_target.typing_context, intrinsic(self._code)
        known.refresh()
        return known.resolve_value_type(made)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` at its first call and keep the result where there is a place for it."""
    return Compiled(function)
