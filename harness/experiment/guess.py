"""A log of unknown shape in, a commented config out, and what was guessed of it."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from harness.config import parse
from harness.config.paths import escaped
from harness.core.errors import DataError, HarnessError, UsageError, counted, printable
from harness.core.progress import Clock
from harness.data import loading
from harness.data.conditions import key
from harness.data.dataset import DAY_US, Dataset
from harness.data.layout import Layout, Table
from harness.data.oddities import WORDS_OF_MANY
from harness.data.table_files import sources
from harness.experiment import memory
from harness.experiment.guess_columns import (
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
    table = _in_rows(_table(log, said, found), said, found)
    with closing(sources(table)) as files:
        guess(next(files), said, found)
    folder = log.parent.resolve()
    relative = os.path.relpath(folder, target.parent.resolve())
    path = str(folder) if relative.startswith("../../..") else relative
    found.data |= {"path": escaped(path), "events": escaped(log.name)}
    data, fault = _read(found, target)
    if data is not None:
        data = _without_strays(data, found, target)
    if not fault:
        fault = _tell_types(data, found)
    if data is not None:
        found.told += _content(data, _layout(found, target))
    text = _toml(found, _split(found, data), log)
    return NewConfig(text, found.told, fault or (_nobody(text, target, data) if data else ""))


def _table(log: Path, said: Columns, found: Guessed) -> Table:
    """Return a log, by the separator that makes the most columns of its first line.

    Where a header is named, by one that makes as many as that has.
    """
    encoding = said.encoding or "utf-8"
    usual = "\t" if ".tsv" in log.name.lower() else ","
    chosen = said.separator and said.separator.replace("\\t", "\t")  # as a shell leaves it
    if chosen is None:
        counts = _widths(log, usual, encoding)
        best = max(counts, key=lambda one: counts[one])  # of equal ones the first
        if said.header is not None:
            best = next((one for one in counts if counts[one] == len(said.header)), best)
            _require_fields(log, said.header, counts, best)
        if best != usual and counts[best] > 1:
            chosen = best
            found.told.append(f"separator  {json.dumps(best)}: the first line has {counts[best]}")
    if chosen is not None:
        found.data["separator"] = chosen
    if said.header is not None:
        found.data["header"] = list(said.header)
    if said.encoding is not None:
        found.data["encoding"] = said.encoding
    return Table(log, chosen or usual, said.header, encoding, key="events")


def _in_rows(table: Table, said: Columns, found: Guessed) -> Table:
    """Return a log in whose lists each element is a row, where these hold what a log needs."""
    with closing(sources(table)) as files:
        lists = lists_of(next(files), said)
    if not lists:
        return table
    found.data["rows"] = lists if len(lists) > 1 else lists[0]
    found.told.append(f"rows       the elements of {', '.join(map(printable, lists))}")
    return replace(table, rows=tuple(lists))


def _require_fields(
    log: Path, header: tuple[str, ...], counts: Mapping[str, int], best: str
) -> None:
    """Raise UsageError where no separator makes as many fields as a header names."""
    is_text = len(set(counts.values())) > 1
    if is_text and counts[best] != len(header):
        raise UsageError(
            f"{log}: line 1 has {counts[best]} fields, and --header names {len(header)}: "
            f"{', '.join(map(printable, header))}"
        )


def _widths(log: Path, usual: str, encoding: str) -> dict[str, int]:
    """Return how many columns each separator makes; blanks count where no other makes two."""
    counts = dict.fromkeys((usual, *_SEPARATORS), 0)  # as many where it cannot be read so
    for separator in counts:
        table = Table(log, separator, encoding=encoding)
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


def _without_strays(data: Dataset, found: Guessed, target: Path) -> Dataset | None:
    """Return the log without a handful of last events where a long gap cuts them off.

    The config says so. More may be a season: that is yours to say, and a run asks.
    """
    strays = strays_of(data, by_day(data))[1]
    if strays is None or not strays.are_a_handful:
        return data
    last, kept = (np.datetime64(days[1], "D").item() for days in (strays.rest, strays.days))
    found.leave_out(found.data["time"], {"max": last}, "the last events, behind a long gap")
    they = "it is" if strays.events == 1 else "they are"
    found.told.append(f"where      {strays}: left out; with max = {kept} {they} kept")
    return _read(found, target)[0]


def _nobody(text: str, target: Path, data: Dataset) -> str:
    """Return why a config evaluates nobody, if it does not."""
    config = parse(tomllib.loads(text), target.parent, str(target))
    try:
        task_on(config, data, Clock())
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
    told = f"kind       column {printable(found.data['kind'])}, with {some}"
    funnel = funnel_of(found.data["kind"], found.types)
    if data is None and not (funnel and funnel[-1]):
        found.types = []
        found.told.append(f"{told} in its first rows: say with [evaluation] hits which are truth")
        return ""
    never = [name for name in found.types if is_never_truth(name)]
    wanted = [name for name in found.types if name not in never]
    lost = f"{' and '.join(map(printable, never))} {'is' if len(never) == 1 else 'are'}"
    if not wanted:
        found.hits, found.about_hits = [], "name the event types that are truth"
        return f"column {printable(found.data['kind'])}: {lost} no truth: say with hits which are"
    if funnel:
        steps = [step for step in funnel if step]
        found.hits = steps[-1]
        shown = " → ".join(" or ".join(map(printable, step)) for step in steps)
        found.about_hits = f"only the last step of {shown} is truth; for all: {_inline(wanted)}"
        last = " and ".join(map(printable, found.hits))
        are = "is" if len(found.hits) == 1 else "are"
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
_DATA_KEYS = {
    "path": "where the log is, from the folder of this config",
    "events": "",
    "separator": "",
    "header": "",
    "encoding": "",
    "rows": "whose elements are rows",
    "user": "",
    "item": "",
    "time": "",
    "time_format": 'or "iso", "epoch_s", "epoch_ms", "epoch_us", "%d.%m.%Y" and the like',
    "kind": "event types; [evaluation] hits says which of them are truth",
    "where": "leaves out {left_out}",
}


def _toml(found: Guessed, split: Mapping[str, Any], log: Path) -> str:
    """Return the config as text, every line that a person may want to change with a comment."""
    lines = [
        f"# Made by harness init of {printable(log.name)}; docs/config.md has every key.",
        "[data]",
        'layout = "table"',
        *(
            _line(key, found.data[key], told.format(left_out="; ".join(found.left_out)))
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
    if found.hits is not None:
        lines.append(_line("hits", found.hits, found.about_hits))
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
