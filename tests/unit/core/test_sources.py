"""What is known of the source of modules in memory."""

import importlib
import os
import sys
import time
import zipfile
from pathlib import Path

import pytest
import small
from conftest import refusal

from harness.core import plugins
from harness.core.sources import Record, UnknownSourceError, changed, edited, files, record

OWN = "import helped\nclass Model:\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python looks, with a class and its helper."""
    monkeypatch.syspath_prepend(tmp_path)
    return small.write(tmp_path, {"mine.py": OWN, "helped.py": ""})


def load(folder: Path) -> None:
    """Import the model of mine.py."""
    plugins.load("model", "mine:Model", folder, "class")


def names(folder: Path) -> list[str]:
    """Return the modules that are imported from a folder."""
    return [name for name, file in files().items() if folder in file.parents]


def recorded(folder: Path) -> Record:
    return record(names(folder), folder)


def edit(folder: Path, name: str, text: str = "x = 1\n") -> None:
    """Write a file, some time after all that was imported."""
    small.write(folder, {name: text})
    later = time.time() + 0.001
    os.utime(folder / name, (later, later))
    while time.time() < later:
        pass


def test_a_helper_that_is_edited_has_changed_and_what_is_in_memory_is_unknown(folder: Path) -> None:
    load(folder)
    kept = recorded(folder)
    assert sorted(Path(file).name for file, _ in kept.values()) == ["helped.py", "mine.py"]
    assert changed(kept, folder) is None
    edit(folder, "helped.py")
    assert changed(kept, folder) == "helped.py has changed"
    assert edited(names(folder)) == folder / "helped.py"
    load(folder)  # mine.py is run again, its helper is not
    with refusal(UnknownSourceError, "helped.py was changed or removed while it was in use"):
        recorded(folder)


def test_what_is_imported_again_is_as_it_was_then(folder: Path) -> None:
    load(folder)
    small.write(folder, {"mine.py": f"# edited\n{OWN}", "helped.py": "x = 1\n"})
    load(folder)
    importlib.reload(sys.modules["helped"])
    assert len(recorded(folder)) == 2


def test_what_is_imported_late_counts(folder: Path) -> None:
    load(folder)
    small.write(folder, {"late.py": ""})
    importlib.import_module("late")
    assert len(recorded(folder)) == 3
    edit(folder, "late.py")
    with refusal(UnknownSourceError, "late.py was changed or removed while it was in use"):
        recorded(folder)


@pytest.mark.parametrize("name", ["helped", "space.helped"])
def test_a_helper_that_lies_elsewhere_now_is_another(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a folder without an __init__.py."""
    file = f"{name.replace('.', '/')}.py"
    load(small.write(folder, {file: "", "mine.py": OWN.replace("helped", name)}))
    kept = recorded(folder)
    assert changed(kept, folder) is None
    small.write(folder / "first", {file: ""})
    monkeypatch.syspath_prepend(folder / "first")
    for module in {name, name.partition(".")[0]}:  # as in another process
        del sys.modules[module]
    assert changed(kept, folder) == f"{name} is now imported from another place"


def test_of_a_module_in_an_archive_the_archive_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = folder / "packed.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("packed.py", "x = 1\n")
    monkeypatch.syspath_prepend(archive)
    importlib.import_module("packed")
    kept = recorded(folder)
    assert changed(kept, folder) is None
    archive.write_bytes(b"")
    assert changed(kept, folder) == "packed.zip has changed"
