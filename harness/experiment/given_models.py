"""Models as a program has them: classes, objects and frames of lists, as [[models]] names them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.config import IN_PYTHON
from harness.config.paths import escaped
from harness.core.errors import UsageError
from harness.core.given import name_of
from harness.core.io import exists
from harness.core.params import is_plain
from harness.experiment.given_frames import is_frame, name_frames
from harness.models import guard


def plain(value: Any) -> Any:
    """Return a value as a TOML file would give it; frames and objects are left alone."""
    if isinstance(value, Path):
        return escaped(str(value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def model_entries(
    models: Any, frames: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the models as [[models]] has them, and the classes and objects by a model's name.

    Frames of lists are added to `frames`.
    """
    if isinstance(models, Mapping):
        entries = [{"name": name, **_entry(model)} for name, model in models.items()]
    elif isinstance(models, list | tuple) and all(isinstance(model, Mapping) for model in models):
        entries = [dict(model) for model in models]
    else:
        raise UsageError(
            f"{IN_PYTHON}: models: found {type(models).__name__}; expected a mapping of names, "
            'such as models={"mine": MyModel(), "popular": "my_model:Popular"}'
        )
    objects = dict[str, Any]()
    for entry in entries:
        entry |= {key: plain(value) for key, value in entry.items() if key != "params"}
        name, use = str(entry.get("name")), entry.get("use")
        if use is not None and not isinstance(use, str):
            kind = use if isinstance(use, type) else type(use)
            if kind is not use:
                _refuse_beside_object(entry)
            objects[name], entry["use"] = use, name_of(kind.__name__)
        if "lists" in entry:
            entry["lists"] = name_frames(entry["lists"], f"the lists of {name}", frames)
        if isinstance(entry.get("params"), Mapping):
            entry["params"] = _params(name, entry["params"])
    return entries, objects


def _entry(model: Any) -> Mapping[str, Any]:
    """Return what [[models]] says of a model, with classes, objects and frames in place."""
    if isinstance(model, Mapping):
        return model
    if isinstance(model, str):
        module, _, attribute = model.rpartition(":")
        is_import_path = module and attribute.isidentifier() and not exists(Path(model))
        return {"use" if is_import_path else "lists": model}
    is_lists = is_frame(model) and not hasattr(model, "recommend")
    return {"lists" if is_lists or isinstance(model, Path) else "use": model}


def _refuse_beside_object(entry: Mapping[str, Any]) -> None:
    """Raise UsageError where an entry says of an object what goes with a class."""
    name, model = entry["name"], entry["use"]
    keys = [key for key in ("params", "of", "space", "tuned") if entry.get(key)]
    if guard.seeds(type(model), guard.stored(model)) and entry.get("repeats", 1) != 1:
        keys.append("repeats")
    if keys:
        kind, key = type(model).__name__, keys[0]
        raise UsageError(
            f'model "{name}": {key} goes with a class, and this is an object of {kind}: each fit '
            f'takes a copy of it as it is; give its class: {{"use": {kind}, "{key}": …}}'
        )


def _params(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with numbers of NumPy as Python's; config.toml must be able to hold all."""
    params = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in params.items()
    }
    for key, value in params.items():
        if not is_plain(value):
            kind = "None" if value is None else type(value).__name__
            raise UsageError(
                f'model "{name}": params "{key}" is {kind}, which no config can hold; leave it '
                f"out where that is the default, or give the object that has it: {name!r}: "
                f"MyModel({key}=…)"
            )
    return params
