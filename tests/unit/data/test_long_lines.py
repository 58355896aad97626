"""A line of millions of fields, and a header without an end, are refused by name."""

from pathlib import Path

import pytest

from harness.core.errors import DataError
from harness.data.layout import Table
from harness.data.table_files import sources
from harness.submission.expected import Against
from harness.submission.validate import validate

MB = 1 << 20


def test_such_a_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_bytes(b"user,items\nu1" + b"," * MB + b"\n")
    with pytest.raises(DataError) as error:
        next(sources(Table(path))).whole()
    assert str(error.value) == f"{path}: line 2 has 1,048,577 fields, expected 2 (user, items)"


def test_a_header_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_bytes(b"user,items" + b"," * (2 * MB) + b"\nu1,1\n")
    with pytest.raises(DataError, match="line 1 is longer than 65,536 bytes; expected a header"):
        list(sources(Table(path)))
    told = [(p.code, p.message) for p in validate(path, Against()).problems]
    assert told == [("SUB019", "a line is longer than 65,536 bytes")]


def test_a_header_of_many_lines_is_refused(tmp_path: Path) -> None:
    """Names in quotes hold ends of lines: 20,000 names of 5 letters."""
    path = tmp_path / "a.csv"
    names = ",".join(f'"\n{n:04x}"' for n in range(20_000))
    path.write_text(f"user,{names}\nann,a\n")
    with pytest.raises(DataError, match="line 1 is longer than 65,536 bytes"):
        list(sources(Table(path)))
