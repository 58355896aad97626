"""Rows of frames as blocks of lines: in order, and no longer than those of a text file."""

from pathlib import Path

import polars as pl
import pytest

from harness.delimited.stream import Refused
from harness.submission import frame_rows
from harness.submission.frame_rows import Rows, batches_of


def rows(frame: pl.DataFrame | pl.LazyFrame, packed: int | None = None) -> Rows:
    schema = dict(frame.lazy().collect_schema())
    return Rows(batches_of(frame.lazy()), schema, set(schema), packed)


def texts(rows: Rows) -> list[bytes]:
    return [block.text(0, block.size) for block in rows.blocks()]


def test_blocks_hold_so_much_text_and_all_rows_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_rows, "SIZE", 12)
    # The column's name would be a pattern to Polars.
    four = rows(pl.DataFrame({"user": [*"abcd"], "^us..$": ["1", "2" * 20, "3", "4"]}))
    for _ in range(2):  # as often as wanted
        assert texts(four) == [b"a,1\x1e", b"b," + b"2" * 20 + b"\x1e", b"c,3\x1ed,4\x1e"]


def test_a_row_is_no_longer_than_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_rows, "LONGEST", 100)
    with pytest.raises(Refused) as error:
        texts(rows(pl.DataFrame({"user": ["1", "2"], "items": ["a" * 99] * 2})))
    assert (error.value.fault, error.value.value) == ("endless", "100 bytes")


@pytest.mark.parametrize("items", ["a" * 1_000_000, ["a" * 500_000] * 2])
def test_a_text_of_a_file_counts_in_every_row(items: str | list[str]) -> None:
    """A small file has its text once in a dictionary: 17 of 1 MB are too much."""
    frame = pl.DataFrame({"user": ["u"] * 17, "items": [items] * 17})
    with pytest.raises(Refused) as error:
        texts(rows(frame, packed=1_000))
    assert (error.value.fault, error.value.value) == ("large", "16,777,216 bytes")


def test_records_in_a_column_named_rank_have_a_rank(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    pl.DataFrame({"user": ["u"], "rank": [[{"item": "a"}, {"item": "b"}]]}).write_parquet(path)
    with frame_rows.parquet(path) as frame:
        assert frame.select("user", "item", "rank").collect().rows() == [
            ("u", "a", 1),
            ("u", "b", 2),
        ]


def test_blocks_can_be_left(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    ids = pl.int_range(400_000, eager=True).cast(pl.String)
    pl.DataFrame({"user": ids, "items": "a"}).write_parquet(path)
    many = rows(pl.scan_parquet(path))
    for _ in range(3):
        assert next(many.blocks()).text(0, 4) == b"0,a\x1e"
    assert sum(block.ended or 0 for block in many.blocks()) == 400_000
