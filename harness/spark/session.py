"""A session of Spark, opened or taken; and what Spark raises, as a message that says what to do."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.errors import UsageError, printable
from harness.core.progress import stopwatch
from harness.results.folder import installed_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)

_QUERIES = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
_WORKERS = {
    "POLARS_MAX_THREADS": "1",  # a task of Python is a thread
    # What a part has freed the next one uses: given back to the system, it would cost a page fault
    # for every 4 kB again, and finding huge pages for NumPy takes as long.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1",  # of Polars
    "NUMPY_MADVISE_HUGEPAGE": "0",
}
"""Variables of workers' processes."""
_JAVA = (
    *(f"-Dspark.executorEnv.{name}={value}" for name, value in _WORKERS.items()),
    f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}",
    "-Dspark.ui.enabled=false",
    "-Dspark.ui.showConsoleProgress=false",
)
"""Options of the driver's Java, as SPARK_SUBMIT_OPTS: any setting of yours goes before them."""


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
        active; and what Spark raises within (`spark_errors`).
    """
    if master is not None and remote is not None:
        raise UsageError("give --master or --remote, not both")
    require_pyspark()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    with spark_errors(), _same_environment(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        active: SparkSession | None = None
        with suppress(PySparkException):
            active = SparkSession.active()
        if active is not None:
            connected = "connect" in type(active).__module__  # its server's master is not yours
            place = "a Connect server" if connected else active.conf.get("spark.master")
            asked = master if connected else remote or master
            if asked not in (None, place):
                raise UsageError(
                    f"a session on {place} is active, and {remote or master} was requested: "
                    "remove the option to use the active one, or stop it first "
                    "(SparkSession.active().stop())"
                )
            yield active
            return
        took = stopwatch()
        opened = _opened(master, remote or (None if master else os.environ.get("SPARK_REMOTE")))
        _log.info("Spark %s started, %s", opened.version, took())
        try:
            yield opened
        finally:
            with suppress(Exception):  # one that is lost cannot be stopped
                opened.stop()


def require_pyspark() -> None:
    """Raise UsageError where PySpark is not installed, or too old."""
    installed = installed_version("pyspark")
    if int(installed.partition(".")[0] or 0) < 4:
        raise UsageError(
            f"Spark needs PySpark 4.0 or later; {installed or 'none'} is installed: "
            'pip install "pyspark[connect]>=4.0"'
        )


@contextmanager
def _same_environment() -> Iterator[None]:
    """Undo the changes that PySpark and this module make of Spark's variables."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() | before.keys():
            if name.startswith(("SPARK_", "PYSPARK_")):
                os.environ.pop(name, None)
                os.environ.update({name: before[name]} if name in before else {})


def _opened(master: str | None, remote: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if remote is not None:
        builder = builder.remote(remote)
        if not remote.startswith("local"):
            _refuse_silent(remote)
    else:
        java = [*_JAVA, os.environ.get("SPARK_SUBMIT_OPTS", "")]
        place = master or os.environ.get("MASTER") or "local"
        if place.startswith("local"):
            # Java has little to do here, and would spend longer on making itself fast.
            java.insert(0, "-XX:TieredStopAtLevel=1")
            os.environ.setdefault("SPARK_DRIVER_MEMORY", "2g")
        if place.startswith(("local", "spark://localhost", "spark://127.", "spark://[::1]")):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ["SPARK_SUBMIT_OPTS"] = " ".join(java)
        builder = builder if master is None else builder.master(master)
    opened: SparkSession = builder.getOrCreate()
    for name in _QUERIES.keys() - opened.conf.getAll.keys():
        opened.conf.set(name, _QUERIES[name])
    return opened


def _refuse_silent(remote: str) -> None:
    """Raise UsageError where no Connect server answers, which PySpark tries for minutes."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    with DefaultChannelBuilder(remote).toChannel() as channel:
        import grpc  # behind PySpark, which says which packages are missing

        try:
            grpc.channel_ready_future(channel).result(timeout=10)
        except grpc.FutureTimeoutError:
            raise UsageError(
                f"--remote {printable(remote)}: no Spark Connect server answered in 10 "
                "seconds; start it there (sbin/start-connect-server.sh), or name another"
            ) from None


@contextmanager
def spark_errors() -> Iterator[None]:
    """Raise what PySpark, Py4J or gRPC raise within as a UsageError of one line."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark", "grpc"):
            raise
        # Spark's own text is many screens of Java.
        raise UsageError(explained(str(error) or type(error).__name__)) from None


def explained(text: str) -> str:
    """Return what an error of Spark's says, and what to do about it, in one line."""
    text = text.partition("\n\nJVM stacktrace:")[0].strip()
    text = re.sub(r"(?s)^.*?Exception thrown in awaitResult:.*?\nCaused by: ", "", text)
    for pattern, hint in _HINTS.items():
        match = re.search(pattern, text)
        if match:
            return hint.format(*match.groups(), python=sys.executable)
    raised = re.findall(r"^(\w[\w.]*(?:Error|Exception|Interrupt)\b.*)$", text, re.MULTILINE)
    if raised and "Traceback (most recent call last)" in text:
        return f"a worker raised {printable(raised[-1])[:500]}"
    before = r"(?:An error occurred while calling \S+|[\w.$]+Exception: |\[[A-Z0-9_.]+\]|[\s:])*"
    return f"Spark: {printable(re.sub(f'^{before}', '', text).partition(chr(10))[0])[:500]}"


_HINTS = {
    "JAVA_GATEWAY_EXITED|UnsupportedClassVersionError": (
        "Java did not start Spark; its output above says why. Spark needs a master such as "
        "local[2], spark://host:7077, yarn or k8s://…, and Java 17 or later, on PATH or in "
        "JAVA_HOME; on Debian or Ubuntu: apt-get install openjdk-17-jre-headless"
    ),
    "All masters are unresponsive|Master removed our application|stopped SparkContext|"
    "SparkContext was shut down|Py4JNetworkError|StatusCode.UNAVAILABLE": (
        "Spark does not answer, or it stopped during the work: check the address and version of "
        "the master on its web page, or the log of the Connect server; if the driver ran out of "
        "memory, give it more (spark.driver.memory, or SPARK_DRIVER_MEMORY=4g)"
    ),
    r"No module named '([\w.]+)'": (
        'a worker has no Python module "{0}": workers run the Python that PYSPARK_PYTHON names '
        "when the session starts, or python3. On this machine, set it to {python}; on others, "
        "install this package and its dependencies, or ship an environment with --archives "
        "(docs/scale.md)"
    ),
    r"Python in worker has different version: (\d+\.\d+).*?driver: (\d+\.\d+)": (
        "a worker runs Python {0}, the driver Python {1}: set PYSPARK_PYTHON to a Python {1} on "
        "every worker"
    ),
    "OutOfMemoryError|Python worker exited unexpectedly": (
        "a worker ran out of memory, or its Python ended: give executors more "
        "(spark.executor.memory is Java's, spark.executor.memoryOverhead Python's), or make "
        "partitions smaller (spark.sql.shuffle.partitions)"
    ),
    r"Class (org\.apache\.hadoop\.fs\.[\w.]+) not found": (
        "Spark has no client for this address: the class {0} is missing; add its "
        "package to spark.jars.packages (for s3a://: org.apache.hadoop:hadoop-aws, in the "
        "version of the Hadoop that Spark has)"
    ),
}
"""Patterns of what Spark says, and what to say in its place."""
