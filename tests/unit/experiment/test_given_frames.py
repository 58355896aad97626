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
from harness.experiment.arguments import config_of, refuse_with_frames
from harness.protocol.task import Task, make_task
from harness.protocol.users import of_events, with_attributes

DAY = {"strategy": "time", "valid_days": 1}
ROWS = [tuple(line.split(",")) for line in LOG.splitlines()[1:]]


def text() -> pl.DataFrame:
    return pl.read_csv(io.StringIO(LOG))


def with_days(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("time").str.to_date())


def of_duckdb(frame: pl.DataFrame) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(frame.to_arrow())


def of_objects(frame: pl.DataFrame) -> pd.DataFrame:
    return with_days(frame).to_pandas().astype(object)


def read(events: Any, **sections: Any) -> Task:
    keywords = {"events": events, "split": DAY, "evaluation": {"k": 2}} | sections
    config, _ = config_of(None, keywords, {"popular": "baselines.popular:Popular"})
    return make_task(config)


def rows(events: Any, **sections: Any) -> list[tuple[str, str, str]]:
    """Return the rows that were read, as texts."""
    data = read(events, **sections).data
    users, items = data.user_ids.to_list(), data.item_ids.to_list()
    columns = data.events.user.tolist(), data.events.item.tolist(), data.events.time.tolist()
    days = np.datetime64("1970-01-01")
    return [(users[u], items[i], str(days + t // DAY_US)) for u, i, t in zip(*columns, strict=True)]


FORMS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars, times as text": lambda frame: frame,
    "polars, dates": with_days,
    "polars, times": lambda frame: frame.with_columns(pl.col("time").str.to_datetime()),
    "polars, categories": lambda f: f.with_columns(pl.col("user", "item").cast(pl.Categorical)),
    "polars, lazy": lambda frame: with_days(frame).lazy(),
    "pandas, times as text": lambda frame: frame.to_pandas(),
    "pandas, datetime64": lambda frame: frame.to_pandas().astype({"time": "datetime64[ns]"}),
    "pandas, objects": of_objects,
    "pandas, categories": lambda f: f.to_pandas().astype({"user": "category", "item": "category"}),
    "pandas, another index": lambda f: f.to_pandas().set_axis(range(8, 0, -1)),
    "arrow": lambda frame: with_days(frame).to_arrow(),
    "duckdb": lambda frame: of_duckdb(with_days(frame)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_frame_has_the_rows_of_a_file(form: str) -> None:
    events = FORMS[form](text())
    assert sorted(rows(events)) == sorted(ROWS)


def test_a_frame_is_not_changed_and_its_order_does_not_matter() -> None:
    events = text().to_pandas()
    before = events.copy(deep=True)
    assert rows(events) == rows(events.sample(frac=1, random_state=3))
    pd.testing.assert_frame_equal(events, before)


def test_times_of_day_among_objects_are_kept() -> None:
    times = [datetime(2020, 1, 1), datetime(2020, 1, 1, 6), datetime(2020, 1, 1, 12)]
    log = pd.DataFrame({"user": ["a"] * 3, "item": ["x", "y", "x"], "time": times}).astype(object)
    data = read(log, split={"strategy": "last_n", "n": 1}).data
    hours = (data.events.time % DAY_US) // (DAY_US // 24)
    assert hours.tolist() == [0, 6, 12]


def test_days_may_be_numbers_of_digits() -> None:
    """20200108 is the day of the file's 2020-01-08."""
    numbers = changed(time=pl.col("time").str.replace_all("-", "").cast(pl.Int64))
    assert sorted(rows(numbers, data={"time_format": "%Y%m%d"})) == sorted(ROWS)
    wrong = numbers.with_columns(time=pl.col("time") + 1200)
    with refusal(DataError, "row 0 (the first", 'column "time": found "20201301", expected a ti'):
        rows(wrong, data={"time_format": "%Y%m%d"})


IDS = pl.DataFrame(
    {"user": [1, 1, 2, 1], "item": [7, 10, 7, 10], "time": ["2020-01-01"] * 3 + ["2020-01-08"]}
)


@pytest.mark.parametrize(
    ("role", "ids", "words"),
    [
        ("user", [1.0, 2.0], ["holds floats", '.astype({"user": "Int64"})']),
        ("item", [7.0, 10.0], ["holds floats", '.astype({"item": "Int64"})']),
        (
            "item",
            ["7.0", "10.0"],
            [
                "describes none of the items that have events",
                'events have "10", "7", the table has "10.0", "7.0"',
            ],
        ),
    ],
)
def test_a_table_of_other_ids_is_refused(role: str, ids: list[Any], words: list[str]) -> None:
    table = pd.DataFrame({role: ids, "town": ["x", "y"]})
    with refusal(HarnessError, f'the {role}s frame: column "{role}" ', *words):
        task = read(IDS, **{f"{role}s": table})
        with_attributes(of_events(task), task, ["town"])


def changed(**columns: Any) -> pl.DataFrame:
    return text().with_columns(**columns)


def objects(column: str, values: list[Any]) -> pd.DataFrame:
    return text().to_pandas().assign(**{column: pd.Series(values, dtype=object)})


TIMES = [pd.Timestamp("2020-01-01")] * 5 + [pd.Timestamp("2020-01-08")] * 3
DATES = [date(2020, 1, 1)] * 5 + [date(2020, 1, 8)] * 3
REFUSED: dict[str, tuple[Any, list[str]]] = {
    "no column": (
        text().rename({"user": "customer"}),
        ['the events frame: no column "user"; it has: customer, item, time', 'data={"user": "…"}'],
    ),
    "a near name": (text().rename({"user": "users"}), ['did you mean "users"?']),
    "in the index": (
        text().to_pandas().set_index("user"),
        ['no column "user"', 'its index has "user": give frame.reset_index()'],
    ),
    "two types of ids": (
        objects("user", ["ann", 1, *"bcdefg"]),
        ['the events frame: column "user"', "row 1 (the first is 0)", "1 (int)"],
    ),
    "a float id": (
        changed(item=pl.Series([1.5] * 8)),
        ['the events frame: column "item" holds', "cannot keep ids apart"],
    ),
    "an id is missing": (
        changed(user=pl.when(pl.col("item") != "c").then("user")),
        ["the events frame", "row 3 (the first is 0)", '"user"'],
    ),
    "a time is missing": (
        with_days(text()).with_columns(time=pl.when(pl.col("item") != "c").then("time")),
        ["the events frame", "row 3 (the first is 0)", '"time"'],
    ),
    "no time": (
        changed(time=pl.col("time").str.replace("2020-01-04", "soon")),
        ["the events frame", "row 4 (the first is 0)", '"soon"'],
    ),
    "times of several kinds": (
        objects("time", [datetime(2020, 1, 1, 5), *DATES[1:]]),
        ["the events frame", "row 1 (the first is 0)"],
    ),
    "times with a zone and without": (
        objects("time", [pd.Timestamp("2020-01-01", tz="UTC"), *TIMES[1:]]),
        ['the events frame: column "time", row 1 (the first is 0)', "a time without a zone"],
    ),
    "numbers as times": (changed(time=pl.lit(7)), ["holds numbers", "time_format"]),
    "empty": (text().head(0), ["the events frame: the table has no rows"]),
    "names that are numbers": (
        text().to_pandas().set_axis([0, 1, 2], axis=1),
        ["names of columns are text; found [0, 1, 2]", "frame.columns = ['0', '1', '2']"],
    ),
    "a lazy frame that cannot be worked out": (
        text().lazy().select("user", "itm"),
        ["the events frame: the lazy frame cannot be worked out", '"itm"'],
    ),
    "a lazy frame of other values": (
        text().lazy().with_columns(pl.col("item").cast(pl.Int64)),
        ["the events frame: the lazy frame cannot be worked out", "'item'"],
    ),
    "ids that are objects": (
        objects("user", [UUID(int=n) for n in range(8)]),
        ['the events frame: column "user" holds UUID values', 'frame["user"].astype(str)'],
    ),
    "complex numbers": (
        text().to_pandas().assign(user=1j),
        ['the events frame: column "user" holds complex values'],
    ),
    "spans of time": (
        text().to_pandas().assign(time=pd.to_timedelta(range(8), unit="D")),
        ['the events frame: column "time" holds Timedelta values'],
    ),
    "periods": (
        text().to_pandas().assign(time=pd.period_range("2020-01-01", periods=8)),
        ['the events frame: column "time" holds Period values', 'frame["time"].astype(str)'],
    ),
    "a class": (pd.DataFrame, ["events: found type", "a pandas, Polars or Arrow frame"]),
    "a dict": (
        text().to_dict(as_series=False),
        ["events: found dict", "events=pandas.DataFrame(events)"],
    ),
    "an array": (np.zeros((3, 3)), ["events: found ndarray"]),
    "a series": (text()["user"], ['the events frame: no column "item"; it has: user']),
    "no file": ("nowhere.csv", ["nowhere.csv: no such file"]),
}


@pytest.mark.parametrize("about", REFUSED)
def test_a_frame_that_cannot_be_used_is_refused(about: str) -> None:
    events, words = REFUSED[about]
    with refusal(HarnessError, *words):
        read(events)


def test_a_relation_that_cannot_be_worked_out_is_refused() -> None:
    relation = of_duckdb(text()).project("CAST(user AS INTEGER) AS user, item, time")
    with refusal(DataError, "the events frame: the rows cannot be worked out: ", "ann"):
        read(relation)


@pytest.mark.parametrize("key", ["separator", "header", "encoding", "rows", "max_unpacked_gb"])
def test_what_says_how_a_file_is_written_is_refused_with_a_frame(key: str) -> None:
    values = {"separator": ";", "header": False, "encoding": "latin-1", "rows": "items"}
    with refusal(HarnessError, f"[data] {key} says how a file is written"):
        read(text(), data={key: values.get(key, 5)})


@pytest.mark.parametrize(("memory", "jobs", "name"), [("4GB", 1, "memory"), (None, 2, "jobs")])
def test_what_needs_files_is_refused_with_the_step_that_helps(
    memory: str | None, jobs: int, name: str
) -> None:
    config = read(text()).config
    with refusal(HarnessError, f"{name}: ", 'events="events.parquet"'):
        refuse_with_frames(config, memory, jobs)
