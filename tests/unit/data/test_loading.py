"""The cache gives back what was read, and notices every change of a file or of itself."""

import gzip
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import small
from conftest import ROOT

from harness import config as config_
from harness.config import Config
from harness.core import cache
from harness.data import loading
from harness.data.dataset import Dataset
from harness.data.layout import Layout
from harness.protocol.task import make_task

pytestmark = pytest.mark.usefixtures("at_once")

POSIX = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")
LOG = "user,item,time,stars\nann,a,2020-01-01,5\nbob,b,2020-01-02,1\nann,b,2020-01-02,4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    films = "item,title\na,A\nb,B\nc,C\n"
    return small.write(tmp_path / "data", {"log.csv": LOG, "films.csv": films})


def config(folder: Path, **data: Any) -> Config:
    keys = {"value": "stars", "where": {"stars": {"min": 2}}, "items": "films.csv", "cache": True}
    split = {"strategy": "last_n", "n": 1}
    return small.config_of(folder, data=keys | data, split=split, evaluation={"require_hit": False})


def cached(layout: Layout) -> tuple[Dataset, bool]:
    with ThreadPoolExecutor(1) as background:
        return loading.cached(layout, lambda rows: None, background)


def read(folder: Path, **data: object) -> tuple[Dataset, bool]:
    """Return the data set and whether it came from the cache."""
    return cached(config(folder, **data).layout())


def entries() -> list[Path]:
    return list(cache.folder().iterdir()) if cache.folder().exists() else []


def assert_equal(first: Dataset, second: Dataset) -> None:
    for column in ("user", "item", "time", "kind", "value"):
        a, b = getattr(first.events, column), getattr(second.events, column)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
        assert np.array_equal(a, b)
    for name in ("user_ids", "item_ids", "catalogue", "shown_from", "registered"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    same = ("layout", "kinds", "candidates", "has_time", "notes", "users_table", "items_table")
    assert [getattr(first, n) for n in same] == [getattr(second, n) for n in same]


def test_the_second_call_reads_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, kept = read(folder)
    assert not kept
    monkeypatch.setattr(loading, "load", lambda *_: pytest.fail("the files were read again"))
    again, kept = read(folder)
    assert kept
    assert_equal(made, again)
    assert again.notes == ("log.csv: 1 of 3 rows left out (kept: stars = { min = 2 })",)
    assert again.item_ids.to_list() == ["a", "b", "c"]
    for data in (made, again):
        with pytest.raises(ValueError, match="read-only"):
            data.events.item[0] = 0


@pytest.mark.parametrize("name", ["hm", "ponpare"])
def test_times_of_the_tables_are_kept(name: str) -> None:
    data = {"data": {"layout": name, "path": f"data/{name}-sample"}}
    layout = config_.parse(small.values() | data, ROOT).layout()
    (made, first), (again, second) = cached(layout), cached(layout)
    assert (first, second) == (False, True)
    assert_equal(made, again)


@pytest.mark.parametrize("name", ["log.csv", "films.csv"])
def test_a_changed_file_of_the_same_size_and_time_is_noticed(folder: Path, name: str) -> None:
    read(folder)
    path = folder / name
    before = path.stat()
    path.write_text(path.read_text().replace("a,", "z,"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    data, kept = read(folder)
    assert not kept
    assert "z" in data.item_ids
    assert read(folder)[1]


def test_a_packed_file_in_its_place_is_noticed(folder: Path) -> None:
    read(folder)
    (folder / "log.csv").unlink()
    packed = b"user,item,time,stars\neve,a,2020-01-01,5\n"
    (folder / "log.csv.gz").write_bytes(gzip.compress(packed))
    assert read(folder)[0].user_ids.to_list() == ["eve"]


ENTRY = [f"{name}.npy" for name in ("starts", "item", "time", "value")]
ENTRY += ["users.arrow", "items.arrow", "meta.json", "sums.json"]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES: list[tuple[str, Callable[[bytes], bytes | None]]] = [
    *((name, flipped) for name in ENTRY),
    *((name, lambda content: content[:-1]) for name in ("item.npy", "users.arrow", "meta.json")),
    *((name, lambda _: None) for name in ("item.npy", "users.arrow", "meta.json", "sums.json")),
    *(("meta.json", lambda _, text=text: text) for text in (b"", b"[]", b"null", b"{}")),
    *(("sums.json", lambda _, text=text: text) for text in (b"", b"[]", b"null", b"{}")),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_a_damaged_entry_is_mended(folder: Path, name: str, damage: Any) -> None:
    made, _ = read(folder)
    (entry,) = entries()
    assert sorted(path.name for path in entry.iterdir()) == sorted(ENTRY)
    content = damage((entry / name).read_bytes())
    (entry / name).unlink()
    if content is not None:
        (entry / name).write_bytes(content)
    data, kept = read(folder)
    assert not kept
    assert_equal(made, data)
    assert read(folder)[1]


def test_other_keys_are_other_entries(folder: Path) -> None:
    read(folder)
    assert not read(folder, where={"stars": {"min": 1}})[1]
    assert not read(folder, items=None)[1]
    assert len(entries()) == 3
    assert len(read(folder, where={"stars": {"min": 1}})[0].events) == 3
    assert len(read(folder)[0].events) == 2


def test_what_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(np, "save", Mock(side_effect=OSError(28, "No space left on device")))
        assert (read(folder)[1], entries()) == (False, [])
    (folder / "file").touch()
    with monkeypatch.context() as patch:
        patch.setenv("HARNESS_CACHE_DIR", str(folder / "file" / "cache"))
        assert [read(folder)[1], read(folder)[1]] == [False, False]
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "1000")  # files that are written just now
    assert (read(folder)[1], read(folder)[1], entries()) == (False, False, [])


def test_cache_false_neither_reads_nor_writes_it(folder: Path) -> None:
    make_task(config(folder, cache=False))
    assert entries() == []
    make_task(config(folder))
    (entry,) = entries()
    (entry / "meta.json").write_text("damaged")
    make_task(config(folder, cache=False))
    assert (entry / "meta.json").read_text() == "damaged"


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE_DIR", "/somewhere")
    assert cache.folder() == Path("/somewhere")
    monkeypatch.delenv("HARNESS_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache.folder() == Path("/xdg/submission-harness")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache.folder() == Path("/home/me/.cache/submission-harness")


@POSIX
def test_a_cache_open_to_all_is_not_read(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    read(folder)
    assert stat.S_IMODE(cache.folder().stat().st_mode) == 0o700
    cache.folder().chmod(0o777)
    assert not read(folder)[1]
    (message,) = caplog.messages
    assert str(cache.folder()) in message
    assert "HARNESS_CACHE_DIR" in message
    cache.folder().chmod(0o755)
    assert read(folder)[1]


@POSIX
def test_anothers_cache_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(folder)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert not read(folder)[1]
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(folder / "theirs"))
    (folder / "theirs").mkdir()
    assert not read(folder)[1]
    assert entries() == []
