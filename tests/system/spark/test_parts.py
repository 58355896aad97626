"""Parts: summed, worked on and written by workers, whose errors are told as they were raised."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from harness.core.errors import DataError
from harness.data.naming import parts_of
from harness.spark import reading
from harness.spark.population import SparkParts, gathered
from harness.spark.transport import contents, mapped, pack, to_rows
from spark.conftest import SENT
from spark.test_buckets import many, table

pytestmark = SENT


def numbers(batches: Any) -> Any:
    for batch in batches:
        for n in batch["id"].to_pylist():
            yield from to_rows(n, {"n": np.array([n])})


def number(part: int, content: Any) -> int:
    assert part == content["n"][0]
    return part


def parts(spark: Any, count: int, partitions: int = 3) -> SparkParts[int]:
    frame = mapped(spark.range(0, count, 1, partitions), numbers)
    return SparkParts(frame.persist(), number, count)


@pytest.mark.parametrize(("count", "partitions"), [(5, 3), (20, 1)])
def test_the_total_is_the_sum_over_all_parts(spark: Any, count: int, partitions: int) -> None:
    squares_of = parts(spark, count, partitions)
    total = squares_of.total(lambda n: {"n": np.array([n]), n % 2: {"one": np.array([1])}})
    assert total["n"].tolist() == [count * (count - 1) // 2]
    assert total[0]["one"].tolist() == [(count + 1) // 2]
    squares_of.frame.unpersist()


def test_what_workers_make_of_parts_is_kept_for_the_next_pass(spark: Any) -> None:
    spread = parts(spark, 4, 20)
    squares = spread.kept(
        lambda n: {"square": np.array([n * n])}, lambda part, content: int(content["square"][0])
    )
    assert squares.total(lambda n: {"n": np.array([n])})["n"].tolist() == [0 + 1 + 4 + 9]
    squares.frame.unpersist()
    spread.frame.unpersist()


def frame_of(n: int) -> pl.DataFrame:
    items = pl.Series([["a", "b"][:width] for width in range(n)], dtype=pl.List(pl.String))
    columns = {"value": [n / 2] * n, "user": [f"u{n}"] * n, "items": items, "more": [0] * n}
    return pl.DataFrame(columns)


@pytest.mark.parametrize("by_spark", [False, True])
def test_rows_are_written_as_parquet(spark: Any, tmp_path: Path, by_spark: bool) -> None:
    """Where workers see files they write these; anywhere else Spark writes."""
    spread, path = parts(spark, 3), tmp_path / "my rows"
    schema = {"user": pa.string(), "value": pa.float64(), "items": pa.list_(pa.string())}
    place = tmp_path if by_spark else tmp_path.as_uri()
    spread.write(str(place), {"my rows": pa.schema(schema)}, lambda _, n: frame_of(n))
    assert (path / "_SUCCESS").exists() == by_spark
    rows = pl.concat([pl.read_parquet(file) for file in path.glob("*.parquet")])
    assert rows.columns == ["user", "value", "items"]
    assert sorted(rows.rows()) == [("u1", 0.5, []), ("u2", 1.0, []), ("u2", 1.0, ["a"])]
    spread.frame.unpersist()


def failing(folder: Path, n: int, content: Any = None) -> Any:
    (folder / f"{n}-{np.random.default_rng().integers(1 << 62)}").touch()
    raise DataError("log.csv: line 3")


def test_an_error_of_ours_reaches_the_driver_and_is_not_tried_again(
    spark: Any, tmp_path: Path
) -> None:
    spread, work = parts(spark, 1, 1), partial(failing, tmp_path)
    broken: SparkParts[int] = SparkParts(spread.frame, work, spread.count)
    calls = (
        lambda: spread.total(work),
        lambda: spread.kept(work, number),
        lambda: broken.total(lambda n: {}),
    )
    for count, call in enumerate(calls, 1):
        with pytest.raises(DataError, match=r"^log\.csv: line 3$"):
            call()
        assert len(list(tmp_path.iterdir())) == count
    spread.frame.unpersist()


def test_a_long_content_is_in_several_rows() -> None:
    long, short = np.random.default_rng(1).random(100), np.arange(3)  # long after compression
    batches = [
        *to_rows(7, {"a": long}, facts={"n": 100}, chunk_bytes=100),
        *to_rows(7, {"a": short}, source=1, chunk_bytes=100),
    ]
    rows = [batch.slice(row, 1) for batch in batches for row in range(batch.num_rows)]
    assert len(rows) > 8  # 800 bytes, and the others
    read = [(part, content["a"].tolist()) for part, content in contents(rows[::-2] + rows[-2::-2])]
    assert sorted(read) == [(7, short.tolist()), (7, long.tolist())]
    with pytest.raises(RuntimeError, match="lost some rows"):
        list(contents(rows[1:]))


def test_codes_run_on_over_the_parts_of_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket is the same in however many parts its task has read it."""
    for number, part in enumerate(many(3).iter_slices(1_000)):
        part.write_parquet(tmp_path / f"log-{number}.parquet")
    layout, keys = table(tmp_path, events="log-*.parquet").layout(), reading.keys_of(3)
    pieces = [reading.Piece(0, part) for part in parts_of(layout.events[0])]
    buckets = []
    for rows in (1 << 23, 1_000):
        monkeypatch.setattr(reading, "PART_ROWS", rows)
        read = list(reading.read_pieces(layout, keys, 0, pieces))
        sent = sum(len(content["users"]) for _, content in contents(read, []))
        assert sent == 300  # each user once
        gathered_rows = contents(gathered(layout, keys, {}, iter(read)), [])
        buckets.append(
            {bucket: bytes(pack(content)) for bucket, content in gathered_rows if bucket >= 0}
        )
    assert len(buckets[0]) == 3
    assert buckets[0] == buckets[1]
