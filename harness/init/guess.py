"""A log of unknown shape in, a commented config out, and what was guessed of it."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness.config import parse
from harness.config.paths import escaped
from harness.core.errors import DataError, HarnessError, counted, printable
from harness.core.progress import Observer, doing
from harness.data import loading
from harness.data.conditions import key
from harness.data.dataset import DAY_US, Dataset
from harness.data.layout import EventTable, Layout, Table
from harness.data.rules import bad_texts, rules_of
from harness.data.source import Wanted
from harness.data.table_files import sources
from harness.evaluation import memory
from harness.init.columns import (
    MOST_TYPES,
    Draft,
    funnel_of,
    guess_columns,
    is_never_truth,
    list_columns,
    names_of,
)
from harness.protocol.strays import by_day, strays_of
from harness.protocol.task import task_on

_SEPARATORS = ("\t", ";", "|", "::", " ")
_QUOTING: dict[str, dict[str, Any]] = {
    "in": {},
    "with a backslash before": {"escape": "\\"},
    "without": {"quote": False},
}


@dataclass(frozen=True)
class NewConfig:
    """A config for a log, as TOML with comments, and a line on each guess.

    `fault` says what is wrong with it as it stands; it is empty where a run can begin.
    """

    text: str
    lines: list[str]
    fault: str = ""


@doing("reading the log")
def config_for(log: Path, target: Path, **named: Any) -> NewConfig:
    """Return a config that evaluates baselines on a log; its paths start beside `target`.

    `named` has keys of ``[data]`` that are known: `user`, `item`, `time`, `time_format`, `header`,
    `separator` and `encoding`. What is None is guessed.
    """
    draft = Draft({name: value for name, value in named.items() if value is not None})
    with closing(sources(_lenient(_table(log, draft)))) as files:
        guess_columns(next(files), draft)
    folder = log.parent.resolve()
    relative = os.path.relpath(folder, target.parent.resolve())
    path = str(folder) if relative.startswith("../../..") else relative
    draft.data |= {"path": escaped(path), "events": escaped(log.name)}
    data, fault = _read(draft, target)
    if fault:
        fault = _leave_out_faults(draft, target, fault)
        data, fault = (None, fault) if fault else _read(draft, target)
    if data is not None:
        data = _without_strays(data, draft, target)
    fault = fault or _choose_hits(data, draft)
    if data is not None:
        draft.lines += _content(data)
    text = _toml(draft, _split(draft, data), log)
    if data is not None and not fault:
        try:
            task_on(parse(tomllib.loads(text), target.parent, str(target)), data, Observer())
        except HarnessError as error:
            fault = f"no run can start with this config: {error}"
    return NewConfig(text, draft.lines, fault)


def _table(log: Path, draft: Draft) -> Table:
    """Return how a log is read: its separator, its quotes, and lists whose elements are rows."""
    data, usual = draft.data, "\t" if ".tsv" in log.name.lower() else ","
    header = tuple(data["header"]) if "header" in data else None
    if "separator" in data:
        data["separator"] = data["separator"].replace("\\t", "\t")  # as a shell leaves it
    separator, encoding = data.get("separator", usual), data.get("encoding", "utf-8")
    table = Table(str(log), separator=separator, header=header, encoding=encoding, key="events")
    if "separator" not in data:
        separator, width = _separator(table)
        if separator != usual and width > 1:
            data["separator"] = separator
            table = replace(table, separator=separator)
            sign = json.dumps(separator)
            draft.lines.append(f"separator  {sign}: the first line has {width} fields by it")
    if len(table.separator.encode()) == 1 and _misshapen(table) > 0:
        how = min(_QUOTING, key=lambda how: _misshapen(replace(table, **_QUOTING[how])))
        table = replace(table, **_QUOTING[how])
        data |= _QUOTING[how]
        if _QUOTING[how]:
            draft.lines.append(f"quote      fields are read {how} quotes, else lines are damaged")
    with closing(sources(table)) as files:
        lists = list_columns(next(files), draft)
    if lists:
        data["rows"] = lists if len(lists) > 1 else lists[0]
        draft.lines.append(f"rows       the elements of {names_of(lists)}")
    return replace(table, rows=tuple(lists))


def _separator(table: Table) -> tuple[str, int]:
    """Return what makes the most fields of the first line (a blank if nothing), and how many."""
    # Where a header is named, only what makes as many fields as it has.
    widths = dict.fromkeys((table.separator, *_SEPARATORS), 0)
    for separator, quote in product(widths, (False, True)):
        candidate = replace(table, separator=separator, quote=quote)
        with suppress(DataError), closing(sources(candidate)) as files:
            widths[separator] = len(next(files).names)
    signs = [sign for sign, width in widths.items() if width > 1 and sign != " "] or [" "]
    best = max(signs, key=lambda sign: widths[sign])  # of equal ones the first
    return best, widths[best]


def _layout(draft: Draft, target: Path) -> Layout:
    """Return how the log is read: neither the split nor the model changes it."""
    values = {
        "data": {"layout": "table", **draft.data},
        "split": {"strategy": "time"},
        "models": [{"name": "any", "use": "any:Model"}],
    }
    return parse(values, target.parent, str(target)).layout()


def _read(draft: Draft, target: Path) -> tuple[Dataset | None, str]:
    """Return the log as it is read, unless it needs more memory than is free; or what is wrong."""
    layout, limit = _layout(draft, target), memory.limit(None)
    if memory.needed(layout) > limit.size:
        draft.lines.append(
            "the log is larger than the free memory, so init read only its first rows"
        )
        return None, ""
    with ThreadPoolExecutor(1) as background:
        try:
            return loading.cached(layout, lambda rows: None, background)[0], ""
        except DataError as error:
            return None, f"harness cannot read the log with this config: {error}"


@dataclass
class _Unread:
    """The values of a column that are not what they should be: empty ones, and others in rows."""

    expected: str
    empty: int = 0
    rows: int = 0
    texts: Counter[str] = field(default_factory=Counter)

    def add(self, texts: pl.Series) -> None:
        """Count more of them; of different ones not many are kept."""
        filled = texts.drop_nulls()
        self.empty += texts.null_count()
        self.rows += len(filled)
        distinct = filled.unique(maintain_order=True)
        for text, count in zip(distinct, filled.unique_counts(), strict=True):
            if text in self.texts or len(self.texts) < _KEPT:
                self.texts[text] += count


@dataclass
class _Faults:
    """What is wrong with a log: lines whose fields cannot be told, and values by column."""

    rows: int = 0
    bad_lines: int = 0
    columns: dict[str, _Unread] = field(default_factory=dict)


def _lenient(table: Table) -> Table:
    """Return a table without the lines of text whose fields cannot be told."""
    return replace(table, bad_lines="drop", key="")  # of other files that says nothing


def _faults_of(table: EventTable) -> _Faults:
    """Return all that is wrong with a log; rows that ``where`` leaves out may hold anything.

    DataError where it cannot be read at all.
    """
    faults = _Faults()
    for source in sources(_lenient(table)):
        source.require(table.columns)
        pattern = None if table.time is None else source.pattern(table.time, table.time_format)
        for rows in source.rows(Wanted(table.columns)):
            faults.rows += rows.frame.height + rows.left_out
            faults.bad_lines += rows.left_out
            for rule in rules_of(table, rows.frame.schema, pattern):
                text, bad = bad_texts(rows.frame, rule, table.where)
                if bad.any():
                    unread = faults.columns.setdefault(rule.column, _Unread(rule.expected))
                    unread.add(text.filter(pl.Series(bad)))
    return faults


def _misshapen(table: Table) -> float:
    """Return how many of the first lines of text have fields that cannot be told.

    Infinity: no line can be read.
    """
    try:
        with closing(sources(_lenient(table))) as files:
            source = next(files)
            first = next(source.rows(Wanted(source.names[:1], count=1)), None)
    except DataError:
        return math.inf
    return 0 if first is None else first.left_out


_KEPT, _MOST_TEXTS, _MOST_SHARE, _SHOWN = 1_000, 50, 0.1, 3
"""Different texts that are kept, and left out one by one; their share of rows; those shown."""


def _leave_out_faults(draft: Draft, target: Path, fault: str) -> str:
    """Leave out the rows of a log that cannot be read; return what cannot be left out."""
    # Where rows cannot be told apart, that is the `fault` that reading had.
    try:
        faults = _faults_of(_layout(draft, target).events[0])
    except DataError:  # the same, but of a table without a key, so its words name no section
        return fault
    most, problems = _MOST_SHARE * faults.rows, list[str]()
    lines = counted(faults.bad_lines, "line") + " with damaged quotes, too few or too many fields"
    if faults.bad_lines > most:
        problems.append(lines)
    elif faults.bad_lines > 0:
        draft.data["bad_lines"] = "drop"
        draft.comments["bad_lines"] = f"leaves out {lines}"
        draft.lines.append(f"bad_lines  {lines}: left out")
    for column, unread in faults.columns.items():
        name, texts = printable(column), unread.texts
        shown = ", ".join(f'"{printable(text)}"' for text, _ in texts.most_common(_SHOWN))
        shown += ", …" if len(texts) > _SHOWN else ""
        rows = f"{counted(unread.rows, 'row')} with {shown} in {name}"
        if len(texts) > _MOST_TEXTS or unread.rows > most:
            problems.append(f"{rows}, expected {unread.expected}")
            continue
        if unread.empty > 0:
            empty = f"{counted(unread.empty, 'row')} with nothing in {name}"
            draft.leave_out(column, {"empty": False}, empty)
        if unread.rows > 0:
            draft.leave_out(column, {"not": sorted(texts)}, rows)
    if not problems:
        return ""
    rows = counted(faults.rows, "row")
    return "\n".join([f"harness cannot read the log with this config; of {rows}:", *problems])


def _without_strays(data: Dataset, draft: Draft, target: Path) -> Dataset | None:
    """Return the log without a handful of last events where a long gap cuts them off."""
    # More may be a season: you say that, and a run asks. First events are noted.
    early, late = strays_of(data, by_day(data))
    if early is not None:
        where = early.left_out(_layout(draft, target))
        note = f"note       {early}. If a missing time was written as 0 or as a default, {where}"
        draft.lines.append(f"{note} leaves {'it' if early.events == 1 else 'them'} out")
    if late is None or not late.are_a_handful:
        return data
    last, first = (np.datetime64(day, "D").item() for day in (late.rest[1], late.days[0]))
    rows = f"{counted(late.events, 'event')} from {first} on, after a long gap"
    draft.leave_out(draft.data["time"], {"max": last}, rows)
    return _read(draft, target)[0]


_WEEK, _ENOUGH = 7, 100
"""Days that are held out of a long log, and evaluated users that are enough of any."""


def _split(draft: Draft, data: Dataset | None) -> dict[str, Any]:
    """Return a split: the last days where enough users are evaluated by them, else last events."""
    if data is None:
        return {"strategy": "time", "valid_days": _WEEK}
    days = _WEEK if data.times[1] - data.times[0] >= 4 * _WEEK * DAY_US else 1
    late = data.events.time >= (data.times[1] // DAY_US + 1 - days) * DAY_US
    types = [data.kinds.index(name) for name in draft.hits]
    hits = late & np.isin(data.events.kind, types) if types else late
    n_users = len(data.user_ids)
    after, before = (
        np.bincount(data.events.user[rows], minlength=n_users) > 0 for rows in (hits, ~late)
    )
    users, window = int(np.count_nonzero(after & before)), f"the last {counted(days, 'day')}"
    if users >= min(_ENOUGH, max(n_users // 10, 1)):
        draft.lines.append(f"split      {window}: {users:,} of their users had events before")
        return {"strategy": "time", "valid_days": days}
    had = f"{counted(users, 'user')} had events before"
    draft.lines.append(f"split      each user's last event: of {window} {had}")
    return {"strategy": "last_n", "n": 1}


def _content(data: Dataset) -> list[str]:
    """Return what the log holds, and what is odd about it."""
    counts = {"user": len(data.user_ids), "item": len(data.item_ids)}
    users, items = (counted(count, role) for role, count in counts.items())
    first, last = (np.datetime64(time, "us").astype("datetime64[D]") for time in data.times)
    notes = [note for note in data.notes if not note.startswith(loading.TYPES)]
    notes += [
        f"there is only one {role}: is this the right column? --{role}-column names another"
        for role, count in counts.items()
        if count == 1
    ]
    log = f"{counted(len(data.events), 'event')} of {users} and {items}, {first} … {last}"
    return [f"found      {log}, days of UTC", *(f"note       {note}" for note in notes)]


def _choose_hits(data: Dataset | None, draft: Draft) -> str:
    """Choose the event types that are truth; return why none can be."""
    # Of a log that was not read whole, the first rows are known: they may hold no sale.
    if "kind" not in draft.data:
        return ""
    column = draft.data["kind"]
    if data is not None:
        counts = np.bincount(data.events.kind, minlength=len(data.kinds))
        draft.types = [data.kinds[code] for code in np.argsort(-counts, kind="stable")]
    types, name = draft.types, printable(column)
    if len(types) > MOST_TYPES:
        del draft.data["kind"]
        draft.types = []
        return ""
    line = f"kind       column {name}, with {names_of(types[:5])}{', …' if len(types) > 5 else ''}"
    funnel = funnel_of(column, types)
    never = [event_type for event_type in types if is_never_truth(event_type)]
    wanted = [event_type for event_type in types if event_type not in never]
    no_truth = f"{names_of(never)} {'is' if len(never) == 1 else 'are'} no truth"
    if data is None and not (funnel and funnel[-1]):
        draft.types = []
        line += " in its first rows: name the true ones in [evaluation] hits"
    elif not wanted:
        draft.types = []
        return f"column {name}: {no_truth}: name the true ones in [evaluation] hits"
    elif funnel:
        steps = [" or ".join(map(printable, step)) for step in funnel if step]
        draft.hits = [step for step in funnel if step][-1]
        draft.about_hits = (
            f"only the last step of {' → '.join(steps)} is truth; for all: {_inline(wanted)}"
        )
        line += f": a funnel, so only {steps[-1]} is truth; [evaluation] hits can add others"
    elif never:
        draft.hits, draft.about_hits = wanted, no_truth
        line += f": all but {names_of(never)} count as hits"
    else:
        line += ": all count as hits; [evaluation] hits can choose fewer"
    draft.lines.append(line)
    return ""


_KEYS = (
    "path events separator header encoding quote escape bad_lines rows user item time time_format "
    "kind where"
)
_COMMENTS = {
    "path": "the folder of the log, relative to this config",
    "quote": "quotes are ordinary characters",
    "escape": "written before a quote that is part of the text",
    "rows": "a list column: each element is one event",
    "time_format": 'or "iso", "epoch_s", "epoch_ms", "epoch_us", "%d.%m.%Y" and the like',
    "kind": "event types; [evaluation] hits chooses those that are truth",
}
_SPLIT = {
    "time": "the last days are held out; time, last_n, fraction or given",
    "last_n": "each user's last events are held out; time, last_n, fraction or given",
}


def _toml(draft: Draft, split: Mapping[str, Any], log: Path) -> str:
    """Return the config as text, every line that you may want to change with a comment."""
    comments = _COMMENTS | draft.comments
    lines = [
        f"# Written by harness init from {printable(log.name)}. All keys are in docs/config.md.",
        "[data]",
        'layout = "table"',
        *(
            _line(name, draft.data[name], comments.get(name, ""))
            for name in _KEYS.split()
            if name in draft.data
        ),
    ]
    if draft.value is not None:
        lines.append(
            "# "
            f"{_line('value', draft.value, 'the weight of an event, and the grade of a true item')}"
        )
    lines += ["", "[split]"]
    lines += [_line(name, value, _SPLIT.get(value, "")) for name, value in split.items()]
    if split["strategy"] == "time":
        lines.append("# folds = 4  # the last four windows instead of one")
    lines += ["", "[evaluation]", "k = 12"]
    if draft.hits:
        lines.append(_line("hits", draft.hits, draft.about_hits))
    elif draft.types:
        every = _line("hits", draft.types, "all are true items; remove types that are not")
        lines.append(f"# {every}" if len(draft.types) == 1 else every)
    models = resources.files("harness.data").joinpath("any_log.toml").read_text(encoding="utf-8")
    return "\n".join([*lines, "", models])


def _line(name: str, value: Any, comment: str = "") -> str:
    return f"{name} = {_inline(value)}" + (f"  # {comment}" if comment else "")


def _inline(value: Any) -> str:
    """Return a value as TOML, in one line."""
    import tomli_w

    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, dict):
        pairs = (f"{key(name)} = {_inline(element)}" for name, element in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return tomli_w.dumps({"key": value}).removeprefix("key = ").strip()
