"""Events in many files, databases and lists: workers read what the local engine does."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import small
from conftest import refusal

from harness.core.errors import UsageError
from harness.data import bucketing, buckets
from harness.spark.buckets import prepared
from harness.spark.reading import read
from spark.conftest import NOISE, by_value
from spark.test_buckets import all_same, datasets

pytestmark = NOISE


@pytest.fixture(scope="module", autouse=True)
def _by_value(installed: None) -> None:
    by_value(__name__)


def frame() -> pl.DataFrame:
    return pl.read_csv(small.MANY.encode())


def colons(folder: Path) -> dict[str, Any]:
    (folder / "log.dat").write_text(small.MANY.replace(",", "::"))
    return {"events": "log.dat", "separator": "::"}


def patterns(folder: Path) -> dict[str, Any]:
    for at, part in enumerate(frame().iter_slices(50)):
        part.write_csv(folder / f"log-{at}.csv")
    return {"events": "log-*.csv"}


def hive(folder: Path) -> dict[str, Any]:
    frame().write_parquet(pl.PartitionBy(folder / "hive", key="time", include_key=False))
    return {"events": "hive"}


def duckdb_table(folder: Path) -> dict[str, Any]:
    with closing(duckdb.connect(folder / "shop.duckdb")) as connection:
        query = "CREATE TABLE log AS SELECT * FROM read_csv(?, header = true)"
        connection.execute(query, [str(folder / "all.csv")])
    return {"events": "shop.duckdb::log"}


def sqlite_table(folder: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        rows = frame().select("user", "item", "time").rows()
        connection.execute("CREATE TABLE log (user, item, time)")
        connection.executemany("INSERT INTO log VALUES (?, ?, ?)", rows)
        connection.commit()
    return {"events": "shop.db::log"}


def lists(folder: Path) -> dict[str, Any]:
    by_user = frame().group_by("user", maintain_order=True).agg("item", "time")
    by_user.write_parquet(folder / "lists.parquet")
    by_user.write_ndjson(folder / "log.jsonl")
    return {"events": "lists.parquet", "rows": ["item", "time"]}


def json_lines(folder: Path) -> dict[str, Any]:
    return lists(folder) | {"events": "log.jsonl"}


KINDS = [colons, patterns, hive, duckdb_table, sqlite_table, json_lines, lists]


@pytest.mark.parametrize("write", KINDS)
def test_buckets_are_those_of_the_local_engine(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: 3)
    frame().write_csv(tmp_path / "all.csv")
    layout = small.config(tmp_path, log=small.MANY, data=write(tmp_path)).layout()
    plain = small.config(tmp_path, log=small.MANY).layout()
    with buckets.prepared(plain, kept=False) as expected, prepared(spark, layout) as found:
        for one, other in zip(datasets(found), expected.datasets(), strict=True):
            all_same(one, other)


def test_lists_are_read_from_files_that_workers_see(spark: Any, tmp_path: Path) -> None:
    for data in ({"events": "file:///x.jsonl"}, {"events": "table:x", "rows": "a"}):
        layout = small.config(tmp_path, data=data).layout()
        with refusal(UsageError, data["events"], "are read from files that every worker sees"):
            read(spark, layout, 1)


def test_remote_text_with_a_long_separator(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = 'user::item::time\n"é::a::2020-01-01\n"é::b:c::2020-01-02\n'
    (tmp_path / "log.dat").write_bytes(content.encode("latin-1"))
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: 1)
    data = {"separator": "::", "encoding": "latin-1"}
    remote = data | {"events": (tmp_path / "log.dat").as_uri()}
    local = data | {"events": "log.dat"}
    one, other = (small.config(tmp_path, data=of).layout() for of in (local, remote))
    with prepared(spark, one) as here, prepared(spark, other) as there:
        (found,), (expected,) = datasets(there), datasets(here)
        assert found.user_ids.to_list() == ['"é']
        assert found.item_ids.to_list() == ["a", "b:c"]
        all_same(found, expected)
