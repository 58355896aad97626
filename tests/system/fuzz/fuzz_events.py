"""Mutated event files: each is read as Python's csv and datetime read it, or told with its line."""

import csv
import gzip
import io
import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mutation import TOKENS, batches, chances, mutated, shown

from harness.config import DataConfig
from harness.core.errors import DataError
from harness.data.conditions import condition
from harness.data.layout import Layout
from harness.data.loading import load
from harness.delimited import blocks

SEEDS = [
    b"user,item,time,stars\nann,a,2020-01-01,5\nbob,b,2020-01-02,1\nzoe,a,2020-02-29,4.5\n",
    b"user,item,time,stars\r\nann,a,2020-01-01 10:00:00,5\r\nbob,b,2020-01-02 11:30:59.25,3\r\n",
    b'"user","item","time","stars"\n"an""n","a,b","2020-01-01","5"\n"b\no","c","2020-01-03","5"\n',
    "user,item,time,stars\nzoé,ä,2020-01-01T10:00Z,5\nbob,b,2020-01-02T11:30+02:00,3\n".encode(),
    b"\xef\xbb\xbfuser,item,time,stars\nann,0706016001,2020-01-01,5\nann,0706016001,2020-01-01,",
]
WORDS = [*TOKENS, b"2020-01-01", b"2020-02-30", b"time", b"user", b"5.", b".5", b"1" * 20]
EPOCH = datetime(1970, 1, 1)


def layout(folder: Path, name: str, numbered: bool) -> Layout:
    data = DataConfig(layout="table", path=".", events=name)
    where = (condition("stars", {"min": 2}),) if numbered else ()
    return data.table_layout(folder).with_events(where=where)


def expected(content: bytes, minimum: bool) -> list[tuple[str, str, int]]:
    """Return what Python reads."""
    text = content.decode("utf-8-sig", "replace")
    rows = [
        row
        for row in csv.DictReader(io.StringIO(text, newline=""))
        if row["user"] or row["item"] is not None  # a line of "" alone is a blank one
    ]
    kept = [row for row in rows if not minimum or (row["stars"] and float(row["stars"]) >= 2)]
    return sorted((row["user"], row["item"], microseconds(row["time"])) for row in kept)


def microseconds(text: str) -> int:
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    time = datetime.fromisoformat(text)
    plain = time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    return (plain - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(("batch", "files"), batches(10))
def test_no_event_file_surprises(batch: int, files: int, tmp_path: Path) -> None:
    chance = chances("events", batch)
    for number in range(files):
        content = mutated(chance.choice(SEEDS), chance, WORDS)
        packed, minimum = chance.random() < 0.1, chance.random() < 0.5
        name = "log.csv.gz" if packed else "log.csv"
        (tmp_path / name).write_bytes(gzip.compress(content, 1) if packed else content)
        with shown(f"batch {batch}, file {number}: {content!r}, minimum {minimum}"):
            refused, events = read(layout(tmp_path, name, minimum), chance)
            if events is None:
                assert "log.csv" in refused, refused
            elif is_plain(content):
                assert events == expected(content, minimum)
        (tmp_path / name).unlink()


COLONS = [
    b"user::item::time::stars\nann::a::2020-01-01::5\nbob::b::2020-01-02::1\n",
    'user::item::time::stars\r\n"zoé::ä:b::2020-01-01::5\r\n::::::\r\n'.encode(),
]
LINES = [
    b'{"user": "ann", "item": 7, "time": "2020-01-01"}\n'
    b'{"user": 5, "item": "b", "time": "2020-01-02"}\n',
    '{"user": "zoé", "all": [{"item": "a", "time": "2020-01-01"}, {"item": 5}]}\n{}\n'.encode(),
    b'{"user": 1, "item": [1, 2], "time": ["2020-01-01", "2020-01-02"]}\n{"user": 2, "item": []}\n',
]
OTHER_WORDS = [*WORDS, b"::", b":", b"\x1f", b"[", b"]", b"{", b"}", b"1.5", b"null", b"\\ud800"]


def by_separator(content: bytes) -> list[tuple[str, str, int]]:
    """Return the rows that str.split makes."""
    lines = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    header, *rows = [line.removesuffix("\r").split("::") for line in lines]
    rows_by_name = [dict(zip(header, row, strict=True)) for row in rows if row != [""]]
    return sorted((row["user"], row["item"], microseconds(row["time"])) for row in rows_by_name)


def by_object(content: bytes, rows: list[str]) -> list[tuple[str, str, int]]:
    """Return the rows that the standard library's reader makes."""
    events = []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        record = json.loads(line, object_pairs_hook=first) if line.strip() else {}
        if rows == ["all"]:
            events += [record | event for event in record.get("all") or ()]
        elif rows:
            lists = zip(*(record.get(name) or () for name in rows), strict=True)
            events += [record | dict(zip(rows, values, strict=True)) for values in lists]
        elif record:
            events.append(record)
    return sorted((text(e["user"]), text(e["item"]), microseconds(e["time"])) for e in events)


def first(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object; of a key that stands twice the first value counts, as in Polars."""
    return dict(reversed(pairs))


def text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize(("batch", "files"), batches(10))
def test_no_file_of_another_kind_surprises(batch: int, files: int, tmp_path: Path) -> None:
    chance = chances("other events", batch)
    for number in range(files):
        of_lines = chance.random() < 0.5
        content = mutated(chance.choice(LINES if of_lines else COLONS), chance, OTHER_WORDS)
        rows = chance.choice([[], ["all"], ["item", "time"]]) if of_lines else []
        name = "log.jsonl" if of_lines else "log.dat"
        (tmp_path / name).write_bytes(content)
        with shown(f"batch {batch}, file {number}: {content!r}, rows {rows}"):
            refused, events = read(otherwise(tmp_path, name, rows), chance)
            if events is None:
                assert "log." in refused, refused
            elif is_plain(content):
                assert events == (by_object(content, rows) if of_lines else by_separator(content))
        (tmp_path / name).unlink()


def otherwise(folder: Path, name: str, rows: list[str]) -> Layout:
    declared = layout(folder, name, numbered=False)
    return declared.with_events(separator="::", rows=tuple(rows))


def is_plain(content: bytes) -> bool:
    """Return whether Python reads its lines as we do: no lone carriage returns, and no UTF-16."""
    return b"\r" not in content.replace(b"\r\n", b"") and content[:2] != b"\xff\xfe"


def read(layout: Layout, chance: random.Random) -> tuple[str, list[tuple[str, str, int]] | None]:
    """Return what is said, or all events, sorted; blocks may have any size."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "SIZE", chance.choice([64, 100, 1 << 22]))
            data = load(layout)
    except DataError as error:
        return str(error), None
    users, items = data.user_ids.to_list(), data.item_ids.to_list()
    e = data.events
    rows = zip(e.user.tolist(), e.item.tolist(), e.time.tolist(), strict=True)
    return "", sorted((users[u], items[i], t) for u, i, t in rows)
