"""The one way numba is used: compiled at the first call, kept on disk, free of Python's lock."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any

from harness.core import cache

_LOCK = RLock()
_OURS = Path(__file__).resolve().parents[1]


class Compiled:
    """A function that is compiled at its first call; numba is imported when it has to be."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """The same as numba holds it.

        Neither ``parallel`` nor ``fastmath``: results must not depend on threads or on the machine.
        """
        import numba

        options: Any = {"nogil": True, "error_model": "numpy"}
        place = _place((self.py_func.__module__ or "").partition(".")[0])
        if place is None:  # compile in every process
            return numba.njit(**options)(self.py_func)
        with _kept_in(place):
            try:
                return numba.njit(cache=True, **options)(self.py_func)
            except RuntimeError:  # the source is no file
                return numba.njit(**options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What other compiled functions call."""
        from numba import types

        return types.Dispatcher(self.dispatcher)


@functools.cache
def _place(package: str) -> Path | None:
    """Return the user's own folder for the code of a package, None where there is none.

    Code of functions that call those of other files would be kept when these change: numba looks at
    a function's own file alone. So the folder is named by all source of the package and of ours,
    and functions of no package, which may call anything, are compiled anew in every process.
    """
    folders = {_OURS, *map(Path, getattr(sys.modules.get(package), "__path__", ()))}
    stats = [
        (str(path), path.stat().st_size, path.stat().st_mtime_ns)
        for folder in sorted(folders)
        for path in sorted(folder.rglob("*.py"))
        if "@compiled" in path.read_text(encoding="utf-8")
    ]
    if not stats or not hasattr(sys.modules.get(package), "__path__"):
        return None
    name = sha256(repr(stats).encode()).hexdigest()[:16]
    place = cache.private(cache.own() / "compiled" / name)
    if place is not None and not any(place.iterdir()):
        _say_that_it_takes_a_while()
    return place


@functools.cache
def _say_that_it_takes_a_while() -> None:
    if sys.stderr.isatty():
        print("compiling, this once; half a minute", file=sys.stderr)


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Let numba keep the code of functions that are declared within in `folder`."""
    import numba

    config: Any = numba.config
    with _LOCK:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            yield
        finally:
            config.CACHE_DIR = before


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
