"""Layouts: H&M, KION and Ponpare as their competitions publish them, and any event log."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import Path

from harness.core.errors import UsageError
from harness.data.layout import AttributeTable, Encoding, EventTable, Layout, Table

ARTICLE_ID_WIDTH = 10
_LONGEST_SEPARATOR = 8


def hm(folder: Path | str, *, restore_zeros: bool = False, time_format: str = "iso") -> Layout:
    """Return the layout of the competition's folder; every article may be recommended."""
    purchases = EventTable(
        Table.within(folder, "transactions_train.csv"),
        user="customer_id",
        item="article_id",
        time="t_dat",
        kind="purchase",
        time_format=time_format,
        item_width=None if restore_zeros else ARTICLE_ID_WIDTH,
    )
    return Layout(
        name="hm",
        events=(purchases,),
        users=AttributeTable(Table.within(folder, "customers.csv"), id="customer_id"),
        items=AttributeTable(Table.within(folder, "articles.csv"), id="article_id"),
        candidates="catalogue",
        id_width=ARTICLE_ID_WIDTH,
        restore_zeros=restore_zeros,
    )


def kion(
    folder: Path | str, *, minimum: dict[str, float] | None = None, time_format: str = "iso"
) -> Layout:
    """Return the layout of the data set's folder; ``minimum`` may bound total_dur, watched_pct."""
    watched = EventTable(
        Table.within(folder, "interactions.csv"),
        user="user_id",
        item="item_id",
        time="last_watch_dt",
        kind="watch",
        time_format=time_format,
        minimum=tuple(sorted((minimum or {}).items())),
    )
    return Layout(
        name="kion",
        events=(watched,),
        users=AttributeTable(Table.within(folder, "users.csv"), id="user_id"),
        items=AttributeTable(Table.within(folder, "items.csv"), id="item_id"),
    )


def ponpare(folder: Path | str, *, time_format: str = "iso") -> Layout:
    """Return the layout of the competition's folder; coupons shown in the window are candidates.

    The visit log names its item column ``VIEW_COUPON_ID_hash``, the purchases ``COUPON_ID_hash``.
    All times of the tables are written in one way.
    """
    purchases = EventTable(
        Table.within(folder, "coupon_detail_train.csv"),
        user="USER_ID_hash",
        item="COUPON_ID_hash",
        time="I_DATE",
        kind="purchase",
        time_format=time_format,
    )
    log = Table.within(folder, "coupon_visit_train.csv")
    visits = replace(purchases, table=log, item="VIEW_COUPON_ID_hash", kind="visit")
    return Layout(
        name="ponpare",
        events=(purchases, visits),
        users=AttributeTable(
            Table.within(folder, "user_list.csv"), "USER_ID_hash", "REG_DATE", time_format
        ),
        items=AttributeTable(
            Table.within(folder, "coupon_list_train.csv"), "COUPON_ID_hash", "DISPFROM", time_format
        ),
        candidates="shown",
    )


TRAIN_KIND = "train"
VALID_KIND = "valid"


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
    minimum: dict[str, float],
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
        return replace(found, rows=lists)

    def described(given: str | AttributeTable | None, id: str) -> AttributeTable | None:
        return attributes(folder, "", given, id=id) if isinstance(given, str) else given

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
        users=described(users, user),
        items=described(items, item),
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
        What the table is under ``[data]``, for messages.
    """
    between = _separator(file, separator, f"{key}.separator")
    names = _names(header, f"{key}.header")
    return AttributeTable(Table.within(folder, file, between, names, encoding), id)


def _separator(name: str, separator: str | None, key: str) -> str:
    if separator is None:
        return "\t" if ".tsv" in name.lower() else ","
    long = len(separator.encode()) > 1
    wrong = any(sign in '"\r\n' or (long and _is_control(sign)) for sign in separator)
    if wrong or not 1 <= len(separator.encode()) <= _LONGEST_SEPARATOR:
        raise UsageError(
            f"[data] {key}: found {separator!r}, expected one character, such as "
            f'"," or ";" or "\\t", or a text such as "::" of up to {_LONGEST_SEPARATOR} bytes, '
            "without quotes, ends of lines and control characters"
        )
    return separator


def _is_control(sign: str) -> bool:
    return sign != "\t" and unicodedata.category(sign) == "Cc"


def _names(header: bool | list[str], key: str) -> tuple[str, ...] | None:
    if header is True:
        return None
    if header is False or not header:
        raise UsageError(
            f"[data] {key}: a file without a header line needs the names of its columns, "
            'such as header = ["user", "item", "rating", "time"]'
        )
    return tuple(header)
