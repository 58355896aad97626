"""The schemas of docs/schema are what the code makes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from jsonschema import Draft202012Validator

from harness.report import schemas
from harness.report.documents import DOCUMENTS

STORED = ROOT / "docs" / "schema"


def stored(name: str) -> Any:
    return json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))


def test_the_files_are_what_the_code_makes(tmp_path: Path) -> None:
    schemas.write(tmp_path / "made")
    made = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "made").iterdir()}
    assert {path.name for path in STORED.iterdir()} == made.keys(), "run make docs"
    for name, text in made.items():
        found = (STORED / name).read_text(encoding="utf-8")
        assert found == text, f"docs/schema/{name} is old: run make docs"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_is_a_schema_that_is_open(name: str) -> None:
    Draft202012Validator.check_schema(stored(name))
    assert stored(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"additionalProperties": false' not in json.dumps(stored(name))


def test_the_page_names_every_one() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\S+)\]\(schema/(\S+)\) \|", page, flags=re.M)
    assert rows == [(f"{name}.json", f"{name}.json") for name in DOCUMENTS]


def test_properties_say_what_the_docstrings_say() -> None:
    checked = stored("check")["$defs"]["Condition"]["properties"]
    assert checked["condition"]["description"] == "As it was written."
    assert checked["value"]["description"].endswith("null of a model that failed.")
