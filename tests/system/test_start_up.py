"""What commands and packages import as they start, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.data.datasets import DATASETS

ROOT = Path(__file__).parents[2]
HEAVY = ["narwhals", "optuna", "pandas", "plotly", "polars", "scipy", "sklearn"]
NAMES = ["compare", "explain", "leaderboard", "list", "report", "run", "score", "split", "submit"]
NAMES += ["fetch", "synth", "tune", "validate"]
"""The commands."""


@pytest.mark.parametrize(
    "statement",
    [
        "import harness",
        "import baselines",
        "import runpy; sys.argv[1:] = ['--help']; runpy.run_module('harness', {}, '__main__')",
    ],
)
def test_nothing_heavy_is_imported(statement: str) -> None:
    code = (
        f"import sys\ntry:\n    {statement}\n    status = 0\n"
        "except SystemExit as done:\n    status = done.code\n"
        f"print(*[m for m in {['numpy', *HEAVY]} if m in sys.modules], file=sys.stderr)\n"
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "\n")
    assert ("Usage" in done.stdout) == ("help" in statement)


HELP = """
import sys, harness.cli
for name in sys.argv[1:]:
    sys.argv = ["harness", name, "--help"]
    try:
        harness.cli.main()
    except SystemExit as done:
        print(name, done.code, *(m for m in HEAVY if m in sys.modules), file=sys.stderr)
"""


def test_no_help_imports_anything_heavy() -> None:
    code = HELP.replace("HEAVY", repr(["numpy", *HEAVY]))
    line = [sys.executable, "-c", code, *NAMES]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.stderr.splitlines() == [f"{name} 0" for name in NAMES]
    assert done.stdout.count("Usage") == len(NAMES)


def test_every_process_hashes_ids_otherwise() -> None:
    code = (
        "import polars as pl; from harness.core.ids import hashes_of;"
        "print(pl.DataFrame({'id': ['ann']}).select(h.alias(str(i)) for i, h in "
        "enumerate(hashes_of('id'))).row(0))"
    )
    one, other = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert one.stdout != other.stdout


MATRICES = "numpy polars scipy scipy.sparse"
COMMANDS = {
    "--version": "",
    "list metrics": "numpy rich",
    "list checks": "numpy",
    "list datasets": "",
    "fetch ml-100k --out films": "",
    "validate lists.csv": "numpy",
    "validate lists.csv --sample lists.csv": "numpy",
    "validate lists.csv --sample lists.csv --k 3 --separator ; --strict": "numpy",
    "validate lists.csv --format csv": "numpy",
    "validate lists.csv --solution truth.csv": "numpy polars",  # it is read as a frame
    # Student's quantile
    "score lists.csv --solution truth.csv": "numpy polars scipy scipy.special",
    "explain lists.csv --solution truth.csv --user ann": f"{MATRICES} harness.config",
    "synth hm --users 20 --items 10 --events 90 --out made": "numpy polars tqdm",
    "run shop.toml --out again": f"{MATRICES} harness.config scipy.special tomli_w tqdm",
    "submit shop.toml --model popular --out popular.csv": f"{MATRICES} harness.config tqdm",
    "split shop.toml --out files": f"{MATRICES} harness.config tomli_w tqdm",
    "tune tuned.toml --trials 1": f"{MATRICES} harness.config optuna scipy.special tomli_w tqdm",
    "compare run": f"{MATRICES} harness.config scipy.special",
    "leaderboard .": f"{MATRICES} harness.config",
    "report run": f"{MATRICES} harness.config jinja2 markupsafe plotly",
}
"""The libraries that each command imports beside those of the option parser, and slow parts."""
PARTS = ["harness.config", "scipy.sparse", "scipy.special", "scipy.stats"]
OF_OPTIONS = {"annotated_doc", "annotated_types", "pydantic", "pydantic_core", "shellingham"}
OF_OPTIONS |= {"typer", "typing_extensions", "typing_inspection"}
OF_OTHERS = {"Cython", "charset_normalizer", "colorlog", "cython", "packaging"}
"""What NumPy, SciPy and Optuna import, some of it only where it is there."""
SHOP = """
data = {{ layout = "hm", path = "{sample}" }}
split = {{ strategy = "time", valid_days = 7 }}
[[models]]
name = "popular"
use = "baselines.popular:Popular"
[[models]]
name = "lately"
use = "baselines.popular:Popular"
{more}
"""
IMPORTS = """
import sys, harness.cli
sys.argv = ["harness", *sys.argv[1:]]
try:
    harness.cli.main()
except SystemExit as done:
    status = done.code
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
found = {name.partition(".")[0] for name, file in files.items() if "site-packages" in file}
print(*found, *(name for name in PARTS if name in sys.modules), file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with lists, their true items, two configs and a run."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "lists.csv").write_text("user,items\nann,a b\nbob,b\n")
    (folder / "truth.csv").write_text("user,items\nann,b\nbob,b\n")
    for name, more in {"shop": "", "tuned": "space = { window_days = [1, 7] }"}.items():
        text = SHOP.format(sample=(ROOT / "data/hm-sample").as_posix(), more=more)
        (folder / f"{name}.toml").write_text(text)
    (folder / "films").mkdir()
    for name, size in DATASETS["ml-100k"].files.items():
        with (folder / "films" / name).open("wb") as file:
            file.truncate(size)
    in_a_process("run shop.toml --out run", folder)
    return folder


def in_a_process(command: str, folder: Path) -> set[str]:
    """Return the libraries and slow parts that a command imports, none that is private."""
    code = IMPORTS.replace("PARTS", repr(PARTS))
    own = os.environ | {"HARNESS_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split()],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env=own,
    )
    assert done.returncode < 2, done.stderr  # 1: the lists have errors
    assert done.stdout
    names = set(done.stderr.splitlines()[-1].split())
    return {name for name in names if not name.startswith("_")} - OF_OPTIONS - OF_OTHERS


@pytest.mark.parametrize("command", COMMANDS)
def test_what_each_command_imports(command: str, shop: Path) -> None:
    assert in_a_process(command, shop) == set(COMMANDS[command].split())


def test_metrics_are_known_without_frames() -> None:
    """What only prints their names need not wait for a library of frames."""
    code = "import harness.metrics, sys; print(sorted({'polars', 'scipy'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "[]\n")
