"""Temporary names that say whose they are, so that what a killed process left can be removed."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_LONGEST = 150


def beside(path: Path, end: str) -> Path:
    """Return a free hidden name beside `path` that tells of this process, for a file or folder.

    It is absolute, as Polars takes a "~" at the start of a name for the user's folder.
    """
    name = f".{_label(path)}.{owner()}.{secrets.token_hex(4)}.{end}"
    return path.absolute().with_name(name)


def of_dead(path: Path, end: str) -> list[Path]:
    """Return what processes that are gone have left beside `path`; `end` may be `one|other`."""
    pattern = rf"\.{re.escape(_label(path))}\.{_MARK}\.[0-9a-f]{{8}}\.(?:{end})"
    return list(_of_dead(path.parent, pattern))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a temporary folder; remove those that killed processes left first."""
    for leftover in _of_dead(Path(tempfile.gettempdir()), rf"harness-{_MARK}-\w+"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"harness-{owner()}-") as folder:
        yield Path(folder)


def owner() -> str:
    """Return what tells this process from others of this machine, or container."""
    return f"{os.getpid()}-{_machine()}"


_MARK = r"(?P<process>\d+)-(?P<machine>[0-9a-f]{8})"


def _label(path: Path) -> str:
    if len(path.name.encode()) <= _LONGEST:
        return path.name
    return hashlib.sha256(path.name.encode()).hexdigest()[:32]


@cache
def _machine() -> str:
    """Return what tells where numbers of processes mean the same."""
    where = ""
    with suppress(OSError):
        where = str(Path("/proc/self/ns/pid").stat().st_ino)
    return hashlib.sha256(f"{platform.node()} {where}".encode()).hexdigest()[:8]


def _of_dead(folder: Path, pattern: str) -> Iterator[Path]:
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - there may be thousands, and few are ours
            match, path = re.fullmatch(pattern, name), Path(folder, name)
            if match is None or match["machine"] != _machine() or path.is_symlink():
                continue
            with suppress(OSError):  # another has removed it
                is_mine = os.name != "posix" or path.stat().st_uid == os.geteuid()
                if is_mine and not _is_alive(int(match["process"])):
                    yield path


def _is_alive(process: int) -> bool:
    if os.name == "posix":  # elsewhere asking would end it
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:  # another's
            return True
    return True
