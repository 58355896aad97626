"""How times are written: as text in one way or another, as numbers, or as types of Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

TIME_FORMATS = ("iso", "epoch_s", "epoch_ms", "epoch_us")
DATE = "%Y-%m-%d"

_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", DATE)
PATTERNS = [
    f"{day}{clock}"
    for day in (*_DATES, *(day.replace("Y", "y") for day in _DATES), "%Y%m%d")
    for clock in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
] + ["%Y-%m-%d %H:%M:%S UTC", "%Y%m%d%H%M%S", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%B %d, %Y"]
"""Ways of writing times that are tried in this order."""

EPOCH_UNITS_US = {"epoch_s": 1_000_000, "epoch_ms": 1_000, "epoch_us": 1}
_YEAR_1_US, _YEAR_10_000_US = -62_135_596_800_000_000, 253_402_300_800_000_000
"""Their first microseconds since 1970-01-01."""

_FOUR_DIGITS = 1_000
"""The first year of four digits."""
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:(?P<sep>[ T])[0-9]{2}:[0-9]{2}"
    r"(?P<seconds>:[0-9]{2}(?:\.[0-9]+)?)?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def pattern_of(time_format: str, sample: str) -> str | None:
    """Return the strptime pattern of a text column by its first value, None where that fits none.

    >>> pattern_of("iso", "2012-06-23 23:59:48"), pattern_of("iso", "16.9.2020")
    ('%Y-%m-%d %H:%M:%S%.f', None)
    """
    if time_format != "iso":
        return time_format
    match = _ISO.fullmatch(sample)
    if match is None:
        return None
    if match["sep"] is None:
        return DATE
    seconds = "" if match["seconds"] is None else ":%S%.f"  # %.f: a fraction may follow
    zone = "" if match["zone"] is None else "%#z"
    return f"%Y-%m-%d{match['sep']}%H:%M{seconds}{zone}"


FIRST = 1_000
"""Of so many values the first that is a time says how they are written."""


def pattern_of_first(time_format: str, texts: Iterable[str | None]) -> str:
    """Return the pattern of the first text that fits one; others are told when they are read."""
    patterns = (pattern_of(time_format, text) for text in texts if text)
    return next(filter(None, patterns), DATE)


def from_text(
    column: str, time_format: str, pattern: str | None, *, number: bool = False
) -> pl.Expr:
    """Return the expression that turns a column into microseconds since 1970 (int64).

    It holds text, or, if `number`, whole numbers whose digits are such a text.

    A value that is no time is null, and so is a number where the calendar from year 1 to 9999 does
    not have it.
    """
    text = pl.col(column).cast(pl.String) if number else pl.col(column)
    if time_format in EPOCH_UNITS_US:
        scaled = text.cast(pl.Float64, strict=False) * EPOCH_UNITS_US[time_format]
        # Milliseconds read as seconds would be in the year 56,000, and nobody would see it.
        calendar = pl.when(scaled.is_between(_YEAR_1_US, _YEAR_10_000_US, closed="left")).then(
            scaled
        )
        return calendar.round(0).cast(pl.Int64, strict=False)
    parsed = text.str.to_datetime(format=pattern, strict=False)
    if time_format == "iso":  # the parser takes 20-01-06 for a day of the year 20, and spaces
        parsed = pl.when(text.str.contains(f"^(?:{_ISO.pattern})$")).then(parsed)
    elif "%Y" in time_format:  # here, too
        parsed = pl.when(parsed.dt.year() >= _FOUR_DIGITS).then(parsed)
    if pattern is not None and "%#z" in pattern:
        parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return parsed.cast(pl.Datetime("us")).cast(pl.Int64)


def from_dtype(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return the expression for a column that is a date or a time already (Parquet)."""
    time = pl.col(column)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        time = time.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return time.cast(pl.Datetime("us")).cast(pl.Int64)


def expected(time_format: str, pattern: str | None = None, value: str = "") -> str:
    """Return what a value should have looked like, for an error message.

    Where ISO times are expected, it names the formats that read the value, or a usual one.

    >>> expected("iso", value="01/02/2025").partition("another format: ")[2]
    'time_format = "%d/%m/%Y" or "%m/%d/%Y", or "epoch_s"'
    """
    if time_format == "iso":
        texts = pl.DataFrame({"time": [value]})
        read = texts.select(from_text("time", name, name).alias(name) for name in PATTERNS)
        fitting = [column.name for column in read if column.null_count() == 0]
        if not fitting or pattern_of("iso", value) is not None:
            fitting = PATTERNS[:1]
        other = " or ".join(f'"{name}"' for name in fitting)
        shown = "" if pattern is None else f" ({pattern}, all written alike)"
        return (
            f"an ISO time{shown} of a real date; if all times have another format: "
            f'time_format = {other}, or "epoch_s"'
        )
    if time_format in EPOCH_UNITS_US:
        units = {"epoch_s": "seconds", "epoch_ms": "milliseconds", "epoch_us": "microseconds"}
        other = "epoch_ms" if time_format == "epoch_s" else "epoch_s"
        return (
            f"a number of {units[time_format]} since 1970-01-01, within the years 1 to 9999; "
            f'{units[other]} are time_format = "{other}", times such as 2020-09-16 or '
            '2020-09-16 12:30:00 "iso"'
        )
    digits = "; %Y is a year of four digits, %y one of two" if "%Y" in time_format else ""
    return f"a time written as {time_format}{digits}"
