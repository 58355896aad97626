"""The schemas of docs/schema are what the code makes, and each command with JSON has one."""

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT
from jsonschema import Draft202012Validator
from typer.main import get_command

from harness.cli import app
from harness.report import schemas
from harness.report.documents import DOCUMENTS

STORED = {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "schema").iterdir()}


def test_the_files_are_what_the_code_makes(tmp_path: Path) -> None:
    schemas.write(tmp_path / "made")
    made = {path.name: path.read_text("utf-8") for path in (tmp_path / "made").iterdir()}
    assert made.keys() == STORED.keys(), "run make docs"
    assert [name for name in made if made[name] != STORED[name]] == [], "old: run make docs"


@pytest.mark.parametrize("name", STORED)
def test_each_is_a_schema_that_is_open(name: str) -> None:
    schema = json.loads(STORED[name])
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"additionalProperties": false' not in STORED[name]


def test_every_command_with_a_format_has_one() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    asked = {name for name, one in commands.items() if "format_" in {p.name for p in one.params}}
    titles = [document.title for document in DOCUMENTS.values()]
    printed = [re.match(r"harness (\w+) .*--format json", title) for title in titles]
    assert asked == {match[1] for match in printed if match}


def test_the_page_names_every_one() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\S+)\]\(schema/(\S+)\) \|", page, flags=re.M)
    assert rows == [(f"{name}.json", f"{name}.json") for name in DOCUMENTS]


def test_properties_say_what_the_docstrings_say() -> None:
    checked = json.loads(STORED["check.json"])["$defs"]["Condition"]["properties"]
    assert checked["condition"]["description"] == "As it was written."
    assert checked["value"]["description"].endswith("null of a model that failed.")
