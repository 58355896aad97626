"""What there is of models: the classes of a package, with their parameters."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.core.table import SCHEMA, Column, Sheet, json_value
from harness.report.docs import described


@dataclass(frozen=True)
class Parameter:
    """A parameter of a model.

    Attributes
    ----------
    default : any value
        ``inspect.Parameter.empty`` where it has to be given.
    """

    name: str
    default: Any
    meaning: str


@dataclass(frozen=True)
class ModelFacts:
    """A class of models.

    Attributes
    ----------
    use : str
        What a config names it by.
    summary, text : str
        The first line of its docstring; that and what follows.
    parameters : tuple of Parameter
    missing : str
        What it needs that is not installed; it has no parameters here then.
    """

    use: str
    summary: str
    text: str
    parameters: tuple[Parameter, ...]
    missing: str = ""


def models(package: str = "baselines") -> Iterator[ModelFacts]:
    """Yield the classes of a package, one in each of its modules."""
    paths = importlib.import_module(package).__path__
    for name in sorted(m.name for m in pkgutil.iter_modules(paths) if not m.name.startswith("_")):
        path = f"{package}.{name}"
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            yield ModelFacts(path, "", "", (), str(error))
            continue
        own = [c for c in vars(module).values() if inspect.isclass(c)]
        (model,) = [c for c in own if c.__module__ == path and hasattr(c, "recommend")]
        text, _, rest = (inspect.getdoc(model) or "").partition("\nParameters\n")
        defaults = {n: p.default for n, p in inspect.signature(model).parameters.items()}
        parameters = tuple(
            Parameter(name, defaults[name], meaning or kind)
            for names, kind, meaning in described(rest)
            for name in names
        )
        summary = text.strip().partition("\n\n")[0].replace("\n", " ")
        yield ModelFacts(f"{path}:{model.__name__}", summary, text.strip(), parameters)


def document() -> dict[str, Any]:
    """Return the baselines as the JSON document of ``harness list baselines``."""
    baselines = []
    for model in models():
        parameters = [
            {
                "name": p.name,
                "required": p.default is inspect.Parameter.empty,
                "default": None if p.default is inspect.Parameter.empty else json_value(p.default),
                "meaning": p.meaning,
            }
            for p in model.parameters
        ]
        own = {"use": model.use, "summary": model.summary, "missing": model.missing}
        baselines.append(own | {"parameters": parameters})
    return {"schema": SCHEMA, "baselines": baselines}


def sheet() -> Sheet:
    """Return the baselines as a table."""
    columns: list[Column[ModelFacts]] = [
        Column("use", lambda m: m.use, "name"),
        Column("what it is", lambda m: m.missing or m.summary, "words"),
        Column("parameters", lambda m: ", ".join(p.name for p in m.parameters), "words"),
    ]
    footing = ["docs/baseline-parameters.md, or --format json, says what each parameter is"]
    return Sheet.of(models(), columns, footing=footing)


_HEAD = """# {title}: parameters

Written by `make docs` from the docstrings; what they are for is in [{name}.md]({name}.md).
"""


def page(package: str) -> str:
    """Return Markdown on every class of a package."""
    lines = [_HEAD.format(title=package.capitalize(), name=package)]
    for model in models(package):
        lines += [f"## `{model.use.removeprefix(f'{package}.')}`", "", model.text, ""]
        if model.parameters:
            lines += ["| parameter | default | meaning |", "|---|---|---|"]
            for p in model.parameters:
                meaning = p.meaning.replace("|", "\\|").replace("``", "`")
                lines.append(f"| `{p.name}` | {_default(p.default)} | {meaning} |")
            lines.append("")
    return "\n".join(lines)


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "–"
    return "none" if value is None or value == () else f"`{str(value).lower()}`"
