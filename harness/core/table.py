"""A result as tables: cells with lines above and below, for a terminal, a file or a program."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import isfinite
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

from rich.cells import cell_len, chop_cells  # some letters take two columns

from harness.core.errors import printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text
Record = TypeVar("Record")
Kind = Literal["number", "name", "words", "whole"]
_LATEX = str.maketrans(
    {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "×": r"\texttimes{}"}
    | {"±": r"\textpm{}", "…": r"\ldots{}", "−": r"\textminus{}", "–": "--"}
)


@dataclass(frozen=True)
class Column(Generic[Record]):
    """A column of a table: its title, and what of a record it shows."""

    title: str
    cell: Callable[[Record], str] = field(compare=False)
    kind: Kind = "number"  # a name may be cut, words broken into lines; a path is whole
    firm: bool = False  # it stays while another can be left out
    first_out: bool = False


@dataclass(frozen=True)
class Sheet:
    """What is printed: cells are text already."""

    columns: Sequence[Column[Any]]
    rows: list[list[str]]
    heading: list[str] = field(default_factory=list)
    footing: list[str] = field(default_factory=list)
    styles: Mapping[str, str] = field(default_factory=dict)
    """Colours, on a terminal, of the cells that say a word, alone or behind a comma."""

    @classmethod
    def of(
        cls, records: Iterable[Record], columns: Sequence[Column[Record]], **attributes: Any
    ) -> Self:
        """Return the sheet of some columns with a row a record; `attributes` are the others."""
        rows = [[column.cell(record) for column in columns] for record in records]
        return cls(columns, rows, **attributes)

    def filled(self) -> Self:
        """Return the sheet without columns whose cells are all empty."""
        if not self.rows:
            return self
        kept = [i for i, cells in enumerate(zip(*self.rows, strict=True)) if any(cells)]
        columns = [self.columns[i] for i in kept]
        return replace(self, columns=columns, rows=[[row[i] for i in kept] for row in self.rows])

    @property
    def titles(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def sides(self) -> list[Literal["left", "right"]]:
        """Where the cells of each column stand."""
        return ["right" if column.kind == "number" else "left" for column in self.columns]


def plain(sheet: Sheet) -> str:
    """Return the sheet as text for a file or a pipe."""
    widths = [max(map(cell_len, cells)) for cells in zip(sheet.titles, *sheet.rows, strict=True)]
    table = []
    for row in (sheet.titles, *sheet.rows):
        cells = []
        for cell, width, side in zip(row, widths, sheet.sides, strict=True):
            pad = " " * (width - cell_len(cell))
            cells.append(pad + cell if side == "right" else cell + pad)
        table.append("  ".join(cells).rstrip())
    return _blocks(sheet.heading, table, sheet.footing)


def markdown(sheet: Sheet) -> str:
    """Return the sheet as a Markdown table between its lines."""
    titles, *rows = [
        [_as_text(cell).replace("|", "\\|") for cell in row] for row in (sheet.titles, *sheet.rows)
    ]
    rule = ["--:" if side == "right" else ":--" for side in sheet.sides]
    heading, footing = (
        [f"{_as_text(line)}  " for line in part] for part in (sheet.heading, sheet.footing)
    )
    return _blocks(heading, [f"| {' | '.join(row)} |" for row in (titles, rule, *rows)], footing)


def _blocks(*parts: Sequence[str]) -> str:
    """Return lines with an empty one between two parts."""
    return "\n\n".join("\n".join(part) for part in parts if part)


_MARKUP = re.compile(r"[\\`*~\[\]]|\b_|_\b|(?<!\w)_")
"""What code, links, pictures and emphasis are written with; not within a word: `user_id`."""


def _as_text(line: str) -> str:
    """Return a line of Markdown in which no name is markup, or a tag of HTML."""
    return _MARKUP.sub(r"\\\g<0>", line).replace("<", "&lt;").replace(">", "&gt;")


def latex(sheet: Sheet) -> str:
    """Return the sheet as a LaTeX table (package booktabs) below its lines, which are comments."""
    import pandas as pd

    frame = pd.DataFrame(sheet.rows, columns=sheet.titles)
    sides = "".join(side[0] for side in sheet.sides)
    table = frame.to_latex(index=False, escape=True, column_format=sides)
    table = table.translate(_LATEX).rstrip()
    return "\n".join([*(f"% {line}" for line in (*sheet.heading, *sheet.footing)), table])


def html(sheet: Sheet) -> str:
    """Return the sheet as an HTML table between its lines, every text escaped."""
    from html import escape

    def row(cells: list[str], tag: str) -> str:
        sides = zip(sheet.sides, map(escape, cells), strict=True)
        row = (f'<{tag} style="text-align: {side}">{cell}</{tag}>' for side, cell in sides)
        return f"<tr>{''.join(row)}</tr>"

    heading, footing = (
        [f"<pre>{escape(chr(10).join(part))}</pre>"] if part else []
        for part in (sheet.heading, sheet.footing)
    )
    head = f"<thead>{row(sheet.titles, 'th')}</thead>"
    body = ["<tbody>", *(row(cells, "td") for cells in sheet.rows), "</tbody>"]
    return "\n".join([*heading, "<table>", head, *body, "</table>", *footing])


_GAP, _INDENT = 2, 7
_LEAST, _LONGEST_TITLE = 16, 48
_LABELS = {"BEST": "bold green", "note": "bold yellow"}


def print_rich(sheet: Sheet) -> None:
    """Print the sheet to a terminal, as wide as it is, with every number whole.

    The first word of a line above or below is its label where two spaces follow it.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = shutil.get_terminal_size().columns
    widths = fitted(sheet, width)
    titles = shortened(sheet.titles, _LONGEST_TITLE)
    is_name = [column.kind == "name" for column in sheet.columns]
    names = [row[i] for row in sheet.rows for i in widths if is_name[i]]  # one looks one way
    short = {
        i: dict(zip(names, shortened(names, room), strict=True))
        for i, room in widths.items()
        if is_name[i]
    }

    def shown(cell: str, i: int) -> Text:
        words = reversed(cell.split(", "))  # what a cell says last is its style
        style = next((sheet.styles[word] for word in words if word in sheet.styles), "")
        text = short[i][cell] if is_name[i] else cell
        return Text("\n".join(wrapped(text, widths[i])), style)

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for i, room in widths.items():
        title = "\n".join(wrapped(titles[i], room))
        table.add_column(Text(title), justify=sheet.sides[i], no_wrap=True)
    for row in sheet.rows:
        table.add_row(*(shown(row[i], i) for i in widths))
    hidden = ", ".join(title for i, title in enumerate(sheet.titles) if i not in widths)
    note = f"this terminal is too narrow for: {hidden} (--format markdown has all)"
    notes = [Text(line, "dim") for line in wrapped(note, width)] if hidden else []
    heading, footing = (
        [part for line in lines for part in _labelled(line, width)]
        for lines in (sheet.heading, sheet.footing)
    )
    # Each line fits already; without a height, Rich takes a terminal without colours for 80 wide.
    console = Console(width=10_000, height=1, highlight=False, emoji=False)
    blocks: list[list[str | Text | Table]] = [[*heading], [table, *notes], [*footing]]
    for n, block in enumerate(filter(None, blocks)):
        for part in [""] * (n > 0) + block:
            console.print(part)


def fitted(sheet: Sheet, width: int) -> dict[int, int]:
    """Return which columns `width` has room for, and how wide they are.

    Columns that go first go from the left, others from the right, the firm ones last.
    """
    full, least = list[int](), list[int]()
    for column, title, *cells in zip(sheet.columns, sheet.titles, *sheet.rows, strict=True):
        longest = max(map(cell_len, cells), default=0)
        full.append(max(cell_len(title), longest))
        is_text = column.kind in ("name", "words")
        least.append(min(full[-1], _LEAST if is_text else max(_LEAST, longest)))

    def rank(i: int) -> tuple[bool, bool, int]:
        column = sheet.columns[i]
        return column.first_out, not column.firm, -i if column.first_out else i

    widths = dict(enumerate(least))
    while len(widths) > 1 and sum(widths.values()) + _GAP * (len(widths) - 1) > width:
        del widths[max([*widths][1:], key=rank)]
    while short := [i for i, room in widths.items() if room < full[i]]:
        room = width - sum(widths.values()) - _GAP * (len(widths) - 1)
        if room <= 0:
            break
        widths |= {i: widths[i] + 1 for i in short[:room]}
    return widths


def _labelled(line: str, width: int) -> list[Text]:
    """Return a line broken where the terminal ends; what follows stands below what is labelled."""
    from rich.text import Text

    label, gap, rest = line.partition("  ")
    indent = len(line) - len(rest.lstrip()) if gap else 0
    parts = [Text(part) for part in wrapped(line, width, min(indent, _INDENT))]
    if gap:
        parts[0].stylize(_LABELS.get(label, "bold"), 0, len(label))
    return parts


_ATOM = re.compile(r"(?<![\w.])\d{1,6}(?:[.,]\d{1,9})*(?!\w)|.")
"""A number alone, no part of an id; or a letter."""


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
    atoms = {text: _ATOM.findall(text) for text in texts}

    def cut(text: str) -> str:
        if cell_len(text) <= width:
            return text
        tail = _first(atoms[text][::-1], width - half - 1)[::-1]
        return f"{''.join(_first(atoms[text], half)).rstrip()}…{''.join(tail).lstrip()}"

    def difference(text: str, alike: list[str]) -> str:
        head = _first(atoms[text], half)
        shared = (commonprefix([atoms[text], atoms[other]]) for other in alike)  # noqa: RUF071
        start = max(map(len, shared))
        words = [i + 1 for i, atom in enumerate(atoms[text][:start]) if atom == " "]
        start = max([*words[-1:], start - 3, len(head)])
        first = "".join(head).rstrip()
        middle = _first(atoms[text][start:], width - cell_len(first) - 2)
        return f"{first}…{''.join(middle).rstrip()}…"

    cuts = {text: cut(text) for text in atoms}
    short = dict(cuts)
    for text, form in cuts.items():
        if alike := [other for other in atoms if other != text and cuts[other] == form]:
            short[text] = difference(text, alike)
    times = Counter(short.values())
    return [short[text] if times[short[text]] == 1 else text for text in texts]


def _first(atoms: Sequence[str], width: int) -> list[str]:
    """Return as many letters and numbers as `width` columns have room for."""
    ends = accumulate(map(cell_len, atoms))
    return [atom for atom, end in zip(atoms, ends, strict=True) if end <= width]


_TIED = re.compile(r" (?=[…×%])|(?<=[…×±]) |(?<=\d) (?=[a-z])")
_NO_BREAK = "\N{NO-BREAK SPACE}"
_PART = re.compile(r"\d[\d.,]*|[A-Z]?[a-z]+[(=/,_]?|.")
"""What a long word may end behind: a number, a word within it with its sign, or else a letter."""


def wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    """Return lines of at most `width` columns, all but the first indented.

    They end between words, but never within an interval or before a unit; a word that is wider
    than a line is broken.

    >>> wrapped("MAP@12 0.0502 (0.0409 … 0.0618), 12.9 × chance", 20, 2)
    ['MAP@12 0.0502', '  (0.0409 … 0.0618),', '  12.9 × chance']
    """
    width = max(width, indent + 4)
    lines = [""]
    for word in re.findall(r" *[^ ]+ *", _TIED.sub(_NO_BREAK, line.rstrip())):
        parts = [word]
        if cell_len(word.strip()) > width - indent:
            parts = [piece for p in _PART.findall(word) for piece in chop_cells(p, width - indent)]
        for part in parts:
            if lines[-1].strip() and cell_len(lines[-1] + part.rstrip()) > width:
                lines.append(" " * indent)
            lines[-1] += part
    return [line.rstrip().replace(_NO_BREAK, " ") for line in lines]


MISSING = "–"


def digits_of(values: Iterable[float]) -> int:
    """Return decimals enough to tell the smallest value from 0, at least 4 and at most 7.

    >>> digits_of([0.05, 0.0039]), digits_of([0.05, -0.00004]), digits_of([0])
    (4, 6, 4)
    """
    smallest = min((abs(value) for value in values if value != 0), default=1.0)
    digits = 4
    while digits < 7 and smallest < 20 * 10**-digits:
        digits += 1
    return digits


def number(value: float | None, digits: int, sign: Literal["", "+"] = "") -> str:
    """Return a number with so many decimals, and with its sign if you ask; nothing for None."""
    return "" if value is None else f"{value:{sign}.{digits}f}"


def ends(bounds: tuple[float, float] | None, digits: int) -> str:
    """Return an interval."""
    return "" if bounds is None else " … ".join(number(end, digits) for end in bounds)


def lift(times: float | None) -> str:
    """Return how many times chance a mean is; a dash where chance has a mean of 0.

    >>> lift(12.345), lift(12345.6), lift(None)
    ('12.3', '12,346', '–')
    """
    if times is None:
        return MISSING
    return f"{times:.1f}" if times < 1000 else f"{times:,.0f}"


def percent(share: float) -> str:
    """Return a share of 1 as per cent: whole above ten, else with a decimal.

    >>> percent(0.4079), percent(0.0005), percent(0.00004), percent(0), percent(0.9996)
    ('41 %', '0.1 %', '<0.1 %', '0 %', '>99.9 %')
    """
    if 0 < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    decimal = 0.0005 <= share < 0.0995 or 0.9905 <= share < 1
    return f"{share * 100:.{1 if decimal else 0}f} %"


def p_value(p: float | None) -> str:
    """Return a p value; below 0.0001 only that it is.

    >>> p_value(0.00002), p_value(0.04321), p_value(None)
    ('<0.0001', '0.0432', '–')
    """
    if p is None:
        return MISSING
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def low_high(bounds: tuple[float, float] | None, prefix: str = "") -> dict[str, float | None]:
    """Return an interval as two figures of a record, their names behind a prefix.

    >>> low_high((0.1, 0.3)), low_high(None, "MAP@12 ")
    ({'low': 0.1, 'high': 0.3}, {'MAP@12 low': None, 'MAP@12 high': None})
    """
    low, high = bounds or (None, None)
    return {f"{prefix}low": low, f"{prefix}high": high}


def as_csv(records: Sequence[Mapping[str, object]]) -> str:
    """Return a header and one line a record; all records have the keys of the first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(records[0] if records else [])
    writer.writerows([_cell(value) for value in record.values()] for record in records)
    return out.getvalue().rstrip("\n")


def _cell(value: object) -> str:
    """Return a value as CSV has it; text is no formula for a spreadsheet (CWE-1236)."""
    if not isinstance(value, str):
        return "" if value is None else repr(value)
    text = printable(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


SCHEMA = 1
"""The version of the JSON documents."""


def document(record: object) -> dict[str, Any]:
    """Return the JSON document of a record: a dict, a dataclass or a model of pydantic.

    What a model of pydantic was not given has no key.
    """
    from pydantic import TypeAdapter  # slow to import

    values = TypeAdapter(type(record)).dump_python(record, mode="json", exclude_unset=True)
    return {"schema": SCHEMA, **values}


def json_value(value: Any) -> Any:
    """Return a value of a config as JSON has it: dates and infinite numbers are text.

    >>> from datetime import date
    >>> json_value({"days": [7, float("inf")], "since": date(2020, 1, 2), "of": None})
    {'days': [7, 'inf'], 'since': '2020-01-02', 'of': None}
    """
    if isinstance(value, Mapping):
        return {str(name): json_value(element) for name, element in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(element) for element in value]
    plain = value is None or isinstance(value, int | str)
    return value if plain or (isinstance(value, float) and isfinite(value)) else str(value)


def as_json(document: object) -> str:
    """Return JSON; a number that is none is an error."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


class Shown(ABC):
    """A result with tables for readers and records for programs."""

    @abstractmethod
    def sheets(self) -> list[Sheet]:
        """Return the tables that are printed."""

    @abstractmethod
    def records(self) -> list[dict[str, object]]:
        """Return records with all digits, all of the same keys."""

    def content(self) -> object:
        """Return what JSON holds, its fields the keys: the result itself, if it is no other."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document as plain values; times under ``seconds`` alone may differ."""
        return document(self.content())

    def to_json(self) -> str:
        """Return the JSON document as text."""
        return as_json(self.to_dict())

    def to_pandas(self) -> pd.DataFrame:
        """Return the records as a frame, one row each."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        return "\n\n".join(map(markdown, self.sheets()))

    def to_latex(self) -> str:
        """Return the tables in LaTeX, with the rules of the package booktabs."""
        return "\n\n".join(map(latex, self.sheets()))

    def __repr__(self) -> str:
        return "\n\n".join(map(plain, self.sheets()))

    def _repr_html_(self) -> str:
        """Return the tables as a notebook shows them."""
        return "\n".join(map(html, self.sheets()))
