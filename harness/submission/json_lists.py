"""Lists and true items in JSON, read a few megabytes at a time: a table of texts comes out.

An object a line (or one behind another, or an array of them) is a row, its fields are columns. One
object for all, `{user: items}`, has a row for each of its keys. Items are a list, a text, pairs or
objects with a score each (the best first), or an object of scores. Nothing is evaluated, numbers
are the text that stands there, and a key that stands twice is refused.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import polars as pl

from harness.core.arrays import Int64
from harness.core.column_names import column_of, has_role
from harness.core.errors import printable
from harness.delimited.stream import Refused

LONGEST = 1 << 24
"""Letters of a row: one object, or the items of a user."""
_SIZE = 1 << 22
_MARGIN = 64
"""Letters at the end of a text that may be the beginning of something."""
_SPACE = re.compile(r"[ \t\r\n]*")
_HALF = re.compile("[\ud800-\udfff]")
_FIRST = 1 << 18
_UNIT = "\x1f"
_SHOWN = 40
_NESTED = {list, dict}
_PANDAS = 'pandas to_json(…, orient="records", lines=True)'
_FORMS = {
    "lists": "a list of items",
    "scores": "an object of scores by item",
    "pairs": "pairs of an item and a number",
    "objects": "a list of objects",
}
_Row: TypeAlias = tuple[int, dict[str, Any]]
"""A row, and its line, from 1."""


@dataclass(frozen=True, eq=False)
class JsonTable:
    """What a file holds: its columns, texts or lists of texts, and its rows with their lines."""

    kinds: dict[str, pl.DataType]
    frames: Iterator[tuple[pl.DataFrame, Int64]]
    lines: list[Int64] = field(default_factory=list)

    def batches(self, columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        """Yield some columns; what is wrong is told as of any frame (`Rows`)."""
        for frame, lines in self.frames:
            self.lines.append(lines)
            yield frame.select(columns)

    def line_of(self, row: int) -> int:
        """Return the line of a row that was read, both from 1."""
        for lines in self.lines:
            if row <= len(lines):
                return int(lines[row - 1])
            row -= len(lines)
        return 1


def table(
    stream: BinaryIO, user: str | None = None, items: str | None = None, *, truth: bool = False
) -> JsonTable:
    """Return the rows of a file, of true items if `truth` says so: these have grades, and no ranks.

    `user` and `items` are what the columns of one object for all users are called, which has no
    names of its own. Refused, also while rows are read: what is no JSON, or holds something else.
    """
    names = user or "user", items or "items"
    frames = _frames(_records(text := _Text(stream), names), text, _Columns(truth))
    first = next(frames, None)
    if first is None:
        return JsonTable(dict.fromkeys(names, pl.String()), iter(()))
    return JsonTable(dict(first[0].schema), chain([first], frames))


class _Text:
    """A stream of JSON, held from what is read next: on which `line`, behind `taken` letters."""

    def __init__(self, stream: BinaryIO) -> None:
        self.line, self.taken = 1, 0
        self._stream, self._text, self._next, self._ended = stream, "", 0, False
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_object, parse_int=str, parse_float=str, parse_constant=str
        )
        self._more()

    def peek(self) -> str:
        """Return the next letter that is no space; nothing at the end."""
        while True:
            self._take(_SPACE.match(self._text, self._next).end())  # type: ignore[union-attr]
            if self._next < len(self._text):
                return self._text[self._next]
            if not self._more():
                return ""

    def take(self, letters: str) -> str:
        """Read one of some letters."""
        letter = self.peek()
        if not letter or letter not in letters:
            raise _refused(self.line, f"found {self.near()}, expected {' or '.join(letters)}")
        self._take(self._next + 1)
        return letter

    def value(self) -> Any:
        """Read a value."""
        self.peek()
        while True:
            try:
                value, stop = self._decoder.raw_decode(self._text, self._next)
            except json.JSONDecodeError as error:
                cut = error.pos + _MARGIN > len(self._text) or "Unterminated" in error.msg
                if cut and self._more_of_value():
                    continue
                self._take(error.pos)
                raise _refused(self.line, f"{error.msg.lower()}, found {self.near()}") from error
            except RecursionError as error:
                raise _refused(self.line, "lists and objects are nested too deeply") from error
            except ValueError as error:  # of `_object`
                raise _refused(self.line, str(error)) from error
            if stop < len(self._text) or not self._more_of_value():  # a number may go on
                self._take(stop)
                return value

    def begins_with_row(self) -> bool:
        """Return whether the first object is a row, and not one of all users; nothing is read."""
        try:
            value, stop = json.JSONDecoder(parse_int=str).raw_decode(self._text, self._next)
        except RecursionError:  # refused when it is read
            return False
        except json.JSONDecodeError:  # a longer one is one of all users
            return len(self._text) < _SIZE and self._more() and self.begins_with_row()
        nested = [isinstance(held, list | dict) for held in value.values() if held is not None]
        if any(nested):
            return not all(nested)
        alone = not self._text[stop:].strip() and not self._more()
        return not alone or column_of("user", value) is not None

    def near(self) -> str:
        """Return what is read next, cut."""
        rest = self._text[self._next : self._next + _SHOWN].partition("\n")[0]
        return rest or "the end of the file"

    def _take(self, stop: int) -> None:
        self.line += self._text.count("\n", self._next, stop)
        self.taken += stop - self._next
        self._next = stop

    def _more_of_value(self) -> bool:
        if len(self._text) - self._next > LONGEST:
            raise _refused(self.line, f"a row is longer than {LONGEST:,} letters")
        return self._more()

    def _more(self) -> bool:
        """Hold more of the stream; return whether there was more."""
        if self._ended:
            return False
        data = self._stream.read(_SIZE if self._text else _FIRST)
        self._ended = not data
        try:
            more = self._bytes.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            self._take(len(self._text))
            self.line += error.object.count(b"\n", 0, error.start)
            byte = f"0x{error.object[error.start]:02X}"
            raise _refused(self.line, f"the byte {byte} is no UTF-8") from error
        self._text, self._next = self._text[self._next :] + more, 0
        return bool(data)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys stand there once each."""
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise ValueError(f'the key "{twice[:_SHOWN]}" is there twice')
    return held


def _records(text: _Text, names: tuple[str, str]) -> Iterator[_Row]:
    """Yield each row with its line."""
    begin = text.peek()
    if begin == "[":
        text.take("[")
        yield from _objects(text, "]")
        text.take("]")
    elif begin == "{" and not text.begins_with_row():
        yield from _users(text, names)
    else:
        yield from _objects(text, "")
    if text.peek():
        raise _refused(text.line, f"found {text.near()} after the end of all rows")


def _objects(text: _Text, end: str) -> Iterator[_Row]:
    """Yield rows that are objects, between commas where they stand in an array."""
    while text.peek() not in ("", end):
        line, row = text.line, text.value()
        if not isinstance(row, dict):
            raise _refused(line, f"found {_shown(row)}, expected an object")
        yield line, row
        if end and text.peek() != end:
            text.take(",")


def _users(text: _Text, names: tuple[str, str]) -> Iterator[_Row]:
    """Yield the users of one object, and their items, as rows.

    A user who stands there again is refused: JSON's readers keep one of the two.
    """
    text.take("{")
    users = set[str]()
    while text.peek() != "}":
        line = text.line
        user = text.value()
        if not isinstance(user, str):
            raise _refused(text.line, f"found {_shown(user)}, expected a user's id in quotes")
        text.take(":")
        items = text.value()
        if text.peek() != "}":
            text.take(",}")
        if user in users:
            raise _refused(line, f'the key "{user[:_SHOWN]}" is there twice')
        users.add(user)
        if len(users) == 2 and all(map(_is_column, users)):
            raise _refused(line, "found columns; write rows: " + _PANDAS)
        yield line, dict(zip(names, (user, items), strict=True))
    text.take("}")


def _is_column(name: str) -> bool:
    return name in ("columns", "index", "data") or has_role(name, ("user", "item", "list"))


def _refused(line: int, value: str) -> Refused:
    return Refused("json", printable(value), line)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]


def _frames(
    records: Iterator[_Row], text: _Text, columns: _Columns
) -> Iterator[tuple[pl.DataFrame, Int64]]:
    """Yield rows of a text as frames, some megabytes at a time."""
    rows, begin = list[_Row](), 0
    for row in records:
        rows.append(row)
        if text.taken - begin >= (_SIZE if begin else _FIRST):
            yield columns.frame(rows)
            rows, begin = [], text.taken
    if rows:
        yield columns.frame(rows)


class _Columns:
    """Makes frames of rows. The first of them say which columns there are, and how items stand.

    Items with numbers have a row each; those of `truth` have grades, and no ranks.
    """

    def __init__(self, truth: bool) -> None:
        self._number, self._ranked = ("grade", False) if truth else ("score", True)
        self._names: list[str] = []
        self._items, self._form, self._fields = "", "", list[str]()

    def frame(self, numbered: list[_Row]) -> tuple[pl.DataFrame, Int64]:
        """Return rows as columns, a row an item where items have numbers, and their lines."""
        lines, rows = [line for line, _ in numbered], [row for _, row in numbered]
        try:
            return self._frame(rows, lines)
        except UnicodeEncodeError as error:
            halves = (_HALF.search(json.dumps(row, ensure_ascii=False)) for row in rows)
            line = next(line for line, half in zip(lines, halves, strict=False) if half)
            raise _refused(line, "half a character (\\uD800 to \\uDFFF, no pair)") from error

    def _frame(self, rows: list[dict[str, Any]], lines: list[int]) -> tuple[pl.DataFrame, Int64]:
        if not self._names:
            self._names = list(dict.fromkeys(chain.from_iterable(rows)))
            self._find_items(rows, lines[0])
        _refuse_more(rows, lines, self._names)
        numbers = np.array(lines, np.int64)
        columns = {name: _cells(name, rows) for name in self._names if name != self._items}
        if not self._items:
            return pl.DataFrame(columns), numbers
        held = (row.get(self._items) for row in rows)
        lists = [self._list(items, line) for items, line in zip(held, lines, strict=True)]
        if self._form == "lists":
            columns[self._items] = _column(self._items, lists)
            return pl.DataFrame(columns).select(self._names), numbers
        sizes, items = list(map(len, lists)), list(chain.from_iterable(lists))
        whole = pl.DataFrame(columns)[np.repeat(np.arange(len(rows)), sizes)]
        cells = [_cells(field, items) for field in self._fields]
        return whole.hstack(cells), np.repeat(numbers, sizes)

    def _find_items(self, rows: list[dict[str, Any]], line: int) -> None:
        """Find the column that holds lists or objects, what these hold, and its columns."""
        nested = [n for n in self._names if any(isinstance(r.get(n), list | dict) for r in rows)]
        if not nested:
            return
        named = column_of("list", nested) or column_of("item", nested)
        if len(nested) > 1 and named is None:
            raise _refused(line, f"several keys hold lists: {', '.join(nested)}")
        self._items = named or nested[0]
        held: Any = next((row[self._items] for row in rows if row.get(self._items)), [])
        element = next((e for e in held if e is not None), None)
        self._form, self._fields = "lists", [self._items, self._number]
        if isinstance(held, dict):
            self._form = "scores"
        elif isinstance(element, list):
            self._form = "pairs"
        elif isinstance(element, dict):
            self._form, self._fields = "objects", list(element)
        else:
            return
        self._ranked &= self._form != "scores" and "rank" not in self._fields
        self._fields += ["rank"] * self._ranked
        for name in self._names:
            if name != self._items and name in self._fields:
                raise _refused(line, f'"{name}" is both a field of the user and of the items')

    def _list(self, held: Any, line: int) -> list[Any]:
        """Return the items of a row: texts, or an object for each, which is empty for none."""
        if held in (None, [], {}):
            return [] if self._form == "lists" else [{}]
        match self._form, held:
            case "lists", list() if not _NESTED.intersection(map(type, held)):
                return _texts(held)
            case "scores", dict() if not _NESTED.intersection(map(type, held.values())):
                objects = [dict(zip(self._fields, pair, strict=True)) for pair in held.items()]
            case "pairs", list() if all(isinstance(pair, list) and len(pair) == 2 for pair in held):
                objects = [dict(zip(self._fields, pair, strict=False)) for pair in held]
            case "objects", list() if all(isinstance(entry, dict) for entry in held):
                _refuse_more(held, [line] * len(held), self._fields)
                objects = held
            case _:
                forms = _FORMS[self._form]
                raise _refused(line, f"found {_shown(held)}, expected {forms}, as above")
        if self._ranked:
            return [{**entry, "rank": str(rank)} for rank, entry in enumerate(objects, 1)]
        return objects


def _refuse_more(rows: list[dict[str, Any]], lines: list[int], names: Sequence[str]) -> None:
    """Raise Refused where a row has keys that none of the first rows had."""
    if set(chain.from_iterable(rows)) <= set(names):
        return
    for row, line in zip(rows, lines, strict=True):
        for name in [name for name in row if name not in names]:
            raise _refused(line, f'the key "{name[:_SHOWN]}" is in none of the first rows')


def _cells(name: str, rows: Iterable[dict[str, Any]]) -> pl.Series:
    """Return the values of a key as texts."""
    return pl.Series(name, _texts([row.get(name) for row in rows]), dtype=pl.String)


def _column(name: str, lists: list[list[str | None]]) -> pl.Series:
    """Return lists as a column; Polars makes it faster of texts that it cuts."""
    sizes = pl.Series(list(map(len, lists)), dtype=pl.UInt32)
    try:
        texts = pl.Series(name, [_UNIT.join(items) for items in lists])  # type: ignore[arg-type]
    except TypeError:  # a missing item
        return pl.Series(name, lists, dtype=pl.List(pl.String))
    column = texts.str.split(_UNIT)
    if not (column.list.len() == sizes.clip(1)).all():  # an item holds what parts them
        return pl.Series(name, lists, dtype=pl.List(pl.String))
    frame = pl.DataFrame([column, sizes.alias("\0size")])
    return frame.select(pl.col(name).list.head("\0size")).to_series()


def _texts(values: Iterable[Any]) -> list[str | None]:
    """Return values as texts: numbers are texts already."""
    return [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
