"""RandomItems: k distinct candidates, every ordered choice as likely as any other."""

from dataclasses import replace
from functools import cache
from math import perm
from typing import Any

import numpy as np
import pytest
from conftest import hashes
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from baselines.random_items import RandomItems
from harness.core.random import Draws
from harness.testing import example_train

LENIENT = 1e-4
"""A right generator fails below this p once in ten thousand seeds; the seeds here are fixed."""


@cache
def fitted(n: int) -> RandomItems:
    return RandomItems().fit(replace(example_train(), candidates=np.arange(n, dtype=np.int32)))


def drawn(n: int, k: int, users: int, *, seed: int = 42, exclude: Any = None) -> Any:
    everyone = np.arange(users, dtype=np.int32)
    return fitted(n).recommend(everyone, k, Draws(seed, 0, hashes(users)), exclude=exclude)


def assert_uniform(lists: Any, choices: int) -> None:
    """Check that there are so many different lists, each as likely as any other."""
    _, counts = np.unique(lists, axis=0, return_counts=True)
    assert len(counts) == choices
    assert stats.chisquare(counts).pvalue > LENIENT


@pytest.mark.parametrize(("n", "k"), [(2, 2), (7, 2), (4, 4), (100, 1)])
def test_every_ordered_choice_is_as_likely(n: int, k: int) -> None:
    assert_uniform(drawn(n, k, users=20_000), perm(n, k))


def test_what_is_not_excluded_is_as_likely() -> None:
    held = np.zeros((20_000, 6), bool)
    held[:, [0, 3]] = True
    lists = drawn(6, 2, 20_000, exclude=csr_array(held))
    assert np.unique(lists).tolist() == [1, 2, 4, 5]
    assert_uniform(lists, perm(4, 2))


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 2**63 - 1), st.data())
def test_lists_are_distinct_free_candidates(n: int, k: int, seed: int, data: Any) -> None:
    exclude = [data.draw(st.sets(st.integers(0, n - 1))) for _ in range(3)]
    held = np.zeros((3, n), bool)
    for row, items in enumerate(exclude):
        held[row, list(items)] = True
    every, some = (drawn(n, k, 3, seed=seed, exclude=taken) for taken in (None, csr_array(held)))
    for lists, taken in ((every, [set()] * 3), (some, exclude)):
        assert (lists.dtype, lists.shape) == (np.int32, (3, k))
        for row, items in zip(lists.tolist(), taken, strict=True):
            size = min(k, n - len(items))
            assert len(set(row[:size])) == size
            assert set(row[:size]) <= set(range(n)) - items
            assert row[size:] == [-1] * (k - size)
    same = [user for user, items in enumerate(exclude) if not items]
    assert some[same].tolist() == every[same].tolist()
