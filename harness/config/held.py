"""The objects and frames of a config that was made in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Held:
    """What names that begin with ``given:`` stand for; a file of a config has none of it.

    Attributes
    ----------
    frames : mapping of name to polars.DataFrame
        Tables of events, users, items and lists.
    models : mapping of a model's name to a class or an object
    """

    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)


NOTHING = Held()
