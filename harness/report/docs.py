"""The reference page of docs/ on metrics, and what a docstring says of each name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from harness.core import table
from harness.core.table import Column, Sheet
from harness.metrics import DEFINITIONS, DIVISORS, Better, Cut, Definition
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
    """A metric.

    Attributes
    ----------
    parameters : mapping of text to text
        What each may be.
    range : (float, float)
        The second is None where there is no highest value.
    cut_off : str
        Whether ``@k`` is ``required`` or ``optional``.
    needs : str, optional
        What must be known beside lists and truth.
    """

    name: str
    formula: str
    parameters: dict[str, str]
    range: tuple[float, float | None]
    better: Better
    of: Of
    cut_off: Cut
    needs: str | None
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
    return Sheet([Column(title, str, "name") for title in titles], rows, kept=2)


def conventions_sheet() -> Sheet:
    """Return the conventions of MAP@k."""
    rows = [
        [name, c.divisor_text, c.repeats_text, c.users, f"{c.steps} = {c.value:.4f}", c.tools]
        for name, c in CONVENTIONS.items()
    ]
    case = f"list {EXAMPLE['list']}, truth {EXAMPLE['truth']}, k = {EXAMPLE['k']}"
    titles = ["convention", "divisor D", "repeated item", "users averaged", case, "who uses it"]
    return Sheet([Column(title, str, "name") for title in titles], rows, kept=2)


def metrics_text(width: int) -> str:
    """Return the metrics for a terminal of so many columns."""
    facts = {name: _facts(name, d) for name, d in DEFINITIONS.items()}
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
    from harness.core.terminal import wrapped  # slow to import

    edge = max(map(len, facts)) + 2
    parts = []
    for name, lines in facts.items():
        room = max(width - edge, 30)
        first, *rest = [part for line in lines for part in wrapped(line, room, indent=2)]
        parts.append("\n".join([name.ljust(edge) + first, *(" " * edge + line for line in rest)]))
    return "\n\n".join(parts)


def definitions_page() -> str:
    """Return docs/metrics.md."""
    divisors = Sheet(
        [Column("divisor", str, "name"), Column("D", str, "name")],
        [[name, divisor.text] for name, divisor in DIVISORS.items()],
    )
    parts = [_HEAD.strip()]
    for name, definition in DEFINITIONS.items():
        parts.append("\n".join([f"## {name}\n", *(f"- {f}" for f in _facts(name, definition))]))
    parts[1] += "\n\n" + table.markdown(divisors)
    parts += [_OWN.strip(), _CONVENTIONS.strip(), table.markdown(conventions_sheet())]
    return "\n\n".join(parts) + "\n"


_HEAD = """
# Metrics

Made by `make docs` from the declarations in `harness/metrics/`; `harness list metrics` prints the
same facts.

For a user with the set of true items T, R = |T|, and a list cut at k, of which the items p_1 … p_L
are left (L ≤ k): hit(i) = 1 when p_i is in T and at no rank before i; P(i) = (hits among the first
i ranks) / i; hits = Σ hit(i). A repeated prediction is no second hit and uses its rank.
Where a divisor is 0, so is the value. A metric is reported as the mean over **all** users of
the evaluation set.

A metric is written `Name(parameter=value)@k`; defaults need not be written. In the examples a list
is shown best first.
"""

_OWN = """
## Your own

One function of (hits, n_relevant, k) for one user, named by import path: with this in
`my_metrics.py` beside the config (or the notebook), `my_metrics:early@10` is a metric like any.

```python
def early(hits, n_relevant, k):
    \"\"\"Half the hits among the first three ranks.\"\"\"
    return hits[:3].sum() / 2
```

`hits` is a bool array of the k ranks, best first (a repetition is no hit); `n_relevant` is R. The
function returns a finite number, 0 to 1 or not. More of it is better, if it does not say otherwise:

```python
early.better = "lower"  # or "neither", for what only describes
```

A run records a digest of the function's source (`metrics` in result.json): of its file and of the
modules of yours that it imports, or the version of the package that it is installed with. Runs by
two sources are not compared, and a leaderboard leaves the older ones out; other metrics of these
runs are compared as ever. `harness score RUN` and `harness explain RUN` go by the function as it is
now, and say so where it has changed. Files that a function reads itself are not known.
"""

_CONVENTIONS = """
## Conventions of MAP@k

What the formula leaves open, and who decides it how: the divisor; whether a repeated prediction is
a hit `once`, `again` with every copy, or is `dropped` before ranks are counted; and who is
averaged. All of them side by side, for a file of yours:
`harness score FILE --solution SOLUTION --conventions`. That pytrec_eval, ir_measures, ranx,
RecTools, RePlay and recommenders print these numbers is tested against the tools themselves (`make
peers`); for the others their sources were read.
"""


def _facts(name: str, d: Definition) -> list[str]:
    facts = [
        f"formula: {d.text}",
        *(
            f"parameter `{p}`: {param.allowed}; default {param.default}"
            for p, param in d.params.items()
        ),
        f"range {_range(d)}; {_BETTER[d.better]}",
        *(["one value for all lists together, none for a user"] if d.of == "set" else []),
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
    "neither": "describes, neither end is better",
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


def described(section: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield names, type and meaning for each line ``name, name : type`` of a numpydoc section."""
    text = re.split(r"\n\n[A-Z]\w+\n-+\n", section)[0]
    for line in re.finditer(r"^(\w[\w, ]*) : (.*)\n?((?:    .*(?:\n|$)|\n)*)", text, re.MULTILINE):
        yield line[1].split(", "), line[2], " ".join(line[3].split())
