"""The house rules of who imports what, read from the source, that of tests as well."""

import ast
import re
import runpy
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import harness

ROOT = Path(__file__).parents[2]
LAYERS = [
    {"harness.__main__"},
    {"harness.cli"},
    {"harness.report", "harness.listing", "harness.kaggle"},
    {"harness.tuning"},
    {"harness.spark"},
    {"harness.comparison", "harness.hosting", "harness.init"},
    {"harness.evaluation"},
    {"harness.scoring"},
    {"harness.results"},
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


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources(package: str) -> dict[str, Path]:
    return {name_of(path): path for path in sorted((ROOT / package).rglob("*.py"))}


MODULES = sources("harness") | sources("baselines")


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def parts(module: str) -> list[ast.AST]:
    return list(ast.walk(tree(module)))


@cache
def imports(module: str) -> frozenset[str]:
    """Return all modules that a module imports, within functions and for types as well."""
    return frozenset(imported(parts(module)))


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
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


def called(nodes: Iterable[ast.AST]) -> set[str]:
    return {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}


def in_package(names: Iterable[str], package: str) -> set[str]:
    return {n for n in names if n == package or n.startswith(f"{package}.")}


def package_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def test_baselines_know_the_contract_alone() -> None:
    for module in sources("baselines"):
        names = imports(module)
        assert {package_of(name) for name in in_package(names, "harness")} <= CONTRACT, module
        packages = {package_of(name) for name in in_package(names, "baselines")}
        assert packages <= {package_of(module), "baselines._kernels"}, module


def test_a_package_knows_those_below_it_alone() -> None:
    """Imports within functions and for types count: who reads one module must read the other."""
    for module in sources("harness").keys() - {"harness"}:
        (floor,) = (i for i, layer in enumerate(LAYERS) if package_of(module) in layer)
        below = {package_of(module)}.union(*LAYERS[floor + 1 :])
        names = in_package(imports(module), "harness")
        assert {package_of(name) for name in names} <= below, module


def test_harness_knows_no_baseline() -> None:
    """But for `harness list baselines`, which shows a package by its name, and our own source."""
    listing = {"harness.cli.lists", "harness.listing.tables"}
    listing |= {"harness.core.sources"}
    for module in sources("harness"):
        assert not in_package(imports(module), "baselines"), module
        texts = texts_that_are_no_message(tree(module))
        assert module in listing or not any("baselines" in text for text in texts), module


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
    return ((module, node) for module in MODULES for node in parts(module))


def test_no_circles() -> None:
    """Imports within functions and for types count here too."""
    graph = {m: imports(m) & MODULES.keys() - {m} for m in MODULES}
    assert graph["harness.evaluation.run"] >= {"harness.protocol.task", "harness.results.run"}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_what_is_compiled_has_a_stub_and_nothing_else_has() -> None:
    stubs = [*ROOT.glob("harness/*/*.pyi"), *ROOT.glob("baselines/*.pyi")]
    compiled = runpy.run_path(str(ROOT / "setup.py"))["MODULES"]
    assert {stub.with_suffix("") for stub in stubs} == {
        (ROOT / source).with_suffix("") for source in compiled
    }


def test_the_root_holds_the_api_alone() -> None:
    loose = {path.stem for path in (ROOT / "harness").glob("*.py")}
    assert loose == {"__init__", "__main__", "kaggle", "layouts", "testing"}


def test_imports_have_no_effect_but_definitions() -> None:
    """No statement of a module prints, writes, reads or changes anything elsewhere."""
    effects = {"open", "print", "np.seterr", "warnings.filterwarnings", "os.environ.get"}
    for module in MODULES:
        for node in tree(module).body:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                assert ast.unparse(node).startswith(("app.command", "require_compiled")), module
            if isinstance(node, ast.Assign):
                assert all(isinstance(t, ast.Name | ast.Tuple) for t in node.targets), module
        assert not called(at_import(tree(module))) & effects, module


def test_the_library_prints_nothing() -> None:
    """It logs, and commands print the log; the line that says what is being done is drawn."""
    printing = {"print", "sys.stderr.write", "sys.stdout.write", "warnings.showwarning"}
    printing |= {"logging.basicConfig", "logging.disable", "logging.StreamHandler"}
    for module in MODULES.keys() - in_package(MODULES, "harness.cli") - {"harness.core.progress"}:
        assert not called(parts(module)) & printing, module


def test_the_front_door_opens() -> None:
    assert {"Recommender", "run", "top_k", "tune", "evaluate"} <= {*harness.__all__}
    assert dir(harness) == sorted(harness.__all__)
    assert all(hasattr(harness, name) for name in harness.__all__)
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'nope'"):
        _ = harness.nope


TESTS = sorted((ROOT / "tests").rglob("*.py"))
UNIT = [path for path in TESTS if ROOT / "tests" / "unit" in path.parents]
NOT_IN_UNIT = {"harness.cli", "harness.evaluation.run", "harness.run", "harness.tune"}
NOT_IN_UNIT |= {"http.server", "multiprocessing", "socket", "socketserver", "subprocess"}
NOT_IN_UNIT |= {"conftest.Cli"}
SETS_A_PRIVATE_NAME = re.compile(r"""(setattr|patch\.object)\([^()]*["'](\w+\.)*_[a-zA-Z]""")


def names_imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_unit_tests_start_nothing() -> None:
    """No whole run, no command line, no process, no server; tests/unit/cli has its modules."""
    for path in UNIT:
        allowed = {"harness.cli"} if path.parent.name == "cli" else set()
        names = names_imported(path)
        wrong = {n for p in NOT_IN_UNIT - allowed for n in in_package(names, p)}
        assert wrong == set(), path


def test_no_test_knows_a_private_name() -> None:
    """What is compiled is compared with plain Python by its own name."""
    for path in TESTS:
        if path.name == "test_compiled.py":
            continue
        private = [
            n for n in names_imported(path) if re.match(r"(harness|baselines)\.(.*\.)?_[^_]", n)
        ]
        assert private == [], path
        assert SETS_A_PRIVATE_NAME.findall(path.read_text(encoding="utf-8")) == [], path


def test_no_test_of_make_test_sleeps() -> None:
    """But a process of a run with --jobs, which looks again and again for what another writes."""
    places = {ROOT / "tests", ROOT / "tests" / "journeys"}
    quick = [*UNIT, *(path for path in TESTS if path.parent in places)]
    sleeping = "time." + "sleep"
    assert [p.name for p in quick if sleeping in p.read_text("utf-8")] == ["beside.py"]
