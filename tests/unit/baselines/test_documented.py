"""docs/baselines.md names every baseline; every parameter is described where it is taken."""

import importlib
import inspect
import pkgutil
import re
from typing import Any

import pytest
from conftest import ROOT
from pages.baselines import page

MODULES = sorted(
    entry.name
    for entry in pkgutil.iter_modules([str(ROOT / "baselines")])
    if not entry.name.startswith("_")
)


def class_of(module: str) -> Any:
    imported = importlib.import_module(f"baselines.{module}")
    classes = [
        c
        for c in vars(imported).values()
        if inspect.isclass(c) and c.__module__ == imported.__name__
    ]
    (recommender,) = [c for c in classes if hasattr(c, "recommend")]
    return recommender


@pytest.mark.parametrize("module", MODULES)
def test_a_baseline_and_its_parameters_are_described(module: str) -> None:
    recommender = class_of(module)
    use = f"{module}:{recommender.__name__}"
    guide = (ROOT / "docs/baselines.md").read_text(encoding="utf-8")
    assert f"`{use}`" in guide
    configs = [path.read_text(encoding="utf-8") for path in (ROOT / "configs").glob("*.toml")]
    assert any(f'"baselines.{use}"' in text for text in [*configs, guide]), "an example to copy"
    described = inspect.getdoc(recommender) or ""
    for name in inspect.signature(recommender).parameters:
        assert re.search(rf"^[\w, ]*\b{name}\b[\w, ]* : ", described, re.MULTILINE), name


def test_the_page_of_parameters_is_what_the_docstrings_say() -> None:
    written = (ROOT / "docs/baseline-parameters.md").read_text(encoding="utf-8")
    assert written == page("baselines"), "run make pages"
    sections = dict(part.split("`", 1) for part in written.split("\n## `")[1:])
    assert len(sections) == len(MODULES)
    for use, text in sections.items():
        for name in inspect.signature(class_of(use.partition(":")[0])).parameters:
            assert text.count(f"| `{name}` |") == 1
