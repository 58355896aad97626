"""Buckets that Spark's workers make: those of the local engine, field by field."""

import shutil
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
from harness.core.errors import DataError, HarnessError, UsageError
from harness.data import buckets
from harness.data.dataset import Dataset, Events
from harness.data.layout import Layout
from harness.spark import reading
from harness.spark.population import in_buckets
from harness.spark.transport import contents
from spark.conftest import SENT

pytestmark = SENT


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


def compare(spark: Any, layout: Layout, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "bucket_count", lambda events: count)
    with buckets.prepared(layout, kept=False) as local, in_buckets(spark, layout) as spread:
        all_same(spread.shared, local.shared)
        for first, other in zip(datasets(spread), local.datasets(), strict=True):
            all_same(first, other)


@pytest.mark.parametrize(("name", "count"), [("demo", 7), ("demo-ponpare", 16)])
def test_sample_competitions(
    spark: Any, monkeypatch: pytest.MonkeyPatch, name: str, count: int
) -> None:
    compare(spark, config_.read(ROOT / f"configs/{name}.toml").layout(), count, monkeypatch)


def test_ids_that_lost_their_zero_are_those_of_others(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "data/hm-sample", tmp_path / "log")
    packed, column = tmp_path / "log/transactions_train.csv.gz", pl.col("article_id")
    lost = pl.when(pl.row_index() % 3 == 0).then(column.str.strip_prefix("0")).otherwise(column)
    log = pl.read_csv(packed, infer_schema=False).with_columns(lost.alias("article_id"))
    packed.unlink()
    log.write_csv(tmp_path / "log/transactions_train.csv")
    toml = (ROOT / "configs/demo.toml").read_text()
    changed = toml.replace('"../data/hm-sample"', '"log"\nrestore_zeros = true')
    small.write(tmp_path, {"run.toml": changed})
    compare(spark, config_.read(tmp_path / "run.toml").layout(), 4, monkeypatch)


def table(folder: Path, log: str = LOG, **data: Any) -> Config:
    return small.config(folder, log=log, data=data)


def test_a_table(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are numbered, too."""
    small.write(tmp_path, {"users.csv": USERS, "items.csv": ITEMS})
    data = {"users": "users.csv", "items": "items.csv", "where": {"stars": {"min": 3}}}
    split = {"strategy": "last_n", "n": 1, "ties": "file"}
    compare(spark, small.config(tmp_path, log=LOG, split=split, data=data).layout(), 7, monkeypatch)


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
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, piece: int
) -> None:
    monkeypatch.setattr(reading, "PIECE_ROWS", piece)
    frame = many(1)
    frame.write_parquet(tmp_path / "log.parquet", row_group_size=1_000)
    layout = table(tmp_path, events="log.parquet", where={"price": {"min": 2}}).layout()
    monkeypatch.setattr(buckets, "bucket_count", lambda events: count)
    with buckets.prepared(layout, kept=False) as local:
        expected = list(local.datasets())
    frame.sample(fraction=1, shuffle=True, seed=2).write_parquet(tmp_path / "log.parquet")
    with in_buckets(spark, layout) as spread:
        for first, other in zip(datasets(spread), expected, strict=True):
            all_same(first, other)


@pytest.mark.parametrize("name", ["many.csv", "log.parquet", "table:shop_log"])
def test_what_spark_reads_itself(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
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
    monkeypatch.setattr(buckets, "bucket_count", lambda events: 7)
    with buckets.prepared(layout, kept=False) as local, in_buckets(spark, remote) as spread:
        for there, here in zip(spread.shared.notes, local.shared.notes, strict=True):
            assert there.split(":")[-1] == here.split(":")[-1]
        assert 'have 0 or less in column "label"' in there
        assert any('with any value of column "action"' in note for note in spread.shared.notes)
        for first, other in zip(datasets(spread), local.datasets(), strict=True):
            all_same(replace(first, notes=()), replace(other, notes=()))


def test_two_tables_of_one_partition_each(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark joins them to one partition: tasks of both tables have the number 0."""
    for seed, name in enumerate(("train", "valid")):
        many(seed, 400).write_parquet(tmp_path / f"{name}.parquet")
        rows = spark.read.parquet(str(tmp_path / f"{name}.parquet")).coalesce(1)
        rows.createOrReplaceTempView(name)
    monkeypatch.setattr(buckets, "bucket_count", lambda events: 3)

    def layout(form: str) -> Layout:
        split = {"strategy": "given", "valid": form.format("valid")}
        data = {"events": form.format("train"), "where": {"label": "1"}}
        return small.config(tmp_path, data=data, split=split).layout()

    remote = layout("table:{}")
    here = layout("{}.parquet")
    with buckets.prepared(here, kept=False) as local, in_buckets(spark, remote) as spread:
        for first, other in zip(datasets(spread), local.datasets(), strict=True):
            all_same(replace(first, notes=()), replace(other, notes=()))


@pytest.mark.parametrize(
    ("log", "data"),
    [(LOG, {}), ('user,item,time\n"a" b,x,2020-01-01\n\n"c,"x,2020-01-02\n', {"quote": False})],
)
def test_quotes_and_lines_within_them_are_read_by_spark_as_they_are_here(
    spark: Any, tmp_path: Path, log: str, data: dict[str, Any]
) -> None:
    layout = table(tmp_path, log, **data).layout()
    remote = table(tmp_path, log, events=(tmp_path / "log.csv").as_uri(), **data).layout()
    with buckets.prepared(layout, kept=False) as local, in_buckets(spark, remote) as spread:
        for first, other in zip(datasets(spread), local.datasets(), strict=True):
            all_same(first, other)


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


def test_a_line_with_too_few_fields_is_told(spark: Any, tmp_path: Path) -> None:
    name = (tmp_path / "log.csv").as_uri()
    layout = table(tmp_path, LOG + "bob,a\n", events=name).layout()
    with pytest.raises(Exception, match=r"(?i)malformed"), in_buckets(spark, layout):
        pass


def test_float_ids_are_refused(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"user": [1.0], "item": ["a"], "time": ["2020-01-01"]}).write_parquet(path)
    name = path.as_uri()
    refused = refusal(DataError, name, 'column "user" holds floats', "Int64")
    with refused, in_buckets(spark, table(tmp_path, events=name).layout()):
        pass


def test_an_id_of_two_rows_of_a_users_table_is_told(spark: Any, tmp_path: Path) -> None:
    small.write(tmp_path, {"users.csv": USERS + "ann,32\n"})
    name = (tmp_path / "users.csv").as_uri()
    words = name, 'column "user": the id "ann" is in more than one row'
    with refusal(DataError, words), in_buckets(spark, table(tmp_path, users=name).layout(), 7):
        pass


def test_rows_that_have_no_order_are_refused(spark: Any, tmp_path: Path) -> None:
    split = {"strategy": "last_n", "n": 1, "ties": "file"}
    layout = small.config(tmp_path, split=split, data={"events": "table:shop_log"}).layout()
    with refusal(UsageError, 'ties = "file"', "order of rows", "--engine spark"):  # noqa: SIM117
        with in_buckets(spark, layout):
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


# Events in many files, databases and lists: workers read what the local engine does.


THREE = "".join(f"{','.join(line.split(',')[:3])}\n" for line in small.MANY.splitlines())


def frame() -> pl.DataFrame:
    return pl.read_csv(THREE.encode())


def colons(folder: Path) -> dict[str, Any]:
    (folder / "log.dat").write_text(THREE.replace(",", "::"))
    return {"events": "log.dat", "separator": "::"}


def patterns(folder: Path) -> dict[str, Any]:
    for n, part in enumerate(frame().iter_slices(50)):
        part.write_csv(folder / f"log-{n}.csv")
    return {"events": "log-*.csv"}


def hive(folder: Path) -> dict[str, Any]:
    frame().write_parquet(pl.PartitionBy(folder / "hive", key="time", include_key=False))
    return {"events": "hive"}


def duckdb_table(folder: Path) -> dict[str, Any]:
    with closing(duckdb.connect(folder / "shop.duckdb")) as connection:
        query = "CREATE TABLE log AS SELECT * FROM read_csv(?, header = true)"
        connection.execute(query, [str(folder / "all.csv")])
    return {"events": "shop.duckdb::log"}


def lists(folder: Path) -> dict[str, Any]:
    by_user = frame().group_by("user", maintain_order=True).agg("item", "time")
    by_user.write_parquet(folder / "lists.parquet")
    return {"events": "lists.parquet", "rows": ["item", "time"]}


KINDS = [colons, patterns, hive, duckdb_table, lists]


@pytest.mark.parametrize("write", KINDS)
def test_buckets_are_those_of_the_local_engine(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    monkeypatch.setattr(buckets, "bucket_count", lambda events: 3)
    frame().write_csv(tmp_path / "all.csv")
    layout = small.config(tmp_path, log=THREE, data=write(tmp_path)).layout()
    plain = small.config(tmp_path, log=THREE).layout()
    with buckets.prepared(plain, kept=False) as expected, in_buckets(spark, layout) as spread:
        for first, other in zip(datasets(spread), expected.datasets(), strict=True):
            all_same(first, other)


def test_lists_are_read_from_files_that_workers_see(spark: Any, tmp_path: Path) -> None:
    for data in ({"events": "file:///x.jsonl"}, {"events": "table:x", "rows": "a"}):
        layout = small.config(tmp_path, data=data).layout()
        refused = refusal(UsageError, data["events"], "every worker must see the file")
        with refused, in_buckets(spark, layout, 1):
            pass


def test_remote_text_with_a_long_separator(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = 'user::item::time\n"é::a::2020-01-01\n"é::b:c::2020-01-02\n'
    (tmp_path / "log.dat").write_bytes(content.encode("latin-1"))
    monkeypatch.setattr(buckets, "bucket_count", lambda events: 1)
    data = {"separator": "::", "encoding": "latin-1"}
    remote = data | {"events": (tmp_path / "log.dat").as_uri()}
    local = data | {"events": "log.dat"}
    first, other = (small.config(tmp_path, data=keys).layout() for keys in (local, remote))
    with in_buckets(spark, first) as here, in_buckets(spark, other) as there:
        (spread,), (expected,) = datasets(there), datasets(here)
        assert spread.user_ids.to_list() == ['"é']
        assert spread.item_ids.to_list() == ["a", "b:c"]
        all_same(spread, expected)
