"""An import path in a config in, a class or a function out: ours, or a file's beside the config."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import pkgutil
import shlex
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from harness.core.errors import NotCompiledError, UsageError, suggest
from harness.core.sources import BESIDE, source_file, watch_imports

_EXAMPLES = {
    "class": '"module:Class", such as "my_model:Model"',
    "function": '"module:function", such as "my_metrics:early"',
    "layout": '"module:name", such as "my_layout:Shop"',
}


def load(owner: str, use: str, folder: Path, kind: Literal["class", "function", "layout"]) -> Any:
    """Return the class, function or layout that ``module:name`` names.

    A file ``module.py`` in `folder`, the config's own, is taken before an installed module; a
    ``path/to/module.py:name`` names any file. `owner` names it in the message of a UsageError: no
    such module or name.
    """
    module_name, _, attribute = use.rpartition(":")
    if not (module_name and attribute):
        raise UsageError(f'{owner}: "{use}" is not an import path; expected {_EXAMPLES[kind]}')
    module = _module(owner, module_name, folder)
    loaded = getattr(module, attribute, None)
    if loaded is None or not (callable(loaded) or kind == "layout"):
        there = _names_in(module, kind)
        hint = suggest(attribute, there) if there else f"it defines no {kind}"
        raise UsageError(f'{owner}: {module_name} has no {kind} "{attribute}"; {hint}')
    return loaded


def _module(owner: str, module_name: str, folder: Path) -> ModuleType:
    watch_imports()
    beside = file_of(module_name, folder)
    if module_name.endswith(".py") and not beside.is_file():
        raise UsageError(
            f"{owner}: no file {beside}; paths start at the config's folder, in Python at the "
            "current folder"
        )
    try:
        return _from_file(beside) if beside.is_file() else importlib.import_module(module_name)
    except NotCompiledError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(_missing(owner, module_name, error, beside)) from error
    except BaseException as error:  # a stranger's module may raise anything while it is imported
        raise_interrupt(error)
        raise UsageError(f"{owner}: {module_name} cannot be imported: {told(error)}") from error


def told(error: BaseException) -> str:
    """Return what a stranger's code raised, and in which file and line, theirs where there is one.

    Installed modules, Python's own and ours are not theirs.
    """
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if source_file(frame.filename) is not None]
    last = (theirs or frames)[-1]
    text, file, line = str(error), last.filename, last.lineno
    if isinstance(error, SyntaxError) and frames[-1].filename.startswith("<frozen importlib"):
        text, file, line = error.msg, str(error.filename), error.lineno
    kind = type(error).__name__
    return f"{f'{kind}: {text}' if text else kind} ({file}, line {line})"


def raise_interrupt(error: BaseException) -> None:
    """Raise `error` again where it is the user's own wish to stop."""
    if isinstance(error, KeyboardInterrupt):
        raise error


def file_of(module_name: str, folder: Path) -> Path:
    """Return where the file of a module beside the config would be."""
    return folder / (module_name if module_name.endswith(".py") else f"{module_name}.py")


def _missing(owner: str, module_name: str, error: ModuleNotFoundError, beside: Path) -> str:
    """Return what to say of a module that is missing, or of one that it needs itself."""
    if error.name is None:
        return f"{owner}: {module_name} cannot be imported: {error}"
    if beside.is_file() or not f"{module_name}.".startswith(f"{error.name}."):
        needed = f"{owner}: {module_name} needs the module {error.name}, which is not installed"
        folder = beside.parent.resolve()
        if file_of(error.name, folder).is_file():
            return (
                f"{needed}; {error.name}.py is in {folder}, but Python does not look there: put "
                f"PYTHONPATH={shlex.quote(str(folder))} before the command"
            )
        if error.name.partition(".")[0] in sys.modules:
            near = _neighbours(error.name, folder)
            return f"{needed}; {suggest(error.name, near)}" if near else needed
        return f"{needed}; install its package, such as pip install {error.name}"
    near = _neighbours(module_name, beside.parent)
    hint = suggest(module_name, near) if near else "write this file or install the module"
    return f'{owner}: no module "{module_name}" (nor {beside}); {hint}'


def _from_file(path: Path) -> ModuleType:
    # The folder is part of the name, so that two configs' model.py do not become one module.
    digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]  # in all processes
    name = f"{BESIDE}{digest}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "its name ends in .py"  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    watch_imports(name)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)  # it may have been run within itself
        raise
    return module


def _neighbours(module_name: str, folder: Path) -> list[str]:
    """Return the modules of the package that `module_name` would be in, or the files beside it."""
    package = module_name.rpartition(".")[0]
    if not package:
        return sorted(path.stem for path in folder.glob("*.py"))
    try:
        paths = importlib.import_module(package).__path__
    except (ImportError, AttributeError):
        return []
    return [f"{package}.{m.name}" for m in pkgutil.iter_modules(paths)]


def _names_in(module: ModuleType, kind: str) -> list[str]:
    """Return the names that may be meant in a module."""
    names = [name for name in vars(module) if not name.startswith("_")]
    if kind == "layout":
        return names
    is_kind = inspect.isclass if kind == "class" else inspect.isfunction
    values = [(name, getattr(module, name)) for name in names]
    return [name for name, v in values if is_kind(v) and v.__module__ == module.__name__]
