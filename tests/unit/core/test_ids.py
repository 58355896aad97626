"""Codes of ids against a Python dict."""

from itertools import pairwise

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from harness.core.ids import Encoder, hashes_of


def codes(encoder: Encoder, ids: list[str]) -> list[int]:
    frame = pl.DataFrame({"id": pl.Series(ids, dtype=pl.String)})
    first, second = hashes_of(pl.col("id"))
    hashed = frame.with_columns(first.alias("1"), second.alias("2"))
    return encoder.codes(frame["id"], (hashed["1"], hashed["2"])).tolist()


def test_codes_stay_while_the_table_grows() -> None:
    """It starts with 4,096 slots, is filled to 7/10, and grows by four: at 2,867 and 11,468."""
    encoder = Encoder()
    ids = [f"user-{n}" for n in range(40_000)]
    for start, stop in pairwise((0, 1, 2_866, 2_867, 2_868, 11_468, 11_469, 40_000)):
        assert codes(encoder, ids[start:stop]) == list(range(start, stop))
        assert codes(encoder, ids[:stop:97]) == list(range(0, stop, 97))
    assert encoder.ids().to_list() == ids


def test_ids_whose_first_hashes_agree_are_told_apart_by_half_of_the_second() -> None:
    """A hash of zero is one too."""
    encoder = Encoder()
    ids = pl.Series(["a", "b", "a", "c", "d", "d"])
    first = pl.Series([5, 5, 5, 5 + 4096, 0, 0], dtype=pl.UInt64)
    second = pl.Series([1 << 32, 2 << 32, 1 << 32, 1 << 32, 0, 0], dtype=pl.UInt64)
    assert encoder.codes(ids, (first, second)).tolist() == [0, 1, 0, 2, 3, 3]


@given(st.lists(st.lists(st.text("ab0 é\u0301\U0001f600\0", max_size=3), max_size=20)))
def test_equals_a_dict(batches: list[list[str]]) -> None:
    encoder = Encoder()
    known: dict[str, int] = {}
    for batch in batches:
        assert codes(encoder, batch) == [known.setdefault(i, len(known)) for i in batch]
    assert encoder.ids().to_list() == list(known)


def test_ids_that_were_made_to_share_a_slot_do_not() -> None:
    """16 numbers whose hash with the seed 0 ends in the same 10 bits."""
    ids = pl.Series(range(1 << 16)).cast(pl.String)
    crafted = ids.filter(ids.hash(0) % 1024 == 7)[:16].to_frame("id")
    for hashed in hashes_of(pl.col("id")):
        assert crafted.select(hashed % 1024).n_unique() > 8
