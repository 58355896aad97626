"""The source of models: which files their classes are made of, and what of these is in memory.

A class is made of every module that is imported from its folder or package, of those that its own
file names in import statements, and they in turn, wherever they lie, and of those that came into
memory while it was in use and that no other class explains (where it calls `import_module`, since
the first class was loaded); not of installed packages, whose versions are known, nor of Python's
own modules and ours (see `harness.experiment.identity`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from harness.config import Config
from harness.core import imports, plugins
from harness.core.errors import DataError, RecommenderError
from harness.core.imports import Module, digest_met, digest_of, is_installed, when_met
from harness.core.sources import BESIDE
from harness.experiment import identity

_UNKNOWN = "unknown to process"
"""What a digest begins with of a file of which a process does not know what it imported."""
_WRITTEN = "was written while it was in use"
_COMPILED = (
    "is newer than what Python compiled of it, and may have been imported as it was; remove the "
    "__pycache__ beside it"
)


class UnknownSourceError(Exception):
    """What some classes are made of is not known; the message says of which file, and why."""


class Place(NamedTuple):
    """Where some classes lie.

    Attributes
    ----------
    folders : frozenset of Path
    packages : frozenset of text
    modules : frozenset of Module
        Of the classes themselves, where they are not ours.
    """

    folders: frozenset[Path]
    packages: frozenset[str]
    modules: frozenset[Module]

    def holds(self, module: str, file: Path, reached: Collection[Path]) -> bool:
        """Return whether a file lies there, or is `reached` from there."""
        beside = any(folder in file.parents for folder in self.folders) and not is_installed(file)
        return beside or module.partition(".")[0] in self.packages or file in reached


class Sources:
    """The source of some classes as it is when this is made.

    Parameters
    ----------
    place : Place
    others : Place
        Where those and all others of the same config lie.
    explained : set of Path
        The files that are reached from there.
    began : mapping of Path to int
        When the import of the classes' files began, in nanoseconds since 1970: of a file that was
        written later nobody knows what was imported.
    folder : Path
        From which files are shown.
    """

    def __init__(
        self,
        place: Place,
        others: Place,
        explained: Set[Path],
        began: Mapping[Module, int],
        folder: Path,
    ) -> None:
        self._started, self._folder = time.time_ns(), folder.resolve()
        self._place, self._others, self._explained = place, others, explained
        self._looked_at = set[tuple[str, str]]()
        self._imported, self._doubts = dict[Path, str](), dict[Path, str]()
        self._first = digests(imports.reached(place.modules))
        dynamic = any(imports.statements(Path(file)).dynamic for file in self._first)
        theirs = plugins.is_new if dynamic else lambda name: False
        since: dict[Path, int] = {}  # when files may have been imported at the earliest
        for module, start in began.items():
            for path in imports.reached([module]):
                since[path] = min(start, since.get(path, start))
        self._look(since, min(began.values(), default=self._started), theirs)

    def imported(self) -> dict[str, str]:
        """Return the digest of every file of theirs in memory, as it was imported.

        Of one of which nobody knows what was imported it is like no other process's.
        """
        self._look({}, self._started, lambda name: True)
        # Files beside a config that were run again, and were written since.
        for path, digest in self._imported.items():
            if plugins.last_run(path) > self._started and digest_of(path) != digest:
                self._doubts[path] = _WRITTEN
        unknown = dict.fromkeys(self._doubts, f"{_UNKNOWN} {os.getpid()}")
        return {str(file): own for file, own in {**self._imported, **unknown}.items()}

    def known(self) -> dict[str, str]:
        """Return the digest of every file of theirs, imported or not.

        Raises
        ------
        UnknownSourceError
            What one of them was is not certain.
        """
        imported = self.imported()
        reached = imports.reached(self._place.modules)
        now = digests(reached.union(map(Path, imported)))
        in_use = now | self._first | imported
        doubts = {Path(f): _WRITTEN for f, digest in now.items() if digest != in_use[f]}
        for file in reached:
            running = imports.statements(file).running
            if running is not None:
                doubts[file] = f"runs files that need not be modules ({running})"
        for path, why in sorted({**doubts, **self._doubts}.items()):
            raise UnknownSourceError(f"{self._shown(path)} {why}")
        return in_use

    def other_than(self, known: Mapping[str, str]) -> str | None:
        """Return which file is not what it was when `known`, and how; None where all are."""
        for path, digest in known.items():
            if digest_of(Path(path)) != digest:
                return f"{self._shown(Path(path))} has changed"
        new = sorted(self._first.keys() - known.keys())
        return f"{self._shown(Path(new[0]))} is new" if new else None

    def _look(self, since: Mapping[Path, int], other: int, theirs: Callable[[str], bool]) -> None:
        """Look at what came into memory, each module once."""
        reached = set(map(Path, self._first))
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__dict__", {}).get("__file__")  # else some import
            if not isinstance(file, str) or (name, file) in self._looked_at:
                continue
            self._looked_at.add((name, file))
            path = None if imports.has_no_source(name) else imports.on_disk(file)
            if path is None:
                continue
            explained = is_installed(path) or self._others.holds(name, path, self._explained)
            if self._place.holds(name, path, reached) or (not explained and theirs(name)):
                again = name.startswith(BESIDE)  # run each time
                digest = digest_met(file, path) if again else when_met(name, module, file)
                self._imported[path] = digest or ""
                if digest is None:
                    self._doubts[path] = _COMPILED
                elif _written(path) > since.get(path, other):
                    self._doubts[path] = _WRITTEN

    def _shown(self, path: Path) -> Path:
        inside = path.is_relative_to(self._folder)
        return path.relative_to(self._folder) if inside else path


class OneSource:
    """The source of a config's classes, which must be the same in all processes of a run.

    Parameters
    ----------
    named : mapping of name to import paths
    config : Config
        As of `sources_of`.
    """

    def __init__(self, named: Mapping[str, Collection[str]], config: Config) -> None:
        self._several = sources_of(named, config).values()
        self._found, self._changed = self.imported(), Lock()

    def imported(self) -> dict[str, str]:
        """Return the digest of every file that this process has imported, and of this package.

        See `Sources`.
        """
        found = {str(Path(__file__).parents[1]): identity.own_code()}
        for one in self._several:
            own = one.imported().items()
            found |= {path: digest for path, digest in own if not _is_unknown(found.get(path, ""))}
        return found

    def require_same(self, name: str) -> None:
        """Raise RecommenderError where this process has imported a file otherwise than another.

        Parameters
        ----------
        name : str
            The model that it has asked.
        """
        other = self._add(self.imported())
        if other is not None:
            raise RecommenderError(
                f'model "{name}": {other} was written during the run, after another process had '
                "evaluated models with what it was; run the same command again"
            )

    def refuse_other(self, imported: Mapping[str, str]) -> None:
        """Raise DataError where another process has imported a file otherwise, or may have."""
        unknown = [path for path, digest in imported.items() if _is_unknown(digest)]
        other = Path(min(unknown)) if unknown else self._add(imported)
        if other is not None:
            raise DataError(f"finds other code: {other.name} has changed since its import")

    def _add(self, imported: Mapping[str, str]) -> Path | None:
        """Add what a process has imported; return a file that another has imported otherwise."""
        with self._changed:
            for path, digest in imported.items():
                if self._found.get(path, digest) != digest:
                    return Path(path)
            self._found.update(imported)
            return None


def sources_of(named: Mapping[str, Collection[str]], config: Config) -> dict[str, Sources]:
    """Return the source of what import paths name, digested once for all alike.

    Parameters
    ----------
    named : mapping of name to import paths
        ``module:name``, which are imported already.
    config : Config
        Beside which their files may lie.
    """
    places = {name: _place(of, config.folder) for name, of in named.items()}
    every = _place([use for uses in named.values() for use in uses], config.folder)
    began: dict[Module, int] = {}
    for module in {module for uses in named.values() for module in _modules_of(uses)}:
        at = plugins.began(module, config.folder)
        for one in _place([f"{module}:"], config.folder).modules:
            began[one] = min(at, began.get(one, at))  # a package's, with its first module
    reached = imports.reached(every.modules)
    known = {
        place: Sources(
            place, every, reached, {one: began[one] for one in place.modules}, config.folder
        )
        for place in places.values()
    }
    return {name: known[own] for name, own in places.items()}


def _is_unknown(digest: str) -> bool:
    return digest.startswith(_UNKNOWN)


def _modules_of(uses: Iterable[str]) -> Iterator[str]:
    return filter(None, (use.rpartition(":")[0] for use in uses))


def _place(uses: Iterable[str], folder: Path) -> Place:
    folders, packages, modules = set[Path](), set[str](), set[Module]()
    for name in _modules_of(uses):
        beside = plugins.file_of(name, folder)
        if beside.is_file():
            folders |= {folder.resolve(), beside.resolve().parent}
            modules.add(Module(beside.stem, beside.resolve()))
        else:
            packages.add(name.partition(".")[0])
            modules |= set(imports.modules_of([name]))
    return Place(frozenset(folders), frozenset(packages), frozenset(modules))


def _written(path: Path) -> int:
    """Return when a file was last written, or put in its place; 0 where it is not there."""
    with suppress(OSError):
        found = path.stat()
        return max(found.st_mtime_ns, found.st_ctime_ns)
    return 0


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Return the digest of every file, empty of one that cannot be read."""
    return {str(path): digest_of(path) for path in sorted(paths)}
