"""Entries of the cache: when they are kept, and which go."""

import os
from pathlib import Path

import pytest
from conftest import refusal

from harness.core import cache
from harness.core.cache import entry as entry_of
from harness.core.cache import make_room_for
from harness.core.errors import UsageError


def entry(folder: Path, number: int, size: int = 10) -> Path:
    """Write an entry, used later than those of lower numbers."""
    path = folder / f"{number:032x}"
    path.mkdir(parents=True)
    (path / "lists").write_bytes(b"x" * size)
    os.utime(path, (number, number))
    return path


def kept(models: Path) -> tuple[list[str], str]:
    """Return the entries, and the sum beside them."""
    size = models.with_name("models.size").read_text()
    return sorted(f"{int(path.name, 16)}" for path in models.iterdir()), size


def test_the_oldest_entries_go_until_a_tenth_is_free(tmp_path: Path) -> None:
    """Of 50 bytes 45 are kept: four entries of the six."""
    models = tmp_path / "models"
    for number in range(5):
        make_room_for(entry(models, number), 50)
    assert kept(models) == (["0", "1", "2", "3", "4"], "50")
    make_room_for(entry(models, 5), 50)
    assert kept(models) == (["2", "3", "4", "5"], "40")


def test_entries_are_counted_anew_where_no_sum_is_noted(tmp_path: Path) -> None:
    models, noted = tmp_path / "models", tmp_path / "models.size"
    for number in range(3):
        path = entry(models, number)
    (models / ".DS_Store").write_text("a file of another program")
    for damaged in ("x", "-99", ""):
        noted.write_text(damaged)
        make_room_for(path, 50)
        assert noted.read_text() == "30"


def test_what_is_no_entry_stays_and_stops_nothing(tmp_path: Path) -> None:
    models = tmp_path / "models"
    one = entry(models, 1)
    (one / "gone").symlink_to("nowhere")
    mine = [models / "thesis", models / ".cache"]
    for folder in mine:
        folder.mkdir()
        (folder / "chapter.doc").write_text("x" * 100)
    (models / ("f" * 32)).symlink_to(mine[0])
    make_room_for(entry(models, 2), 15)
    assert not one.exists()
    assert (models / f"{2:032x}" / "lists").exists()
    assert [(folder / "chapter.doc").exists() for folder in mine] == [True, True]


def test_an_entry_that_is_too_large_takes_no_other_along(tmp_path: Path) -> None:
    models = tmp_path / "models"
    make_room_for(entry(models, 0), 50)
    make_room_for(entry(models, 1, size=60), 50)
    assert kept(models) == (["0"], "10")


@pytest.mark.parametrize("seconds", ["two", "-1", "nan", "inf"])
def test_how_old_a_file_must_be_is_a_number(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", seconds)
    with refusal(UsageError, f'HARNESS_CACHE_SETTLE is "{seconds}"; give seconds, 0 or more'):
        entry_of("events", [])


def test_what_other_code_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.csv").write_text("user,item\n")
    made = entry_of("events", [tmp_path / "log.csv"])
    made.keep(lambda _: {"notes": []})
    assert made.read(lambda _, kept: kept["notes"]) == []
    monkeypatch.setattr(cache, "own_code", lambda: "other")
    assert made.read(lambda _, kept: kept["notes"]) is None
