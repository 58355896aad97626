"""The lists of a run as a table: written, and read back."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import small

from harness.models.recommendations import Recommendations
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.task import make_task
from harness.results.tables import UNKNOWN, ids_of, positions_of

LISTS = np.array([[1, 0], [4, -1], [-1, -1]], np.int32)
"""b, a for ann; for bob an item behind the candidates a, b, c and d; none for cid."""
NOBODYS = pl.Series(["old", None, None], dtype=pl.String)
"""The items behind the candidates, of which nobody knows two."""


def test_a_position_that_is_empty_is_null_and_one_behind_the_last_is_not_there() -> None:
    lists = Recommendations(np.array([[1, -1, 0], [-1, -1, -1], [0, -1, -1]], np.int32))
    assert ids_of(lists, pl.Series(["a", "b"])).to_list() == [["b", None, "a"], [], ["a"]]


@pytest.fixture
def evaluation_set(tmp_path: Path) -> EvaluationSet:
    return make_task(small.config(tmp_path)).evaluation_set


@pytest.mark.parametrize("strange", ["old", None])
def test_what_is_written_is_read_back(evaluation_set: EvaluationSet, strange: str | None) -> None:
    lists = Recommendations(LISTS, pl.Series([strange], dtype=pl.String))
    written = ids_of(lists, evaluation_set.candidate_ids)
    assert written.to_list() == [["b", "a"], [strange or UNKNOWN], []]
    lists_read = positions_of(written, evaluation_set)
    assert lists_read.items.tolist() == LISTS.tolist()
    assert lists_read.strange.to_list() == [strange]


def test_items_that_nobody_knows_stay_different_ones(evaluation_set: EvaluationSet) -> None:
    """As SetF1 counts the different items of a list, they must not become one."""
    lists = Recommendations(np.array([[5, 6], [1, 4], [-1, 5]], np.int32), NOBODYS)
    written = ids_of(lists, evaluation_set.candidate_ids)
    lists_read = positions_of(written, evaluation_set)
    assert (lists_read.items >= 4).tolist() == (lists.items >= 4).tolist()
    assert lists_read.items[0, 0] != lists_read.items[0, 1]
    assert lists_read.strange.to_list() == ["old", None, None]
    assert ids_of(lists_read, evaluation_set.candidate_ids).equals(written)
