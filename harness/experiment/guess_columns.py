"""What the columns of a log of unknown shape mean: by their names, and by their first values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from harness.core.errors import UsageError, printable
from harness.data import times
from harness.data.source import Source

_NAMES = {
    "user": "user userid uid customer customerid customernumber clientid client visitor visitorid "
    "member memberid accountid account profileid buyer buyerid useridhash reviewerid kunde "
    "kundennummer kundenid kundennr cliente clienteid utilisateur usuario "
    "session sessionid sid",
    "item": "item itemid iid article articleid product productid productcode movieid movie sku "
    "asin aid contentid track trackid song songid book bookid isbn couponid couponidhash "
    "viewcouponidhash merchantid artikel artikelid artikelnummer artikelnr produkt produktid "
    "producto productoid produit articulo",
    "time": "time timestamp date datetime tdat ts eventtime createdat when day unixtime "
    "lastwatchdt idate eventtimestamp purchasedate orderdate ordertime orderedat purchasedat "
    "viewedat datum zeit zeitpunkt zeitstempel bestelldatum fecha hora dateachat data updatedat",
    "kind": "event eventtype type action behavior behaviour activity eventname",
    "value": "rating stars score value",
}
"""What columns are called, in small letters without other signs; the first are preferred."""
_SESSIONS = "session", "sid"
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d")
_PATTERNS = [
    f"{day}{clock}"
    for day in (*_DATES, *(day.replace("Y", "y") for day in _DATES), "%Y%m%d")
    for clock in ("", " %H:%M", " %H:%M:%S")
] + ["%Y-%m-%d %H:%M:%S UTC"]
_COMPACT = r"^(?:19|20)\d{6}(?: |$)"
_DATE_LIKE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}")
_ROWS, _FEW, _MOST = 1_000, 20, 0.9
"""Rows that are looked at; event types of a column of them; the share of times that must fit."""
_LATEST = {"epoch_s": 1e11, "epoch_ms": 1e14, "epoch_us": 1e17}
"""From which numbers on times are hardly in a unit: they would be in the year 5138."""
_EARLIEST = 1e8
"""Seconds until March 1973, before which there are no logs."""


@dataclass(frozen=True)
class Columns:
    """What a person says of a log; the rest is guessed."""

    user: str | None = None
    item: str | None = None
    time: str | None = None
    time_format: str | None = None
    header: tuple[str, ...] | None = None
    separator: str | None = None


@dataclass
class Guessed:
    """What was found of a log.

    Attributes
    ----------
    data : dict
        The keys of ``[data]``, but for ``path``.
    told : list of str
        What was guessed, and by what, a line each.
    types : list of str
        The event types of the first rows, most first.
    value : str, optional
        A column that may be meant as a value an event.
    """

    data: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    value: str | None = None


def guess(source: Source, said: Columns, found: Guessed) -> None:
    """Find what the columns of a log mean; what a person says goes before.

    Raises
    ------
    UsageError
        It has no column that looks like a user or an item, or its times are not understood.
    """
    names = source.names
    if said.header is None and not source.kinds and all(re.search(r"\d", name) for name in names):
        raise UsageError(
            f"{source.shown}: line 1 looks like data, not like a header "
            f"({', '.join(map(printable, names[:4]))}); name the columns in file order: "
            f"--header {_as_many(len(names))}"
        )
    roles = ("user", said.user), ("item", said.item), ("time", said.time)
    rest = [name for name in names if name not in (said.user, said.item, said.time)]
    for role, named in roles:
        found.data[role] = named or _column(role, rest, source)
        _require(found.data[role], names, source)
        rest = [name for name in rest if name != found.data[role]]
    user, item, time = (found.data[role] for role, _ in roles)
    session = ": a session counts as a user" * _plain(user).startswith(_SESSIONS)
    found.told.append(f"user       column {printable(user)}{session}")
    found.told.append(f"item       column {printable(item)}")
    _guess_time(source, time, rest, said, found)
    _guess_types(source, rest, found)


def _as_many(columns: int) -> str:
    """Return names for so many columns, as ``--header`` takes them.

    Examples
    --------
    >>> _as_many(3), _as_many(5)
    ('user,item,time', 'user,item,rating,time,column5')
    """
    usual = ["user", "item", "rating", "time"] if columns > 3 else ["user", "item", "time"]
    return ",".join([*usual[:columns], *(f"column{n}" for n in range(5, columns + 1))])


def _require(name: str, names: Sequence[str], source: Source) -> None:
    if name not in names:
        raise UsageError(f'{source.shown}: has no column "{name}"; it has {", ".join(names)}')


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _named(role: str, names: Sequence[str]) -> str | None:
    """Return the column whose name says best that it has a role."""
    plain = {_plain(name): name for name in reversed(names)}
    return next((plain[one] for one in _NAMES[role].split() if one in plain), None)


def _column(role: str, names: Sequence[str], source: Source) -> str:
    name = _named(role, names)
    if name is None and role == "time":
        name = next((one for one in names if _looks_like_times(source, one)), None)
    if name is not None:
        return name
    what = "a time" if role == "time" else f"the {role}'s id"
    given = "; events without times need a split that is given: docs/config.md" * (role == "time")
    raise UsageError(
        f"{source.shown}: no column looks like {what}; of "
        f"{', '.join(map(printable, names)) or 'none that is left'} name one with "
        f"--{role}-column{given}"
    )


def _texts(source: Source, column: str) -> pl.Series:
    return source.first(column, _ROWS).cast(pl.String).drop_nulls()


def _is_typed(source: Source, column: str) -> bool:
    return column in source.kinds and source.kinds[column].is_temporal()


def _looks_like_times(source: Source, column: str) -> bool:
    """Return whether the first values of a column are dates, in whatever way they are written."""
    if _is_typed(source, column):
        return True
    texts = _texts(source, column)
    return len(texts) > 0 and bool(_DATE_LIKE.match(texts[0])) and bool(_formats(texts))


def _guess_time(
    source: Source, time: str, rest: Sequence[str], said: Columns, found: Guessed
) -> None:
    by = "" if said.time or _named("time", [time]) else ", by its values"
    others = [name for name in rest if _looks_like_times(source, name)]
    also = f"; {', '.join(map(printable, others))} may be one, too: --time-column" if others else ""
    label = f"time       column {printable(time)}"
    if _is_typed(source, time):
        found.told.append(f"{label}: a date or time{by}{also}")
        return
    texts = _texts(source, time)
    if texts.is_empty():
        raise UsageError(
            f'{source.shown}: column "{time}": no time in its first rows; name another column with '
            "--time-column, or a file that has events"
        )
    formats = [said.time_format] if said.time_format else _formats(texts)
    _require_times(source, time, texts, formats, said)
    if formats[0] != "iso":
        found.data["time_format"] = formats[0]
    other = f"; {formats[1]} would fit as well: --time-format" if len(formats) > 1 else ""
    found.told.append(f'{label}: {formats[0]}, such as "{printable(texts[0])}"{other}{by}{also}')


def _require_times(
    source: Source, time: str, texts: pl.Series, formats: Sequence[str], said: Columns
) -> None:
    """Raise UsageError where a column is not understood, or holds what is hardly a time."""
    where, first = f'{source.shown}: column "{time}": ', f'"{printable(texts[0])}"'
    middle = _middle(texts)
    if not said.time_format and middle >= _LATEST["epoch_us"]:
        raise UsageError(
            f"{where}numbers such as {first} look like nanoseconds since 1970; divide them by "
            "1,000, and they are --time-format epoch_us"
        )
    if not formats:
        raise UsageError(
            f"{where}times such as {first} are not understood; say how they are written: "
            '--time-format "%d.%m.%Y" (or iso, epoch_s, epoch_ms, epoch_us), or name another '
            "column: --time-column"
        )
    if said.time_format or formats[0] not in times.EPOCH_UNITS_US:
        return
    if middle < _EARLIEST:
        day = np.datetime64(int(middle), "s").astype("datetime64[D]")
        raise UsageError(
            f"{where}numbers such as {first} are hardly times: as seconds since 1970 they are of "
            f"{day}; write days since 1899, as Excel counts them, as dates; where they are such "
            "seconds, or only number the events in their order: --time-format epoch_s"
        )


def _middle(texts: pl.Series) -> float:
    return float(texts.cast(pl.Float64, strict=False).median() or 0)  # type: ignore[arg-type]


def _formats(texts: pl.Series) -> list[str]:
    """Return the ways of writing times that most of some texts fit, and none fits more.

    The first is the one by which they lie the closest together, as the first rows of a log do.
    """
    iso = times.pattern_of("iso", texts[0])
    days = bool(texts.str.contains(_COMPACT).all())
    tried: dict[str, str | None] = {"iso": iso} if iso else {}
    tried |= {one: one for one in _PATTERNS if days or "%Y%m" not in one}
    if not days:
        middle = _middle(texts)
        tried[next((unit for unit, most in _LATEST.items() if middle < most), "epoch_us")] = None
    read = {name: _times(texts, name, pattern) for name, pattern in tried.items()}
    most = max(len(found) for found in read.values())
    if most <= _MOST * len(texts):
        return []
    fit = [name for name, found in read.items() if len(found) == most]
    return sorted(fit, key=lambda name: np.ptp(read[name].to_numpy()))


def _times(texts: pl.Series, time_format: str, pattern: str | None) -> pl.Series:
    """Return the texts that are times of a format, as these."""
    found = texts.to_frame().select(times.from_text(texts.name, time_format, pattern))
    return found.to_series().drop_nulls()


def _guess_types(source: Source, names: Sequence[str], found: Guessed) -> None:
    kind, value = _named("kind", names), _named("value", names)
    if kind is not None:
        counts = source.first(kind, _ROWS).cast(pl.String).alias(kind).value_counts(sort=True)
        if 0 < len(counts) <= _FEW and counts[kind].null_count() == 0:
            found.data["kind"], found.types = kind, counts[kind].to_list()
            some = ", ".join(map(printable, found.types[:5]))
            found.told.append(
                f"kind       column {printable(kind)}, with {some}: all count as hits"
            )
    if value is not None:
        first = source.first(value, _ROWS).cast(pl.String)
        if first.cast(pl.Float64, strict=False).null_count() == 0:
            found.value = value
            found.told.append(f"value      column {printable(value)} may be one; it is not used")
