"""Whatever ids a log has: what `submit` and `split` write is not refused by `validate`."""

from pathlib import Path
from typing import Any

import polars as pl
import small
from event_files import FOLDER
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness import config as config_
from harness.core.errors import UsageError, printable
from harness.hosting.submit import submit
from harness.protocol.task import make_task

WORDS = ["NA", "null", "nan", "None", "<NA>", "\\N", "user", "item", "007", "1.0", "1e5", "-1", "é"]
WORDS += ["[a]", "['a', 'b']", "{a}", '"q"', "a'b", "user,item", "=1+1", "\ufeffx", "\u2028", "Aa"]
SIGNS = st.text("aA01 ,;|'\"[]()\t\n\r\\=.-\x00\x1a\x1e\x1f\x0b\xa0#", min_size=1, max_size=3)
IDS = st.lists(st.sampled_from(WORDS) | SIGNS, min_size=2, max_size=4, unique=True)
SEPARATORS = st.sampled_from([" ", ",", ";", "|"])


def config_of(folder: Path, users: list[str], items: list[str], between: str) -> config_.Config:
    """Return a config on a log: on both days users have an item each, and so have ann and bob."""
    rows = [
        (user, items[(n + day) % len(items)], f"2020-01-0{day}")
        for n, user in enumerate(users)
        for day in (1, 8)
    ]
    rows += [(user, user[0], f"2020-01-0{day}") for user in ("ann", "bob") for day in (1, 8)]
    columns = ["user", "item", "time"]
    pl.DataFrame(rows, columns, orient="row").write_parquet(folder / "log.parquet")
    data, separator = {"events": "log.parquet"}, {"separator": between}
    return small.config_of(folder, data=data, submission=separator, evaluation={"k": 3})


def names_one(error: UsageError, ids: list[str]) -> bool:
    return any(text in str(error) for id_ in ids for text in (f'"{printable(id_)}"', repr(id_)))


@FOLDER
@given(users=IDS, items=IDS, between=SEPARATORS)
def test_a_submission_is_valid_or_an_id_is_named(
    tmp_path: Path, users: list[str], items: list[str], between: str
) -> None:
    config, out = config_of(tmp_path, users, items, between), tmp_path / "out.csv"
    out.unlink(missing_ok=True)
    try:
        submit(config, "popular", out)
    except UsageError as error:
        assert names_one(error, users + items), error
        assert not out.exists()
    else:
        assert harness.validate(out, config=config).errors == ()


@settings(FOLDER, max_examples=settings.default.max_examples // 2)  # a tenth of a second each
@given(users=IDS, items=IDS, between=SEPARATORS)
def test_a_split_is_read_as_it_is_or_an_id_is_named(
    tmp_path: Path, users: list[str], items: list[str], between: str
) -> None:
    config, folder, out = (
        config_of(tmp_path, users, items, between),
        tmp_path / "s",
        tmp_path / "o.csv",
    )
    try:
        done: Any = harness.split(config, folder)
    except UsageError as error:
        assert names_one(error, users + items), error
        return
    again = config_.read(folder / "config.toml")
    submit(again, "popular", out)
    files = {"solution": folder / "solution.csv", "sample": folder / "sample_submission.csv"}
    options: dict[str, Any] = {**files, "k": 3, "separator": done.record.separator}
    assert harness.validate(files["sample"], **options).errors == ()
    assert harness.validate(out, items=folder / "items.csv", **options).errors == ()
    assert make_task(again).evaluation_set.fingerprint == done.record.evaluation.fingerprint
