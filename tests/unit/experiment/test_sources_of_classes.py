"""What is known of the source of classes."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import small
from conftest import refusal

from harness.core import plugins
from harness.core.errors import DataError, RecommenderError
from harness.experiment import identity
from harness.experiment.sources import OneSource, Sources, UnknownSourceError, sources_of

OWN = "class Model:\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where Python looks; what was imported from it is forgotten in the end."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def loaded(folder: Path) -> Sources:
    """Return the source of the model of mine.py, which is imported."""
    plugins.load("model", "mine:Model", folder, "class")
    return sources_of({"mine": ["mine:Model"]}, small.config(folder))["mine"]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("exec('x = 1')", "exec"),
        ("builtins.exec('x = 1')", "exec"),
        ("run = exec", "exec"),
        ("runpy.run_path('x.py')", "run_path"),
        ("importlib.util.module_from_spec(cursor)", "module_from_spec"),
        ("cursor.exec('x')", None),
    ],
)
def test_what_a_model_runs_by_itself_is_unknown_but_not_a_method(
    folder: Path, line: str, word: str | None
) -> None:
    small.write(folder, {"mine.py": f"def late(cursor):\n    import runpy\n    {line}\n{OWN}"})
    sources = loaded(folder)
    if word is None:
        assert [Path(file).name for file in sources.known()] == ["mine.py"]
    else:
        with refusal(UnknownSourceError, word):
            sources.known()


def test_what_python_compiled_of_an_older_file_is_not_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of equal size in the same second: Python imports what it compiled before."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    small.write(folder, {"aged.py": "NUMBER = 1\n", "mine.py": f"import aged\n{OWN}"})
    os.utime(folder / "aged.py", ns=(10**18, 10**18))
    assert len(loaded(folder).known()) == 2
    (compiled,) = (folder / "__pycache__").glob("aged*")
    os.utime(compiled, ns=(10**18 + 10**8, 10**18 + 10**8))
    (folder / "aged.py").write_text("NUMBER = 2\n")
    os.utime(folder / "aged.py", ns=(10**18 + 10**9 // 2, 10**18 + 10**9 // 2))
    del sys.modules["aged"]  # as in another process
    again = loaded(folder)
    assert sys.modules["aged"].NUMBER == 1
    told = "aged.py is newer than what Python compiled of it, and may have been imported as it was"
    with refusal(UnknownSourceError, told, "; remove the __pycache__ beside it"):
        again.known()


def test_relative_imports_of_modules_that_nobody_imported_are_followed(folder: Path) -> None:
    small.write(folder, dict.fromkeys(("pack/__init__.py", "pack/sub/__init__.py"), ""))
    small.write(folder, {"pack/sub/deep.py": "from ..more import x", "pack/more.py": "x = 1\n"})
    late = "def f():\n    from pack.sub import deep\n"
    small.write(folder, {"mine.py": late + OWN})
    names = sorted(Path(file).name for file in loaded(folder).known())
    assert names == ["__init__.py", "__init__.py", "deep.py", "mine.py", "more.py"]


def test_a_file_that_is_edited_in_use_is_what_was_imported_to_other_processes(folder: Path) -> None:
    small.write(folder, {"mine.py": f"import helped\n{OWN}", "helped.py": ""})
    sources = loaded(folder)
    before = sources.imported()
    (folder / "helped.py").write_text("x = 1\n")
    assert sources.imported() == before
    with refusal(UnknownSourceError, "helped.py was written while it was in use"):
        sources.known()


def test_a_file_that_is_run_again_after_an_edit_is_unknown(folder: Path) -> None:
    small.write(folder, {"mine.py": OWN})
    sources = loaded(folder)
    (folder / "mine.py").write_text(f"# edited\n{OWN}")
    plugins.load("model", "mine:Model", folder, "class")
    unknown = f"unknown to process {os.getpid()}"
    assert sources.imported() == {str(folder / "mine.py"): unknown}


def test_a_file_that_is_edited_between_two_processes_imports_is_told(folder: Path) -> None:
    small.write(folder, {"mine.py": f"def late():\n    import helped\n{OWN}", "helped.py": ""})
    loaded(folder)
    source = OneSource({"mine": ["mine:Model"]}, small.config(folder))
    source.refuse_other({str(folder / "helped.py"): "a digest of what it was"})
    source.require_same("mine")
    importlib.import_module("helped")
    told = f'model "mine": {folder}/helped.py was written during the run, after another process had'
    with refusal(RecommenderError, told, "; run the same command again"):
        source.require_same("mine")


def test_this_package_is_what_it_was_when_the_first_process_looked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small.config(folder)
    monkeypatch.setattr(identity, "own_code", lambda: "old")
    first = OneSource({}, config)
    first.refuse_other(OneSource({}, config).imported())
    monkeypatch.setattr(identity, "own_code", lambda: "new")
    with refusal(DataError, "finds other code: harness has changed since its import"):
        first.refuse_other(OneSource({}, config).imported())
