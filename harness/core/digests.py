"""BLAKE2b digests (RFC 7693) of ids and of lists of ids, a block of rows at a time by threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import polars as pl

from harness.core import _blake2b
from harness.core.arrays import Bytes, Int64, Ragged

_BLOCK_ROWS = 1 << 14
_NONE = np.zeros(1, np.int64)


class Texts(NamedTuple):
    """Texts in UTF-8, one after the other: the i-th is bytes[starts[i]:starts[i + 1]]."""

    bytes: Bytes
    starts: Int64

    @classmethod
    def of(cls, ids: pl.Series) -> Texts:
        """Return ids of a column, none of them missing."""
        joined = np.frombuffer(ids.str.join("").cast(pl.Binary)[0], np.uint8)
        return cls(joined, _ends(ids.str.len_bytes().to_numpy()))


class Lists(NamedTuple):
    """Lists of texts: row i of `rows` holds the places of the i-th list's among `texts`."""

    texts: Texts
    rows: Ragged

    @classmethod
    def of_one(cls, ids: pl.Series) -> Lists:
        """Return a list of each id alone."""
        return cls.apart(ids, np.arange(len(ids) + 1))

    @classmethod
    def apart(cls, ids: pl.Series, ends: Int64) -> Lists:
        """Return lists of ids that stand one after the other, the i-th ends[i]:ends[i + 1]."""
        return cls(Texts.of(ids), Ragged(ends, np.arange(len(ids), dtype=np.int32)))


def digests(ids: pl.Series, size: int) -> Bytes:
    """Return the digest of every id, (n, size): `size` bytes of 1 to 64.

    Examples
    --------
    >>> digests(pl.Series(["abc"]), 64)[0, :4].tobytes().hex()  # RFC 7693, appendix A
    'ba80a53f'
    """
    found = np.empty((len(ids), size), np.uint8)

    def work(rows: slice) -> None:
        _blake2b.digests(*Texts.of(ids[rows]), found[rows])

    _by_blocks(work, len(ids))
    return found


def list_digests(fields: Sequence[Lists], size: int) -> Bytes:
    """Return the digest of every row, (n, size): what its lists are, one after the other.

    A list is the number of its texts, and then each text's length and its UTF-8 bytes; numbers have
    8 bytes, the lowest first. So rows with other lists are other bytes.

    Parameters
    ----------
    fields : sequence of Lists
        Each has n rows.
    """
    n = len(fields[0].rows)
    found = np.empty((n, size), np.uint8)

    def work(rows: slice) -> None:
        parts = [Lists(texts, own.rows(rows.start, rows.stop)) for texts, own in fields]
        _blake2b.digests(*written(parts), found[rows])

    _by_blocks(work, n)
    return found


def written(fields: Sequence[Lists]) -> Texts:
    """Return the bytes of every row, as `list_digests` defines them."""
    sizes = np.zeros(len(fields[0].rows), np.int64)
    for texts, rows in fields:
        _blake2b.lengths(texts.starts, rows.indices, rows.indptr, sizes)
    starts = _ends(sizes)
    room, free = np.empty(starts[-1], np.uint8), starts[:-1].copy()
    for texts, rows in fields:
        _blake2b.write(*texts, rows.indices, rows.indptr, free, room)
    return Texts(room, starts)


def _ends(sizes: Int64) -> Int64:
    return np.concatenate((_NONE, np.cumsum(sizes, dtype=np.int64)))


def _by_blocks(work: Callable[[slice], None], n: int) -> None:
    blocks = [slice(at, min(at + _BLOCK_ROWS, n)) for at in range(0, n, _BLOCK_ROWS)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, blocks))
