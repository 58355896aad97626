"""What is kept on disk between commands: keyed by its files, made anew when stale or damaged."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness.files import whole_folder

_RECENT_NS = 2_000_000_000
_CHUNK = 1 << 22
_META, _SUMS = "meta.json", "sums.json"

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One folder of the cache.

    Attributes
    ----------
    path : Path
    paths : tuple of Path
        The files it is made from.
    files : list
        What identified their content when the entry was asked for.
    """

    path: Path
    paths: tuple[Path, ...]
    files: list[list[Any]]

    def read(self, build: Callable[[Path, dict[str, Any]], T]) -> T | None:
        """Return what `build` makes of the folder and its notes, None where there is none to trust.

        An entry is used when the files' names, sizes, inodes and times of change are those it was
        made from and its own content has the checksums noted with it.
        """
        try:
            notes: dict[str, Any] = json.loads((self.path / _META).read_text(encoding="utf-8"))
            if notes["files"] != self.files:
                return None
            sums = json.loads((self.path / _SUMS).read_text(encoding="utf-8"))
            if any(_sum(self.path / name) != sums[name] for name in {_META, *sums}):
                return None
            return build(self.path, notes)
        except _UNTRUSTED:
            return None

    @property
    def settled(self) -> bool:
        """Whether the files are as they were, and were not written just now.

        A file written twice within the clock's grain keeps its times.
        """
        still = stamps(self.paths) == self.files
        return still and not any(time.time_ns() - f[4] < _RECENT_NS for f in self.files)

    def keep(self, write: Callable[[Path], dict[str, Any]]) -> None:
        """Let `write` fill the folder and return notes; without a place nothing is kept."""
        try:
            with whole_folder(self.path) as target:
                notes = write(target) | {"files": self.files}
                (target / _META).write_text(json.dumps(notes), encoding="utf-8")
                sums = {path.name: _sum(path) for path in sorted(target.iterdir())}
                (target / _SUMS).write_text(json.dumps(sums), encoding="utf-8")
        except OSError:  # the next command reads the files again
            return


def entry(what: object, paths: Iterable[Path], within: Path | None = None) -> Entry:
    """Return the entry of what is made from files: named by what is asked, not by their content.

    Parameters
    ----------
    within : Path, optional
        The folder of entries; the cache's by default.
    """
    own = tuple(paths)
    name = hashlib.sha256(repr(what).encode()).hexdigest()[:32]
    return Entry((within or folder()) / name, own, stamps(own))


def folder() -> Path:
    """Return where entries are kept: $HARNESS_CACHE_DIR, else the user's cache folder."""
    named = os.environ.get("HARNESS_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "submission-harness"


def stamps(paths: Iterable[Path]) -> list[list[Any]]:
    """Return what identifies the content of every file, without reading it.

    The time of change (ctime) moves with every write and cannot be set back, unlike the time of
    modification.
    """
    found = []
    for path in paths:
        stat = path.stat()
        found.append(
            [str(path.resolve()), stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns]
        )
    return found


def _sum(path: Path) -> int:
    total = 0
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            total = zlib.crc32(chunk, total)
    return total


_UNTRUSTED = (OSError, ValueError, KeyError, TypeError)
