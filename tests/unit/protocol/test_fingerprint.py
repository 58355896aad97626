"""Fingerprints against their definition written out with hashlib, whole and merged from parts."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from hashlib import blake2b, sha256
from typing import NamedTuple

import numpy as np
import polars as pl
from conftest import ragged, refusal
from hypothesis import given
from hypothesis import strategies as st

from harness.core.arrays import Ragged
from harness.core.exact_sum import add
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.fingerprint import leaf_sums, leaves_of_sums


class User(NamedTuple):
    """One user by ids: true candidates, other true items, and what was seen where that counts."""

    id: str
    true: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    seen: tuple[str, ...] | None = None


def set_of(users: list[User], candidates: list[str]) -> EvaluationSet:
    def column(ids: list[str]) -> pl.Series:
        return pl.Series(ids, dtype=pl.String)

    def places(rows: list[tuple[str, ...]]) -> Ragged:
        return ragged([candidates.index(i) for i in row] for row in rows)

    seen = [u.seen for u in users if u.seen is not None]
    return EvaluationSet(
        users=np.arange(len(users), dtype=np.int32),
        user_ids=column([u.id for u in users]),
        candidates=np.arange(len(candidates), dtype=np.int32),
        candidate_ids=column(candidates),
        truth=places([u.true for u in users]),
        relevant=np.array([len(u.true) + len(u.outside) for u in users], np.int64),
        outside_ids=column([i for u in users for i in u.outside]),
        seen=places(seen) if seen else None,
        k=3,
        funnel=(),
    )


def number(value: int) -> bytes:
    return value.to_bytes(8, "little")


def texts(ids: tuple[str, ...]) -> bytes:
    return number(len(ids)) + b"".join(number(len(i.encode())) + i.encode() for i in ids)


def leaf_of(user: str) -> int:
    """Return the upper 12 of 64 bits, the lowest byte first."""
    return int.from_bytes(blake2b(user.encode(), digest_size=8).digest(), "little") >> 52


NOBODY = sha256().digest()
"""Of a leaf without users."""


def of_leaves(users: list[User], lists: Callable[[User], list[tuple[str, ...]]]) -> str:
    leaves = defaultdict(list)
    for user in users:
        content = b"".join(map(texts, lists(user)))
        leaves[leaf_of(user.id)].append(blake2b(content, digest_size=32).digest())
    digests = {
        leaf: sha256(b"".join(sorted(of_users))).digest() for leaf, of_users in leaves.items()
    }
    return sha256(b"".join(digests.get(leaf, NOBODY) for leaf in range(4_096))).hexdigest()


def plain(users: list[User], candidates: list[str]) -> dict[str, str]:
    """Return the digests of the fields from their definition."""
    dropped = [u for u in users if u.seen is not None]
    return {
        "k": sha256(b"3").hexdigest(),
        "users": of_leaves(users, lambda u: [(u.id,)]),
        "candidates": sha256(texts(tuple(candidates))).hexdigest(),
        "truth": of_leaves(users, lambda u: [(u.id,), u.true, u.outside]),
        "seen": of_leaves(dropped, lambda u: [(u.id,), u.seen or ()]),
    }


SHOP = [User("ann", ("a", "c"), ("x",)), User("bob", ("b",)), User("çid", (), ("x", "y"))]


def test_a_set_has_the_fingerprint_of_the_definition() -> None:
    whole = sha256()
    for name, digest in plain(SHOP, ["a", "b", "c"]).items():
        whole.update(number(len(name) + 1 + 64) + f"{name}={digest}".encode())
    assert set_of(SHOP, ["a", "b", "c"]).fingerprint == whole.hexdigest()


def test_many_users_have_it_too() -> None:
    """About two to a leaf."""
    users = [User(str(n), ("a",) if n % 3 else (), ("x", "y")[: n % 3]) for n in range(8_000)]
    assert set_of(users, ["a"]).fields == plain(users, ["a"])


IDS = st.text(st.characters(codec="utf-8"), max_size=3)
ITEMS = sorted(["a", "b\x01", "\x01\0\0\0\0\0\0\0a", "日本", "\x02\0\0\0\0\0\0\0", ""])


@st.composite
def many(draw: st.DrawFn) -> list[User]:
    dropped = draw(st.booleans())
    some = st.lists(st.sampled_from(ITEMS), unique=True).map(lambda ids: tuple(sorted(ids)))
    outside = st.lists(IDS.map("x{}".format), unique=True, max_size=3)
    return [
        User(i, draw(some), tuple(sorted(draw(outside))), draw(some) if dropped else None)
        for i in draw(st.lists(IDS, unique=True, max_size=12))
    ]


@given(many(), st.sampled_from([2, 7]))
def test_neither_order_nor_parts_of_whole_leaves_change_it(users: list[User], parts: int) -> None:
    whole = set_of(users, ITEMS)
    assert whole.fields == plain(users, ITEMS)
    assert set_of(users[::-1], ITEMS).fields == whole.fields
    groups = [[u for u in users if leaf_of(u.id) % parts == part] for part in range(parts)]
    groups = [part for part in groups if part] + [[]]
    together = leaves_of_sums(
        reduce(add, (leaf_sums(set_of(part, ITEMS).leaves) for part in groups))
    )
    for name in ("users", "truth", "seen"):
        assert (together[name] == whole.leaves[name]).all(), name
    unseen = replace(whole, seen=None, of_parts=together)
    assert unseen.fingerprint == whole.fingerprint


def test_two_parts_with_users_of_one_leaf_are_refused() -> None:
    whole, bob = (leaf_sums(set_of(users, ["a", "b", "c"]).leaves) for users in (SHOP, SHOP[1:2]))
    with refusal(ValueError, "users: two parts", f"leaf {leaf_of('bob')}"):
        leaves_of_sums(add(whole, bob))
