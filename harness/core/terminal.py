"""A table on a terminal: columns that fit, names cut in the middle, lines broken at words.

A number is never cut and never broken; words make room for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, zip_longest
from operator import and_, eq
from typing import TYPE_CHECKING

from rich.cells import cell_len

from harness.core.table import Sheet, spaced

if TYPE_CHECKING:
    from rich.text import Text

GAP = 2
"""Spaces between two columns."""
_NAME, _NAME_WISHED, _WORDS, _TITLE, _TITLES = 12, 32, 18, 16, 48
_LEAST = 4
_TIED = re.compile(r" (?=[…×%])|(?<=[…×±]) |(?<=\d) (?=[a-z])")
_END = re.compile(r".*[(=/,_]|.*[a-z](?=[A-Z])|.*[^\d.,]")
_NUMBER = re.compile(r"(?<![\w.])\d{1,6}(?:[.,]\d{1,9})*(?!\w)")
"""A number alone; no part of an id."""
_NO_BREAK = "\N{NO-BREAK SPACE}"


def fitted(sheet: Sheet, width: int) -> dict[int, list[list[str]]]:
    """Return the columns that `width` has room for.

    A column is its cells, the title first, and a cell its lines.
    """
    widths = _widths(sheet, width)
    titles = shortened(sheet.titles, _TITLES)
    names = [i for i in widths if sheet.columns[i].kind == "name"]
    texts = [row[i] for row in sheet.rows for i in names]  # together: one name looks one way
    room = {widths[i] for i in names}
    short = {w: _names(texts, w) for w in room}
    return {
        i: [
            wrapped(titles[i], w),
            *(short[w][row[i]] if i in names else wrapped(row[i], w) for row in sheet.rows),
        ]
        for i, w in widths.items()
    }


def _names(texts: Sequence[str], width: int) -> dict[str, list[str]]:
    """Return each name's lines: it is cut to one, but where two would look alike still."""
    short = dict(zip(texts, shortened(texts, width), strict=True))
    times = Counter(short.values())
    return {t: [cut] if times[cut] == 1 else wrapped(t, width) for t, cut in short.items()}


def _widths(sheet: Sheet, width: int) -> dict[int, int]:
    """Return the columns that are shown, and how wide.

    Names are shortened for the first `sheet.kept` columns and the firm ones to have room; for the
    others they are not shortened much.
    """
    shown = list(range(len(sheet.titles)))
    full = [max(map(cell_len, [sheet.titles[i], *(row[i] for row in sheet.rows)])) for i in shown]
    least = [_room(sheet, i, full[i], _NAME) for i in shown]
    wished = [_room(sheet, i, full[i], _NAME_WISHED) for i in shown]
    while len(shown) > 1:
        kept = all(i < sheet.kept or sheet.columns[i].firm for i in shown)
        if _total((least if kept else wished)[i] for i in shown) <= width:
            break
        early = [i for i in shown[1:] if sheet.columns[i].first_out]
        soft = [i for i in shown[1:] if not sheet.columns[i].firm] or shown[1:]
        shown.remove(early[0] if early else soft[-1])
    widths = {i: least[i] for i in shown}
    for most in (wished, full):
        _share_out(widths, most, width)
    for i in sheet.words & {*shown}:  # a terminal that nothing fits
        widths[i] = min(widths[i], max(widths[i] + width - _total(widths.values()), _LEAST))
    return widths


def _room(sheet: Sheet, i: int, full: int, name: int) -> int:
    """Return what a column needs: words may be broken, a name cut, a long title broken."""
    column = sheet.columns[i]
    if column.kind in ("name", "words"):
        return min(full, _WORDS if column.kind == "words" else name)
    return max([min(cell_len(column.title), _TITLE), *(cell_len(row[i]) for row in sheet.rows)])


def _total(widths: Iterable[int]) -> int:
    return sum(width + GAP for width in widths) - GAP


def _share_out(widths: dict[int, int], most: Sequence[int], width: int) -> None:
    """Widen columns alike, up to `most`, while there is room for all of them."""
    while short := [i for i, w in widths.items() if w < most[i]]:
        if _total(widths.values()) + len(short) > width:
            break
        for i in short:
            widths[i] += 1


def shortened(texts: Sequence[str], width: int) -> list[str]:
    """Return texts of at most `width` columns, cut in the middle but never within a number.

    Both ends stay, half of the room each. Texts that would look alike show where they differ.

    Examples
    --------
    >>> shortened(["item kNN, BM25", "item kNN, tf-idf", "ALS"], 11)
    ['item…BM25', 'item…f-idf', 'ALS']
    >>> shortened(["popular, 7 days of train", "popular, 14 days of train"], 14)
    ['popula…7 days…', 'popula…14 day…']
    """
    half = (width - 1) // 2

    def cut(text: str) -> str:
        if cell_len(text) <= width:
            return text
        start, end = _number(text, len(text) - len(_first(text[::-1], width - half - 1)))
        tail = text[start if cell_len(text[start:]) < width else end :].lstrip()
        return f"{_beginning(text, min(half, width - 1 - cell_len(tail)))}…{tail}"

    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        groups.setdefault(cut(text), []).append(text)

    def distinct(text: str) -> str:
        alike = [other for other in groups[cut(text)] if other != text]
        if not alike:
            return cut(text)
        head = _beginning(text, half)
        start = max(sum(accumulate(map(eq, text, other), and_)) for other in alike)
        start = max(text.rfind(" ", 0, start) + 1, start - 3, len(head))
        middle = text[_number(text, start)[0] :]
        return f"{head}…{_beginning(middle, width - cell_len(head) - 2)}…"

    return list(map(distinct, texts))


def _number(text: str, place: int) -> tuple[int, int]:
    """Return the ends of the number that a cut at a place would break, else the place twice."""
    spans = (number.span() for number in _NUMBER.finditer(text))
    return next(((start, end) for start, end in spans if start < place < end), (place, place))


def _beginning(text: str, width: int) -> str:
    """Return as much of a text as `width` columns have room for, without half a number."""
    return text[: _number(text, len(_first(text, width)))[0]].rstrip()


def _first(text: str, width: int) -> str:
    """Return as many letters as `width` columns have room for; some letters take two."""
    used = 0
    for n, letter in enumerate(text):
        used += cell_len(letter)
        if used > width:
            return text[:n]
    return text


def wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    """Return lines of at most `width` columns, all but the first indented.

    They end between words, but never within an interval or before a unit; a word that is wider
    than a line is broken.

    Examples
    --------
    >>> wrapped("MAP@12 0.0502 (0.0409 … 0.0618), 12.9 × chance", 20, 2)
    ['MAP@12 0.0502', '  (0.0409 … 0.0618),', '  12.9 × chance']
    """
    width, lines = max(width, indent + _LEAST), list[str]()
    for word in _TIED.sub(_NO_BREAK, line).split(" "):
        joined = f"{lines[-1]} {word}" if lines else word
        if cell_len(joined) <= width:
            lines[-1:] = [joined]
            continue
        if cell_len(word) > width - indent and lines:  # broken anyhow: from here on
            head = next(_pieces(word, max(width - cell_len(lines[-1]) - 1, 1)))
            if cell_len(f"{lines[-1]} {head}") <= width:
                lines[-1], word = f"{lines[-1]} {head}", word[len(head) :]
        if lines and not lines[-1].strip():
            lines.pop()
        lines += [" " * indent + piece for piece in _pieces(word, width - indent)]
    return [line.rstrip().replace(_NO_BREAK, " ") for line in lines]


def _pieces(word: str, width: int) -> Iterator[str]:
    """Yield parts of a word that end behind a sign, or at least not within a number."""
    while cell_len(word) > width:
        piece = _first(word, width)
        end = _END.match(piece)
        piece = end.group() if end else piece
        yield piece
        word = word[len(piece) :]
    yield word


_INDENT = 7
_LABELS = {"BEST": "bold green", "note": "bold yellow"}


def print_rich(sheet: Sheet) -> None:
    """Print the sheet to a terminal, as wide as it is, with every number whole.

    The first word of a line above or below is its label where two spaces follow it.
    """
    import shutil

    from rich.console import Console
    from rich.text import Text

    width = shutil.get_terminal_size().columns
    console = Console(width=width, highlight=False, emoji=False)
    columns = fitted(sheet, width)
    table = _lines(sheet, columns)
    hidden = ", ".join(title for i, title in enumerate(sheet.titles) if i not in columns)
    if hidden:
        note = f"this terminal is too narrow for: {hidden} (--format markdown has all)"
        table += [Text(line, "dim") for line in wrapped(note, width)]
    heading, footing = (
        [part for line in lines for part in _labelled(line, width)]
        for lines in (sheet.heading, sheet.footing)
    )
    for line in spaced([heading, table, footing], Text()):
        console.print(line, soft_wrap=True)


def _labelled(line: str, width: int) -> list[Text]:
    """Return a line broken where the terminal ends; what follows stands below what is labelled."""
    from rich.text import Text

    label, gap, rest = line.partition("  ")
    indent = len(line) - len(rest.lstrip()) if gap else 0
    parts = [Text(part) for part in wrapped(line, width, min(indent, _INDENT))]
    if gap:
        parts[0].stylize(_LABELS.get(label, "bold"), 0, len(label))
    return parts


def _lines(sheet: Sheet, columns: dict[int, list[list[str]]]) -> list[Text]:
    """Return the lines of a table whose cells may have several."""
    from rich.text import Text

    widths = {
        i: max(cell_len(line) for cell in column for line in cell) for i, column in columns.items()
    }
    lines = []
    for n, row in enumerate(zip(*columns.values(), strict=True)):
        cells = sheet.rows[n - 1] if n > 0 else None
        for part in zip_longest(*row, fillvalue=""):
            line = Text()
            for i, text in zip(columns, part, strict=True):
                room = " " * (widths[i] - cell_len(text))
                is_number = sheet.columns[i].kind == "number"
                line.append(room if is_number else "")
                line.append(text, "bold" if cells is None else _style(sheet.styles, cells[i]))
                line.append(("" if is_number else room) + " " * GAP)
            line.rstrip()
            lines.append(line)
    return lines


def _style(styles: Mapping[str, str], cell: str) -> str:
    """Return how a cell looks, by what it says last."""
    return next((styles[part] for part in reversed(cell.split(", ")) if part in styles), "")
