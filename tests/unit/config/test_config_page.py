"""docs/config.md has every key of a config, and no other, with its default."""

import re
import tomllib
from typing import Any, get_args

import pytest
from conftest import ROOT
from pydantic.fields import FieldInfo

from harness.config.sections import Config, ModelConfig
from harness.config.splits import SplitConfig

PAGE = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## \[+(\w+)\]+\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
KINDS = {name: (field.annotation,) for name, field in Config.model_fields.items()}
KINDS |= {"split": get_args(SplitConfig), "models": (ModelConfig,)}


def fields_of(section: str) -> dict[str, FieldInfo]:
    return {key: field for kind in KINDS[section] for key, field in kind.model_fields.items()}


def rows(section: str) -> dict[str, str]:
    """Return the keys of a section's tables that begin with a column of keys; and defaults."""
    rows = dict[str, str]()
    tables = re.findall(r"^\| (key .*)\n\|[-|]+\n((?:\|.*\n)+)", SECTIONS[section], re.M)
    for head, body in tables:
        place = head.split(" | ").index("default")
        for cells in (line.strip("| \n").split(" | ") for line in body.splitlines()):
            rows |= dict.fromkeys(re.findall(r"`(\w+)`", cells[0]), cells[place])
    return rows


def test_every_section_is_described() -> None:
    hidden = {name for name, field in Config.model_fields.items() if field.exclude}
    assert SECTIONS.keys() == Config.model_fields.keys() - hidden


@pytest.mark.parametrize("section", SECTIONS)
def test_the_tables_have_the_keys_of_the_section(section: str) -> None:
    assert rows(section).keys() == fields_of(section).keys()


@pytest.mark.parametrize("section", SECTIONS)
def test_the_tables_have_the_defaults(section: str) -> None:
    """A dash: the key is required. A default that depends on other things is said in words."""
    described = rows(section)
    for key, field in fields_of(section).items():
        default: Any = field.get_default(call_default_factory=True)
        if field.is_required():
            assert described[key] == "–", key
        elif default not in (None, "", [], {}):
            assert tomllib.loads(f"x = {described[key].strip('`')}")["x"] == default, key
