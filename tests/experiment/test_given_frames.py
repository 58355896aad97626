"""`harness.run` on frames: the results of files of the same rows, whatever library holds them."""

import io
import re
import runpy
from collections.abc import Callable
from copy import deepcopy
from datetime import date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
import small
from small import CONFIGS, LOG, MODELS, timeless

import harness
from harness.core.errors import DataError, HarnessError
from harness.experiment.folds import FoldedResult
from harness.experiment.result import Result

DAY = {"strategy": "time", "valid_days": 1}
POPULAR = {"popular": "baselines.popular:Popular"}
K = {"k": 2}


def text() -> pl.DataFrame:
    return pl.read_csv(io.StringIO(LOG))


def with_days(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("time").str.to_date())


def of_duckdb(frame: pl.DataFrame) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(frame.to_arrow())


def of_objects(frame: pl.DataFrame) -> pd.DataFrame:
    return with_days(frame).to_pandas().astype(object)


def run(events: Any, **others: Any) -> Result:
    keywords: dict[str, Any] = {"split": DAY, "evaluation": K, "models": POPULAR} | others
    found = harness.run(events=events, **keywords)
    assert isinstance(found, Result)
    return found


def means(found: Result | FoldedResult, metric: str = "MAP@2") -> dict[str, float]:
    return {model.name: model.metrics[metric].mean for model in found.models}


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
def test_every_form_of_a_frame_has_the_figures_of_its_rows(form: str) -> None:
    """b, then a: ann had b, 1; bob had d, 0; cid had a, at the second place, 1/2."""
    found = run(FORMS[form](text()))
    assert means(found) == {"popular": (1 + 0 + 1 / 2) / 3}
    assert found.per_user("popular")["MAP@2"].to_dict() == {"ann": 1, "bob": 0, "cid": 0.5}


@pytest.mark.parametrize("as_frame", ["polars", "pandas"])
@pytest.mark.parametrize("about", CONFIGS)
def test_frames_have_the_results_of_files(tmp_path: Path, about: str, as_frame: str) -> None:
    """Of every kind of split, model and rule; the files' folder is not read by the frames' run."""
    config = small.many(tmp_path, **CONFIGS[about])
    own = deepcopy(CONFIGS[about])
    sections = small.values(*MODELS, *own.pop("more", []), **own)
    as_is: dict[str, Any] = {"infer_schema": False} if as_frame == "polars" else {}
    for section, key in (("data", "events"), ("data", "users"), ("split", "valid")):
        if key in sections[section]:
            frame = pl.read_csv(tmp_path / sections[section][key], **as_is)
            sections[section][key] = frame.to_pandas() if as_frame == "pandas" else frame
    found, of_files = harness.run(sections), harness.run(config)
    assert result(found) == result(of_files)
    assert found.list_rows().equals(of_files.list_rows())
    pd.testing.assert_frame_equal(found.per_user(), of_files.per_user())


def result(found: Result | FoldedResult) -> Any:
    """Return all figures; models and the config differ in what names their lists and files."""
    record = timeless(found.to_dict())
    return {key: own for key, own in record.items() if key not in ("config", "notes")}


SPACE = small.POPULAR | {"space": {"window_days": {"low": 1, "high": 5}}}


def sections(events: Any) -> dict[str, Any]:
    """Return what is tuned, on the day before the last, by events in whatever form."""
    own = {"data": {"events": events}, "split": DAY, "evaluation": {"k": 1}, "tune": {"trials": 3}}
    return own | {"models": [SPACE]}


def test_frames_are_tuned_as_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What wins is the windows in which b leads."""
    monkeypatch.chdir(tmp_path)
    small.write(tmp_path, {"log.csv": small.TO_TUNE})
    found = harness.tune(sections(pl.read_csv(io.StringIO(small.TO_TUNE))))
    assert timeless(found.to_dict()) == timeless(harness.tune(sections("log.csv")).to_dict())
    assert found.config.models[0].params["window_days"] <= 4
    assert means(harness.run(found.config), "MAP@1") == means(
        harness.run(harness.tune(sections("log.csv")).config), "MAP@1"
    )
    with pytest.raises(HarnessError, match="jobs: other processes cannot read a frame"):
        harness.tune(sections(text()), jobs=2)


def test_frames_are_split_as_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small.write(tmp_path, {"log.csv": LOG})
    of_frame, of_file = ({**sections(own), "tune": {}} for own in (text(), "log.csv"))
    harness.split(of_frame, "frame")
    harness.split(of_file, "file")
    names = sorted(path.name for path in Path("file").iterdir())
    assert sorted(path.name for path in Path("frame").iterdir()) == names
    for name in names:
        assert Path("frame", name).read_bytes() == Path("file", name).read_bytes()
    assert means(harness.run("frame/config.toml"), "MAP@1") == means(harness.run(of_frame), "MAP@1")


def test_the_frame_is_not_changed_and_its_order_does_not_matter() -> None:
    events = text().to_pandas()
    before = events.copy(deep=True)
    first = run(events)
    pd.testing.assert_frame_equal(events, before)
    shuffled = run(events.sample(frac=1, random_state=3))
    assert result(first) == result(shuffled)


@pytest.mark.parametrize("split", ["text", "frame", "frames of two folds"])
def test_what_is_held_out_may_be_frames(tmp_path: Path, split: str) -> None:
    """Held out: ann has b, the first; and in another fold cid has d, whom nobody is told."""
    train = text().filter(pl.col("time") < "2020-01-08")
    one = pl.DataFrame({"user": ["ann"], "item": ["b"], "time": ["2020-01-08"]})
    two = pl.DataFrame({"user": ["cid"], "item": ["d"], "time": ["2020-01-08"]})
    one.write_csv(tmp_path / "later.csv")
    given = {"text": str(tmp_path / "later.csv"), "frame": one, "frames of two folds": [one, two]}
    keywords: dict[str, Any] = {"evaluation": K, "models": POPULAR}
    found = harness.run(
        events=[train, train] if split == "frames of two folds" else train,
        split={"strategy": "given", "valid": given[split]},
        **keywords,
    )
    expected = [1.0, 0.0] if split == "frames of two folds" else [1.0]
    assert found.per_user("popular")["MAP@2"].to_list() == expected


def test_tables_of_users_and_items_may_be_frames() -> None:
    """Candidates are b and d, by the table of items: bob finds d at the second place."""
    found = run(
        text(),
        users=pl.DataFrame({"user": ["ann", "bob", "cid"], "town": ["x", "x", "y"]}),
        items=pd.DataFrame({"item": ["b", "d"]}),
        evaluation=K | {"candidates": "catalogue"},
        compare={"slices": ["town"]},
    )
    assert found.per_user("popular")["MAP@2"].to_dict() == {"ann": 1, "bob": 0.5}


IDS = pl.DataFrame(
    {"user": [1, 1, 2, 1], "item": [7, 10, 7, 10], "time": ["2020-01-01"] * 3 + ["2020-01-08"]}
)
STRANGERS: dict[str, tuple[str, Any, list[str]]] = {
    "users of floats": (
        "users",
        pd.DataFrame({"user": [1.0, 2.0], "town": ["x", "y"]}),
        ['the users frame: column "user" holds floats', '.astype({"user": "Int64"})'],
    ),
    "items of floats": (
        "items",
        pl.DataFrame({"item": [7.0, 10.0]}),
        ['the items frame: column "item" holds floats', '.astype({"item": "Int64"})'],
    ),
    "other items": (
        "items",
        pl.DataFrame({"item": ["7.0", "10.0"]}),
        [
            'the items frame: column "item" describes none of the items that have events',
            'events have "10", "7", the table has "10.0", "7.0"',
        ],
    ),
    "other users": (
        "users",
        pl.DataFrame({"user": ["1.0", "2.0"], "town": ["x", "y"]}),
        ['slices: no evaluated user has a "town"'],
    ),
}


@pytest.mark.parametrize("about", STRANGERS)
def test_a_table_of_other_ids_is_refused(about: str) -> None:
    role, table, named = STRANGERS[about]
    slices = {"compare": {"slices": ["town"]}} if role == "users" else {}
    with pytest.raises(HarnessError) as told:
        run(IDS, **{role: table}, **slices)
    for words in named:
        assert words in str(told.value)


def test_ids_that_are_numbers_are_their_texts() -> None:
    """As in a file: 7 and 10 in order of text are 10, 7, and the more popular comes first."""
    found = run(IDS).recommendations("popular")
    assert found.to_dict("list") == {"user": ["1", "1"], "rank": [1, 2], "item": ["7", "10"]}


def test_what_a_run_recommends_is_scored_as_it_stands() -> None:
    """Ann has b, first; a is cid's second: 1, 0 and 1/2."""
    truth = pl.DataFrame({"user": ["ann", "bob", "cid"], "item": ["b", "d", "a"]})
    scored = harness.score(run(text()).recommendations("popular"), solution=truth, metrics="MAP@2")
    assert scored.validation is not None
    assert [p.code for p in scored.validation.problems] == ["SUB401"]  # all lists are the same
    assert scored.metrics["MAP@2"].mean == (1 + 0 + 1 / 2) / 3


def test_nothing_of_frames_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two logs of one name, one after the other: the second has its own figures."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    assert means(run(text())) == {"popular": 0.5}
    only_ann = text().filter((pl.col("user") == "ann") | (pl.col("time") < "2020-01-08"))
    assert means(run(only_ann)) == {"popular": 1}
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_the_run_folder_is_whole_and_says_what_is_in_no_file(tmp_path: Path) -> None:
    found = run(text())
    found.write(tmp_path / "out")
    kept = (tmp_path / "out" / "config.toml").read_text(encoding="utf-8")
    assert 'events = "given:the events frame"' in kept
    with pytest.raises(HarnessError) as told:
        harness.run(tmp_path / "out" / "config.toml")
    assert "the events frame: was given in Python, and no file holds it" in str(told.value)
    assert 'name that file in place of "given:the events frame"' in str(told.value)


def test_as_the_hint_says_the_run_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(text()).write("out")
    text().write_parquet("events.parquet")
    path = tmp_path / "out" / "config.toml"
    kept = path.read_text(encoding="utf-8").replace("given:the events frame", "events.parquet")
    path.write_text(kept, encoding="utf-8")
    again = harness.run(path)
    assert isinstance(again, Result)
    assert means(again) == {"popular": 0.5}


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
    "times without a zone and with": (
        objects("time", [*TIMES[:-1], pd.Timestamp("2020-01-08", tz="Asia/Tokyo")]),
        ['the events frame: column "time", row 0 (the first is 0)', "a time without a zone"],
    ),
    "numbers as times": (changed(time=pl.lit(7)), ["holds numbers", "time_format"]),
    "empty": (text().head(0), ["the events frame: the table has no rows"]),
    "two columns of one name": (
        pd.concat([text().to_pandas(), text().to_pandas()[["user"]]], axis=1),
        ['the events frame: two columns have one name "user"'],
    ),
    "names that are numbers": (
        text().to_pandas().set_axis([0, 1, 2], axis=1),
        ["names of columns are text; found [0, 1, 2]", "frame.columns = ['0', '1', '2']"],
    ),
    "names of two levels": (
        pd.concat({"log": text().to_pandas()}, axis=1),
        ["names of columns are text", "frame.columns = ['user', 'item', 'time']"],
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
    events, named = REFUSED[about]
    with pytest.raises(HarnessError) as told:
        run(events)
    for words in named:
        assert words in str(told.value)


def test_times_of_day_among_objects_are_kept() -> None:
    """x, at noon, is the last; were times cut to days, y would be, by its id."""
    times = [datetime(2020, 1, 1), datetime(2020, 1, 1, 6), datetime(2020, 1, 1, 12)]
    log = pd.DataFrame({"user": ["a"] * 3, "item": ["x", "y", "x"], "time": times}).astype(object)
    last = {"strategy": "last_n", "n": 1}
    found = run(log, split=last).recommendations("popular")
    assert found["item"].to_list() == ["x", "y"]
    assert means(run(log, split=last)) == {"popular": 1}


@pytest.mark.parametrize("key", ["separator", "header", "encoding", "rows", "max_unpacked_gb"])
def test_what_says_how_a_file_is_written_is_refused_with_a_frame(key: str) -> None:
    values = {"separator": ";", "header": False, "encoding": "latin-1", "rows": "items"}
    with pytest.raises(HarnessError, match=rf"\[data\] {key} says how a file is written"):
        run(text(), data={key: values.get(key, 5)})


@pytest.mark.parametrize(("name", "value"), [("memory", "4GB"), ("jobs", 2)])
def test_what_needs_files_is_refused_with_the_step_that_helps(name: str, value: Any) -> None:
    with pytest.raises(HarnessError, match=rf"{name}: .*\bevents=\"events.parquet\""):
        run(text(), **{name: value})


def test_frames_of_arrow_need_no_times_where_what_is_held_out_is_given() -> None:
    log = text().drop("time").to_arrow()
    split = {"strategy": "given", "valid": log[5:]}
    assert means(run(log[:5], data={"time": False}, split=split)) == {"popular": 0.5}


def test_a_relation_that_cannot_be_worked_out_is_refused() -> None:
    relation = of_duckdb(text()).project("CAST(user AS INTEGER) AS user, item, time")
    with pytest.raises(DataError, match=r"the events frame: the rows cannot be worked out: .*ann"):
        run(relation)


def test_days_may_be_numbers_of_digits() -> None:
    """20200108 is the day of the file's 2020-01-08."""
    numbers = changed(time=pl.col("time").str.replace_all("-", "").cast(pl.Int64))
    assert means(run(numbers, data={"time_format": "%Y%m%d"})) == {"popular": 0.5}
    wrong = numbers.with_columns(time=pl.col("time") + 1200)
    with pytest.raises(
        DataError, match=r'row 0 .*, column "time": found "20201301", expected a ti'
    ):
        run(wrong, data={"time_format": "%Y%m%d"})


def test_the_example_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its columns are those of another log, and its window is longer than ours."""
    page = Path(harness.__file__).parents[1] / "docs" / "python.md"
    block = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)[0]
    log = text().rename({"user": "user_id", "item": "item_id", "time": "timestamp"})
    log.write_csv(tmp_path / "events.csv")
    block = block.replace('"valid_days": 7', '"valid_days": 1')
    (tmp_path / "notebook.py").write_text(block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = runpy.run_path("notebook.py")["result"]
    assert {model.name for model in found.models} == {"latest", "popular", "random"}


def test_the_notebook_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of its section, one block after the other, on the sample that it names."""
    root = Path(harness.__file__).parents[1]
    page = (root / "README.md").read_text(encoding="utf-8")
    section = page.partition("## In a notebook\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)
    (tmp_path / "notebook.py").write_text("".join(blocks), encoding="utf-8")
    monkeypatch.chdir(root)
    found = runpy.run_path(str(tmp_path / "notebook.py"))["result"]
    assert {model.name for model in found.models} == {"mine", "popular"}
