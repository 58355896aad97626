"""The layout of any log: its files and columns as a config names them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.core.errors import UsageError
from harness.data.layout import (
    AttributeTable,
    Encoding,
    EventTable,
    Layout,
    Table,
    require_separator,
)


def table(
    folder: Path | str,
    *,
    events: str,
    user: str,
    item: str,
    time: str | None,
    time_format: str,
    separator: str | None,
    header: bool | list[str],
    users: str | AttributeTable | None,
    items: str | AttributeTable | None,
    valid: str | None,
    encoding: Encoding = "utf-8",
    rows: str | list[str] | None = None,
) -> Layout:
    """Return the layout of a log; `valid` names a second one, with the events to evaluate on."""
    lists = (rows,) if isinstance(rows, str) else tuple(rows or ())

    def table(name: str) -> Table:
        between = _separator(name, separator, "separator")
        found = Table.within(folder, name, between, _names(header, "header"), encoding)
        return replace(found, rows=lists, key="events")

    def described(key: str, given: str | AttributeTable | None, id: str) -> AttributeTable | None:
        return attributes(folder, key, given, id=id) if isinstance(given, str) else given

    log = EventTable(table(events), user, item, time, time_format=time_format)
    held_out = () if valid is None else (replace(log, table=table(valid), valid=True),)
    return Layout(
        name="table",
        events=(log, *held_out),
        users=described("users", users, user),
        items=described("items", items, item),
    )


def attributes(
    folder: Path | str,
    key: str,
    file: str,
    *,
    id: str,
    separator: str | None = None,
    header: bool | list[str] = True,
    encoding: Encoding = "utf-8",
) -> AttributeTable:
    """Return a table of users or items that is written in its own way.

    Parameters
    ----------
    key : str
        What the table is under ``[data]``, ``users`` or ``items``, for messages.
    """
    between = _separator(file, separator, f"{key}.separator")
    names = _names(header, f"{key}.header")
    table = Table.within(folder, file, between, names, encoding)
    return AttributeTable(replace(table, key=key), id)


def _separator(name: str, separator: str | None, key: str) -> str:
    if separator is None:
        return "\t" if ".tsv" in name.lower() else ","
    try:
        require_separator(separator)
    except ValueError as error:
        raise UsageError(f"[data] {key}: {error}") from error
    return separator


def _names(header: bool | list[str], key: str) -> tuple[str, ...] | None:
    if header is True:
        return None
    if header is False or not header:
        raise UsageError(
            f"[data] {key}: a file without a header line needs the names of its columns, "
            'such as header = ["user", "item", "rating", "time"]'
        )
    return tuple(header)
