"""Models as a program has them: classes, objects and frames of lists, as [[models]] names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, time
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from harness.config import IN_PYTHON
from harness.config.paths import escaped
from harness.core.errors import UsageError
from harness.core.given import name_of
from harness.experiment.given_frames import Frames, is_frame

_MODELS = (
    'an import path "module:Class", a class, an object with fit and recommend, a frame or a file '
    'of lists, or a mapping such as {"use": MyModel, "params": {"days": 7}, "repeats": 5}'
)
_ONE = 'models={"mine": MyModel()}'
_SEEDS = ("seed", "random_state")


def plain(value: Any) -> Any:
    """Return a value as a TOML file would give it; frames and objects are left alone."""
    if isinstance(value, Path):
        return escaped(str(value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def entries(given: Any, frames: Frames) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the models as [[models]] has them, and the classes and objects by a model's name.

    Raises
    ------
    UsageError
        What is no model.
    """
    objects = dict[str, Any]()
    return [
        {"name": name, **_model(name, one, frames, objects)} for name, one in _named(given)
    ], objects


def _named(given: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(given, Mapping):
        several = list(given.items())
    elif isinstance(given, list | tuple) and all(isinstance(one, Mapping) for one in given):
        several = [(one.get("name"), one) for one in given]
    else:
        found = "nothing" if given is None else type(given).__name__
        raise UsageError(
            f"{IN_PYTHON}: models: found {found}; expected a mapping of names, such as "
            'models={"mine": MyModel(), "popular": "my_model:Popular"}'
        )
    if not several:
        raise UsageError(f"{IN_PYTHON}: models is empty; give one, such as {_ONE}")
    for name, one in several:
        if not isinstance(name, str):
            raise UsageError(
                f"{IN_PYTHON}: models: found the name {name!r}; a model's name is a text"
            )
        yield name, one


def _model(name: str, given: Any, frames: Frames, objects: dict[str, Any]) -> dict[str, Any]:
    """Return what a config says of a model."""
    if isinstance(given, Mapping):
        return _of_mapping(name, dict(given), frames, objects)
    if isinstance(given, Path):
        return {"lists": escaped(_file(name, str(given)))}
    if isinstance(given, str) and not _is_import_path(given):
        return {"lists": _file(name, given)}
    if isinstance(given, str):
        return {"use": given}
    if not _is_recommender(given) and is_frame(given):
        return {"lists": frames.named(f"the lists of {name}", given)}
    objects[name] = given
    return {"use": _use(name, given)}


def _of_mapping(
    name: str, own: dict[str, Any], frames: Frames, objects: dict[str, Any]
) -> dict[str, Any]:
    """Return an entry as [[models]] has it, whose class may be an object, its lists a frame."""
    if own.get("name", name) != name:
        raise UsageError(f'model "{name}": its mapping names it {own["name"]!r}; leave "name" out')
    use = own.get("use")
    if use is not None and not isinstance(use, str):
        objects[name], own["use"] = use, _use(name, use)
        if not isinstance(use, type):
            _refuse_beside_object(name, use, own)
    if "lists" in own:
        own["lists"] = frames.named(f"the lists of {name}", plain(own["lists"]))
    if isinstance(params := own.get("params"), Mapping):
        own["params"] = {  # numbers of NumPy as Python's own
            key: value.item() if isinstance(value, np.generic) else value
            for key, value in params.items()
        }
    _require_writable(name, own.get("params"))
    return {key: one if key == "params" else plain(one) for key, one in own.items()}


def _is_import_path(text: str) -> bool:
    module, _, attribute = text.rpartition(":")
    return bool(module) and attribute.isidentifier() and not Path(text).exists()


def _file(name: str, path: str) -> str:
    """Return the path of a file of lists."""
    if not Path(path).exists() and not Path(path).suffix:
        raise UsageError(
            f'model "{name}": found {path!r}, which is no file of lists that there is, and no '
            'import path such as "my_model:MyModel"'
        )
    return path


def _is_recommender(given: Any) -> bool:
    return all(callable(getattr(given, method, None)) for method in ("fit", "recommend"))


def _use(name: str, given: Any) -> str:
    """Return the name of a class or object."""
    kind = given if isinstance(given, type) else type(given)
    if _is_recommender(given):
        return name_of(kind.__name__)
    lost = [one for one in ("fit", "recommend") if not callable(getattr(given, one, None))]
    if len(lost) == 1 or (isinstance(given, type) and kind.__module__ != "builtins"):
        raise UsageError(
            f'model "{name}": {kind.__name__} has no method "{lost[0]}"; a model has '
            "fit(train) and recommend(users, k, draws, exclude=None)"
        )
    if given is None or isinstance(given, bool | int | float):
        shown = repr(given)
    else:
        shown = f"{type(given).__name__} {getattr(given, '__name__', '')}".rstrip()
    raise UsageError(f'model "{name}": found {shown}; expected {_MODELS}')


def _refuse_beside_object(name: str, model: Any, own: Mapping[str, Any]) -> None:
    """Raise UsageError where an entry says of an object what goes with a class."""
    kind = type(model).__name__
    for key in ("params", "of", "space", "tuned"):
        if own.get(key):
            raise UsageError(
                f'model "{name}": {key} goes with a class, and this is an object of {kind}, which '
                f'is made already; give its class: {{"use": {kind}, "{key}": …}}'
            )
    seeds = [seed for seed in _SEEDS if isinstance(getattr(model, seed, None), Integral)]
    if own.get("repeats", 1) != 1 and seeds:
        raise UsageError(
            f'model "{name}": copies of this {kind} have one {seeds[0]}, so that all repeats are '
            f"the same; give its class, which each repeat gets a {seeds[0]} of its own of: "
            f'{{"use": {kind}, "params": {{"{seeds[0]}": {getattr(model, seeds[0])}}}, '
            '"repeats": …}'
        )


def _require_writable(name: str, params: Any) -> None:
    """Raise UsageError where parameters hold what a run folder's config.toml cannot."""
    for key, value in params.items() if isinstance(params, Mapping) else ():
        if not _is_writable(value):
            found = "None" if value is None else type(value).__name__
            raise UsageError(
                f'model "{name}": params "{key}" is {found}, which no config can hold; leave it '
                f"out where that is the default, or give the object that has it: {name!r}: "
                f"MyModel({key}=…)"
            )


def _is_writable(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_writable, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_writable(one) for key, one in value.items())
    return isinstance(value, bool | int | float | str | date | time)
