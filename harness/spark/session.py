"""A session of Spark, opened or taken; and what Spark raises, as a message that says what to do."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.errors import HarnessError, UsageError, printable
from harness.core.progress import stopwatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)

_LEAST, _LEAST_JAVA = 4, 17
_INSTALL = f'pip install "pyspark[connect]>={_LEAST}.0"'
_CONNECT_SECONDS = 10.0
"""How long a Connect server may take to answer: PySpark itself would try for minutes."""
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
_SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
_SETTINGS = _SQL | {
    _JAVA_OPTIONS: _QUIET,
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    # A task of Python is a thread, and what a bucket has freed the next one uses.
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}
_LOCAL_SETTINGS = {
    # Java has little to do here, and would spend longer on making itself fast.
    _JAVA_OPTIONS: f"{_QUIET} -XX:TieredStopAtLevel=1 -XX:+UseParallelGC",
    "spark.driver.memory": "2g",
}
_CHANGED_VARIABLES = ("PYSPARK_PYTHON", "SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_REMOTE")


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
        PySpark or Java is missing or too old; nothing answers at the address; another session is
        active; and what is raised within, where it is of Spark (`spark_errors`).
    """
    if master is not None and remote is not None:
        raise UsageError("give --master or --remote, not both")
    require_pyspark()
    with spark_errors(), _same_environment(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        active = _active()
        if active is not None:
            _refuse_another(active, asked=remote or master, remotely=remote is not None)
            yield active
            return
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
        installed = version("pyspark")
    except PackageNotFoundError as error:
        raise UsageError(f"Spark needs PySpark, which is not installed: {_INSTALL}") from error
    if int(installed.partition(".")[0]) < _LEAST:
        raise UsageError(
            f"PySpark {installed} is installed; version {_LEAST}.0 or later is needed: {_INSTALL}"
        )


def _active() -> SparkSession | None:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        active: SparkSession = SparkSession.active()
    except PySparkException:
        return None
    return active


def _refuse_another(active: SparkSession, asked: str | None, remotely: bool) -> None:
    """Raise UsageError where another session is asked for than the active one."""
    connected = ".connect." in type(active).__module__
    place = "a Spark Connect server" if connected else active.conf.get("spark.master")
    if asked is not None and asked != place and not (remotely and connected):
        raise UsageError(
            f"a session on {place} is active, and {asked} is asked for: leave that out to use the "
            "active one, or stop it first (SparkSession.active().stop())"
        )


@contextmanager
def _same_environment() -> Iterator[None]:
    """Undo the changes of variables that PySpark and this module make."""
    before = {name: os.environ[name] for name in _CHANGED_VARIABLES if name in os.environ}
    try:
        yield
    finally:
        for name in _CHANGED_VARIABLES:
            os.environ.pop(name, None)
        os.environ.update(before)


def _opened(master: str | None, remote: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    remote = remote or (None if master is not None else os.environ.get("SPARK_REMOTE"))
    if remote is not None and not remote.startswith("local"):
        _wait_for_server(remote)
        connected: SparkSession = SparkSession.builder.remote(remote).create()
        set_there = {row[0] for row in connected.sql("SET").collect()}
        for name in _SQL.keys() - set_there:
            connected.conf.set(name, _SQL[name])
        return connected
    builder = SparkSession.builder if master is None else SparkSession.builder.master(master)
    for name, value in settings(master or "local").items():
        builder = builder.config(name, value)
    nearby = ("local", "spark://localhost", "spark://127.", "spark://[::1]")
    if (master or os.environ.get("MASTER") or "local").startswith(nearby):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    opened: SparkSession = builder.getOrCreate()
    return opened


def _wait_for_server(remote: str) -> None:
    """Raise UsageError where no Connect server answers."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    channel = DefaultChannelBuilder(remote).toChannel()
    import grpc  # behind PySpark, which says which packages are missing

    try:
        grpc.channel_ready_future(channel).result(timeout=_CONNECT_SECONDS)
    except grpc.FutureTimeoutError:
        raise UsageError(
            f"--remote {printable(remote)}: no Spark Connect server answered in "
            f"{_CONNECT_SECONDS:.0f} seconds; start it there (sbin/start-connect-server.sh), or "
            "name another"
        ) from None
    finally:
        channel.close()


def settings(master: str) -> dict[str, str]:
    """Return the settings that a session needs and that nobody else has made."""
    wanted = _SETTINGS | (_LOCAL_SETTINGS if master.startswith("local") else {})
    if os.environ.get("SPARK_DRIVER_MEMORY") or os.environ.get("PYSPARK_SUBMIT_ARGS"):
        wanted.pop("spark.driver.memory", None)
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit: its own options count
        from pyspark import SparkConf

        made = {name for name, _ in SparkConf().getAll()}
    else:
        made = _defaults()
    return {name: value for name, value in wanted.items() if name not in made}


def _defaults() -> set[str]:
    """Return the names that spark-defaults.conf sets."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (home and f"{home}/conf")
    file = Path(folder or ".") / "spark-defaults.conf"
    if not folder or not file.is_file():
        return set()
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return {re.split(r"[\s=]", line.strip(), maxsplit=1)[0] for line in lines if line.strip()}


@contextmanager
def spark_errors() -> Iterator[None]:
    """Raise what PySpark, Py4J or gRPC raise within as a UsageError of one line."""
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark", "grpc"):
            raise
        # Spark's own text is many screens of Java.
        raise UsageError(explained(str(error) or type(error).__name__)) from None


def explained(text: str) -> str:
    """Return what an error of Spark's says, and what to do about it, in one line."""
    text = text.partition("\n\nJVM stacktrace:")[0]
    for pattern, cure in _CURES:
        match = re.search(pattern, text, re.DOTALL)
        if match:
            return cure.format(*match.groups(), python=sys.executable, java=_java())
    raised = re.findall(r"^(\w[\w.]*(?:Error|Exception|Interrupt)\b.*)$", text, re.MULTILINE)
    if raised and "Traceback (most recent call last)" in text:
        return f"a worker raised {printable(raised[-1])[:500]}"
    text = re.sub(r"^An error occurred while calling \S+\s*:?\s*", "", text.strip())
    failed = re.search(r"most recent failure: [^:]*\([^()]*\)[^:]*: (.*)", text)
    first = failed[1] if failed else text.partition("\n")[0]
    first = re.sub(r"^(?:\[[A-Z0-9_.]+\]\s*|[\w.$]+Exception: )+", "", first)
    return f"Spark: {printable(first)[:500]}"


def _java() -> str:
    """Return which Java Spark takes."""
    if "JAVA_HOME" in os.environ:
        return f"JAVA_HOME is {printable(os.environ['JAVA_HOME'])}"
    java = shutil.which("java")
    return "no java is on PATH nor is JAVA_HOME set" if java is None else f"java is {java}"


_CURES = (
    (
        "JAVA_GATEWAY_EXITED|UnsupportedClassVersionError",
        f"Java did not start Spark, and what it printed says why: Spark needs Java {_LEAST_JAVA} "
        "or later, and {java}; on Debian or Ubuntu: "
        f"apt-get install openjdk-{_LEAST_JAVA}-jre-headless",
    ),
    (
        "Could not parse Master URL: '([^']*)'",
        "--master {0} is no master; expected local[2], spark://host:7077, yarn or k8s://…",
    ),
    (
        "All masters are unresponsive|Master removed our application|stopped SparkContext|"
        "SparkContext was shut down|Py4JNetworkError|StatusCode.UNAVAILABLE",
        "Spark does not answer, or ended while it worked: look for the master's address and "
        "version on its page, or at the log of the Connect server; where the driver ran out of "
        "memory, give it more (spark.driver.memory, or SPARK_DRIVER_MEMORY=4g)",
    ),
    (
        r"No module named '([\w.]+)'",
        'a worker has no Python module "{0}": workers run the Python that PYSPARK_PYTHON names '
        "when the session starts, or python3. Where they are this machine, set it to {python}; "
        "elsewhere install this package and what it needs for it, or ship an environment with "
        "--archives (docs/scale.md)",
    ),
    (
        r"Python in worker has different version: (\d+\.\d+).*?driver: (\d+\.\d+)",
        "a worker runs Python {0}, the driver Python {1}: set PYSPARK_PYTHON to an interpreter "
        "that is a Python {1} on every worker",
    ),
    (
        r"java\.lang\.(OutOfMemoryError)",
        "an executor ran out of memory ({0}): give each more (spark.executor.memory), or make "
        "partitions smaller (spark.sql.shuffle.partitions)",
    ),
    (
        "Python worker exited unexpectedly",
        "a worker's Python ended in the middle of its work, as it does where memory is short: "
        "leave it more (spark.executor.memoryOverhead), or make partitions smaller "
        "(spark.sql.shuffle.partitions)",
    ),
    (
        r"Class (org\.apache\.hadoop\.fs\.[\w.]+) not found",
        "Spark has no client for such an address: it misses the class {0}; add its package to "
        "spark.jars.packages (for s3a://: org.apache.hadoop:hadoop-aws, in the version of the "
        "Hadoop that Spark has)",
    ),
)
"""Patterns of what Spark says, and what to say in its place."""


def installed_version() -> str:
    """Return the version of this package, which must be that of every worker."""
    try:
        return version("submission-harness")
    except PackageNotFoundError:
        return "not installed"
