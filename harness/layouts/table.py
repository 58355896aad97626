"""Any event log: one table (two for a given split) whose columns the config names."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.layouts.tables import AttributeTable, EventTable, Layout, Table

TRAIN_KIND = "train"
VALID_KIND = "valid"


def layout(
    folder: Path,
    *,
    events: str,
    user: str,
    item: str,
    time: str | None,
    time_format: str,
    separator: str | None,
    header: bool | list[str],
    minimum: dict[str, float],
    users: str | None,
    items: str | None,
    valid: str | None,
) -> Layout:
    """Return the layout of a log; with `valid`, a second table of the same columns is the exam."""

    def table(name: str) -> Table:
        return Table(folder / name, _separator(name, separator), _names(header))

    def log(name: str, kind: str) -> EventTable:
        return EventTable(
            table(name), user, item, time, kind, time_format, tuple(sorted(minimum.items()))
        )

    logs = (
        (log(events, "event"),)
        if valid is None
        else (log(events, TRAIN_KIND), log(valid, VALID_KIND))
    )
    return Layout(
        name="table",
        events=logs,
        users=None if users is None else AttributeTable(_attributes(folder, users), id=user),
        items=None if items is None else AttributeTable(_attributes(folder, items), id=item),
    )


def _attributes(folder: Path, name: str) -> Table:
    return Table(folder / name, _separator(name, None))


def _separator(name: str, separator: str | None) -> str:
    if separator is None:
        return "\t" if ".tsv" in name.lower() else ","
    if len(separator.encode()) != 1:
        raise UsageError(
            f"[data] separator: found {separator!r}, expected one character, "
            'such as "," or ";" or "\\t"; rewrite a file with a longer one first'
        )
    return separator


def _names(header: bool | list[str]) -> tuple[str, ...] | None:
    if header is True:
        return None
    if header is False or not header:
        raise UsageError(
            "[data] header: a file without a header line needs the names of its columns, "
            'such as header = ["user", "item", "rating", "time"]'
        )
    return tuple(header)
