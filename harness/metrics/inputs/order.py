"""Numbers beside the items that may be meant to order the rows, and that nobody named."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from harness.core.column_names import divides, has_role, is_called, order_of
from harness.core.errors import UsageError, printable
from harness.data.conditions import BOOLEANS
from harness.metrics.inputs.cells import number_text
from harness.metrics.inputs.frame import Table, as_polars, type_of

if TYPE_CHECKING:
    from harness.metrics.inputs.frame import Frame

CALLER = 4
"""How far up the person's own line is, for warnings."""
_NAMED = 5
"""How many columns a message names; a table of features may have hundreds."""


def check_order(table: Table) -> None:
    """Refuse, or warn of, numbers that nobody named in a long frame whose row order counts."""
    if table.frame is None or table.wide or "number" in table.names:
        return
    further = [name for name in table.frame.columns if name not in table.names.values()]
    names = [name for name in further if order_of(name) and _holds_numbers(_column(table, name))]
    if names:
        ways = " or ".join(f"{order_of(name)}={_quoted(name)}" for name in names[:_NAMED])
        text = [_quoted(n) for n in names if type_of(table.frame.get_column(n)) == "String"]
        before = f" ({text[0]} holds text: make it numbers first)" if text else ""
        raise UsageError(
            f"{table.role}: {_columns(names)} numbers, and these may be scores or ranks; give "
            f"{ways}{before}, or score=False to use the order of rows"
        )
    numeric = [name for name in further if table.frame.get_column(name).dtype.is_numeric()]
    if numeric:
        first = _quoted(numeric[0])
        warnings.warn(
            f"{table.role}: {_columns(numeric)} numbers, but the order of rows counts; if a "
            f"column orders them, name it, as in score={first} (highest first) or rank={first} "
            "(1 first); score=False confirms the order of rows",
            stacklevel=CALLER,
        )


def refuse_models(table: Table) -> None:
    """Raise UsageError where a further column tells several lists of one user apart."""
    if table.frame is None or table.wide or table.meaning == "rank":  # no rank stands twice
        return
    user = table.names["user"]
    for name in _called(table.frame, table, ("model",)):
        rows = as_polars(table.frame.select(user, name), table.role)
        if rows.n_unique() > rows[user].n_unique():
            raise UsageError(
                f"{table.role}: a user has rows with different values in column {_quoted(name)}, "
                "for example if one frame has several models; keep the rows of one value, or "
                "drop the column if all rows are one list"
            )


def kinds_in(table: Table) -> Iterator[tuple[str, list[str]]]:
    """Yield the further columns of event types, or of parts of the data, and what they hold."""
    if table.frame is None:
        return
    for name in _called(table.frame, table, ("kind", "part")):
        cells = _column(table, name)
        if cells.dtype.is_nested():
            continue
        values = cells.cast(pl.String, strict=False).drop_nulls().unique().sort().to_list()
        if divides(name, values):
            yield name, values


def check_kinds(table: Table) -> None:
    """Warn of rows of several event types, or parts of the data, which count all."""
    for name, values in kinds_in(table):
        warnings.warn(
            f"{table.role}: column {_quoted(name)} holds "
            f"{', '.join(map(_quoted, values[:_NAMED]))}, but every row counts as a true item; "
            "keep only the true rows, without this column",
            stacklevel=CALLER,
        )


def _column(table: Table, name: str) -> pl.Series:
    """Return a column of a frame as text, numbers or lists of text."""
    frame: Any = table.frame
    return as_polars(frame.select(name), table.role)[name]


def _called(frame: Frame, table: Table, roles: Sequence[str]) -> list[str]:
    """Return the further columns that are called as those of a role are."""
    further = [n for n in frame.columns if isinstance(n, str) and n not in table.names.values()]
    return [name for name in further if any(is_called(name, role) for role in roles)]


def check_grades(table: Table) -> None:
    """Refuse numbers of a truth that may be grades (`doubtful_grade`), and that nobody named."""
    if table.frame is None or table.wide or "number" in table.names:
        return
    used = table.names.values()
    for name in table.frame.columns:
        column = table.frame.get_column(name)
        numeric = column.dtype.is_numeric()
        may_grade = numeric or type_of(column) in ("Boolean", "String")
        if name in used or not isinstance(name, str) or not may_grade:
            continue
        lowest = doubtful_grade(_column(table, name))
        if lowest is not None:
            raise UsageError(
                f"{table.role}: column {_quoted(name)} holds {number_text(lowest)}, which may "
                "mean that an item is not relevant; remove such rows, or name the column, as in "
                f"grade={_quoted(name)} ({'' if numeric else 'make it numbers first; '}from 0; 0 "
                "is not relevant); if every row is a true item, drop the column"
            )


def doubtful_grade(column: pl.Series, *, flags: bool = True) -> float | None:
    """Return the lowest number of a truth's column, if it may say that an item is not relevant.

    That is 0 or less in a column that is called as one of grades is, or, if `flags`, that holds 0
    and 1 alone.

    >>> doubtful_grade(pl.Series("quantity", [1, -2])), doubtful_grade(pl.Series("price", [0, 5]))
    (-2.0, None)
    """
    numbers = _as_numbers(column)
    lowest = numbers.min()
    if not isinstance(lowest, float) or lowest > 0:
        return None
    doubt = has_role(column.name, ("grade",)) or (flags and set(numbers.unique()) == {0, 1})
    return lowest if doubt else None


def _as_numbers(column: pl.Series) -> pl.Series:
    """Return the numbers of a column, true and false as 1 and 0; nothing else."""
    if column.dtype == pl.String:
        column = column.str.strip_chars().replace(BOOLEANS).str.replace(",", ".", literal=True)
    elif not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        return pl.Series(dtype=pl.Float64)
    return column.cast(pl.Float64, strict=False).fill_nan(None).drop_nulls()


def _columns(names: list[str]) -> str:
    """Return how a sentence on columns begins."""
    if len(names) == 1:
        return f"column {_quoted(names[0])} holds"
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"columns {', '.join(map(_quoted, names[:_NAMED]))}{more} hold"


def _quoted(name: object) -> str:
    return printable(f'"{name}"' if isinstance(name, str) else repr(name))


def _holds_numbers(column: pl.Series) -> bool:
    """Return whether all cells that are there are numbers, or texts of numbers."""
    if column.dtype != pl.String:
        return column.dtype.is_numeric()
    texts = column.drop_nulls().str.strip_chars()
    return len(texts) > 0 and texts.cast(pl.Float64, strict=False).null_count() == 0
