"""A session of Spark, opened or taken; and what Spark raises, in words that a person can act on."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.errors import UsageError, printable
from harness.core.progress import stopwatch
from harness.spark.failures import INSTALL, LEAST, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)

LEAST_JAVA = 17
_WAIT = 10.0
"""Seconds that a master or server may take to answer."""
_PORTS = {"spark": 7077, "sc": 15002}
_LOOPBACK = ("localhost", "127.", "[::1]")
_LOG = Path(__file__).with_name("log4j2.properties")
_JAVA = "spark.driver.extraJavaOptions"
_QUIET = {
    _JAVA: f"-Dlog4j2.configurationFile={_LOG.as_uri()}",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
}
_LOCAL = {
    "spark.driver.memory": "2g",
    _JAVA: f"{_QUIET[_JAVA]} -XX:TieredStopAtLevel=1 -XX:+UseParallelGC",
}
"""Where the driver does all the work: Java has little of it, and would spend longer on its own."""
_WORKERS = {
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}
"""Of workers' Python: a task is a thread, and what a bucket has freed the next one uses."""
_SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
_PANDAS = "PySpark does not yet fully support pandas"
"""A warning of PySpark's, of what is not used here."""
_SET_BY_PYSPARK = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_REMOTE")


@contextmanager
def session(master: str | None = None, remote: str | None = None) -> Iterator[SparkSession]:
    """Yield the session that is active, or open one and stop it afterwards.

    Parameters
    ----------
    master : str, optional
        Such as ``local[2]`` or ``spark://host:7077``.
    remote : str, optional
        A Spark Connect server, such as ``sc://host:15002``. Without either: the active session,
        or the environment's (spark-submit, SPARK_REMOTE, spark-defaults.conf), else ``local[*]``.

    Raises
    ------
    UsageError
        PySpark or Java is not there or too old; nothing answers at the address; another session is
        active; and what is raised within, where it is of Spark (`spark_errors`).
    """
    if master is not None and remote is not None:
        raise UsageError("give --master or --remote, not both")
    require_pyspark()
    with spark_errors(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", _PANDAS, FutureWarning)
        active = _active()
        if active is not None:
            _refuse_another(active, master, remote)
            yield active
            return
        with _restored(*_SET_BY_PYSPARK):
            took = stopwatch()
            opened = _opened(master, remote)
            _log.info("Spark %s started, %s", opened.version, took())
            try:
                yield opened
            finally:
                with suppress(Exception):  # one that is lost cannot be stopped
                    opened.stop()


def require_pyspark() -> None:
    """Raise UsageError where PySpark is not installed, or too old."""
    try:
        found = version("pyspark")
    except PackageNotFoundError as error:
        raise UsageError(f"Spark needs PySpark, which is not installed: {INSTALL}") from error
    if int(found.partition(".")[0]) < LEAST:
        raise UsageError(
            f"PySpark {found} is installed; version {LEAST}.0 or later is needed: {INSTALL}"
        )


def _active() -> SparkSession | None:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        found: SparkSession = SparkSession.active()
    except PySparkException:
        return None
    return found


def _refuse_another(active: SparkSession, master: str | None, remote: str | None) -> None:
    """Raise UsageError where another session is asked for than the active one."""
    connected = ".connect." in type(active).__module__
    if remote is not None and not connected:
        other = "a classic session"
    elif master is not None and connected:
        other = "a Spark Connect session"
    elif master is not None and active.conf.get("spark.master") != master:
        other = f"a session on {active.conf.get('spark.master')}"
    else:
        return
    raise UsageError(
        f"{other} is active, and {remote or master} is asked for: leave that out to use the active "
        "one, or stop it first (SparkSession.active().stop())"
    )


@contextmanager
def _restored(*names: str) -> Iterator[None]:
    """Leave variables of the environment as they were found."""
    before = {name: os.environ[name] for name in names if name in os.environ}
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)
        os.environ.update(before)


def _is_near(master: str) -> bool:
    """Return whether workers run on this machine, as far as the master's address tells."""
    host = master.removeprefix("spark://")
    return master.startswith("local") or (host != master and host.startswith(_LOOPBACK))


def _opened(master: str | None, remote: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    remote = remote or (None if master is not None else os.environ.get("SPARK_REMOTE"))
    if remote is not None and not remote.startswith("local"):
        _check_server(remote)
        found: SparkSession = SparkSession.builder.remote(remote).create()
        _check_server_version(found, remote)
        given = {row[0] for row in found.sql("SET").collect()}
        for name, value in _SQL.items():
            if name not in given:
                found.conf.set(name, value)
        return found
    _check_java()
    if master is not None:
        _check_master(master)
    builder = SparkSession.builder
    builder = builder if master is None else builder.master(master)
    for name, value in settings(master or "local").items():
        builder = builder.config(name, value)
    with _restored("PYSPARK_PYTHON"):
        if _is_near(master or os.environ.get("MASTER") or "local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return started(builder, master)


def started(builder: SparkSession.Builder, master: str | None) -> SparkSession:
    """Return a new session; Spark gives a master a minute."""
    try:
        opened: SparkSession = builder.getOrCreate()
    except Exception as error:
        if master is not None and "stopped SparkContext" in str(error):
            raise UsageError(
                f"--master {printable(master)}: what listens there let no application in; look "
                "whether it is a master, and of the version of the PySpark here "
                f"({version('pyspark')})"
            ) from None
        raise
    return opened


def settings(master: str) -> dict[str, str]:
    """Return the settings that we need and that nobody else has made."""
    wanted = _QUIET | _WORKERS | _SQL | (_LOCAL if master.startswith("local") else {})
    if os.environ.get("SPARK_DRIVER_MEMORY") or os.environ.get("PYSPARK_SUBMIT_ARGS"):
        wanted.pop("spark.driver.memory", None)
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit: its own options count
        from pyspark import SparkConf

        given = SparkConf()
        return {name: value for name, value in wanted.items() if not given.contains(name)}
    return {name: value for name, value in wanted.items() if name not in _defaults()}


def _defaults() -> set[str]:
    """Return the names that spark-defaults.conf sets."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (home and f"{home}/conf")
    file = Path(folder or ".") / "spark-defaults.conf"
    if not folder or not file.is_file():
        return set()
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return {re.split(r"[\s=]", line.strip(), maxsplit=1)[0] for line in lines if line.strip()}


def _check_java() -> None:
    """Raise UsageError where there is no Java that Spark can use."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    wanted = f"Spark needs Java {LEAST_JAVA} or later"
    get = f"on Debian or Ubuntu: apt-get install openjdk-{LEAST_JAVA}-jre-headless"
    if java is None:
        raise UsageError(f"{wanted}, and no java is on PATH nor is JAVA_HOME set; {get}")
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        where = f"JAVA_HOME is {home}, but {java}" if home else java
        also = ", and set JAVA_HOME to it, or unset it" if home else ""
        raise UsageError(f"{wanted}: {where} cannot be run ({error}); {get}{also}") from error
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    if done.returncode != 0 or found is None:
        raise UsageError(f"{wanted}: {java} -version ended with status {done.returncode}; {get}")
    if int(found[1]) < LEAST_JAVA:
        named = "JAVA_HOME names" if home else "PATH has"
        also = ", and set JAVA_HOME to it, or unset it" if home else ""
        raise UsageError(f"{wanted}; {named} Java {found[1]} ({java}); {get}{also}")


def _check_master(master: str) -> None:
    """Raise UsageError over what is no master, or where nothing answers at a standalone one."""
    if not re.match(r"local(\[|$)|yarn$|(spark|k8s)://", master):
        raise UsageError(
            f"--master {printable(master)} is no master; expected local[2], spark://host:"
            f"{_PORTS['spark']}, yarn or k8s://…"
        )
    if not master.startswith("spark://"):
        return
    failed = [_unanswered(address, "spark") for address in master[len("spark://") :].split(",")]
    if all(failed):
        raise UsageError(
            f"--master {printable(master)}: {'; '.join(map(str, failed))}; start the master, or "
            "name the address that its page shows (spark://host:7077)"
        )


def _unanswered(address: str, kind: str) -> str | None:
    """Return why nothing answers at an address; None where something does."""
    host, _, port = address.rpartition(":") if ":" in address else (address, "", "")
    if port and not port.isdigit():
        return f"{printable(address)} is no address; expected host:{_PORTS[kind]}"
    try:
        where = host.strip("[]"), int(port or _PORTS[kind])
        with socket.create_connection(where, timeout=_WAIT):
            return None
    except (OSError, OverflowError) as error:
        return f"nothing answers at {printable(address)} ({error})"


def _check_server(remote: str) -> None:
    """Raise UsageError where no Connect server answers: PySpark itself would try for minutes."""
    given = re.fullmatch(r"sc://([^/;]+)/?(?:;.*)?", remote)
    if given is None:
        raise UsageError(
            f"--remote {printable(remote)} is no address of a Spark Connect server; expected "
            f"sc://host:{_PORTS['sc']}"
        )
    failed = _unanswered(given[1], "sc") or _silent(remote)
    if failed:
        raise UsageError(
            f"--remote {printable(remote)}: {failed}; start the server there "
            "(sbin/start-connect-server.sh), or name another"
        )


def _silent(remote: str) -> str | None:
    """Return what to say where something listens that does not speak as a Connect server does."""
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    channel = DefaultChannelBuilder(remote).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_WAIT)
    except grpc.FutureTimeoutError:
        return f"what listens there did not answer as a Connect server in {_WAIT:.0f} seconds"
    finally:
        channel.close()
    return None


def _check_server_version(opened: SparkSession, remote: str) -> None:
    found = str(opened.version)
    if int(found.partition(".")[0]) < LEAST:
        opened.stop()
        raise UsageError(
            f"--remote {printable(remote)}: the server has Spark {found}; version {LEAST}.0 or "
            "later is needed"
        )
