"""The source of a metric of one's own: figures by two sources are not compared."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterable
from contextlib import suppress
from modulefinder import ModuleFinder
from pathlib import Path
from types import CodeType
from typing import Any

from harness.core.sources import OURS, digest_of, is_installed, is_skipped, look, source_file


def source_of(module: str, beside: Path, function: Any) -> str | None:
    """Return the digest of what a function is made of; None where that is not known.

    That is the text of its file, and of those that import statements reach from there, as they were
    imported; of a function of an installed package the package's version; of one that no file holds
    its own code. It depends on no path, and of what is in files on no machine or version of Python.

    Parameters
    ----------
    module : str
        What names it.
    beside : Path
        The module's file, if it is there; it was run just now.
    """
    names = {str(getattr(function, "__module__", None) or module)}
    names |= set() if beside.is_file() else {module}
    imported = {(source.file, source.digest) for source in look().values()}
    digests = list[str]()
    for file in _files(names, beside):
        texts = [digest for path, digest in imported if path == str(file)] or [digest_of(file)]
        if len(texts) > 1:  # imported before and after an edit
            return None
        digests += texts
    parts = [*digests, *_versions(names)] or _code_of(function)
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest() if parts else None


def _files(names: Iterable[str], beside: Path) -> set[Path]:
    """Return the files of modules, and of those that their import statements name, in turn."""
    modules = [sys.modules[name] for name in names if name in sys.modules]
    files = [getattr(module, "__file__", None) for module in modules]
    tops = [sys.modules.get(name.partition(".")[0]) for name in names]  # may be found by a hook
    places = [str(Path(folder).parent) for top in tops for folder in getattr(top, "__path__", ())]
    folders = [folder for folder in (*sys.path, *places) if not is_skipped(folder)]
    finder = ModuleFinder(folders, excludes=[folder.name for folder in OURS])
    if beside.is_file():
        finder.run_script(str(beside.resolve()))
    for name in {*names} - {"__main__"}:
        with suppress(ImportError):
            finder.import_hook(name)
    files += [getattr(module, "__file__", None) for module in finder.modules.values()]
    return {path for path in map(source_file, files) if path is not None}


def _versions(names: Iterable[str]) -> list[str]:
    """Return the versions of the installed packages that some modules are of."""
    from importlib.metadata import packages_distributions, version  # slow to import

    versions = set[str]()
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and is_installed(Path(file)):
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
