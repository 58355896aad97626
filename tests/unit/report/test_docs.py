"""What there is, in documents: docs/metrics.md, and the tables and JSON of harness list."""

import json
from typing import Any

import pytest
from conftest import ROOT

from harness.metrics import DEFINITIONS, DIVISORS
from harness.metrics.conventions import CONVENTIONS
from harness.report import docs

PAGE = docs.definitions_page()
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])


def test_the_page_in_the_repository_is_what_the_declarations_say() -> None:
    stored = (ROOT / "docs" / "metrics.md").read_bytes()
    assert stored == PAGE.encode(), "docs/metrics.md is old: run make docs"
    assert [*SECTIONS] == [*DEFINITIONS, "Your own", "Conventions of MAP@k"]
    for block in PAGE.split("\n\n"):
        if block.startswith("| "):
            assert len({line.count("|") for line in block.splitlines()}) == 1


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_metric_has_its_section_with_each_worked_example(name: str) -> None:
    lines, definition = SECTIONS[name].splitlines(), DEFINITIONS[name]
    assert f"- formula: {definition.text}" in lines
    assert f"- source: {definition.source}" in lines
    examples = [line for line in lines if line.startswith("- example: list ")]
    assert len(examples) == len(definition.examples) >= 1
    for line, example in zip(examples, definition.examples, strict=True):
        assert f"; `{example.metric}` = {example.steps} = " in line
        assert float(line.rpartition(" = ")[2]) == pytest.approx(example.value, rel=1e-5)
    for parameter in definition.params:
        assert any(line.startswith(f"- parameter `{parameter}`: ") for line in lines)


def test_every_divisor_and_convention_has_its_row() -> None:
    for name, divisor in DIVISORS.items():
        assert f"| `{name}` | {divisor.text} |" in SECTIONS["MAP"]
    rows = SECTIONS["Conventions of MAP@k"].splitlines()
    for name, convention in CONVENTIONS.items():
        (row,) = (row for row in rows if row.startswith(f"| {name} |"))
        cells = {cell.strip() for cell in row.strip("|").split("|")}
        texts = {convention.divisor_text, convention.repeats_text, convention.users}
        worked = f"{convention.steps} = {convention.value:.4f}"
        assert texts | {convention.tools, worked} <= cells


def plain(values: object) -> dict[str, dict[str, Any]]:
    """Return entries by name, read back from JSON without NaN and infinities."""
    return {entry["name"]: entry for entry in json.loads(json.dumps(values, allow_nan=False))}


def test_metrics_as_plain_values_lack_nothing() -> None:
    found = plain(docs.metrics())
    assert list(found) == list(DEFINITIONS)
    for name, entry in found.items():
        assert all(entry[key] for key in ("formula", "source", "examples")), name
        assert entry["better"] in {"higher", "lower", "neither"}
        assert set(entry["parameters"]) == set(DEFINITIONS[name].params)
        assert all(e["metric"].startswith(name) and e["steps"] for e in entry["examples"])
    assert found["MAP"]["parameters"] == {"divisor": "kaggle, trec, k, retrieved, hits"}
    assert found["MAP"]["range"] == [0, 1]
    assert found["Novelty"]["range"] == [0, None]
    assert (found["Gini"]["of"], found["Gini"]["better"]) == ("all lists together", "lower")
    assert (found["MAP"]["cut_off"], found["MRR"]["cut_off"]) == ("required", "optional")
    assert (found["MAP"]["needs"], found["ILD"]["needs"]) == (None, "attributes")
    assert found["Recall"]["examples"] == [{"metric": "Recall@4", "steps": "2 / 3", "value": 2 / 3}]


def test_conventions_as_plain_values_lack_nothing() -> None:
    found = plain(docs.conventions())
    assert list(found) == list(CONVENTIONS)
    assert found["kaggle"] == {
        "name": "kaggle",
        "divisor": "min(R, k)",
        "repeats": "once",
        "users": "with truth",
        "tools": CONVENTIONS["kaggle"].tools,
        "example": {
            "list": "a a b",
            "truth": "a b c d e",
            "k": 4,
            "steps": "(1/1 + 2/3) / min(5, 4)",
            "value": 5 / 12,
        },
    }


@pytest.mark.parametrize("width", [60, 80, 200])
def test_as_text_names_stand_at_the_edge_and_no_line_is_too_long(width: int) -> None:
    for text, known in (
        (docs.metrics_text(width), DEFINITIONS),
        (docs.conventions_text(width), CONVENTIONS),
    ):
        lines = text.splitlines()
        names = [line.split()[0] for line in lines if line and line[0] != " "]
        assert [name for name in names if name != "The"] == list(known)
        assert max(map(len, lines)) <= width
        assert "`" not in text


def test_as_text_formulas_and_worked_examples_are_whole() -> None:
    metrics = " ".join(docs.metrics_text(80).split())
    for definition in DEFINITIONS.values():
        assert " ".join(f"formula: {definition.text}".split()) in metrics
        for example in definition.examples:
            assert " ".join(f"{example.metric} = {example.steps} =".split()) in metrics
    conventions = " ".join(docs.conventions_text(80).split())
    for convention in CONVENTIONS.values():
        assert f"{convention.steps} = {convention.value:.4f}" in conventions
        assert " ".join(convention.tools.split()) in conventions
