"""The source of a metric of one's own: figures by two sources are not compared."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from itertools import accumulate
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
    names = {str(getattr(function, "__module__", None) or module)}
    waiting, files = [(beside.stem, beside.resolve())] if beside.is_file() else [], set[Path]()
    waiting += _modules_of(names if waiting else {*names, module})
    while waiting:
        name, file = waiting.pop()
        if file not in files:
            files.add(file)
            waiting += _modules_of(_imports(name, file))
    if sources.edited(name for name, file in sources.files().items() if file in files):
        return None
    parts = [*map(sources.digest_of, files), *_versions(names)] or _code_of(function)
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest() if parts else None


def _imports(name: str, file: Path) -> set[str]:
    """Return the modules that a module may import, anywhere in it."""
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    names = set[str]()
    with suppress(OSError, SyntaxError, ValueError, RecursionError, ImportError):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = resolve_name("." * node.level + (node.module or ""), package)
                names.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return names


def _modules_of(names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Yield modules, and the packages they are in, with their files."""
    for name in names:
        for prefix in accumulate(name.split("."), "{}.{}".format):
            spec = None if prefix == "__main__" else _spec_of(prefix)
            file = (
                sources.source_file(spec.origin) if spec is not None and spec.has_location else None
            )
            if file is not None:
                yield prefix, file


def _spec_of(name: str) -> ModuleSpec | None:
    """Return how a module was imported, or would be; nothing is imported."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    package = name.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(name)
    above = _spec_of(package)
    places = None if above is None else above.submodule_search_locations
    return None if places is None else PathFinder.find_spec(name, places)


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
