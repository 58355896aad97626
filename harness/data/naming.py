"""What the name of a table stands for: files, or a table of a database.

Names of folders such as ``date=2020-09-16`` are columns of the files below them, as in Hive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from harness.core.errors import DataError
from harness.core.io import exists, is_hidden, listed, parts, refuse_twice, spellings
from harness.data.layout import Table

_WILD = re.compile(r"[*?\[]")
INSIDE = "::"
"""What stands between a database and the name of its table."""
_NULL = "__HIVE_DEFAULT_PARTITION__"


class Part(NamedTuple):
    """One file of a table, with what the names of its folders say, or a table of a database.

    In `partition` the value of a column is None where nothing stands there.
    """

    path: Path
    partition: tuple[tuple[str, str | None], ...] = ()
    inside: str | None = None


def parts_of(table: Table) -> list[Part]:
    """Return the files of a table, by name.

    DataError where none has that name or fits the pattern, or folders say a column twice.
    """
    if table.is_frame:
        return [Part(table.local)]
    path, inside = _opened_up(table.local)
    if inside is not None:
        if not exists(path):
            raise DataError(f"{path}: no such file\n{listed(path.parent)}")
        return [Part(file, inside=inside) for file in parts(path)]
    root, pattern = _cut(path)
    files = _matching(root, pattern) if pattern else parts(root)
    return [Part(file, _partition(file, root)) for file in files]


def is_in_database(table: Table) -> bool:
    """Return whether a table is one of a database."""
    return not table.is_frame and _opened_up(table.local)[1] is not None


def is_one_file(table: Table) -> bool:
    """Return whether a table is a file or a frame by itself, whose rows have an order."""
    if table.is_frame:
        return True
    root, pattern = _cut(table.local)
    return not pattern and not root.is_dir() and not is_in_database(table)


def _opened_up(path: Path) -> tuple[Path, str | None]:
    """Return a database and its table; a file whose name has such signs is itself."""
    if INSIDE not in str(path) or exists(path):
        return path, None
    file, _, inside = str(path).rpartition(INSIDE)
    return Path(file), inside


def _cut(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the part of a path that is a name, and what is a pattern behind it.

    What exists is a name, whatever signs it has.
    """
    if not _WILD.search(str(path)) or any(exists(spelling) for spelling in spellings(path)):
        return path, ()
    root = Path(path.anchor)
    names = path.parts[len(root.parts) :]
    for position, name in enumerate(names):
        if _WILD.search(name) and not exists(root / name):
            return root, names[position:]
        root /= name
    return path, ()


def _matching(root: Path, pattern: Sequence[str]) -> list[Path]:
    """Return the files that fit a pattern, and those of folders that do, but for hidden ones."""
    fitting = (
        path
        for path in _glob(root, pattern)
        if not any(map(is_hidden, path.relative_to(root).parts))
    )
    files = sorted(
        {file for path in fitting for file in (parts(path) if path.is_dir() else [path])}
    )
    refuse_twice(files)
    if not files:
        raise DataError(
            f"{root / '/'.join(pattern)}: no file matches this pattern\n{listed(root)}; * matches "
            "any text in a name, ? one character, ** any folders"
        )
    return files


def _glob(root: Path, pattern: Sequence[str]) -> Iterator[Path]:
    *above, last = (*pattern, "*") if pattern[-1] == "**" else pattern
    if _WILD.search(last):
        return root.glob("/".join([*above, last]))
    # `glob` leaves out a broken link whose name is no pattern; such a file must not go missing.
    paths = (folder / last for folder in root.glob("/".join(above)))
    return (path for path in paths if os.path.lexists(path))


def _partition(file: Path, root: Path) -> tuple[tuple[str, str | None], ...]:
    """Return what the names of the folders between a table's own and a file say."""
    values: dict[str, str | None] = {}
    for name in file.relative_to(root).parts[:-1] if root in file.parents else ():
        column, equals, value = name.partition("=")
        if not column or not equals:
            continue
        column = unquote(column)
        if column in values:
            raise DataError(
                f'{file}: two of its folders name "{column}"; name each column of a path once'
            )
        values[column] = None if value == _NULL else unquote(value)
    return tuple(values.items())
