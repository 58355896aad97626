"""A log of unknown shape in, a commented config out, and what was guessed of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness.config import Config, parse
from harness.core.errors import DataError, UsageError, counted, printable
from harness.data import loading, times
from harness.data.dataset import DAY_US, Dataset
from harness.data.layout import Table
from harness.data.source import Source
from harness.data.table_files import sources
from harness.experiment import memory

_NAMES = {
    "user": "user userid uid customer customerid clientid visitorid memberid accountid profileid "
    "buyerid session sessionid useridhash reviewerid",
    "item": "item itemid iid article articleid product productid movieid movie sku asin "
    "contentid trackid songid bookid isbn couponid couponidhash viewcouponidhash merchantid",
    "time": "time timestamp date datetime tdat ts eventtime createdat when day unixtime "
    "lastwatchdt idate eventtimestamp purchasedate orderdate",
    "kind": "event eventtype type action behavior behaviour activity eventname",
    "value": "rating stars score value",
}
"""What columns are called, in small letters without other signs; the first are preferred."""
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d")
_PATTERNS = [
    f"{day}{clock}"
    for day in (*_DATES, *(day.replace("Y", "y") for day in _DATES), "%Y%m%d")
    for clock in ("", " %H:%M", " %H:%M:%S")
]
_SEPARATORS = ("\t", ";", "|", "::")
_COMPACT = r"^(?:19|20)\d{6}(?: |$)"
_ROWS, _FEW, _MOST = 1_000, 20, 0.9
"""Rows that are looked at; event types of a column of them; the share of times that must fit."""
_MILLISECONDS = 1e11
"""A time from which on it is hardly in seconds: they would be in the year 5138."""


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


@dataclass(frozen=True)
class NewConfig:
    """A config for a log.

    Attributes
    ----------
    text : str
        TOML, with comments.
    told : list of str
        What was guessed, a line each.
    fault : str
        Why the log cannot be read with it as it stands; empty where it can.
    """

    text: str
    told: list[str]
    fault: str = ""


def config_for(log: Path, target: Path, columns: Columns | None = None) -> NewConfig:
    """Return a config that evaluates baselines on a log.

    Parameters
    ----------
    log : Path
        A file, a folder of files, a pattern, or a table of a database.
    target : Path
        Where the config will stand: paths in it start there.
    columns : Columns, optional
        What is known of the log.

    Raises
    ------
    DataError
        No such file, or one that cannot be read.
    UsageError
        It has no column that looks like a user or an item, or its times are not understood.
    """
    said = columns or Columns()
    found = Guessed()
    table = _table(log, said, found)
    with closing(sources(table)) as files:
        _guess(next(files), said, found)
    found.data |= {"path": _from(log.parent, target.parent), "events": log.name}
    data, fault = _read(found, target)
    if data is not None:
        found.told.append(_content(data))
    split = _split(found, data)
    return NewConfig(_toml(found, split, log), found.told, fault)


def _table(log: Path, said: Columns, found: Guessed) -> Table:
    """Return a log, by the separator that makes the most columns of its first line."""
    usual = "\t" if ".tsv" in log.name.lower() else ","
    if said.separator is not None:
        found.data["separator"] = said.separator
    if said.header is not None:
        found.data["header"] = list(said.header)
    table = Table(log, said.separator or usual, said.header, key="events")
    if said.separator is None and said.header is None:
        counts = {one: _width(Table(log, one, key="events")) for one in (usual, *_SEPARATORS)}
        best = max(counts, key=lambda one: counts[one])  # of equal ones the first
        if best != usual and counts[best] > 1:
            found.data["separator"] = best
            found.told.append(f"separator  {json.dumps(best)}: the first line has {counts[best]}")
            table = Table(log, best, key="events")
    return table


def _width(table: Table) -> int:
    """Return how many columns a log has; none where it cannot be read so."""
    with suppress(DataError), closing(sources(table)) as files:
        return len(next(files).names)
    return 0


def _guess(source: Source, said: Columns, found: Guessed) -> None:
    names = source.names
    if said.header is None and not source.kinds and all(re.search(r"\d", name) for name in names):
        raise UsageError(
            f"{source.shown}: line 1 looks like data, not like a header "
            f"({', '.join(map(printable, names[:4]))}); name the columns in file order: "
            "--header user,item,rating,time"
        )
    roles = ("user", said.user), ("item", said.item), ("time", said.time)
    rest = [name for name in names if name not in (said.user, said.item, said.time)]
    for role, named in roles:
        found.data[role] = named or _column(role, rest, source)
        _require(found.data[role], names, source)
        rest = [name for name in rest if name != found.data[role]]
    found.told += [f"{role:9}  column {printable(found.data[role])}" for role in ("user", "item")]
    time = found.data["time"]
    _guess_time(source, time, said, found)
    _guess_types(source, rest, found)


def _require(name: str, names: Sequence[str], source: Source) -> None:
    if name not in names:
        raise UsageError(f'{source.shown}: has no column "{name}"; it has {", ".join(names)}')


def _named(role: str, names: Sequence[str]) -> str | None:
    """Return the column whose name says best that it has a role."""
    plain = {re.sub(r"[\W_]", "", name.lower()): name for name in reversed(names)}
    return next((plain[one] for one in _NAMES[role].split() if one in plain), None)


def _column(role: str, names: Sequence[str], source: Source) -> str:
    name = _named(role, names)
    if name is not None:
        return name
    what = "a time" if role == "time" else f"the {role}'s id"
    given = "; events without times need a split that is given: docs/config.md" * (role == "time")
    raise UsageError(
        f"{source.shown}: no column looks like {what}; of "
        f"{', '.join(map(printable, names)) or 'none that is left'} name one with "
        f"--{role}-column{given}"
    )


def _guess_time(source: Source, time: str, said: Columns, found: Guessed) -> None:
    label = f"time       column {printable(time)}"
    if time in source.kinds and source.kinds[time].is_temporal():
        found.told.append(f"{label}: a date or time")
        return
    texts = source.first(time, _ROWS).cast(pl.String).drop_nulls()
    if texts.is_empty():
        raise UsageError(
            f'{source.shown}: column "{time}": no time in its first rows; name another column with '
            "--time-column, or a file that has events"
        )
    first = texts[0]
    formats = [said.time_format] if said.time_format else _formats(texts)
    if not formats:
        raise UsageError(
            f'{source.shown}: column "{time}": times such as "{printable(first)}" are not '
            'understood; say how they are written: --time-format "%d.%m.%Y" (or iso, epoch_s, '
            "epoch_ms), or name another column: --time-column"
        )
    if formats[0] != "iso":
        found.data["time_format"] = formats[0]
    other = f"; {formats[1]} would fit as well: --time-format" if len(formats) > 1 else ""
    found.told.append(f'{label}: {formats[0]}, such as "{printable(first)}"{other}')


def _formats(texts: pl.Series) -> list[str]:
    """Return the ways of writing times that most of some texts fit, and none fits more.

    The first is the one by which they lie the closest together, as the first rows of a log do.
    """
    iso = times.pattern_of("iso", texts[0])
    days = bool(texts.str.contains(_COMPACT).all())
    tried: dict[str, str | None] = {"iso": iso} if iso else {}
    tried |= {one: one for one in _PATTERNS if days or "%Y%m" not in one}
    if not days:
        late = float(texts.cast(pl.Float64, strict=False).median() or 0) >= _MILLISECONDS  # type: ignore[arg-type]
        tried |= dict.fromkeys(["epoch_ms" if late else "epoch_s"])
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


def _from(folder: Path, start: Path) -> str:
    """Return a folder as a config in another names it."""
    folder, start = folder.resolve(), start.resolve()
    relative = os.path.relpath(folder, start)
    return str(folder) if relative.startswith("../../..") else relative


def _config(found: Guessed, target: Path) -> Config:
    """Return a config of the log; neither its split nor its model changes how that is read."""
    models = [{"name": "any", "use": "any:Model"}]
    data = {"layout": "table", **found.data}
    values = {"data": data, "split": {"strategy": "time"}, "models": models}
    return parse(values, target.parent, str(target))


def _read(found: Guessed, target: Path) -> tuple[Dataset | None, str]:
    """Return the log as it is read, unless it needs more memory than is free; or what is wrong."""
    layout = _config(found, target).layout()
    limit = memory.limit(None)
    if limit is not None and memory.needed(layout) > limit.size:
        found.told.append("the log is larger than the memory that is free: it was not read whole")
        return None, ""
    with ThreadPoolExecutor(1) as background:
        try:
            return loading.cached(layout, lambda rows: None, background)[0], ""
        except DataError as error:
            return None, str(error)


_WEEK, _ENOUGH = 7, 100
"""Days that are held out of a long log, and evaluated users that are enough of any."""


def _split(found: Guessed, data: Dataset | None) -> dict[str, Any]:
    """Return a split: the last days where enough users are evaluated by them, else last events."""
    if data is None:
        return {"strategy": "time", "valid_days": _WEEK}
    days = _WEEK if data.times[1] - data.times[0] >= 4 * _WEEK * DAY_US else 1
    users, label = _evaluated(data, days), f"split      the last {counted(days, 'day')}"
    if users >= min(_ENOUGH, max(len(data.user_ids) // 10, 1)):
        found.told.append(f"{label}: {users:,} of their users had events before")
        return {"strategy": "time", "valid_days": days}
    found.told.append(
        f"split      each user's last event: of the last {counted(days, 'day')} "
        f"{counted(users, 'user')} had events before"
    )
    return {"strategy": "last_n", "n": 1}


def _evaluated(data: Dataset, days: int) -> int:
    """Return how many users have events on the last days, and before."""
    starts = (data.times[1] // DAY_US + 1 - days) * DAY_US
    late = data.events.time >= starts
    n = len(data.user_ids)
    there = [np.bincount(data.events.user[rows], minlength=n) > 0 for rows in (late, ~late)]
    return int(np.count_nonzero(there[0] & there[1]))


def _content(data: Dataset) -> str:
    events = counted(len(data.events), "event")
    users, items = counted(len(data.user_ids), "user"), counted(len(data.item_ids), "item")
    first, last = (np.datetime64(time, "us").astype("datetime64[D]") for time in data.times)
    return f"found      {events} of {users} and {items}, {first} … {last}"


_SPLIT = {
    "time": "the last days are held out; time, last_n, fraction or given",
    "last_n": "each user's last events are held out; time, last_n, fraction or given",
}
_DATA_KEYS = {
    "path": "where the log is, from the folder of this config",
    "events": "",
    "separator": "",
    "header": "",
    "user": "",
    "item": "",
    "time": "",
    "time_format": 'or "iso", "epoch_s", "epoch_ms"',
    "kind": "event types; [evaluation] hits says which of them are truth",
}


def _toml(found: Guessed, split: Mapping[str, Any], log: Path) -> str:
    """Return the config as text, every line that a person may want to change with a comment."""
    lines = [
        f"# Made by harness init of {printable(log.name)}; docs/config.md has every key.",
        "[data]",
        'layout = "table"',
        *(
            _line(key, found.data[key], told)
            for key, told in _DATA_KEYS.items()
            if key in found.data
        ),
    ]
    if found.value is not None:
        lines.append(f"# {_line('value', found.value, 'weighs events, and grades true items')}")
    lines += ["", "[split]", _line("strategy", split["strategy"], _SPLIT[split["strategy"]])]
    lines += [_line(key, value, "") for key, value in split.items() if key != "strategy"]
    if split["strategy"] == "time":
        lines.append("# folds = 4  # the last four windows instead of one")
    lines += ["", "[evaluation]", "k = 12"]
    if found.types:
        every = _line("hits", found.types, "all are true items; leave out what is none")
        lines.append(f"# {every}" if len(found.types) == 1 else every)
    models = resources.files("harness.data").joinpath("any_log.toml").read_text(encoding="utf-8")
    return "\n".join([*lines, "", models])


def _line(key: str, value: Any, told: str) -> str:
    """Return a key with its value, and a comment."""
    text = _inline(value)
    return f"{key} = {text}" + (f"  # {told}" if told else "")


def _inline(value: Any) -> str:
    """Return a value as TOML, in one line."""
    import tomli_w

    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return tomli_w.dumps({"key": value}).removeprefix("key = ").strip()
