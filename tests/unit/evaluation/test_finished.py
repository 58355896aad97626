"""What is kept of a finished model: taken while it is whole and the same by its key."""

import datetime
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from conftest import refusal
from small import POPULAR

from harness.config import Config
from harness.core import cache
from harness.core.errors import DataError
from harness.evaluation.answers import Answers
from harness.evaluation.build import Factories
from harness.evaluation.finished import Finished, evaluation_key, model_key
from harness.models.recommendations import Recommendations
from harness.protocol.task import make_task

LISTS = np.array([[1, 0], [1, -1], [3, 2]], np.int32)


@pytest.fixture(autouse=True)
def kept(at_once: None) -> Path:
    return cache.folder() / "models"


def config_of(folder: Path, days: int = 7, **sections: Any) -> Config:
    model = POPULAR | {"params": {"window_days": days}}
    data = {"cache": True, **sections.pop("data", {})}
    if not (folder / "log.csv").exists():  # else its stamp would be another
        small.write(folder, {"log.csv": small.LOG})
    return small.config_of(folder, model, data=data, **sections)


def finished(config: Config, keep: bool = False, **keywords: Any) -> Finished:
    """Return the finished models of a config; `keep` answers of its model before."""
    Factories(config)  # classes are imported before their source is looked at
    with ThreadPoolExecutor(1) as background:
        made = Finished(config, background=background, **{"fresh": keep} | keywords)
        if keep:
            lists = Recommendations(LISTS)
            first = Answers(lists, drawn=True)
            answers = [first, Answers(lists, lists, refusal="no", changes="x")]
            made.keep("popular", make_task(config), answers, {"fit": 1.5})
    return made


def test_what_is_kept_is_taken(tmp_path: Path) -> None:
    assert finished(config_of(tmp_path), keep=True).unkept == {}
    models = finished(config_of(tmp_path))
    assert [*models.answers] == ["popular"]
    (first, other), seconds, _ = models.answers["popular"](make_task(config_of(tmp_path)))
    assert first.lists.items.tolist() == other.lists.items.tolist() == LISTS.tolist()
    assert (first.drawn, first.left_out, first.refusal) == (True, None, None)
    assert other.left_out is not None
    assert other.left_out.items.tolist() == LISTS.tolist()
    assert (other.drawn, other.notes, other.refusal, other.changes) == (False, (), "no", "x")
    assert seconds == {"fit": 1.5}
    assert [*finished(config_of(tmp_path), fresh=True).answers] == []


def test_answers_for_other_users_are_refused(tmp_path: Path) -> None:
    finished(config_of(tmp_path), keep=True)
    models = finished(config_of(tmp_path))
    fewer = make_task(small.config(tmp_path, log=small.LOG.replace("cid,a,2020-01-08\n", "")))
    with refusal(
        DataError, 'model "popular"', "from another evaluation set; evaluate it again with --fr"
    ):
        models.answers["popular"](fewer)


@pytest.mark.parametrize("name", ["lists-0.npy", "meta.json"])
@pytest.mark.parametrize("lost", [False, True])
def test_a_damaged_finished_model_is_asked_anew(
    tmp_path: Path, kept: Path, name: str, lost: bool
) -> None:
    finished(config_of(tmp_path), keep=True)
    (file,) = kept.glob(f"*/{name}")
    file.write_bytes(file.read_bytes()[:-3] + b"\1\0\0")
    if lost:
        file.unlink()
    assert [*finished(config_of(tmp_path)).answers] == []
    finished(config_of(tmp_path), keep=True)
    assert [*finished(config_of(tmp_path)).answers] == ["popular"]


def test_the_models_that_were_not_used_for_longest_make_room(tmp_path: Path, kept: Path) -> None:
    """What a run takes is used later than what it does not."""
    finished(config_of(tmp_path), keep=True)
    finished(config_of(tmp_path, 9), keep=True)
    size = sum(file.stat().st_size for file in kept.glob("*/*"))
    finished(config_of(tmp_path), most=size - size // 4)
    assert len(list(kept.iterdir())) == 1
    assert [*finished(config_of(tmp_path)).answers] == ["popular"]


def test_data_that_was_written_just_now_keeps_nothing_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "1000")
    reason = f"{tmp_path}/log.csv was written less than 1000 seconds before"
    assert finished(config_of(tmp_path), keep=True).unkept == {"popular": reason}


def test_equal_names_in_other_folders_are_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = set()
    for name in "aba":
        small.write(tmp_path / name, {"log.csv": small.MANY})
        monkeypatch.chdir(tmp_path / name)
        entries.add(cache.entry("events", [Path("log.csv")]).path)
    assert len(entries) == 2


def key_of(folder: Path, model: dict[str, Any] = small.POPULAR, **sections: Any) -> Path:
    config = small.config(folder, model, **sections)
    return model_key(evaluation_key(config), "models", config, model["name"]).path


def entry(folder: Path, **params: Any) -> Path:
    return key_of(folder, small.POPULAR | {"params": params})


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
    assert key_of(tmp_path, **other) != key_of(tmp_path)


def test_a_model_is_the_same_whatever_else_is_asked(tmp_path: Path) -> None:
    before = key_of(tmp_path)
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
        entries.add(key_of(tmp_path, {"name": "mine", "use": "mine:Mine"}))
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
