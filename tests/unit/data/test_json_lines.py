"""JSON lines, and rows that lie in lists, as OTTO and Yambda publish them."""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import refusal
from event_files import log, refused, rows

from harness.core.errors import DataError
from harness.data import attributes
from harness.data.layout import AttributeTable, Table
from harness.data.loading import load
from harness.data.source import Wanted
from harness.data.sources import lists, parquet
from harness.data.table_files import sources
from harness.delimited import blocks

DAY = 86_400_000
OTTO = {"user": "session", "item": "aid", "time": "ts", "time_format": "epoch_ms", "rows": "events"}
SESSIONS = [
    {"session": 7, "events": [{"aid": 1, "ts": 0}]},
    {"session": 8, "events": [{"aid": 2, "ts": DAY}, {"aid": 3, "ts": 2 * DAY}]},
]
EVENTS = [("7", "1", 0), ("8", "2", 1), ("8", "3", 2)]
LISTS = {"user": "uid", "item": "is", "time": "ts", "time_format": "epoch_s", "rows": ["is", "ts"]}
SEQUENTIAL = {"uid": [1, 2, 3], "is": [[10, 20], [], [30]], "ts": [[0, 86_400], [], [172_800]]}
GOOD = {"user": "a", "item": "x", "time": "1970-01-01"}


def lines(folder: Path, objects: list[Any], name: str = "log.jsonl") -> str:
    text = "".join(line if isinstance(line, str) else f"{json.dumps(line)}\n" for line in objects)
    content = text.encode("utf-8", "surrogatepass")
    (folder / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    return name


@pytest.mark.parametrize("name", ["log.jsonl", "log.ndjson", "log.json", "log.jsonl.gz"])
@pytest.mark.parametrize("more", [[], ["\n", {"session": 9, "events": []}, "\n"]])
def test_sessions_of_otto(tmp_path: Path, name: str, more: list[Any]) -> None:
    lines(tmp_path, [SESSIONS[0], *more, SESSIONS[1], *more], name)
    assert rows(log(tmp_path, events=name.removesuffix(".gz"), **OTTO)) == EVENTS


def test_lists_of_yambda_and_records_in_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame(SEQUENTIAL)
    frame.write_parquet(tmp_path / "log.parquet")
    for name in ("log.parquet", lines(tmp_path, frame.to_dicts())):
        result = rows(log(tmp_path, events=name, **LISTS))
        assert result == [("1", "10", 0), ("1", "20", 1), ("3", "30", 2)]
    pl.DataFrame(SESSIONS).write_parquet(tmp_path / "log.parquet")
    assert rows(log(tmp_path, events="log.parquet", **OTTO)) == EVENTS


def test_lists_of_other_lengths_are_named_with_their_row(tmp_path: Path) -> None:
    frame = pl.DataFrame(SEQUENTIAL | {"ts": [[0, 1], [], [1, 2]]})
    frame.write_parquet(tmp_path / "log.parquet")
    for name, unit in (("log.parquet", "row"), (lines(tmp_path, frame.to_dicts()), "line")):
        words = '3: "is" has 1 elements and "ts" has 2; expected the same number'
        refused(tmp_path, f"{name}: {unit} {words}", events=name, **LISTS)


NO_ID = "which cannot tell ids apart"


@pytest.mark.parametrize(
    ("objects", "keys", "words"),
    [
        ([GOOD, "not json\n"], {},
         "line 2 is not JSON: Expecting value at character 1; expected one object"),
        ([GOOD, "[1]\n"], {}, "line 2 is not a JSON object; expected one per line; found '[1]'"),
        ([GOOD, "[" * 100_000 + "\n"], {},
         "line 2 is JSON that cannot be read; expected one object per line"),
        ([GOOD, GOOD | {"item": 1.0}, GOOD], {}, f'line 2, column "item": found 1.0, {NO_ID}'),
        ([GOOD, GOOD | {"item": {}}, GOOD], {}, f'line 2, column "item": found {{}}, {NO_ID}'),
        ([GOOD, GOOD | {"time": "never"}], {},
         'line 2, column "time": found "never", expected an ISO time'),
        ([GOOD, GOOD | {"user": "x\ud800"}], {}, "line 2 holds half a character"),
        ([{"uid": 1, "is": ["a", 1.5], "ts": [1, 2]}],
         LISTS, f'line 1, column "is": found 1.5, {NO_ID}'),
        ([*SESSIONS, {"session": 1, "events": 5}], OTTO,
         'line 3, column "events": found 5, expected a list'),
        ([*SESSIONS, {"session": 1, "events": [{"aid": 1, "ts": 2, "type": "😀"}, 5]}], OTTO,
         'line 3, column "events": found 5, expected objects'),
        ([*SESSIONS, {"session": 1, "events": [{"aid": 1}]}], OTTO,
         'line 3, column "ts": found an empty value'),
        ([*SESSIONS, {"session": 1, "events": [{"aid": 1.5, "ts": 2}]}], OTTO,
         f'line 3, column "aid": found 1.5, {NO_ID}'),
        ([SESSIONS[0], "\n", {"session": 7}], OTTO,
         'line 3: "events" is missing; expected a list, or []'),
        ([{"session": 1, "aid": 2, "events": [{"aid": 1, "ts": 2}]}], OTTO,
         'rows: "aid" is a column and also a field in "events"'),
        (SESSIONS, OTTO | {"user": "usr"}, 'log.jsonl: no column "usr"; it has: session, a'),
        (SESSIONS, OTTO | {"rows": "session"},
         'line 1, column "session": found 7, expected a list'),
        (SESSIONS, OTTO | {"rows": "event"},
         '[data] rows: "event" is not a column of lists; did you mean "events"?'),
        (SESSIONS, OTTO | {"rows": None},
         'no column "aid"; it has: session, events\nit is a field in the lists of '
         '"events": rows = "events" under [data] makes rows of them'),
        ([GOOD | {"time": 5}], {}, '; set time_format = "epoch_s" or "epoch_ms" under [data]'),
        ([json.dumps(SESSIONS)], OTTO,
         "log.jsonl: line 1 starts a JSON array; write one object per line"),
        ([], OTTO, "log.jsonl: the file is empty; expected one object per line"),
    ],
)  # fmt: skip
def test_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, objects: list[Any], keys: Any, words: str
) -> None:
    name = lines(tmp_path, objects)
    for size in (10, 1 << 22):
        monkeypatch.setattr(blocks, "SIZE", size)
        refused(tmp_path, words, events=name, **keys)


def test_ids_in_lists_of_parquet_need_rows(tmp_path: Path) -> None:
    pl.DataFrame(SEQUENTIAL).write_parquet(tmp_path / "log.parquet")
    words = f'column "is" holds lists, {NO_ID}; if its elements are ids, rows = "is" '
    with refusal(DataError, f"{words}under [data] makes one row per"):
        load(log(tmp_path, events="log.parquet", **LISTS | {"rows": None}))


def test_lists_are_in_json_lines_and_parquet_alone(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("session,events\n1,2\n")
    refused(
        tmp_path, "log.csv: [data] rows names lists, which only JSON lines (.jsonl) and Par", **OTTO
    )


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST", 100)
    monkeypatch.setattr(blocks, "SIZE", 50)
    name = lines(tmp_path, [GOOD, GOOD | {"note": "x" * 200}])
    refused(
        tmp_path, "log.jsonl: a line is longer than 100 bytes; check the line ends", events=name
    )


@pytest.mark.parametrize("text", ["null", "[1.5, 2]", '"a"'])
def test_a_column_of_the_table_keeps_what_is_written(tmp_path: Path, text: str) -> None:
    """Whatever stands in other lines: of 1 and 2.5 the first is no 1.0."""
    objects = ['{"item": "x", "note": 1}\n', f'{{"item": "y", "note": {text}}}\n']
    objects.append('{"item": "z", "note": 2.5}\n')
    table = AttributeTable(tmp_path / lines(tmp_path, objects), id="item")
    expected = {"null": None, '"a"': "a"}.get(text, text)
    assert attributes.read(table)["note"].to_list() == ["1", expected, "2.5"]


def test_folders_name_columns_of_lines(tmp_path: Path) -> None:
    (tmp_path / "log" / "day=1970-01-03").mkdir(parents=True)
    lines(tmp_path, [{"user": "ann", "item": 7}], "log/day=1970-01-03/part.jsonl")
    assert rows(log(tmp_path, events="log", time="day")) == [("ann", "7", 2)]


@pytest.mark.parametrize(("n_rows", "n_events"), [(2, 2), (100, 1)])
def test_lists_are_cut_where_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_rows: int, n_events: int
) -> None:
    """Of nine rows with 0, 1, 2, 3, 0, … elements each."""
    frame = pl.DataFrame({"user": range(9), "item": [[str(n)] * (n % 4) for n in range(9)]})
    frame.write_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(parquet, "LIST_ROWS", n_rows)
    monkeypatch.setattr(lists, "EVENTS", n_events)
    (source,) = sources(Table(tmp_path / "log.parquet", rows=("item",)))
    pieces = [rows.frame for rows in source.rows(Wanted(["user", "item"]))]
    assert max(map(len, pieces)) <= max(n_events, 3)
    assert len(pieces) > 1
    expected = [(n, str(n)) for n in range(9) for _ in range(n % 4)]
    assert [row for piece in pieces for row in piece.rows()] == expected
