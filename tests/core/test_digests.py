"""Digests against the published ones and Python's own BLAKE2b, and the bytes that lists become."""

import hashlib
import os
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import _blake2b
from harness.core.arrays import Bytes, Ragged
from harness.core.digests import Lists, Texts, digests, list_digests, written

TEXT = st.text(st.characters(codec="utf-8"), max_size=9)
SIZES = st.sampled_from([0, 1, 7, 127, 128, 129, 256, 257, 1_000])


def column(ids: list[str]) -> pl.Series:
    return pl.Series(ids, dtype=pl.String)


def of_bytes(rows: list[bytes], size: int) -> list[bytes]:
    text, found = np.frombuffer(b"".join(rows), np.uint8), np.empty((len(rows), size), np.uint8)
    _blake2b.digests(text, np.cumsum([0, *map(len, rows)]), found)
    return [row.tobytes() for row in found]


def lists_of(texts: list[str], rows: list[list[int]]) -> Lists:
    """Return lists of texts by their places."""
    places = np.array([place for row in rows for place in row], np.int32)
    return Lists(Texts.of(column(texts)), Ragged(np.cumsum([0, *map(len, rows)]), places))


def test_the_published_digests() -> None:
    """Of "abc", RFC 7693, appendix A; of nothing, the designers' `blake2-kat.json`."""
    assert of_bytes([b"abc", b""], 64) == [
        bytes.fromhex(
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
        ),
        bytes.fromhex(
            "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
            "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce"
        ),
    ]


@given(st.lists(st.tuples(SIZES, st.integers(0, 255)), max_size=20), st.integers(1, 64))
def test_rows_of_any_length_have_the_digest_of_pythons(
    rows: list[tuple[int, int]], size: int
) -> None:
    texts = [bytes((first + n) % 256 for n in range(length)) for length, first in rows]
    assert of_bytes(texts, size) == [hashlib.blake2b(t, digest_size=size).digest() for t in texts]


@given(st.lists(TEXT, max_size=20), st.integers(1, 64))
def test_ids_have_the_digest_of_their_utf_8(ids: list[str], size: int) -> None:
    expected = [hashlib.blake2b(i.encode(), digest_size=size).digest() for i in ids]
    assert [row.tobytes() for row in digests(column(ids), size)] == expected


def test_a_view_of_a_column_and_a_column_in_pieces_have_the_same_digests() -> None:
    ids = column(["ann", "bob", "çid", "an id of more than twelve bytes"])
    whole = digests(ids, 8)
    assert (digests(ids[1:], 8) == whole[1:]).all()
    assert (digests(ids[:2].append(ids[2:]), 8) == whole).all()


@pytest.mark.parametrize("processors", [1, 3])
def test_neither_blocks_nor_threads_change_a_digest(
    monkeypatch: pytest.MonkeyPatch, processors: int
) -> None:
    """40,000 ids are three blocks."""
    ids = [str(n) for n in range(40_000)]
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    found = digests(column(ids), 8)
    assert found.tobytes() == b"".join(
        hashlib.blake2b(i.encode(), digest_size=8).digest() for i in ids
    )
    again = list_digests([Lists.of_one(column(ids))], 32)
    assert again[-1].tobytes() == plain_digest([["39999"]])


def number(value: int) -> bytes:
    return value.to_bytes(8, "little")


def plain_digest(lists: list[list[str]]) -> bytes:
    """Return the digest of a row, from the definition."""
    whole = b""
    for texts in lists:
        whole += number(len(texts))
        for text in texts:
            whole += number(len(text.encode())) + text.encode()
    return hashlib.blake2b(whole, digest_size=32).digest()


def test_a_row_is_lists_each_behind_its_number_of_texts() -> None:
    """The first row is [é] and [], the second [ab] and [b, é]; é has two bytes."""
    one = lists_of(["é", "ab"], [[0], [1]])
    two = lists_of(["b", "é"], [[], [0, 1]])
    text, starts = written([one, two])
    assert [text[a:b].tobytes() for a, b in pairwise(starts)] == [
        number(1) + number(2) + "é".encode() + number(0),
        number(1) + number(2) + b"ab" + number(2) + number(1) + b"b" + number(2) + "é".encode(),
    ]


ROWS = st.lists(st.tuples(st.lists(TEXT, max_size=3), st.lists(TEXT, max_size=3)), max_size=9)


@given(ROWS)
def test_rows_of_lists_have_the_digest_of_the_definition(
    rows: list[tuple[list[str], list[str]]],
) -> None:
    def nth(n: int) -> Lists:
        texts = column([text for row in rows for text in row[n]])
        return Lists.apart(texts, np.cumsum([0, *(len(row[n]) for row in rows)]))

    found: Bytes = list_digests([nth(0), nth(1)], 32)
    assert [row.tobytes() for row in found] == [plain_digest([*row]) for row in rows]


def test_an_id_that_looks_like_two_is_one() -> None:
    """The text of the second holds what stands between the two of the first."""
    long = "a" + number(1).decode() + "b"
    found = list_digests([lists_of(["a", "b", long], [[0, 1], [2]])], 32)
    assert found[0].tobytes() != found[1].tobytes()
    assert found[1].tobytes() == plain_digest([[long]])
