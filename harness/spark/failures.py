"""What Spark raises, classic or Connect, in words that a person can act on."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from harness.core.errors import DataError, HarnessError, UsageError, printable

LEAST = 4
"""The oldest major version of Spark, here and on a Connect server."""
INSTALL = f'pip install "pyspark[connect]>={LEAST}.0"'


@contextmanager
def spark_errors() -> Iterator[None]:
    """Raise what Spark raises within as an error of ours: a message, and no traceback.

    Raises
    ------
    HarnessError
        `told` of it.
    """
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:
        if not _is_of_spark(error):
            raise
        raise told(error) from None  # Spark's own text is many screens of Java


def _is_of_spark(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("py4j", "pyspark", "grpc")


def told(error: Exception) -> HarnessError:
    """Return an error of ours that says what one of Spark's says.

    Parameters
    ----------
    error : Exception
        Of PySpark, Py4J or gRPC, classic or Connect.
    """
    text = _text_of(error)
    condition = _condition(error, text)
    for pattern, make in _KNOWN:
        found = re.search(pattern, f"{condition}\n{text}", re.DOTALL)
        if found:
            return make(found)
    return UsageError(f"Spark: {_essence(text)}")


def is_not_there(error: Exception) -> bool:
    """Return whether Spark says that there is nothing at a path."""
    return _condition(error, _text_of(error)) == "PATH_NOT_FOUND"


def _condition(error: Exception, text: str) -> str:
    """Return the name that Spark gives the error, such as TABLE_OR_VIEW_NOT_FOUND."""
    named: Any = None
    with suppress(Exception):  # it may ask a process that has ended
        named = error.getCondition()  # type: ignore[attr-defined]
    written = re.match(r"\s*\[([A-Z0-9_.]+)\]", text)
    return str(named or (written[1] if written else type(error).__name__))


def _text_of(error: Exception) -> str:
    """Return its text, without the stack of Java that some add."""
    text = ""
    with suppress(Exception):
        text = str(error)
    return (text or type(error).__name__).partition("\n\nJVM stacktrace:")[0]


def _essence(text: str) -> str:
    """Return what is said, in one line: of a worker's traceback the last, of Java's the cause."""
    worker = re.findall(r"^(\w[\w.]*(?:Error|Exception|Interrupt)\b.*)$", text, re.MULTILINE)
    if "Traceback (most recent call last)" in text and worker:
        return f"a worker raised {printable(worker[-1])[:500]}"
    text = re.sub(r"^An error occurred while calling \S+\s*:?\s*", "", text.strip())
    failed = re.search(r"most recent failure: [^:]*\([^()]*\)[^:]*: (.*)", text)
    first = failed[1] if failed else text.strip().partition("\n")[0]
    return printable(re.sub(r"^(?:\[[A-Z0-9_.]+\]\s*|[\w.$]+Exception: )+", "", first))[:500]


def _gone(_: re.Match[str]) -> HarnessError:
    return UsageError(
        "Spark's driver has ended while it was asked; where it ran out of memory, give it more "
        "(spark.driver.memory, or SPARK_DRIVER_MEMORY=4g)"
    )


def _not_started(_: re.Match[str]) -> HarnessError:
    return UsageError(
        "Java ended before Spark had started: what it printed says why; it is often a setting, "
        "such as spark.driver.memory"
    )


def _refused_by_master(_: re.Match[str]) -> HarnessError:
    return UsageError(
        "the master does not answer as one of this version does; look for its address and version "
        "on its page"
    )


def _no_package(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f'a worker has no Python module "{found[1]}": workers run the Python that PYSPARK_PYTHON '
        f"names when the session starts, or python3. Where they are this machine, set it to "
        f"{sys.executable}; elsewhere install this package and what it needs for it, or ship an "
        "environment with --archives (docs/scale.md)"
    )


def _no_client(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f"Spark has no client for such an address: it misses the class {found[1]}; add its package "
        "to spark.jars.packages (for s3a://: org.apache.hadoop:hadoop-aws, in the version of the "
        "Hadoop that Spark has)"
    )


def _another_package(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f"a worker has another version of this package ({printable(found[0])[:200]}); install "
        f"version {own_version()} on every worker"
    )


def _another_python(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f"a worker runs Python {found[1]}, the driver Python {found[2]}: set PYSPARK_PYTHON to an "
        f"interpreter that is a Python {found[2]} on every worker"
    )


def _no_python(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f'a worker cannot run "{printable(found[1])}"; set PYSPARK_PYTHON to an interpreter that '
        "every worker has"
    )


def _not_found(found: re.Match[str]) -> HarnessError:
    told, table = _essence(found.string.partition(chr(10))[2]), "TABLE_OR_VIEW" in found[0]
    of_tables = "; spark.catalog.listTables() has those there are: a temporary view is known to its"
    return DataError(f"Spark: {told}" + (f"{of_tables} own session alone" if table else ""))


def _out_of_memory(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f"an executor ran out of memory ({found[1]}): give each more (spark.executor.memory), or "
        "make partitions smaller (spark.sql.shuffle.partitions)"
    )


def _lost_worker(_: re.Match[str]) -> HarnessError:
    return UsageError(
        "a worker's Python ended in the middle of its work, as it does where memory is short: "
        "leave it more (spark.executor.memoryOverhead), or make partitions smaller "
        "(spark.sql.shuffle.partitions)"
    )


def _lost_server(_: re.Match[str]) -> HarnessError:
    return UsageError("the Spark Connect server does not answer any more; look at its log")


def _no_grpc(found: re.Match[str]) -> HarnessError:
    return UsageError(f"Spark Connect needs more packages ({found[1]}): {INSTALL}")


_KNOWN = (
    (r"No module named '(?P<module>[\w.]+)'", _no_package),
    (r"Class (org\.apache\.hadoop\.fs\.[\w.]+) not found", _no_client),
    (r"Can't get attribute '\w+' on <module 'harness[^>]*>", _another_package),
    (r"Python in worker has different version: (\d+\.\d+).*?driver: (\d+\.\d+)", _another_python),
    (r'Cannot run program "([^"]+)"', _no_python),
    (r"java\.lang\.(OutOfMemoryError[^\n]{0,80})", _out_of_memory),
    (r"Python worker exited unexpectedly", _lost_worker),
    (r"^(?:TABLE_OR_VIEW_NOT_FOUND|PATH_NOT_FOUND|UNRESOLVED_COLUMN|UNABLE_TO_INFER)", _not_found),
    (r"All masters are unresponsive|Master removed our application", _refused_by_master),
    (r"stopped SparkContext|SparkContext was shut down", _gone),
    (r"JAVA_GATEWAY_EXITED", _not_started),
    (r"Py4JNetworkError|Connection refused.*py4j", _gone),
    (r"StatusCode\.UNAVAILABLE|failed to connect to all addresses", _lost_server),
    (r"PACKAGE_NOT_INSTALLED.*?\n(.{0,120})", _no_grpc),
)
"""What Spark says, as patterns of its condition and text, and what we say."""


def own_version() -> str:
    """Return the version of this package, which must be that of every worker."""
    try:
        return version("submission-harness")
    except PackageNotFoundError:
        return "not installed"
