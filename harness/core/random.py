"""Randomness as data: a draw is a pure function of seed, repeat and user id, of nothing else."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Int32, UInt64

_IDS = 1 << 16
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def id_hashes(ids: pl.Series) -> UInt64:
    """Return a 64-bit BLAKE2b hash of every id: the same on every machine and in every release."""
    hashes = np.empty(len(ids), "<u8")
    for start in range(0, len(ids), _IDS):  # Python's objects of some ids at a time
        block = ids[start : start + _IDS].cast(pl.Binary).to_list()
        digests = [blake2b(text, digest_size=8).digest() for text in block]
        hashes[start : start + _IDS] = np.frombuffer(b"".join(digests), "<u8")
    return hashes.astype(np.uint64)


LEAVES = 4096
"""Groups of users that a hash of their ids decides; see `leaf_of`."""


def leaf_of(hashes: UInt64) -> npt.NDArray[np.uint16]:
    """Return the leaf of each of some `id_hashes`, from 0: their first twelve bits."""
    return (hashes >> np.uint64(52)).astype(np.uint16)


def mixed(values: UInt64) -> UInt64:
    """Return SplitMix64's output function of every value (Steele, Lea and Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return a NumPy generator for one purpose: other purposes draw other numbers."""
    return np.random.default_rng(_words(seed, purpose))


def streams(seed: int, purpose: str, count: int) -> UInt64:
    """Return where each of `count` streams of SplitMix64 starts, whatever their number is."""
    start = _words(seed, purpose).generate_state(1, np.uint64)[0]
    return mixed(start ^ mixed(np.arange(1, count + 1, dtype=np.uint64)))


def _words(seed: int, purpose: str) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed, int.from_bytes(purpose.encode(), "little")])


def of_repeat(seed: int, repeat: int) -> int:
    """Return the seed that a repeat takes in place of `seed`: itself at 0, then 31 bits of a hash.

    No library takes fewer bits.
    """
    if repeat == 0:
        return seed
    digest = blake2b(f"{seed} {repeat}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little") >> 1


def of_fold(seed: int, back: int) -> int:
    """Return the seed that a fold draws by, `back` windows before the last: that one by itself."""
    if back == 0:
        return seed
    digest = blake2b(f"{seed} fold {back}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


class Draws:
    """The random numbers of one repeat."""

    def __init__(self, seed: int, repeat: int, hashes: UInt64 | Callable[[], UInt64]) -> None:
        self._seed, self._repeat, self._hashes = seed, repeat, hashes
        self.used = False  # a model that takes no random number has equal repeats

    @property
    def seed(self) -> int:
        """The seed of the run."""
        self.used = True
        return self._seed

    @property
    def repeat(self) -> int:
        """The number of the repeat, from 0."""
        self.used = True
        return self._repeat

    @property
    def hashes(self) -> UInt64:
        """The `id_hashes` of all users, by user position; their numbers start from these."""
        self.used = True
        if callable(self._hashes):
            self._hashes = self._hashes()
        return self._hashes

    def keys(self, users: Int32) -> UInt64:
        """Return a 64-bit key for each user position, to seed that user's own stream with."""
        seed, repeat = (np.array([v], np.uint64) for v in (self.seed, self.repeat + 1))
        return mixed(mixed(self.hashes[users] ^ mixed(seed + _GOLDEN)) + repeat * _GOLDEN)

    def generator(self, user: int | None = None) -> np.random.Generator:
        """Return a NumPy generator for one user position, or one for what all users share.

        Each call starts it anew. Numbers that differ from user to user must come from a user's own
        generator, or from `keys`: the shared one would repeat itself in every batch of users.
        """
        key = self.repeat if user is None else int(self.keys(np.array([user], np.int32))[0])
        words = [self.seed, self.repeat, key, user is None]
        return np.random.default_rng(np.random.SeedSequence([int(w) for w in words]))
