"""Files that swell: each command and option refuses them."""

import gzip
from pathlib import Path

import polars as pl
import pytest
import small
from conftest import Cli

# 36 MB in few bytes.
BOMB = gzip.compress(b"user,items\n" + b"u1,i1 i2\n" * 4_000_000)


@pytest.mark.parametrize(
    "command",
    [
        "validate bomb.csv.gz --fix out.csv",
        "validate two.csv --sample bomb.parquet",
        "score two.csv --solution bomb.csv.gz",
        "score bomb.parquet --solution two.csv",
        "run shop.toml",
    ],
)
def test_every_command_refuses_a_bomb(command: str, here: Path, cli: Cli) -> None:
    data = {"events": "bomb.csv.gz", "max_unpacked_gb": 0.016777216}
    files = {"two.csv": "user,items\nu1,i1 i2\nu2,i2\n", "shop.toml": small.toml(data=data)}
    (small.write(here, files) / "bomb.csv.gz").write_bytes(BOMB)
    frame = pl.DataFrame({"user": [str(n) for n in range(17)], "items": ["a" * 1_000_000] * 17})
    frame.write_parquet(here / "bomb.parquet")
    status, out, err = cli(*command.split())
    assert status in (1, 2)
    assert "unpacks to more than 16,777,216 bytes" in out + err
    assert not (here / "out.csv").exists()
