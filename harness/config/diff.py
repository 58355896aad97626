"""Two written configs in, the keys in which they differ out; as TOML has them, of any version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.core.errors import in_toml

_NO_MATTER = ("models", "compare", "tune", "data.cache", "evaluation.seed", "evaluation.metrics")
"""Keys that change no score of a model, or are shown beside it."""


def settings(config: Mapping[str, Any], model: str) -> str:
    """Return a model's class and parameters, such as ``Popular(window_days=7)``, or its file."""
    for one in config.get("models", []):
        if one.get("name") == model:
            if "lists" in one:
                return f"lists {one['lists']}"
            name = str(one.get("use", "")).rpartition(":")[2]
            given = {key: one[key] for key in ("of",) if key in one} | one.get("params", {})
            params = ", ".join(f"{key}={_shown(value)}" for key, value in given.items())
            return f"{name}({params})"
    return ""


def differing(config: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys, models and seed apart, whose values are not those of another config.

    Examples
    --------
    >>> differing({"split": {"valid_days": 7}}, {"split": {"valid_days": 9}, "data": {"path": "x"}})
    ('data.path = default', 'split.valid_days = 7')
    """
    ours, theirs = _flat(config), _flat(other)
    keys = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    return tuple(f"{key} = {_shown(ours.get(key, 'default'))}" for key in keys)


def _shown(value: object) -> str:
    """Return a value as TOML has it, a text without quotes."""
    return value if isinstance(value, str) else in_toml(value)


def _flat(config: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{above}{key}"
        if name in _NO_MATTER:
            continue
        found |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return found
