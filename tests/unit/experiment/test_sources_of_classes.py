"""What is known of the source of classes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import small

from harness.core import plugins
from harness.core.errors import DataError
from harness.experiment import identity
from harness.experiment.sources import OneSource, Sources, UnknownSourceError, sources_of

OWN = "class Model:\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where Python looks; what was imported from it is forgotten in the end."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def loaded(folder: Path, *uses: str) -> Sources:
    """Return the source of classes, which are imported one after the other."""
    for use in uses:
        plugins.load("model", use, folder, "class")
    return sources_of({"mine": uses}, small.config(folder, small.POPULAR))["mine"]


def test_a_package_that_is_written_between_two_imports_is_not_believed(folder: Path) -> None:
    """It was imported with its first module; the second one was imported after the edit."""
    small.write(folder, {"shelf/__init__.py": "", "shelf/one.py": OWN, "shelf/two.py": OWN})
    assert len(loaded(folder, "shelf.one:Model").known()) == 2
    (folder / "shelf/__init__.py").write_text("# edited\n")
    with pytest.raises(
        UnknownSourceError, match=r"^shelf/__init__\.py was written while it was in"
    ):
        loaded(folder, "shelf.one:Model", "shelf.two:Model").known()


def test_what_python_compiled_of_an_older_file_is_not_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of equal size in the same second: Python imports what it compiled before."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    small.write(folder, {"aged.py": "NUMBER = 1\n", "mine.py": f"import aged\n{OWN}"})
    os.utime(folder / "aged.py", ns=(10**18, 10**18))
    assert len(loaded(folder, "mine:Model").known()) == 2
    (compiled,) = (folder / "__pycache__").glob("aged*")
    os.utime(compiled, ns=(10**18 + 10**8, 10**18 + 10**8))
    (folder / "aged.py").write_text("NUMBER = 2\n")
    os.utime(folder / "aged.py", ns=(10**18 + 10**9 // 2, 10**18 + 10**9 // 2))
    del sys.modules["aged"]  # as in another process
    again = loaded(folder, "mine:Model")
    assert sys.modules["aged"].NUMBER == 1
    with pytest.raises(UnknownSourceError) as refused:
        again.known()
    assert str(refused.value) == (
        "aged.py is newer than what Python compiled of it, and may have been imported as it was; "
        "remove the __pycache__ beside it"
    )


def test_relative_imports_of_modules_that_nobody_imported_are_followed(folder: Path) -> None:
    late = "def f():\n    from pack.sub import deep\n"
    files = {
        "pack/__init__.py": "",
        "pack/sub/__init__.py": "",
        "pack/sub/deep.py": "from ..more import x",
    }
    small.write(folder, {**files, "pack/more.py": "x = 1\n", "mine.py": late + OWN})
    assert sorted(Path(file).name for file in loaded(folder, "mine:Model").known()) == [
        "__init__.py",
        "__init__.py",
        "deep.py",
        "mine.py",
        "more.py",
    ]


def test_a_file_that_is_edited_in_use_is_what_was_imported_to_other_processes(folder: Path) -> None:
    small.write(folder, {"mine.py": f"import helped\n{OWN}", "helped.py": ""})
    sources = loaded(folder, "mine:Model")
    before = sources.imported()
    (folder / "helped.py").write_text("x = 1\n")
    assert sources.imported() == before
    with pytest.raises(UnknownSourceError, match=r"^helped\.py was written while it was in use$"):
        sources.known()


def test_a_file_that_is_run_again_after_an_edit_is_unknown(folder: Path) -> None:
    small.write(folder, {"mine.py": OWN})
    sources = loaded(folder, "mine:Model")
    (folder / "mine.py").write_text(f"# edited\n{OWN}")
    plugins.load("model", "mine:Model", folder, "class")
    assert sources.imported() == {
        str(folder / "mine.py"): f"unknown to process {os.getpid()}",
    }


def test_this_package_is_what_it_was_when_the_first_process_looked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is edited then, and another process imports it anew."""
    config = small.config(folder, small.POPULAR)
    monkeypatch.setattr(identity, "own_code", lambda: "old")
    first = OneSource({}, config)
    first.refuse_other(OneSource({}, config).imported())
    monkeypatch.setattr(identity, "own_code", lambda: "new")
    with pytest.raises(DataError, match="finds other code: harness has changed since its"):
        first.refuse_other(OneSource({}, config).imported())
