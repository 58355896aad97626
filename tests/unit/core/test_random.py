"""Draws against SplitMix64 and BLAKE2b written out in plain Python."""

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import small
from hypothesis import given
from hypothesis import strategies as st

from harness.core.random import Draws, id_hashes, mixed
from harness.protocol.task import make_task

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def splitmix(state: int) -> int:
    """Return the output of SplitMix64 (Steele, Lea and Flood 2014) in this state."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def blake(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def key(seed: int, repeat: int, user: str) -> int:
    inner = splitmix(blake(user) ^ splitmix((seed + GAMMA) & MASK))
    return splitmix((inner + (repeat + 1) * GAMMA) & MASK)


def draws(seed: int = 42, repeat: int = 0, ids: tuple[str, ...] = ("ann", "bob", "çid")) -> Draws:
    return Draws(seed, repeat, id_hashes(pl.Series(ids, dtype=pl.String)))


def keys(drawn: Draws) -> list[int]:
    return [int(k) for k in drawn.keys(np.arange(len(drawn.hashes), dtype=np.int32))]


def test_the_published_stream_of_splitmix() -> None:
    """State 1234567 gives these first (Rosetta Code, Vigna's splitmix64.c)."""
    states = np.array([1234567 + GAMMA, 1234567 + 2 * GAMMA & MASK], np.uint64)
    assert mixed(states).tolist() == [6457827717110365317, 3203168211198807973]


@given(st.integers(0, 2**63 - 1), st.integers(0, 10**6), st.lists(st.text("aé0 "), max_size=4))
def test_keys_are_what_is_written(seed: int, repeat: int, users: list[str]) -> None:
    assert keys(draws(seed, repeat, tuple(users))) == [key(seed, repeat, user) for user in users]


def test_equal_times_are_drawn_as_docs_config_says(tmp_path: Path) -> None:
    rows = [f"u{n},{item},2020-01-01\n" for n in range(20) for item in "abcd"]
    split = {"strategy": "last_n", "n": 1, "seed": 3}
    task = make_task(small.config(tmp_path, log="".join(["user,item,time\n", *rows]), split=split))
    users, items = task.data.user_ids.to_list(), task.data.item_ids.to_list()
    valid = task.split.valid
    inner = {user: splitmix(blake(user) ^ splitmix(3)) for user in users}
    assert {users[u]: items[i] for u, i in zip(valid.user, valid.item, strict=True)} == {
        user: max("abcd", key=lambda item: splitmix(inner[user] ^ blake(item))) for user in users
    }


def numbers(generator: np.random.Generator) -> list[int]:
    return generator.integers(0, 2**62, 3).tolist()


def test_a_generator_starts_anew_at_every_call_and_follows_the_id_not_the_position() -> None:
    for user in (None, 0, 2):
        assert numbers(draws().generator(user)) == numbers(draws().generator(user))
    assert numbers(draws().generator(1)) == numbers(draws(ids=("zoe", "yan", "bob")).generator(2))
    streams = [
        numbers(drawn.generator(user))[0]
        for drawn in (draws(), draws(seed=43), draws(repeat=1))
        for user in (None, 0, 1, 2)
    ]
    assert len(set(streams)) == 12
