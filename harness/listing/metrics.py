"""What there is of metrics and of conventions of MAP@k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from harness.core.table import Column, Sheet, wrapped
from harness.metrics import DEFINITIONS, Better, Cut, Definition
from harness.metrics.conventions import CONVENTIONS, EXAMPLE

Of = Literal["each user", "all lists together"]


@dataclass(frozen=True)
class WorkedExample:
    """A value worked out by hand."""

    metric: str
    steps: str
    value: float


@dataclass(frozen=True)
class MetricFacts:
    """A metric."""

    name: str
    formula: str
    parameters: dict[str, str]
    """What each may be."""
    range: tuple[float, float | None]
    """The second is None where there is no highest value."""
    better: Better
    of: Of
    cut_off: Cut
    """Whether ``@k`` is ``required`` or ``optional``."""
    needs: str | None
    """What must be known beside lists and truth."""
    source: str
    examples: list[WorkedExample]


@dataclass(frozen=True)
class WorkedConvention:
    """One list and its true items, ids between spaces, and what a convention makes of them."""

    list: str
    truth: str
    k: int
    steps: str
    value: float


@dataclass(frozen=True)
class ConventionFacts:
    """A convention of MAP@k."""

    name: str
    divisor: str
    repeats: str
    users: str
    tools: str
    example: WorkedConvention


def metrics() -> list[MetricFacts]:
    """Return every metric as the JSON document of ``harness list metrics``."""
    return [
        MetricFacts(
            name=name,
            formula=d.text,
            parameters={p: param.allowed for p, param in d.params.items()},
            range=(d.range[0], d.range[1] if d.range[1] < float("inf") else None),
            better=d.better,
            of="each user" if d.of == "user" else "all lists together",
            cut_off=d.cut,
            needs=d.needs or None,
            source=d.source,
            examples=[
                WorkedExample(metric=e.metric, steps=e.steps, value=e.value) for e in d.examples
            ],
        )
        for name, d in DEFINITIONS.items()
    ]


def conventions() -> list[ConventionFacts]:
    """Return every convention of MAP@k as the JSON document of ``harness list conventions``."""
    case: dict[str, Any] = EXAMPLE
    return [
        ConventionFacts(
            name=name,
            divisor=c.divisor_text,
            repeats=c.repeats_text,
            users=c.users,
            tools=c.tools,
            example=WorkedConvention(**case, steps=c.steps, value=c.value),
        )
        for name, c in CONVENTIONS.items()
    ]


def metrics_sheet() -> Sheet:
    """Return the metrics with their formulas and a worked example each."""
    rows = [
        [
            name,
            d.text,
            "; ".join(f"{p}: {param.allowed}" for p, param in d.params.items()),
            _range(d),
            d.better,
            f"{d.examples[0].metric} = {d.examples[0].steps} = {d.examples[0].value:.4f}",
            d.source,
        ]
        for name, d in DEFINITIONS.items()
    ]
    titles = ["metric", "formula", "parameters", "range", "better", "example", "source"]
    return Sheet([Column(title, str, "name") for title in titles], rows)


def conventions_sheet() -> Sheet:
    """Return the conventions of MAP@k."""
    rows = [
        [name, c.divisor_text, c.repeats_text, c.users, f"{c.steps} = {c.value:.4f}", c.tools]
        for name, c in CONVENTIONS.items()
    ]
    case = f"list {EXAMPLE['list']}, truth {EXAMPLE['truth']}, k = {EXAMPLE['k']}"
    titles = ["convention", "divisor D", "repeated item", "users averaged", case, "used by"]
    return Sheet([Column(title, str, "name") for title in titles], rows)


def metrics_text(width: int) -> str:
    """Return the metrics for a terminal of so many columns."""
    facts = {name: facts_of(name, d) for name, d in DEFINITIONS.items()}
    return _wrapped(width, facts).replace("`", "")


def conventions_text(width: int) -> str:
    """Return the conventions for a terminal of so many columns."""
    facts = {
        name: [
            f"D = {c.divisor_text}; repeated items: {c.repeats_text}; averaged: {c.users}",
            f"example: {c.steps} = {c.value:.4f}",
            c.tools,
        ]
        for name, c in CONVENTIONS.items()
    }
    case = f"The example: list {EXAMPLE['list']}, truth {EXAMPLE['truth']}, k = {EXAMPLE['k']}"
    return f"{case}\n\n{_wrapped(width, facts)}"


def _wrapped(width: int, facts: dict[str, list[str]]) -> str:
    """Return every name with its facts beside it, lines no longer than `width`."""
    edge = max(map(len, facts)) + 2
    parts = []
    for name, lines in facts.items():
        room = max(width - edge, 30)
        first, *rest = [part for line in lines for part in wrapped(line, room, indent=2)]
        parts.append("\n".join([name.ljust(edge) + first, *(" " * edge + line for line in rest)]))
    return "\n\n".join(parts)


def facts_of(name: str, d: Definition) -> list[str]:
    """Return what is to be known of a metric, a line each."""
    facts = [
        f"formula: {d.text}",
        *(
            f"parameter `{p}`: {param.allowed}; default {param.default}"
            for p, param in d.params.items()
        ),
        f"range {_range(d)}; {_BETTER[d.better]}",
        *(["one value for all lists, none per user"] if d.of == "set" else []),
        *([f"`{name}` without `@k` looks at whole lists"] if d.cut == "optional" else []),
        *([f"needs {_NEEDS[d.needs]}"] if d.needs else []),
        f"source: {d.source}",
    ]
    for e in d.examples:
        case = [f"list {_lists(e.recommendations)}", f"truth {_lists(e.truth)}"]
        if e.train is not None:
            case.append(f"training {_lists(e.train)}")
        if e.attributes is not None:
            case += [f"{column} {' '.join(values)}" for column, values in e.attributes.items()]
        facts.append(f"example: {'; '.join(case)}; `{e.metric}` = {e.steps} = {e.value:.6g}")
    return facts


_BETTER = {
    "higher": "higher is better",
    "lower": "lower is better",
    "neither": "a description: neither high nor low is better",
}
_NEEDS = {
    "train": "training events",
    "attributes": "item attributes",
    "candidates": "the candidates",
}


def _lists(lists: Any) -> str:
    """Return lists as text; a single user's name says nothing."""
    shown = {
        user: " ".join([f"{i}:{items[i]}" for i in items] if isinstance(items, dict) else items)
        for user, items in lists.items()
    }
    if len(shown) == 1:
        return f"`{next(iter(shown.values()))}`"
    return " and ".join(f"{user} `{items}`" for user, items in shown.items())


def _range(d: Definition) -> str:
    low, high = d.range
    return f"{low:g} to {'∞' if high == float('inf') else f'{high:g}'}"
