"""No packed file swells beyond its cap: whatever it says of itself, and wherever it is read."""

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused

from harness.config import sections
from harness.core import unpacking
from harness.core.errors import DataError
from harness.core.io import unpacked
from harness.core.unpacking import OWN, Cap, UnpackingError
from harness.submission.expected import Against
from harness.submission.validate import validate

MB = 1 << 20
FREE = "16,777,216 bytes"
BOMB = gzip.compress(b"user,items\n" + b"u1,i1 i2\n" * (8 * MB))


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
    (tmp_path / name).write_bytes(pack(bytes(65 * MB)))
    with pytest.raises(DataError) as error, unpacked(tmp_path / name):
        pass
    assert str(error.value) == (
        f"{tmp_path}/{name}: unpacks to more than {FREE}; unpack it yourself, and give it as "
        "plain CSV"
    )


def test_swelling_lines_are_never_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The beginning is unpacked for nothing first: to tell blank lines takes far longer."""
    (tmp_path / "lists.csv.gz").write_bytes(gzip.compress(b"\n" * (65 * MB)))
    monkeypatch.setattr("harness.submission.header.read", lambda stream: pytest.fail("was read"))
    told = validate(tmp_path / "lists.csv.gz", Against()).problems
    assert [(p.code, p.message) for p in told] == [
        ("SUB014", f"the file unpacks to more than {FREE}")
    ]


@pytest.mark.parametrize(
    "command",
    [
        "score two.csv --solution bomb.csv.gz",
        "validate two.csv --items bomb.csv.gz",
        "validate bomb.csv.gz",
        "validate bomb.csv.gz --fix out.csv",
        "score bomb.csv.gz --solution sol.csv",
    ],
)
def test_every_command_refuses_a_bomb(command: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "two.csv").write_text("user,items\nu1,i1 i2\nu2,i2\n")
    (tmp_path / "sol.csv").write_text("user,items\nu1,i1\nu2,i2\n")
    (tmp_path / "bomb.csv.gz").write_bytes(BOMB)
    status, out, err = cli(*command.split())
    assert status in (1, 2)
    assert f"unpacks to more than {FREE}" in out + err
    assert not (tmp_path / "out.csv").exists()


def test_a_config_lifts_the_cap_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.setattr(sections, "OWN", replace(OWN, free=MB))
    rows = "user,item,time\n" + "ann,a,2020-01-01\n" * 150_000 + "ann,a,2020-01-09\n"
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(rows.encode()))
    (tmp_path / "shop.toml").write_text(small.toml())
    status, _, err = cli("run", "shop.toml")
    assert status == 2
    assert err.strip().endswith(
        "log.csv.gz: unpacks to more than 1,048,576 bytes; set max_unpacked_gb under [data] to "
        "what it unpacks to, in GB, if that is right (--set data.max_unpacked_gb=…)"
    )
    by = ["run", "shop.toml", "--set", "data.max_unpacked_gb=0.003"]
    assert cli(*by)[0] == 0


@pytest.mark.parametrize("wrong", ["0", "-1", "inf", "nan", '"much"'])
def test_a_cap_is_a_number_of_gb(tmp_path: Path, cli: Cli, wrong: str) -> None:
    (tmp_path / "shop.toml").write_text(small.toml())
    told = "[data] max_unpacked_gb"
    is_refused(cli("run", "shop.toml", "--set", f"data.max_unpacked_gb={wrong}"), told)
