"""Lists, truth and events as Spark DataFrames: what their columns are for, and what workers get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from harness.core.column_names import has_role, order_of
from harness.core.errors import DataError, UsageError
from harness.metrics.inputs.frame import Table, accept, two_columns
from harness.spark.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class Sent:
    """Lists or truth as workers get them.

    Attributes
    ----------
    names : mapping of ``user``, ``item`` and ``number`` to column
    meaning : str
        What the numbers are: ``rank``, ``score``, ``grade`` or nothing.
    columns : mapping of column to what it is called on its way
    """

    role: str
    names: Mapping[str, str]
    meaning: str
    columns: Mapping[str, str]

    def table(self, frame: pl.DataFrame) -> Table:
        """Return the rows, which have no numbers, of a frame with a person's own columns."""
        numbers: dict[str, str | None] = (
            {self.meaning: self.names["number"]} if self.meaning else {}
        )
        user, item = self.names["user"], self.names["item"]
        table = accept(frame, self.role, user=user, item=item, numbers=numbers)
        return replace(table, place=None)

    def own(self, frame: pl.DataFrame, listed: bool) -> pl.DataFrame:
        """Return the rows of this side."""
        rows = frame.filter(pl.col("listed") if listed else ~pl.col("listed"))
        return rows.select(pl.col(wire).alias(column) for column, wire in self.columns.items())


@dataclass(frozen=True)
class Side:
    """Lists or truth: the DataFrame, and what its columns are for."""

    frame: DataFrame
    table: Table
    """Its columns, without rows."""

    @property
    def empty(self) -> pl.DataFrame:
        """A frame of its columns, without rows."""
        frame: Any = self.table.frame
        empty: pl.DataFrame = frame
        return empty

    def kind(self, name: str) -> str:
        """Return what the ids of a column are, in words; raise DataError over any other."""
        column = self.table.names[name]
        dtype: Any = self.empty.schema[column]
        dtype = getattr(dtype, "inner", dtype)
        if dtype == pl.String:
            return "text"
        if dtype.is_integer():
            return "whole numbers"
        raise DataError(
            f"{self.table.where(name)} holds {self.frame.schema[column].dataType.simpleString()} "
            'values; ids are text or whole numbers (.cast("string") or .cast("bigint") makes them)'
        )

    def type(self, name: str) -> str:
        """Return the type that ids of a column are sent as: whole numbers of any width alike."""
        found = "string" if self.kind(name) == "text" else "bigint"
        return f"array<{found}>" if name == "item" and self.table.wide else found

    def sent(self, shared: bool) -> Sent:
        """Return what workers get; where both sides are long they share the column of items."""
        names, role = self.table.names, self.table.role
        columns = {names["user"]: "user", names["item"]: "item" if shared else f"{role} item"}
        if "number" in names:
            columns[names["number"]] = f"{role} number"
        elif role == "truth" and not self.table.wide:
            others = [name for name in self.empty.columns if name not in columns]
            may_grade = [n for n in others if has_role(n, ("grade",)) and _is_number(self.empty[n])]
            columns |= {name: f"{role} {name}" for name in may_grade}
        return Sent(role, names, self.table.meaning, columns)

    def select(self, sent: Sent, listed: bool) -> DataFrame:
        """Return the columns that are sent."""
        from pyspark.sql import functions

        types = {self.table.names[name]: self.type(name) for name in ("user", "item")}
        columns = [functions.lit(listed).alias("listed")]
        for column, wire in sent.columns.items():
            cells = functions.col(quoted(column))
            cells = cells.cast(types[column]) if column in types else cells
            columns.append(cells.alias(wire))
        return self.frame.select(*columns)

    def ids(self, name: str) -> DataFrame:
        """Return the ids of a column, items of lists one a row, in a column ``id``."""
        from pyspark.sql import functions

        cells = functions.col(quoted(self.table.names[name])).cast(self.type(name))
        cells = functions.explode(cells) if self.table.wide and name == "item" else cells
        return self.frame.select(cells.alias("id"))


def quoted(column: str) -> str:
    """Return a column's name as expressions of Spark need it."""
    return f"`{column.replace('`', '``')}`"


def _is_number(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def side_of(frame: DataFrame, role: str, numbers: Mapping[str, str | None], **names: Any) -> Side:
    """Return a DataFrame with what its columns are for, by the names that `accept` takes.

    Raises
    ------
    DataError, UsageError
        No DataFrame of Spark, or a missing column.
    """
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise UsageError(
            f"{role}: found {type(frame).__module__.partition('.')[0]} {type(frame).__name__}; "
            "give a Spark DataFrame, or call harness.evaluate, which takes other forms"
        )
    with spark_errors():
        held = frame.schema.fields
    if len({column.name for column in held}) < len(held):
        raise two_columns(frame, role)
    empty = pl.DataFrame(schema={column.name: _dtype(column.dataType) for column in held})
    return Side(frame, accept(empty, role, numbers=numbers, **names))


def _dtype(type_: DataType) -> pl.DataType:
    """Return what stands for a type of Spark, as far as ids and numbers go."""
    name = type_.typeName()
    if name == "array":
        return pl.List(_dtype(type_.elementType))  # type: ignore[attr-defined,unused-ignore]
    return _DTYPES.get(name, pl.Binary())


_DTYPES: Mapping[str, pl.DataType] = {
    **dict.fromkeys(("string", "varchar", "char"), pl.String()),
    **dict.fromkeys(("byte", "short", "integer", "long"), pl.Int64()),
    **dict.fromkeys(("float", "double", "decimal"), pl.Float64()),
    "boolean": pl.Boolean(),
}


def refuse_without_order(listed: Side, score: str | Literal[False] | None) -> None:
    """Raise UsageError where nothing orders the rows of long predictions."""
    table = listed.table
    if score is not False and (table.wide or "number" in table.names):
        return
    others = [
        n for n in listed.empty.columns if n not in (table.names["user"], table.names["item"])
    ]
    telling = [f'{order_of(n)}="{n}"' for n in others if order_of(n)]
    named = telling or ['rank="…" (1 first)', 'score="…" (highest first)']
    raise UsageError(
        "predictions: Spark keeps no order of rows; name the column that orders those of a user: "
        f"{' or '.join(named)}; or give one row a user, with an array of items"
    )


def refuse_kinds(one: Side, other: Side, name: str) -> None:
    """Raise DataError where two sides have ids of different kinds."""
    kinds = one.kind(name), other.kind(name)
    if kinds[0] != kinds[1]:
        raise DataError(
            f"{other.table.where(name)} holds {kinds[1]}, {one.table.where(name)} holds "
            f'{kinds[0]}: no id would match; make both text (.cast("string")) or both whole numbers'
        )


def local(frame: DataFrame) -> pl.DataFrame:
    """Return the rows of a small DataFrame."""
    found: Any = pl.from_arrow(frame.toArrow())
    rows: pl.DataFrame = found
    return rows
