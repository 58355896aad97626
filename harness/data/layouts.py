"""Layouts that are built in, as built_in.toml declares them, and those that a config imports."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from harness.core import plugins
from harness.core.errors import UsageError
from harness.data.layout import Layout, declared

BUILT_IN: Mapping[str, Layout] = {
    name: declared({"name": name, **layout})
    for name, layout in tomllib.loads(
        files("harness.data").joinpath("built_in.toml").read_text(encoding="utf-8")
    ).items()
}
"""By name."""


def plugged_in(name: str, folder: Path) -> Layout:
    """Return the layout that ``module:name`` names: a `Layout`, or what returns one.

    The module is looked for in `folder`, the config's own, first. UsageError where there is no such
    module or name, or it is no layout.
    """
    owner = f'[data] layout "{name}"'
    layout = plugins.load(owner, name, folder, "layout")
    if callable(layout):
        try:
            layout = layout()
        except BaseException as error:  # a stranger's code may raise anything
            plugins.raise_interrupt(error)
            raise UsageError(f"{owner}: cannot be made: {plugins.told(error)}") from error
    return require_layout(layout, owner)


def require_layout(layout: Any, owner: str) -> Layout:
    """Return what should be a layout; else raise UsageError, in which `owner` names it."""
    if not isinstance(layout, Layout):
        raise UsageError(f"{owner}: is {type(layout).__name__}; expected a harness.layouts.Layout")
    for table in layout.events:
        if table.time is None:
            raise UsageError(f"{owner}: {table.file}: time is None; expected a column")
    return layout
