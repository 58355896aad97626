"""The source of what this process has imported: files that no version tells from their next edit.

They are the files of all modules but installed ones, Python's own and ours.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

BESIDE = "_beside_"
"""What the names of modules begin with that are files beside a config: each run imports them."""
_MAIN = {"__main__", "__mp_main__"}
OURS = [Path(__file__).parents[1], Path(__file__).parents[2] / "baselines"]
_SKIPPED = tuple(
    f"{os.path.realpath(folder)}{os.sep}"
    for folder in (*map(str, OURS), *map(sysconfig.get_path, ("stdlib", "platstdlib")))
)
Record = Mapping[str, Sequence[str]]
"""The file of each module, and its digest."""


class UnknownSourceError(Exception):
    """It is not certain what was imported from a file."""


def _process_start() -> int:
    """Return when this process began, in nanoseconds since 1970; now, if the system has no word."""
    with suppress(OSError, ValueError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        after_boot = int(fields[19]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        return time.time_ns() - (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - after_boot)
    return time.time_ns()


class _Clock:
    """A finder of modules that finds none, and notes when each import began."""

    start = _process_start()
    times: dict[str, int] = {}  # noqa: RUF012

    @classmethod
    def find_spec(cls, name: str, *_: object) -> None:
        cls.times[name] = time.time_ns()


def watch_imports(*names: str) -> None:
    """Note from now on when imports begin, and that those of `names` do."""
    if _Clock not in sys.meta_path:
        sys.meta_path.insert(0, _Clock)
    for name in names:
        _Clock.find_spec(name)


def files() -> dict[str, Path]:
    """Return the file of every module, or its archive."""
    modules = {name: getattr(m, "__dict__", {}) for name, m in list(sys.modules.items())}
    paths = {  # an attribute of a lazy module would import it
        name: source_file(attributes.get("__file__"))
        for name, attributes in modules.items()
        if name not in _MAIN
    }
    return {name: path for name, path in paths.items() if path is not None}


def digests() -> dict[str, str]:
    """Return the digest of every module's file, as it is now."""
    return {name: digest_of(file) for name, file in files().items()}


def edited(names: Iterable[str]) -> Path | None:
    """Return a file of these modules that may have been written after its import began."""
    known = files()
    for name in known.keys() & set(names):
        try:
            status = known[name].stat()
        except OSError:
            return known[name]
        if max(status.st_mtime_ns, status.st_ctime_ns) > _Clock.times.get(name, _Clock.start):
            return known[name]
    return None


def record(names: Iterable[str], folder: Path) -> Record:
    """Return what `changed` compares, of some modules that `files` has."""
    file = edited(names)
    if file is not None:
        raise UnknownSourceError(
            f"{_shown(file, folder)} was changed or removed while it was in use"
        )
    known = files()
    return {name: [str(known[name]), digest_of(known[name])] for name in names}


def changed(kept: Record, folder: Path) -> str | None:
    """Return what differs now from a record; None where nothing does."""
    for name, (file, digest) in kept.items():
        if digest_of(Path(file)) != digest:
            return f"{_shown(Path(file), folder)} has changed"
        is_top = name.rpartition(".")[0] not in kept and not name.startswith(BESIDE)
        if is_top and str(source_file(origin(name))) != file:
            return f"{name} is now imported from another place"
    return None


def _shown(file: Path, folder: Path) -> str:
    folder = folder.resolve()
    return str(file.relative_to(folder) if file.is_relative_to(folder) else file)


@cache
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
    paths = [path for folder in OURS for path in folder.rglob("*.*")]
    paths = sorted(path for path in paths if path.suffix in {".py", ".so"} and path.is_file())
    status = [(str(path), path.stat()) for path in paths]
    stamps = [(path, now.st_size, now.st_mtime_ns) for path, now in status]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()
