"""What was found wrong so far: exact counts, and where the first of each kind are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from harness.core.errors import visible
from harness.delimited._delimited import EXAMPLES

_SHOWN = 80
MOST_BYTES = 4 * (_SHOWN + 1)
"""Bytes of a value of which more are not shown."""


@dataclass(frozen=True)
class Place:
    """Where a fault is.

    Attributes
    ----------
    line : int, optional
        A physical line, from 1.
    value : str
        What stands there, cut and visible.
    user : str, optional
        Whose list it is in, where it is an item.
    known : str, optional
        The known id that it means, if one does.
    """

    line: int | None
    value: str
    user: str | None = None
    known: str | None = None


@dataclass
class Finding:
    """One kind of fault.

    Attributes
    ----------
    count, lines : int
        How many there are, and lines with any.
    places : list of Place
        The first of them.
    further : int
        How many known ids the first may mean beside the one that its place names.
    mended : int, optional
        How many of them ``--fix`` mends, as far as that is known; None: as its rule says.
    """

    count: int = 0
    lines: int = 0
    places: list[Place] = field(default_factory=list)
    further: int = 0
    mended: int | None = None


class Findings:
    """Every kind of fault by the code of its check."""

    def __init__(self) -> None:
        self.found: dict[str, Finding] = {}

    def add(self, code: str, count: int, places: list[Place], lines: int | None = None) -> None:
        """Take in `count` faults and the first of them; nothing where there are none."""
        if count > 0:
            finding = self.found.setdefault(code, Finding())
            finding.count += count
            finding.lines += count if lines is None else lines
            finding.places = sorted([*finding.places, *places], key=lambda place: place.line or 0)[
                :EXAMPLES
            ]

    def note(self, code: str, value: str = "", line: int | None = None) -> None:
        """Take in one fault."""
        self.add(code, 1, [Place(line, shown(value))])

    def name_lines(self, line_of: Callable[[int], int]) -> None:
        """Name the lines of a file whose rows were counted so far."""
        for finding in self.found.values():
            finding.places = [
                place if place.line is None else replace(place, line=line_of(place.line))
                for place in finding.places
            ]

    def forget(self, code: str, value: str) -> None:
        """Take back one fault of a value, where it has been noted."""
        finding = self.found.get(code)
        if finding is not None and value in (place.value for place in finding.places):
            finding.places = [place for place in finding.places if place.value != value]
            finding.count, finding.lines = finding.count - 1, finding.lines - 1
            if finding.count == 0:
                del self.found[code]


def shown(value: str | bytes) -> str:
    """Return a value cut and visible."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return visible(text[:_SHOWN]) + ("…" if len(text) > _SHOWN else "")
