"""The source of code: which files import statements reach, and what these were when imported.

They are of modules with source to know, imported yet or not: not of installed packages, whose
versions are known, nor Python's own modules and ours.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from harness.core.sources import BESIDE

_OURS = "harness"
_MAIN = {"__main__", "__mp_main__"}
_RUNNING = {"exec", "run_path", "run_module", "spec_from_file_location", "SourceFileLoader"}
_RUNNING |= {"spec_from_loader", "module_from_spec", "exec_module", "load_module"}
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
                case (
                    ast.Name(id="exec" as name)  # by another name, maybe
                    | ast.Attribute(value=ast.Name(id="builtins"), attr="exec" as name)
                ):
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


_MET: dict[tuple[str, str], tuple[object, str | None]] = {}
"""Of a module's name and file: the module, and its digest when it was met."""


def when_met(name: str, module: object, file: str) -> str | None:
    """Return what `digest_met` does, from the first time on: a module stays in memory."""
    known, digest = _MET.get((name, file), (None, None))
    if known is not module:
        path = on_disk(file)
        digest = "" if path is None else digest_met(file, path)
        _MET[name, file] = module, digest
    return digest


def digest_met(file: str, path: Path) -> str | None:
    """Return the digest of a module's file; None where Python may have imported an older one.

    It imports what it compiled of a file of equal size and second.
    """
    with suppress(OSError, NotImplementedError):
        compiled, now = Path(cache_from_source(file)), path.stat()
        head = compiled.read_bytes()[:16]
        stamp = int(now.st_mtime).to_bytes(8, "little")[:4] + now.st_size.to_bytes(8, "little")[:4]
        by_time, same = head[4:8] == bytes(4), head[8:16] == stamp
        older = same and compiled.stat().st_mtime_ns < now.st_mtime_ns
        if by_time and (older or not (same or sys.dont_write_bytecode)):
            return None
    return digest_of(path)


def digest_of(path: Path) -> str:
    """Return the digest of a file however its lines end, empty of one that cannot be read."""
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    return ""


def source_of(module: str, beside: Path, function: Any) -> str | None:
    """Return the digest of what a function is made of; None where that is not known.

    That is the text of its file, and of those that import statements reach from there, as they were
    imported; of a function of an installed package the package's version; of one that no file holds
    its own code. It depends on no path, and of what is in files on no machine or version of Python.

    Parameters
    ----------
    module : str
        What names it.
    beside : Path
        The module's file, if it is there; it was run just now.
    """
    here, defined = beside.is_file(), str(getattr(function, "__module__", None) or module)
    own = [Module(beside.stem, beside.resolve())] if here else list(modules_of([module]))
    files = reached([*own, *modules_of([defined])])
    parts = [
        *_digests_met(files, beside.resolve()),
        *_versions({defined} if here else {module, defined}),
    ]
    parts = parts or [*_code_of(function)]
    if not (parts and all(parts)):
        return None
    return hashlib.sha256("\n".join(sorted(map(str, parts))).encode()).hexdigest()


def _digests_met(files: Set[Path], beside: Path) -> list[str | None]:
    """Return the digests of files as they were imported, or as they are where none was.

    The one `beside` a config is run by its path; others are imported by their names, whoever may
    have run them by their paths.
    """
    met: dict[Path | None, set[str | None]] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__dict__", {}).get("__file__")  # else some import
        path = on_disk(file) if isinstance(file, str) and not has_no_source(name) else None
        if path in files and name.startswith(BESIDE) == (path == beside):
            met.setdefault(path, set()).add(when_met(name, module, str(file)))
    found = [met.get(path, {digest_of(path)}) for path in files]
    return [None if len(digests) > 1 else next(iter(digests)) for digests in found]


def _versions(names: Iterable[str]) -> list[str]:
    """Return the versions of the installed packages that some modules are of."""
    from importlib.metadata import packages_distributions, version  # slow to import

    found = set[str]()
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and is_installed(Path(file)):
            packages = packages_distributions().get(name.partition(".")[0], [])
            found.update(f"{package} {version(package)}" for package in packages)
    return sorted(found)


def _code_of(function: Any) -> list[str]:
    """Return the text of a function, as of a notebook, or else what Python compiled it to."""
    with suppress(OSError, TypeError):
        return [inspect.getsource(function)]
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    values = [one for one in code.co_consts if not isinstance(one, CodeType)]
    return [repr((code.co_code, code.co_names, values))]
