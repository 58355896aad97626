"""A table on a terminal: columns that fit, names cut in the middle, lines broken at words.

A number is never cut and never broken; names and words make room for it.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import and_, eq
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells

from harness.core.table import Sheet

if TYPE_CHECKING:
    from rich.text import Text

_GAP = 2
_TEXT, _TITLE, _LONGEST_TITLE, _SHORTEST = 18, 16, 48, 4
_TIED = re.compile(r" (?=[…×%])|(?<=[…×±]) |(?<=\d) (?=[a-z])")
_NO_BREAK = "\N{NO-BREAK SPACE}"
_END = re.compile(r".*[(=/,_]|.*[a-z](?=[A-Z])|.*[^\d.,]")
"""Where a long word may end: behind a sign, or at least not within a number."""
_ATOM = re.compile(r"(?<![\w.])\d{1,6}(?:[.,]\d{1,9})*(?!\w)|.")
"""A number alone, no part of an id; or a letter."""
_INDENT, _NO_LIMIT = 7, 10_000
_LABELS = {"BEST": "bold green", "note": "bold yellow"}


def fitted(sheet: Sheet, width: int) -> dict[int, list[list[str]]]:
    """Return the columns that `width` has room for.

    A column is its cells, the title first, and a cell its lines.
    """
    widths = _widths(sheet, width)
    titles = shortened(sheet.titles, _LONGEST_TITLE)
    is_name = [column.kind == "name" for column in sheet.columns]
    names = [row[i] for row in sheet.rows for i in widths if is_name[i]]  # one looks one way
    columns = {}
    for i, room in widths.items():
        cells = [row[i] for row in sheet.rows]
        if is_name[i]:
            short = dict(zip(names, shortened(names, room), strict=True))
            cells = [short[name] for name in cells]
        columns[i] = [wrapped(cell, room) for cell in (titles[i], *cells)]
    return columns


def _widths(sheet: Sheet, width: int) -> dict[int, int]:
    """Return the columns that are shown, and how wide; the last are left out first."""
    cells = [list(map(cell_len, column)) for column in zip(sheet.titles, *sheet.rows, strict=True)]
    full, least = list(map(max, cells)), list[int]()
    for column, (title, *others) in zip(sheet.columns, cells, strict=True):
        is_text = column.kind in ("name", "words")
        least.append(min(max([title, *others]), _TEXT if is_text else max([_TITLE, *others])))

    def total(widths: Iterable[int]) -> int:
        return sum(each + _GAP for each in widths) - _GAP

    shown = list(range(len(cells)))
    while len(shown) > 1 and total(least[i] for i in shown) > width:
        early = [i for i in shown[1:] if sheet.columns[i].first_out]
        soft = [i for i in shown[1:] if not sheet.columns[i].firm] or shown[1:]
        shown.remove(early[0] if early else soft[-1])
    widths = {i: least[i] for i in shown}
    while short := [i for i in shown if widths[i] < full[i]]:
        if total(widths.values()) + len(short) > width:
            break
        widths |= {i: widths[i] + 1 for i in short}
    for i in shown:  # a terminal that nothing fits
        if sheet.columns[i].kind != "number":
            widths[i] = min(widths[i], max(widths[i] + width - total(widths.values()), _SHORTEST))
    return widths


def shortened(texts: Sequence[str], width: int) -> list[str]:
    """Return texts of at most `width` columns, cut in the middle but never within a number.

    Both ends stay, half of the room each. Texts that would look alike show where they differ; they
    stay whole if they would still look alike.

    >>> shortened(["item kNN, BM25", "item kNN, tf-idf", "ALS"], 11)
    ['item…BM25', 'item…f-idf', 'ALS']
    >>> shortened(["popular, 7 days of train", "popular, 14 days of train"], 14)
    ['popula…7 days…', 'popula…14 day…']
    """
    half = (width - 1) // 2

    def cut(text: str) -> str:
        if cell_len(text) <= width:
            return text
        tail = _first(_ATOM.findall(text)[::-1], width - half - 1)[::-1]
        return f"{''.join(_first(_ATOM.findall(text), half)).rstrip()}…{''.join(tail).lstrip()}"

    def distinct(text: str) -> str:
        alike = [_ATOM.findall(other) for other in groups[cut(text)] if other != text]
        if not alike:
            return cut(text)
        atoms = _ATOM.findall(text)
        head = _first(atoms, half)
        start = max(sum(accumulate(map(eq, atoms, other), and_)) for other in alike)
        words = [i + 1 for i, atom in enumerate(atoms[:start]) if atom == " "]
        start = max([*words[-1:], start - 3, len(head)])
        head_text = "".join(head).rstrip()
        middle = _first(atoms[start:], width - cell_len(head_text) - 2)
        return f"{head_text}…{''.join(middle).rstrip()}…"

    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        groups.setdefault(cut(text), []).append(text)
    short = {text: distinct(text) for text in dict.fromkeys(texts)}
    times = Counter(short.values())
    return [short[text] if times[short[text]] == 1 else text for text in texts]


def _first(atoms: Sequence[str], width: int) -> list[str]:
    """Return as many letters and numbers as `width` columns have room for."""
    ends = accumulate(map(cell_len, atoms))
    return [atom for atom, end in zip(atoms, ends, strict=True) if end <= width]


def wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    """Return lines of at most `width` columns, all but the first indented.

    They end between words, but never within an interval or before a unit; a word that is wider
    than a line is broken.

    >>> wrapped("MAP@12 0.0502 (0.0409 … 0.0618), 12.9 × chance", 20, 2)
    ['MAP@12 0.0502', '  (0.0409 … 0.0618),', '  12.9 × chance']
    """
    width, lines, prefix = max(width, indent + _SHORTEST), list[str](), ""
    rest = _TIED.sub(_NO_BREAK, line.rstrip())
    while cell_len(rest) > width - len(prefix):
        piece = chop_cells(rest, width - len(prefix))[0]
        end = rest.rfind(" ", 0, len(piece) + 1)
        is_first = not rest[: max(end, 0)].strip()
        word, _, _ = rest[end + 1 :].partition(" ")
        if is_first or cell_len(word) > width - indent:  # broken anyhow: from here on
            sign = _END.match(piece, end + 1)
            end = sign.end() if sign else len(piece) if is_first else end
        lines.append(prefix + rest[:end].rstrip())
        rest, prefix = rest[end:].lstrip(" "), " " * indent
    return [line.replace(_NO_BREAK, " ") for line in (*lines, prefix + rest)]


def print_rich(sheet: Sheet) -> None:
    """Print the sheet to a terminal, as wide as it is, with every number whole.

    The first word of a line above or below is its label where two spaces follow it.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = shutil.get_terminal_size().columns
    columns = fitted(sheet, width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for i, (title, *_) in columns.items():
        table.add_column(Text("\n".join(title)), justify=sheet.sides[i], no_wrap=True)
    for n, row in enumerate(sheet.rows, 1):
        cells = [(_style(sheet.styles, row[i]), "\n".join(columns[i][n])) for i in columns]
        table.add_row(*(Text(cell, style) for style, cell in cells))
    hidden = ", ".join(title for i, title in enumerate(sheet.titles) if i not in columns)
    note = f"this terminal is too narrow for: {hidden} (--format markdown has all)"
    notes = [Text(line, "dim") for line in wrapped(note, width)] if hidden else []
    heading, footing = (
        [part for line in lines for part in _labelled(line, width)]
        for lines in (sheet.heading, sheet.footing)
    )
    console = Console(width=_NO_LIMIT, highlight=False, emoji=False)  # each line fits already
    blocks: list[list[Text | Table]] = [[*heading], [table, *notes], [*footing]]
    for n, block in enumerate(filter(None, blocks)):
        console.print(*([""] if n else []), *block, sep="\n")


def _labelled(line: str, width: int) -> list[Text]:
    """Return a line broken where the terminal ends; what follows stands below what is labelled."""
    from rich.text import Text

    label, gap, rest = line.partition("  ")
    indent = len(line) - len(rest.lstrip()) if gap else 0
    parts = [Text(part) for part in wrapped(line, width, min(indent, _INDENT))]
    if gap:
        parts[0].stylize(_LABELS.get(label, "bold"), 0, len(label))
    return parts


def _style(styles: Mapping[str, str], cell: str) -> str:
    """Return how a cell looks, by what it says last."""
    return next((styles[part] for part in reversed(cell.split(", ")) if part in styles), "")
