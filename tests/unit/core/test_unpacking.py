"""No packed file swells beyond its cap: whatever it says of itself, and wherever it is read."""

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import small

from harness.core import unpacking
from harness.core.errors import DataError
from harness.core.io import unpacked
from harness.core.unpacking import SENT, Cap, UnpackingError
from harness.data.loading import load
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


@pytest.mark.parametrize(
    ("packed", "free", "most", "allowed"),
    [
        (1, 1000, 5000, 1000),  # what is free for everyone
        (10, 1000, 5000, 2000),  # 200 times the file
        (100, 1000, 5000, 5000),  # and no more than the most
    ],
)
def test_the_rule_of_a_cap(packed: int, free: int, most: int, allowed: int) -> None:
    assert Cap(free, most, "").of(packed) == allowed


@pytest.mark.parametrize("pack", [gzip.compress, zipped])
def test_what_fits_is_read_whole(pack: Callable[[bytes], bytes]) -> None:
    assert content(pack(bytes(5 * MB)), Cap(5 * MB, 5 * MB, "")) == bytes(5 * MB)


@pytest.mark.parametrize("pack", [gzip.compress, zipped])
def test_a_byte_too_many_is_refused(pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(UnpackingError, match="5,242,880 bytes") as error:
        content(pack(bytes(5 * MB + 1)), Cap(5 * MB, 5 * MB, ""))
    assert error.value.fault == "large"


def test_packed_bytes_yet_to_come_allow_nothing() -> None:
    """A bomb is followed by what does not pack: 200 times the whole file would be enough."""
    noise = gzip.compress(bytes((i * i >> 7) & 255 for i in range(MB)))
    with pytest.raises(UnpackingError, match="1,048,576 bytes"):
        content(gzip.compress(bytes(5 * MB)) + noise, Cap(MB, 1 << 40, ""))


def test_parts_without_content_are_counted() -> None:
    """Each costs time: 20,000 empty ones are refused, 20,000 of 1 kB are not."""
    text = b"user,items\n"
    with pytest.raises(UnpackingError, match="too many parts"):
        content(gzip.compress(b"", 1) * 20_000 + gzip.compress(text), Cap(1 << 30, 1 << 30, ""))
    line = gzip.compress(b"x" * 1_024, 1)
    assert len(content(line * 20_000, Cap(1 << 30, 1 << 30, ""))) == 20_480_000


def test_a_zip_is_refused_by_what_it_says_of_itself() -> None:
    """Nothing is unpacked: the member's own bytes are no deflated text."""
    packed = bytearray(zipped(bytes(5 * MB)))
    packed[40:60] = bytes(20)
    with pytest.raises(UnpackingError) as error:
        content(bytes(packed), Cap(MB, MB, ""))
    assert error.value.fault == "large"


def test_a_zip_that_says_less_than_it_holds_gives_no_more() -> None:
    packed = zipped(bytes(5 * MB)).replace((5 * MB).to_bytes(4, "little"), b"\0\0\1\0")
    with pytest.raises(UnpackingError) as error:
        content(packed, Cap(MB, MB, ""))
    assert error.value.fault == "damaged"  # its checksum


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_swell_without_bounds_are_refused(method: int) -> None:
    with pytest.raises(UnpackingError, match="a zip archive packed by bzip2 or LZMA") as error:
        content(zipped(b"user,items\n", method), Cap(MB, MB, ""))
    assert error.value.fault == "kind"


def test_an_endless_list_of_members_is_not_read() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for i in range(12_000):
            archive.writestr(f"{i:060}", "")
    with pytest.raises(UnpackingError, match="list of members is too long"):
        content(held.getvalue(), Cap(MB, MB, ""))


@pytest.mark.parametrize(("name", "pack"), [("log.csv.gz", gzip.compress), ("log.zip", zipped)])
def test_a_table_that_swells_is_refused(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    (tmp_path / name).write_bytes(pack(bytes(16 * MB + 1)))
    with pytest.raises(DataError) as error, unpacked(tmp_path / name, SENT):
        pass
    assert str(error.value) == (
        f"{tmp_path}/{name}: unpacks to more than 16,777,216 bytes; unpack it yourself, and give "
        "it as plain CSV"
    )


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
    with pytest.raises(DataError) as error:
        load(small.config_of(tmp_path, data={"max_unpacked_gb": 0.001}).layout())
    assert str(error.value).endswith(
        "log.csv.gz: unpacks to more than 1,000,000 bytes; set max_unpacked_gb under [data] to "
        "what it unpacks to, in GB, if that is right (--set data.max_unpacked_gb=…)"
    )
    config = small.config_of(tmp_path, data={"max_unpacked_gb": 0.003})
    assert len(load(config.layout()).events.user) == 150_000
    assert small.config_of(tmp_path).data.cap.free == 1 << 30
