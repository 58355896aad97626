"""Buckets that Spark's workers make: those of the local engine, field by field."""

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
import small
from conftest import ROOT, refusal

from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, HarnessError
from harness.data import buckets
from harness.data.dataset import Dataset, Events
from harness.data.layout import Layout
from harness.spark import reading
from harness.spark.population import in_buckets
from harness.spark.transport import contents
from spark.conftest import SENT

pytestmark = SENT
Shared = tuple[Dataset, Dataset]
Compare = Callable[..., Shared]

LOG = """user,item,time,stars
ann,a,2020-01-01,5
bob,"b, the second",2020-01-02,1
ann,c,2020-01-02,4
"c
id",a,2020-01-03,4
ann,a,2020-01-01,3
"""
USERS = "user,age\nann,31\nzoe,\n"
ITEMS = "item,kind\na,shoe\nz,\n"


def plain(value: Any) -> Any:
    """Return what can be compared: values with their types."""
    if isinstance(value, Events):
        return [plain(getattr(value, name)) for name in ("user", "item", "time", "kind", "row")]
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    return (value.name, value.dtype, value.to_list()) if isinstance(value, pl.Series) else value


def all_same(dataset: Dataset, expected: Dataset) -> None:
    for field in fields(Dataset):
        first, other = (getattr(whole, field.name) for whole in (dataset, expected))
        assert type(first) is type(other), field.name
        assert plain(first) == plain(other), field.name


def datasets(spread: Any) -> list[Dataset]:
    """Return the data set of each bucket, opened here as workers do."""
    read = contents(spread.parts.frame.toArrow().to_batches())
    opened = {part: spread.parts.opened(part, content) for part, content in read}
    return [opened[part] for part in sorted(opened)]


@pytest.fixture
def compare(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Return what checks that a layout has the buckets of the local engine."""

    def check(layout: Layout, count: int, local: Layout | None = None) -> Shared:
        """Check it of one layout, or, but for notes, of two; return what all buckets share."""
        monkeypatch.setattr(buckets, "bucket_count", lambda events: count)
        other = buckets.prepared(local or layout, kept=False)
        with other as expected, in_buckets(spark, layout) as spread:
            for first, second in zip(datasets(spread), expected.datasets(), strict=True):
                all_same(replace(first, notes=()), replace(second, notes=()))
            if local is None:
                all_same(spread.shared, expected.shared)
            return spread.shared, expected.shared

    return check


@pytest.mark.parametrize(("name", "count"), [("demo", 7), ("demo-ponpare", 16)])
def test_sample_competitions(compare: Compare, name: str, count: int) -> None:
    compare(config_.read(ROOT / f"configs/{name}.toml").layout(), count)


def test_ids_that_lost_their_zero_are_those_of_others(compare: Compare, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "data/hm-sample", tmp_path / "log")
    packed, column = tmp_path / "log/transactions_train.csv.gz", pl.col("article_id")
    lost = pl.when(pl.row_index() % 3 == 0).then(column.str.strip_prefix("0")).otherwise(column)
    log = pl.read_csv(packed, infer_schema=False).with_columns(lost.alias("article_id"))
    packed.unlink()
    log.write_csv(tmp_path / "log/transactions_train.csv")
    toml = (ROOT / "configs/demo.toml").read_text()
    changed = toml.replace('"../data/hm-sample"', '"log"\nrestore_zeros = true')
    small.write(tmp_path, {"run.toml": changed})
    compare(config_.read(tmp_path / "run.toml").layout(), 4)


def table(folder: Path, log: str = LOG, **data: Any) -> Config:
    return small.config(folder, log=log, data=data)


def test_a_table(compare: Compare, tmp_path: Path) -> None:
    """Its rows are numbered, too."""
    small.write(tmp_path, {"users.csv": USERS, "items.csv": ITEMS})
    data = {"users": "users.csv", "items": "items.csv", "where": {"stars": {"min": 3}}}
    split = {"strategy": "last_n", "n": 1, "ties": "file"}
    compare(small.config(tmp_path, log=LOG, split=split, data=data).layout(), 7)


def many(seed: int, rows: int = 5_000) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "user": [f"user{n}" for n in draw.integers(0, 300, rows)],
            "item": [f"{n:03}" for n in draw.integers(0, 90, rows)],
            "time": draw.integers(0, 10**13, rows),
            "price": draw.integers(1, 6, rows),
            "label": draw.integers(0, 2, rows),
            "action": "view",
        }
    ).with_columns(pl.col("time").cast(pl.Datetime("us")))


@pytest.mark.parametrize(("count", "piece"), [(1, 700), (7, 1 << 23)])
def test_parquet_in_any_order_of_rows_and_ranges(
    compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, piece: int
) -> None:
    monkeypatch.setattr(reading, "PIECE_ROWS", piece)
    frame, where = many(1), {"price": {"min": 2}}
    frame.write_parquet(tmp_path / "log.parquet", row_group_size=1_000)
    mixed = frame.sample(fraction=1, shuffle=True, seed=2)
    mixed.write_parquet(tmp_path / "mixed.parquet", row_group_size=1_000)
    names = "mixed.parquet", "log.parquet"
    layout, local = (table(tmp_path, events=name, where=where).layout() for name in names)
    compare(layout, count, local)


@pytest.mark.parametrize("name", ["many.csv", "log.parquet", "table:shop_log"])
def test_what_spark_reads_itself(spark: Any, compare: Compare, tmp_path: Path, name: str) -> None:
    """A URI or a table of the catalog: the same events, but for what their names are."""
    frame = many(2, 2_000)
    frame.write_csv(tmp_path / "many.csv")
    frame.write_parquet(tmp_path / "log.parquet")
    rows = spark.read.parquet(str(tmp_path / "log.parquet")).repartition(3)
    rows.createOrReplaceTempView("shop_log")
    uri = name if ":" in name else (tmp_path / name).as_uri()
    where = {"price": {"min": 3}, "user": {"not": "user7"}, "time": {"max": date(1970, 4, 1)}}
    layout, remote = (
        table(tmp_path, events=name, where=where).layout() for name in ("log.parquet", uri)
    )
    spread, local = compare(remote, 7, layout)
    for there, here in zip(spread.notes, local.notes, strict=True):
        assert there.split(":")[-1] == here.split(":")[-1]
    assert 'have 0 or less in column "label"' in there
    assert any('with any value of column "action"' in note for note in spread.notes)


def test_two_tables_of_one_partition_each(spark: Any, compare: Compare, tmp_path: Path) -> None:
    """Spark joins them to one partition: tasks of both tables have the number 0."""
    for seed, name in enumerate(("train", "valid")):
        many(seed, 400).write_parquet(tmp_path / f"{name}.parquet")
        rows = spark.read.parquet(str(tmp_path / f"{name}.parquet")).coalesce(1)
        rows.createOrReplaceTempView(name)

    def layout(form: str) -> Layout:
        split = {"strategy": "given", "valid": form.format("valid")}
        data = {"events": form.format("train"), "where": {"label": "1"}}
        return small.config(tmp_path, data=data, split=split).layout()

    compare(layout("table:{}"), 3, layout("{}.parquet"))


@pytest.mark.parametrize(
    ("log", "data"),
    [(LOG, {}), ('user,item,time\n"a" b,x,2020-01-01\n\n"c,"x,2020-01-02\n', {"quote": False})],
)
def test_quotes_and_lines_within_them_are_read_by_spark_as_they_are_here(
    compare: Compare, tmp_path: Path, log: str, data: dict[str, Any]
) -> None:
    layout = table(tmp_path, log, **data).layout()
    remote = table(tmp_path, log, events=(tmp_path / "log.csv").as_uri(), **data).layout()
    compare(remote, 1, layout)


def test_attributes_that_spark_reads_are_frames_of_each_bucket(spark: Any, tmp_path: Path) -> None:
    small.write(tmp_path, {"users.csv": USERS, "items.csv": ITEMS})
    uris = {name: (tmp_path / f"{name}.csv").as_uri() for name in ("users", "items")}
    with in_buckets(spark, table(tmp_path, **uris).layout(), 16) as spread:
        for data in datasets(spread):
            users, items = data.users_table, data.items_table
            assert isinstance(users, pl.DataFrame)
            assert isinstance(items, pl.DataFrame)
            assert users.columns == ["user", "age"]
            assert sorted(items.rows()) == [("a", "shoe"), ("z", None)]
            assert users.rows() == ([("ann", "31")] if "ann" in data.user_ids else [])
            assert data.item_ids.to_list() == ["a", "b, the second", "c", "z"]


HEAD = "user,item,time\n"
FAULTS: list[tuple[str, dict[str, Any], str]] = [
    (HEAD, {}, "log.csv: the table has no rows"),
    (LOG, {"where": {"stars": {"min": 9}}}, "none of 5 rows has stars = { min = 9 }"),
    (HEAD + ",a,2020-01-01\n", {}, 'column "user": found an empty value, expected an id'),
    (HEAD + "ann,a,soon\n", {}, 'column "time": found "soon", expected an ISO time'),
    ("user,item,time,stars\nann,a,2020-01-01,many\n", {"where": {"stars": {"min": 3}}},
     'column "stars": found "many", expected a number'),
    (LOG, {"user": "usr"}, 'no column "usr"'),
    (LOG, {"escape": "\\"}, "Spark cannot read text with [data] escape; remove it, or copy"),
    (LOG, {"bad_lines": "drop"}, "Spark cannot read text with [data] bad_lines"),
]  # fmt: skip


@pytest.mark.parametrize(("log", "data", "words"), FAULTS)
def test_what_cannot_be_used_is_told(
    spark: Any, tmp_path: Path, log: str, data: dict[str, Any], words: str
) -> None:
    """As Spark reads it; what workers read is refused by the reader of the local engine."""
    name = (tmp_path / "log.csv").as_uri()
    layout = table(tmp_path, log, events=name, **data).layout()
    with refusal(HarnessError, name, words), in_buckets(spark, layout):
        pass


def test_the_error_of_a_file_is_the_local_one(spark: Any, tmp_path: Path) -> None:
    layout = table(tmp_path, LOG + "bob,,2020-01-04,1\n").layout()
    with pytest.raises(DataError) as local, buckets.prepared(layout, kept=False):
        pass
    with pytest.raises(DataError) as caught, in_buckets(spark, layout):
        pass
    assert str(caught.value) == str(local.value)
    assert 'line 8, column "item"' in str(caught.value)


FLOATS = pl.DataFrame({"user": [1.0], "item": ["a"], "time": ["2020-01-01"]})
BY_FILE = {"strategy": "last_n", "n": 1, "ties": "file"}


@pytest.mark.parametrize(
    ("data", "split", "words"),
    [
        ({"events": "FOLDER/cut.csv"}, {}, "alformed"),
        ({"events": "FOLDER/log.parquet"}, {}, 'log.parquet: column "user" holds floats; Int64'),
        ({"users": "FOLDER/users.csv"}, {}, 'column "user": the id "ann" is in more than one row'),
        ({"events": "table:log"}, BY_FILE, 'ties = "file"; order of rows; --engine spark'),
        ({"events": "file:///x.jsonl"}, {}, "file:///x.jsonl; every worker must see the file"),
        ({"events": "table:x", "rows": "a"}, {}, "table:x; every worker must see the file"),
    ],
)
def test_what_spark_cannot_read_is_told(
    spark: Any, tmp_path: Path, data: dict[str, str], split: dict[str, Any], words: str
) -> None:
    small.write(tmp_path, {"users.csv": USERS + "ann,32\n", "cut.csv": LOG + "bob,a\n"})
    FLOATS.write_parquet(tmp_path / "log.parquet")
    of_folder = {key: name.replace("FOLDER", tmp_path.as_uri()) for key, name in data.items()}
    sections = {"split": split} if split else {}
    layout = small.config(tmp_path, data=of_folder, **sections).layout()
    with refusal(Exception, *words.split("; ")), in_buckets(spark, layout, 7):
        pass


def test_an_item_that_was_not_there_when_items_were_told_is_seen(
    spark: Any, tmp_path: Path
) -> None:
    """A part that is lost is read again, and its table may have changed meanwhile."""
    with in_buckets(spark, table(tmp_path).layout(), 1) as spread:
        ((part, content),) = contents(spread.parts.frame.toArrow().to_batches())
        data = spread.parts.opened(part, content | {"items": pl.Series(["a", "b", "d"])})
        with refusal(DataError, "so a table has changed; run the command again"):
            _ = data.events.item


# Databases and lists; tests/system/spark/test_parts.py has many files.


THREE = "".join(f"{','.join(line.split(',')[:3])}\n" for line in small.MANY.splitlines())


def frame() -> pl.DataFrame:
    return pl.read_csv(THREE.encode())


def duckdb_table(folder: Path) -> dict[str, Any]:
    with closing(duckdb.connect(folder / "shop.duckdb")) as connection:
        query = "CREATE TABLE log AS SELECT * FROM read_csv(?, header = true)"
        connection.execute(query, [str(folder / "all.csv")])
    return {"events": "shop.duckdb::log"}


def lists(folder: Path) -> dict[str, Any]:
    by_user = frame().group_by("user", maintain_order=True).agg("item", "time")
    by_user.write_parquet(folder / "lists.parquet")
    return {"events": "lists.parquet", "rows": ["item", "time"]}


@pytest.mark.parametrize("write", [duckdb_table, lists])
def test_buckets_are_those_of_the_local_engine(
    compare: Compare, tmp_path: Path, write: Any
) -> None:
    frame().write_csv(tmp_path / "all.csv")
    layout = small.config(tmp_path, log=THREE, data=write(tmp_path)).layout()
    compare(layout, 3, small.config(tmp_path, log=THREE).layout())


def test_remote_text_with_a_long_separator(compare: Compare, tmp_path: Path) -> None:
    content = 'user::item::time\n"é::a::2020-01-01\n"é::b:c::2020-01-02\n'
    (tmp_path / "log.dat").write_bytes(content.encode("latin-1"))
    data = {"separator": "::", "encoding": "latin-1"}
    names = (tmp_path / "log.dat").as_uri(), "log.dat"
    remote, local = (table(tmp_path, events=name, **data).layout() for name in names)
    shared, _ = compare(remote, 1, local)
    assert shared.item_ids.to_list() == ["a", "b:c"]
