"""docs/baselines.md names every baseline; every parameter is described where it is taken."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

from harness.report.model_docs import page

ROOT = Path(__file__).parents[3]
MODULES = sorted(
    found.name
    for found in pkgutil.iter_modules([str(ROOT / "baselines")])
    if not found.name.startswith("_")
)


def class_of(module: str) -> Any:
    """Return the one class that a baseline's file is there for."""
    found = importlib.import_module(f"baselines.{module}")
    own = [c for c in vars(found).values() if inspect.isclass(c) and c.__module__ == found.__name__]
    (recommender,) = [c for c in own if hasattr(c, "recommend")]
    return recommender


@pytest.mark.parametrize("module", MODULES)
def test_the_page_names_it(module: str) -> None:
    page = (ROOT / "docs/baselines.md").read_text(encoding="utf-8")
    assert f"`{module}:{class_of(module).__name__}`" in page


@pytest.mark.parametrize("module", MODULES)
def test_every_parameter_is_described(module: str) -> None:
    recommender = class_of(module)
    described = inspect.getdoc(recommender) or ""
    for name in inspect.signature(recommender).parameters:
        assert re.search(rf"^[\w, ]*\b{name}\b[\w, ]* : ", described, re.MULTILINE), name


@pytest.mark.parametrize("module", MODULES)
def test_the_config_may_be_copied(module: str) -> None:
    """Every baseline stands in a config, or in the page's own examples."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "configs").glob("*.toml")]
    texts.append((ROOT / "docs/baselines.md").read_text(encoding="utf-8"))
    assert any(f'"baselines.{module}:{class_of(module).__name__}"' in text for text in texts)


def test_the_page_of_parameters_is_what_the_docstrings_say() -> None:
    written = (ROOT / "docs/baseline-parameters.md").read_text(encoding="utf-8")
    assert written == page("baselines"), "make docs"


def test_the_page_has_every_parameter() -> None:
    parts = dict(part.split("`", 1) for part in page("baselines").split("\n## `")[1:])
    assert len(parts) == len(MODULES)
    for module in MODULES:
        rows = next(text for name, text in parts.items() if name.startswith(f"{module}:"))
        for name in inspect.signature(class_of(module)).parameters:
            assert rows.count(f"| `{name}` |") == 1
