"""What is noted of a log: ids that are words for nothing, and rows that stand twice."""

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from event_files import TWO_TABLES

from harness import config as config_
from harness.core.errors import DataError
from harness.data.buckets import prepared
from harness.data.loading import load

HEAD = "user,item,time"
LOG = f"""{HEAD}
NULL,a,2020-01-01
NULL,b,2020-01-02
nan,a,2020-01-02
ann,N/A,2020-01-03
ann,a,2020-01-04
nana,\\N,2020-01-05
"""
WORDS = (
    'of 6 events the user "NULL" has 2, the user "nan" 1, the item "N/A" 1 and the item "\\N" 1. '
    "If these are missing values, "
)


def notes(folder: Path, log: str, **data: Any) -> tuple[str, ...]:
    """Return what is noted of a log in memory; in buckets it must be the same."""
    layout = small.config(folder, log=log, data=data).layout()
    with small.in_buckets(4), prepared(layout, kept=False) as made:
        in_buckets = made.shared.notes
    in_memory = load(layout).notes
    assert in_memory == in_buckets
    return in_memory


@pytest.mark.parametrize("where", [{}, {"item": {"empty": False}, "user": {"not": ["bob"]}}])
def test_words_for_missing_ids_are_noted_with_what_leaves_them_out(
    tmp_path: Path, where: dict[str, Any]
) -> None:
    (note,) = notes(tmp_path, LOG, where=where)
    place = "under [data]" + (", instead of the one there," if where else "")
    text = note.removeprefix(WORDS).removesuffix(f" {place} leaves them out")
    left_out = tomllib.loads(text)["where"]
    assert left_out == {
        "item": {"not": ["N/A", "\\N"]},
        "user": {"not": [*(["bob"] if where else []), "NULL", "nan"]},
    }
    (note,) = notes(tmp_path, LOG, where=left_out)
    assert note.startswith("log.csv: 5 of 6 rows left out")


@pytest.mark.parametrize(
    ("items", "noted"),
    [
        ("011 012 0 0b 13 7 c", ""),
        ("007 07 7 13 113",
         '1 of 5 item ids is also written with leading zeros, such as "7" and "007". '),
        ("011 012 113 0", ""),
        ("1 2 13", ""),
    ],
)  # fmt: skip
def test_item_ids_that_lost_zeros_are_noted(tmp_path: Path, items: str, noted: str) -> None:
    log = "".join(f"ann,{item},2020-01-0{n}\n" for n, item in enumerate(items.split(), 1))
    (note,) = notes(tmp_path, f"{HEAD}\n{log}") or [""]
    assert note[: len(noted)] == noted
    assert bool(note) == bool(noted)


def test_tables_that_name_a_column_otherwise_are_to_be_mended(tmp_path: Path) -> None:
    two = "who,item,at\nNA,a,2020-01-01\n"
    small.write(tmp_path, {"mine.py": TWO_TABLES, "one.csv": LOG, "two.csv": two})
    keys = {"layout": "mine:Shop", "path": ".", "cache": False}
    (note,) = load(config_.parse(small.values() | {"data": keys}, tmp_path).layout()).notes
    assert note.startswith('of 7 events the user "NA" has 1, the user "NULL" 2,')
    assert note.endswith("If these are missing values, remove them from the files of the log")


def equal(rows: str, head: str = HEAD) -> str:
    return f"{head}\n" + "".join(f"{row}\n" for row in rows.split())


BOTH = {"kind": "kind", "value": "stars"}
MOMENT = "ann,a,2020-01-01T10:00"


@pytest.mark.parametrize(
    ("log", "data", "repeated", "same"),
    [
        # A time of a day: one row that stands twice is told, and three of four.
        (equal(f"{MOMENT} {MOMENT} bob,a,2020-01-01T10:00"), {}, "1 of 3 events is", "and time"),
        (equal(f"{MOMENT} " * 4), {}, "3 of 4 events are", "item and time"),
        # Dates alone: two in one basket are none, half of the log is.
        (equal("ann,a,2020-01-01 ann,a,2020-01-01 ann,b,2020-01-02"), {}, "", ""),
        (equal("ann,a,2020-01-01 ann,b,2020-01-01 " * 2), {}, "2 of 4 events are", "item and time"),
        # Another item, user, time, type or value is another event.
        (equal(f"{MOMENT} ann,b,2020-01-01T10:00 bob,b,2020-01-01T10:00"), {}, "", ""),
        (equal(f"{MOMENT},x,1 {MOMENT},y,1 {MOMENT},x,2 {MOMENT},x,1", f"{HEAD},kind,stars"),
         BOTH, "1 of 4 events is", "time, event type and value"),
        (equal(f"{MOMENT},x,1 {MOMENT},y,1 {MOMENT},x,2", f"{HEAD},kind,stars"),
         BOTH, "", ""),
    ],
)  # fmt: skip
def test_rows_that_stand_twice(
    tmp_path: Path, log: str, data: dict[str, Any], repeated: str, same: str
) -> None:
    equals = [note for note in notes(tmp_path, log, **data) if "equal" in note]
    expected = f"{repeated} equal to {'another one' if 'is' in repeated else 'others'} (the same"
    assert [note.startswith(expected) for note in equals] == ([True] if repeated else [])
    assert all(f" {same}), and each counts. If rows were" in note for note in equals)


def test_rows_in_the_order_of_the_file_are_compared_by_value_too(tmp_path: Path) -> None:
    """The third stands behind the second, whose value differs, and is equal to the first."""
    log = equal(f"{MOMENT},1 {MOMENT},2 {MOMENT},1", f"{HEAD},stars")
    last = {"strategy": "last_n", "n": 1, "ties": "file"}
    layout = small.config(tmp_path, log=log, split=last, data={"value": "stars"}).layout()
    (note,) = load(layout).notes
    assert note.startswith("1 of 3 events is equal to another one (the same user, item, time and v")


def bought(column: str, values: str) -> str:
    """Return a log with such values in a further column."""
    cells = values.split(None if " " in values else ",")
    rows = [f"ann,{n},2020-01-0{n},{value}" for n, value in enumerate(cells, 1)]
    return "".join(f"{row}\n" for row in [f"{HEAD},{column}", *rows])


def where_of(hint: str) -> dict[str, Any]:
    """Return the condition of a hint."""
    return dict(tomllib.loads(hint[hint.index("where") :].partition(" under [data]")[0])["where"])


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("column", "values", "begins", "left_out"),
    [
        ("Quantity", "2 -6 0.5 -1", "of 4 events 2 have", 2),
        ("is_click", "0 1 1", "of 3 events 1 has", 1),
        ("label", "True False", "of 2 events 1 has", 1),
        ("Quantity", "2,-1,,", "of 4 events 1 has", 1),
        # None is above 0; texts among the numbers; no number at all; names of other things.
        ("units", "0 0", "of 2 events 2 have", None),
        ("label", "1 0 x", "of 3 events 1 has", None),
        ("label", "x y", "", None),
        ("price", "0 1", "", None),
    ],
)
def test_rows_that_may_be_no_hits_are_noted_with_what_leaves_them_out(
    tmp_path: Path, form: str, column: str, values: str, begins: str, left_out: int | None
) -> None:
    log = bought(column, values)
    frame = pl.read_csv(log.encode())
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_ndjson(tmp_path / "log.jsonl")
    (*_, note) = ("", *notes(tmp_path, log, events=f"log.{form}"))
    assert bool(note) == bool(begins)
    assert note.startswith(f'{begins} 0 or less in column "{column}", and each' if begins else "")
    if left_out is None:
        assert note.endswith("remove these from the files of the log" if begins else "")
        return
    (note,) = notes(tmp_path, log, events=f"log.{form}", where=where_of(note))
    assert note.startswith(f"log.{form}: {left_out} of ")
    assert note.endswith(f"left out (kept: {column} = {{ above = 0, empty = true }})")


def test_event_types_that_the_config_does_not_name_are_noted(tmp_path: Path) -> None:
    """Of a log, and of the held-out events of a given split, whose training log has none."""
    log = bought("event_type", "view cart view")
    (note,) = notes(tmp_path, log)
    assert note.startswith('log.csv: every row counts, with any value of column "event_type". If ')
    assert note.endswith("kind = 'event_type' names it, and [evaluation] hits chooses the types")
    assert notes(tmp_path, log, kind="event_type") == ("event types: cart, view",)
    small.write(tmp_path, {"later.csv": log})
    split = {"strategy": "given", "valid": "later.csv"}
    train = bought("price", "3 3")
    (note,) = load(small.config(tmp_path, log=train, split=split).layout()).notes
    assert note.startswith("later.csv: every row counts")
    assert note.endswith("If only some event types are hits, keep only these in the file")


def test_a_config_that_names_such_a_column_is_taken_at_its_word(tmp_path: Path) -> None:
    """Of all of them; nor is said what a condition on a column of ids leaves out."""
    log = bought("Quantity,liked", "2,0 -6,1 1,0")
    for keys in ({"value": "Quantity"}, {"where": {"Quantity": {"empty": False}}}):
        assert notes(tmp_path, log, **keys) == ()
    log = bought("Quantity", "2 -6 1")
    (note,) = notes(tmp_path, log, where={"item": {"not": ["2"]}})
    assert note.startswith("log.csv: 1 of 3 rows left out")


@pytest.mark.parametrize(
    ("train", "held", "cures"),
    [
        (bought("label", "1 0"), "1 0 1", ["out of both", "are not true", "says so"]),
        (bought("label", "1 0"), "1,0,", ["out of both", "says so"]),
        (bought("label", "1 0"), "1 0 x", ["remove these rows from the file"]),
        (bought("label", "1 0"), "1 -inf 1", ["remove these rows from the file"]),
        (bought("score", "3 3"), "1 0 1", ["remove these rows from the file"]),
    ],
)
def test_held_out_rows_that_may_be_no_hits_are_refused(
    tmp_path: Path, train: str, held: str, cures: list[str]
) -> None:
    """Each of the hints does what it says."""
    small.write(tmp_path, {"later.csv": bought("label", held)})
    split = {"strategy": "given", "valid": "later.csv"}

    def held_out(**data: Any) -> int:
        loaded = load(small.config(tmp_path, log=train, split=split, data=data).layout())
        return int((loaded.events.kind == 1).sum())

    words = 'later.csv: column "label" holds 0 or less in 1 of 3 events; this may mean that an item'
    with refusal(DataError, words, cures) as caught:
        held_out()
    _, *hints = str(caught.value).splitlines()
    assert len(hints) == len(cures)
    if len(hints) > 1:
        assert held_out(where=where_of(hints[0])) == 2
        assert held_out(where=where_of(hints[-1])) == 3
    if len(hints) > 2:
        assert held_out(**tomllib.loads(hints[1].split(", ")[1].partition(" under")[0])) == 3
