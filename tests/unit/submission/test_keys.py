"""Nobody can write ids that are taken for each other, or that slow a table of ids down."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from harness.delimited.blocks import keys, padded
from harness.submission.expected import ids
from harness.submission.keys import Known, learnt, packed

PUBLISHED = {
    0: "dcc40f055801acab",
    7: "4011b19b987d92d3",
    8: "8e9a298d11959036",
    15: "5699512a6dd820d3",
    63: "a8b3bbb76290199d",
}
"""SipHash-1-3 of 0, 1, 2 … with the secret 0, 1 … 15, as Rust's own tests have it: by length."""
OF_PYTHON = {64: 0x8637DD0B658C8F09, 255: 0x65EAC35282C4A6E4, 300: 0xFE5B04BC93548C74}
"""`hash(bytes(n * 37 % 256 for n in range(length))) % 2**64` of Python, with PYTHONHASHSEED=0."""
SECRETS = np.arange(16, dtype=np.uint8).view(np.uint64), np.zeros(2, np.uint64)
TEXTS = [
    *((bytes(range(length)), SECRETS[0], bytes.fromhex(key)) for length, key in PUBLISHED.items()),
    *((bytes(n * 37 % 256 for n in range(length)), SECRETS[1], key.to_bytes(8, "little"))
      for length, key in OF_PYTHON.items()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret", "key"), TEXTS)
def test_a_key_is_siphash_1_3(text: bytes, secret: np.ndarray, key: bytes) -> None:
    buffer = padded(b"abc" + text + bytes(range(1, 9)))
    ((first, _),) = keys(buffer, np.array([3]), np.array([3 + len(text)]), secret)
    assert int(first).to_bytes(8, "little") == key


def test_what_is_compared_beside_it_tells_ids_apart_too() -> None:
    """Of 10,000 ids two share 32 bits with a chance of 1 %, three pairs with one of 10⁻⁶."""
    buffer = padded(b"".join(b"%08d" % n for n in range(10_000)))
    starts = np.arange(0, 80_000, 8)
    pairs = keys(buffer, starts, starts + 8, SECRETS[0]).tolist()
    assert len({second >> 32 for _, second in pairs}) > 9_997
    assert len({(first ^ second) >> 32 for first, second in pairs}) > 9_997


def crafted() -> list[str]:
    """Return 32 ids that an earlier version, without a secret, gave one of 4,096 slots."""
    texts = np.char.zfill(np.arange(1 << 18).astype(str), 8)
    eight = texts.astype("S8").view(np.uint64)
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
    made = crafted()
    assert len(set(made)) == 32
    assert longest_run(learnt(pl.Series(made))) < 12


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
    assert ids(users, kept_from=14).secret.tolist() != first.secret.tolist()  # it has 13 bytes
    (entry,) = (tmp_path / "cache").iterdir()
    assert {file.stat().st_mode & 0o777 for file in entry.iterdir()} == {0o600}
    users.write_text("user\nann\nbob\ncem\n")
    assert ids(users, kept_from=13).has(pl.Series(["cem"])).tolist() == [True]


def test_texts_and_a_column_are_packed_alike() -> None:
    texts = ["ann", "é", "", "bob"]
    for buffer, starts, stops in (packed(texts), packed(pl.Series(texts))):
        assert buffer[: stops[-1]].tobytes() == "annébob".encode()
        assert (starts.tolist(), stops.tolist()) == ([0, 3, 5, 5], [3, 5, 5, 8])
