"""JSON lines: an object a line, whose fields are columns, or hold lists of events.

Polars reads them, some megabytes at once. What it refuses, or what holds other values than a column
of ids has, is read line by line, so that a fault is told with its line.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl

from harness.core.errors import DataError
from harness.core.frames import UNREADABLE
from harness.data.layout import Table
from harness.data.source import Source, Wanted
from harness.data.sources.header import opened_text
from harness.data.sources.lists import in_rows, kinds_of
from harness.data.to_events import Rows
from harness.delimited.blocks import Reader

SUFFIXES = (".jsonl", ".ndjson", ".json")
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_IN_LIST, _NO_TEXT = rb"\[[^\]]*?", rb"(?:-?[0-9]+[.eE]|[\[{])"
"""Before an element of a list, and how floats and nested values begin."""
_SHOWN = 60


def json_source(table: Table, shown: Path) -> Source:
    """Return a file of JSON lines, plain or packed."""
    first = next(_chunks(table, shown), None)
    if first is None:
        raise DataError(f"{shown}: the file is empty; expected one object per line")
    if first.lstrip().startswith(b"["):
        raise DataError(
            f"{shown}: line 1 starts a JSON array; write one object per line, without the "
            "brackets of the array"
        )
    fields = _Reader(shown, table.rows).read(first, 0).frame.schema
    kinds = kinds_of(shown, fields, table.rows)
    fields_read = {name for name in kinds if name in fields}
    rows = partial(_rows, table, shown, fields_read)
    # What is a number in the first lines may be text in others.
    kinds = {name: kind if kind.is_nested() else pl.String() for name, kind in kinds.items()}
    return Source(table, shown, list(kinds), rows, kinds, place="line {}".format)


def _chunks(table: Table, shown: Path) -> Iterator[bytes]:
    """Yield whole lines, each with its end."""
    with opened_text(shown, table) as stream:
        mark = codecs.BOM_UTF8
        for block in Reader(stream, b",", quote=False).blocks():
            yield block.buffer[: block.size].tobytes().removeprefix(mark)
            mark = b""


def _rows(table: Table, shown: Path, fields: set[str], wanted: Wanted) -> Iterator[Rows]:
    """Yield the rows; those of one chunk may have other types than those of the next."""
    read = fields.intersection(wanted.every).union(table.rows)
    reader = _Reader(shown, table.rows, frozenset(read), wanted.ids, wanted.compared)
    before = 0
    for chunk in _chunks(table, shown):
        rows = reader.read(chunk, before)
        for some in in_rows(rows, table.rows, f"{shown}: line") if table.rows else [rows]:
            absent = [name for name in wanted.every if name not in some.frame.columns]
            missing = [pl.lit(None, pl.String).alias(name) for name in absent]
            frame = some.frame.with_columns(missing).select(wanted.every)
            yield Rows(frame, some.lines, bytes=len(chunk))
        before += chunk.count(b"\n")


@dataclass(frozen=True)
class _Reader:
    """Reads chunks, whose `lists` stay lists: the fields that are wanted, or all."""

    shown: Path
    lists: Sequence[str]
    wanted: frozenset[str] | None = None
    ids: Sequence[str] = ()
    compared: Sequence[str] = ()

    def read(self, chunk: bytes, before: int) -> Rows:
        """Return the lines of a chunk, of which so many stand before it."""
        lines = chunk.count(b"\n")
        if _ESCAPED_SURROGATE.search(chunk):  # of which Polars leaves out those that are no pair
            return self._by_line(chunk, before)
        try:
            frame = pl.read_ndjson(chunk, infer_schema_length=None)
        except UNREADABLE:
            return self._by_line(chunk, before)
        odd = (self._is_odd(chunk, name, kind) for name, kind in frame.schema.items())
        if frame.height != lines or any(odd):
            return self._by_line(chunk, before)
        if self.wanted is not None:
            absent = [n for n in self.lists if frame.schema.get(n, pl.Null()) == pl.Null]
            no_lists = [pl.lit(None, pl.List(pl.String)).alias(name) for name in absent]
            kept = [name for name in frame.columns if name in self.wanted]
            frame = frame.select(kept).with_columns(no_lists)
        return Rows(frame, np.arange(before + 1, before + 1 + lines))

    def _is_odd(self, chunk: bytes, name: str, kind: Any) -> bool:
        """Return whether a column has to be looked at by line: Polars makes text of floats."""
        between = rb"\s*:\s*"
        if name in self.lists and kind != pl.Null:
            if not isinstance(kind, pl.List):
                return True
            if isinstance(kind.inner, pl.Struct):
                return any(self._is_odd(chunk, f.name, f.dtype) for f in kind.inner.fields)
            kind, between = kind.inner, between + _IN_LIST
        if name not in self.compared or kind != pl.String:
            return name in self.compared and bool(kind.is_float() or kind.is_nested())
        field = re.escape(json.dumps(name).encode())
        return re.search(field + between + _NO_TEXT, chunk) is not None

    def _by_line(self, chunk: bytes, before: int) -> Rows:
        """Return the same, all values as text, and raise what is wrong first."""
        texts = enumerate(chunk.split(b"\n")[:-1], before + 1)
        objects = {line: self._object(line, text) for line, text in texts if text.strip()}
        every = list(dict.fromkeys(name for row in objects.values() for name in row))
        columns = {}
        for name in every if self.wanted is None else sorted(self.wanted):
            values = {line: row.get(name) for line, row in objects.items()}
            if name in self.lists:
                columns[name] = self._list_column(name, values)
            else:
                column = [self._text(name, value, line) for line, value in values.items()]
                columns[name] = pl.Series(name, column, dtype=pl.String)
        return Rows(pl.DataFrame(columns), np.array(list(objects), np.int64))

    def _object(self, line: int, text: bytes) -> dict[str, Any]:
        try:
            value = json.loads(text, object_pairs_hook=_first_of_each)
        except UnicodeDecodeError as error:
            raise DataError(f"{self.shown}: line {line} is not UTF-8 text") from error
        except json.JSONDecodeError as error:
            why = f"{error.msg} at character {error.pos + 1}"
            self._fail(line, f" is not JSON: {why}; expected one object per line", text)
        except (ValueError, RecursionError):
            self._fail(line, " is JSON that cannot be read; expected one object per line", text)
        if not isinstance(value, dict):
            self._fail(line, " is not a JSON object; expected one per line", text)
        if _ESCAPED_SURROGATE.search(text) and _SURROGATE.search(
            json.dumps(value, ensure_ascii=False)
        ):
            self._fail(
                line, " holds half a character (\\uD800 to \\uDFFF, no pair); write it whole", text
            )
        return value

    def _fail(self, line: int, says: str, text: bytes) -> NoReturn:
        shown = text[:_SHOWN].decode("utf-8", "replace").strip() + "…" * (len(text) > _SHOWN)
        raise DataError(f"{self.shown}: line {line}{says}; found {shown!r}") from None

    def _list_column(self, name: str, values: dict[int, Any]) -> pl.Series:
        """Return a column of lists: of records where any element is one, else of texts."""
        fields: dict[str, None] = {}
        for line, value in values.items():
            if value is not None and not isinstance(value, list):
                self._refuse(line, name, value, "expected a list")
            fields |= dict.fromkeys(f for e in value or () if isinstance(e, dict) for f in e)

        def element(value: Any, line: int) -> Any:
            if not fields:
                return self._text(name, value, line)
            if not isinstance(value, dict):
                self._refuse(line, name, value, "expected objects, as in other rows")
            return {field: self._text(field, value.get(field), line) for field in fields}

        kind = pl.Struct(dict.fromkeys(fields, pl.String())) if fields else pl.String()
        rows = [
            None if value is None else [element(each, line) for each in value]
            for line, value in values.items()
        ]
        return pl.Series(name, rows, dtype=pl.List(kind))

    def _refuse(self, line: int, name: str, value: Any, says: str) -> NoReturn:
        text = json.dumps(value)[:_SHOWN]
        raise DataError(f'{self.shown}: line {line}, column "{name}": found {text}, {says}')

    def _text(self, name: str, value: Any, line: int) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if name in self.ids and isinstance(value, (float, list, dict)):
            self._refuse(line, name, value, "which cannot tell ids apart; write ids as text")
        return json.dumps(value)


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object that may have a key twice; Polars takes the first too."""
    return dict(reversed(pairs)) if len({key for key, _ in pairs}) < len(pairs) else dict(pairs)
