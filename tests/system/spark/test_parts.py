"""Parts: summed, worked on and written by workers, whose errors are told as they were raised."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from harness.core.errors import (
    DataError,
    EmptyEvaluationSetError,
    HarnessError,
    RecommenderError,
)
from harness.spark.parts import SCHEMA, Parts, WorkerError, kept, rows
from harness.spark.session import spark_errors
from spark.conftest import NOISE, by_value

pytestmark = NOISE


@pytest.fixture(scope="module", autouse=True)
def _by_value(installed: None) -> None:
    by_value(__name__)


def numbers(batches: Any) -> Any:
    for batch in batches:
        for n in batch["id"].to_pylist():
            yield from rows(n, {"n": np.array([n])}, {"n": n})


def number(part: int, content: Any) -> int:
    assert part == content["n"][0]
    return part


def parts(spark: Any, count: int, partitions: int = 3) -> Parts[int]:
    frame = spark.range(0, count, 1, partitions).mapInArrow(numbers, SCHEMA)
    return kept(frame, number)


@pytest.mark.parametrize(("count", "partitions"), [(1, 20), (5, 3), (20, 1)])
def test_the_total_is_the_sum_over_all_parts(spark: Any, count: int, partitions: int) -> None:
    found = parts(spark, count, partitions)
    total = found.total(lambda n: {"n": np.array([n]), n % 2: {"one": np.array([1])}})
    assert total["n"].tolist() == [count * (count - 1) // 2]
    assert total[0]["one"].tolist() == [(count + 1) // 2]
    found.release()


def test_facts_are_those_of_each_part(spark: Any) -> None:
    found = parts(spark, 3)
    assert found.facts == {0: {"n": 0}, 1: {"n": 1}, 2: {"n": 2}}
    found.release()


def square(n: int) -> dict[str, Any]:
    return {"square": np.array([n * n])}


def squared(part: int, content: Any) -> int:
    return int(content["square"][0])


def test_what_workers_make_of_parts_is_kept_for_the_next_pass(spark: Any) -> None:
    found = parts(spark, 4)
    squares = found.kept(square, squared)
    assert squares.total(lambda n: {"n": np.array([n])})["n"].tolist() == [14]
    squares.release()
    found.release()


def frame_of(n: int) -> pl.DataFrame:
    items = pl.Series([["a", "b"][:at] for at in range(n)], dtype=pl.List(pl.String))
    return pl.DataFrame(
        {"value": [n / 2] * n, "user": [f"u{n}"] * n, "items": items, "more": [0] * n}
    )


@pytest.mark.parametrize("by_spark", [False, True])
def test_rows_are_written_as_parquet(spark: Any, tmp_path: Path, by_spark: bool) -> None:
    """Where workers see files they write these; anywhere else Spark writes."""
    found, path = parts(spark, 3), tmp_path / "my rows"
    types = {"user": "string", "value": "double", "items": "array<string>"}
    found.write(str(path) if by_spark else path.as_uri(), types, frame_of)
    assert (path / "_SUCCESS").exists() == by_spark
    files = list(path.glob("*.parquet"))
    rows = pl.concat([pl.read_parquet(file) for file in files])
    assert rows.columns == ["user", "value", "items"]
    assert sorted(rows.rows()) == [("u1", 0.5, []), ("u2", 1.0, []), ("u2", 1.0, ["a"])]
    found.release()


def raising(error: Exception, n: int) -> dict[str, Any]:
    if n == 2:
        raise error
    return {}


ERRORS = [
    DataError("log.csv: line 3"),
    RecommenderError('model "x": bad'),
    EmptyEvaluationSetError("no user is left"),
]


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_of_ours_reaches_the_driver_as_it_is(spark: Any, error: Exception) -> None:
    found = parts(spark, 5, 5)
    work = partial(raising, error)
    for call in (lambda: found.total(work), lambda: found.kept(work, number)):
        with pytest.raises(type(error)) as caught:
            call()
        assert type(caught.value) is type(error)
        assert str(caught.value) == str(error)
    found.release()


def test_another_error_keeps_its_last_line(spark: Any) -> None:
    found = parts(spark, 3)
    with pytest.raises(WorkerError) as caught:
        found.total(partial(raising, ZeroDivisionError("more\nbelow 0")))
    assert str(caught.value) == "a worker raised ZeroDivisionError: below 0"
    found.release()


def test_what_the_machine_may_be_the_reason_of_is_left_to_spark(spark: Any) -> None:
    """Spark tries again elsewhere; when it gives up, its error is in our words, too."""
    found = parts(spark, 3)
    told = pytest.raises(HarnessError, match=r"a worker raised OSError: .*disk is full")
    with told, spark_errors():
        found.total(partial(raising, OSError("the disk is full")))
    found.release()


def opening(error: Exception, part: int, content: Any) -> int:
    raise error


def test_a_part_that_cannot_be_opened_is_told_too(spark: Any) -> None:
    found = parts(spark, 3)
    broken: Parts[int] = Parts(found.frame, partial(opening, DataError("no")), found.facts)
    with pytest.raises(DataError, match="no"):
        broken.total(square)
    found.release()


def counting(folder: Path, n: int) -> Any:
    (folder / f"{n}-{np.random.default_rng().integers(1 << 62)}").touch()
    raise DataError("each time")


def test_what_fails_is_not_tried_again(spark: Any, tmp_path: Path) -> None:
    found = parts(spark, 1, 1)
    with pytest.raises(DataError):
        found.total(partial(counting, tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
    found.release()
