"""What `harness.run` takes as a config: a file, a mapping of sections, or keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.config import IN_PYTHON, Config, parse, read
from harness.core.errors import UsageError
from harness.core.given import Given, name_of

_EXAMPLES = {
    "events": "events=frame",
    "split": 'split={"strategy": "time", "valid_days": 7}',
    "models": 'models={"mine": MyModel()}',
}
_TABLES = ("events", "users", "items")
_TEXT_KEYS = (
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
        extra = [*keywords] + ([] if are_names else [f"models as {type(models).__name__}"])
        raise UsageError(
            f"{IN_PYTHON}: found {' and '.join(extra)} beside a config, which says it all; give "
            'nothing but names of its models: models=["popular"]'
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
            f"{IN_PYTHON}: found {type(config).__name__} in place of a config; give the path of a "
            'TOML file, or a mapping of its sections: {"data": {"events": frame}, '
            '"split": {"strategy": "time", "valid_days": 7}, "models": {"mine": MyModel()}}'
        )
    refuse_with_frames(config, None, jobs)
    return config


def refuse_with_frames(config: Config, memory: str | None, jobs: int) -> None:
    """Raise UsageError where events are frames and an argument needs files of them."""
    name = "memory" if memory is not None else "jobs" if jobs != 1 else None
    if name is not None and any(fold.layout().has_frames for fold in config.folds()):
        raise UsageError(
            f"{IN_PYTHON}: {name} needs events in a file, and these are a frame; leave {name} out, "
            'or write the frame as Parquet and give its path: events="events.parquet"'
        )


def _sections(keywords: Mapping[str, Any], models: Any) -> dict[str, Any]:
    """Return the sections that keywords name; tables are keys of [data]."""
    is_there = {
        "events": "events" in keywords or "data" in keywords,
        "split": "split" in keywords,
        "models": not isinstance(models, tuple) or len(models) > 0,
    }
    missing = [name for name in is_there if not is_there[name]]
    if missing:
        examples = ", ".join(_EXAMPLES[name] for name in missing)
        raise UsageError(
            f"{IN_PYTHON}: no {' and no '.join(missing)}; give {examples}, or a config alone: "
            f'{IN_PYTHON}("exam.toml")'
        )
    tables = {name: keywords[name] for name in _TABLES if name in keywords}
    data = keywords.get("data", {})
    if isinstance(data, Mapping):
        for name in tables.keys() & data.keys():
            raise UsageError(f"{IN_PYTHON}: {name} is given twice, in data too; give it once")
        data = {**data, **tables}
    sections = {name: keywords[name] for name in keywords if name not in tables}
    return sections | {"data": data, "models": models}


def _config_of_sections(sections: Mapping[str, Any]) -> Config:
    """Return the config of sections as a TOML file has them, with frames and objects in place.

    Events, users, items, ``[split] valid`` and lists of models may be frames.
    """
    from harness.experiment.given_frames import name_frames, read_frames  # slow to import
    from harness.experiment.given_models import model_entries, plain

    values = {name: plain(section) for name, section in sections.items() if name != "models"}
    for name, example in (("data", 'data={"events": frame}'), ("split", _EXAMPLES["split"])):
        if not isinstance(section := values.get(name, {}), dict):
            kind = type(section).__name__
            raise UsageError(
                f"{IN_PYTHON}: {name}: found {kind}; expected a mapping, such as {example}"
            )
    frames = dict[str, Any]()
    values["data"] = _data(values.get("data", {}), frames)
    if "valid" in values.get("split", {}):
        values["split"]["valid"] = name_frames(values["split"]["valid"], "the valid frame", frames)
    if frames:  # without the stamp of a file the cache cannot know them again
        values["data"]["cache"] = False
    entries, objects = model_entries(sections.get("models"), frames)
    config = parse(values | {"models": entries}, Path(), IN_PYTHON)
    return config.model_copy(update={"given": Given(read_frames(config, frames), objects)})


def _data(data: dict[str, Any], frames: dict[str, Any]) -> dict[str, Any]:
    """Return [data] with names of frames; the frames are added to `frames`."""
    from harness.experiment.given_frames import FORMS, name_frames

    for key in _TABLES:
        table, role = data.get(key), f"the {key} frame"
        if isinstance(table, dict) and "file" in table:
            data[key] = table | {"file": name_frames(table["file"], role, frames)}
        elif table is not None:
            data[key] = name_frames(table, role, frames)
            for file in data[key] if isinstance(data[key], list) else [data[key]]:
                if not isinstance(file, str):
                    kind = type(file).__name__
                    raise UsageError(
                        f"{IN_PYTHON}: {key}: found {kind}; give {FORMS}, or the path of a file"
                    )
    are_frames = any(name.startswith(name_of("the events frame")) for name in frames)
    for key in _TEXT_KEYS:
        if key in data and are_frames:
            raise UsageError(
                f"{IN_PYTHON}: [data] {key} says how a file is written, and the events are a "
                "frame; leave it out"
            )
    return {"layout": "table", "path": ".", **data} if "events" in data else data
