"""The source of what this process has imported: files that no version tells from their next edit.

They are the files of all modules but installed ones, Python's own and ours.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import NamedTuple

BESIDE = "_beside_"
"""What the names of modules begin with that are files beside a config: each run imports them."""
_MAIN = {"__main__", "__mp_main__"}
_OURS = [Path(__file__).parents[1], Path(__file__).parents[2] / "baselines"]
_SKIPPED = tuple(
    f"{os.path.realpath(folder)}{os.sep}"
    for folder in (*map(str, _OURS), *map(sysconfig.get_path, ("stdlib", "platstdlib")))
)


class UnknownSourceError(Exception):
    """It is not certain what was imported; the message says of which file, and why."""


class Source(NamedTuple):
    """The file of a module, or its archive, as it was when the module was first looked at.

    It has no `stamp` where it may have been written after the import.
    """

    file: Path
    digest: str
    stamp: tuple[int, ...]


class Sources:
    """The source of all modules, from now on; files are shown from the folder of a config."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._first = look()

    def record(self, beside: Collection[Path]) -> dict[str, dict[str, str]]:
        """Return what `changed` compares: where modules come from, and the digest of each file.

        Of the files beside configs those in `beside` count, of other modules all. Raises
        UnknownSourceError where one was written while it was in use.
        """
        files, origins, digests = {path.resolve() for path in beside}, {}, {}
        for name, source in (*self._first.items(), *look().items()):
            if name.startswith(BESIDE) and source.file not in files:
                continue
            if not source.stamp or _stamp(source.file) != source.stamp:
                file = self._shown(source.file)
                raise UnknownSourceError(f"{file} was written while it was in use")
            digests[str(source.file)] = source.digest
            if not name.startswith(BESIDE):
                top = name.partition(".")[0]
                origins[top] = origin(top)
        return {"origins": origins, "digests": digests}

    def changed(self, record: Mapping[str, Mapping[str, str]]) -> str | None:
        """Return what differs now from the source that a record is of; None where nothing does."""
        for path, digest in record["digests"].items():
            if digest_of(Path(path)) != digest:
                return f"{self._shown(Path(path))} has changed"
        for name, place in record["origins"].items():
            if origin(name) != place:
                return f"{name} is imported from another place"
        return None

    def _shown(self, path: Path) -> Path:
        inside = path.is_relative_to(self._folder)
        return path.relative_to(self._folder) if inside else path


def imported_sources(unsure: str = "") -> dict[str, str]:
    """Return the digest of every source file that is imported, as it was, and of our own code.

    Processes that have the same digests for the same paths have imported the same. The digest of a
    file that may have been written after its import ends with `unsure`.
    """
    digests = {str(_OURS[0]): own_code()}
    for source in look().values():
        path, digest = str(source.file), source.digest + ("" if source.stamp else unsure)
        known = digests.setdefault(path, digest)
        if known != digest:  # imported before and after an edit, under two names
            digests[path] = f"{known} {digest}"
    return digests


_looked_up: dict[str, tuple[object, Source | None]] = {}
_last_look: int | None = None
_looking = Lock()


def look() -> dict[str, Source]:
    """Return the source of every module. Call it before an import, too: what is new came since."""
    global _last_look
    with _looking:
        since = _process_start() if _last_look is None else _last_look
        _last_look, modules = time.time_ns(), list(sys.modules.items())
        for name, module in modules:
            if name not in _looked_up or _looked_up[name][0] is not module:
                _looked_up[name] = module, _source(name, module, since)
        sources = {name: _looked_up[name][1] for name, _ in modules}
        return {name: source for name, source in sources.items() if source is not None}


def _source(name: str, module: object, since: int) -> Source | None:
    """Return the source of a module that was imported at some time after `since`."""
    path = getattr(module, "__dict__", {}).get("__file__")  # getattr of a lazy module imports it
    file = None if name in _MAIN else source_file(path)
    if file is None:
        return None
    stamp = _stamp(file)
    return Source(file, digest_of(file), stamp if max(stamp[2:], default=0) <= since else ())


def source_file(file: object) -> Path | None:
    """Return a module's file, or its archive; None where it has none, or is not to be looked at."""
    if not isinstance(file, str) or _is_skipped(str(Path(file).parent)):
        return None
    path = Path(file).resolve()
    return next((place for place in (path, *path.parents) if place.is_file()), None)


@cache
def _is_skipped(folder: str) -> bool:
    """Return whether the modules in a folder are installed, Python's own or ours."""
    real = os.path.realpath(folder)
    return f"{real}{os.sep}".startswith(_SKIPPED) or is_installed(Path(real))


def _stamp(path: Path) -> tuple[int, ...]:
    with suppress(OSError):
        now = path.stat()
        return now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns
    return ()


def _process_start() -> int:
    """Return when this process began, in nanoseconds since 1970; now, if the system has no word."""
    with suppress(OSError, ValueError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        after_boot = int(fields[19]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        return time.time_ns() - (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - after_boot)
    return time.time_ns()


def origin(name: str) -> str:
    """Return from where a module is imported, or would be."""
    with suppress(ImportError, ValueError):
        spec = find_spec(name)
        if spec is not None:
            return str(spec.origin or list(spec.submodule_search_locations or ()))
    return ""


def is_installed(path: Path) -> bool:
    """Return whether a file is of an installed package, whose version is known."""
    return "site-packages" in path.parts or "dist-packages" in path.parts


def digest_of(path: Path) -> str:
    """Return the digest of a file however its lines end, empty of one that cannot be read."""
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    return ""


@cache
def own_code() -> str:
    """Return what tells our own source: a checkout and what was built between have no version."""
    stamps: object = None
    if is_installed(_OURS[0]):
        from importlib.metadata import PackageNotFoundError, distribution  # slow to import

        with suppress(PackageNotFoundError):  # of a copy
            stamps = distribution("submission-harness").read_text("RECORD")  # a digest of each file
    if not stamps:
        files = [path for folder in _OURS for path in folder.rglob("*.*")]
        files = sorted(path for path in files if path.suffix in {".py", ".so"})
        stamps = [(str(path), _stamp(path)[0], _stamp(path)[2]) for path in files]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()
