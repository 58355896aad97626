"""What a declaration of a check consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
Unit = Literal["", "ids", "lists", "items", "lines"]
Column = Literal["", "user", "items"]


@dataclass(frozen=True)
class Check:
    """One thing that may be wrong.

    Attributes
    ----------
    says : str
        What is wrong, of a value, a count or a detail: a text for `str.format`.
    hint : str
        How to mend it.
    of : str
        What is counted: ``ids``, ``lists``, ``items`` or ``lines``; empty where it is the file.
    column : str
        The column it is in: ``user``, ``items``, or none.
    fixed : bool
        Whether ``--fix`` mends it.
    of_lists : bool
        Whether it does so only where a row holds a list.
    blocks : bool
        Whether ``--fix`` writes nothing as long as it is there.
    fault : int, optional
        What the scan of lines counts it as.
    """

    name: str
    severity: Severity
    says: str
    hint: str
    of: Unit = ""
    column: Column = ""
    fixed: bool = False
    fault: int | None = None
    of_lists: bool = False
    blocks: bool = False


def file(
    name: str,
    says: str,
    hint: str,
    severity: Severity = "error",
    fixed: bool = False,
    blocks: bool = False,
) -> Check:
    """Return a check of the whole file."""
    return Check(name, severity, says, hint, fixed=fixed, blocks=blocks)


def of(of: Unit, column: Column = "") -> Callable[..., Check]:
    """Return what makes checks of one unit."""

    def check(
        name: str,
        fault: int | None,
        says: str,
        hint: str,
        severity: Severity = "error",
        fixed: bool = False,
        of_lists: bool = False,
    ) -> Check:
        return Check(name, severity, says, hint, of, column, fixed, fault, of_lists)

    return check
