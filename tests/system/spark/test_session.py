"""Sessions of Spark: which one is taken, what is said where there is none."""

import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from conftest import python, refusal

from harness.core.errors import HarnessError, UsageError
from harness.spark import session as session_
from harness.spark.session import explained, session, spark_errors
from spark.conftest import LOOPBACK, NOISE, free_port

pytestmark = NOISE


def refused(words: list[str], master: str | None = None, remote: str | None = None) -> None:
    with refusal(UsageError, words), session(master, remote):
        pass


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("", 'none is installed: pip install "pyspark[connect]>=4.0"'),
        ("3.5.6", "Spark needs PySpark 4.0 or later; 3.5.6 is installed"),
    ],
)
def test_pyspark_is_missing_or_old(
    version: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_, "installed_version", lambda package: version)
    refused([words])


@pytest.fixture
def no_session(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"):
        monkeypatch.delenv(name, raising=False)


def opened_anew(master: str, then: str, **environment: str) -> Any:
    """Open a session in a process of its own, as one keeps its Java."""
    code = f"from harness.spark.session import session\nwith session('{master}') as opened: {then}"
    return python(["-c", code], **environment)


@pytest.mark.parametrize("java", [False, True])
def test_java_does_not_start_spark(no_session: None, here: Path, java: bool) -> None:
    """There is none on PATH; or it refuses the master."""
    for name in ("bash", "dirname", "sh", "basename", "ps"):
        (here / name).symlink_to(shutil.which(name) or "/bin/sh")
    path = os.environ["PATH"] if java else str(here)
    output = opened_anew("host:7077" if java else "local", "pass", PATH=path).stderr.splitlines()[
        -1
    ]
    for words in (
        "Java did not start Spark",
        "spark://host:7077",
        "Java 17 or later",
        "openjdk-17",
    ):
        assert words in output


def test_nothing_answers(no_session: None) -> None:
    """What listens and is no server does not answer either; both have ten seconds."""
    refused(["give --master or --remote, not both"], "local", "sc://h")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (free_port(), silent.getsockname()[1]):
            remote = f"sc://127.0.0.1:{port}"
            words = [f"--remote {remote}: no Spark Connect server answered", "start-connect-server"]
            refused(words, remote=remote)


def test_a_session_that_we_open_is_stopped(on_loopback: None, no_session: None) -> None:
    before = os.environ.get("PYSPARK_PYTHON")
    with session("local[1]") as opened:
        assert opened.conf.get("spark.sql.session.timeZone") == "UTC"
        with session() as same:  # the active one
            assert same is opened
        refused(["a session on local[1] is active"], "local[2]")
        refused(["a session on local[1] is active, and sc://h"], remote="sc://h")
        assert opened.range(3).count() == 3  # it was not stopped
    with pytest.raises(AttributeError):  # what PySpark says of a stopped one
        opened.range(3).count()
    assert os.environ.get("PYSPARK_PYTHON") == before


def test_settings_of_a_person_stay(no_session: None, here: Path) -> None:
    (here / "spark-defaults.conf").write_text(
        "spark.sql.session.timeZone   CET\n# more\nspark.driver.memory=600m\n"
        "spark.driver.extraJavaOptions -XX:+UseSerialGC\n"
    )
    names = "sql.session.timeZone", "driver.memory", "ui.enabled"
    show = "".join(f"print(opened.conf.get('spark.{name}'));" for name in names)
    done = opened_anew("local[1]", show, SPARK_CONF_DIR=str(here), SPARK_LOCAL_IP=LOOPBACK)
    assert done.stdout.split() == ["CET", "600m", "false"], done.stderr


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
    'java.io.IOException: Cannot run program "python9": error=2': 'Cannot run program "python9"',
    "java.lang.OutOfMemoryError: Java heap space": "spark.executor.memory",
    "Python worker exited unexpectedly (crashed)": "spark.executor.memoryOverhead",
    "Cannot call methods on a stopped SparkContext.": "Spark does not answer, or it stopped",
    "[JAVA_GATEWAY_EXITED] Java gateway process exited": "and Java 17 or later",
    "All masters are unresponsive! Giving up.": "check the address and version of the master",
    FAILED + "lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3A not found": (
        "org.apache.hadoop:hadoop-aws"
    ),
    FAILED + "io.IOException: no disk\n\tat x": "Spark: no disk",
    FAILED
    + "x.E: Exception thrown in awaitResult: \n\tat x\nCaused by: x.IOException: no disk\n": (
        "Spark: no disk"
    ),
}


@pytest.mark.parametrize("text", SAID)
def test_words_of_spark(text: str) -> None:
    assert SAID[text] in explained(text)
