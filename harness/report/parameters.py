"""A page of recommenders: what each does, its source, and its parameters, from their docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

HEAD = """# {title}: parameters

Written by `make docs` from the docstrings; what they are for is in [{name}.md]({name}.md).
"""


def page(package: str) -> str:
    """Return Markdown on every recommender of a package, one in each of its modules."""
    paths = importlib.import_module(package).__path__
    names = sorted(module.name for module in pkgutil.iter_modules(paths))
    parts = [_part(name, importlib.import_module(f"{package}.{name}")) for name in names]
    return "\n".join([HEAD.format(title=package.capitalize(), name=package), *parts])


def _part(name: str, module: Any) -> str:
    own = [c for c in vars(module).values() if inspect.isclass(c)]
    (model,) = [c for c in own if c.__module__ == module.__name__ and hasattr(c, "recommend")]
    text, _, rest = (inspect.getdoc(model) or "").partition("\nParameters\n")
    lines = [f"## `{name}:{model.__name__}`", "", text.strip(), ""]
    rows = list(_rows(model, rest))
    if rows:
        lines += ["| parameter | default | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _rows(model: Any, described: str) -> Iterator[str]:
    """Yield a row for each line ``name, name : type`` of a numpydoc section."""
    defaults = {n: p.default for n, p in inspect.signature(model).parameters.items()}
    section = re.split(r"\n\n[A-Z]\w+\n-+\n", described)[0]
    for found in re.finditer(
        r"^(\w[\w, ]*) : (.*)\n((?:    .*(?:\n|$)|\n)*)", section, re.MULTILINE
    ):
        meaning = " ".join(found[3].split()) or found[2]
        for name in found[1].split(", "):
            yield f"| `{name}` | {_default(defaults[name])} | {_cell(meaning)} |"


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "–"
    return "none" if value is None or value == () else f"`{str(value).lower()}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")
