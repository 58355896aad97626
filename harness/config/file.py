"""A TOML file and its overrides in, one checked and frozen `Config` out."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from harness.config.faults import in_words, section_names
from harness.config.sections import Config, SubmissionOnly
from harness.errors import UsageError, suggest

_Config = TypeVar("_Config", Config, SubmissionOnly)


def read(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Return the config in a TOML file, with ``key=value`` overrides applied.

    Raises
    ------
    UsageError
        The file is missing or no TOML, or a key or value is not allowed.
    """
    return parse(_values(path, overrides), path.parent, str(path))


def read_for_submissions(path: Path, overrides: Sequence[str] = ()) -> Config | SubmissionOnly:
    """Return the config as `read` does, of a file that may have the section ``[submission]`` alone.

    Raises
    ------
    UsageError
        As in `read`.
    """
    values = _values(path, overrides)
    if set(values) == {"submission"}:
        return _checked(SubmissionOnly, values, path.parent, str(path))
    return parse(values, path.parent, str(path))


def _values(path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    """Return the plain values of a TOML file, with ``key=value`` overrides applied."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {_reason(error)}") from error
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"{path}: is not valid TOML: {error}") from error
    for override in overrides:
        _apply(values, override)
    return values


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"


def parse(values: dict[str, Any], folder: Path, name: str = "config") -> Config:
    """Return the checked config of plain `values`.

    Raises
    ------
    UsageError
        A key or value is not allowed; the message names it and the nearest valid one.
    """
    return _checked(Config, values, folder, name)


def _checked(whole: type[_Config], values: dict[str, Any], folder: Path, name: str) -> _Config:
    if "folder" in values:
        raise UsageError(f"{name}: no section [folder]; {suggest('folder', section_names())}")
    try:
        return whole.model_validate({**values, "folder": folder})
    except ValidationError as error:
        lines = [in_words(values, fault) for fault in error.errors()]
        raise UsageError("\n".join(f"{name}: {line}" for line in lines)) from error


def _apply(values: dict[str, Any], override: str) -> None:
    """Set ``a.b=value`` in `values`; the value is TOML, or plain text where that is no TOML."""
    key, equals, text = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise UsageError(f'--set {override}: expected key=value, such as "evaluation.k=5"')
    target: Any = values
    for part in parts[:-1]:
        target = _step(target, part, override)
    if isinstance(target, list):
        raise UsageError(f"--set {override}: name a key of one model, such as models.0.repeats=3")
    if not isinstance(target, dict):
        raise UsageError(f'--set {override}: "{parts[-2]}" is a value and has no keys')
    target[parts[-1]] = _value(text.strip())


def _step(target: Any, part: str, override: str) -> Any:
    if isinstance(target, dict):
        return target.setdefault(part, {})
    if isinstance(target, list) and part.isdecimal() and int(part) < len(target):
        return target[int(part)]
    there = f"; there are 0 to {len(target) - 1}" if isinstance(target, list) else ""
    raise UsageError(f'--set {override}: there is no "{part}" to set a key of{there}')


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text
