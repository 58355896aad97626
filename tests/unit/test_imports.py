"""The house rules of who imports what, read from the source; and imports that cost nothing."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from harness.data.datasets import DATASETS

ROOT = Path(__file__).parents[1]
LAYERS = [
    {"harness.__main__"},
    {"harness.cli"},
    {"harness.report", "harness.kaggle"},
    {"harness.tuning"},
    {"harness.spark"},
    {"harness.experiment"},
    {"harness.submission"},
    {"harness.protocol"},
    {"harness.config"},
    {"harness.stats"},
    {"harness.metrics"},
    {"harness.testing", "harness.layouts"},
    {"harness.models"},
    {"harness.data"},
    {"harness.delimited"},
    {"harness.core"},
]
"""The packages, top to bottom; each imports from those below it."""
CONTRACT = {"harness.core", "harness.data", "harness.models"}
"""The packages that a recommender may import from."""
HEAVY = ["narwhals", "optuna", "pandas", "plotly", "polars", "scipy", "sklearn"]
NAMES = ["compare", "explain", "leaderboard", "list", "report", "run", "score", "split", "submit"]
NAMES += ["fetch", "synth", "tune", "validate"]
"""The commands."""
UNSAFE = {"dill", "cloudpickle", "joblib", "marshal", "pickle", "shelve"}
OWN_STREAMS = {"Generator", "SeedSequence", "default_rng"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources(package: str) -> dict[str, Path]:
    return {name_of(path): path for path in sorted((ROOT / package).rglob("*.py"))}


MODULES = sources("harness") | sources("baselines")


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Yield the modules that import statements name; of ``from a import b``, a.b if a module."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when the module is imported: no function bodies, no type checking."""
    for child in ast.iter_child_nodes(node):
        checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not checking and not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield child
            yield from at_import(child)


def in_package(names: Iterable[str], package: str) -> set[str]:
    return {n for n in names if n == package or n.startswith(f"{package}.")}


def package_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def test_baselines_know_the_contract_alone() -> None:
    for module in sources("baselines"):
        names = set(imported(ast.walk(tree(module))))
        assert {package_of(name) for name in in_package(names, "harness")} <= CONTRACT, module
        own = {package_of(name) for name in in_package(names, "baselines")}
        assert own <= {package_of(module), "baselines._kernels"}, module


def test_a_package_knows_those_below_it_alone() -> None:
    """Imports within functions and for types count: who reads one module must read the other."""
    for module in sources("harness").keys() - {"harness"}:
        (floor,) = (i for i, layer in enumerate(LAYERS) if package_of(module) in layer)
        below = {package_of(module)}.union(*LAYERS[floor + 1 :])
        names = in_package(set(imported(ast.walk(tree(module)))), "harness")
        assert {package_of(name) for name in names} <= below, module


LISTS_BASELINES = {"harness.cli.lists", "harness.report.model_docs", "harness.report.documents"}
"""Of `harness list baselines`, which shows a package by its name."""


def test_harness_knows_no_baseline() -> None:
    for module in sources("harness"):
        assert not in_package(imported(ast.walk(tree(module))), "baselines"), module
        texts = () if module in LISTS_BASELINES else texts_that_are_no_message(tree(module))
        for text in texts:
            assert "baselines" not in text, module


def texts_that_are_no_message(node: ast.AST) -> Iterator[str]:
    """Yield every string but docstrings and what is raised."""
    for child in ast.iter_child_nodes(node):
        lone = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if isinstance(child, ast.Raise) or lone:
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        yield from texts_that_are_no_message(child)


def nodes() -> Iterator[tuple[str, ast.AST]]:
    return ((module, node) for module in MODULES for node in ast.walk(tree(module)))


def test_no_code_comes_from_data() -> None:
    for module, node in nodes():
        assert not {name.partition(".")[0] for name in imported(iter([node]))} & UNSAFE, module
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec", "__import__"), module
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False", module


def test_no_global_generator() -> None:
    for module, node in nodes():
        if module == "harness.testing":  # it watches that models leave these alone
            continue
        assert "random" not in imported(iter([node])), module
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random":
            assert node.attr in OWN_STREAMS, module
        if isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
            assert {alias.name for alias in node.names} <= OWN_STREAMS, module


def test_no_circles() -> None:
    """Imports within functions and for types count here too."""
    graph = {m: set(imported(ast.walk(tree(m)))) & MODULES.keys() - {m} for m in MODULES}
    assert graph["harness.experiment.run"] >= {"harness.protocol.task", "harness.stats.slices"}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_root_holds_the_api_alone() -> None:
    loose = {path.stem for path in (ROOT / "harness").glob("*.py")}
    assert loose == {"__init__", "__main__", "kaggle", "layouts", "testing"}


@pytest.mark.parametrize(
    "statement",
    [
        "import harness",
        "import baselines",
        "import harness.cli",
        "import runpy; sys.argv[1:] = ['--help']; runpy.run_module('harness', {}, '__main__')",
        *(
            f"import harness.cli; sys.argv = {['harness', *command, '--help']}; harness.cli.main()"
            for command in ([], *([name] for name in NAMES))
        ),
    ],
)
def test_nothing_heavy_is_imported(statement: str) -> None:
    code = (
        f"import sys\ntry:\n    {statement}\n    status = 0\n"
        "except SystemExit as done:\n    status = done.code\n"
        f"print(*[m for m in {['numpy', *HEAVY]} if m in sys.modules], file=sys.stderr)\n"
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "\n")
    assert ("Usage" in done.stdout) == ("help" in statement)


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
        timeout=60,
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[]\n")


def test_imports_have_no_effect_but_definitions() -> None:
    """No statement of a module prints, writes, reads or changes anything elsewhere."""
    effects = {"open", "print", "np.seterr", "warnings.filterwarnings", "os.environ.get"}
    for module in MODULES:
        for node in tree(module).body:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                assert ast.unparse(node).startswith(("app.command", "require_compiled")), module
            if isinstance(node, ast.Assign):
                assert all(isinstance(t, ast.Name | ast.Tuple) for t in node.targets), module
        calls = [node for node in at_import(tree(module)) if isinstance(node, ast.Call)]
        assert not {ast.unparse(call.func) for call in calls} & effects, module


def test_the_library_prints_nothing() -> None:
    """What it says goes to the log of its module, which nobody but the commands sets up."""
    printing = {"print", "sys.stderr.write", "sys.stdout.write", "warnings.showwarning"}
    printing |= {"logging.basicConfig", "logging.disable", "logging.StreamHandler"}
    for module in MODULES.keys() - in_package(MODULES, "harness.cli"):
        calls = [node for node in ast.walk(tree(module)) if isinstance(node, ast.Call)]
        assert not {ast.unparse(call.func) for call in calls} & printing, module


@pytest.mark.parametrize("name", ["Draws", "Recommender", "Train", "fill", "run", "top_k", "tune"])
def test_the_front_door_opens(name: str) -> None:
    import harness

    assert name in harness.__all__
    assert callable(getattr(harness, name))


def test_a_name_that_is_not_there() -> None:
    import harness

    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'nope'"):
        _ = harness.nope
