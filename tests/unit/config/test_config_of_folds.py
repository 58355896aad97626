"""Configs of several folds: files and lists for each, or a refusal."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal

from harness.config import parse
from harness.core.errors import UsageError


def valid(*names: str) -> dict[str, Any]:
    return {"split": {"strategy": "given", "valid": list(names)}}


def lists(*names: str) -> dict[str, Any]:
    return {"models": [{"name": "m", "lists": list(names)}]}


TIME = {"strategy": "time", "folds": 2}
REFUSED: list[tuple[dict[str, Any], str]] = [
    (valid("a.csv", "a.csv"), "[split] valid names a.csv twice"),
    (valid("a.csv", "./a.csv"), "[split] valid names a.csv and ./a.csv, one file"),
    (valid("a.csv", "b.csv"), "[data] events names 1 file"),
    ({"data": {"events": ["a.csv", "b.csv"]}}, "[data] events names several files"),
    ({"split": TIME | {"window": "test", "test_days": 7}}, 'window = "test" is one window'),
    ({"split": TIME | {"folds": 0}}, "[split] folds: found 0"),
    ({"split": {"strategy": "last_n", "n": 1, "folds": 2}}, 'has no key "folds"'),
    ({"split": TIME, **lists("x.csv")}, '"m" lists names 1 file, and there are 2 folds'),
    (lists("x.csv", "y.csv"), "lists names 2 files"),
]


@pytest.mark.parametrize(("sections", "words"), REFUSED)
def test_configs_of_folds_that_cannot_be(sections: dict[str, Any], words: str) -> None:
    with refusal(UsageError, words):
        parse(small.values(**sections), Path())


@pytest.mark.parametrize("split", [{"strategy": "time"}, {"strategy": "last_n", "n": 1}])
def test_a_list_with_one_name_is_that_name(tmp_path: Path, split: dict[str, Any]) -> None:
    lists = {"name": "theirs", "lists": ["theirs.csv"]}
    found = small.config(tmp_path, lists, split=split, data={"events": ["log.csv"]})
    assert (found.data.events, found.models[0].lists) == ("log.csv", "theirs.csv")
