"""Which models are the same, by the entry of the cache that they have."""

import datetime
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import small

from harness.experiment.identity import common, of_model


def entry(folder: Path, **params: Any) -> Path:
    config = small.config(folder, small.POPULAR | {"params": params})
    return of_model(common(config), "models", config, "popular").path


def test_values_that_json_writes_alike_are_other_parameters(tmp_path: Path) -> None:
    day = datetime.date(2020, 1, 1)
    values = [math.inf, -math.inf, math.nan, day, "2020-01-01", 1, 1.0, True, "1"]
    found = [entry(tmp_path, x=value) for value in values]
    assert len(set(found)) == len(values)


def test_the_order_of_parameters_is_nothing_to_them(tmp_path: Path) -> None:
    assert entry(tmp_path, x=1, y=2) == entry(tmp_path, y=2, x=1)
    assert entry(tmp_path, x=1, y=2) != entry(tmp_path, x=2, y=1)


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
    assert entry(tmp_path) != before
