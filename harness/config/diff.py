"""Two written configs in, the keys in which they differ out; as TOML has them, of any version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.core.errors import in_toml

_NO_MATTER = ("models", "compare", "tune", "data.cache", "evaluation.seed", "evaluation.metrics")
"""Keys that change no score of a model, or are shown beside it."""


def settings(config: Mapping[str, Any], model: str) -> str:
    """Return a model's class and parameters, such as ``Popular(window_days=7)``, or its file."""
    for section in config.get("models", []):
        if section.get("name") == model:
            if "lists" in section:
                return f"lists {section['lists']}"
            name = str(section.get("use", "")).rpartition(":")[2]
            base_models = {"of": section["of"]} if "of" in section else {}
            params = base_models | section.get("params", {})
            return f"{name}({', '.join(f'{key}={_shown(value)}' for key, value in params.items())})"
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
    flat: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{above}{key}"
        if name in _NO_MATTER:
            continue
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return flat
