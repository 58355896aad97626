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
from harness.core.sources import Source, UnknownSourceError, changed, look, record

OWN = "import helped\nclass Model:\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python looks, with a class and its helper."""
    monkeypatch.syspath_prepend(tmp_path)
    return small.write(tmp_path, {"mine.py": OWN, "helped.py": ""})


def loaded(folder: Path) -> dict[str, Source]:
    """Return the source when the model of mine.py is imported."""
    plugins.load("model", "mine:Model", folder, "class")
    return of(folder)


def of(folder: Path) -> dict[str, Source]:
    """Return the source of the modules in a folder."""
    return {name: one for name, one in look().items() if folder in Path(one.file).parents}


def files(sources: dict[str, Source]) -> list[str]:
    return sorted(Path(source.file).name for source in sources.values())


def test_a_helper_that_is_edited_has_changed_and_what_is_in_memory_is_unknown(folder: Path) -> None:
    first = loaded(folder)
    assert files(first) == ["helped.py", "mine.py"]
    kept = record(first, first, folder)
    assert changed(kept, folder) is None
    small.write(folder, {"helped.py": "x = 1\n"})
    assert changed(kept, folder) == "helped.py has changed"
    again = loaded(folder)  # mine.py is run again, its helper is not
    for before in (first, again):
        with refusal(UnknownSourceError, "helped.py was written while it was in use"):
            record(again, before, folder)


def test_what_is_imported_late_counts_unless_it_was_written_since(folder: Path) -> None:
    small.write(folder, {"late.py": "", "later.py": ""})
    first = loaded(folder)
    importlib.import_module("late")
    assert len(record(of(folder), first, folder)) == 3
    small.write(folder, {"later.py": "x = 1\n"})
    importlib.import_module("later")
    with refusal(UnknownSourceError, "later.py was written while it was in use"):
        record(of(folder), first, folder)


def test_a_file_beside_the_config_is_as_it_was_run_last(folder: Path) -> None:
    before = loaded(folder)
    small.write(folder, {"mine.py": f"# edited\n{OWN}"})
    again = loaded(folder)
    with refusal(UnknownSourceError, "mine.py was written while it was in use"):
        record(again, before, folder)
    assert len(record(again, again, folder)) == 2


def test_a_helper_that_lies_elsewhere_now_is_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = loaded(folder)
    kept = record(first, first, folder)
    small.write(folder / "first", {"helped.py": ""})
    monkeypatch.syspath_prepend(folder / "first")
    del sys.modules["helped"]  # as in another process
    assert changed(kept, folder) == "helped is imported from another place"


def test_a_folder_without_an_init_file_that_lies_elsewhere_now_is_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.write(folder / "space", {"helped.py": ""})
    first = loaded(small.write(folder, {"mine.py": OWN.replace("helped", "space.helped")}))
    kept = record(first, first, folder)
    assert changed(kept, folder) is None
    small.write(folder / "first" / "space", {"helped.py": "x = 1\n"})
    for name in ("space", "space.helped"):
        del sys.modules[name]
    monkeypatch.syspath_prepend(folder / "first")
    assert changed(kept, folder) == "space is imported from another place"


def test_of_a_module_in_an_archive_the_archive_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = folder / "packed.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("packed.py", "x = 1\n")
    monkeypatch.syspath_prepend(archive)
    look()
    importlib.import_module("packed")
    kept = record(of(folder), {}, folder)
    assert changed(kept, folder) is None
    archive.write_bytes(b"")
    assert changed(kept, folder) == "packed.zip has changed"


def test_processes_compare_what_they_imported_and_not_what_files_say(folder: Path) -> None:
    """What was written since the last look is like no other process's."""
    before = loaded(folder)
    small.write(folder, {"mine.py": f"# edited\n{OWN}", "helped.py": "x = 1\n", "late.py": ""})
    assert of(folder) == before
    now = loaded(folder)
    assert [Path(now[name].file).name for name in now if now[name] != before[name]] == ["mine.py"]
    os.utime(folder / "late.py", (4e9, 4e9))
    importlib.import_module("late")
    assert of(folder)["late"].unsure == os.getpid()
