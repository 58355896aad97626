"""Sessions of Spark: which one is taken, what is said where there is none."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import refusal

from harness.core.errors import UsageError
from harness.spark import session as session_
from harness.spark.failures import spark_errors, told
from harness.spark.session import session
from spark.conftest import NOISE

pytestmark = NOISE


def version_is(found: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(_: str) -> str:
        if found is None:
            raise session_.PackageNotFoundError
        return found

    monkeypatch.setattr(session_, "version", version)


def test_pyspark_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    version_is(None, monkeypatch)
    with refusal(UsageError, 'not installed: pip install "pyspark[connect]>=4.0"'), session():
        pass


def test_pyspark_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    version_is("3.5.6", monkeypatch)
    with refusal(UsageError, "PySpark 3.5.6 is installed; version 4.0 or later"), session():
        pass


def test_a_master_and_a_server() -> None:
    with refusal(UsageError, "give --master or --remote, not both"), session("local", "sc://h"):
        pass


@pytest.fixture
def no_session(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"):
        monkeypatch.delenv(name, raising=False)


def java(folder: Path, says: str, status: int = 0) -> Path:
    """Write a program that says what a Java says of itself."""
    file = folder / "bin" / "java"
    file.parent.mkdir()
    file.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {status}\n")
    file.chmod(0o755)
    return file


def test_no_java_on_the_path(no_session: None, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(here))
    with refusal(UsageError, "no java is on PATH", "apt-get install openjdk-17"), session("local"):
        pass


def test_a_wrong_java_home(no_session: None, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(here / "none"))
    words = f"JAVA_HOME is {here / 'none'}", "cannot be run", "Java 17 or later"
    with refusal(UsageError, *words), session("local"):
        pass


@pytest.mark.parametrize(
    ("says", "found"), [('java version "1.8.0_392"', "8"), ('openjdk version "11.0.2"', "11")]
)
def test_an_old_java(
    says: str, found: str, no_session: None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java(here, says)
    monkeypatch.setenv("JAVA_HOME", str(here))
    with refusal(UsageError, f"JAVA_HOME names Java {found} ("), session("local"):
        pass


def test_a_java_that_fails(no_session: None, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(java(here, "cannot allocate memory", 1).parent) + ":/bin")
    with refusal(UsageError, "java -version ended with status 1"), session("local"):
        pass


@pytest.fixture
def nobody(installed: None) -> Iterator[int]:
    """Return a port that nothing listens at."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("master", ["foo", "host:7077", "localhost", ""])
def test_what_is_no_master(master: str, no_session: None) -> None:
    with (
        refusal(UsageError, f"--master {master}", "is no master; expected local[2], spark://host"),
        session(master),
    ):
        pass


def test_a_master_that_is_not_there(nobody: int, no_session: None) -> None:
    words = f"--master spark://127.0.0.1:{nobody}", "nothing answers", "Connection refused"
    with refusal(UsageError, *words), session(f"spark://127.0.0.1:{nobody}"):
        pass


def test_no_name_of_a_host(no_session: None) -> None:
    with refusal(UsageError, "nothing answers at no-such-host.invalid:7077"):  # noqa: SIM117
        with session("spark://no-such-host.invalid:7077"):
            pass


def test_a_server_that_is_not_there(nobody: int, no_session: None) -> None:
    words = f"--remote sc://127.0.0.1:{nobody}", "nothing answers", "start-connect-server.sh"
    with refusal(UsageError, *words), session(remote=f"sc://127.0.0.1:{nobody}"):
        pass


def test_no_address_of_a_server(no_session: None) -> None:
    for remote in ("spark://h:7077", "sc://", "sc:/h"):
        with refusal(UsageError, "expected sc://host:15002"), session(remote=remote):
            pass


def test_what_listens_is_no_server(no_session: None) -> None:
    """It has ten seconds to answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        remote = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        with refusal(UsageError, "did not answer as a Connect server"), session(remote=remote):
            pass


def test_what_listens_is_no_master(installed: None) -> None:
    """A real one would take Spark a minute, after which it says no more than this."""

    class Builder:
        def getOrCreate(self) -> None:  # noqa: N802
            raise RuntimeError("Cannot call methods on a stopped SparkContext.")

    with refusal(UsageError, "--master spark://h:1: what listens there let no application in"):
        session_.started(Builder(), "spark://h:1")


def test_a_session_that_we_open_is_stopped(on_loopback: None, no_session: None) -> None:
    before = os.environ.get("PYSPARK_PYTHON")
    with session("local[1]") as opened:
        assert opened.conf.get("spark.sql.session.timeZone") == "UTC"
        assert opened.range(3).count() == 3
        with session() as same:  # the active one
            assert same is opened
        with refusal(UsageError, "a session on local[1] is active"), session("local[2]"):
            pass
        with refusal(UsageError, "a classic session is active"), session(remote="sc://h"):
            pass
        assert opened.range(3).count() == 3  # it was not stopped
    with pytest.raises(AttributeError):  # what PySpark says of a stopped one
        opened.range(3).count()
    assert os.environ.get("PYSPARK_PYTHON") == before


def test_settings_of_a_person_stay(
    on_loopback: None, no_session: None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "spark-defaults.conf").write_text("spark.sql.session.timeZone   CET\n# more\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(here))
    assert "spark.sql.session.timeZone" not in session_.settings("local")
    assert session_.settings("local")["spark.ui.enabled"] == "false"


def test_errors_of_spark_are_one_line(spark: Any) -> None:
    cases = {
        "no_such_table": lambda: spark.table("no_such_table"),
        "/no/such/path": lambda: spark.read.parquet("/no/such/path").count(),
        "parse": lambda: spark.sql("selekt 1"),
        "no_such_column": lambda: spark.range(1).select("no_such_column"),
    }
    for words, act in cases.items():
        with refusal(Exception, words if words != "parse" else "selekt") as caught:  # noqa: SIM117
            with spark_errors():
                act()
        assert type(caught.value).__module__ == "harness.core.errors"
        assert "\n" not in str(caught.value)
        assert "Traceback" not in str(caught.value) and "at org." not in str(caught.value)


def test_what_a_worker_raises_keeps_its_last_line(spark: Any) -> None:
    def broken(batches: Any) -> Any:
        yield from batches
        raise ZeroDivisionError("the worker's own words")

    def elsewhere(batches: Any) -> Any:
        import no_such_module  # noqa: F401

        yield from batches

    rows = spark.range(2)
    with refusal(UsageError, "a worker raised ZeroDivisionError: the worker's own words") as caught:  # noqa: SIM117
        with spark_errors():
            rows.mapInArrow(broken, "id long").collect()
    assert "\n" not in str(caught.value)
    with refusal(UsageError, 'a worker has no Python module "no_such_module"', "PYSPARK_PYTHON"):  # noqa: SIM117
        with spark_errors():
            rows.mapInArrow(elsewhere, "id long").collect()


def test_words_of_spark(installed: None) -> None:
    cases = {
        "Exception: Python in worker has different version: 3.10 than that in driver: 3.11, "
        "PySpark cannot run with different minor versions.": "a worker runs Python 3.10",
        'java.io.IOException: Cannot run program "python9": error=2': 'cannot run "python9"',
        "java.lang.OutOfMemoryError: Java heap space": "spark.executor.memory",
        "Python worker exited unexpectedly (crashed)": "spark.executor.memoryOverhead",
        "Cannot call methods on a stopped SparkContext.": "driver has ended",
        "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.": (
            "Java ended before Spark had started"
        ),
        "All masters are unresponsive! Giving up.": "the master does not answer",
        "AttributeError: Can't get attribute 'x' on <module 'harness.spark.scoring' from '…'>": (
            "another version of this package"
        ),
        "An error occurred while calling o37.parquet.\n: java.lang.ClassNotFoundException: "
        "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found": "org.apache.hadoop:hadoop-aws",
        "An error occurred while calling o37.parquet.\n: java.io.IOException: no disk\n\tat x": (
            "Spark: no disk"
        ),
    }
    for said, words in cases.items():
        assert words in str(told(RuntimeError(said))), said
