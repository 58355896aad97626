"""Which models are the same, by the entry of the cache that they have."""

import datetime
import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import small

from harness.evaluation.finished import evaluation_key, model_key


def of(folder: Path, model: dict[str, Any] = small.POPULAR, **sections: Any) -> Path:
    config = small.config(folder, model, **sections)
    return model_key(evaluation_key(config), "models", config, model["name"]).path


def entry(folder: Path, **params: Any) -> Path:
    return of(folder, small.POPULAR | {"params": params})


OTHER: dict[str, dict[str, Any]] = {
    "seed": {"evaluation": {"seed": 7}},
    "k": {"evaluation": {"k": 3}},
    "users": {"evaluation": {"require_hit": False}},
    "seen items": {"evaluation": {"seen_items": "drop"}},
    "candidates": {"evaluation": {"candidates": "train"}},
    "split": {"split": {"strategy": "time", "valid_days": 2}},
    "rows": {"data": {"where": {"item": ["a"]}}},
    "k-core": {"data": {"min_user_events": 2}},
    "repeats": {"model": small.POPULAR | {"repeats": 2}},
    "name": {"model": small.POPULAR | {"name": "other"}},
}


@pytest.mark.parametrize("other", OTHER.values())
def test_another_evaluation_or_model_is_another(tmp_path: Path, other: dict[str, Any]) -> None:
    assert of(tmp_path, **other) != of(tmp_path)


def test_a_model_is_the_same_whatever_else_is_asked(tmp_path: Path) -> None:
    before = of(tmp_path)
    sections = {"evaluation": {"metrics": ["Recall@2"]}, "compare": {"baseline": "popular"}}
    config = small.config_of(tmp_path, **sections)  # the log as it is
    assert model_key(evaluation_key(config), "models", config, "popular").path == before


def test_values_that_json_writes_alike_are_other_parameters(tmp_path: Path) -> None:
    day = datetime.date(2020, 1, 1)
    values = [math.inf, math.nan, day, "2020-01-01", 1, 1.0, True, "1"]
    entries = [entry(tmp_path, x=value) for value in values]
    assert len(set(entries)) == len(values)
    assert entry(tmp_path, x=1, y=2) == entry(tmp_path, y=2, x=1) != entry(tmp_path, x=2, y=1)


def test_a_file_beside_the_config_comes_before_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = set[Path]()
    for name in ("late/mine.py", "early/mine.py", "mine.py"):
        monkeypatch.syspath_prepend((small.write(tmp_path, {name: ""}) / name).parent)
        entries.add(of(tmp_path, {"name": "mine", "use": "mine:Mine"}))
    assert len(entries) == 3


def test_what_a_package_brings_within_itself_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """setuptools puts such a folder on Python's path, in processes that import it."""
    inside, beside = tmp_path / "site-packages/tools/_vendor", tmp_path / "lib/site-packages"
    for folder in (inside, beside):
        small.write(folder, {"other-1.0.dist-info/METADATA": ""})
    before = entry(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(inside)])
    assert entry(tmp_path) == before
    monkeypatch.setattr(sys, "path", [*sys.path, str(beside)])
    first = entry(tmp_path)
    assert first != before
    os.utime(beside / "other-1.0.dist-info", (1, 1))  # the same version, installed again
    assert entry(tmp_path) != first
