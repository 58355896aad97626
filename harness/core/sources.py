"""The source of what this process has imported: files that no version tells from their next edit.

They are the files of all modules but installed ones, Python's own and ours.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import NamedTuple

BESIDE = "_beside_"
"""What the names of modules begin with that are files beside a config: each run imports them."""
_MAIN = {"__main__", "__mp_main__"}
OURS = [Path(__file__).parents[1], Path(__file__).parents[2] / "baselines"]
_SKIPPED = tuple(
    f"{os.path.realpath(folder)}{os.sep}"
    for folder in (*map(str, OURS), *map(sysconfig.get_path, ("stdlib", "platstdlib")))
)


class UnknownSourceError(Exception):
    """It is not certain what was imported; the message says of which file, and why."""


class Source(NamedTuple):
    """The file of a module, or its archive, as it was when the module was first looked at.

    Attributes
    ----------
    unsure : int
        The number of this process where the file may have been written after its import, else 0.
    """

    file: str
    digest: str
    unsure: int


Record = Mapping[str, Sequence[str]]
"""The file of each module, and its digest."""


def record(sources: Mapping[str, Source], first: Mapping[str, Source], folder: Path) -> Record:
    """Return what `changed` compares; UnknownSourceError where a file was written while in use.

    Parameters
    ----------
    first : mapping of name to Source
        What `look` returned before any of it was used.
    folder : Path
        Files are shown from there.
    """
    for name, source in sources.items():
        now = digest_of(Path(source.file))
        if source.unsure or now != source.digest or first.get(name, source) != source:
            raise UnknownSourceError(
                f"{_shown(source.file, folder)} was written while it was in use"
            )
    tops = {name.partition(".")[0] for name in sources if not name.startswith(BESIDE)}
    folders = {top: [_place(top), ""] for top in tops - sources.keys()}  # without an __init__.py
    return folders | {name: [source.file, source.digest] for name, source in sources.items()}


def changed(kept: Record, folder: Path) -> str | None:
    """Return what differs now from a record; None where nothing does."""
    for name, (file, digest) in kept.items():
        if digest_of(Path(file)) != digest:
            return f"{_shown(file, folder)} has changed"
        named = "." not in name and not name.startswith(BESIDE)
        if named and _place(name) != file:
            return f"{name} is imported from another place"
    return None


def _place(name: str) -> str:
    place = origin(name)
    return str(source_file(place) or place)


def _shown(file: str, folder: Path) -> str:
    path, folder = Path(file), folder.resolve()
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else file


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
    digest, written = digest_of(file), since + 1
    with suppress(OSError):
        status = file.stat()
        written = max(status.st_mtime_ns, status.st_ctime_ns)
    return Source(str(file), digest, 0 if written <= since else os.getpid())


def source_file(file: object) -> Path | None:
    """Return a module's file, or its archive; None where it has none, or is not to be looked at."""
    if not isinstance(file, str) or is_skipped(str(Path(file).parent)):
        return None
    path = Path(file).resolve()
    return next((place for place in (path, *path.parents) if place.is_file()), None)


@cache
def is_skipped(folder: str) -> bool:
    """Return whether the modules in a folder are installed, Python's own or ours."""
    real = os.path.realpath(folder)
    return f"{real}{os.sep}".startswith(_SKIPPED) or is_installed(Path(real))


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
    if is_installed(OURS[0]):
        from importlib.metadata import PackageNotFoundError, distribution  # slow to import

        with suppress(PackageNotFoundError):  # of a copy
            stamps = distribution("submission-harness").read_text("RECORD")  # a digest of each file
    if not stamps:
        files = [path for folder in OURS for path in folder.rglob("*.*")]
        files = sorted(path for path in files if path.suffix in {".py", ".so"} and path.is_file())
        status = {str(path): path.stat() for path in files}
        stamps = [(path, now.st_size, now.st_mtime_ns) for path, now in status.items()]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()
