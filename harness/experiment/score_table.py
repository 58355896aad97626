"""The users' scores of a run as tables: as per_user.parquet has them, and as readers do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from harness.metrics.scores import ScoreTable

if TYPE_CHECKING:
    import pandas as pd

_KEYS = ("model", "repeat", "user")


def scores_by_row(users: pl.Series, tables: Mapping[str, ScoreTable]) -> pl.DataFrame:
    """Return one row a user, model and repeat, with a column for each metric of users."""
    frames = [
        pl.DataFrame(
            {
                "user": users,
                "model": pl.Series([name], dtype=pl.String).new_from_index(0, len(users)),
                "repeat": pl.Series([repeat], dtype=pl.Int32).new_from_index(0, len(users)),
                **{
                    str(metric): values[repeat]
                    for metric, values in table.values.items()
                    if metric.definition.of == "user"
                },
            }
        )
        for name, table in tables.items()
        for repeat in range(table.repeats)
    ]
    return pl.concat(frames)


def frame_of(rows: pl.DataFrame) -> pd.DataFrame:
    """Return what `scores_by_row` made as `harness.evaluate` has it, users in the index.

    Above them in the index stand those of model and repeat that the rows have.
    """
    import pandas as pd

    keys = [key for key in _KEYS if key in rows.columns]
    levels = [rows[key].cast(pl.String if key != "repeat" else pl.Int64).to_list() for key in keys]
    index = pd.MultiIndex.from_arrays(levels, names=keys)
    metrics = {name: rows[name].to_numpy() for name in rows.columns if name not in keys}
    return pd.DataFrame(metrics, index=index if len(keys) > 1 else index.get_level_values(0))
