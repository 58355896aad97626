"""What was given in Python and is in no file, and the names that stand for it in a config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.core.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

_PREFIX = "given:"


@dataclass(frozen=True, eq=False)
class Given:
    """Frames by their `name_of`, and classes and objects by a model's name; a file has none."""

    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)


def name_of(what: str) -> str:
    """Return the name of an object or a frame, as a config has it: ``given:the events frame``."""
    return f"{_PREFIX}{what}"


def is_given(name: str) -> bool:
    """Return whether a name stands for an object or a frame."""
    return name.startswith(_PREFIX)


def shown(name: str) -> str:
    """Return a name as a person reads it: ``the events frame``."""
    return name.removeprefix(_PREFIX)


def no_file(name: str, step: str) -> UsageError:
    """Return the error for a frame or an object of an earlier process."""
    return UsageError(f'{shown(name)}: is a Python object, not a file; {step} in place of "{name}"')
