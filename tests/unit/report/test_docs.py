"""What there is, in documents: docs/metrics.md, and the tables and JSON of harness list."""

import json
from pathlib import Path

import pytest

from harness.metrics import DEFINITIONS, DIVISORS
from harness.metrics.conventions import CONVENTIONS
from harness.report import docs

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"


def section(name: str) -> list[str]:
    """Return the lines of a section of the page."""
    (found,) = (
        part for part in docs.definitions_page().split("\n## ")[1:] if part.startswith(f"{name}\n")
    )
    return found.splitlines()[1:]


def test_the_page_in_the_repository_is_what_the_declarations_say() -> None:
    assert DOCS.read_bytes() == docs.definitions_page().encode(), (
        "docs/metrics.md is old: run make docs"
    )


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_metric_has_its_section_with_each_worked_example(name: str) -> None:
    lines, definition = section(name), DEFINITIONS[name]
    assert f"- formula: {definition.text}" in lines
    assert f"- source: {definition.source}" in lines
    examples = [line for line in lines if line.startswith("- example: list ")]
    assert len(examples) == len(definition.examples) >= 1
    for line, example in zip(examples, definition.examples, strict=True):
        assert f"; `{example.metric}` = {example.steps} = " in line
        assert float(line.rpartition(" = ")[2]) == pytest.approx(example.value, rel=1e-5)
    for parameter in definition.params:
        assert any(line.startswith(f"- parameter `{parameter}`: ") for line in lines)


def test_the_sections_stand_in_the_order_of_the_declarations() -> None:
    titles = [line[3:] for line in docs.definitions_page().splitlines() if line.startswith("## ")]
    assert titles == [*DEFINITIONS, "Your own", "Conventions of MAP@k"]


def test_the_divisors_stand_with_map() -> None:
    text = "\n".join(section("MAP"))
    for name, divisor in DIVISORS.items():
        assert f"| `{name}` | {divisor.text} |" in text


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_has_its_row_with_its_worked_example(name: str) -> None:
    convention = CONVENTIONS[name]
    (row,) = (x for x in section("Conventions of MAP@k") if x.startswith(f"| {name} |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert f"{convention.steps} = {convention.value:.4f}" in cells
    assert {convention.divisor_text, convention.repeats_text, convention.users} <= set(cells)
    assert convention.tools in cells


def test_the_page_is_markdown_of_whole_tables() -> None:
    for block in docs.definitions_page().split("\n\n"):
        if block.startswith("| "):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_metrics_as_plain_values_lack_nothing() -> None:
    found = {entry["name"]: entry for entry in json.loads(strict(docs.metrics()))}
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


def strict(values: object) -> str:
    """Return JSON; NaN and infinities are none."""
    return json.dumps(values, allow_nan=False)


def test_conventions_as_plain_values_lack_nothing() -> None:
    found = {entry["name"]: entry for entry in json.loads(strict(docs.conventions()))}
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


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("topic", ["metrics", "conventions"])
def test_as_text_every_name_stands_at_the_edge_and_no_line_is_too_long(
    topic: str, width: int
) -> None:
    of, known = {
        "metrics": (docs.metrics_text, DEFINITIONS),
        "conventions": (docs.conventions_text, CONVENTIONS),
    }[topic]
    lines = of(width).splitlines()
    names = [line.split()[0] for line in lines if line and line[0] != " "]
    assert [name for name in names if name != "The"] == list(known)
    assert max(map(len, lines)) <= width
    assert "`" not in of(width)


def test_as_text_formulas_and_worked_examples_are_whole() -> None:
    def words(text: str) -> str:
        return " ".join(text.split())

    metrics = words(docs.metrics_text(80))
    for definition in DEFINITIONS.values():
        assert words(f"formula: {definition.text}") in metrics
        for example in definition.examples:
            assert words(f"{example.metric} = {example.steps} = ") in metrics
    conventions = words(docs.conventions_text(80))
    for convention in CONVENTIONS.values():
        assert words(f"{convention.steps} = {convention.value:.4f}") in conventions
        assert words(convention.tools) in conventions
