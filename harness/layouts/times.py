"""How times are written in a file, and the expression that reads them."""

from __future__ import annotations

import re

import narwhals as nw

DATE = "%Y-%m-%d"

EPOCH_UNITS_US = {"epoch_s": 1_000_000, "epoch_ms": 1_000}

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:(?P<sep>[ T])\d\d:\d\d(?P<seconds>:\d\d(?:\.\d+)?)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)


def pattern_of(time_format: str, sample: str) -> str | None:
    """Return the strptime pattern of a text column, None where `sample` does not fit.

    Parameters
    ----------
    time_format : str
        ``iso`` (the pattern follows from `sample`) or a strptime pattern (returned as it is).
    sample : str
        The first value of the column.

    Examples
    --------
    >>> pattern_of("iso", "2020-09-16")
    '%Y-%m-%d'
    >>> pattern_of("iso", "2012-06-23 23:59:48")
    '%Y-%m-%d %H:%M:%S%.f'
    >>> pattern_of("iso", "16.9.2020") is None
    True
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


def from_text(column: str, time_format: str, pattern: str | None) -> nw.Expr:
    """Return the expression that turns a text column into microseconds since 1970 (int64)."""
    if time_format in EPOCH_UNITS_US:
        scaled = nw.col(column).cast(nw.Float64) * EPOCH_UNITS_US[time_format]
        return scaled.round(0).cast(nw.Int64)
    text = nw.col(column)
    parsed = text.str.to_datetime(format=pattern)
    if time_format == "iso":  # the parser takes 20-01-06 for a day of the year 20
        whole = text.str.len_chars() == 10 if pattern == DATE else text.str.slice(4, 1) == "-"
        parsed = nw.when(whole).then(parsed)
    if pattern is not None and "%#z" in pattern:
        parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return parsed.cast(nw.Datetime("us")).cast(nw.Int64)


def from_dtype(column: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Return the expression for a column that is a date or a time already (Parquet)."""
    time = nw.col(column)
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        time = time.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return time.cast(nw.Datetime("us")).cast(nw.Int64)


def expected(time_format: str, pattern: str | None = None) -> str:
    """Return what a value should have looked like, for an error message."""
    if time_format == "iso":
        shown = "" if pattern is None else f" ({pattern}, all written alike)"
        return f'an ISO time{shown}; name another form as time_format = "%d.%m.%Y"'
    if time_format in EPOCH_UNITS_US:
        unit = "seconds" if time_format == "epoch_s" else "milliseconds"
        return f"a number of {unit} since 1970-01-01"
    return f"a time written as {time_format}"
