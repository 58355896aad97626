"""What readers of Polars' frames share: its errors, columns by name, and how long rows are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from polars.selectors import by_name

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What reading a damaged file raises."""
_NUMBER = 8
"""Bytes that a number counts as, whatever it is as text."""


def column_of(name: str) -> pl.Expr:
    """Return a column by its name, also if that would be a pattern to Polars."""
    return by_name(name).as_expr()


def bytes_of(kinds: Mapping[str, Any]) -> pl.Expr:
    """Return the bytes of a row's cells as text, each with a separator; a number counts as 8.

    A small file may hold a long text in every row, so this is asked before texts are made.
    """
    cells = (_cell(name, kind) for name, kind in kinds.items())
    return pl.sum_horizontal([pl.lit(0, pl.Int64), *cells])


def _cell(name: str, kind: Any) -> pl.Expr:
    if not isinstance(kind, pl.List | pl.Array):
        return _length(column_of(name), kind) + 1
    items = column_of(name).cast(pl.List(kind.inner))
    return items.list.eval(_length(pl.element(), kind.inner) + 1).list.sum().fill_null(0) + 1


def _length(column: pl.Expr, kind: Any) -> pl.Expr:
    if kind == pl.Binary:  # which need not be text
        return column.bin.size().cast(pl.Int64).fill_null(0)
    text = column.cast(pl.String).str.len_bytes().cast(pl.Int64)
    return column.is_not_null().cast(pl.Int64) * _NUMBER if kind.is_numeric() else text.fill_null(0)
