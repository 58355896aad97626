"""What a notebook holds as a config: frames for files, classes and objects for import paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from numbers import Integral
from pathlib import Path
from typing import Any

import polars as pl

from harness.config import IN_PYTHON, Config, Held, parse
from harness.core.errors import DataError, UsageError, suggest
from harness.core.given import given as named
from harness.core.given import is_given
from harness.data.layout import EventTable
from harness.metrics.inputs.frame import Table, as_polars, frame_of

_FORMS = "a pandas, Polars or Arrow frame or a DuckDB relation"
_MODELS = (
    'an import path "module:Class", a class, an object with fit and recommend, a frame or a file '
    'of lists, or a mapping such as {"use": MyModel, "params": {"days": 7}, "repeats": 5}'
)
_EXAMPLES = {
    "events": "events=frame",
    "split": 'split={"strategy": "time", "valid_days": 7}',
    "models": 'models={"mine": MyModel()}',
}
_SEEDS = ("seed", "random_state")
_OF_TEXT = ("separator", "header", "encoding", "rows", "max_unpacked_gb")
"""Keys of [data] that say how files of events are written."""


def require_keywords(said: Mapping[str, Any], models: Any) -> None:
    """Raise UsageError where what must be said is not said."""
    there = {"events": "events" in said or "data" in said, "split": "split" in said}
    there["models"] = bool(models) or not isinstance(models, tuple)
    if not any(there.values()):
        raise UsageError(
            'harness.run: give a config, such as harness.run("exam.toml"), or events=, split= and '
            "models="
        )
    for name in (name for name, given in there.items() if not given):
        raise UsageError(f"harness.run: {name} is missing; give it, such as {_EXAMPLES[name]}")


def sections_of(said: Mapping[str, Any], models: Any) -> dict[str, Any]:
    """Return the sections of a config, of keywords: tables are keys of [data]."""
    tables = {key: said[key] for key in ("events", "users", "items") if key in said}
    data = said.get("data", {})
    if isinstance(data, Mapping):
        for key in tables:
            if key in data:
                raise UsageError(f"harness.run: {key} is given twice, in data too; give it once")
        data = {**data, **tables}
    return {key: own for key, own in said.items() if key not in tables} | {
        "data": data,
        "models": models,
    }


def config_of(sections: Mapping[str, Any]) -> Config:
    """Return the config of sections as a TOML file has them, with frames and objects in place.

    Parameters
    ----------
    sections : mapping
        ``data``, ``split``, ``models`` and the others. ``[data] events``, ``users`` and ``items``,
        ``[split] valid`` and the lists of models may be frames; models are a list as of
        ``[[models]]``, or a mapping of names to what `harness.run` takes.

    Raises
    ------
    HarnessError
        A key, value, frame or model that cannot be used.
    """
    frames, models = _Frames(), dict[str, Any]()
    values = {name: _plain(own) for name, own in sections.items() if name not in ("data", "models")}
    data = _section(sections, "data")
    if "events" in data:
        data = {"layout": "table", "path": ".", **data}
    values["data"] = _data(data, frames)
    split = _section(sections, "split")
    if "valid" in split:
        values["split"] = split | {"valid": frames.named("the valid frame", split["valid"])}
    if frames.found:  # of what is no file there is no stamp by which the cache would know it
        values["data"]["cache"] = False
    values["models"] = list(_entries(sections.get("models"), frames, models))
    config = parse(values, Path(), IN_PYTHON)
    return config.model_copy(update={"held": Held(_read(config, frames.found), models)})


def _section(sections: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a copy of a section."""
    found = sections.get(name, {})
    if not isinstance(found, Mapping):
        raise UsageError(f"{IN_PYTHON}: {name}: found {type(found).__name__}; expected a mapping")
    return {key: _plain(value) for key, value in found.items()}


def _plain(value: Any) -> Any:
    """Return a value as a TOML file would give it; frames and objects are left alone."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)  # NumPy's, too
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


class _Frames:
    """Frames that were met, by the names that stand for them in the config."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def named(self, what: str, given: Any) -> Any:
        """Return a name for a frame, or for each of one a fold; anything else as it is."""
        if isinstance(given, list):
            return [self.named(f"{what} of fold {n}", one) for n, one in enumerate(given, 1)]
        if not is_frame(given):
            return given
        name = named(what)
        self.found[name] = given
        return name


def is_frame(given: Any) -> bool:
    """Return whether something looks like a frame of any library."""
    if isinstance(given, type):
        return False
    return isinstance(given, pl.LazyFrame) or any(
        hasattr(given, name) for name in ("__arrow_c_stream__", "__dataframe__", "columns")
    )


def _data(data: dict[str, Any], frames: _Frames) -> dict[str, Any]:
    """Return the section with the names of frames."""
    for key in ("events", "users", "items"):
        own = data.get(key)
        if isinstance(own, dict):
            data[key] = own | {"file": frames.named(f"the {key} frame", own.get("file"))}
        elif own is not None:
            data[key] = frames.named(f"the {key} frame", own)
            _require_source(key, data[key])
    first = data.get("events")
    if isinstance(first, list):
        first = first[0] if first else None
    if isinstance(first, str) and is_given(first):
        for key in _OF_TEXT:
            if key in data:
                raise UsageError(
                    f"{IN_PYTHON}: [data] {key} says how a file is written, and the events are a "
                    "frame; leave it out"
                )
    return data


def _require_source(key: str, own: Any) -> None:
    several = own if isinstance(own, list) else [own]
    for one in several:
        if not isinstance(one, str):
            raise UsageError(
                f"{IN_PYTHON}: {key}: found {type(own).__name__}; give {_FORMS}, or the path of a "
                "file"
            )


def _entries(given: Any, frames: _Frames, held: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the models as [[models]] has them; `held` is told their classes and objects."""
    if isinstance(given, Mapping):
        several = [(name, one) for name, one in given.items()]
    elif isinstance(given, list | tuple) and all(isinstance(one, Mapping) for one in given):
        several = [(one.get("name"), one) for one in given]
    else:
        found = "nothing" if given is None else type(given).__name__
        raise UsageError(
            f"{IN_PYTHON}: models: found {found}; expected a mapping of names, such as "
            'models={"mine": MyModel(), "popular": "my_model:Popular"}'
        )
    for name, one in several:
        if not isinstance(name, str):
            raise UsageError(
                f"{IN_PYTHON}: models: found the name {name!r}; a model's name is a text"
            )
        yield {"name": name, **_model(name, one, frames, held)}


def _model(name: str, given: Any, frames: _Frames, held: dict[str, Any]) -> dict[str, Any]:
    """Return what a config says of a model."""
    if isinstance(given, Mapping):
        return _of_mapping(name, dict(given), frames, held)
    if isinstance(given, Path) or (isinstance(given, str) and not _is_import_path(given)):
        return {"lists": _file(name, str(given))}
    if isinstance(given, str):
        return {"use": given}
    if not _is_recommender(given) and is_frame(given):
        return {"lists": frames.named(f"the lists of {name}", given)}
    held[name] = given
    return {"use": _use(name, given)}


def _of_mapping(
    name: str, own: dict[str, Any], frames: _Frames, held: dict[str, Any]
) -> dict[str, Any]:
    """Return an entry as [[models]] has it, whose class may be an object, its lists a frame."""
    if own.get("name", name) != name:
        raise UsageError(f'model "{name}": its mapping names it {own["name"]!r}; leave "name" out')
    use = own.get("use")
    if use is not None and not isinstance(use, str):
        held[name], own["use"] = use, _use(name, use)
        if not isinstance(use, type):
            _refuse_beside_object(name, use, own)
    if "lists" in own:
        own["lists"] = frames.named(f"the lists of {name}", _plain(own["lists"]))
    _require_writable(name, own.get("params"))
    return {key: one if key == "params" else _plain(one) for key, one in own.items()}


def _is_import_path(text: str) -> bool:
    module, _, attribute = text.rpartition(":")
    return bool(module) and attribute.isidentifier() and not Path(text).exists()


def _file(name: str, path: str) -> str:
    """Return the path of a file of lists.

    Raises
    ------
    UsageError
        There is none, and its name may be meant for a class.
    """
    if not Path(path).exists() and not Path(path).suffix:
        raise UsageError(
            f'model "{name}": found {path!r}, which is no file of lists that there is, and no '
            'import path such as "my_model:MyModel"'
        )
    return path


def _is_recommender(given: Any) -> bool:
    return all(callable(getattr(given, method, None)) for method in ("fit", "recommend"))


def _use(name: str, given: Any) -> str:
    """Return the name of a class or object.

    Raises
    ------
    UsageError
        It is no recommender.
    """
    kind = given if isinstance(given, type) else type(given)
    if _is_recommender(given):
        return named(kind.__name__)
    lost = [one for one in ("fit", "recommend") if not callable(getattr(given, one, None))]
    if len(lost) == 1 or (isinstance(given, type) and kind.__module__ != "builtins"):
        raise UsageError(
            f'model "{name}": {kind.__name__} has no method "{lost[0]}"; a model has '
            "fit(train) and recommend(users, k, draws, exclude=None)"
        )
    raise UsageError(f'model "{name}": found {_shown(given)}; expected {_MODELS}')


def _shown(given: Any) -> str:
    if given is None or isinstance(given, bool | int | float):
        return repr(given)
    callable_ = getattr(given, "__name__", "")
    return f"{type(given).__name__} {callable_}".rstrip()


def _refuse_beside_object(name: str, model: Any, own: Mapping[str, Any]) -> None:
    """Raise UsageError where an entry says of an object what goes with a class."""
    kind = type(model).__name__
    for key in ("params", "of", "space", "tuned"):
        if own.get(key):
            raise UsageError(
                f'model "{name}": {key} goes with a class, and this is an object of {kind}, which '
                f'is made already; give its class: {{"use": {kind}, "{key}": …}}'
            )
    seeds = [seed for seed in _SEEDS if isinstance(getattr(model, seed, None), int)]
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


def _read(config: Config, given: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the frames as Polars holds them: of events the columns alone that are asked for."""
    folds = [fold.layout().events for fold in config.folds()]
    events = {named(table.table.name): table for own in folds for table in own}
    return {
        name: _events(events[name], own) if name in events else as_polars(own, _role(name))
        for name, own in given.items()
    }


def _role(name: str) -> str:
    return name.partition(":")[2]


def _events(table: EventTable, given: Any) -> pl.DataFrame:
    """Return the columns of events; ids of several types are refused, as by `harness.evaluate`."""
    role = table.table.name
    if isinstance(given, pl.LazyFrame):
        _require_columns(role, table, given, given.collect_schema().names())
        given = given.select(table.columns)
    frame = frame_of(given, role, forms=_FORMS)
    _require_columns(role, table, given, frame.columns)
    ids = Table(role, {"user": table.user, "item": table.item}, "", wide=False, frame=frame)
    others = [name for name in table.columns if name not in (table.user, table.item)]
    rest = as_polars(frame.select(others), role) if others else pl.DataFrame()
    return pl.DataFrame({table.user: ids.column("user"), table.item: ids.column("item")}).hstack(
        rest.get_columns()
    )


def _require_columns(role: str, table: EventTable, given: Any, columns: Sequence[Any]) -> None:
    """Raise DataError where a frame of events lacks a column."""
    keys = {table.user: "user", table.item: "item", table.time: "time"}
    for name in table.columns:
        if name in columns:
            continue
        told = f'{role}: no column "{name}"; it has: {", ".join(map(str, columns))}'
        levels = getattr(getattr(given, "index", None), "names", None) or ()
        if name in levels:
            raise DataError(f'{told}\nits index has "{name}": give frame.reset_index()')
        near = suggest(name, map(str, columns))
        near = near if near.startswith("did") else ""
        key = keys.get(name)
        how = f'name yours: data={{"{key}": "…"}}' if key else ""
        raise DataError("\n".join([told, "; ".join(filter(None, (near, how)))]).rstrip())
