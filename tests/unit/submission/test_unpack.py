"""Parquet of strangers, which a process of its own reads and another one watches."""

from pathlib import Path

import polars as pl
import pytest
from conftest import refusal

from harness.core.unpacking import Refused
from harness.submission import unpack
from harness.submission.unpack import parquet

FRAMES = [
    pl.DataFrame({"user": ["ann", "bob"], "items": [["a", None], []]}),
    pl.DataFrame({"user": pl.Series(["ann", None], dtype=pl.Categorical), "n": [2**100, None]}),
    pl.DataFrame({"user": ["ann"], "lists": [[{"item": "a", "rating": 0.5}]], "none": [None]}),
    pl.DataFrame({"user": [], "items": []}),
]


@pytest.mark.parametrize("frame", FRAMES)
def test_rows_and_types_are_those_of_the_file(frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.write_parquet(tmp_path / "lists.parquet")
    assert parquet(tmp_path / "lists.parquet").collect().equals(frame)


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        pl.DataFrame({"user": [name]}).write_parquet(tmp_path / "lists.parquet")
        assert parquet(tmp_path / "lists.parquet").collect().item() == name


def test_a_row_has_eight_bytes_at_least(tmp_path: Path) -> None:
    """Of three million equal ids a file holds one."""
    pl.select(user=pl.repeat("ann", 3_000_000)).write_parquet(tmp_path / "lists.parquet")
    with refusal(Refused, "16,777,216 bytes"):
        parquet(tmp_path / "lists.parquet")


def test_more_rows_are_written_than_may_be(tmp_path: Path) -> None:
    """Two million rows have 16 MB; eight columns of them are too many."""
    columns = {str(n): pl.repeat(n, 2_000_000) for n in range(8)}
    pl.select(**columns).write_parquet(tmp_path / "lists.parquet")
    with refusal(Refused, "16,777,216 bytes"):
        parquet(tmp_path / "lists.parquet")


@pytest.mark.parametrize(
    ("limit", "says"), [("MEMORY", "bytes"), ("SECONDS", "reading it takes too long")]
)
def test_its_process_is_ended(
    limit: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, limit, -1)
    pl.DataFrame({"user": ["ann"]}).write_parquet(tmp_path / "lists.parquet")
    with refusal(Refused, says):
        parquet(tmp_path / "lists.parquet")


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"PARE" * 10])
def test_a_damaged_file(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "lists.parquet").write_bytes(content)
    with pytest.raises(Refused) as caught:
        parquet(tmp_path / "lists.parquet")
    assert caught.value.fault == "damaged"
