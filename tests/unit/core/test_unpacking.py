"""No packed file swells beyond its cap: whatever it says of itself, and wherever it is read."""

import gzip
import io
import random
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import small
from conftest import refusal

from harness.core import unpacking
from harness.core.errors import DataError
from harness.core.unpacking import Cap, Refused
from harness.data.loading import load
from harness.results.tables import rows_of
from harness.submission.expected import Against
from harness.submission.validate import validate

MB = 1 << 20


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        archive.writestr("lists.csv", content)
    return held.getvalue()


def content(packed: bytes, cap: Cap) -> bytes:
    with tempfile.TemporaryFile(buffering=0) as raw:
        raw.write(packed)
        raw.seek(0)
        with unpacking.content(raw, unpacking.kind(packed), len(packed), cap) as stream:
            return stream.read()


def refused(packed: bytes, cap: Cap) -> tuple[str, str]:
    with pytest.raises(Refused) as error:
        content(packed, cap)
    return error.value.fault, error.value.value


ONE, LARGE = Cap(MB, MB, ""), Cap(1 << 30, 1 << 30, "")
FIVE = bytes(5 * MB)


def test_the_rule_of_a_cap() -> None:
    """So much is free for everyone, or 200 times the file, and no more than the most."""
    assert [Cap(1_000, 5_000, "").of(packed) for packed in (1, 10, 100)] == [1_000, 2_000, 5_000]


@pytest.mark.parametrize("pack", [gzip.compress, zipped])
def test_what_fits_is_read_whole_and_a_byte_too_many_is_refused(
    pack: Callable[[bytes], bytes],
) -> None:
    cap = Cap(5 * MB, 5 * MB, "")
    assert content(pack(FIVE), cap) == FIVE
    assert refused(pack(FIVE + b"x"), cap) == ("large", "5,242,880 bytes")


def test_packed_bytes_yet_to_come_allow_nothing() -> None:
    """A bomb is followed by what does not pack: 200 times the whole file would be enough."""
    noise = gzip.compress(random.Random(1).randbytes(MB // 16))  # noqa: S311
    assert 200 * len(noise) > 5 * MB
    packed = gzip.compress(FIVE) + noise
    assert refused(packed, Cap(MB, 1 << 40, "")) == ("large", "1,048,576 bytes")


def test_parts_without_content_are_counted() -> None:
    """Each takes its time: 20,000 empty ones are refused, 20,000 of 1 kB are not."""
    empty = gzip.compress(b"", 1) * 20_000 + gzip.compress(b"user,items\n")
    assert refused(empty, LARGE) == ("damaged", "it is cut into too many parts")
    assert len(content(gzip.compress(b"x" * 1_024, 1) * 20_000, LARGE)) == 20_480_000


def test_a_zip_is_refused_by_what_it_says_of_itself() -> None:
    """Nothing is unpacked: the member's own bytes are no deflated text."""
    packed = bytearray(zipped(FIVE))
    packed[40:60] = bytes(20)
    assert refused(bytes(packed), ONE)[0] == "large"
    says_less = zipped(FIVE).replace(len(FIVE).to_bytes(4, "little"), b"\0\0\1\0")
    assert refused(says_less, ONE)[0] == "damaged"  # its checksum
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):  # which swell without bounds
        packed_so = zipped(b"user,items\n", method)
        assert refused(packed_so, ONE) == ("kind", "a zip archive packed by bzip2 or LZMA")


def test_an_endless_list_of_members_is_not_read() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for i in range(12_000):
            archive.writestr(f"{i:060}", "")
    assert refused(held.getvalue(), ONE) == ("damaged", "its list of members is too long")


def test_swelling_lines_are_never_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The beginning is unpacked for nothing first: to tell blank lines takes far longer."""
    (tmp_path / "lists.csv.gz").write_bytes(gzip.compress(b"\n" * (17 * MB)))
    monkeypatch.setattr("harness.submission.header.read", lambda stream: pytest.fail("was read"))
    (problem,) = validate(tmp_path / "lists.csv.gz", Against()).problems
    assert problem.code == "SUB014"
    assert problem.message == "the file unpacks to more than 16,777,216 bytes"


def test_a_config_sets_the_cap_of_its_tables(tmp_path: Path) -> None:
    rows = "user,item,time\n" + "ann,a,2020-01-01\n" * 150_000
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(rows.encode()))
    low, high = (small.config_of(tmp_path, data={"max_unpacked_gb": n}) for n in (0.001, 0.003))
    message = (
        "log.csv.gz: unpacks to more than 1,000,000 bytes; set max_unpacked_gb under [data] to "
        "what it unpacks to, in GB, if that is right (--set data.max_unpacked_gb=…)"
    )
    with refusal(DataError, message):
        load(low.layout())
    assert len(load(high.layout()).events.user) == 150_000
    assert small.config_of(tmp_path).data.cap.free == 1 << 30


@pytest.mark.parametrize(
    "frame",
    [
        pl.select(pl.repeat(0.0, 120_000).alias("MAP@12")),  # a file holds one of equal values
        pl.DataFrame({"user": ["u" * 100_000] * 11}),
    ],
)
def test_many_values_and_long_ids_of_a_run_are_refused(frame: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "per_user.parquet"
    frame.write_parquet(path)
    says = f"{path}: unpacks to more than 1,000,000 bytes; harness run writes the folder again"
    with refusal(DataError, says):
        rows_of(path, cap=Cap(1_000_000, 1_000_000, ""))
