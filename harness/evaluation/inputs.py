"""The inputs of `harness.run` in Python: a config, a mapping of its sections, or keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness.config import IN_PYTHON, Config, parse, read
from harness.config.paths import escaped
from harness.config.sections import TABLE
from harness.core import given
from harness.core.errors import DataError, UsageError, suggest
from harness.core.io import exists
from harness.core.params import is_plain
from harness.data.layout import EventTable
from harness.metrics.inputs.cells import missing
from harness.metrics.inputs.frame import Table, as_polars, frame_of, require_names
from harness.models import guard

_EXAMPLE = {
    "events": "events=frame",
    "split": 'split={"strategy": "time", "valid_days": 7}',
    "models": 'models={"mine": MyModel()}',
}
_TABLES = ("events", "users", "items")
_FRAMES = "a pandas, Polars or Arrow frame or a DuckDB relation"
_FILE_KEYS = {"separator", "header", "encoding", "quote", "escape"}
_FILE_KEYS |= {"bad_lines", "rows", "max_unpacked_gb"}
"""Keys of [data] that say how files of events are written."""


def config_of(
    config: Config | Mapping[str, Any] | str | Path | None,
    keywords: Mapping[str, Any],
    models: Sequence[str] | Mapping[str, Any],
) -> tuple[Config, Sequence[str]]:
    """Return a config, or one made of keywords, and the names of its models to evaluate."""
    keywords = {name: value for name, value in keywords.items() if value is not None}
    if config is None:
        return config_in_place(_sections(keywords, models)), ()
    config = config_in_place(config)
    are_names = isinstance(models, list | tuple) and all(isinstance(name, str) for name in models)
    if keywords or not are_names:
        extra = ", ".join(keywords) or f"models as {type(models).__name__}"
        raise UsageError(
            f"{IN_PYTHON}: found {extra} next to a config; with a config, you can only choose "
            'its models: models=["popular"]'
        )
    return config, list(models)


def config_in_place(config: Config | Mapping[str, Any] | str | Path, jobs: int = 1) -> Config:
    """Return a config, that of a file, or that of a mapping of sections; no `jobs` of frames."""
    if isinstance(config, Mapping):
        config = _config_of_sections(config)
    elif isinstance(config, str | Path):
        config = read(Path(config))
    elif not isinstance(config, Config):
        raise UsageError(
            f"{IN_PYTHON}: found {type(config).__name__}, expected a config: the path of a TOML "
            'file, or a mapping of its sections: {"data": {"events": frame}, "split": '
            '{"strategy": "time", "valid_days": 7}, "models": {"mine": MyModel()}}'
        )
    refuse_with_frames(config, None, jobs)
    return config


def refuse_with_frames(config: Config, memory: str | None, jobs: int) -> None:
    """Raise UsageError where events are frames and an argument needs files of them."""
    name = "memory" if memory is not None else "jobs" if jobs != 1 else None
    if name is not None and any(fold.layout().has_frames for fold in config.folds()):
        raise UsageError(
            f"{IN_PYTHON}: {name} needs events in a file, but these are a frame; remove {name}, "
            'or write the frame as Parquet and give its path: events="events.parquet"'
        )


def _sections(keywords: Mapping[str, Any], models: Any) -> dict[str, Any]:
    """Return the sections that keywords name; tables are keys of [data]."""
    named = {*keywords, *(["events"] if "data" in keywords else [])}
    named |= set() if isinstance(models, tuple) and not models else {"models"}
    if missing_keys := [name for name in _EXAMPLE if name not in named]:
        examples = ", ".join(_EXAMPLE[name] for name in missing_keys)
        raise UsageError(
            f"{IN_PYTHON}: no {' and no '.join(missing_keys)}; give {examples}, or a config "
            f'alone: {IN_PYTHON}("exam.toml")'
        )
    tables = {name: keywords[name] for name in _TABLES if name in keywords}
    data = keywords.get("data", {})
    if isinstance(data, Mapping):
        for name in tables.keys() & data.keys():
            raise UsageError(f"{IN_PYTHON}: {name} is also in data; give it once")
        data = {**data, **tables}
    sections = {name: keywords[name] for name in keywords if name not in tables}
    return sections | {"data": data, "models": models}


def _config_of_sections(sections: Mapping[str, Any]) -> Config:
    """Return the config of sections as a TOML file has them, with frames and objects in place."""
    frames = dict[str, Any]()
    values = {key: _plain(v, "", frames) for key, v in sections.items() if key != "models"}
    data = values.setdefault("data", {})
    if not isinstance(data, dict):
        raise UsageError(
            f"{IN_PYTHON}: data: found {type(sections['data']).__name__}; expected a mapping, "
            'such as data={"events": frame}'
        )
    for key in _TABLES:
        table = data.get(key)
        has_file = isinstance(table, dict) and "file" in table
        if not (has_file or isinstance(table, str | list | None)):
            raise UsageError(
                f"{IN_PYTHON}: {key}: found {type(table).__name__}; give {_FRAMES}, or the path "
                "of a file"
            )
    has_frames = any(name.startswith(given.name_of("the events frame")) for name in frames)
    for key in data.keys() & _FILE_KEYS if has_frames else ():
        raise UsageError(
            f"{IN_PYTHON}: [data] {key} is for files, but the events are a frame; remove it"
        )
    if "events" in data:
        values["data"] = data = {"layout": TABLE, "path": ".", **data}
    if frames:  # without the stamp of a file the cache cannot know them again
        data["cache"] = False
    entries, objects = _models(sections.get("models"), frames)
    config = parse(values | {"models": entries}, Path(), IN_PYTHON)
    layouts = [fold.layout() for fold in config.folds()] if frames else []
    events = {table.file: table for layout in layouts for table in layout.events}
    for name, frame in frames.items():  # of events only the columns that are asked for
        is_log = name in events
        frames[name] = (
            _events(events[name], frame) if is_log else as_polars(frame, given.shown(name))
        )
    return config.model_copy(update={"given": given.Given(frames, objects)})


def _plain(value: Any, role: str, frames: dict[str, Any]) -> Any:
    """Return a value as a TOML file would give it; a frame is a name there, and goes to `frames`.

    The name is that of its key, or its `role`; of several frames each is one of a fold.
    """
    if isinstance(value, Path):
        return escaped(str(value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        roles = {key: role if key == "file" else f"the {key} frame" for key in value}
        return {key: _plain(item, roles[key], frames) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v, f"{role} of fold {n}", frames) for n, v in enumerate(value, 1)]
    if not _is_frame(value):
        return value
    frames[given.name_of(role)] = value
    return given.name_of(role)


def _is_frame(value: Any) -> bool:
    methods = ("__arrow_c_stream__", "__dataframe__", "columns")
    return not isinstance(value, type) and (
        isinstance(value, pl.LazyFrame) or any(hasattr(value, name) for name in methods)
    )


def _models(models: Any, frames: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the models as [[models]] has them, and the classes and objects by a model's name."""
    if isinstance(models, Mapping):
        models = [{"name": name, **_entry(model)} for name, model in models.items()]
    if not isinstance(models, list | tuple) or not all(isinstance(m, Mapping) for m in models):
        raise UsageError(
            f"{IN_PYTHON}: models: found {type(models).__name__}; expected a mapping of names, "
            'such as models={"mine": MyModel(), "popular": "my_model:Popular"}'
        )
    entries, objects = list[dict[str, Any]](), dict[str, Any]()
    for model in models:
        name, use, params = str(model.get("name")), model.get("use"), model.get("params")
        plain = {key: value for key, value in model.items() if key not in ("use", "params")}
        entry = {key: _plain(v, f"the lists of {name}", frames) for key, v in plain.items()}
        if isinstance(params, Mapping):
            params = {key: _param(name, key, value) for key, value in params.items()}
        entry |= {"params": params} if "params" in model else {}
        if not isinstance(use, str | None):
            objects[name], kind = use, use if isinstance(use, type) else type(use)
            use = given.name_of(kind.__name__)
            if kind is not objects[name]:
                _refuse_beside_object(entry, objects[name])
        entries.append(entry | ({"use": use} if "use" in model else {}))
    return entries, objects


def _entry(model: Any) -> Mapping[str, Any]:
    """Return what [[models]] says of a model, with classes, objects and frames in place."""
    if isinstance(model, Mapping):
        return model
    if isinstance(model, str):
        module, _, attribute = model.rpartition(":")
        is_import_path = module and attribute.isidentifier() and not exists(Path(model))
        return {"use" if is_import_path else "lists": model}
    is_lists = _is_frame(model) and not hasattr(model, "recommend")
    return {"lists" if is_lists or isinstance(model, Path) else "use": model}


def _refuse_beside_object(entry: Mapping[str, Any], model: Any) -> None:
    """Raise UsageError where an entry says of an object what goes with a class."""
    kind, seeds = type(model).__name__, guard.seeds(type(model), guard.stored(model))
    keys = [key for key in ("params", "of", "space", "tuned") if entry.get(key)]
    keys += ["repeats"] if seeds and entry.get("repeats", 1) != 1 else []
    if keys:
        raise UsageError(
            f'model "{entry["name"]}": {keys[0]} needs a class, but this is an object of {kind}; '
            f'give its class: {{"use": {kind}, "{keys[0]}": …}}'
        )


def _param(model: str, key: str, value: Any) -> Any:
    """Return a parameter's value, a number of NumPy as Python's; config.toml must hold it."""
    value = value.item() if isinstance(value, np.generic) else value
    if is_plain(value):
        return value
    raise UsageError(
        f'model "{model}": params "{key}" is '
        f"{'None' if value is None else type(value).__name__}, which a config cannot hold; "
        f"remove it, or give the object: {model!r}: MyModel({key}=…)"
    )


def _events(table: EventTable, native: Any) -> pl.DataFrame:
    """Return the columns of events; ids of mixed types are refused, as by `harness.evaluate`."""
    role = table.name
    if isinstance(native, pl.LazyFrame):
        _require_columns(table, native, frame_of(native.head(0), role).columns)
        native = native.select(table.columns)
    frame = frame_of(native, role, forms=_FRAMES)
    _require_columns(table, native, frame.columns)
    ids = Table(role, {"user": table.user, "item": table.item}, "", wide=False, frame=frame)
    columns = {table.user: ids.column("user"), table.item: ids.column("item")}
    plain = as_polars(frame.select([n for n in table.columns if n not in columns]), role)
    columns |= plain.to_dict()
    for name, column in columns.items():
        kind = column.dtype
        is_extension = isinstance(kind, pl.datatypes.BaseExtension)
        if kind in (pl.Object, pl.Duration, pl.Time) or is_extension:
            cells = frame.get_column(name)
            held = next((type(cell).__name__ for cell in cells if not missing(cell)), "nothing")
            raise DataError(
                f'{role}: column "{name}" holds {held} values; expected text, numbers, dates or '
                f'times: frame["{name}"].astype(str) converts them in pandas'
            )
    return pl.DataFrame(columns)


def _require_columns(table: EventTable, native: Any, columns: Sequence[Any]) -> None:
    role = table.name
    for name in [name for name in table.columns if name not in columns]:
        require_names(columns, role)
        if name in (getattr(getattr(native, "index", None), "names", None) or ()):
            raise DataError(f'{role}: its index has "{name}": give frame.reset_index()')
        keys = [key for key in ("user", "item", "time") if getattr(table, key) == name]
        hint = "".join(f' (name yours: data={{"{key}": "…"}})' for key in keys)
        raise DataError(f'{role}: no column "{name}"; {suggest(name, columns)}{hint}')
