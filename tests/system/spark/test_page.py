"""The how-to page on Spark works as written."""

from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from reader import follow

from spark.conftest import NOISE

pytestmark = NOISE


def test_the_page_on_spark_works_as_written(
    spark: Any, here: Path, cli: Cli, capfd: pytest.CaptureFixture[str]
) -> None:
    follow("docs/how-to/spark.md", here, cli, capfd)
