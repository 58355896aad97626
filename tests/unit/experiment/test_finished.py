"""What is kept of a finished model: taken while it is whole and the same, within a size."""

import errno
import json
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
from harness.core.progress import Clock
from harness.experiment.answers import Answers
from harness.experiment.build import Factories
from harness.experiment.finished import MOST, Finished
from harness.models.recommendations import Recommendations
from harness.protocol.task import make_task

LISTS = np.array([[1, 0], [1, -1], [3, 2]], np.int32)


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where finished models are kept, of files that were written just now as well."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    return tmp_path / "cache/models"


def config(folder: Path, days: int = 7, **sections: Any) -> Config:
    model = POPULAR | {"params": {"window_days": days}}
    data = {"cache": True, **sections.pop("data", {})}
    if not (folder / "log.csv").exists():  # else its stamp would be another
        small.write(folder, {"log.csv": small.LOG})
    return small.config_of(folder, model, data=data, **sections)


def finished(config: Config, *, fresh: bool = False, most: int = MOST) -> Finished:
    Factories(config)  # classes are imported before their source is looked at
    with ThreadPoolExecutor(1) as background:
        return Finished(config, fresh=fresh, background=background, most=most)


def keep(config: Config, most: int = MOST) -> Finished:
    """Keep answers of the model of a config."""
    Factories(config)
    with ThreadPoolExecutor(1) as background:
        made = Finished(config, fresh=True, background=background, most=most)
        lists = Recommendations(LISTS)
        answers = [Answers(lists, None, True, ("odd",)), Answers(lists, lists, False, (), "no")]
        clock = Clock()
        clock.seconds["fit"] = 1.5
        made.keep("popular", make_task(config), answers, clock)
    return made


def test_what_is_kept_is_taken(tmp_path: Path) -> None:
    assert keep(config(tmp_path)).unkept == {}
    own = finished(config(tmp_path))
    assert ([*own.found], own.changed) == (["popular"], {})
    (one, other), clock = own.found["popular"](make_task(config(tmp_path)))
    assert one.lists.items.tolist() == other.lists.items.tolist() == LISTS.tolist()
    assert (one.drawn, one.notes, one.others, one.refusal) == (True, ("odd",), None, None)
    assert other.others is not None
    assert other.others.items.tolist() == LISTS.tolist()
    assert (other.drawn, other.notes, other.refusal) == (False, (), "no")
    assert clock.seconds == {"fit": 1.5}
    assert [*finished(config(tmp_path), fresh=True).found] == []


def test_without_the_cache_nothing_is_kept(tmp_path: Path, kept: Path) -> None:
    keep(config(tmp_path, data={"cache": False}))
    assert not kept.exists()


def test_answers_for_other_users_are_refused(tmp_path: Path) -> None:
    keep(config(tmp_path))
    own = finished(config(tmp_path))
    fewer = make_task(small.config(tmp_path, log=small.LOG.replace("cid,a,2020-01-08\n", "")))
    with refusal(DataError, 'model "popular"', "of another evaluation set; evaluate it anew: --fr"):
        own.found["popular"](fewer)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lists-0.npy", lambda held: held[:-3]),
        ("lists-0.npy", lambda held: held[:-3] + b"\1\0\0"),
        ("lists-0.npy", lambda held: None),
        ("meta.json", lambda held: held[:-3] + b"\1\0\0"),
        ("meta.json", lambda held: json.dumps(json.loads(held) | {"seconds": "x"}).encode()),
    ],
)
def test_a_damaged_finished_model_is_asked_anew(
    tmp_path: Path, kept: Path, name: str, change: Any
) -> None:
    keep(config(tmp_path))
    (entry,) = kept.iterdir()
    changed = change((entry / name).read_bytes())
    (entry / name).unlink() if changed is None else (entry / name).write_bytes(changed)
    own = finished(config(tmp_path))
    assert ([*own.found], own.changed) == ([], {"popular": "what was kept of it is damaged"})
    keep(config(tmp_path))
    assert [*finished(config(tmp_path)).found] == ["popular"]


def test_it_is_said_why_a_model_is_evaluated_anew(tmp_path: Path) -> None:
    """Not of one that no run has finished."""
    assert finished(config(tmp_path)).changed == {}
    keep(config(tmp_path))
    assert finished(config(tmp_path, 9)).changed == {"popular": "its settings have changed"}
    other_seed = finished(config(tmp_path, evaluation={"seed": 7})).changed
    why = "the evaluation, the seed, our code or packages have changed"
    assert other_seed == {"popular": why}
    with (tmp_path / "log.csv").open("a") as log:
        log.write("dee,a,2020-01-02\n")
    assert finished(config(tmp_path)).changed == {"popular": "the data has changed"}


def test_a_full_disk_keeps_nothing(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    own = keep(config(tmp_path))
    assert "make room there" in own.unkept["popular"]
    assert [path for path in kept.iterdir() if not path.name.startswith(".")] == []


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, kept: Path) -> None:
    kept.parent.mkdir(mode=0o700)
    kept.write_text("a file in its place")
    assert keep(config(tmp_path)).unkept == {
        "popular": f"nothing can be written to {kept}; make room there, or set HARNESS_CACHE_DIR "
        "to a folder of your own"
    }


def test_the_models_that_were_not_used_for_longest_make_room(tmp_path: Path, kept: Path) -> None:
    keep(config(tmp_path))
    (first,) = kept.iterdir()
    size = sum(file.stat().st_size for file in first.iterdir())
    keep(config(tmp_path, 9), most=size + size // 2)
    (left,) = kept.iterdir()
    assert left != first
    assert [*finished(config(tmp_path, 9)).found] == ["popular"]


def test_data_that_was_written_just_now_keeps_nothing_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "1000")
    told = f"{tmp_path}/log.csv was written less than 1000 seconds before"
    assert keep(config(tmp_path)).unkept == {"popular": told}


def test_equal_names_in_other_folders_are_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = set()
    for name in "aba":
        small.write(tmp_path / name, {"log.csv": small.MANY})
        monkeypatch.chdir(tmp_path / name)
        entries.add(cache.entry("events", [Path("log.csv")]).path)
    assert len(entries) == 2
