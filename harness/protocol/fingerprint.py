"""The fingerprint of an evaluation set: a tree of digests, whose leaves parts of users make alone.

A user has a digest for each of four fields, BLAKE2b of 32 bytes over lists of ids
(`list_digests` says how lists are written):

- users: the user's id;
- truth: the user's id; the true candidates in id order; the other true items in id order. The
  lengths of both make R;
- seen: the user's id; the seen candidates in id order. Only where they are dropped;
- grades: the user's id; the grades of the true candidates in id order, and those of the other true
  items, each as the shortest text that Python reads back. Only where there are grades.

The upper 12 bits of the id's hash (`id_hashes`) say which of 4,096 leaves a user belongs to. A leaf
is SHA-256 of its users' digests in ascending order, one after the other, and a field that of its
leaves. So neither the order of users nor how they are divided by leaves changes anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Bool, Bytes, Floats, Int64, Ragged, UInt64
from harness.core.exact_sum import Sums
from harness.core.random import LEAVES, leaf_of

FORMAT = 2  # raised whenever equal evaluation sets get another fingerprint; runs record it
_SIZE = 32
_EMPTY = np.frombuffer(hashlib.sha256().digest(), np.uint8)
Leaves: TypeAlias = "Mapping[str, Bytes]"
"""Of the fields users, truth, seen and grades the leaves, (4096, 32); SHA-256 of nothing where
nobody is."""


def leaves_of(
    user_ids: pl.Series,
    user_hashes: UInt64,
    candidate_ids: pl.Series,
    truth: Ragged,
    relevant: Int64,
    outside_ids: pl.Series,
    seen: Ragged | None,
    grades: Floats | None,
    outside_grades: Floats | None,
) -> Leaves:
    """Return the leaves of some users; parameters are the attributes of `EvaluationSet`."""
    candidates, outside = _texts(candidate_ids), _texts(outside_ids)
    ends = np.append(0, np.cumsum(relevant - truth.sizes))
    outside_rows = Ragged(ends, np.arange(len(outside), dtype=np.int32))
    alone = _number(1)
    users = [alone + text for text in _texts(user_ids)]
    lists: dict[str, list[Iterable[bytes]]] = {
        "users": [users],
        "truth": [users, _lists(candidates, truth), _lists(outside, outside_rows)],
        "seen": [] if seen is None else [users, _lists(candidates, seen)],
        "grades": [],
    }
    if grades is not None and outside_grades is not None:
        lists["grades"] = [users, _graded(grades, truth.indptr), _graded(outside_grades, ends)]
    leaf = leaf_of(user_hashes)
    return {field: _leaves(of_users, leaf) for field, of_users in lists.items()}


def list_digests(lists: Sequence[Iterable[bytes]]) -> Bytes:
    """Return the BLAKE2b digest of every row, (n, 32): its lists, one after the other.

    A list is the number of its texts, and then each text's length and its UTF-8 bytes; numbers have
    8 bytes, the lowest first. So rows with different lists have different bytes.
    """
    rows = zip(*lists, strict=True)
    digest = partial(hashlib.blake2b, digest_size=_SIZE)
    digests = [digest(b"".join(row)).digest() for row in rows]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _SIZE)


def _lists(texts: Sequence[bytes], rows: Ragged) -> Iterator[bytes]:
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.append(0, np.cumsum(sizes[rows.indices]))[rows.indptr].tolist()
    joined = b"".join(map(texts.__getitem__, rows.indices.data))
    numbers = map(_number, rows.sizes.tolist())
    return (number + joined[s:e] for number, (s, e) in zip(numbers, pairwise(ends), strict=True))


def _texts(ids: Iterable[str]) -> list[bytes]:
    return [_number(len(text)) + text for text in map(str.encode, ids)]


@cache
def _number(value: int) -> bytes:
    return value.to_bytes(8, "little")


def _graded(grades: Floats, ends: Int64) -> Iterator[bytes]:
    values, codes = np.unique(grades, return_inverse=True)
    return _lists(_texts(map(repr, values.tolist())), Ragged(ends, codes.astype(np.int32)))


def leaf_sums(leaves: Leaves) -> Sums:
    """Return the leaves of some users as whole numbers, 0 where nobody is: those of parts add up.

    A field has (4096, 33): how many parts have users of the leaf, and its digest's 32 bytes.
    """
    sums = {}
    for field, digests in leaves.items():
        held = _held(digests)[:, None]
        sums[field] = np.hstack([held, digests * held]).astype(np.int64)
    return sums


def leaves_of_sums(sums: Mapping[str, Any]) -> Leaves:
    """Return the leaves of all users, by the `leaf_sums` of parts that each hold whole leaves.

    Raises ValueError where two parts have users of one leaf: users are divided by leaves.
    """
    whole = {}
    for field, total in sums.items():
        parts, digests = total[:, 0], total[:, 1:]
        if (parts > 1).any():
            raise ValueError(f"{field}: two parts have users of leaf {parts.argmax()}")
        whole[field] = np.where((parts == 1)[:, None], digests, _EMPTY).astype(np.uint8)
    return whole


def fields_of(leaves: Leaves, candidate_ids: pl.Series, k: int) -> dict[str, str]:
    """Return the digest of each field, SHA-256 in hexadecimal.

    That of the candidates is of one list of their ids in id order, that of k of its digits.
    """
    contents = {
        "k": str(k).encode(),
        "users": leaves["users"].tobytes(),
        "candidates": _number(len(candidate_ids)) + b"".join(_texts(candidate_ids)),
        "truth": leaves["truth"].tobytes(),
        "seen": leaves["seen"].tobytes(),
    }
    if _held(leaves["grades"]).any():
        contents["grades"] = leaves["grades"].tobytes()
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def fingerprint_of(digests: dict[str, str]) -> str:
    """Return the digest of all fields: of "name=digest", each behind its length (8 bytes)."""
    whole = hashlib.sha256()
    for name, value in digests.items():
        text = f"{name}={value}".encode()
        whole.update(_number(len(text)) + text)
    return whole.hexdigest()


def _leaves(lists: Sequence[Iterable[bytes]], leaf: npt.NDArray[np.uint16]) -> Bytes:
    leaves = np.tile(_EMPTY, (LEAVES, 1))
    if not lists:
        return leaves
    digests = list_digests(lists)
    ordered = digests[np.lexsort((digests.view("S32").ravel(), leaf))].tobytes()
    sizes = np.bincount(leaf, minlength=LEAVES) * _SIZE
    held = sizes > 0
    ends = np.append(0, np.cumsum(sizes[held])).tolist()
    hashes = [hashlib.sha256(ordered[start:stop]).digest() for start, stop in pairwise(ends)]
    leaves[held] = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, _SIZE)
    return leaves


def _held(leaves: Bytes) -> Bool:
    held: Bool = (leaves != _EMPTY).any(axis=1)
    return held
