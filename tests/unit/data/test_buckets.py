"""Buckets of users: every event once, whatever is packed, broken off, damaged or full meanwhile."""

import errno
import gzip
import io
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small

from harness.config import Config
from harness.core import cache
from harness.core.errors import DataError
from harness.core.random import id_hashes
from harness.data import bucketing, buckets, database_source, loading, parts
from harness.data.buckets import Buckets, prepared
from harness.data.dataset import Dataset
from harness.delimited import blocks

LOG = """user,item,time,stars
ann,a,2020-01-01,5
bob,"b, the second",2020-01-02,1
ann,c,2020-01-02,4
cid,a,2020-01-03,4
ann,a,2020-01-01,3
"""
VISITS = "user,item,time\ndee,v,2020-01-05\nann,a,2020-01-02\n"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep files that have only just been written."""
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")


def config(folder: Path, log: str = LOG, **data: Any) -> Config:
    return small.config(folder, log=log, data={"cache": True, **data})


def rows(data: Dataset) -> list[tuple[str, str, str, int]]:
    """Return the events of a data set in its order: ids, type and time."""
    ids, e = (data.user_ids.to_list(), data.item_ids.to_list()), data.events
    columns = e.user.tolist(), e.item.tolist(), e.kind.tolist(), e.time.tolist()
    return [(ids[0][u], ids[1][i], data.kinds[k], t) for u, i, k, t in zip(*columns, strict=True)]


def all_rows(found: Buckets) -> list[tuple[str, str, str, int]]:
    return sorted(row for data in found.datasets() for row in rows(data))


def kept() -> list[Path]:
    """Return the entries of the cache, and what is left in folders where some are made."""
    made = [path for path in cache.folder().iterdir() if path.suffix != ".making"]
    return made + list(cache.folder().glob("*.making/*"))


def in_buckets(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: count)


def in_parts_of(monkeypatch: pytest.MonkeyPatch, lines: int) -> None:
    """Read few lines at a time, and write each part of so many at once."""
    monkeypatch.setattr(blocks, "SIZE", 40)
    monkeypatch.setattr(parts, "PART_ROWS", lines)


@pytest.mark.parametrize(
    ("count", "part", "ids"), [(1, 100, 100), (2, 2, 1), (7, 1, 1), (7, 1, 100), (64, 2, 100)]
)
def test_every_event_is_in_one_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, part: int, ids: int
) -> None:
    layout = config(tmp_path).layout()
    whole = rows(loading.load(layout))
    assert len(whole) == 5
    in_buckets(monkeypatch, count)
    in_parts_of(monkeypatch, part)
    monkeypatch.setattr(parts, "MOST_IDS", ids)  # from there on ids are met anew
    with prepared(layout) as found:
        assert all_rows(found) == sorted(whole)
        assert sum(found.known.events) == 5
        assert sum(found.known.users) == 3
        assert found.items.ids.to_list() == ["a", "b, the second", "c"]


def test_a_user_is_in_the_bucket_of_the_leaf_that_the_id_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_buckets(monkeypatch, 4)
    names = [f"user{n}" for n in range(40)]
    log = "user,item,time\n" + "".join(f"{name},a,2020-01-01\n" for name in names)
    with prepared(config(tmp_path, log).layout()) as found:
        users = [data.user_ids for data in found.datasets()]
    quarter = [set((id_hashes(ids) >> np.uint64(62)).tolist()) for ids in users]
    assert quarter == [{0}, {1}, {2}, {3}]
    assert sorted(pl.concat(users).to_list()) == sorted(names)


def test_each_bucket_is_in_canonical_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts_of(monkeypatch, 1)
    with prepared(config(tmp_path).layout()) as found:
        (data,) = found.datasets()
    assert [row[:2] for row in rows(data)] == [
        ("ann", "a"), ("ann", "a"), ("ann", "c"), ("bob", "b, the second"), ("cid", "a"),
    ]  # fmt: skip
    assert data.events.user_starts(3).tolist() == [0, 3, 4, 5]


def test_buckets_know_the_span_of_all_events_and_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_buckets(monkeypatch, 64)
    in_parts_of(monkeypatch, 1)
    layout = config(tmp_path, where={"stars": {"min": 4}}).layout()
    with prepared(layout) as found:
        spans = {data.times for data in found.datasets()}
        (notes,) = {data.notes for data in found.datasets()}
    day = 86_400_000_000
    assert spans == {(18262 * day, 18264 * day)}  # 2020-01-01, 18,262 days after 1970, and the 3rd
    assert notes == ("log.csv: 2 of 5 rows left out (kept: stars >= 4)",)


def test_a_part_ends_by_its_bytes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids may be long. A row has 17 bytes: two make 34, in whichever file they are."""
    monkeypatch.setattr(blocks, "SIZE", 17)
    monkeypatch.setattr(parts, "PART_BYTES", 34)
    row = "ann,a,2020-01-01\n"
    layout = config(tmp_path, events="logs").layout()
    logs = dict.fromkeys(("a.csv", "b.csv"), "user,item,time\n" + 3 * row)
    small.write(tmp_path / "logs", logs)
    written, _ = parts.read(layout, tmp_path, lambda rows: None)
    assert [part.n_rows for part in written] == [2, 2, 2]


def test_rows_at_the_end_that_are_all_left_out_make_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts_of(monkeypatch, 2)
    layout = config(
        tmp_path, LOG + "eve,a,2020-01-04,1\n" * 5, where={"stars": {"min": 3}}
    ).layout()
    with prepared(layout) as found:
        assert len(all_rows(found)) == 4
        assert found.known.notes == ["log.csv: 6 of 10 rows left out (kept: stars >= 3)"]


def _unpacked(text: bytes) -> bytes:
    return text


def _parquet(text: bytes) -> bytes:
    target = io.BytesIO()
    pl.read_csv(io.BytesIO(text)).write_parquet(target)
    return target.getvalue()


STORED: dict[str, Callable[[bytes], bytes]] = {
    "log.csv": _unpacked,
    "log.csv.gz": gzip.compress,
    "log.parquet": _parquet,
}


def test_a_conversion_that_is_broken_off_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This view has its rows in another order each time: none of the first try may be kept."""
    monkeypatch.setattr(database_source, "ROWS", 10)
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.execute("CREATE TABLE sales (user, item, time)")
        sales = [(f"user{n}", "a", "2020-01-01") for n in range(100)]
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", sales)
        connection.execute("CREATE VIEW log AS SELECT * FROM sales ORDER BY random()")
        connection.commit()
    layout = config(tmp_path, events="shop.sqlite::log").layout()
    read: list[int] = []

    def break_off(count: int) -> None:
        read.append(count)
        if sum(read) == 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), prepared(layout, break_off):
        pass
    read.clear()
    with prepared(layout, read.append) as found:
        assert all_rows(found) == sorted(rows(loading.load(layout)))
    assert read == [*[10] * 10, 100]  # the rows from the first on, then the events of the bucket
    assert kept() == [found.folder]


def test_buckets_are_made_once_and_anew_when_damaged(tmp_path: Path) -> None:
    layout = config(tmp_path).layout()
    with prepared(layout) as found:
        pass
    events = bucketing.events_file(found.folder, 0)
    made = events.stat().st_mtime_ns
    with prepared(layout):
        assert events.stat().st_mtime_ns == made
    content = bytearray(events.read_bytes())
    content[len(content) // 2] ^= 1
    events.write_bytes(content)
    with prepared(layout) as found:
        assert len(all_rows(found)) == 5


def test_a_file_that_changes_while_it_is_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, write = config(tmp_path).layout(), bucketing.write

    def changed(*given: Any) -> None:
        write(*given)
        (tmp_path / "log.csv").write_text(LOG + "zoe,z,2020-01-01,1\n")

    with monkeypatch.context() as patch:
        patch.setattr(bucketing, "write", changed)
        told = pytest.raises(DataError, match=r"log.csv: changed while events were read; run the")
        with told, prepared(layout):
            pass
    with prepared(layout) as found:
        assert len(all_rows(found)) == 6


def test_runs_side_by_side_make_them_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = config(tmp_path).layout()
    written, write = [], bucketing.write

    def counted(*arguments: Any) -> None:
        written.append(1)
        write(*arguments)

    monkeypatch.setattr(bucketing, "write", counted)

    def read(_: int) -> int:
        with prepared(layout) as found:
            return len(all_rows(found))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [5] * 4
    assert len(written) == 1


def test_buckets_of_the_format_before_are_removed(tmp_path: Path) -> None:
    layout = config(tmp_path).layout()
    earlier = cache.entry((buckets.FORMAT - 1, layout, "buckets"), loading.files(layout)).path
    small.write(earlier, {"known.json": "{}"})
    small.write(earlier.with_name(f"{earlier.name}.making"), {"meta.json": "[]"})
    with prepared(layout) as found:
        assert kept() == [found.folder]


def test_without_the_cache_they_go_afterwards(tmp_path: Path) -> None:
    with prepared(config(tmp_path).layout(), kept=False) as found:
        assert len(all_rows(found)) == 5
    assert not found.folder.exists()
    assert not any(cache.folder().iterdir())


def test_a_disk_that_is_too_small_is_told_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "_BYTES_A_ROW", 10**15)
    read: list[int] = []
    with pytest.raises(DataError) as error, prepared(config(tmp_path).layout(), read.append):
        pass
    assert read == []
    words = str(error.value)
    assert " GB free; the buckets of users need about 5,000,000.0 GB" in words
    assert "name a folder on another disk: HARNESS_CACHE_DIR=FOLDER harness run" in words


def test_a_cache_that_cannot_be_used_is_told_and_so_is_the_place_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "file"))
    with prepared(config(tmp_path).layout()) as found:
        assert len(all_rows(found)) == 5
        assert found.variable == "TMPDIR"
    assert not found.folder.exists()
    told = (
        f"{tmp_path}/file: cannot be used; buckets are made in {tempfile.gettempdir()} and not kept"
    )
    assert caplog.messages == [told]
    monkeypatch.setattr(buckets, "_BYTES_A_ROW", 10**15)
    says = pytest.raises(DataError, match="TMPDIR=FOLDER harness run")
    with says, prepared(config(tmp_path).layout()):
        pass


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _full_for_polars(*_: object, **__: object) -> None:
    raise pl.exceptions.ComputeError("No space left on device (os error 28)")


def _full_for_numpy(*_: object, **__: object) -> None:
    raise OSError("Not enough free space to write 33797616 bytes after offset 128")


@pytest.mark.parametrize(
    ("of", "name", "full"),
    [
        (np, "save", _full),
        (np, "save", _full_for_numpy),
        (pl.DataFrame, "write_ipc", _full_for_polars),
        (pl.DataFrame, "write_parquet", _full),
    ],
)
def test_a_disk_that_gets_full_is_told_and_the_next_command_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: Any, name: str, full: Any
) -> None:
    layout = config(tmp_path).layout()
    with monkeypatch.context() as patch:
        patch.setattr(of, name, full)
        told = pytest.raises(DataError, match=r"disk is full; the buckets.*make room.*CACHE_DIR")
        with told, prepared(layout):
            pass
    with prepared(layout) as found:
        assert len(all_rows(found)) == 5


def test_another_fault_of_the_disk_is_not_called_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(np, "save", denied)
    told = pytest.raises(DataError, match="buckets cannot be made there: Permission denied; run")
    with told, prepared(config(tmp_path).layout()):
        pass


def test_a_link_in_place_of_our_folder_is_not_followed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    layout = config(tmp_path).layout()
    victim = tmp_path / "precious"
    small.write(victim, {"letter.txt": "dear"})
    with prepared(layout) as found:
        name = found.folder.name
    shutil.rmtree(found.folder)
    (cache.folder() / name).symlink_to(victim)
    with prepared(layout) as found:
        assert len(all_rows(found)) == 5
    assert (victim / "letter.txt").read_text() == "dear"
    assert "cannot be used; buckets are made in" in caplog.text


@pytest.mark.parametrize(("name", "stored"), STORED.items())
def test_rows_are_estimated_without_reading_them(
    tmp_path: Path, name: str, stored: Callable[[bytes], bytes]
) -> None:
    layout = config(tmp_path, events=name).layout()
    log = "user,item,time\n" + "".join(f"user{n:05},a,2020-01-01\n" for n in range(10_000))
    (tmp_path / "log.csv").unlink()
    (tmp_path / name).write_bytes(stored(log.encode()))
    about = buckets.estimated_rows(layout)
    if name.endswith("gz"):  # how well a file is packed is not known beforehand
        assert 500 < about < 100_000
    else:
        assert about == pytest.approx(10_000, rel=0.01)


def test_what_is_wrong_in_a_part_that_is_read_later_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts_of(monkeypatch, 1)
    layout = config(tmp_path, LOG + "eve,a,2020-13-01,5\n").layout()
    told = pytest.raises(DataError, match=r'log.csv: line 7, column "time": found "2020-13-01"')
    with told, prepared(layout):
        pass


def test_types_rows_and_registrations_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's events of two tables, each with its type, are in the one bucket."""
    pytest.importorskip("harness.data.layouts")
    in_buckets(monkeypatch, 3)
    from harness.data.synthetic import synthesise

    synthesise("ponpare", tmp_path / "data", users=40, items=20, events=200, seed=1)
    values = small.values(
        data={"layout": "ponpare", "path": "data", "events": None},
        split={"strategy": "last_n", "n": 1, "ties": "shuffle"},
    )
    del values["data"]["events"]
    from harness import config as config_

    layout = config_.parse(values, tmp_path).layout()
    whole = loading.load(layout)
    with prepared(layout) as found:
        assert all_rows(found) == sorted(rows(whole))
        assert len(whole.kinds) == 2
        times = {
            user: time
            for data in found.datasets()
            for user, time in zip(data.user_ids, _registered(data), strict=True)
        }
    assert times == dict(zip(whole.user_ids, _registered(whole), strict=True))


def _registered(data: Dataset) -> Iterator[int]:
    assert data.registered is not None
    return iter(data.registered.tolist())
