"""RandomItems: k distinct candidates, every ordered choice as likely as any other."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from baselines.random_items import RandomItems
from harness.core.arrays import Ragged
from harness.core.random import Draws, id_hashes
from harness.metrics import Block, Judgments, parse, per_user
from harness.stats.chance_moments import exact
from harness.testing import example_train

LENIENT = 1e-4
"""A right generator fails below this p once in ten thousand seeds; the seeds here are fixed."""


@cache
def fitted(n: int) -> RandomItems:
    return RandomItems().fit(replace(example_train(), candidates=np.arange(n, dtype=np.int32)))


def drawn(
    n: int, k: int, users: int = 1, *, seed: int = 42, repeat: int = 0, exclude: Any = None
) -> Any:
    """Return lists of users "0", "1" … (users, k)."""
    everyone = np.arange(users, dtype=np.int32)
    return fitted(n).recommend(everyone, k, Draws(seed, repeat, hashes_of(users)), exclude=exclude)


@cache
def hashes_of(users: int) -> Any:
    return id_hashes(pl.Series([str(user) for user in range(users)]))


def uniform(counts: Any) -> bool:
    return float(stats.chisquare(counts).pvalue) > LENIENT


@pytest.mark.parametrize("n", [2, 7, 100])
def test_every_candidate_is_as_likely_at_every_place(n: int) -> None:
    k = min(n, 3)
    lists = drawn(n, k, users=20_000)
    for place in range(k):
        assert uniform(np.bincount(lists[:, place], minlength=n))


def test_every_ordered_pair_is_as_likely() -> None:
    lists = drawn(7, 2, users=42_000)
    counts = np.bincount(lists[:, 0] * 7 + lists[:, 1], minlength=49).reshape(7, 7)
    assert not counts.diagonal().any()
    assert uniform(counts[~np.eye(7, dtype=bool)])


def test_every_order_of_all_is_as_likely() -> None:
    lists = drawn(4, 4, users=24_000)
    _, counts = np.unique(lists @ [64, 16, 4, 1], return_counts=True)
    assert len(counts) == 24
    assert uniform(counts)


def test_the_repeats_of_one_user_are_uniform_too() -> None:
    pairs = [drawn(5, 2, repeat=repeat)[0] for repeat in range(4_000)]
    _, counts = np.unique(np.array(pairs) @ [5, 1], return_counts=True)
    assert len(counts) == 20
    assert uniform(counts)


def test_what_is_left_is_as_likely_where_some_is_excluded() -> None:
    users = 20_000
    held = np.zeros((users, 6), bool)
    held[:, [0, 3]] = True
    lists = drawn(6, 2, users, exclude=csr_array(held))
    counts = np.bincount(lists[:, 0] * 6 + lists[:, 1], minlength=36).reshape(6, 6)
    free = np.array([1, 2, 4, 5])
    assert counts[np.ix_(free, free)].sum() == users
    assert uniform(counts[np.ix_(free, free)][~np.eye(4, dtype=bool)])


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 2**63 - 1), st.data())
def test_lists_are_distinct_free_candidates(n: int, k: int, seed: int, data: Any) -> None:
    exclude = [data.draw(st.sets(st.integers(0, n - 1))) for _ in range(3)]
    held = np.zeros((3, n), bool)
    for row, items in enumerate(exclude):
        held[row, list(items)] = True
    for given_exclude, taken in ((None, [set()] * 3), (csr_array(held), exclude)):
        lists = drawn(n, k, 3, seed=seed, exclude=given_exclude)
        assert lists.dtype == np.int32
        assert lists.shape == (3, k)
        for row, items in zip(lists.tolist(), taken, strict=True):
            size = min(k, n - len(items))
            assert len(set(row[:size])) == size
            assert set(row[:size]) <= set(range(n)) - items
            assert row[size:] == [-1] * (k - size)


def test_a_list_depends_on_seed_repeat_and_user_id_alone() -> None:
    ids = ["ann", "bob", "cid", "dee"]
    model, k = fitted(1000), 8

    def lists(names: list[str], users: list[int], seed: int = 1, repeat: int = 0) -> Any:
        draws = Draws(seed, repeat, id_hashes(pl.Series(names)))
        return model.recommend(np.array(users, np.int32), k, draws).tolist()

    base = lists(ids, [0, 1, 2, 3])
    assert lists(ids, [3, 1]) == [base[3], base[1]]
    assert [lists(ids, [user])[0] for user in range(4)] == base
    assert lists(["bob", "zoe", "ann"], [2, 0]) == base[:2]
    others = [*lists(ids, [0, 1, 2, 3], seed=2), *lists(ids, [0, 1, 2, 3], repeat=1)]
    assert len({tuple(row) for row in [*base, *others]}) == 12


def test_a_longer_list_begins_with_the_shorter_one() -> None:
    assert drawn(50, 12, users=5)[:, :4].tolist() == drawn(50, 4, users=5).tolist()


def test_who_has_nothing_excluded_keeps_the_list() -> None:
    held = np.zeros((3, 9), bool)
    held[1] = True
    found = drawn(9, 4, 3, exclude=csr_array(held))
    assert found[[0, 2]].tolist() == drawn(9, 4, 3)[[0, 2]].tolist()
    assert found[1].tolist() == [-1] * 4


@pytest.fixture(scope="module")
def many_repeats() -> Any:
    """Return the lists of three users in 3,000 repeats, of 20 candidates, repeat after repeat."""
    return np.concatenate([drawn(20, 4, users=3, repeat=repeat) for repeat in range(3_000)])


@pytest.mark.parametrize("name", ["MAP@4", "Recall@4", "NDCG@4", "MRR@4"])
def test_the_mean_over_repeats_is_the_exact_chance(many_repeats: Any, name: str) -> None:
    """The users have 1, 3 and 6 true items among the candidates, the last one more outside."""
    repeats = len(many_repeats) // 3
    sizes, relevant = np.array([1, 3, 6]), np.array([1, 3, 7])
    indptr = np.concatenate(([0], np.cumsum(np.tile(sizes, repeats))))
    truth = np.tile(np.concatenate([np.arange(size, dtype=np.int32) for size in sizes]), repeats)
    metric = parse(name)
    key = Judgments(Ragged(indptr, truth), np.tile(relevant, repeats))
    values = per_user(metric, Block(many_repeats, key, 4)).reshape(repeats, 3)
    chance = exact(metric, 20, sizes, relevant)
    assert chance is not None
    assert np.all(np.abs(values.mean(axis=0) - chance.mean) < 4 * np.sqrt(chance.var / repeats))
    assert np.allclose(values.var(axis=0), chance.var, rtol=0.15)
