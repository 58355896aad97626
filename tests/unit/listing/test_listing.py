"""What there is, in documents: docs/metrics.md, docs/schema, and the tables and JSON of lists."""

import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any, get_args

import pytest
import small
from conftest import ROOT
from jsonschema import Draft202012Validator
from pages import documents, schemas
from pages.documents import DOCUMENTS
from pages.metrics import page as page_of_metrics
from pydantic_core import to_jsonable_python

from harness.listing import metrics as listed
from harness.listing import tables as models
from harness.metrics import DEFINITIONS, DIVISORS
from harness.metrics.conventions import CONVENTIONS
from harness.stats import chance, pairwise
from harness.submission.rules import RULES, Severity, Unit

PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])


def test_the_page_in_the_repository_is_what_the_declarations_say() -> None:
    assert page_of_metrics() == PAGE, "docs/metrics.md is old: run make pages"
    assert [*SECTIONS] == [*DEFINITIONS, "Your own", "Conventions of MAP@k"]
    for block in PAGE.split("\n\n"):
        if block.startswith("| "):
            assert len({line.count("|") for line in block.splitlines()}) == 1


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_metric_has_its_section_with_each_worked_example(name: str) -> None:
    section, definition = SECTIONS[name], DEFINITIONS[name]
    assert f"- formula: {definition.text}\n" in section
    assert f"- source: {definition.source}\n" in section
    for parameter in definition.params:
        assert f"- parameter `{parameter}`: " in section
    examples = [line for line in section.splitlines() if line.startswith("- example: list ")]
    for line, example in zip(examples, definition.examples, strict=True):
        assert f"; `{example.metric}` = {example.steps} = " in line
        assert float(line.rpartition(" = ")[2]) == pytest.approx(example.value, rel=1e-5)


def test_every_divisor_and_convention_has_its_row() -> None:
    for name, divisor in DIVISORS.items():
        assert f"| {name} | {divisor.text} |" in SECTIONS["MAP"]
    rows = SECTIONS["Conventions of MAP@k"].splitlines()
    for name, convention in CONVENTIONS.items():
        (row,) = (row for row in rows if row.startswith(f"| {name} |"))
        cells = {cell.strip() for cell in row.strip("|").split("|")}
        texts = {convention.divisor_text, convention.repeats_text, convention.users}
        worked = f"{convention.steps} = {convention.value:.4f}"
        assert texts | {convention.tools, worked} <= cells


def test_metrics_as_plain_values_lack_nothing() -> None:
    """JSON has no NaN and no infinity; tests of schemas look at the keys."""
    entries = json.loads(json.dumps(to_jsonable_python(listed.metrics()), allow_nan=False))
    by_name: dict[str, Any] = {entry["name"]: entry for entry in entries}
    assert list(by_name) == list(DEFINITIONS)
    assert by_name["MAP"]["parameters"] == {"divisor": "kaggle, trec, k, retrieved, hits"}
    assert (by_name["MAP"]["range"], by_name["Novelty"]["range"]) == ([0, 1], [0, None])
    assert (by_name["Gini"]["of"], by_name["Gini"]["better"]) == ("all lists together", "lower")


@pytest.mark.parametrize("width", [60, 200])
def test_as_text_all_is_there_and_no_line_is_too_long(width: int) -> None:
    examples = [
        (definition, example)
        for definition in DEFINITIONS.values()
        for example in definition.examples
    ]
    metrics = [f"formula: {definition.text}" for definition, _ in examples]
    metrics += [f"{example.metric} = {example.steps} =" for _, example in examples]
    conventions = [
        f"{convention.steps} = {convention.value:.4f}" for convention in CONVENTIONS.values()
    ]
    conventions += [convention.tools for convention in CONVENTIONS.values()]
    for text, known, parts in (
        (listed.metrics_text(width), DEFINITIONS, metrics),
        (listed.conventions_text(width), CONVENTIONS, conventions),
    ):
        lines = text.splitlines()
        names = [line.split()[0] for line in lines if line and line[0] != " "]
        assert [name for name in names if name != "The"] == list(known)
        assert max(map(len, lines)) <= width
        assert "`" not in text
        whole = " ".join(text.split())
        assert [part for part in parts if " ".join(part.split()) not in whole] == []


# Models.

STARS = '''
class Stars:
    """Those of most stars, over
    two lines.

    A second paragraph.

    Parameters
    ----------
    least : int
        Stars that count.
    models : sequence
    """

    def __init__(self, models, least=3): ...
    def recommend(self): ...
'''


def test_a_class_is_told_by_its_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "raise ModuleNotFoundError('it needs stars: pip install stars')\n"
    small.write(tmp_path, {"sky/__init__.py": "", "sky/stars.py": STARS, "sky/moons.py": broken})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sky", raising=False)
    (moons, _), (stars, _) = models.models("sky")
    assert (moons.use, moons.missing) == ("sky.moons", "it needs stars: pip install stars")
    assert (stars.use, stars.missing) == ("sky.stars:Stars", "")
    assert stars.summary == "Those of most stars, over two lines."
    assert [astuple(parameter) for parameter in stars.parameters] == [
        ("least", False, 3, "Stars that count."),
        ("models", True, None, "sequence"),
    ]


# Schemas.

STORED = {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "schema").iterdir()}


def test_the_files_are_what_the_code_makes() -> None:
    made = schemas.texts()
    assert made.keys() == STORED.keys(), "run make pages"
    assert [name for name in made if made[name] != STORED[name]] == [], "old: run make pages"


@pytest.mark.parametrize("name", STORED)
def test_each_is_a_schema_that_is_open(name: str) -> None:
    schema = json.loads(STORED[name])
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"additionalProperties": false' not in STORED[name]


def properties(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            yield from properties(part)


def words_of(schema: Any) -> set[str]:
    """Return the words of an enumeration, or of one that may be null."""
    allowed = {word for part in schema.get("anyOf", ()) for word in part.get("enum", ())}
    return allowed | set(schema.get("enum", ()))


@pytest.mark.parametrize("name", STORED)
def test_a_description_names_no_word_that_its_enumeration_has_not(name: str) -> None:
    for key, described in properties(json.loads(STORED[name])):
        quoted = set(re.findall(r"`([^`]+)`", described.get("description", "")))
        assert not words_of(described) or quoted - {"@k"} <= words_of(described), key


def test_words_of_documents_are_those_of_the_types_that_make_them() -> None:
    """A word that a type lacks, mypy finds where it is made; so no document lists words itself."""
    assert "Literal[" not in inspect.getsource(documents)
    made = {rule.severity for rule in RULES.values()}, {rule.unit for rule in RULES.values()}
    assert made == ({*get_args(Severity)}, {*get_args(Unit)})
    schema = json.loads(STORED["run.json"])["$defs"]
    assert words_of(schema["Verdict"]["properties"]["verdict"]) == {*get_args(chance.Word)}
    assert words_of(schema["Pair"]["properties"]["verdict"]) == {*get_args(pairwise.Word)}


def test_the_page_names_every_one() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\S+)\]\(schema/(\S+)\) \|", page, flags=re.M)
    assert rows == [(f"{name}.json", f"{name}.json") for name in DOCUMENTS]
