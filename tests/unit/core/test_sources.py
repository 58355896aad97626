"""What is known of the source of modules in memory."""

import importlib
import os
import sys
import zipfile
from pathlib import Path

import pytest
import small
from conftest import refusal

from harness.core import plugins
from harness.core.sources import Sources, UnknownSourceError, imported_sources

OWN = "import helped\nclass Model:\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python looks, with a class and its helper."""
    monkeypatch.syspath_prepend(tmp_path)
    return small.write(tmp_path, {"mine.py": OWN, "helped.py": ""})


def loaded(folder: Path) -> Sources:
    """Return the source when the model of mine.py is imported."""
    plugins.load("model", "mine:Model", folder, "class")
    return Sources(folder)


def recorded(sources: Sources, folder: Path) -> list[str]:
    """Return the files of a folder that a record has."""
    paths = map(Path, sources.record([folder / "mine.py"])["digests"])
    return sorted(str(path.relative_to(folder)) for path in paths if folder in path.parents)


def test_a_helper_that_is_edited_has_changed_and_what_is_in_memory_is_unknown(folder: Path) -> None:
    sources = loaded(folder)
    record = sources.record([folder / "mine.py"])
    assert recorded(sources, folder) == ["helped.py", "mine.py"]
    assert sources.changed(record) is None
    small.write(folder, {"helped.py": "x = 1\n"})
    assert sources.changed(record) == "helped.py has changed"
    for again in (sources, loaded(folder)):  # mine.py is run again, its helper is not
        with refusal(UnknownSourceError, "helped.py was written while it was in use"):
            again.record([folder / "mine.py"])


def test_what_is_imported_late_counts_unless_it_was_written_since(folder: Path) -> None:
    small.write(folder, {"late.py": "", "later.py": ""})
    sources = loaded(folder)
    importlib.import_module("late")
    assert recorded(sources, folder) == ["helped.py", "late.py", "mine.py"]
    small.write(folder, {"later.py": "x = 1\n"})
    importlib.import_module("later")
    with refusal(UnknownSourceError, "later.py was written while it was in use"):
        recorded(sources, folder)


def test_a_file_beside_the_config_is_as_it_was_run_last(folder: Path) -> None:
    before = loaded(folder)
    small.write(folder, {"mine.py": f"# edited\n{OWN}"})
    again = loaded(folder)
    with refusal(UnknownSourceError, "mine.py was written while it was in use"):
        recorded(before, folder)
    assert recorded(again, folder) == ["helped.py", "mine.py"]


def test_files_beside_other_configs_do_not_count(folder: Path) -> None:
    small.write(folder / "shop", {"other.py": OWN})
    plugins.load("model", "other:Model", folder / "shop", "class")
    small.write(folder / "shop", {"other.py": ""})
    assert recorded(loaded(folder), folder) == ["helped.py", "mine.py"]


def test_a_helper_that_lies_elsewhere_now_is_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = loaded(folder)
    record = sources.record([folder / "mine.py"])
    small.write(folder / "first", {"helped.py": ""})
    monkeypatch.syspath_prepend(folder / "first")
    del sys.modules["helped"]  # as in another process
    assert sources.changed(record) == "helped is imported from another place"


def test_of_a_module_in_an_archive_the_archive_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = folder / "packed.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("packed.py", "x = 1\n")
    monkeypatch.syspath_prepend(archive)
    sources = loaded(folder)
    importlib.import_module("packed")
    record = sources.record([])
    archive.write_bytes(b"")
    assert sources.changed(record) == "packed.zip has changed"


def test_processes_compare_what_they_imported_and_not_what_files_say(folder: Path) -> None:
    loaded(folder)
    before = imported_sources()
    assert {str(folder / "mine.py"), str(folder / "helped.py")} <= before.keys()
    small.write(folder, {"mine.py": f"# edited\n{OWN}", "helped.py": "x = 1\n"})
    assert imported_sources() == before
    loaded(folder)
    now = imported_sources()
    assert {path for path in before if now[path] != before[path]} == {str(folder / "mine.py")}


def test_what_was_written_since_the_last_look_is_marked(folder: Path) -> None:
    loaded(folder)
    small.write(folder, {"late.py": ""})
    os.utime(folder / "late.py", (4e9, 4e9))
    importlib.import_module("late")
    late, plain = str(folder / "late.py"), imported_sources()
    assert imported_sources(" 7") == plain | {late: f"{plain[late]} 7"}


def test_a_file_that_was_imported_before_and_after_an_edit_is_like_no_others(folder: Path) -> None:
    importlib.import_module("mine")
    before = imported_sources()[str(folder / "mine.py")]
    small.write(folder, {"mine.py": f"# edited\n{OWN}"})
    loaded(folder)
    assert imported_sources()[str(folder / "mine.py")].startswith(f"{before} ")
