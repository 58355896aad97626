"""Buckets of users: every event once, whatever is packed, broken off, damaged or full meanwhile."""

import errno
import gzip
import shutil
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
import small
from conftest import refusal
from event_files import moments, of

from harness.core import cache
from harness.core.errors import DataError
from harness.core.random import id_hashes
from harness.data import buckets, loading
from harness.data.buckets import Buckets, prepared
from harness.data.dataset import DAY_US
from harness.data.layout import Layout
from harness.data.sources import database
from harness.delimited import blocks

pytestmark = pytest.mark.usefixtures("at_once")

LOG = """user,item,time,stars
ann,a,2020-01-01,5
bob,"b, the second",2020-01-02,1
ann,c,2020-01-02,4
cid,a,2020-01-03,4
ann,a,2020-01-01,3
"""


def layout_of(folder: Path, log: str = LOG, **data: Any) -> Layout:
    return small.config(folder, log=log, data={"cache": True, **data}).layout()


def all_rows(made: Buckets) -> list[tuple[str, str, int]]:
    return sorted(row for data in made.datasets() for row in of(data))


def kept() -> list[Path]:
    """Return the entries of the cache, and what is left in folders where some are made."""
    made = [path for path in cache.folder().glob("*") if path.suffix != ".making"]
    return made + list(cache.folder().glob("*.making/*"))


def cut_up(monkeypatch: pytest.MonkeyPatch, count: int, lines: int = 5) -> None:
    """Make so many buckets; read few lines at a time, and write each part of so many at once."""
    monkeypatch.setattr(buckets, "bucket_count", lambda events: count)
    monkeypatch.setattr(blocks, "SIZE", 40)
    monkeypatch.setattr(buckets, "PART_ROWS", lines)


@pytest.mark.parametrize(("count", "part", "ids"), [(2, 2, 1), (7, 1, 100)])
def test_every_event_is_in_one_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, part: int, ids: int
) -> None:
    layout = layout_of(tmp_path)
    whole = moments(layout)
    assert len(whole) == 5
    cut_up(monkeypatch, count, part)
    monkeypatch.setattr(buckets, "MOST_IDS", ids)  # from there on ids are met anew
    with prepared(layout) as made:
        assert all_rows(made) == sorted(whole)
        for data in made.datasets():
            users = data.user_ids.to_list()
            assert of(data) == [row for row in whole if row[0] in users]
            sizes = [sum(row[0] == user for row in whole) for user in users]
            assert np.diff(data.events.user_starts(len(users))).tolist() == sizes
        assert sum(made.events) == 5
        assert made.shared.item_ids.to_list() == ["a", "b, the second", "c"]


def test_ids_say_in_which_bucket_users_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_up(monkeypatch, 4)
    log = "user,item,time\n" + "".join(f"user{n},a,2020-01-01\n" for n in range(40))
    with prepared(layout_of(tmp_path, log)) as made:
        users = [data.user_ids for data in made.datasets()]
    quarter = [set((id_hashes(ids) >> np.uint64(62)).tolist()) for ids in users]
    assert quarter == [{0}, {1}, {2}, {3}]


def test_span_and_notes_are_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows at the end that are all left out make no part."""
    cut_up(monkeypatch, 7, 1)
    log = LOG + "eve,a,2020-01-04,1\n" * 5
    with prepared(layout_of(tmp_path, log, where={"stars": {"min": 4}})) as made:
        assert len(all_rows(made)) == 3
        spans = {data.times for data in made.datasets()}
        (notes,) = {data.notes for data in made.datasets()}
    # From 2020-01-01, 18,262 days after 1970, to the 3rd.
    assert spans == {(18262 * DAY_US, 18264 * DAY_US)}
    assert notes == ("log.csv: 7 of 10 rows left out (kept: stars = { min = 4 })",)


def test_a_part_ends_by_its_bytes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids may be long. A row has 17 bytes: two make 34, in whichever file they are."""
    monkeypatch.setattr(blocks, "SIZE", 17)
    monkeypatch.setattr(loading, "PART_BYTES", 34)
    log = "user,item,time\n" + 3 * "ann,a,2020-01-01\n"
    small.write(tmp_path / "logs", dict.fromkeys(("a.csv", "b.csv"), log))
    written, _ = buckets.write_parts(
        layout_of(tmp_path, events="logs"), tmp_path, lambda rows: None
    )
    assert [part.ends[-1] for part in written] == [2, 2, 2]


def test_a_broken_conversion_starts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This view has its rows in another order each time: none of the first try may be kept."""
    monkeypatch.setattr(database, "ROWS", 10)
    monkeypatch.setattr(buckets, "PART_ROWS", 10)
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.execute("CREATE TABLE sales (user, item, time)")
        sales = [(f"user{n}", "a", "2020-01-01") for n in range(100)]
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", sales)
        connection.execute("CREATE VIEW log AS SELECT * FROM sales ORDER BY random()")
        connection.commit()
    layout = layout_of(tmp_path, events="shop.sqlite::log")
    broken = Mock(side_effect=[None, None, KeyboardInterrupt])
    with pytest.raises(KeyboardInterrupt), prepared(layout, broken):
        pass
    read: list[int] = []
    with prepared(layout, read.append) as made:
        assert all_rows(made) == sorted(moments(layout))
    assert read == [*[10] * 10, 100]  # the rows from the first on, then the events of the bucket
    assert kept() == [made.folder]


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    layout, write = layout_of(tmp_path), buckets.write

    def changed(*arguments: Any) -> None:
        write(*arguments)
        (tmp_path / "log.csv").write_text(LOG + "zoe,z,2020-01-01,1\n")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "write", changed)
        words = "log.csv: changed while harness read the events; run the"
        with refusal(DataError, words), prepared(layout):
            pass
    with prepared(layout) as made:
        assert len(all_rows(made)) == 6


def test_they_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And anew when they are damaged."""
    layout, write = layout_of(tmp_path), Mock(wraps=buckets.write)
    monkeypatch.setattr(buckets, "write", write)

    def read(_: int) -> int:
        with prepared(layout) as made:
            return len(all_rows(made))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [5] * 4
    assert (read(0), write.call_count) == (5, 1)
    (entry,) = kept()
    content = bytearray(buckets.file_of(entry, 0, "events").read_bytes())
    content[len(content) // 2] ^= 1
    buckets.file_of(entry, 0, "events").write_bytes(content)
    assert (read(0), write.call_count) == (5, 2)


def test_buckets_that_others_have_made_anew_meanwhile_are_not_read(tmp_path: Path) -> None:
    with prepared(layout_of(tmp_path)) as made:
        made.folder.rename(tmp_path / "before")
        shutil.copytree(tmp_path / "before", made.folder)
        with refusal(DataError, "another process replaced these buckets", "run the command again"):
            all_rows(made)


def test_without_the_cache_they_go_afterwards(tmp_path: Path) -> None:
    with prepared(layout_of(tmp_path), kept=False) as made:
        assert len(all_rows(made)) == 5
    assert not made.folder.exists()
    assert kept() == []


def test_a_disk_too_small_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty bytes a row."""
    layout = layout_of(tmp_path)
    monkeypatch.setattr(buckets, "estimated_rows", lambda _: 5_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=199_900_000))
    needed = "the disk has 0.2 GB free; the buckets of users need about 0.2 GB; free some"
    place = "name a folder on another disk: HARNESS_CACHE_DIR=FOLDER harness run"
    with refusal(DataError, needed, place), prepared(layout, lambda _: pytest.fail("is read")):
        pass
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=200_000_000))
    with prepared(layout) as made:
        assert len(all_rows(made)) == 5


def test_a_cache_that_cannot_be_used_is_named_and_so_is_the_place_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    layout = layout_of(tmp_path)
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "file"))
    with prepared(layout) as made:
        place = Path(tempfile.gettempdir()).resolve()
        assert (len(all_rows(made)), made.folder.resolve().parent) == (5, place)
    assert not made.folder.exists()
    place = f"buckets go to {tempfile.gettempdir()}, and harness does not keep them"
    assert caplog.messages == [f"{tmp_path}/file: cannot be used; {place}"]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with refusal(DataError, "TMPDIR=FOLDER harness run"), prepared(layout):
        pass


IN_FULL = ["disk is full; the buckets", "free some disk space", "CACHE_DIR"]
NO_SPACE = "No space left on device"


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("write_ipc", pl.exceptions.ComputeError(f"{NO_SPACE} (os error 28)"), IN_FULL),
        ("write_parquet", OSError(errno.ENOSPC, NO_SPACE), IN_FULL),
        ("write_parquet", PermissionError(errno.EACCES, "Permission denied"),
         ["cannot write buckets there: Permission denied; run"]),
    ],
)  # fmt: skip
def test_a_disk_that_fails_is_named_and_the_next_command_starts_over(
    tmp_path: Path, name: str, error: Exception, words: list[str]
) -> None:
    layout = layout_of(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pl.DataFrame, name, Mock(side_effect=error))
        with refusal(DataError, words), prepared(layout):
            pass
    with prepared(layout) as made:
        assert len(all_rows(made)) == 5


def test_a_link_in_its_place_is_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    layout = layout_of(tmp_path)
    victim = small.write(tmp_path / "precious", {"letter.txt": "dear"})
    with prepared(layout) as made:
        name = made.folder.name
    shutil.rmtree(made.folder)
    (cache.folder() / name).symlink_to(victim)
    with prepared(layout) as made:
        assert len(all_rows(made)) == 5
    assert (victim / "letter.txt").read_text() == "dear"
    assert "cannot be used; buckets go to" in caplog.text


def test_rows_are_estimated_without_reading_them(tmp_path: Path) -> None:
    text = "user,item,time\n" + "".join(f"user{n:05},a,2020-01-01\n" for n in range(10_000))
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    pl.read_csv(text.encode()).write_parquet(tmp_path / "x.parquet")
    for events, least, most in (
        ("log.csv", 9900, 10_100),
        ("x.parquet", 10_000, 10_000),
        ("packed.csv.gz", 500, 100_000),  # how well it is packed is not known before
    ):
        assert least <= buckets.estimated_rows(layout_of(tmp_path, text, events=events)) <= most
