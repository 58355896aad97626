"""A line of millions of fields is refused before it is read, and one of a long list is not."""

from pathlib import Path

import pytest

from harness.core.errors import DataError
from harness.data import csv_source
from harness.data.csv_source import has_more_fields, sources
from harness.data.layout import Table
from harness.submission.expected import Against
from harness.submission.validate import validate

MB = 1 << 20


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (b"u" + b"," * (3 * MB), 3 * MB + 1),
        (b"," * 5 + b'"' + b"," * (3 * MB) + b'"', 6),
        (b"u," + b"1 " * MB, 2),
        (b'u,"' + b"a,\n" * MB + b'",,', 4),
    ],
)
def test_fields_of_a_long_line(tmp_path: Path, line: bytes, fields: int) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"user,items\n" + line + b"\nu,1\n")
    for most in (fields - 1, fields):
        assert has_more_fields(path, ",", most) == (most < fields and b"\n" not in line)
    with path.open("rb") as file:
        assert csv_source._most_fields(file, ord(",")) == fields


def test_ordinary_lines_are_glanced_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_bytes(b"u,1 2 3\n" * MB)
    monkeypatch.setattr(csv_source, "_most_fields", lambda *_: pytest.fail("looked at"))
    assert not has_more_fields(tmp_path / "a.csv", ",", 1)


def test_such_a_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_bytes(b"user,items\nu1" + b"," * MB + b"\n")
    with pytest.raises(DataError) as error:
        list(sources(Table(path)))
    assert str(error.value) == (
        f"{path}: a line has more than 10,002 fields, expected 2 (user, items); look at what ends "
        "the lines"
    )


def test_a_header_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_bytes(b"user,items" + b"," * (2 * MB) + b"\nu1,1\n")
    with pytest.raises(DataError, match="line 1 is longer than 65,536 letters; expected a header"):
        list(sources(Table(path)))
    told = [(p.code, p.message) for p in validate(path, Against()).problems]
    assert told == [("SUB019", "a line is longer than 65,536 bytes")]


def test_a_header_of_many_lines_is_refused(tmp_path: Path) -> None:
    """Names in quotes hold ends of lines: 20,000 names of 5 letters."""
    path = tmp_path / "a.csv"
    names = ",".join(f'"\n{n:04x}"' for n in range(20_000))
    path.write_text(f"user,{names}\nann,a\n")
    with pytest.raises(DataError, match="line 1 is longer than 65,536 letters"):
        list(sources(Table(path)))
