"""What is kept of a finished model: taken while it is whole and the same, within a size."""

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
from harness.evaluation.finished import Finished
from harness.models.recommendations import Recommendations
from harness.protocol.task import make_task

LISTS = np.array([[1, 0], [1, -1], [3, 2]], np.int32)


@pytest.fixture(autouse=True)
def kept(at_once: None) -> Path:
    return cache.folder() / "models"


def config(folder: Path, days: int = 7, **sections: Any) -> Config:
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
    assert finished(config(tmp_path), keep=True).unkept == {}
    models = finished(config(tmp_path))
    assert [*models.answers] == ["popular"]
    (first, other), seconds, _ = models.answers["popular"](make_task(config(tmp_path)))
    assert first.lists.items.tolist() == other.lists.items.tolist() == LISTS.tolist()
    assert (first.drawn, first.left_out, first.refusal) == (True, None, None)
    assert other.left_out is not None
    assert other.left_out.items.tolist() == LISTS.tolist()
    assert (other.drawn, other.notes, other.refusal, other.changes) == (False, (), "no", "x")
    assert seconds == {"fit": 1.5}
    assert [*finished(config(tmp_path), fresh=True).answers] == []


def test_answers_for_other_users_are_refused(tmp_path: Path) -> None:
    finished(config(tmp_path), keep=True)
    models = finished(config(tmp_path))
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
    finished(config(tmp_path), keep=True)
    (file,) = kept.glob(f"*/{name}")
    file.write_bytes(file.read_bytes()[:-3] + b"\1\0\0")
    if lost:
        file.unlink()
    assert [*finished(config(tmp_path)).answers] == []
    finished(config(tmp_path), keep=True)
    assert [*finished(config(tmp_path)).answers] == ["popular"]


def test_the_models_that_were_not_used_for_longest_make_room(tmp_path: Path, kept: Path) -> None:
    """What a run takes is used later than what it does not."""
    finished(config(tmp_path), keep=True)
    finished(config(tmp_path, 9), keep=True)
    size = sum(file.stat().st_size for file in kept.glob("*/*"))
    finished(config(tmp_path), most=size - size // 4)
    assert len(list(kept.iterdir())) == 1
    assert [*finished(config(tmp_path)).answers] == ["popular"]


def test_data_that_was_written_just_now_keeps_nothing_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "1000")
    reason = f"{tmp_path}/log.csv was written less than 1000 seconds before"
    assert finished(config(tmp_path), keep=True).unkept == {"popular": reason}


def test_equal_names_in_other_folders_are_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = set()
    for name in "aba":
        small.write(tmp_path / name, {"log.csv": small.MANY})
        monkeypatch.chdir(tmp_path / name)
        entries.add(cache.entry("events", [Path("log.csv")]).path)
    assert len(entries) == 2
