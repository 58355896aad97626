"""A package of which a compiled module is missing: refused in one message, and never run slowly."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


def without(module: str, folder: Path, *typed: str) -> subprocess.CompletedProcess[str]:
    """Run Python on a copy of the package from which an extension module was removed."""
    for package in ("harness", "baselines"):
        shutil.copytree(ROOT / package, folder / package, copy_function=os.symlink)
    (gone,) = folder.glob(f"{module}.*.so")
    gone.unlink()
    env = os.environ | {"PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
    line = [sys.executable, *typed]
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def message(path: Path) -> str:
    return (
        f"{path}: not compiled for Python {sys.version_info[0]}.{sys.version_info[1]}\n"
        "in a clone: make demo, or pip install -e .\n"
        "after an edit: python setup.py build_ext --inplace\n"
    )


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("harness/metrics/_kernels", "-m harness list metrics"),
        ("harness/submission/_kernels", "-m harness list metrics"),
        ("baselines/_kernels", f"-m harness run {ROOT}/configs/demo.toml --out run"),
    ],
)
def test_a_command_says_it_in_one_message(module: str, line: str, tmp_path: Path) -> None:
    done = without(module, tmp_path, *line.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message(tmp_path / module))


def test_from_python_it_is_an_import_error(tmp_path: Path) -> None:
    code = "import harness\ntry:\n    harness.run\nexcept ImportError as error:\n    print(error)"
    done = without("harness/models/_kernels", tmp_path, "-c", code)
    assert done.stdout == message(tmp_path / "harness/models/_kernels"), done.stderr


def test_the_help_needs_nothing_compiled(tmp_path: Path) -> None:
    done = without("harness/core/_kernels", tmp_path, "-m", "harness", "--help")
    assert (done.returncode, done.stderr) == (0, "")
