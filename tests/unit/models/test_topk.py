"""Lists from one shared order, against Python that does it one user at a time."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import NO_DRAWS

from harness.models.topk import ask, excluded_rows, extend, fill, first_of, skip_excluded, top_k


def order(*items: int) -> Any:
    return np.array(items, np.int32)


def holds(rows: list[list[int]], n: int) -> csr_array[Any]:
    held = np.zeros((len(rows), n), np.bool_)
    for row, items in enumerate(rows):
        held[row, items] = True
    return csr_array(held)


def test_excluded_rows_are_sorted() -> None:
    exclude = csr_array((np.ones(2, bool), np.array([4, 0]), np.array([0, 2])), shape=(1, 5))
    assert not exclude.has_sorted_indices
    assert top_k(order(4, 0, 2), order(0), 3, exclude).tolist() == [[2, -1, -1]]
    assert [part.tolist() for part in excluded_rows(exclude, 1)] == [[0, 2], [0, 4]]
    assert [part.tolist() for part in excluded_rows(None, 2)] == [[0, 0, 0], []]


def naive_fill(first: list[int], shared: list[int], exclude: set[int], k: int) -> list[int]:
    more = [item for item in shared if item not in first and item not in exclude]
    return [*first, *more, *[-1] * k][:k]


@given(st.data())
def test_equals_plain_python(data: Any) -> None:
    n, k, rows = (data.draw(st.integers(1, 7)) for _ in range(3))
    distinct = st.lists(st.integers(0, n - 1), unique=True)
    shared = data.draw(distinct)
    exclude = [data.draw(distinct) for _ in range(rows)]
    lists = [data.draw(distinct)[:k] for _ in range(rows)]
    users = np.arange(rows, dtype=np.int32)
    assert top_k(np.array(shared, np.int32), users, k, holds(exclude, n)).tolist() == [
        naive_fill([], shared, set(items), k) for items in exclude
    ]
    padded = np.array([[*items, *[-1] * k][:k] for items in lists], np.int32)
    assert fill(padded, np.array(shared, np.int32), holds(exclude, n)).tolist() == [
        naive_fill(items, shared, set(held), k) for items, held in zip(lists, exclude, strict=True)
    ]
    assert [[item for item in row if item >= 0] for row in padded.tolist()] == lists, "as before"


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=5), st.data())
def test_skip_excluded_equals_plain_python(exclude: list[set[int]], data: Any) -> None:
    ranks = [[data.draw(st.integers(0, 12)) for _ in range(3)] for _ in exclude]
    indptr = np.cumsum([0, *map(len, exclude)])
    held = np.array([place for items in exclude for place in sorted(items)], np.int64)
    free = [[place for place in range(30) if place not in items] for items in exclude]
    expected = [[places[j] for j in row] for places, row in zip(free, ranks, strict=True)]
    assert skip_excluded(np.array(ranks), indptr, held).tolist() == expected


def asked(answer: Any) -> Any:
    """Ask a model that always gives this answer for 2 of 5 candidates."""
    model = SimpleNamespace(recommend=lambda *arguments, **exclude: answer)
    return ask(model, order(0), 2, 5, NO_DRAWS)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[0, 5]], "returned positions outside the 5 candidates"),
        ([[-2, 1]], "returned positions outside the 5 candidates"),
    ],
)
def test_what_a_part_must_not_answer(answer: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        asked(answer)


def test_a_parts_answer_is_copied() -> None:
    answer = np.array([[3, -1]], np.int32)
    lists = asked(answer)
    answer[:] = 1
    assert lists.tolist() == [[3, -1]]


def test_rows_that_are_not_there_are_not_read() -> None:
    with pytest.raises(ValueError, match="exclude has 1 rows, expected 4000"):
        top_k(order(0, 1), np.arange(4000, dtype=np.int32), 2, holds([[0]], 2))
    with pytest.raises(IndexError):
        first_of(np.array([0, 1]), order(5), np.array([7], np.int32), 2)
    with pytest.raises(IndexError):
        extend(np.full((3, 2), -1, np.int32), np.zeros((1, 2), np.int32))
