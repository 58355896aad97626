"""Whatever a log lies in, it is the same: databases beside Parquet."""

import sqlite3
from contextlib import closing
from typing import Any

import duckdb
import polars as pl
import pytest
from event_files import FOLDER, log, rows
from hypothesis import given
from hypothesis import strategies as st

from harness.data import database_source

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
EVENT = st.tuples(
    st.text(LETTERS, min_size=1, max_size=4), st.integers(0, 2**63 - 1), st.integers(0, 9)
)


@FOLDER
@given(events=st.lists(EVENT, min_size=1), size=st.sampled_from([2, 1 << 17]))
def test_databases_have_the_log_of_parquet(
    tmp_path_factory: pytest.TempPathFactory, events: list[Any], size: int
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    schema = {"user": pl.String, "item": pl.Int64, "time": pl.Int64}
    pl.DataFrame(events, schema=schema, orient="row").write_parquet(folder / "log.parquet")
    connect: Any
    for connect, name in ((duckdb.connect, "x.duckdb"), (sqlite3.connect, "x.sqlite")):
        with closing(connect(folder / name)) as connection:
            connection.execute('CREATE TABLE log ("user" TEXT, item BIGINT, time BIGINT)')
            connection.executemany("INSERT INTO log VALUES (?, ?, ?)", events)
            connection.commit()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_source, "ROWS", size)
        parquet, *databases = (
            rows(log(folder, events=name, time_format="epoch_s"))
            for name in ("log.parquet", "x.duckdb::log", "x.sqlite::log")
        )
    assert len(parquet) == len(events)
    assert databases == [parquet, parquet]
