"""Which models of a config are made of which others."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from harness.errors import suggest


def require_parts(models: Mapping[str, list[str] | None]) -> None:
    """Raise ValueError where a model is made of none, of one that there is not, or of itself.

    Parameters
    ----------
    models : mapping of name to names
        Every model, and what its key ``of`` holds.
    """
    for name, parts in models.items():
        others = [other for other in models if other != name]
        if parts == []:
            raise ValueError(f'[[models]] "{name}" of = [] is empty; {suggest("", others)}')
        for part in parts or []:
            if part == name:
                raise ValueError(f'[[models]] "{name}" of: a model is no part of itself')
            if part not in models:
                raise ValueError(
                    f'[[models]] "{name}" of: no model is named "{part}"; {suggest(part, others)}'
                )
    try:
        TopologicalSorter({name: parts or [] for name, parts in models.items()}).prepare()
    except CycleError as error:
        circle = " is a part of ".join(f'"{name}"' for name in error.args[1])
        raise ValueError(f"[[models]] of: {circle}; a model is no part of itself") from error
