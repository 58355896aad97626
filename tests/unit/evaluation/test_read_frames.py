"""Events in frames: of whatever library, their rows are those of a file, or a refusal says how."""

import io
from collections.abc import Callable
from datetime import date, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import refusal
from small import LOG

from harness.core.errors import DataError, HarnessError
from harness.data.dataset import DAY_US
from harness.evaluation.inputs import config_of, refuse_with_frames
from harness.protocol.task import Task, make_task

DAY = {"strategy": "time", "valid_days": 1}
ROWS = [tuple(line.split(",")) for line in LOG.splitlines()[1:]]

TEXT = pl.read_csv(io.StringIO(LOG))
DATES = TEXT.with_columns(pl.col("time").str.to_date())
PANDAS = TEXT.to_pandas()


def of_duckdb(frame: pl.DataFrame) -> Any:
    return pytest.importorskip("duckdb").connect().from_arrow(frame.to_arrow())


def read(events: Any, **sections: Any) -> Task:
    keywords = {"events": events, "split": DAY, "evaluation": {"k": 2}} | sections
    config, _ = config_of(None, keywords, {"popular": "baselines.popular:Popular"})
    return make_task(config)


def rows(events: Any, **sections: Any) -> list[tuple[str, str, str]]:
    data = read(events, **sections).data
    users, items = data.user_ids.to_list(), data.item_ids.to_list()
    days = np.datetime64("1970-01-01") + data.events.time // DAY_US
    events = zip(data.events.user, data.events.item, days, strict=True)
    return [(users[user], items[item], str(day)) for user, item, day in events]


FORMS: dict[str, Callable[[], Any]] = {
    "polars, times as text": lambda: TEXT,
    "polars, times": lambda: TEXT.with_columns(pl.col("time").str.to_datetime()),
    "polars, categories": lambda: TEXT.with_columns(pl.col("user", "item").cast(pl.Categorical)),
    "polars, lazy dates": DATES.lazy,
    "pandas, datetime64": lambda: PANDAS.astype({"time": "datetime64[ns]"}),
    "pandas, objects": lambda: DATES.to_pandas().astype(object),
    "pandas, categories": lambda: PANDAS.astype({"user": "category", "item": "category"}),
    "pandas, another index": lambda: PANDAS.set_axis(range(8, 0, -1)),
    "arrow": DATES.to_arrow,
    "duckdb": lambda: of_duckdb(DATES),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_frame_has_the_rows_of_a_file(form: str) -> None:
    assert sorted(rows(FORMS[form]())) == sorted(ROWS)


def test_a_frame_is_not_changed_and_its_order_does_not_matter() -> None:
    before = PANDAS.copy(deep=True)
    assert rows(PANDAS) == rows(PANDAS.sample(frac=1, random_state=3))
    pd.testing.assert_frame_equal(PANDAS, before)


def test_times_of_day_among_objects_are_kept() -> None:
    times = [datetime(2020, 1, 1, hour) for hour in (0, 6, 12)]
    log = pd.DataFrame({"user": ["a"] * 3, "item": ["x", "y", "x"], "time": times}).astype(object)
    data = read(log, split={"strategy": "last_n", "n": 1}).data
    hours = (data.events.time % DAY_US) // (DAY_US // 24)
    assert hours.tolist() == [0, 6, 12]


def test_days_may_be_numbers_of_digits() -> None:
    """20200108 is the day of the file's 2020-01-08."""
    numbers = changed(time=pl.col("time").str.replace_all("-", "").cast(pl.Int64))
    assert sorted(rows(numbers, data={"time_format": "%Y%m%d"})) == sorted(ROWS)


def changed(**columns: Any) -> pl.DataFrame:
    return TEXT.with_columns(**columns)


def objects(column: str, values: list[Any]) -> pd.DataFrame:
    return PANDAS.assign(**{column: pd.Series(values, dtype=object)})


ROW_3 = "row 3 (the first is 0)"
TIMES = [pd.Timestamp("2020-01-01")] * 7
ZONED = pd.Timestamp("2020-01-01", tz="UTC")
REFUSED: list[tuple[Any, ...]] = [
    (TEXT.rename({"user": "who"}), 'no column "user"; allowed: who, item,', 'data={"user": "…"}'),
    (PANDAS.set_index("user"), 'its index has "user", ', "give frame.reset_index()"),
    (PANDAS.set_index("time"), 'its index has "time": give frame.reset_index()'),
    (objects("user", ["ann", 1, *"bcdefg"]), 'column "user"', "row 1 (the first is 0)", "1 (int)"),
    (changed(item=pl.Series([1.5] * 8)), 'column "item" holds', "cannot tell ids apart"),
    (changed(user=pl.when(pl.col("item") != "c").then("user")), ROW_3, '"user"'),
    (DATES.with_columns(time=pl.when(pl.col("item") != "c").then("time")), ROW_3, '"time"'),
    (changed(time=pl.Series(["2020-01-01"] * 3 + ["soon"] * 5)), ROW_3, '"soon"'),
    (objects("time", [datetime(2020, 1, 1, 5), *[date(2020, 1, 1)] * 7]), "row 1 (the first is 0)"),
    (objects("time", [ZONED, *TIMES]), "row 1 (the first is 0)", '"time"', "all written alike"),
    (changed(time=pl.lit(7)), "holds numbers", "time_format"),
    (TEXT.head(0), "the events frame: the table has no rows"),
    (PANDAS.set_axis([0, 1, 2], axis=1), "found [0, 1, 2]", "frame.columns = ['0', '1', '2']"),
    (TEXT.lazy().select("user", "itm"), "frame: the lazy frame cannot be computed", '"itm"'),
    (TEXT.lazy().cast({"item": pl.Int64}), "cannot be computed", "'item'"),
    (objects("user", [UUID(int=n) for n in range(8)]), "UUID values", 'frame["user"].astype(str)'),
    (PANDAS.assign(user=1j), 'the events frame: column "user" holds complex values'),
    (TEXT.to_dict(), "events: found dict; give a pandas, Polars or Arrow frame"),
    (TEXT["user"], 'the events frame: no column "item"; allowed: user'),
    ("nowhere.csv", "nowhere.csv: no such file"),
]


@pytest.mark.parametrize(("events", "words"), [(events, words) for events, *words in REFUSED])
def test_a_frame_that_cannot_be_used_is_refused(events: Any, words: list[str]) -> None:
    with refusal(HarnessError, words):
        read(events)


def test_a_relation_that_cannot_be_worked_out_is_refused() -> None:
    relation = of_duckdb(TEXT).project("CAST(user AS INTEGER) AS user, item, time")
    with refusal(DataError, "the events frame: the rows cannot be computed: ", "ann"):
        read(relation)


@pytest.mark.parametrize("key", ["separator", "header", "encoding", "rows", "max_unpacked_gb"])
def test_what_says_how_a_file_is_written_is_refused_with_a_frame(key: str) -> None:
    with refusal(HarnessError, f"[data] {key} is for files"):
        read(TEXT, data={key: "any"})


@pytest.mark.parametrize(("memory", "jobs", "name"), [("4GB", 1, "memory"), (None, 2, "jobs")])
def test_what_needs_files_is_refused_with_the_step_that_helps(
    memory: str | None, jobs: int, name: str
) -> None:
    with refusal(HarnessError, f"{name} needs events in a file", 'events="events.parquet"'):
        refuse_with_frames(read(TEXT).config, memory, jobs)
