"""Contents in rows of a few bytes, which make the content again; errors, which are raised again."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from harness.core.errors import DataError, EmptyEvaluationSetError, RecommenderError
from harness.spark.packing import PackedError, unpacked
from harness.spark.parts import WorkerError, attempted, contents, refuse_first, rows

pytestmark = pytest.mark.usefixtures("installed")


def test_a_long_content_is_in_several_rows() -> None:
    long, short = np.arange(100), np.arange(3)
    found = [
        *rows(7, {"a": long}, {"n": 100}, chunk_bytes=100),
        *rows(7, {"a": short}, source=1, chunk_bytes=100),
    ]
    assert len(found) > 8  # 800 bytes, and the others
    read = list(contents(found[::-2] + found[-2::-2]))
    values = sorted((unpacked(data)["a"].tolist(), told) for _, data, told in read)
    assert values == [(short.tolist(), None), (long.tolist(), '{"facts": {"n": 100}}')]
    with pytest.raises(PackedError, match="some of their rows are missing"):
        list(contents(found[1:]))


def raised(error: Exception) -> Iterator[None]:
    raise error
    yield


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        *((kind("log.csv: line 3"), kind, "log.csv: line 3")
          for kind in (DataError, RecommenderError, EmptyEvaluationSetError)),
        (ValueError("more\nbelow 0"), WorkerError, "a worker raised ValueError: below 0"),
    ],
)  # fmt: skip
def test_an_error_is_raised_again(error: Exception, kind: type[Exception], words: str) -> None:
    """One of ours as it was; of any other the last line."""
    with pytest.raises(kind) as caught:
        refuse_first(told for *_, told in contents(attempted(0, partial(raised, error))))
    assert (type(caught.value), str(caught.value)) == (kind, words)


def test_what_the_machine_may_be_the_reason_of_is_left_to_spark() -> None:
    with pytest.raises(OSError, match="disk"):
        list(attempted(0, partial(raised, OSError("the disk is full"))))
