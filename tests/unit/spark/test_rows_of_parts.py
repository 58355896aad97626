"""Contents in rows of a few bytes: all of them make the content again."""

import numpy as np
import pytest

from harness.spark.packing import PackedError, unpacked
from harness.spark.parts import contents, rows

pytest.importorskip("pyspark")


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


def test_rows_that_are_missing_are_seen() -> None:
    found = list(rows(0, {"a": np.arange(100)}, chunk_bytes=100))
    with pytest.raises(PackedError, match="some of their rows are missing"):
        list(contents(found[:-1]))
