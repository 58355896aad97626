"""Which files import statements reach: of modules with source to know, imported yet or not.

Those are not installed packages, whose versions are known, nor Python's own modules and ours.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

_OURS = "harness"
_MAIN = {"__main__", "__mp_main__"}
_RUNNING = {"exec", "run_path", "run_module", "spec_from_file_location", "SourceFileLoader"}
"""What runs files of which nothing is known: they need not become modules."""
_IMPORTING = {"import_module", "__import__"}


class Module(NamedTuple):
    """A module by its name, and the file that it is, or is in: an archive may hold several."""

    name: str
    file: Path


class Statements(NamedTuple):
    """What a file says of others.

    Attributes
    ----------
    imports : tuple of (int, str)
        The modules that it may import, anywhere in it, with the level of a relative import.
    running : str, optional
        What it names of `_RUNNING`.
    dynamic : bool
        Whether it imports modules whose names it need not say.
    """

    imports: tuple[tuple[int, str], ...] = ()
    running: str | None = None
    dynamic: bool = False


def reached(modules: Iterable[Module]) -> set[Path]:
    """Return the files of modules, of those that their import statements name, and they in turn."""
    found, waiting = set[Path](), list(modules)
    while waiting:
        module = waiting.pop()
        if module.file not in found:
            found.add(module.file)
            named = [_absolute(module, *one) for one in statements(module.file).imports]
            waiting += modules_of(named)
    return found


def modules_of(names: Iterable[str]) -> Iterator[Module]:
    """Yield modules and the packages they are in, of those with source to know."""
    for name in names:
        search: Sequence[str] | None = None
        parts = name.split(".")
        if has_no_source(name):
            continue
        for end in range(1, len(parts) + 1):
            prefix = ".".join(parts[:end])
            file, search = _located(prefix, search)
            if file is not None and is_installed(file):
                break
            if file is not None:
                yield Module(prefix, file)
            if search is None:  # no package
                break


def has_no_source(name: str) -> bool:
    """Return whether a module is Python's own, ours, or what was started."""
    top = name.partition(".")[0]
    return top in {"", _OURS} or top in _MAIN or top in sys.stdlib_module_names


def is_installed(path: Path) -> bool:
    """Return whether a file is of an installed package, whose version is known."""
    return "site-packages" in path.parts or "dist-packages" in path.parts


@cache
def on_disk(file: str) -> Path | None:
    """Return where a module's file lay when it was first looked at: the module stays in memory.

    Of a module in an archive that is the archive.
    """
    path = Path(file).resolve()
    return next((one for one in (path, *path.parents) if one.is_file()), None)


def statements(path: Path) -> Statements:
    """Return what a file says of others; nothing of one that cannot be read."""
    with suppress(OSError):
        return _statements(path, path.stat().st_mtime_ns)
    return Statements()


@cache
def _statements(path: Path, written: int) -> Statements:
    imports, running = list[tuple[int, str]](), list[str]()
    with suppress(OSError, SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Import(names=names):
                    imports += ((0, alias.name) for alias in names)
                case ast.ImportFrom(module=module, names=names, level=level):
                    parts = [[module], *([module, alias.name] for alias in names)]
                    imports += ((level, ".".join(filter(None, part))) for part in parts)
                    running += (alias.name for alias in names)
                case ast.Call(func=ast.Name(id=name)):
                    running.append(name)
                case ast.Call(func=ast.Attribute(attr=name)) if name != "exec":  # some method
                    running.append(name)
    found = next(filter(_RUNNING.__contains__, running), None)
    return Statements(tuple(imports), found, not _IMPORTING.isdisjoint(running))


def _absolute(module: Module, level: int, name: str) -> str:
    """Return the name of what a module imports by a name that may be relative."""
    if level == 0:
        return name
    parts = module.name.split(".")
    up = level - 1 if module.file.stem == "__init__" else level
    return ".".join(filter(None, (*parts[: len(parts) - up], name)))


def _located(name: str, search: Sequence[str] | None) -> tuple[Path | None, Sequence[str] | None]:
    """Return the file of a module, and where a package's modules are looked for."""
    module = sys.modules.get(name)
    if module is not None:
        path = getattr(module, "__dict__", {}).get("__file__")  # else some import
        known = on_disk(path) if isinstance(path, str) else None
        return known, getattr(module, "__path__", None)
    for finder in sys.meta_path:
        with suppress(ImportError, ValueError, AttributeError, OSError):
            spec = finder.find_spec(name, search)
            if spec is not None:
                file = on_disk(str(spec.origin)) if spec.has_location else None
                return file, spec.submodule_search_locations
    return None, None
