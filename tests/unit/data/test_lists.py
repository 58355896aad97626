"""JSON lines, and rows that lie in lists, as OTTO and Yambda publish them."""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from hypothesis import given
from hypothesis import strategies as st
from test_many_files import rows
from test_text_source import FOLDER, log

from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.data import attributes, json_source, lists
from harness.data.layout import AttributeTable, Table
from harness.data.loading import load

DAY = 86_400_000
OTTO = {"user": "session", "item": "aid", "time": "ts", "time_format": "epoch_ms", "rows": "events"}
SESSIONS = [
    {"session": 12899779, "events": [{"aid": 59625, "ts": 0, "type": "clicks"}]},
    {
        "session": 12899780,
        "events": [
            {"aid": 1142000, "ts": DAY, "type": "clicks"},
            {"aid": 582732, "ts": 2 * DAY, "type": "carts"},
        ],
    },
]
EVENTS = [("12899779", "59625", 0), ("12899780", "1142000", 1), ("12899780", "582732", 2)]


def lines(folder: Path, objects: list[Any], name: str = "log.jsonl") -> str:
    text = "".join(one if isinstance(one, str) else f"{json.dumps(one)}\n" for one in objects)
    content = text.encode("utf-8", "surrogatepass")
    (folder / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    return name


@pytest.mark.parametrize("name", ["log.jsonl", "log.ndjson", "log.json", "log.jsonl.gz"])
def test_sessions_of_otto(tmp_path: Path, name: str) -> None:
    assert rows(log(tmp_path, events=lines(tmp_path, SESSIONS, name), **OTTO)) == EVENTS


def test_a_name_without_its_packing_is_found(tmp_path: Path) -> None:
    lines(tmp_path, SESSIONS, "log.jsonl.gz")
    assert rows(log(tmp_path, events="log.jsonl", **OTTO)) == EVENTS


FLAT = [
    {"user": "ann", "item": 7, "time": "1970-01-02", "extra": {"a": [1]}},
    {"user": 5, "item": "7", "time": "1970-01-03", "extra": []},
]


def test_an_event_a_line(tmp_path: Path) -> None:
    found = rows(log(tmp_path, events=lines(tmp_path, FLAT)))
    assert found == [("5", "7", 2), ("ann", "7", 1)]


YAMBDA = {
    "user": "uid",
    "item": "item_id",
    "time": "timestamp",
    "time_format": "epoch_s",
    "rows": ["item_id", "timestamp", "event_type"],
}
SEQUENTIAL = {
    "uid": [1, 2, 3],
    "item_id": [[10, 20], [], [30]],
    "timestamp": [[0, 86_400], [], [172_800]],
    "event_type": [["like", "listen"], [], ["listen"]],
}


def test_lists_of_yambda(tmp_path: Path) -> None:
    pl.DataFrame(SEQUENTIAL).write_parquet(tmp_path / "log.parquet")
    expected = [("1", "10", 0), ("1", "20", 1), ("3", "30", 2)]
    assert rows(log(tmp_path, events="log.parquet", **YAMBDA)) == expected
    objects = pl.DataFrame(SEQUENTIAL).to_dicts()
    assert rows(log(tmp_path, events=lines(tmp_path, objects), **YAMBDA)) == expected


def test_records_in_parquet(tmp_path: Path) -> None:
    pl.DataFrame(SESSIONS).write_parquet(tmp_path / "log.parquet")
    assert rows(log(tmp_path, events="log.parquet", **OTTO)) == EVENTS


@pytest.mark.parametrize("wrong", [1.5, 1.0, [1]])
def test_ids_in_lists_are_exact(tmp_path: Path, wrong: Any) -> None:
    one = {"uid": 1, "item_id": ["a", wrong], "timestamp": [1, 2], "event_type": ["x", "y"]}
    said = f'line 1, column "item_id": found {json.dumps(wrong)}, which cannot keep ids apart'
    with refusal(DataError, said):
        load(log(tmp_path, events=lines(tmp_path, [one]), **YAMBDA))


def test_lists_of_other_lengths_are_told_with_their_row(tmp_path: Path) -> None:
    wrong = SEQUENTIAL | {"timestamp": [[0, 1], [], [1, 2]]}
    pl.DataFrame(wrong).write_parquet(tmp_path / "log.parquet")
    said = 'row 3: "item_id" has 1 elements and "timestamp" has 2; expected as many'
    with refusal(DataError, f"log.parquet: {said}"):
        load(log(tmp_path, events="log.parquet", **YAMBDA))
    name = lines(tmp_path, pl.DataFrame(wrong).to_dicts())
    with refusal(DataError, f"log.jsonl: {said.replace('row', 'line')}"):
        load(log(tmp_path, events=name, **YAMBDA))


GOOD = {"user": "a", "item": "x", "time": "1970-01-01"}


@pytest.mark.parametrize("size", [10, 1 << 22])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json\n", "line 2 is no JSON: Expecting value at character 1; expected an object"),
        ('{"user": 1\n', "line 2 is no JSON: Expecting ',' delimiter"),
        ("[1]\n", "line 2 is no JSON object; expected one a line; found '[1]'"),
        ("5\n", "line 2 is no JSON object; expected one a line; found '5'"),
        ("[" * 100_000 + "\n", "line 2 is no JSON that can be read; expected an object a line"),
        ({"item": "x", "time": "1970-01-01"}, 'line 2, column "user": found an empty value'),
        (GOOD | {"user": None}, 'line 2, column "user": found an empty value, expected an id'),
        (GOOD | {"user": ""}, 'line 2, column "user": found an empty value, expected an id'),
        (GOOD | {"item": 1.5}, 'line 2, column "item": found 1.5, which cannot keep ids apart'),
        (GOOD | {"item": 1.0}, 'line 2, column "item": found 1.0, which cannot keep ids apart'),
        (GOOD | {"item": [1]}, 'line 2, column "item": found [1], which cannot keep ids apart'),
        (GOOD | {"item": {}}, 'line 2, column "item": found {}, which cannot keep ids apart'),
        (GOOD | {"time": "never"}, 'line 2, column "time": found "never", expected an ISO time'),
        (GOOD | {"user": "x\ud800"}, "line 2 holds half a character"),
    ],
)
def test_the_line_of_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, line: Any, said: str
) -> None:
    monkeypatch.setattr(json_source, "SIZE", size)
    name = lines(tmp_path, [GOOD, line, GOOD])
    with refusal(DataError, f"log.jsonl: {said}"):
        load(log(tmp_path, events=name))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"session": 1, "events": 5}, 'line 3, column "events": found 5, expected a list'),
        ({"session": 1, "events": [5]}, 'line 3, column "events": found 5, expected objects'),
        ({"session": 1, "events": [{"aid": 1}]}, 'line 3, column "ts": found an empty value'),
        ({"events": [{"aid": 1, "ts": 2}]}, 'line 3, column "session": found an empty value'),
        (
            {"session": 1, "events": [{"aid": 1.5, "ts": 2}]},
            'line 3, column "aid": found 1.5, which cannot keep ids apart',
        ),
    ],
)
def test_the_line_of_a_fault_in_lists(tmp_path: Path, line: Any, said: str) -> None:
    name = lines(tmp_path, [*SESSIONS, line])
    with refusal(DataError, f"log.jsonl: {said}"):
        load(log(tmp_path, events=name, **OTTO))


def test_lines_without_events_and_blank_ones_have_no_rows(tmp_path: Path) -> None:
    none: dict[str, Any] = {"session": 9, "events": []}
    name = lines(tmp_path, [SESSIONS[0], none, "\n", SESSIONS[1], "\n"])
    assert rows(log(tmp_path, events=name, **OTTO)) == EVENTS


@pytest.mark.parametrize("missing", [{"session": 8, "events": None}, {"session": 7}])
def test_a_line_without_a_list_is_told(tmp_path: Path, missing: dict[str, Any]) -> None:
    for log_lines in ([SESSIONS[0], missing], [SESSIONS[0], "\n", missing]):
        name = lines(tmp_path, log_lines)
        says = f'line {len(log_lines)}: "events" is missing; expected a list, []'
        with refusal(DataError, says):
            load(log(tmp_path, events=name, **OTTO))


def test_an_array_is_told(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(FLAT))
    with refusal(DataError, "log.json: line 1 begins a JSON array; write each of its objects on"):
        load(log(tmp_path, events="log.json"))
    (tmp_path / "log.json").write_text("")
    with refusal(DataError, "log.json: the file is empty; expected an object a line"):
        load(log(tmp_path, events="log.json"))


def test_a_line_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_source, "LONGEST", 100)
    monkeypatch.setattr(json_source, "SIZE", 50)
    name = lines(tmp_path, [GOOD, GOOD | {"note": "x" * 200}])
    with refusal(DataError, "log.jsonl: a line is longer than 100 bytes; look at what ends"):
        load(log(tmp_path, events=name))


def test_times_that_are_numbers_want_a_format(tmp_path: Path) -> None:
    name = lines(tmp_path, [GOOD | {"time": 5}])
    with refusal(DataError, 'column "time" holds numbers', 'set time_format = "epoch_s"'):
        load(log(tmp_path, events=name))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"user": "usr"},
            'log.jsonl: no column "usr"; the file has: session, aid',
        ),
        ({"rows": "session"}, 'line 1, column "session": found 12899779, expected a list'),
        (
            {"rows": "event"},
            'log.jsonl: [data] rows: "event" is no column of lists; did you mean "events"?',
        ),
        (
            {"rows": None},
            'no column "aid"; the file has: session, events\nthe lists of "events" have it: '
            'rows = "events" under [data] makes rows of them',
        ),
    ],
)
def test_columns_that_are_missing(tmp_path: Path, columns: Any, said: str) -> None:
    name = lines(tmp_path, SESSIONS)
    with refusal(DataError, said):
        load(log(tmp_path, events=name, **OTTO | columns))


def test_columns_of_lists_in_parquet(tmp_path: Path) -> None:
    records = pl.DataFrame({"session": [1], "events": [[{"aid": 2, "ts": 3, "type": "clicks"}]]})
    records.write_parquet(tmp_path / "log.parquet")
    with refusal(DataError, 'no column "aid"', 'rows = "events" under [data] makes rows of them'):
        load(log(tmp_path, events="log.parquet", **OTTO | {"rows": None}))
    pl.DataFrame(SEQUENTIAL).write_parquet(tmp_path / "log.parquet")
    said = 'column "item_id" holds lists, which cannot keep ids apart; where its elements are ids, '
    with refusal(DataError, f'{said}rows = "item_id" under [data] makes rows of them'):
        load(log(tmp_path, events="log.parquet", **YAMBDA | {"rows": None}))


def test_a_field_that_a_column_has_too(tmp_path: Path) -> None:
    name = lines(tmp_path, [{"session": 1, "aid": 2, "events": [{"aid": 1, "ts": 2}]}])
    with refusal(DataError, 'rows: "aid" is a column, and stands in the records of "events" too'):
        load(log(tmp_path, events=name, **OTTO))


def test_lists_are_in_json_lines_and_parquet_alone(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("session,events\n1,2\n")
    with refusal(DataError, "log.csv: [data] rows names lists, which JSON lines (.jsonl) and Par"):
        load(log(tmp_path, **OTTO))


@pytest.mark.parametrize("text", ["null", "[1.5, 2]", '"a"'])
def test_a_column_of_the_table_keeps_what_is_written(tmp_path: Path, text: str) -> None:
    """Whatever stands in other lines: of 1 and 2.5 the first is no 1.0."""
    objects = ['{"item": "x", "note": 1}\n', f'{{"item": "y", "note": {text}}}\n']
    objects.append('{"item": "z", "note": 2.5}\n')
    table = AttributeTable(Table(tmp_path / lines(tmp_path, objects)), id="item")
    other = {"null": None, '"a"': "a"}.get(text, text)
    assert attributes.read(table)["note"].to_list() == ["1", other, "2.5"]


def test_folders_name_columns_of_lines(tmp_path: Path) -> None:
    (tmp_path / "log" / "day=1970-01-03").mkdir(parents=True)
    objects = [{"user": "ann", "item": 7}]
    lines(tmp_path, objects, "log/day=1970-01-03/part.jsonl")
    assert rows(log(tmp_path, events="log", time="day")) == [("ann", "7", 2)]


def config(folder: Path, **data: Any) -> Config:
    return small.config(folder, data={"events": "log.jsonl", **data})


@pytest.mark.parametrize(("given_", "rows_"), [("a", ("a",)), (["a", "b"], ("a", "b")), (None, ())])
def test_the_key_of_a_config(tmp_path: Path, given_: Any, rows_: tuple[str, ...]) -> None:
    data = {} if given_ is None else {"rows": given_}
    assert config(tmp_path, **data).layout().events[0].table.rows == rows_


def test_the_key_is_checked(tmp_path: Path) -> None:
    with refusal(UsageError, "[data] rows: found 5"):
        config(tmp_path, rows=5)


def test_lists_are_cut_where_they_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "_ROWS", 2)
    monkeypatch.setattr(lists, "_EVENTS", 2)
    frame = pl.DataFrame({"user": range(9), "item": [[str(n)] * (n % 4) for n in range(9)]})
    times = frame["item"].list.eval(pl.element().cast(pl.Int64) * DAY)
    frame.with_columns(time=times).write_parquet(tmp_path / "log.parquet")
    given_ = {"rows": ["item", "time"], "time_format": "epoch_ms", "events": "log.parquet"}
    expected = [(str(n), str(n), n) for n in range(9) for _ in range(n % 4)]
    assert rows(log(tmp_path, **given_)) == expected


ID = st.one_of(st.integers(0, 2**63 - 1), st.sampled_from(["a", "é\n", '"', "\u2028", "😀", "1"]))
LOG = st.lists(st.tuples(ID, ID, st.integers(0, 3)), min_size=1, max_size=9)


@FOLDER
@given(events=LOG, size=st.sampled_from([20, 1 << 22]), ascii=st.booleans())
def test_however_it_is_nested_it_is_the_same_log(
    tmp_path_factory: pytest.TempPathFactory, events: Any, size: int, ascii: bool
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    flat = [{"user": u, "item": i, "time": t} for u, i, t in events]
    by_user: dict[Any, list[Any]] = {}
    for event in flat:
        by_user.setdefault(event["user"], []).append({k: event[k] for k in ("item", "time")})
    records = [{"user": user, "all": own} for user, own in by_user.items()]
    parallel = [
        {"user": user, **{k: [one[k] for one in own] for k in ("item", "time")}}
        for user, own in by_user.items()
    ]
    for name, objects in {"flat": flat, "records": records, "parallel": parallel}.items():
        text = "".join(json.dumps(one, ensure_ascii=ascii) + "\n" for one in objects)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="")
    frame = pl.DataFrame({key: [str(one[key]) for one in flat] for key in flat[0]})
    frame.write_csv(folder / "log.csv")
    expected = rows(log(folder, time_format="epoch_s"))
    own = {"records": "all", "parallel": ["item", "time"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_source, "SIZE", size)
        for name in ("flat", "records", "parallel"):
            given_ = {"events": f"{name}.jsonl", "rows": own.get(name)}
            assert rows(log(folder, time_format="epoch_s", **given_)) == expected
