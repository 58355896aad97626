"""A log of unknown shape in, a commented config out, and what was guessed of it."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from harness.config import parse
from harness.config.paths import escaped
from harness.core.column_names import is_called, plain
from harness.core.errors import DataError, HarnessError, UsageError, counted, printable
from harness.core.progress import Observer
from harness.data import loading
from harness.data.conditions import key
from harness.data.database_source import UnnamedTableError
from harness.data.dataset import DAY_US, Dataset
from harness.data.faults import faults_of, lenient, misshapen, readable_by
from harness.data.layout import Layout, Table
from harness.data.naming import INSIDE
from harness.data.oddities import WORDS_OF_MANY
from harness.data.table_files import sources
from harness.evaluation import memory
from harness.init.columns import (
    MOST_TYPES,
    Columns,
    Guessed,
    funnel_of,
    guess,
    is_never_truth,
    lists_of,
    names_a_step,
)
from harness.protocol.strays import by_day, strays_of
from harness.protocol.task import task_on

_SEPARATORS = ("\t", ";", "|", "::", " ")


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
        What is wrong with it as it stands; empty where a run can begin.
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
    log = _with_its_table(log)
    table = _in_rows(_table(log, said, found), said, found)
    with closing(sources(lenient(table))) as files:
        guess(next(files), said, found)
    folder = log.parent.resolve()
    relative = os.path.relpath(folder, target.parent.resolve())
    path = str(folder) if relative.startswith("../../..") else relative
    found.data |= {"path": escaped(path), "events": escaped(log.name)}
    ambiguous = _settle_format(found, target)
    data, fault = _read(found, target)
    if fault:
        fault = _leave_out_faults(found, table, target)
        data, fault = (None, fault) if fault else _read(found, target)
    fault = fault or ambiguous
    if data is not None:
        data = _without_strays(data, found, target)
    no_truth = _tell_types(data, found)
    fault = fault or no_truth
    if data is not None:
        found.told += _content(data, _layout(found, target))
    text = _toml(found, _split(found, data), log)
    return NewConfig(text, found.told, fault or (_nobody(text, target, data) if data else ""))


def _with_its_table(log: Path) -> Path:
    """Return a log; a database with its table, where it has a single one."""
    try:
        with closing(sources(Table(log))) as files:
            next(files)
    except UnnamedTableError as error:
        if len(error.tables) != 1:
            raise
        return Path(f"{log}{INSIDE}{error.tables[0]}")
    except DataError:
        pass  # it is told when it is read
    return log


def _table(log: Path, said: Columns, found: Guessed) -> Table:
    """Return a log, by the separator that makes the most columns of its first line.

    Where a header is named, by one that makes as many as that has.
    """
    encoding = said.encoding or "utf-8"
    usual = "\t" if ".tsv" in log.name.lower() else ","
    chosen = said.separator and said.separator.replace("\\t", "\t")  # as a shell leaves it
    if chosen is None:
        counts = _widths(log, usual, encoding, said.header)
        best = max(counts, key=lambda one: counts[one])  # of equal ones the first
        if said.header is not None and counts[best] == 0:
            _refuse_header(log, said.header, _widths(log, usual, encoding))
        if best != usual and counts[best] > 1:
            chosen = best
            found.told.append(f"separator  {json.dumps(best)}: the first line has {counts[best]}")
    if chosen is not None:
        found.data["separator"] = chosen
    if said.header is not None:
        found.data["header"] = list(said.header)
    if said.encoding is not None:
        found.data["encoding"] = said.encoding
    table = Table(log, chosen or usual, said.header, encoding, key="events")
    return _with_quoting(table, found, whole=False)


def _in_rows(table: Table, said: Columns, found: Guessed) -> Table:
    """Return a log in whose lists each element is a row, where these hold what a log needs."""
    with closing(sources(table)) as files:
        lists = lists_of(next(files), said)
    if not lists:
        return table
    found.data["rows"] = lists if len(lists) > 1 else lists[0]
    found.told.append(f"rows       the elements of {', '.join(map(printable, lists))}")
    return replace(table, rows=tuple(lists))


_QUOTING: tuple[tuple[bool, str], ...] = ((True, ""), (True, "\\"), (False, ""))


def _with_quoting(table: Table, found: Guessed, *, whole: bool) -> Table:
    """Return a log read with quotes, escapes or neither: as the fewest lines are damaged."""
    if len(table.separator.encode()) > 1:
        return table
    best, fewest = table, misshapen(table, whole=whole)
    for quote, escape in _QUOTING if fewest > 0 else ():
        other = replace(table, quote=quote, escape=escape)
        lines = misshapen(other, whole=whole)
        if lines < fewest:
            best, fewest = other, lines
    if best != table:
        quoting = {"quote": best.quote, "escape": best.escape}
        found.data = {name: own for name, own in found.data.items() if name not in quoting}
        found.data |= {name: own for name, own in quoting.items() if own != _DEFAULTS[name]}
        how = "with a backslash before" if best.escape else "in" if best.quote else "without"
        found.told.append(f"quote      fields are read {how} quotes, else lines are damaged")
    return best


def _refuse_header(log: Path, header: tuple[str, ...], counts: Mapping[str, int]) -> None:
    """Raise UsageError where no separator makes as many fields as a header names."""
    if len(set(counts.values())) > 1:  # else it is no text
        raise UsageError(
            f"{log}: line 1 has {max(counts.values())} fields, and --header names {len(header)}: "
            f"{', '.join(map(printable, header))}"
        )


def _widths(
    log: Path, usual: str, encoding: str, header: tuple[str, ...] | None = None
) -> dict[str, int]:
    """Return how many columns each separator makes; 0 where the file cannot be read so.

    Blanks count where no other makes two.
    """
    counts = dict.fromkeys((usual, *_SEPARATORS), 0)
    for separator, quote in product(counts, (False, True)):
        table = Table(log, separator, header, encoding, quote=quote)
        with suppress(DataError), closing(sources(table)) as files:
            counts[separator] = len(next(files).names)
    if any(count > 1 for one, count in counts.items() if one != " "):
        del counts[" "]  # a name may hold blanks
    return counts


def _layout(found: Guessed, target: Path) -> Layout:
    """Return how the log is read: neither the split nor the model changes it."""
    values = {
        "data": {"layout": "table", **found.data},
        "split": {"strategy": "time"},
        "models": [{"name": "any", "use": "any:Model"}],
    }
    return parse(values, target.parent, str(target)).layout()


def _read(found: Guessed, target: Path) -> tuple[Dataset | None, str]:
    """Return the log as it is read, unless it needs more memory than is free; or what is wrong."""
    layout, limit = _layout(found, target), memory.limit(None)
    if limit is not None and memory.needed(layout) > limit.size:
        found.told.append("the log is larger than the memory that is free: it was not read whole")
        return None, ""
    with ThreadPoolExecutor(1) as background:
        try:
            return loading.cached(layout, lambda rows: None, background)[0], ""
        except DataError as error:
            return None, f"the log cannot be read so: {error}"


def _settle_format(found: Guessed, target: Path) -> str:
    """Choose how times are written where the first rows do not tell; return what is ambiguous."""
    if not found.formats:
        return ""
    counts = readable_by(_layout(found, target).events[0], found.formats)
    formats = [
        name for name, count in zip(found.formats, counts, strict=True) if count == max(counts)
    ]
    found.data["time_format"] = formats[0]
    if len(formats) == 1:
        found.told.append(f"time       {formats[0]}, by all rows")
        return ""
    parts = "day, month and year" if "%y" in formats[0] else "day and month"
    chosen, *others = (f'"{name}"' for name in formats)
    found.comments["time_format"] = f"or {' or '.join(others)}: no row tells the order of {parts}"
    keys = " or ".join(f"time_format = {name}" for name in others)
    return (
        f"ambiguous: no row tells the order of {parts}; the config has time_format = {chosen}; if "
        f"that is wrong, write {keys} in its place, or make the config anew with --time-format"
    )


_MOST_TEXTS, _MOST_SHARE, _SHOWN = 50, 0.1, 3
"""Texts that are left out one by one; the share of rows they may be; and how many are shown."""


def _leave_out_faults(found: Guessed, table: Table, target: Path) -> str:
    """Leave out the rows of a log that cannot be read; return what cannot be left out."""
    try:
        _with_quoting(table, found, whole=True)
        faults = faults_of(_layout(found, target).events[0])
    except DataError as error:
        return f"the log cannot be read so: {error}"
    most, problems = _MOST_SHARE * faults.rows, list[str]()
    if faults.bad_lines > 0:
        what = (
            f"{counted(faults.bad_lines, 'line')} with damaged quotes, too few or too many fields"
        )
        if faults.bad_lines > most:
            problems.append(what)
        else:
            found.data["bad_lines"] = "drop"
            found.comments["bad_lines"] = f"leaves out {what}"
            found.told.append(f"bad_lines  {what}: left out")
    for column, unread in faults.columns.items():
        name = printable(column)
        some = [f'"{printable(text)}"' for text, _ in unread.texts.most_common(_SHOWN)]
        such = f"{counted(unread.rows, 'row')} with {', '.join(some)}" + (
            ", …" if len(unread.texts) > _SHOWN else ""
        )
        if len(unread.texts) > _MOST_TEXTS or unread.rows > most:
            problems.append(f"{such} in {name}, expected {unread.expected}")
            continue
        if unread.empty > 0:
            what = f"{counted(unread.empty, 'row')} with nothing in {name}"
            found.leave_out(column, {"empty": False}, what)
            found.told.append(f"where      {what}: left out")
        if unread.rows > 0:
            what = f"{such} in {name}"
            found.leave_out(column, {"not": sorted(unread.texts)}, what)
            found.told.append(f"where      {what}: left out")
    shown = "\n".join(problems)
    return f"the log cannot be read so; of {counted(faults.rows, 'row')}:\n{shown}" if shown else ""


def _without_strays(data: Dataset, found: Guessed, target: Path) -> Dataset | None:
    """Return the log without a handful of last events where a long gap cuts them off.

    The config says so. More may be a season: that is yours to say, and a run asks.
    """
    strays = strays_of(data, by_day(data))[1]
    if strays is None or not strays.are_a_handful:
        return data
    last, kept = (np.datetime64(days[1], "D").item() for days in (strays.rest, strays.days))
    what = f"{counted(strays.events, 'event')} at the end, behind a long gap"
    found.leave_out(found.data["time"], {"max": last}, what)
    they = "it is" if strays.events == 1 else "they are"
    found.told.append(f"where      {strays}: left out; with max = {kept} {they} kept")
    return _read(found, target)[0]


def _nobody(text: str, target: Path, data: Dataset) -> str:
    """Return why a config evaluates nobody, if it does not."""
    config = parse(tomllib.loads(text), target.parent, str(target))
    try:
        task_on(config, data, Observer())
    except HarnessError as error:
        return f"no run can begin so: {error}"
    return ""


_WEEK, _ENOUGH = 7, 100
"""Days that are held out of a long log, and evaluated users that are enough of any."""


def _split(found: Guessed, data: Dataset | None) -> dict[str, Any]:
    """Return a split: the last days where enough users are evaluated by them, else last events."""
    if data is None:
        return {"strategy": "time", "valid_days": _WEEK}
    days = _WEEK if data.times[1] - data.times[0] >= 4 * _WEEK * DAY_US else 1
    starts = (data.times[1] // DAY_US + 1 - days) * DAY_US
    late, n = data.events.time >= starts, len(data.user_ids)
    types = [data.kinds.index(name) for name in found.hits or ()]
    hits = late & np.isin(data.events.kind, types)
    after, before = (
        np.bincount(data.events.user[rows], minlength=n) > 0
        for rows in (hits if found.hits else late, ~late)
    )
    users = int(np.count_nonzero(after & before))
    label = f"split      the last {counted(days, 'day')}"
    if users >= min(_ENOUGH, max(len(data.user_ids) // 10, 1)):
        found.told.append(f"{label}: {users:,} of their users had events before")
        return {"strategy": "time", "valid_days": days}
    found.told.append(
        f"split      each user's last event: of the last {counted(days, 'day')} "
        f"{counted(users, 'user')} had events before"
    )
    return {"strategy": "last_n", "n": 1}


def _content(data: Dataset, layout: Layout) -> list[str]:
    """Return what the log holds, and what is odd about it, as an end that is later than today."""
    events = counted(len(data.events), "event")
    users, items = counted(len(data.user_ids), "user"), counted(len(data.item_ids), "item")
    first, last = (np.datetime64(time, "us").astype("datetime64[D]") for time in data.times)
    found = [f"found      {events} of {users} and {items}, {first} … {last}, days of UTC"]
    notes = [note for note in data.notes if not note.startswith(loading.TYPES)]
    found += [f"note       {note}" for note in (*notes, *_oddities(data, layout))]
    if first < _FIRST_LOGS <= last:
        where = layout.where_with(time={"since": int(_FIRST_LOGS.astype(int)) * DAY_US})
        found.append(
            f"note       events from {first} on are earlier than any log: if 0 was written for "
            f"times that are missing, {where} leaves them out"
        )
    today = np.datetime64("today")
    if first <= today < last - 1:
        where = layout.where_with(time={"until": (int(today.astype(int)) + 1) * DAY_US - 1})
        found.append(
            f"note       events up to {last} are later than today, and the last days are held out: "
            f"if their times are wrong, {where} leaves them out"
        )
    return found


def _tell_types(data: Dataset | None, found: Guessed) -> str:
    """Say which event types there are, and which are truth; too many are no types.

    Of a log that was not read whole, the first rows are known: they may hold no sale.

    Returns
    -------
    str
        Why no type can be truth; empty where one can.
    """
    if "kind" not in found.data:
        return ""
    if data is not None:
        counts = np.bincount(data.events.kind, minlength=len(data.kinds))
        found.types = [data.kinds[code] for code in np.argsort(-counts, kind="stable")]
    if len(found.types) > MOST_TYPES:
        del found.data["kind"]
        found.types = []
        return ""
    some = ", ".join(map(printable, found.types[:5])) + ", …" * (len(found.types) > 5)
    by = "" if is_called(found.data["kind"], "kind") else ", by its values"
    told = f"kind       column {printable(found.data['kind'])}{by}, with {some}"
    funnel = funnel_of(found.data["kind"], found.types)
    if data is None and not (funnel and funnel[-1]):
        found.types = []
        found.told.append(f"{told} in its first rows: say with [evaluation] hits which are truth")
        return ""
    never = [name for name in found.types if is_never_truth(name)]
    wanted = [name for name in found.types if name not in never]
    lost = f"{' and '.join(map(printable, never))} {'is' if len(never) == 1 else 'are'}"
    if not wanted:
        found.hits, found.about_hits = [], f"name the event types that are truth; {lost} no truth"
        return f"column {printable(found.data['kind'])}: {lost} no truth: say with hits which are"
    if funnel:
        steps = [_names_of(step) for step in funnel if step]
        found.hits = [step for step in funnel if step][-1]
        shown = " → ".join(" or ".join(step) for step in steps)
        found.about_hits = f"only the last step of {shown} is truth; for all: {_inline(wanted)}"
        last = " and ".join(steps[-1])
        are = "is" if len(steps[-1]) == 1 else "are"
        only = f"only {last} {are} truth; [evaluation] hits takes others too"
        found.told.append(f"{told}: a funnel, so {only}")
    elif never:
        found.hits, found.about_hits = wanted, f"{lost} never truth"
        found.told.append(f"{told}: all but {' and '.join(map(printable, never))} count as hits")
    elif not any(map(names_a_step, found.types)):
        found.told.append(
            f"{told}: all count as hits, as their names do not say which is a sale; [evaluation] "
            "hits takes fewer"
        )
    else:
        found.told.append(f"{told}: all count as hits")
    return ""


def _names_of(step: Sequence[str]) -> list[str]:
    """Return the names of a step's event types, each with the other ways in which it is written.

    Examples
    --------
    >>> _names_of(["purchase", "order", "Purchase"])
    ['purchase (also written Purchase)', 'order']
    """
    written: dict[str, list[str]] = {}
    for name in step:
        written.setdefault(plain(name), []).append(printable(name))
    return [
        first + f" (also written {', '.join(others)})" * bool(others)
        for first, *others in written.values()
    ]


_FIRST_LOGS = np.datetime64("1990-01-01")


def _oddities(data: Dataset, layout: Layout) -> Iterator[str]:
    """Yield what looks as if a column were another, or as if ids were missing."""
    for role, ids, own in (
        ("user", data.user_ids, data.events.user),
        ("item", data.item_ids, data.events.item),
    ):
        if len(ids) == 1:
            yield f"there is one {role}: is that the column? --{role}-column names another"
        counts = np.bincount(own, minlength=len(ids))
        for code in np.flatnonzero(ids.str.to_lowercase().is_in(WORDS_OF_MANY).to_numpy()):
            if counts[code] * 100 > len(own):
                share, word = f"{counts[code]:,} of {len(own):,} events", ids[int(code)]
                yield (
                    f'the {role} "{printable(word)}" has {share}: if that stands for nobody, '
                    f"{layout.where_with(**{role: {'without': [word]}})} leaves them out"
                )


_SPLIT = {
    "time": "the last days are held out; time, last_n, fraction or given",
    "last_n": "each user's last events are held out; time, last_n, fraction or given",
}
_DEFAULTS = {"quote": True, "escape": ""}
_DATA_KEYS = {
    "path": "where the log is, from the folder of this config",
    "events": "",
    "separator": "",
    "header": "",
    "encoding": "",
    "quote": "quotes are letters",
    "escape": "stands before a quote that is a letter",
    "bad_lines": "",
    "rows": "whose elements are rows",
    "user": "",
    "item": "",
    "time": "",
    "time_format": 'or "iso", "epoch_s", "epoch_ms", "epoch_us", "%d.%m.%Y" and the like',
    "kind": "event types; [evaluation] hits says which of them are truth",
}


def _toml(found: Guessed, split: Mapping[str, Any], log: Path) -> str:
    """Return the config as text, every line that a person may want to change with a comment."""
    left_out = f"leaves out {'; '.join(found.left_out)}"
    lines = [
        f"# Made by harness init of {printable(log.name)}; docs/config.md has every key.",
        "[data]",
        'layout = "table"',
        *(
            _line(key, found.data[key], found.comments.get(key, told))
            for key, told in (_DATA_KEYS | {"where": left_out}).items()
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
    if found.hits:
        lines.append(_line("hits", found.hits, found.about_hits))
    elif found.hits is not None:  # an empty list is refused
        lines.append(f"# {_line('hits', ['…'], found.about_hits)}")
    elif found.types:
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
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key(name)} = {_inline(one)}' for name, one in value.items())} }}"
    return tomli_w.dumps({"key": value}).removeprefix("key = ").strip()
