"""An import path in a config in, a recommender out: ours, a stranger's, or a file's beside it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Callable, Mapping
from numbers import Integral
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from harness.errors import HarnessError, RecommenderError, UsageError, suggest
from harness.parameters import ParameterError
from harness.recommender import Recommender

_SEEDS = ("seed", "random_state")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def load(name: str, use: str, params: Mapping[str, Any], folder: Path) -> Recommender:
    """Return the recommender that ``use = "module:Class"`` names, made with `params`.

    Raises
    ------
    UsageError
        No such module, class or parameter; the message names the model and the nearest valid name.
    """
    return made(name, use, factory(name, use, folder), params)


def factory(name: str, use: str, folder: Path) -> Callable[..., Any]:
    """Return the class that ``use = "module:Class"`` names.

    A file ``module.py`` in `folder`, the config's own, is taken before an installed module; a
    ``path/to/module.py:Class`` names any file.

    Raises
    ------
    UsageError
        No such module or class; the message names the model and the nearest valid name.
    """
    wrong = f'use = "{use}" is no import path; expected "module:Class", such as "my_model:Model"'
    return _named(f'model "{name}"', use, folder, "class", wrong)


def made(
    name: str, use: str, factory: Callable[..., Any], params: Mapping[str, Any]
) -> Recommender:
    """Return the recommender that a class makes of `params`.

    Raises
    ------
    UsageError
        It has no such parameter, refuses a value, or what it makes is no recommender.
    """
    _check_params(name, use, factory, params)
    try:
        made = factory(**params)
    except BaseException as error:
        raise_interrupt(error)
        raise UsageError(
            f'model "{name}": {use} cannot be made with these parameters: {told(error)}'
        ) from error
    for method in ("fit", "recommend"):
        if not callable(getattr(made, method, None)):
            raise UsageError(f'model "{name}": {use} has no method "{method}"')
    return cast(Recommender, made)


def seeds(factory: Callable[..., Any], params: Mapping[str, Any]) -> dict[str, int]:
    """Return the value of every parameter `seed` and `random_state` that is a whole number."""
    try:
        accepted = inspect.signature(factory).parameters
        defaults = {n: about.default for n, about in accepted.items() if about.kind in _NAMED}
    except (TypeError, ValueError):  # a class written in C need not tell
        defaults = {}
    values = {name: params.get(name, defaults.get(name)) for name in _SEEDS}
    return {
        name: int(value)
        for name, value in values.items()
        if isinstance(value, Integral) and not isinstance(value, bool)
    }


def function(owner: str, use: str, folder: Path) -> Callable[..., Any]:
    """Return the function that ``module:function`` names; modules are found as in `load`.

    Parameters
    ----------
    owner : str
        What names it, for the message.

    Raises
    ------
    UsageError
        No such module or function.
    """
    wrong = 'is no import path; expected "module:function", such as "my_metrics:early"'
    return _named(owner, use, folder, "function", wrong)


def _named(owner: str, use: str, folder: Path, kind: str, wrong: str) -> Callable[..., Any]:
    """Return the class or function that an import path names."""
    module_name, colon, attribute = use.rpartition(":")
    if not (module_name and colon and attribute):
        raise UsageError(f"{owner}: {wrong}")
    module = _module(owner, module_name, folder)
    found = getattr(module, attribute, None)
    if found is None or not callable(found):
        there = _defined_in(module, inspect.isclass if kind == "class" else inspect.isfunction)
        hint = suggest(attribute, there) if there else f"it defines no {kind}"
        raise UsageError(f'{owner}: {module_name} has no {kind} "{attribute}"; {hint}')
    return cast(Callable[..., Any], found)


def _module(owner: str, module_name: str, folder: Path) -> ModuleType:
    beside = file_of(module_name, folder)
    if module_name.endswith(".py") and not beside.is_file():
        raise UsageError(f"{owner}: no file {beside}; paths start at the config file")
    try:
        return _from_file(beside) if beside.is_file() else importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UsageError(_missing(owner, module_name, error, beside)) from error
    except BaseException as error:  # a stranger's module may raise anything while it is imported
        raise_interrupt(error)
        raise UsageError(f"{owner}: {module_name} cannot be imported: {told(error)}") from error


def guarded(name: str, method: str, call: Callable[[], Any]) -> Any:
    """Return what a method of the model `name` answers.

    Raises
    ------
    RecommenderError
        It raised anything else than what follows, or returned None.
    HarnessError
        It raised that, or a `ParameterError`, which becomes a UsageError; the message names it.
    """
    try:
        answer = call()
    except (HarnessError, ParameterError) as error:
        if isinstance(error, RecommenderError) or str(error).startswith('model "'):
            raise
        kind = type(error) if isinstance(error, HarnessError) else UsageError
        raise kind(f'model "{name}": {error}') from error
    except BaseException as error:  # a stranger's code may raise anything
        raise_interrupt(error)
        raise RecommenderError(f'model "{name}" raised in {method}: {told(error)}') from error
    if answer is None:
        expected = "self" if method == "fit" else "an array"
        raise RecommenderError(f'model "{name}": {method} returned None; expected {expected}')
    return answer


def told(error: BaseException) -> str:
    """Return what a stranger's code raised, and in which file and line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be shown)"
    return f"{type(error).__name__}: {text} ({last.filename}, line {last.lineno})"


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
        return f"{owner}: {module_name} needs the module {error.name}, which is not installed"
    near = _neighbours(module_name, beside.parent)
    hint = suggest(module_name, near) if near else "write that file or install the module"
    return f'{owner}: no module "{module_name}" (nor {beside}); {hint}'


def _from_file(path: Path) -> ModuleType:
    # The folder is part of the name, so that two configs' model.py do not become one module.
    name = f"_beside_{abs(hash(path.resolve())):x}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
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


def _defined_in(module: ModuleType, kind: Callable[[object], bool]) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if kind(value) and value.__module__ == module.__name__
    ]


def _check_params(name: str, use: str, factory: Any, params: Mapping[str, Any]) -> None:
    try:
        accepted = inspect.signature(factory).parameters
    except (TypeError, ValueError):  # a class written in C need not tell
        return
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values()):
        return
    models = accepted.get("models")
    if models is not None and models.default is models.empty and "models" not in params:
        raise UsageError(f'model "{name}": {use} is made of other models; name them under of')
    for param, about in accepted.items():
        if about.default is about.empty and param not in params and about.kind in _NAMED:
            raise UsageError(f'model "{name}": {use} needs the parameter "{param}"')
    for param in params:
        if param not in accepted:
            raise UsageError(
                f'model "{name}": {use} has no parameter "{param}"; {suggest(param, accepted)}'
            )
