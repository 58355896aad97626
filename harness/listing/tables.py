"""What there is of models, checks of submissions, layouts and public data sets."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.core.table import SCHEMA, Column, Sheet, document, json_value
from harness.data.datasets import DATASETS, PublicDataset, megabytes
from harness.data.layouts import BUILT_IN
from harness.submission.rules import RULES, Rule, Severity, Unit
from harness.submission.rules import Column as RuleColumn


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
        parameters = [
            _parameter(signature[name], meaning or kind)
            for names, kind, meaning in described(rest)
            for name in names
        ]
        summary = text.strip().partition("\n\n")[0].replace("\n", " ")
        yield BaselineFacts(f"{path}:{model.__name__}", summary, "", parameters), text.strip()


def _parameter(parameter: inspect.Parameter, meaning: str) -> ParameterFacts:
    required = parameter.default is inspect.Parameter.empty
    default = None if required else json_value(parameter.default)
    return ParameterFacts(parameter.name, required, default, meaning)


def baselines() -> dict[str, Any]:
    """Return the baselines as the JSON document of ``harness list baselines``."""
    return document(Baselines([model for model, _ in models()]))


def baselines_sheet() -> Sheet:
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


@dataclass(frozen=True)
class CheckFacts:
    """A check of submissions."""

    code: str
    name: str
    severity: Severity
    says: str
    hint: str
    of: Unit
    """What is counted: ``ids``, ``lists``, ``items`` or ``lines``; empty where it is the file."""
    column: RuleColumn
    """``user``, ``items``, or empty."""
    fixed: bool
    """Whether ``--fix`` mends it."""


@dataclass(frozen=True)
class Checks:
    """The checks of submissions."""

    checks: list[CheckFacts]


def checks() -> dict[str, Any]:
    """Return the checks of submissions as the JSON document of ``harness list checks``."""
    facts = [
        CheckFacts(
            code=rule.code,
            name=rule.name,
            severity=rule.severity,
            says=rule.says,
            hint=rule.hint,
            of=rule.unit,
            column=rule.column,
            fixed=rule.fixed,
        )
        for rule in RULES.values()
    ]
    return document(Checks(facts))


def checks_sheet() -> Sheet:
    """Return the checks of submissions as a table."""
    columns: list[Column[Rule]] = [
        Column("check", lambda rule: rule.code, "name"),
        Column("severity", lambda rule: rule.severity, "name"),
        Column("what", lambda rule: rule.name, "words"),
        Column("how to fix it", lambda rule: plain(rule.hint), "words"),
        Column("mended by", lambda rule: "--fix" if rule.fixed else "", "name"),
    ]
    return Sheet.of(RULES.values(), columns)


def plain(hint: str) -> str:
    """Return a hint as it reads without a file."""
    return hint.format(
        allowed="customer_id,prediction",
        k="k",
        between="one space",
        quoted="NAME",
        between_items="put one space between items",
        apart="put one space between items",
        joined="join the items: ' '.join(items)",
        unless="",
    )


def layouts() -> dict[str, Any]:
    """Return the built-in layouts as the JSON document of ``harness list layouts``."""
    facts = []
    for name, layout in BUILT_IN.items():
        columns = []
        for table in layout.events:
            columns.append(f"{table.kind} (column)" if table.kind else table.type)
            columns += [f"{table.value} (value)"] if table.value else []
        files = [table.file for table in layout.events]
        facts.append({"name": name, "data": layout.about, "events": files, "columns": columns})
    return {"schema": SCHEMA, "layouts": facts}


def layouts_sheet() -> Sheet:
    """Return the built-in layouts as a table."""
    columns: list[Column[dict[str, Any]]] = [
        Column("layout", lambda facts: facts["name"], "name"),
        Column("data", lambda facts: facts["data"], "words"),
        Column("events", lambda facts: ", ".join(facts["events"]), "words"),
        Column("event types and values", lambda facts: ", ".join(facts["columns"]), "words"),
    ]
    footing = ['any other log: layout = "table", or your own layout: docs/layouts.md']
    return Sheet.of(layouts()["layouts"], columns, footing=footing)


def datasets() -> dict[str, Any]:
    """Return the public data sets as the JSON document of ``harness list datasets``."""
    names = ("name", "title", "events", "users", "items", "url", "size", "sha256", "terms")
    facts = [
        {**{name: getattr(d, name) for name in names}, "licence": d.licence.text}
        for d in DATASETS.values()
    ]
    return {"schema": SCHEMA, "datasets": facts}


def datasets_sheet() -> Sheet:
    """Return the public data sets as a table."""
    columns: list[Column[PublicDataset]] = [
        Column("data set", lambda d: d.name, "name"),
        Column("events", lambda d: f"{d.events:,}"),
        Column("users", lambda d: f"{d.users:,}"),
        Column("items", lambda d: f"{d.items:,}"),
        Column("download", lambda d: megabytes(d.size)),
        Column("licence", lambda d: d.licence.short, "words"),
    ]
    footing = ["harness fetch NAME shows the full terms before it downloads"]
    return Sheet.of(DATASETS.values(), columns, footing=footing)
