"""Tables of a run folder that unpack to more than they may."""

from pathlib import Path

import polars as pl
from conftest import refusal

from harness.core.errors import DataError
from harness.core.unpacking import Cap
from harness.experiment.run_tables import rows_of


def test_many_values_and_long_ids_are_refused(tmp_path: Path) -> None:
    """Of 68 million equal values a file holds one; an id counts in every row."""
    path, cure = tmp_path / "per_user.parquet", "harness run writes the folder again"
    pl.select(pl.repeat(0.0, 68_000_000).alias("MAP@12")).write_parquet(path)
    with refusal(DataError, f"{path}: unpacks to more than 1,073,741,824 bytes; {cure}, from its"):
        rows_of(path)
    pl.DataFrame({"user": ["u" * 100_000] * 11}).write_parquet(path)
    with refusal(DataError, f"{path}: unpacks to more than 1,000,000 bytes; {cure}"):
        rows_of(path, cap=Cap(1_000_000, 1_000_000, ""))
