"""A table with lines above and below it, as text, Markdown or on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {
    **dict.fromkeys(("best", "better"), "green"),
    **dict.fromkeys(("worse", "worse than chance"), "red"),
    "no better than chance": "yellow",
}
"""Colours of verdicts on a terminal."""
_AGAINST_CHANCE = {
    "not distinguishable": "no better than chance",
    "worse": "worse than chance",
}
_INDENT = 7
_LABELS = {"BEST": "bold green", "note": "bold yellow"}
_Line = TypeVar("_Line")
_LATEX = str.maketrans(
    {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "×": r"\texttimes{}"}
    | {"±": r"\textpm{}", "…": r"\ldots{}", "−": r"\textminus{}", "–": "--"}
)


def chance_word(verdict: str) -> str:
    """Return a verdict against chance as readers are shown it.

    Examples
    --------
    >>> chance_word("better"), chance_word("worse"), chance_word("not distinguishable")
    ('better', 'worse than chance', 'no better than chance')
    """
    return _AGAINST_CHANCE.get(verdict, verdict)


def pair_word(verdict: str) -> str:
    """Return a verdict on two models as readers are shown it.

    Examples
    --------
    >>> pair_word("worse"), pair_word("not distinguishable")
    ('worse', 'tied')
    """
    return verdict.replace("not distinguishable", "tied")


@dataclass(frozen=True)
class Sheet:
    """What is printed: cells are text already.

    Attributes
    ----------
    left : set of int
        Columns of words, set to the left: names, which a terminal may cut in the middle. The others
        are figures, which are never cut.
    kept : int
        How many columns names are cut for before one is left out; the last are left out first.
    firm : set of int
        Columns that stay while another can be left out, wherever they stand; the first is one.
    wrapped : set of int
        Columns of words that a terminal breaks into lines, and does not cut.
    styles : mapping
        Colours, on a terminal, of the cells that say a word, alone or behind a comma.
    """

    titles: list[str]
    rows: list[list[str]]
    left: frozenset[int] = frozenset({0})
    heading: list[str] = field(default_factory=list)
    footing: list[str] = field(default_factory=list)
    kept: int = 5
    firm: frozenset[int] = frozenset()
    wrapped: frozenset[int] = frozenset()
    styles: Mapping[str, str] = field(default_factory=dict)


def plain(sheet: Sheet) -> str:
    """Return the sheet as text for a file or a pipe."""
    return "\n".join(_spaced([sheet.heading, table(sheet), sheet.footing], ""))


def table(sheet: Sheet) -> list[str]:
    """Return the lines of the table alone."""
    cells = [sheet.titles, *sheet.rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(sheet.titles))]
    return ["  ".join(_aligned(row, widths, sheet.left)).rstrip() for row in cells]


def markdown(sheet: Sheet) -> str:
    """Return the sheet as a Markdown table between its lines."""
    rule = [":--" if i in sheet.left else "--:" for i in range(len(sheet.titles))]
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in (sheet.titles, rule, *sheet.rows)]
    heading, footing = (
        [f"{_as_text(line)}  " for line in part] for part in (sheet.heading, sheet.footing)
    )
    return "\n".join(_spaced([heading, lines, footing], ""))


def latex(sheet: Sheet) -> str:
    """Return the sheet as a LaTeX table (package booktabs) below its lines, which are comments."""
    import pandas as pd

    sides = "".join("l" if i in sheet.left else "r" for i in range(len(sheet.titles)))
    frame = pd.DataFrame(sheet.rows, columns=sheet.titles)
    table = frame.to_latex(index=False, escape=True, column_format=sides)
    table = table.translate(_LATEX).rstrip()
    return "\n".join([*(f"% {line}" for line in (*sheet.heading, *sheet.footing)), table])


def html(sheet: Sheet) -> str:
    """Return the sheet as an HTML table between its lines, every text escaped."""
    from html import escape

    def row(cells: list[str], tag: str) -> str:
        sides = ["left" if i in sheet.left else "right" for i in range(len(cells))]
        return "".join(
            f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )

    lines = [f"<thead><tr>{row(sheet.titles, 'th')}</tr></thead>", "<tbody>"]
    lines += [f"<tr>{row(cells, 'td')}</tr>" for cells in sheet.rows]
    above, below = (
        [f"<pre>{escape(chr(10).join(part))}</pre>"] if part else []
        for part in (sheet.heading, sheet.footing)
    )
    return "\n".join([*above, "<table>", *lines, "</tbody>", "</table>", *below])


def print_rich(sheet: Sheet) -> None:
    """Print the sheet to a terminal, as wide as it is, with every figure whole.

    The first word of a line above or below is its label where two spaces follow it.
    """
    import shutil

    from rich.console import Console
    from rich.text import Text

    from harness.report import fitting

    width = shutil.get_terminal_size().columns
    console = Console(width=width, highlight=False, emoji=False)
    columns = fitting.fitted(sheet, width)
    parts = [
        [line for text in sheet.heading for line in _labelled(text, width)],
        _lines(sheet, columns),
        [line for text in sheet.footing for line in _labelled(text, width)],
    ]
    hidden = ", ".join(title for i, title in enumerate(sheet.titles) if i not in columns)
    if hidden:
        told = f"this terminal is too narrow for: {hidden} (--format markdown has all)"
        parts[1] += [Text(line, "dim") for line in fitting.wrapped(told, width)]
    for line in _spaced(parts, Text()):
        console.print(line, soft_wrap=True)


def _labelled(line: str, width: int) -> list[Text]:
    """Return a line broken where the terminal ends; what follows stands below what is labelled."""
    from rich.text import Text

    from harness.report.fitting import wrapped

    label, gap, rest = line.partition("  ")
    indent = len(line) - len(rest.lstrip()) if gap else 0
    found = [Text(part) for part in wrapped(line, width, min(indent, _INDENT))]
    if gap:
        found[0].stylize(_LABELS.get(label, "bold"), 0, len(label))
    return found


def _lines(sheet: Sheet, columns: dict[int, list[list[str]]]) -> list[Text]:
    """Return the lines of a table whose cells may have several."""
    from rich.cells import cell_len
    from rich.text import Text

    from harness.report.fitting import GAP

    widths = {
        i: max(cell_len(line) for cell in column for line in cell) for i, column in columns.items()
    }
    found = []
    for at, row in enumerate(zip(*columns.values(), strict=True)):
        for part in zip_longest(*row, fillvalue=""):
            line = Text()
            for i, text in zip(columns, part, strict=True):
                room = " " * (widths[i] - cell_len(text))
                line.append("" if i in sheet.left else room)
                line.append(text, _style(sheet, at, i))
                line.append((room if i in sheet.left else "") + " " * GAP)
            line.rstrip()
            found.append(line)
    return found


def _style(sheet: Sheet, at: int, column: int) -> str:
    """Return how a cell looks, by what it says last; `at` 0 are the titles."""
    if at == 0:
        return "bold"
    said = reversed(sheet.rows[at - 1][column].split(", "))
    return next((sheet.styles[part] for part in said if part in sheet.styles), "")


def _spaced(parts: list[list[_Line]], empty: _Line) -> list[_Line]:
    """Return the lines of all parts, an empty line between two."""
    filled = [part for part in parts if part]
    return [line for i, part in enumerate(filled) for line in ([empty] if i else []) + part]


def _aligned(row: list[str], widths: list[int], left: frozenset[int]) -> list[str]:
    return [
        cell.ljust(w) if i in left else cell.rjust(w)
        for i, (cell, w) in enumerate(zip(row, widths, strict=True))
    ]


def _escaped(cell: str) -> str:
    """Return a Markdown cell whose bars end no column, even behind a backslash."""
    return _as_text(cell.replace("\\", "\\\\").replace("|", "\\|"))


def _as_text(line: str) -> str:
    """Return a line of Markdown in which no name is a tag of HTML."""
    return line.replace("<", "&lt;").replace(">", "&gt;")
