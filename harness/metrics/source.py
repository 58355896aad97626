"""The source of a metric of one's own: figures by two sources are not compared."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from modulefinder import ModuleFinder
from pathlib import Path
from types import CodeType
from typing import Any

from harness.core import sources


def source_of(module: str, beside: Path, function: Any) -> str | None:
    """Return the digest of what a function is made of; None where that is not known.

    That is the text of its file, and of those that import statements reach from there; of a
    function of an installed package the package's version; of one that no file holds its own code.
    It depends on no path, and of what is in files on no machine or version of Python. It is not
    known where a file was edited after its import: figures are by the text in memory.
    """
    name, known = str(getattr(function, "__module__", None) or module), sources.files()
    names = {name} if beside.is_file() else {name, module}
    folders = [folder for folder in sys.path if not sources.is_skipped(folder or ".")]
    for imported, file in known.items():
        if not imported.startswith(sources.BESIDE):  # what is installed for editing lies elsewhere
            depth = imported.count(".") + 1 + (file.stem == "__init__")
            folders.append(str(Path(file, *[os.pardir] * depth)))
    finder = ModuleFinder(folders, excludes=[folder.name for folder in sources.OURS])
    files = {beside.resolve()} if beside.is_file() else set[Path]()
    follow: list[Callable[[], object]]
    follow = [partial(finder.run_script, str(file)) for file in files]
    follow += [partial(finder.import_hook, reached) for reached in names - {"__main__"}]
    for imports in follow:
        with suppress(OSError, SyntaxError, ValueError, RecursionError, ImportError):
            imports()
    places = (
        sources.source_file(getattr(each, "__file__", None)) for each in finder.modules.values()
    )
    files.update(filter(None, places))
    if sources.edited(imported for imported, file in known.items() if file in files):
        return None
    parts = [*map(sources.digest_of, files), *_versions(names)] or _code_of(function)
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest() if parts else None


def _versions(names: Iterable[str]) -> list[str]:
    """Return the versions of the installed packages that some modules are of."""
    from importlib.metadata import packages_distributions, version  # slow to import

    versions = set[str]()
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and sources.is_installed(Path(file)):
            packages = packages_distributions().get(name.partition(".")[0], [])
            versions.update(f"{package} {version(package)}" for package in packages)
    return sorted(versions)


def _code_of(function: Any) -> list[str]:
    """Return the text of a function, as of a notebook, or else what Python compiled it to."""
    with suppress(OSError, TypeError):
        return [inspect.getsource(function)]
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    values = [value for value in code.co_consts if not isinstance(value, CodeType)]
    return [repr((code.co_code, code.co_names, values))]
