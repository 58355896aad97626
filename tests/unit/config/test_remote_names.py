"""Names of tables that Spark alone can read."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal

from harness.core.errors import UsageError
from harness.experiment.run import run

REMOTE = {"path": "s3a://shop//x", "events": "log.csv", "users": "table:shop.users"}


@pytest.mark.parametrize(
    "data",
    [
        {"events": "table:shop.sales"},
        {"events": "s3a://shop/log.csv"},
        {"users": "hdfs:///users.parquet"},
        {"path": "dbfs:/shop"},
    ],
)
def test_the_local_engine_says_who_reads_such_names(tmp_path: Path, data: Any) -> None:
    given = small.config(tmp_path, data=data)
    name = next(name for name in data.values())
    with refusal(UsageError, name, "--engine spark"):
        run(given)


def test_names_that_spark_reads_are_kept_as_they_are(tmp_path: Path) -> None:
    given = small.config(tmp_path, data=REMOTE)
    assert given.resolved()["data"]["path"] == "s3a://shop//x"
    layout = given.layout()
    assert [table.remote for table in layout.tables] == [
        "s3a://shop//x/log.csv",
        "table:shop.users",
    ]
