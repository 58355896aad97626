"""Sessions of Spark: which one is taken, what is said where there is none."""

import os
import socket
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from conftest import refusal

from harness.core.errors import HarnessError, UsageError
from harness.spark import session as session_
from harness.spark.failures import spark_errors, told
from harness.spark.session import session
from spark.conftest import NOISE, free_port

pytestmark = NOISE


def refused(words: list[str], master: str | None = None, remote: str | None = None) -> None:
    with refusal(UsageError, *words), session(master, remote):
        pass


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (session_.PackageNotFoundError, 'not installed: pip install "pyspark[connect]>=4.0"'),
        (["3.5.6"], "PySpark 3.5.6 is installed; version 4.0 or later"),
    ],
)
def test_pyspark_is_missing_or_old(found: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_, "version", Mock(side_effect=found))
    refused([words])


@pytest.fixture
def no_session(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variable", "says", "words"),
    [
        ("PATH", None, ["no java is on PATH", "apt-get install openjdk-17"]),
        ("JAVA_HOME", None, ["JAVA_HOME is ", "cannot be run", "Java 17 or later"]),
        ("JAVA_HOME", 'java version "1.8.0_392"', ["JAVA_HOME names Java 8 ("]),
        ("PATH", "cannot allocate memory; exit 1", ["java -version ended with status 1"]),
    ],
)
def test_no_java_that_is_one(
    no_session: None,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    says: str | None,
    words: list[str],
) -> None:
    """A program says what a Java says of itself."""
    java = here / "bin" / "java"
    if says is not None:
        java.parent.mkdir()
        said, _, done = says.partition("; ")
        java.write_text(f"#!/bin/sh\necho '{said}' >&2\n{done}\n")
        java.chmod(0o755)
    monkeypatch.setenv(variable, str(here) if variable == "JAVA_HOME" else str(java.parent))
    refused(words, "local")


def test_addresses_that_are_none(no_session: None) -> None:
    refused(["give --master or --remote, not both"], "local", "sc://h")
    for master in ("host:7077", "localhost", ""):
        refused([f"--master {master} is no master; expected local[2], spark://host"], master)
    for remote in ("spark://h:7077", "sc://"):
        refused(["expected sc://host:15002"], remote=remote)


def test_nothing_answers(no_session: None) -> None:
    master, remote = (f"{kind}://127.0.0.1:{free_port()}" for kind in ("spark", "sc"))
    refused([f"--master {master}", "nothing answers", "Connection refused"], master)
    refused([f"--remote {remote}", "nothing answers", "start-connect-server.sh"], remote=remote)


def test_what_listens_is_no_server(no_session: None) -> None:
    """It has ten seconds to answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        remote = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        refused(["did not answer as a Connect server"], remote=remote)


def test_what_listens_is_no_master(installed: None) -> None:
    """A real one would take Spark a minute, after which it says no more than this."""
    error = RuntimeError("Cannot call methods on a stopped SparkContext.")
    with refusal(UsageError, "--master spark://h:1: what listens there let no application in"):
        session_.started(Mock(**{"getOrCreate.side_effect": error}), "spark://h:1")


def test_a_session_that_we_open_is_stopped(on_loopback: None, no_session: None) -> None:
    before = os.environ.get("PYSPARK_PYTHON")
    with session("local[1]") as opened:
        assert opened.conf.get("spark.sql.session.timeZone") == "UTC"
        with session() as same:  # the active one
            assert same is opened
        refused(["a session on local[1] is active"], "local[2]")
        refused(["a classic session is active"], remote="sc://h")
        assert opened.range(3).count() == 3  # it was not stopped
    with pytest.raises(AttributeError):  # what PySpark says of a stopped one
        opened.range(3).count()
    assert os.environ.get("PYSPARK_PYTHON") == before


def test_settings_of_a_person_stay(
    no_session: None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "spark-defaults.conf").write_text("spark.sql.session.timeZone   CET\n# more\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(here))
    assert "spark.sql.session.timeZone" not in session_.settings("local")
    assert session_.settings("local")["spark.ui.enabled"] == "false"


def test_errors_of_spark_are_one_line(spark: Any) -> None:
    def broken(batches: Any) -> Any:
        yield from batches
        raise ZeroDivisionError("the worker's own words")

    rows = spark.range(2)
    cases = {
        "no_such_table": lambda: spark.table("no_such_table"),
        "/no/such/path": lambda: spark.read.parquet("/no/such/path").count(),
        "selekt": lambda: spark.sql("selekt 1"),
        "a worker raised ZeroDivisionError: the worker's own words": lambda: rows.mapInArrow(
            broken, "id long"
        ).collect(),
    }
    for words, act in cases.items():
        with refusal(HarnessError, words) as caught, spark_errors():
            act()
        assert "\n" not in str(caught.value)
        assert "Traceback" not in str(caught.value) and "at org." not in str(caught.value)


FAILED = "An error occurred while calling o37.parquet.\n: java."
SAID = {
    "Python in worker has different version: 3.10 than that in driver: 3.11, PySpark": (
        "a worker runs Python 3.10, the driver Python 3.11: set PYSPARK_PYTHON"
    ),
    "ModuleNotFoundError: No module named 'harness'": 'a worker has no Python module "harness"',
    'java.io.IOException: Cannot run program "python9": error=2': 'cannot run "python9"',
    "java.lang.OutOfMemoryError: Java heap space": "spark.executor.memory",
    "Python worker exited unexpectedly (crashed)": "spark.executor.memoryOverhead",
    "Cannot call methods on a stopped SparkContext.": "driver has ended",
    "[JAVA_GATEWAY_EXITED] Java gateway process exited": "Java ended before Spark had started",
    "All masters are unresponsive! Giving up.": "the master does not answer",
    "Can't get attribute 'x' on <module 'harness.spark.scoring' from '…'>": (
        "another version of this package"
    ),
    FAILED + "lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3A not found": (
        "org.apache.hadoop:hadoop-aws"
    ),
    FAILED + "io.IOException: no disk\n\tat x": "Spark: no disk",
}


@pytest.mark.parametrize("said", SAID)
def test_words_of_spark(said: str, installed: None) -> None:
    assert SAID[said] in str(told(RuntimeError(said)))
