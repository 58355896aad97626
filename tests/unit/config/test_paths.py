"""``~`` and variables in the paths of a config, and names of tables that Spark alone can read."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal

from harness.config import Config, parse
from harness.core.errors import UsageError


def config(**sections: Any) -> Config:
    return parse(small.values(**sections), Path("here"))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"HOME": "/home/ann", "USERPROFILE": "/home/ann", "DAY": "2020-01-01", "EMPTY": ""}
    for name, value in (held | {"BUCKET": "s3a://shop", "ODD": "~/$HOME"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GONE", raising=False)


def test_what_stands_for_what() -> None:
    """What a variable holds is not expanded again."""
    meant = {
        "~": "/home/ann",
        "~/data": "/home/ann/data",
        "${DAY}.csv": "2020-01-01.csv",
        "$DAY/$DAY": "2020-01-01/2020-01-01",
        "$ODD": "~/$HOME",
        "a$$DAY": "a$DAY",
        "~bob/x": "~bob/x",
        "cost$.csv": "cost$.csv",
        "$BUCKET/x": "s3a://shop/x",
        "table:shop.$DAY": "table:shop.$DAY",
    }
    assert {written: config(data={"events": written}).data.events for written in meant} == meant


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"data": {"path": "${GONE}"}}, "[data] path"),
        ({"data": {"events": "$GONE"}}, "[data] events"),
        ({"data": {"users": "$GONE"}}, "[data] users"),
        ({"data": {"items": {"file": "$GONE"}}}, "[data] items.file"),
        ({"split": {"strategy": "given", "valid": "$GONE"}}, "[split] valid"),
        ({"submission": {"sample": "$GONE"}}, "[submission] sample"),
        ({"models": [{"name": "own", "lists": "$GONE"}]}, '[[models]] "own" lists'),
    ],
)
def test_a_variable_that_is_not_set_is_told(sections: dict[str, Any], key: str) -> None:
    message = f"config: {key}: the variable $GONE is not set; set it (export GONE=…)"
    with refusal(UsageError, message, 'write "$$" where'):
        config(**sections)
    with refusal(UsageError, "the variable $EMPTY is not set"):
        config(data={"path": "x/$EMPTY/y"})


def test_names_that_spark_alone_reads_are_kept_as_they_are() -> None:
    data = {"path": "s3a://shop//x", "users": "table:shop.users", "items": "hdfs:///i.parquet"}
    remote = config(data=data)
    assert remote.resolved()["data"]["path"] == "s3a://shop//x"
    names = ["s3a://shop//x/log.csv", "table:shop.users", "hdfs:///i.parquet"]
    assert [table.remote for table in remote.layout().tables] == names
    for name, table in zip(names, remote.layout().tables, strict=True):
        with refusal(UsageError, name, "--engine spark"):
            _ = table.local
