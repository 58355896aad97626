"""A table with lines above and below it, as text, Markdown or on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

STYLES = {"better": "green", "worse": "red", "as chance": "yellow"}
"""Colours of verdicts on a terminal."""
_GAP = 2
_LATEX = str.maketrans(
    {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "×": r"\texttimes{}"}
    | {"±": r"\textpm{}", "…": r"\ldots{}", "−": r"\textminus{}", "–": "--"}
)
_WRAPPED = 30


def chance_word(verdict: str) -> str:
    """Return a verdict against chance as readers are shown it."""
    return verdict.replace("not distinguishable", "as chance")


@dataclass(frozen=True)
class Sheet:
    """What is printed: cells are text already.

    Attributes
    ----------
    left : set of int
        Columns of words, set to the left; the others are figures.
    kept : int
        How many columns no terminal is too narrow for; the last of the others are left out first.
    wrapped : set of int
        Columns of words that a terminal may break into lines.
    styles : mapping
        Colours, on a terminal, of the cells that begin with a word.
    """

    titles: list[str]
    rows: list[list[str]]
    left: frozenset[int] = frozenset({0})
    heading: list[str] = field(default_factory=list)
    footing: list[str] = field(default_factory=list)
    kept: int = 5
    wrapped: frozenset[int] = frozenset()
    styles: Mapping[str, str] = field(default_factory=dict)


def plain(sheet: Sheet) -> str:
    """Return the sheet as text for a file or a pipe."""
    return "\n".join(_spaced([sheet.heading, table(sheet), sheet.footing]))


def table(sheet: Sheet) -> list[str]:
    """Return the lines of the table alone."""
    cells = [sheet.titles, *sheet.rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(sheet.titles))]
    return ["  ".join(_aligned(row, widths, sheet.left)).rstrip() for row in cells]


def markdown(sheet: Sheet) -> str:
    """Return the sheet as a Markdown table between its lines."""
    rule = [":--" if i in sheet.left else "--:" for i in range(len(sheet.titles))]
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in (sheet.titles, rule, *sheet.rows)]
    heading, footing = ([f"{line}  " for line in part] for part in (sheet.heading, sheet.footing))
    return "\n".join(_spaced([heading, lines, footing]))


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
    """Print the sheet to a terminal, as wide as it is.

    The first word of a line above or below is its label where two spaces follow it.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def say(lines: list[str]) -> None:
        for line in lines:
            label, gap, _rest = line.partition("  ")
            text = Text(line)
            text.stylize("bold", 0, len(label) if gap else 0)
            console.print(text)

    console = Console(highlight=False, emoji=False)
    say(sheet.heading)
    shown = _fitting(sheet, console.width)
    grid = Table(box=box.SIMPLE_HEAD, padding=(0, _GAP // 2), header_style="bold")
    for i in shown:
        side = "left" if i in sheet.left else "right"
        grid.add_column(Text(sheet.titles[i]), justify=side, no_wrap=i not in sheet.wrapped)  # type: ignore[arg-type]
    for row in sheet.rows:
        grid.add_row(*(Text(row[i], sheet.styles.get(row[i].partition(",")[0], "")) for i in shown))
    console.print(grid)
    if len(shown) < len(sheet.titles):
        hidden = ", ".join(title for i, title in enumerate(sheet.titles) if i not in shown)
        told = f"this terminal is too narrow for: {hidden} (--format markdown has all)"
        console.print(Text(told, "dim"))
    say(sheet.footing)


def _spaced(parts: list[list[str]]) -> list[str]:
    """Return the lines of all parts, an empty line between two."""
    filled = [part for part in parts if part]
    return [line for i, part in enumerate(filled) for line in ([""] if i else []) + part]


def _aligned(row: list[str], widths: list[int], left: frozenset[int]) -> list[str]:
    return [
        cell.ljust(w) if i in left else cell.rjust(w)
        for i, (cell, w) in enumerate(zip(row, widths, strict=True))
    ]


def _escaped(cell: str) -> str:
    """Return a Markdown cell whose bars end no column, even behind a backslash."""
    return cell.replace("\\", "\\\\").replace("|", "\\|")


def _fitting(sheet: Sheet, width: int) -> list[int]:
    """Return the columns that fit."""
    cells = [sheet.titles, *sheet.rows]
    shown = list(range(len(sheet.titles)))
    widths = [max(len(row[i]) for row in cells) + _GAP for i in shown]
    for i in sheet.wrapped:
        widths[i] = min(widths[i], _WRAPPED)
    while len(shown) > sheet.kept and sum(widths[i] for i in shown) + len(shown) + 1 > width:
        shown.pop()
    return shown
