"""Files in and out: find one, unpack one, write one whole or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from harness.core import unpacking
from harness.core.errors import DataError, UsageError, printable
from harness.core.unpacking import SENT, Cap, Refused

PACKED = (".gz", ".zip")
_TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".data", ".parquet", ".jsonl", ".ndjson")


def as_path(path: Any, what: str) -> Path:
    """Return a path that a person gives; UsageError, for messages of `what`, if it is none."""
    if isinstance(path, (str, Path)):
        return Path(path)
    raise UsageError(f"found {type(path).__name__}, expected {what}; give its path")


def exists(path: Path) -> bool:
    """Return whether a file or a folder can be found, where no name and no folder is an error."""
    try:
        return path.exists()
    except OSError:  # a name too long, or in a folder that is closed
        return False


def as_argument(path: Path) -> str:
    """Return a path as a command takes it: what begins with a dash is an option.

    >>> as_argument(Path("-lists.csv")), as_argument(Path("lists.csv"))
    ('./-lists.csv', 'lists.csv')
    """
    return f"./{path}" if str(path).startswith("-") else str(path)


def find(path: Path) -> Path:
    """Return `path`, or its .gz or .zip sibling where only that is there; else raise DataError."""
    try:
        for candidate in spellings(path):
            if candidate.is_file() or candidate.is_dir():
                return candidate
            if candidate.exists():
                raise DataError(f"{candidate}: not a file on disk; write it to a file first")
    except (OSError, ValueError) as error:  # a name too long, with a NUL, or none: a whole disk
        raise DataError(
            f"{printable(str(path))[:200]}: not a possible file name ({error}); name a file"
        ) from error
    raise DataError(
        f"{path}: no such file (nor {path.name}.gz, {path.name}.zip)\n{listed(path.parent)}"
    )


def spellings(path: Path) -> list[Path]:
    """Return the names that a file may have, packed or not."""
    return [path, *(path.with_name(path.name + end) for end in PACKED), path.with_suffix(".zip")]


def listed(folder: Path) -> str:
    """Return the end of a message: what a folder holds."""
    if not folder.is_dir():
        return (
            f"the folder {folder} does not exist; put the files there, or name another folder as "
            "[data] path or with --set data.path=… (paths start at the config's folder)"
        )
    try:
        names = sorted(p.name for p in folder.iterdir())
    except OSError as error:
        return f"the folder {folder} cannot be listed ({error.strerror})"
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f"the folder {folder} has: {shown or 'nothing'}"


def parts(path: Path) -> list[Path]:
    """Return the files that make up one table: the file itself, or a folder's tables by name.

    Links to folders are not followed, which may lead in circles.
    """
    path = find(path)
    if not path.is_dir():
        return [path]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.name.lower().removesuffix(".gz").removesuffix(".zip").endswith(_TABLE_SUFFIXES)
        and not any(map(is_hidden, file.relative_to(path).parts))
        and file.is_file()
    )
    refuse_twice(files)
    if not files:
        allowed = ", ".join(_TABLE_SUFFIXES)
        raise DataError(f"{path}: no table in this folder; expected files that end in {allowed}")
    return files


def refuse_twice(files: list[Path]) -> None:
    """Raise DataError where a file is there packed and unpacked."""
    there = set(files)
    for packed in files:
        if packed.suffix in PACKED and packed.with_suffix("") in there:
            raise DataError(f"{packed}: is next to {packed.stem}; keep one of the two")


def is_hidden(name: str) -> bool:
    """Return whether a file or folder is left out, as by Spark: markers, and what is unfinished.

    A folder ``_day=1`` is a value of a column.
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def free_beside(path: Path, what: str) -> Path:
    """Return the name of a CSV file, not there yet, that says what it is of a table beside it.

    >>> free_beside(Path("gone/lists.v2.csv.gz"), "fixed").as_posix()
    'gone/lists.v2-fixed.csv'
    """
    stem = path.name
    for endings in (PACKED, _TABLE_SUFFIXES):
        ending = Path(stem).suffix
        stem = stem.removesuffix(ending) if ending.lower() in endings else stem
    names = (f"{stem}-{what}{f'-{number}' if number > 1 else ''}.csv" for number in count(1))
    return next(path.parent / name for name in names if not exists(path.parent / name))


@contextmanager
def unpacked(path: Path, cap: Cap = SENT) -> Iterator[Path]:
    """Yield a plain file with the content of `path`; a packed one goes to a temporary folder.

    Raise DataError where it cannot be, or has more than the cap allows.
    """
    if path.suffix not in PACKED:
        yield path
        return
    with temporary_folder() as folder:
        plain, kind = folder / path.with_suffix("").name, path.suffix.removeprefix(".")
        try:
            with (
                path.open("rb", buffering=0) as raw,
                unpacking.content(raw, kind, path.stat().st_size, cap) as stream,
                plain.open("wb") as target,
            ):
                shutil.copyfileobj(stream, target, 1 << 20)
        except Refused as error:
            raise unusable(path, error, cap) from error
        except OSError as error:
            raise DataError(
                f"{path}: cannot be unpacked to {folder} ({error}); copy it again, or free some "
                "disk space"
            ) from error
        yield plain


def unusable(path: Path, error: Refused, cap: Cap) -> DataError:
    """Return the error for a file of a table that cannot be read."""
    says = {
        "members": f"must contain exactly one file (found {error.value})",
        "large": f"unpacks to more than {error.value}; {cap.cure}",
        "damaged": f"cannot be unpacked: it is damaged ({error.value}); copy or write it again",
        "kind": f"cannot be read: it is {error.value}; give text in UTF-8, plain or in .gz or .zip",
        "encoding": f"{error.value}; name another encoding, or save the file as UTF-8",
        "endless": f"a line is longer than {error.value}; check the line ends",
    }
    otherwise = "cannot be opened; check its name and permissions"
    return DataError(f"{path}: {says.get(error.fault, otherwise)}")


def refuse_overwriting(
    out: Path,
    read: Iterable[Path | str | None],
    is_own: Callable[[Path], bool] | None = None,
    *,
    what: str = "",
    force: bool | None = None,
) -> None:
    """Raise UsageError where a file may not be written, or is one of those that are read.

    A file that is there is replaced if it `is_own`, one that the command makes, called `what`; or
    by `force`, which is None where there is no such option.
    """
    try:
        state = out.lstat()
    except (OSError, ValueError):
        return  # nothing is there, or writing it says what is wrong
    for path in (Path(name) for name in read if name is not None):
        if exists(path) and exists(out) and out.samefile(path):
            raise UsageError(
                f"{out}: is an input of this command; name another file for the output"
            )
    if not stat.S_ISREG(state.st_mode):  # a device, a link, a folder
        raise UsageError(f"{out}: exists and is not a regular file; name another file")
    if force or (is_own is not None and (state.st_size == 0 or is_own(out))):
        return
    kind = f" and is not a {what}" if what else ""
    cure = "name another file, or remove it"
    if force is not None:
        cure = "name another --out, or add --force to replace it"
    raise UsageError(f"{out}: already exists{kind}; {cure}")


@contextmanager
def written(path: Path, cure: str = "") -> Iterator[None]:
    """Raise UsageError where what is done here, which writes `path`, cannot be done."""
    import polars as pl  # slow to import

    try:
        yield
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be written: {why}{cure}") from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name; the file takes the name `path` only when all went well."""
    with scratch_folder(path) as folder:
        temporary = folder / "file"
        yield temporary
        with temporary.open("rb+") as handle:
            os.fsync(handle.fileno())
        temporary.replace(path)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path` that replaces it only when all went well."""
    with scratch_folder(path) as temporary:
        yield temporary
        exchange(temporary, path)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Yield a folder beside `path` for what this process writes meanwhile; it goes afterwards.

    What killed processes left beside `path` goes too; a folder that they put aside comes back.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for abandoned in _of_dead(path.parent, rf"\.{re.escape(_label(path))}\.{_OWNER}\.\w+\.\w+"):
        with alone(path.parent), suppress(OSError):  # another process was faster
            if abandoned.suffix == ".old" and not path.exists():
                abandoned.replace(path)
            else:
                shutil.rmtree(abandoned)
    temporary = beside(path, "part")
    temporary.mkdir()
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a temporary folder; remove those that killed processes left first."""
    for abandoned in _of_dead(Path(tempfile.gettempdir()), rf"harness-{_OWNER}-\w+"):
        shutil.rmtree(abandoned, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"harness-{owner()}-") as folder:
        yield Path(folder)


_OWNER = r"(?P<process>\d{1,9})-(?P<machine>[0-9a-f]{8})"
_LONGEST = 150


def owner() -> str:
    """Return what tells this process from others of this machine, or container."""
    where = platform.node()
    with suppress(OSError):  # numbers of processes mean the same within it
        where += f" {Path('/proc/self/ns/pid').stat().st_ino}"
    return f"{os.getpid()}-{hashlib.sha256(where.encode()).hexdigest()[:8]}"


def beside(path: Path, end: str) -> Path:
    """Return a free hidden name beside `path` that tells of this process.

    It is absolute, as Polars takes a "~" at the start of a name for the user's folder.
    """
    name = f".{_label(path)}.{owner()}.{secrets.token_hex(4)}.{end}"
    return path.absolute().with_name(name)


def _label(path: Path) -> str:
    if len(path.name.encode()) <= _LONGEST:
        return path.name
    return hashlib.sha256(path.name.encode()).hexdigest()[:32]


def _of_dead(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the folders of such names whose processes, of this user and machine, are gone."""
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - there may be thousands, and few are ours
            match, path = re.fullmatch(pattern, name), Path(folder, name)
            if match is None or not owner().endswith(match["machine"]) or path.is_symlink():
                continue
            import psutil  # slow to import

            with suppress(OSError):  # another has removed it
                is_mine = os.name != "posix" or path.stat().st_uid == os.geteuid()
                if is_mine and not psutil.pid_exists(int(match["process"])):
                    yield path


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes from doing the same in `folder` at the same time."""
    try:
        import fcntl
    except ImportError:  # not on Windows; a rename onto a folder fails there, and is told
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def exchange(temporary: Path, path: Path) -> None:
    """Give a folder the name `path`, and remove the one that had it."""
    with alone(path.parent):
        if path.is_file() or path.is_symlink():
            raise FileExistsError(f"{path} is no folder")
        if not path.exists():
            temporary.replace(path)
            return
        old = beside(path, "old")
        path.replace(old)
        try:
            temporary.replace(path)
        except OSError:
            old.replace(path)
            raise
        shutil.rmtree(old, ignore_errors=True)
