"""Draws against SplitMix64 and BLAKE2b written out in plain Python."""

import hashlib

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from harness.core.random import Draws, id_hashes, mixed

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def splitmix(state: int) -> int:
    """Return the output of SplitMix64 (Steele, Lea and Flood 2014) in this state."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def blake(user: str) -> int:
    return int.from_bytes(hashlib.blake2b(user.encode(), digest_size=8).digest(), "little")


def key(seed: int, repeat: int, user: str) -> int:
    inner = splitmix(blake(user) ^ splitmix((seed + GAMMA) & MASK))
    return splitmix((inner + (repeat + 1) * GAMMA) & MASK)


def draws(seed: int = 42, repeat: int = 0, ids: tuple[str, ...] = ("ann", "bob", "çid")) -> Draws:
    return Draws(seed, repeat, id_hashes(pl.Series(ids, dtype=pl.String)))


def everyone(drawn: Draws) -> list[int]:
    return [int(k) for k in drawn.keys(np.arange(len(drawn.hashes), dtype=np.int32))]


def test_the_published_stream_of_splitmix() -> None:
    """State 1234567 gives these first (Rosetta Code, Vigna's splitmix64.c)."""
    states = np.array([1234567 + GAMMA, 1234567 + 2 * GAMMA & MASK], np.uint64)
    assert mixed(states).tolist() == [6457827717110365317, 3203168211198807973]


def test_two_keys_are_these_for_ever() -> None:
    """Change them and every published figure of a random model changes."""
    ann, other = 13606727816536088816, 16845608594926333119
    assert everyone(draws(42, 0, ("ann",))) == [key(42, 0, "ann")] == [ann]
    assert everyone(draws(7, 3, ("00a1",))) == [key(7, 3, "00a1")] == [other]


@given(st.integers(0, 2**63 - 1), st.integers(0, 10**6), st.lists(st.text("aé0 "), max_size=4))
def test_keys_are_what_is_written(seed: int, repeat: int, users: list[str]) -> None:
    keys = everyone(draws(seed, repeat, tuple(users)))
    assert keys == [key(seed, repeat, user) for user in users]


def test_keys_depend_on_seed_repeat_and_user_and_nothing_else() -> None:
    base = everyone(draws())
    assert len({*base, *everyone(draws(seed=43)), *everyone(draws(repeat=1))}) == 9
    assert everyone(draws(ids=("çid", "zoe", "ann")))[::2] == [base[2], base[0]]
    assert draws().keys(np.array([2, 0], np.int32)).tolist() == [base[2], base[0]]


def test_hashes_of_ids() -> None:
    one, other = id_hashes(pl.Series(["007", "7"])).tolist()
    assert one != other
    assert id_hashes(pl.Series([], dtype=pl.String)).shape == (0,)


def numbers(generator: np.random.Generator) -> list[int]:
    return generator.integers(0, 2**62, 3).tolist()


def test_a_generator_starts_anew_at_every_call_and_follows_the_id_not_the_position() -> None:
    for user in (None, 0, 2):
        assert numbers(draws().generator(user)) == numbers(draws().generator(user))
    assert numbers(draws().generator(1)) == numbers(draws(ids=("zoe", "yan", "bob")).generator(2))


def test_generators_differ() -> None:
    seeds = [
        numbers(drawn.generator(user))[0]
        for drawn in (draws(), draws(seed=43), draws(repeat=1))
        for user in (None, 0, 1, 2)
    ]
    assert len(set(seeds)) == 12
