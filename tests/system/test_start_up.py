"""What commands and packages import as they start, and that nothing runs uncompiled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import small
from conftest import ROOT, python

HEAVY = ["matplotlib", "numpy", "narwhals", "optuna", "pandas", "polars", "scipy", "sklearn"]
PLOTS = "PIL cycler dateutil fontTools kiwisolver matplotlib mpl_toolkits pyparsing"
MATRICES = "numpy polars scipy scipy.sparse"
COMMANDS = {
    "--version": "",
    "--help": "",
    "run --help": "",
    "list metrics": "numpy",
    "fetch ml-100k --out films": "",
    "validate lists.csv --sample lists.csv --k 3 --separator ; --strict": "numpy",
    "validate lists.csv --solution truth.csv": "numpy polars",  # it is read as a frame
    "score lists.csv --solution truth.csv": "numpy polars scipy scipy.special",
    "explain lists.csv --solution truth.csv --user ann": f"{MATRICES} harness.config",
    "synth hm --users 20 --items 10 --events 90 --out made": "numpy polars",
    "run shop.toml --out again": f"{MATRICES} harness.config psutil scipy.special tomli_w",
    "submit shop.toml --model popular --out popular.csv": f"{MATRICES} harness.config",
    "split shop.toml --out files": f"{MATRICES} harness.config tomli_w",
    "tune tuned.toml --trials 1": f"{MATRICES} harness.config optuna psutil scipy.special tomli_w "
    "tqdm",
    "compare run": f"{MATRICES} harness.config scipy.special",
    "leaderboard .": f"{MATRICES} harness.config",
    "report run": f"{MATRICES} harness.config jinja2 markupsafe {PLOTS}",
}
"""The libraries that each command imports beside those of the option parser, and slow parts."""
PARTS = ["harness.config", "scipy.sparse", "scipy.special", "scipy.stats"]
EXPECTED = {"annotated_doc", "annotated_types", "pydantic", "pydantic_core", "shellingham"}
EXPECTED |= {"typer", "typing_extensions", "typing_inspection"}
EXPECTED |= {"Cython", "attr", "charset_normalizer", "colorlog", "cython", "packaging"}
EXPECTED |= {"rich"}  # of it, how wide letters are
"""What the option parser, NumPy, SciPy, Optuna and tables import, some only where it is there."""


@pytest.mark.parametrize(
    ("packages", "slow"),
    [
        ("baselines, harness", HEAVY),
        ("harness.metrics", ["polars", "scipy"]),
        ("baselines.als, baselines.bpr", ["implicit"]),
    ],
)
def test_packages_import_nothing_heavy(packages: str, slow: list[str]) -> None:
    code = f"import {packages}, sys; print({{*{slow}}} & {{*sys.modules}})"
    assert python(["-c", code]).stdout == "set()\n"


IMPORTS = f"""
import sys, harness.cli
sys.argv = ["harness", *sys.argv[1:]]
try:
    harness.cli.main()
except SystemExit as done:
    status = done.code
files = {{name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}}
found = {{name.partition(".")[0] for name, file in files.items() if "site-packages" in file}}
print(*found, *(name for name in {PARTS} if name in sys.modules), file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with lists, their true items, two configs and a run."""
    models = small.POPULAR, {**small.POPULAR, "name": "lately"}
    last = {"strategy": "last_n", "n": 1}
    tuned = {**models[1], "space": {"window_days": [1, 7]}}
    files = {
        "lists.csv": "user,items\nann,a b\nbob,b\n",
        "truth.csv": "user,items\nann,b\nbob,b\n",
        "log.csv": small.MANY,
        "shop.toml": small.toml(models=models),
        "tuned.toml": small.toml(small.POPULAR, tuned, tune={"split": last}),
    }
    folder = small.write(tmp_path_factory.mktemp("shop"), files)
    small.films(folder / "films")
    line = ["-c", IMPORTS, "run", "shop.toml", "--out", "run"]
    python(line, folder=folder, HARNESS_CACHE_DIR=str(folder))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_what_each_command_imports(command: str, shop: Path) -> None:
    done = python(["-c", IMPORTS, *command.split()], folder=shop)
    assert done.returncode < 2, done.stderr  # 1: the lists have errors
    assert done.stdout
    names = {name for name in done.stderr.splitlines()[-1].split() if not name.startswith("_")}
    assert names - EXPECTED == set(COMMANDS[command].split())


def test_every_process_hashes_ids_otherwise() -> None:
    code = "import polars as pl; from harness.core.ids import hashes_of;"
    code += "print(pl.DataFrame({'id': ['ann']}).select(hashes_of(pl.col('id'))[0]).item())"
    first, other = python(["-c", code]).stdout, python(["-c", code]).stdout
    assert "" != first != other


# A package of which a compiled module is missing.


def without(module: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run Python on a copy of the package from which an extension module was removed."""
    for package in ("harness", "baselines"):
        shutil.copytree(ROOT / package, folder / package, copy_function=os.symlink)
    (gone,) = folder.glob(f"{module}.*.so")
    gone.unlink()
    return python(words, folder=folder, PYTHONPATH=str(folder), PYTHONSAFEPATH="1")


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
