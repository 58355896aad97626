"""What `harness.run` is told in Python as a config: frames for files, classes for import paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config import IN_PYTHON, Config, parse, read
from harness.core.errors import UsageError
from harness.core.given import Given, is_given
from harness.core.io import as_path

if TYPE_CHECKING:
    from harness.experiment.given_frames import Frames

_TABLES = ("events", "users", "items")
_EXAMPLES = {
    "events": "events=frame",
    "split": 'split={"strategy": "time", "valid_days": 7}',
    "models": 'models={"mine": MyModel()}',
}
_OF_TEXT = (
    "separator",
    "header",
    "encoding",
    "quote",
    "escape",
    "bad_lines",
    "rows",
    "max_unpacked_gb",
)
"""Keys of [data] that say how files of events are written."""
_WITHOUT_FRAMES = {
    "memory": "events of a frame are in memory already",
    "jobs": "other processes cannot read a frame of this one",
}


def config_of(
    config: Config | Mapping[str, Any] | str | Path | None,
    keywords: Mapping[str, Any],
    models: Sequence[str] | Mapping[str, Any],
) -> tuple[Config, Sequence[str]]:
    """Return the config that is given, or made of keywords, and the models of it to evaluate.

    Parameters
    ----------
    keywords : mapping
        Tables and sections by name; None where they are not given.

    Raises
    ------
    HarnessError
        A config and keywords are given, or neither; a key, value, frame or model that cannot be
        used.
    """
    said = {key: own for key, own in keywords.items() if own is not None}
    if config is None:
        return _of_sections(_sections(said, models)), ()
    if not isinstance(config, Mapping | Config | str | Path):
        known = ", ".join(_EXAMPLES.values())
        raise UsageError(
            f"{IN_PYTHON}: found {type(config).__name__} in place of a config; give the path of a "
            f"TOML file or a mapping of its sections, or name what you give: {known}"
        )
    if said:
        raise UsageError(
            f"{IN_PYTHON}: a config says it all: leave {' and '.join(said)} out, or the config"
        )
    if not isinstance(models, list | tuple) or not all(isinstance(one, str) for one in models):
        raise UsageError(
            f"{IN_PYTHON}: models with a config are names of its models, such as "
            f'models=["popular"]; found {type(models).__name__}'
        )
    return config_in_place(config), models


def config_in_place(config: Config | Mapping[str, Any] | str | Path, jobs: int = 1) -> Config:
    """Return the config that is given, or that a mapping of its sections makes.

    Raises
    ------
    HarnessError
        What cannot be used, or `jobs` of frames.
    """
    if isinstance(config, Mapping):
        config = _of_sections(config)
    elif not isinstance(config, Config):
        config = read(as_path(config, "a config"))
    refuse_with_frames(config, None, jobs)
    return config


def refuse_with_frames(config: Config, memory: str | None, jobs: int) -> None:
    """Raise UsageError where something is asked for that needs files of the events."""
    if not any(fold.layout().has_frames for fold in config.folds()):
        return
    asked = {"memory": memory is not None, "jobs": jobs != 1}
    for name in (name for name, given in asked.items() if given):
        raise UsageError(
            f"{IN_PYTHON}: {name}: {_WITHOUT_FRAMES[name]}; leave {name} out, or write the frame "
            'as Parquet and give its path: events="events.parquet"'
        )


def _sections(said: Mapping[str, Any], models: Any) -> dict[str, Any]:
    """Return the sections of a config, of keywords: tables are keys of [data]."""
    _require(said, models)
    tables = {key: said[key] for key in _TABLES if key in said}
    data = said.get("data", {})
    if isinstance(data, Mapping):
        for key in tables:
            if key in data:
                raise UsageError(f"{IN_PYTHON}: {key} is given twice, in data too; give it once")
        data = {**data, **tables}
    own = {key: value for key, value in said.items() if key not in tables}
    return own | {"data": data, "models": models}


def _require(said: Mapping[str, Any], models: Any) -> None:
    """Raise UsageError where what must be said is not said."""
    there = {"events": "events" in said or "data" in said, "split": "split" in said}
    there["models"] = not isinstance(models, tuple) or len(models) > 0
    if not any(there.values()):
        raise UsageError(
            f'{IN_PYTHON}: give a config, such as {IN_PYTHON}("exam.toml"), or events=, split= '
            "and models="
        )
    for name in (name for name, given in there.items() if not given):
        raise UsageError(f"{IN_PYTHON}: {name} is missing; give it, such as {_EXAMPLES[name]}")


def _of_sections(sections: Mapping[str, Any]) -> Config:
    """Return the config of sections as a TOML file has them, with frames and objects in place.

    ``[data] events``, ``users`` and ``items``, ``[split] valid`` and the lists of models may be
    frames; models are a list as of ``[[models]]``, or a mapping of names.
    """
    from harness.experiment.given_frames import Frames, read_frames  # they load what reads frames
    from harness.experiment.given_models import entries, plain

    frames = Frames()
    values = {name: plain(own) for name, own in sections.items() if name != "models"}
    values["data"] = _data(_section(values, "data"), frames)
    split = _section(values, "split")
    if "valid" in split:
        values["split"] = split | {"valid": frames.named("the valid frame", split["valid"])}
    if frames.found:  # of what is no file there is no stamp by which the cache would know it
        values["data"]["cache"] = False
    models, objects = entries(sections.get("models"), frames)
    config = parse(values | {"models": models}, Path(), IN_PYTHON)
    given = Given(read_frames(config, frames.found), objects)
    return config.model_copy(update={"given": given})


def _section(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name, {})
    if not isinstance(found, dict):
        raise UsageError(f"{IN_PYTHON}: {name}: found {type(found).__name__}; expected a mapping")
    return found


def _data(data: dict[str, Any], frames: Frames) -> dict[str, Any]:
    """Return the section with the names of frames."""
    if "events" in data:
        data = {"layout": "table", "path": ".", **data}
    for key in _TABLES:
        own = data.get(key)
        if isinstance(own, dict) and "file" in own:
            data[key] = own | {"file": frames.named(f"the {key} frame", own["file"])}
        elif own is not None:
            data[key] = frames.named(f"the {key} frame", own)
            _require_source(key, data[key])
    _refuse_of_text(data)
    return data


def _refuse_of_text(data: Mapping[str, Any]) -> None:
    first = data.get("events")
    if isinstance(first, list):
        first = first[0] if first else None
    for key in _OF_TEXT if isinstance(first, str) and is_given(first) else ():
        if key in data:
            raise UsageError(
                f"{IN_PYTHON}: [data] {key} says how a file is written, and the events are a "
                "frame; leave it out"
            )


def _require_source(key: str, own: Any) -> None:
    """Raise UsageError where a table is neither a frame nor a file."""
    from harness.experiment.given_frames import FORMS

    for one in own if isinstance(own, list) else [own]:
        if not isinstance(one, str):
            made = f"; such as {key}=pandas.DataFrame({key})" if isinstance(one, dict) else ""
            raise UsageError(
                f"{IN_PYTHON}: {key}: found {type(one).__name__}; give {FORMS}, or the path of a "
                f"file{made}"
            )
