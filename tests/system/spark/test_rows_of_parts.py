"""Contents in rows of a few bytes, which make the content again; errors, which are raised again."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.core.errors import DataError, EmptyEvaluationSetError, RecommenderError
from harness.data.naming import parts_of
from harness.spark import reading
from harness.spark.population import gathered
from harness.spark.transport import attempt, contents, pack, to_rows
from spark.test_buckets import many, table

pytestmark = pytest.mark.usefixtures("installed")


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


def raised(error: Exception) -> Iterator[None]:
    raise error
    yield


@pytest.mark.parametrize("kind", [DataError, RecommenderError, EmptyEvaluationSetError])
def test_an_error_of_ours_is_raised_again_as_it_was(kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        list(contents(attempt(0, raised(kind("log.csv: line 3")))))
    assert (type(caught.value), str(caught.value)) == (kind, "log.csv: line 3")


def test_any_other_error_is_left_to_spark() -> None:
    """The machine may be the reason: it works again elsewhere."""
    with pytest.raises(OSError, match="disk"):
        list(attempt(0, raised(OSError("the disk is full"))))


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
