"""What is kept on disk between commands: keyed by its files, made anew when stale or damaged."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from harness.core.errors import UsageError, printable
from harness.core.io import alone, exchange, scratch_folder
from harness.core.sources import own_code

_log = logging.getLogger(__name__)

_CHUNK = 1 << 18
_META, _SUMS = "meta.json", "sums.json"

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One folder of the cache, and the stamps of the files that it is made from.

    They must be `settle` seconds old for it to be kept.
    """

    path: Path
    files: list[list[Any]]
    settle: float

    def read(self, build: Callable[[Path, dict[str, Any]], T]) -> T | None:
        """Return what `build` makes of the folder and its notes, None where there is none to trust.

        An entry is used when the files' names, sizes, inodes and times of change are those it was
        made from, our code is what made it, its own content has the checksums noted with it, and
        the folder that it lies in is the user's own.
        """
        try:
            if not is_private(self.path.parent):
                return None
            notes: dict[str, Any] = json.loads((self.path / _META).read_text(encoding="utf-8"))
            if notes["files"] != self.files or notes["code"] != own_code():
                return None
            sums = json.loads((self.path / _SUMS).read_text(encoding="utf-8"))
            names = sorted({_META, *sums})
            with ThreadPoolExecutor() as pool:  # zlib lets go of Python's lock
                digests = pool.map(checksum, [self.path / name for name in names])
                if list(digests) != [sums[name] for name in names]:
                    return None
            built = build(self.path, notes)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        with suppress(OSError):
            os.utime(self.path)  # those that were not used for longest go first
        return built

    @property
    def unsettled(self) -> str | None:
        """Why what is made of the files is not to be kept, None where it may be.

        A file written twice within the clock's grain keeps its times.
        """
        now, stamped = time.time_ns(), stamps(Path(file[0]) for file in self.files)
        for then, stamp in zip(self.files, stamped, strict=True):
            if then != stamp:
                return f"{then[0]} was changed or removed while it was in use"
            if self.settle and now - then[4] < 1e9 * self.settle:
                return f"{then[0]} was written less than {self.settle:g} seconds before"
        return None

    def part(self, folder: str, what: object, paths: Iterable[Path] = ()) -> Entry:
        """Return the entry of what is made from the same files and others, in another folder."""
        target = self.path.parent / folder / _name((self.path.name, what))
        return Entry(target, self.files + stamps(paths), self.settle)

    def keep(self, write: Callable[[Path], dict[str, Any]]) -> str | None:
        """Let `write` fill the folder and return notes; return why nothing is kept, else None."""
        if (why := self.unsettled) is not None:
            return why
        with suppress(OSError):
            if is_private(self.path.parent, make=True):
                with scratch_folder(self.path) as target:
                    notes = write(target) | {"files": self.files, "code": own_code()}
                    (target / _META).write_text(json.dumps(notes), encoding="utf-8")
                    sums = {path.name: checksum(path) for path in sorted(target.iterdir())}
                    (target / _SUMS).write_text(json.dumps(sums), encoding="utf-8")
                    for path in target.iterdir():  # what ids are hashed with is nobody else's
                        path.chmod(0o600)
                    exchange(target, self.path)
                return None
        there = [path for path in (folder(), self.path.parent) if path.is_dir()]
        if not all(map(is_private, there)):
            return None  # which says so itself, once
        return (
            f"cannot write to {self.path.parent}; make room there, or set HARNESS_CACHE_DIR to a "
            "folder of your own"
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from making the entry meanwhile."""
        lock = self.path.with_name(f"{self.path.name}.making")  # it stays: others have it open
        with alone(lock) if is_private(lock, make=True) else nullcontext():
            yield


def entry(what: object, paths: Iterable[Path]) -> Entry:
    """Return the entry of what is made from files: named by what is asked, not by their content.

    And by where they are: what is asked may name them from the folder that one works in.
    """
    files = stamps(paths)
    where = [file[0] for file in files]
    return Entry(folder() / _name((what, where)), files, settle_seconds())


def _name(what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()[:32]


_ENTRY = re.compile(r"\.?[0-9a-f]{32}(\..*)?")
"""What entries are called, and what processes that were killed left of them."""


def make_room(folder: Path, most: int) -> None:
    """Remove the entries that were not used for longest, so that `most` bytes are left at most.

    What is no entry is not ours: it is neither counted nor removed.
    """
    entries = list[tuple[int, int, Path]]()
    for path in folder.iterdir() if folder.is_dir() else ():
        if _ENTRY.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            with suppress(OSError):  # it is closed, or another process has removed it
                size = sum(file.lstat().st_size for file in path.iterdir())
                entries.append((path.stat().st_mtime_ns, size, path))
    total = 0
    for _, size, path in sorted(entries, reverse=True):
        if total + size > most:
            shutil.rmtree(path, ignore_errors=True)
        else:
            total += size


def folder() -> Path:
    """Return where entries are kept: $HARNESS_CACHE_DIR, else the user's cache folder."""
    named, base = os.environ.get("HARNESS_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named).expanduser()
    return (Path(base) if base else Path.home() / ".cache") / "submission-harness"


def settle_seconds() -> float:
    """Return how old a file must be for its results to be kept: $HARNESS_CACHE_SETTLE, else 2."""
    text = os.environ.get("HARNESS_CACHE_SETTLE") or "2"
    with suppress(ValueError):
        if 0 <= (seconds := float(text)) < float("inf"):
            return seconds
    raise UsageError(f'HARNESS_CACHE_SETTLE is "{printable(text)}"; give seconds, 0 or more')


def is_private(path: Path, *, make: bool = False) -> bool:
    """Return whether a folder is there, belongs to this user, and only this user can write to it.

    Another's entries would be believed: what they hold becomes results. Within the cache that goes
    for the whole of it, as who can write there can put another folder in the place of one. If you
    ask to `make` it, a folder that is not there is made.
    """
    if folder() in path.parents and not is_private(folder(), make=make):
        return False
    try:
        if make:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError:
        return False
    if os.name != "posix":  # elsewhere a user's folders are the user's own
        return True
    mine = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not mine:
        _warn_of(path)
    return mine


@cache
def _warn_of(path: Path) -> None:
    _log.warning(
        "%s: another user owns this folder or can write to it, so harness keeps nothing there; "
        "set HARNESS_CACHE_DIR to a folder of your own",
        printable(str(path)),
    )


def stamps(paths: Iterable[Path]) -> list[list[Any]]:
    """Return what identifies the content of every file, without reading it.

    The time of change (ctime) moves with every write and cannot be set back, unlike the time of
    modification. Of a file that is not there all is 0: whoever reads it says so.
    """
    known = []
    for path in paths:
        facts = [0, 0, 0, 0]
        with suppress(OSError):
            s = path.stat()
            facts = [s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns]
        known.append([str(path.absolute()), *facts])
    return known


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    total, buffer = 0, memoryview(bytearray(_CHUNK))
    with path.open("rb", buffering=0) as handle:
        while size := handle.readinto(buffer):
            total = zlib.crc32(buffer[:size], total)
    return total
