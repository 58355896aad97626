"""JSON lines: an object a line, whose fields are columns, or hold lists of events.

Polars reads them, some megabytes at once. What it refuses, or what holds other values than a column
of ids has, is read line by line, so that a fault is told with its line.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import polars as pl

from harness.core.arrays import UInt64
from harness.core.errors import DataError
from harness.core.frames import UNREADABLE
from harness.core.io import PACKED
from harness.data.frame_source import FrameSource, constants, refuse_known
from harness.data.layout import EventTable, Table
from harness.data.lists import UnequalError, in_rows, kinds_of
from harness.data.naming import Part
from harness.data.source import Batch, FieldRule, Piece
from harness.data.text_header import opened_text
from harness.delimited.blocks import LONGEST

SUFFIXES = (".jsonl", ".ndjson", ".json")
SIZE = 1 << 22
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_IN_LIST, _NO_TEXT = rb"\[[^\]]*?", rb"(?:-?[0-9]+[.eE]|[\[{])"
"""Before an element of a list, and how floats and nested values begin."""
_NONE: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
_SHOWN = 60
_PACKED = 5
"""How often longer a packed file is than what it is packed in, about."""


class JsonLinesSource(FrameSource):
    """A file of JSON lines, plain or packed.

    Raises
    ------
    DataError
        A file that cannot be read or is empty, or whose first lines are no objects.
    """

    header = ""

    def __init__(self, table: Table, part: Part) -> None:
        self.table, self.shown, self.partition = table, part.path, part.partition
        self.rows, self._ids, self._exact = table.rows, *_NONE
        first = next(self._chunks(), None)
        if first is None:
            raise DataError(f"{self.shown}: the file is empty; expected one object per line")
        if first.lstrip().startswith(b"["):
            raise DataError(
                f"{self.shown}: line 1 starts a JSON array; write one object per line, without "
                "the brackets of the array"
            )
        own = self._read(first, 0, None).frame.schema
        try:
            kinds = kinds_of(own, self.rows)
        except ValueError as error:
            raise DataError(f"{self.shown}: [data] rows: {error}") from error
        self._in_lists = {name for name in kinds if name not in own} | {*self.rows}
        refuse_known(self.shown, list(kinds), self.partition)
        said = {column: pl.String() for column, _ in self.partition}
        self.kinds = {**kinds, **said}
        self.names = list(self.kinds)

    def _hint(self, name: str, columns: tuple[str, ...]) -> str:
        return self._nearest(name)

    def about(self) -> int:
        """Return how many rows there are, by the length of the first lines."""
        for chunk in self._chunks():
            rows = sum(piece.frame.height for piece in self._pieces(chunk, 0, self.names))
            packed = _PACKED if self.shown.suffix in PACKED else 1
            return rows * packed * self.shown.stat().st_size // len(chunk)
        return 0

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows, with some of the columns."""
        before = 0
        for chunk in self._chunks():
            yield from self._pieces(chunk, before, columns)
            before += chunk.count(b"\n")

    def kinds_in(self, piece: Piece) -> dict[str, pl.DataType]:
        """Return what the columns of a piece hold, which another may hold otherwise."""
        return dict(piece.frame.schema)

    def _chunks(self) -> Iterator[bytes]:
        """Yield whole lines, each with its end."""
        with opened_text(self.shown, self.table) as stream:
            held, begins = b"", True
            while more := stream.read(SIZE):
                if begins:
                    more, begins = more.removeprefix(codecs.BOM_UTF8), False
                whole, end, rest = more.rpartition(b"\n")
                if end:
                    yield held + whole + end
                    held = rest
                else:
                    held += rest
                if len(held) > LONGEST:
                    raise DataError(
                        f"{self.shown}: a line is longer than {LONGEST:,} bytes; check the line "
                        "ends"
                    )
            if held:
                yield held + b"\n"

    def _pieces(self, chunk: bytes, before: int, columns: Sequence[str]) -> Iterator[Piece]:
        own = {name for name in columns if name not in self._in_lists} | {*self.rows}
        said = constants(self.partition, columns)
        for piece in self._in_rows(chunk, before, own - {column for column, _ in self.partition}):
            missing = [
                pl.lit(None, pl.String).alias(name)
                for name in columns
                if name not in piece.frame.columns
            ]
            frame = piece.frame.with_columns(missing).with_columns(said)
            yield Piece(frame.select(columns), piece.places)

    def _in_rows(self, chunk: bytes, before: int, own: set[str]) -> Iterator[Piece]:
        if not self.rows:
            yield self._read(chunk, before, own)
            return
        piece = self._read(chunk, before, own)
        try:
            yield from in_rows(piece, self.rows)
        except UnequalError as error:
            line = before + 1 + error.row if piece.places is None else piece.places[error.row]
            raise DataError(f"{self.shown}: line {line}: {error}") from error

    def _read(self, chunk: bytes, before: int, wanted: set[str] | None) -> Piece:
        """Return the lines of a chunk as rows; lists are lists, and None wants all fields."""
        lines = chunk.count(b"\n")
        if _ESCAPED_SURROGATE.search(chunk):  # of which Polars leaves out those that are no pair
            return self._by_line(chunk, before, wanted)
        try:
            frame = pl.read_ndjson(chunk, infer_schema_length=None)
        except UNREADABLE:
            return self._by_line(chunk, before, wanted)
        odd = (self._is_odd(chunk, name, kind) for name, kind in frame.schema.items())
        if frame.height != lines or any(odd):
            return self._by_line(chunk, before, wanted)
        own = frame.columns if wanted is None else [n for n in frame.columns if n in wanted]
        places = np.arange(before + 1, before + 1 + lines)
        absent = [name for name in self.rows if frame.schema.get(name, pl.Null()) == pl.Null]
        no_lists = [pl.lit(None, pl.List(pl.String)).alias(name) for name in absent]
        frame = frame.select(own).with_columns([] if wanted is None else no_lists)
        return Piece(frame, places)

    def _is_odd(self, chunk: bytes, name: str, kind: Any) -> bool:
        """Return whether a column has to be looked at by line."""
        if name not in self.rows:
            return self._is_inexact(chunk, name, kind)
        if kind == pl.Null:
            return False
        if not isinstance(kind, pl.List):
            return True
        if isinstance(kind.inner, pl.Struct):
            return any(self._is_inexact(chunk, f.name, f.dtype) for f in kind.inner.fields)
        return self._is_inexact(chunk, name, kind.inner)

    def _is_inexact(self, chunk: bytes, name: str, kind: Any) -> bool:
        """Return whether ids may have been something else: Polars makes text of floats among it."""
        if name not in self._exact:
            return False
        if kind != pl.String:
            return bool(kind.is_float() or kind.is_nested())
        between = rb"\s*:\s*" + (_IN_LIST if name in self.rows else b"")
        found = re.search(re.escape(json.dumps(name).encode()) + between + _NO_TEXT, chunk)
        return found is not None

    def _by_line(self, chunk: bytes, before: int, wanted: set[str] | None) -> Piece:
        """Return the same, all values as text, and raise what is wrong first."""
        rows, places = [], []
        for line, text in enumerate(chunk.split(b"\n")[:-1], before + 1):
            if text.strip():
                rows.append(self._object(line, text))
                places.append(line)
        every = list(dict.fromkeys(name for row in rows for name in row))
        own = every if wanted is None else sorted(wanted)
        columns = {}
        for name in own:
            values = [row.get(name) for row in rows]
            if name in self.rows:
                columns[name] = self._lists(name, values, places)
            else:
                kept = [self._text(name, v, line) for v, line in zip(values, places, strict=True)]
                columns[name] = pl.Series(name, kept, dtype=pl.String)
        return Piece(pl.DataFrame(columns), np.array(places, np.int64))

    def _object(self, line: int, text: bytes) -> dict[str, Any]:
        try:
            found = json.loads(text, object_pairs_hook=_first_of_each)
        except UnicodeDecodeError as error:
            raise DataError(f"{self.shown}: line {line} is not UTF-8 text") from error
        except json.JSONDecodeError as error:
            why = f"{error.msg} at character {error.pos + 1}"
            self._fail(line, f" is not JSON: {why}; expected one object per line", text)
        except (ValueError, RecursionError):
            self._fail(line, " is JSON that cannot be read; expected one object per line", text)
        if not isinstance(found, dict):
            self._fail(line, " is not a JSON object; expected one per line", text)
        if _ESCAPED_SURROGATE.search(text) and _SURROGATE.search(
            json.dumps(found, ensure_ascii=False)
        ):
            self._fail(
                line, " holds half a character (\\uD800 to \\uDFFF, no pair); write it whole", text
            )
        return found

    def _fail(self, line: int, says: str, text: bytes) -> NoReturn:
        shown = text[:_SHOWN].decode("utf-8", "replace").strip() + "…" * (len(text) > _SHOWN)
        raise DataError(f"{self.shown}: line {line}{says}; found {shown!r}") from None

    def _lists(self, name: str, values: Sequence[Any], places: Sequence[int]) -> pl.Series:
        found: list[Any] = []
        fields: dict[str, None] = {}
        for value, line in zip(values, places, strict=True):
            if value is not None and not isinstance(value, list):
                self._refuse(line, name, value, "expected a list")
            found.append(value)
            fields |= dict.fromkeys(f for e in value or () if isinstance(e, dict) for f in e)
        kind = pl.Struct(dict.fromkeys(fields, pl.String())) if fields else pl.String()
        rows = [
            None
            if value is None
            else [self._element(name, element, fields, line) for element in value]
            for value, line in zip(found, places, strict=True)
        ]
        return pl.Series(name, rows, dtype=pl.List(kind))

    def _element(self, name: str, value: Any, fields: Iterable[str], line: int) -> Any:
        if not fields:
            return self._text(name, value, line)
        if not isinstance(value, dict):
            self._refuse(line, name, value, "expected objects, as in other rows")
        return {field: self._text(field, value.get(field), line) for field in fields}

    def _refuse(self, line: int, name: str, value: Any, says: str) -> NoReturn:
        found = json.dumps(value)[:_SHOWN]
        raise DataError(f'{self.shown}: line {line}, column "{name}": found {found}, {says}')

    def _text(self, name: str, value: Any, line: int) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if name in self._ids and isinstance(value, (float, list, dict)):
            self._refuse(line, name, value, "which cannot tell ids apart; write ids as text")
        return json.dumps(value)

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text; see `Source.texts`."""
        self._ids = tuple(rule.column for rule in rules if rule.holds_ids)
        self._exact = tuple(columns)  # each as it is written, whatever others there are
        return super().texts(columns, rules)

    def events(self, table: EventTable, secret: UInt64) -> Iterator[Batch]:
        """Yield the rows as events; see `FrameSource.events`."""
        self._ids = (table.user, table.item)
        compared = [one.column for one in table.where if one.among or one.without]
        texts = (*self._ids, table.kind, *compared)
        self._exact = tuple(column for column in texts if column is not None)
        return super().events(table, secret)


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object that may have a key twice; Polars takes the first too."""
    return dict(reversed(pairs)) if len({key for key, _ in pairs}) < len(pairs) else dict(pairs)
