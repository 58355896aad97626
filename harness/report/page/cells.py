"""What tables are made of: cells that are text with the figure behind it, rows, columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.report.page.view import View, shown


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes
    ----------
    value : float, optional
        What it is sorted by; without it, words by their text and figures last.
    kind : str
        ``figure``, ``text``, ``model`` (with its marker), ``verdict`` or ``bar``.
    note : str
        A second line, smaller.
    place : int, optional
        The model whose marker stands before its name.
    """

    text: str
    value: float | None = None
    kind: str = "figure"
    note: str = ""
    place: int | None = None
    bar: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column's title; `hint` says more, `words` stand to the left, `order` is that of the rows.

    A column that cannot be sorted by is a picture.
    """

    title: str
    hint: str = ""
    words: bool = False
    order: str = ""
    sorts: bool = True


@dataclass(frozen=True)
class Row:
    """A row of some models, shown for some choices; no models and no choice is always shown."""

    cells: list[Cell]
    models: tuple[int, ...] = ()
    pick: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table; `last` stands below however the others are sorted."""

    columns: list[Column]
    rows: list[Row]
    last: list[Row] = field(default_factory=list)


def figure(value: float | None, places: int, note: str = "") -> Cell:
    """Return a figure's cell, a dash where there is none."""
    return Cell(shown(value, places), value, note=note)


def words(text: str) -> Cell:
    """Return a cell of words."""
    return Cell(text, kind="text")


def model(view: View, place: int) -> Cell:
    """Return a model's name behind its marker."""
    repeats, tuned = view.models[place]["repeats"], view.models[place].get("tuned")
    notes = [f"mean of {repeats} repeats"] if repeats > 1 else []
    notes += [f"tuned on train × {tuned['trials']:,}"] if tuned else []
    return Cell(view.names[place], kind="model", note="; ".join(notes), place=place)
