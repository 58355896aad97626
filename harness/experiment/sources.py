"""The source of models: which files their classes are made of, and whether these are in memory.

A class is made of every module that is imported from its folder or package, and of those that its
own file names in import statements, and they in turn, wherever they lie; not of installed packages,
whose versions are known, nor of Python's own modules and ours (see `harness.experiment.identity`).
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from types import ModuleType

from harness.config import Config
from harness.core import plugins

_OURS = "harness"
_Place = tuple[frozenset[Path], frozenset[str], frozenset[Path]]
"""The folders, packages and files of some classes."""


class Sources:
    """The source of some classes as it is when this is made.

    Parameters
    ----------
    folders, packages : sets
        Where the classes lie.
    files : set of Path
        Of the classes themselves, where they are not ours.
    began : mapping of Path to int
        When the import of these files began, in nanoseconds since 1970: of a file that was written
        later nobody knows what was imported.

    Attributes
    ----------
    reached : set of text
        The files that these name in import statements, and they in turn, with themselves.
    """

    def __init__(
        self,
        folders: Set[Path],
        packages: Set[str],
        files: Set[Path],
        began: Mapping[Path, int],
    ) -> None:
        self._started = time.time_ns()
        self._folders, self._packages, self._files = folders, packages, files
        self._looked_at: dict[tuple[str, str], Path | None] = {}
        self.reached = {str(path) for path in _reached(files)}
        self.first = digests(self._modules())
        since = _since(began)
        other = min(began.values(), default=self._started)
        late = [p for p in self.first if _written(Path(p)) > since.get(p, other)]
        self.first |= dict.fromkeys(late, f"unknown to process {os.getpid()}")  # to no other either

    def known(self) -> dict[str, str] | None:
        """Return the digest of every file, also of those imported since; None where one is unsure.

        A file that was written meanwhile may not be what was imported, and a module that was
        imported before its file was written is not what the file says.
        """
        now = digests(self._modules())
        late = [Path(path) for path in now if path not in self.first]
        if any(_written(path) > self._started for path in late):
            return None
        if any(
            _when_met(name, file) != now[str(path)]
            for (name, file), path in self._looked_at.items()
            if path is not None and not name.startswith(plugins.BESIDE)  # run each time
        ):
            return None
        return now if self.first.items() <= now.items() else None

    def new_to(self, known: Mapping[str, str]) -> str | None:
        """Return the name of a file that they are made of now, and were not when `known`."""
        return next((Path(path).name for path in sorted(self.reached) if path not in known), None)

    def _modules(self) -> list[Path]:
        """Return the files of theirs that are imported; each module is looked at once."""
        reached = _reached(self._files)
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__dict__", {}).get("__file__")  # else some import
            if isinstance(file, str) and (name, file) not in self._looked_at:
                self._looked_at[name, file] = self._own(name, file, reached)
                if self._looked_at[name, file] is not None:
                    _when_met(name, file)
        return sorted(reached.union(path for path in self._looked_at.values() if path is not None))

    def _own(self, name: str, file: str, reached: Set[Path]) -> Path | None:
        own = name.partition(".")[0] in self._packages
        path = _resolved(file) if own or self._folders or reached else Path()
        beside = any(folder in path.parents for folder in self._folders) and not is_installed(path)
        return path if (own or beside or path in reached) and path.is_file() else None


def sources_of(named: Mapping[str, Collection[str]], config: Config) -> dict[str, Sources]:
    """Return the source of what import paths name, digested once for all alike.

    Parameters
    ----------
    named : mapping of name to import paths
        ``module:name``, which are imported already.
    config : Config
        Beside which their files may lie.
    """
    places = {name: _places(of, config.folder) for name, of in named.items()}
    began: dict[Path, int] = {}
    for module in {module for uses in named.values() for module in _modules_of(uses)}:
        at = plugins.began(module, config.folder)
        for file in _places([f"{module}:"], config.folder)[2]:  # a package's, with its first module
            began[file] = min(at, began.get(file, at))
    known = {own: Sources(*own, {file: began[file] for file in own[2]}) for own in places.values()}
    return {name: known[own] for name, own in places.items()}


def _modules_of(uses: Iterable[str]) -> Iterator[str]:
    return filter(None, (use.rpartition(":")[0] for use in uses))


def _since(began: Mapping[Path, int]) -> dict[str, int]:
    """Return when files may have been imported at the earliest: with the first that names them."""
    found: dict[str, int] = {}
    for file, at in began.items():
        for path in map(str, _reached({file})):
            found[path] = min(at, found.get(path, at))
    return found


def _places(uses: Iterable[str], folder: Path) -> _Place:
    folders, packages, files = set[Path](), set[str](), set[Path]()
    for module in _modules_of(uses):
        beside = plugins.file_of(module, folder)
        if beside.is_file():
            folders |= {folder.resolve(), beside.resolve().parent}
            files.add(beside.resolve())
        else:
            packages.add(module.partition(".")[0])
            files |= set(_files_of([module]))
    return frozenset(folders), frozenset(packages), frozenset(files)


def _reached(files: Set[Path]) -> set[Path]:
    """Return files with those that their import statements name, and they in turn."""
    found, waiting = set[Path](), list(files)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _files_of(_imports(path))
    return found


def _imports(path: Path) -> list[str]:
    """Return the modules that a file may import, anywhere in it."""
    with suppress(OSError):
        return _imports_of(path, path.stat().st_mtime_ns)
    return []


@cache
def _imports_of(path: Path, written: int) -> list[str]:
    found: list[str] = []
    with suppress(OSError, SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                found += (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = _package_of(path, node.level) if node.level else ""
                module = ".".join(filter(None, (base, node.module)))
                found += (module, *(f"{module}.{alias.name}" for alias in node.names))
    return found


def _package_of(path: Path, level: int) -> str:
    """Return the package that a relative import in a file starts from."""
    named = [m for m in list(sys.modules.values()) if _file_of(m) == path]
    package = next((m.__package__ or "" for m in named), "")
    return ".".join(package.split(".")[: len(package.split(".")) + 1 - level])


def _files_of(modules: Iterable[str]) -> Iterator[Path]:
    """Yield the files of modules and of the packages they are in, of those with source to know."""
    for name in modules:
        parts = name.split(".")
        if parts[0] == _OURS or parts[0] in sys.stdlib_module_names:
            continue
        for end in range(1, len(parts) + 1):
            module = sys.modules.get(".".join(parts[:end]))
            path = _to_be_imported(parts[0]) if module is None and end == 1 else _file_of(module)
            if path is not None and path.is_file() and not is_installed(path):
                yield path


def _file_of(module: ModuleType | None) -> Path | None:
    file = getattr(module, "__dict__", {}).get("__file__")
    return _resolved(file) if isinstance(file, str) else None


@cache
def _resolved(file: str) -> Path:
    """Return where a module's file lay when it was first looked at: it stays in memory."""
    return Path(file).resolve()


def _to_be_imported(name: str) -> Path | None:
    """Return the file of a module that nobody has imported yet."""
    with suppress(ImportError, ValueError):
        spec = find_spec(name) if name else None
        return None if spec is None or not spec.has_location else Path(str(spec.origin)).resolve()
    return None


@cache
def _when_met(name: str, file: str) -> str:
    """Return the digest of a module's file as it was imported, as far as that can be told.

    Remembered from the first time, as a module stays in memory when its file is written again. What
    Python compiled tells whether that was so before.
    """
    path = Path(file)
    with suppress(OSError, NotImplementedError):
        compiled, now = Path(cache_from_source(file)).read_bytes()[:16], path.stat()
        stamp = int(now.st_mtime).to_bytes(8, "little")[:4] + now.st_size.to_bytes(8, "little")[:4]
        by_time = compiled[4:8] == bytes(4) and not sys.dont_write_bytecode
        if by_time and compiled[8:16] != stamp:
            return "older than its file"
    return _digest(path)


def changed(known: Mapping[str, str]) -> str | None:
    """Return the name of a source file that no longer has its digest, None where all have it."""
    return next((Path(p).name for p, own in known.items() if _digest(Path(p)) != own), None)


def is_installed(path: Path) -> bool:
    """Return whether a file is of an installed package, whose version is known."""
    return "site-packages" in path.parts or "dist-packages" in path.parts


def _written(path: Path) -> int:
    """Return when a file was last written, or put in its place; 0 where it is not there."""
    with suppress(OSError):
        found = path.stat()
        return max(found.st_mtime_ns, found.st_ctime_ns)
    return 0


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Return the digest of every file, empty of one that cannot be read."""
    return {str(path): _digest(path) for path in paths}


def _digest(path: Path) -> str:
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""
