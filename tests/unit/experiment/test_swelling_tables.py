"""Tables of a run folder that unpack to more than they may."""

from pathlib import Path

import polars as pl
import pytest

from harness.core.errors import DataError
from harness.core.unpacking import Cap
from harness.experiment.run_tables import rows_of

CURE = "harness run writes the folder again, from its config.toml"


def test_so_many_values_are_refused(tmp_path: Path) -> None:
    """Of 68 million equal values the file holds one."""
    path = tmp_path / "per_user.parquet"
    pl.select(pl.repeat(0.0, 68_000_000).alias("MAP@12")).write_parquet(path)
    with pytest.raises(DataError) as error:
        rows_of(path)
    assert str(error.value) == f"{path}: unpacks to more than 1,073,741,824 bytes; {CURE}"


def test_a_long_id_counts_in_every_row(tmp_path: Path) -> None:
    path = tmp_path / "per_user.parquet"
    pl.DataFrame({"user": ["u" * 100_000] * 11}).write_parquet(path)
    with pytest.raises(DataError) as error:
        rows_of(path, cap=Cap(1_000_000, 1_000_000, ""))
    assert str(error.value) == f"{path}: unpacks to more than 1,000,000 bytes; {CURE}"
