"""Entries of the cache: when they are kept, and which go."""

import os
from pathlib import Path

import pytest
from conftest import refusal

from harness.core import cache
from harness.core.cache import entry as entry_of
from harness.core.cache import make_room
from harness.core.errors import UsageError


def entry(folder: Path, number: int, size: int = 10) -> Path:
    """Write an entry, used later than those of lower numbers."""
    path = folder / f"{number:032x}"
    path.mkdir(parents=True)
    (path / "lists").write_bytes(b"x" * size)
    os.utime(path, (number, number))
    return path


def kept(folder: Path) -> list[int]:
    """Return the entries."""
    return sorted(int(path.name, 16) for path in folder.iterdir())


def test_the_oldest_entries_go(tmp_path: Path) -> None:
    for number in range(5):
        entry(tmp_path, number)
    make_room(tmp_path, 50)
    assert kept(tmp_path) == [0, 1, 2, 3, 4]
    entry(tmp_path, 5)
    make_room(tmp_path, 49)
    assert kept(tmp_path) == [2, 3, 4, 5]


def test_what_is_no_entry_stays_and_stops_nothing(tmp_path: Path) -> None:
    first = entry(tmp_path, 1)
    (first / "gone").symlink_to("nowhere")
    mine = [tmp_path / "thesis", tmp_path / ".cache"]
    for folder in mine:
        folder.mkdir()
        (folder / "chapter.doc").write_text("x" * 100)
    (tmp_path / ("f" * 32)).symlink_to(mine[0])
    (tmp_path / ".DS_Store").write_text("a file of another program")
    (tmp_path / ("e" * 32)).write_text("a file with the name of an entry")
    entry(tmp_path, 0).chmod(0)
    newer = entry(tmp_path, 2)
    make_room(tmp_path, 15)
    assert (first.exists(), (newer / "lists").exists()) == (False, True)
    assert [(folder / "chapter.doc").exists() for folder in mine] == [True, True]
    assert {".DS_Store", "e" * 32, "f" * 32} < {p.name for p in tmp_path.iterdir()}


def test_an_entry_that_is_too_large_takes_no_other_along(tmp_path: Path) -> None:
    entry(tmp_path, 0)
    entry(tmp_path, 1, size=60)
    make_room(tmp_path, 50)
    assert kept(tmp_path) == [0]


@pytest.mark.parametrize("seconds", ["two", "-1", "nan", "inf"])
def test_how_old_a_file_must_be_is_a_number(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", seconds)
    with refusal(UsageError, f'HARNESS_CACHE_SETTLE is "{seconds}"; give seconds, 0 or more'):
        entry_of("events", [])


@pytest.mark.usefixtures("at_once")
def test_what_other_code_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.csv").write_text("user,item\n")
    made = entry_of("events", [tmp_path / "log.csv"])
    made.keep(lambda _: {"notes": []})
    assert made.read(lambda _, kept: kept["notes"]) == []
    monkeypatch.setattr(cache, "own_code", lambda: "other")
    assert made.read(lambda _, kept: kept["notes"]) is None
