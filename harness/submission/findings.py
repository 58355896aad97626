"""What was found wrong so far: exact counts, and where the first of each kind are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.core.errors import printable
from harness.delimited.tally import EXAMPLES

_SHOWN = 80
MOST_BYTES = 4 * (_SHOWN + 1)
"""Bytes of a value of which more are not shown."""


@dataclass(frozen=True)
class Place:
    """Where a fault is: a physical line, from 1, and what stands there.

    Rows that have no lines, in a table, are told by their users.
    """

    line: int | None
    value: str
    user: str | None = None


@dataclass
class Finding:
    """One kind of fault.

    Attributes
    ----------
    count, lines : int
        How many there are, and lines with any.
    places : list of Place
        The first of them.
    """

    count: int = 0
    lines: int = 0
    places: list[Place] = field(default_factory=list)


class Findings:
    """Every kind of fault by the code of its check."""

    def __init__(self) -> None:
        self.found: dict[str, Finding] = {}

    def __add__(self, other: Findings) -> Findings:
        """Return the faults of both, of rows that stand between each other: the first lines count.

        Faults without a line are told in the order of what stands there.
        """
        both = Findings()
        for found in (self.found, other.found):
            for code, own in found.items():
                all_ = both.found.setdefault(code, Finding())
                all_.count, all_.lines = all_.count + own.count, all_.lines + own.lines
                all_.places = sorted([*all_.places, *own.places], key=_order)[:EXAMPLES]
        return both

    def to_json(self) -> dict[str, Any]:
        """Return the same as values that JSON has."""
        return {
            code: [own.count, own.lines, [list(vars(place).values()) for place in own.places]]
            for code, own in self.found.items()
        }

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> Findings:
        """Return what `to_json` gave."""
        found = cls()
        for code, (count, lines, places) in told.items():
            found.found[code] = Finding(count, lines, [Place(*place) for place in places])
        return found

    def add(self, code: str, count: int, places: list[Place], lines: int | None = None) -> None:
        """Take in `count` faults, which stand behind the others; nothing where there are none."""
        if count > 0:
            own = self.found.setdefault(code, Finding())
            own.count += count
            own.lines += count if lines is None else lines
            own.places += places[: EXAMPLES - len(own.places)]

    def note(self, code: str, value: str = "", line: int | None = None) -> None:
        """Take in one fault."""
        self.add(code, 1, [Place(line, shown(value))])

    def forget(self, code: str, value: str) -> None:
        """Take back one fault of a value, where it has been noted."""
        own = self.found.get(code)
        if own is not None and value in (place.value for place in own.places):
            own.places = [place for place in own.places if place.value != value]
            own.count, own.lines = own.count - 1, own.lines - 1
            if own.count == 0:
                del self.found[code]


def _order(place: Place) -> tuple[bool, int, str]:
    if place.line is not None:
        return False, place.line, ""
    return True, 0, place.user or place.value


def shown(value: str | bytes) -> str:
    """Return a value cut and printable."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return printable(text[:_SHOWN]) + ("…" if len(text) > _SHOWN else "")
