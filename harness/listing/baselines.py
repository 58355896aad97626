"""What there is of models: the classes of a package, with their parameters."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.core.table import Column, Sheet, json_value
from harness.core.table import document as document_of


@dataclass(frozen=True)
class ParameterFacts:
    """A parameter of a model."""

    name: str
    required: bool
    """Whether it has to be given; it has no default then."""
    default: Any
    meaning: str


@dataclass(frozen=True)
class BaselineFacts:
    """A baseline."""

    use: str
    """What a config names it by."""
    summary: str
    missing: str
    """What it needs that is not installed; empty where it can be used."""
    parameters: list[ParameterFacts]


@dataclass(frozen=True)
class Baselines:
    """The baselines."""

    baselines: list[BaselineFacts]


def models(package: str = "baselines") -> Iterator[tuple[BaselineFacts, str]]:
    """Yield the classes of a package, one in each of its modules, beside their docstrings."""
    paths = importlib.import_module(package).__path__
    for name in sorted(m.name for m in pkgutil.iter_modules(paths) if not m.name.startswith("_")):
        path = f"{package}.{name}"
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            yield BaselineFacts(use=path, summary="", missing=str(error), parameters=[]), ""
            continue
        classes = [c for c in vars(module).values() if inspect.isclass(c)]
        (model,) = [c for c in classes if c.__module__ == path and hasattr(c, "recommend")]
        text, _, rest = (inspect.getdoc(model) or "").partition("\nParameters\n")
        signature = inspect.signature(model).parameters
        parameters = []
        for names, kind, meaning in described(rest):
            for parameter in names:
                default = signature[parameter].default
                required = default is inspect.Parameter.empty
                parameters.append(
                    ParameterFacts(
                        name=parameter,
                        required=required,
                        default=None if required else json_value(default),
                        meaning=meaning or kind,
                    )
                )
        summary = text.strip().partition("\n\n")[0].replace("\n", " ")
        yield BaselineFacts(f"{path}:{model.__name__}", summary, "", parameters), text.strip()


def document() -> dict[str, Any]:
    """Return the baselines as the JSON document of ``harness list baselines``."""
    return document_of(Baselines([model for model, _ in models()]))


def sheet() -> Sheet:
    """Return the baselines as a table."""
    columns: list[Column[BaselineFacts]] = [
        Column("use", lambda m: m.use, "whole"),
        Column("what it is", lambda m: m.missing or m.summary, "words"),
        Column("parameters", lambda m: ", ".join(p.name for p in m.parameters), "words"),
    ]
    footing = ["docs/baseline-parameters.md and --format json explain each parameter"]
    return Sheet.of((model for model, _ in models()), columns, footing=footing)


def described(section: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield names, type and meaning for each line ``name, name : type`` of a numpydoc section."""
    text = re.split(r"\n\n[A-Z]\w+\n-+\n", section)[0]
    for line in re.finditer(r"^(\w[\w, ]*) : (.*)\n?((?:    .*(?:\n|$)|\n)*)", text, re.MULTILINE):
        yield line[1].split(", "), line[2], " ".join(line[3].split())
