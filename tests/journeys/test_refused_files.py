"""Files that swell, and names that Spark alone reads: each command and option refuses them."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, is_refused


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """Return 36 MB in few bytes."""
    return gzip.compress(b"user,items\n" + b"u1,i1 i2\n" * 4_000_000)


@pytest.mark.parametrize(
    "command",
    [
        "validate bomb.csv.gz --fix out.csv",
        "validate two.csv --sample bomb.parquet",
        "score two.csv --solution bomb.csv.gz",
        "score bomb.parquet --solution two.csv",
    ],
)
def test_every_command_refuses_a_bomb(command: str, bomb: bytes, here: Path, cli: Cli) -> None:
    small.write(here, {"two.csv": "user,items\nu1,i1 i2\nu2,i2\n"})
    (here / "bomb.csv.gz").write_bytes(bomb)
    frame = pl.DataFrame({"user": [str(n) for n in range(17)], "items": ["a" * 1_000_000] * 17})
    frame.write_parquet(here / "bomb.parquet")
    status, out, err = cli(*command.split())
    assert status in (1, 2)
    assert "unpacks to more than 16,777,216 bytes" in out + err
    assert not (here / "out.csv").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"events": "bomb.csv.gz", "max_unpacked_gb": 0.001}, "more than 1,000,000 bytes; set max"),
        ({"path": "dbfs:/shop"}, "dbfs:/shop/log.csv: is read by Spark alone"),
    ],
)
def test_a_run_refuses_a_table(
    data: dict[str, Any], words: str, bomb: bytes, here: Path, cli: Cli
) -> None:
    small.write(here, {"log.csv": small.LOG, "shop.toml": small.toml(data=data)})
    (here / "bomb.csv.gz").write_bytes(bomb)
    is_refused(cli("run", "shop.toml"), words)
