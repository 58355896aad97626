"""Nobody can write ids that are taken for each other, or that slow a table of ids down."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from harness.delimited.blocks import padded
from harness.delimited.fields import keys
from harness.submission.expected import ids, of_tables
from harness.submission.keys import Known, learnt, packed
from harness.submission.validate import validate

Call = Callable[..., Path]

TWINS = "Vnfn$T{H~Q{?^/?m", "<qSWk2U2+nLp){e{"
"""Two ids that an earlier version, whose hash had no secret, gave one key of 128 bits."""
PUBLISHED = bytes(range(16))
"""The secret of the vectors that SipHash's authors publish."""


def sip(text: bytes, secret: bytes, rounds: int, last: int) -> int:
    """Return SipHash-`rounds`-`last` as its authors write it down."""
    key_0, key_1 = (int.from_bytes(half, "little") for half in (secret[:8], secret[8:]))
    text_0, text_1, text_2, text_3 = b"somepseu", b"dorandom", b"lygenera", b"tedbytes"
    initial = (int.from_bytes(part, "big") for part in (text_0, text_1, text_2, text_3))
    v = [one ^ other for one, other in zip((key_0, key_1, key_0, key_1), initial, strict=True)]
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        turn(v, rounds)
        v[0] ^= word
    v[2] ^= 0xFF
    turn(v, last)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def turn(v: list[int], rounds: int) -> None:
    def add(one: int, other: int) -> None:
        v[one] = (v[one] + v[other]) % 2**64

    def left(one: int, bits: int) -> None:
        v[one] = (v[one] << bits | v[one] >> (64 - bits)) % 2**64

    for _ in range(rounds):
        for one, other, bits, then in (
            (0, 1, 13, 32),
            (2, 3, 16, 0),
            (0, 3, 21, 0),
            (2, 1, 17, 32),
        ):
            add(one, other)
            left(other, bits)
            v[other] ^= v[one]
            left(one, then)


def test_the_reference_gives_the_published_value() -> None:
    """Of the appendix of the paper, SipHash-2-4 of 0, 1, …, 14."""
    assert sip(bytes(range(15)), PUBLISHED, 2, 4) == 0xA129CA6149BE45E5


@pytest.mark.parametrize(
    ("length", "expected"),
    [(1, 0x68A914128E01E473), (8, 0xEAD411E67EBE2EEA), (19, 0x91F4A3329F87D19)],
)
def test_the_reference_gives_what_python_itself_hashes_to(length: int, expected: int) -> None:
    """`hash(bytes(range(length)))`, SipHash-1-3, with PYTHONHASHSEED=0, whose secret is 0."""
    assert sip(bytes(range(length)), bytes(16), 1, 3) == expected


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 15, 16, 64, 255, 256, 300])
def test_a_key_is_siphash_1_3(length: int) -> None:
    text = bytes(n * 37 % 256 for n in range(length))
    buffer = padded(b"abc" + text + bytes(range(1, 9)))
    ((first, _more),) = keys(
        buffer, *map(np.array, ([3], [3 + length])), np.frombuffer(PUBLISHED, np.uint64)
    )
    assert int(first) == sip(text, PUBLISHED, 1, 3)


def test_what_is_compared_beside_it_tells_ids_apart_too() -> None:
    """Of 10,000 ids two share 32 bits with a chance of 1 %, three pairs with one of 10⁻⁶."""
    buffer = padded(b"".join(b"%08d" % n for n in range(10_000)))
    secret = np.frombuffer(PUBLISHED, np.uint64)
    starts = np.arange(0, 80_000, 8)
    found = keys(buffer, starts, starts + 8, secret).tolist()
    assert len({second >> 32 for _first, second in found}) > 9_997
    assert len({(first ^ second) >> 32 for first, second in found}) > 9_997


@pytest.mark.parametrize("twins", [TWINS, TWINS[::-1]])
def test_an_id_is_not_taken_for_another_that_was_made_like_it(
    tmp_path: Path, twins: tuple[str, str]
) -> None:
    known, other = twins
    (tmp_path / "sample.csv").write_text(f"user,item\n{known},a\n")
    (tmp_path / "items.csv").write_text(f"item\n{known}\n")
    against = of_tables(tmp_path / "sample.csv", tmp_path / "items.csv")
    (tmp_path / "mine.csv").write_text(f"user,item\n{other},{other}\n")
    found = {p.code: p.value for p in validate(tmp_path / "mine.csv", against).problems}
    assert found["SUB201"] == known
    assert found["SUB202"] == other
    assert found["SUB304"] == other


def crafted() -> list[str]:
    """Return 32 ids that an earlier version, without a secret, gave one of 4,096 slots."""
    numbers = np.arange(1 << 18)
    texts = np.char.zfill(numbers.astype(str), 8)
    eight = np.array([text.encode() for text in texts.tolist()], "S8").view(np.uint64)
    factor = np.uint64(0x9E3779B97F4A7C15)
    first = (np.uint64(8) ^ eight) * factor
    first = (first ^ first >> np.uint64(32)) * factor
    first ^= first >> np.uint64(32)
    return texts[(first & np.uint64(4095)) == 7].tolist()[:32]


def longest_run(known: Known) -> int:
    """Return how many slots without a free one between them a search may have to look at."""
    taken = "".join("x" if held else " " for held in known.table[:, 1].tolist())
    return max(map(len, taken.split()))


def test_ids_that_were_made_to_share_a_slot_do_not() -> None:
    """Of 32 among 4,096 slots, the chance of a run of 12 is below 10⁻¹⁵."""
    ids = crafted()
    assert len(set(ids)) == 32
    assert longest_run(learnt(pl.Series(ids))) < 12


def test_every_table_has_a_secret_of_its_own() -> None:
    one, other = (learnt(pl.Series(["ann", "bob"])) for _ in range(2))
    assert one.secret.tolist() != other.secret.tolist()
    assert one.table.tolist() != other.table.tolist()


def test_kept_ids_are_found_with_their_own_secret_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    users = tmp_path / "users.csv"
    users.write_text("user\nann\nbob\n")
    first, again = (ids(users, kept_from=13) for _ in range(2))
    assert again.secret.tolist() == first.secret.tolist()
    assert again.has(pl.Series(["bob", "cem", "ann"])).tolist() == [True, False, True]
    (entry,) = (tmp_path / "cache").iterdir()
    assert {file.stat().st_mode & 0o777 for file in entry.iterdir()} == {0o600}
    smaller = ids(users, kept_from=99)
    assert smaller.secret.tolist() != first.secret.tolist()
    users.write_text("user\nann\nbob\ncem\n")
    assert ids(users, kept_from=13).has(pl.Series(["cem"])).tolist() == [True]


@pytest.mark.parametrize("of", [list, pl.Series])
def test_texts_and_a_column_are_packed_alike(of: Callable[[list[str]], list[str]]) -> None:
    buffer, starts, stops = packed(of(["ann", "é", "", "bob"]))
    assert buffer[: stops[-1]].tobytes() == "annébob".encode()
    assert (starts.tolist(), stops.tolist()) == ([0, 3, 5, 5], [3, 5, 5, 8])
