"""A TOML file and its overrides in, one checked `Config` out; mistakes in the file's own words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from harness.config import paths
from harness.config.sections import Config, SubmissionOnly
from harness.config.splits import INNER, STRATEGIES
from harness.core.errors import UsageError, in_toml, suggest

_Config = TypeVar("_Config", Config, SubmissionOnly)
_SHOWN = 10  # how many files a message lists


def read(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Return the config in a TOML file, with ``key=value`` overrides applied."""
    return _checked(Config, _values(path, overrides), path.parent, str(path), overrides)


def read_for_submissions(path: Path, overrides: Sequence[str] = ()) -> Config | SubmissionOnly:
    """Return the config as `read` does; the file may have ``[submission]`` alone."""
    values = _values(path, overrides)
    if set(values) == {"submission"}:
        return _checked(SubmissionOnly, values, path.parent, str(path), overrides)
    return _checked(Config, values, path.parent, str(path), overrides)


def parse(values: dict[str, Any], folder: Path, name: str = "config") -> Config:
    """Return the checked config of plain `values`."""
    return _checked(Config, values, folder, name)


def _values(path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or error
        beside = path / "config.toml" if isinstance(error, IsADirectoryError) else path
        raise UsageError(f"{path}: {reason}; {_configs_beside(beside)}") from error
    except (RecursionError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        twice = str(error).startswith("Cannot declare")
        hint = "; write each [table] once, and each model under its own [[models]]" if twice else ""
        raise UsageError(f"{path}: is not valid TOML: {error}{hint}") from error
    for override in overrides:
        _apply(values, override)
    return values


def _configs_beside(path: Path) -> str:
    """Return the end of a message: the file that may be meant, or those that there are."""
    files = {file.stem: str(file) for file in sorted(path.parent.glob("*.toml"))}
    if not files:
        return "name a config file (TOML)"
    for near in get_close_matches(path.stem, files, n=1):
        return f'did you mean "{files[near]}"?'
    more = ", …" if len(files) > _SHOWN else ""
    return f"there are {', '.join(list(files.values())[:_SHOWN])}{more}"


def _apply(values: dict[str, Any], override: str) -> None:
    """Set ``a.b=value`` in `values`; the value is TOML, or plain text where that is no TOML."""
    key, equals, text = override.partition("=")
    *above, last = key.strip().split(".")
    if not equals or not all((*above, last)):
        raise UsageError(f'--set {override}: expected key=value, such as "evaluation.k=5"')
    target: Any = values
    for part in above:
        if isinstance(target, dict):
            target = target.setdefault(part, {})
        elif isinstance(target, list) and part.isdecimal() and int(part) < len(target):
            target = target[int(part)]
        else:
            target = None
    if not isinstance(target, dict):
        raise UsageError(
            f"--set {override}: no such key; name one, such as evaluation.k=5 or models.0.repeats=3"
        )
    value: Any = text.strip()
    with suppress(RecursionError, ValueError):
        value = tomllib.loads(f"value = {value}")["value"]
    target[last] = value


def _checked(
    whole: type[_Config],
    values: dict[str, Any],
    folder: Path,
    file: str,
    overrides: Sequence[str] = (),
) -> _Config:
    typed = "".join(f" --set {override}" for override in overrides)
    name = f"{file} with{typed}" if typed else file  # a fault may be in either
    sections = [key for key, field in whole.model_fields.items() if not field.exclude]
    for section in values:
        if section not in sections:
            holders = [
                holder
                for holder in sections
                if section in getattr(whole.model_fields[holder].annotation, "model_fields", ())
            ]
            hint = suggest(section, sections)
            if len(holders) == 1:
                hint = f'did you mean "{holders[0]}.{section}"?'
            raise UsageError(f"{name}: no section [{section}]; {hint}")
    try:
        return whole.model_validate({**values, "folder": folder, "file": file})
    except ValidationError as error:
        lines = [_in_words(values, fault) for fault in error.errors()]
        raise UsageError("\n".join(f"{name}: {line}" for line in lines)) from None  # it says all


def _in_words(values: dict[str, Any], fault: Any) -> str:
    """Return one fault in the words of the config file: section, key, found, allowed."""
    if not fault["loc"]:
        return str(fault["ctx"]["error"])
    section, key = _place(values, fault)
    place, value = f"{section} {key}".rstrip(), fault["input"]
    strategies = INNER if fault["loc"][0] == "tune" else STRATEGIES
    match fault["type"]:
        case "missing" if not key:
            return f"{section} is missing; docs/config.md shows its keys"
        case "missing":
            return f'{section} needs the key "{key}", which is missing'
        case "union_tag_not_found":
            return f'{place} needs the key "strategy", which is missing; {suggest("", strategies)}'
        case "union_tag_invalid":
            strategy = value["strategy"]
            return f"{place} strategy is {strategy!r}; {suggest(str(strategy), strategies)}"
        case "value_error":
            return f"{place} {fault['ctx']['error']}"
        case paths.UNKNOWN | paths.UNSET:
            return f"{place} {fault['msg']}"
        case "literal_error":
            words = fault["ctx"]["expected"].replace(" or ", ",").split(",")
            near = suggest(str(value), [word.strip("' ") for word in words])
            return f"{place} = {in_toml(value)}; {near}"
    expected = re.sub(r"^\w+ should (be|have)", "expected", fault["msg"])
    if fault["type"] in ("model_type", "model_attributes_type", "dict_type"):
        expected = "expected keys with values"
    return f"{place}: found {in_toml(value)}; {expected}"


def _place(values: dict[str, Any], fault: Any) -> tuple[str, str]:
    """Return the section and the dotted key of a fault, "" for the section itself."""
    # What pydantic names beside keys is left out: the types that it tried.
    name, *parts = fault["loc"]
    section = f"[{name}]"
    value: Any = values.get(name)
    if name == "models":
        section = "[[models]]"
        if parts:
            value = values["models"][parts[0]]
            model = value.get("name") if isinstance(value, dict) else None
            label = f'"{model}"' if isinstance(model, str) else f"number {parts[0] + 1}"
            section, parts = f"[[models]] {label}", parts[1:]
    keys = list[str]()
    for n, part in enumerate(parts, 1):
        if (isinstance(value, dict) and part in value) or isinstance(part, int):
            value = value[part]
        elif fault["type"] != "missing" or n < len(parts):
            continue
        keys.append(str(part))
    return section, ".".join(keys)
