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
    for pattern, kind, words in _KNOWN:
        found = re.search(pattern, f"{condition}\n{text}", re.DOTALL)
        if found:
            return kind(
                words.format(
                    found=found,
                    shown=[printable(part) for part in (found[0], *found.groups())],
                    essence=_essence(text),
                    python=sys.executable,
                    version=own_version(),
                    install=INSTALL,
                )
            )
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


_GONE = (
    "Spark's driver has ended while it was asked; where it ran out of memory, give it more "
    "(spark.driver.memory, or SPARK_DRIVER_MEMORY=4g)"
)
_KNOWN: tuple[tuple[str, type[HarnessError], str], ...] = (
    (
        r"No module named '(?P<module>[\w.]+)'",
        UsageError,
        'a worker has no Python module "{found[1]}": workers run the Python that PYSPARK_PYTHON '
        "names when the session starts, or python3. Where they are this machine, set it to "
        "{python}; elsewhere install this package and what it needs for it, or ship an "
        "environment with --archives (docs/scale.md)",
    ),
    (
        r"Class (org\.apache\.hadoop\.fs\.[\w.]+) not found",
        UsageError,
        "Spark has no client for such an address: it misses the class {found[1]}; add its package "
        "to spark.jars.packages (for s3a://: org.apache.hadoop:hadoop-aws, in the version of the "
        "Hadoop that Spark has)",
    ),
    (
        r"Can't get attribute '\w+' on <module 'harness[^>]*>",
        UsageError,
        "a worker has another version of this package ({shown[0]:.200}); install "
        "version {version} on every worker",
    ),
    (
        r"Python in worker has different version: (\d+\.\d+).*?driver: (\d+\.\d+)",
        UsageError,
        "a worker runs Python {found[1]}, the driver Python {found[2]}: set PYSPARK_PYTHON to an "
        "interpreter that is a Python {found[2]} on every worker",
    ),
    (
        r'Cannot run program "([^"]+)"',
        UsageError,
        'a worker cannot run "{shown[1]}"; set PYSPARK_PYTHON to an interpreter that '
        "every worker has",
    ),
    (
        r"java\.lang\.(OutOfMemoryError[^\n]{0,80})",
        UsageError,
        "an executor ran out of memory ({found[1]}): give each more (spark.executor.memory), or "
        "make partitions smaller (spark.sql.shuffle.partitions)",
    ),
    (
        r"Python worker exited unexpectedly",
        UsageError,
        "a worker's Python ended in the middle of its work, as it does where memory is short: "
        "leave it more (spark.executor.memoryOverhead), or make partitions smaller "
        "(spark.sql.shuffle.partitions)",
    ),
    (
        r"^TABLE_OR_VIEW_NOT_FOUND",
        DataError,
        "Spark: {essence}; spark.catalog.listTables() has those there are: a temporary view is "
        "known to its own session alone",
    ),
    (r"^(?:PATH_NOT_FOUND|UNRESOLVED_COLUMN|UNABLE_TO_INFER)", DataError, "Spark: {essence}"),
    (
        r"All masters are unresponsive|Master removed our application",
        UsageError,
        "the master does not answer as one of this version does; look for its address and version "
        "on its page",
    ),
    (r"stopped SparkContext|SparkContext was shut down", UsageError, _GONE),
    (
        r"JAVA_GATEWAY_EXITED",
        UsageError,
        "Java ended before Spark had started: what it printed says why; it is often a setting, "
        "such as spark.driver.memory",
    ),
    (r"Py4JNetworkError|Connection refused.*py4j", UsageError, _GONE),
    (
        r"StatusCode\.UNAVAILABLE|failed to connect to all addresses",
        UsageError,
        "the Spark Connect server does not answer any more; look at its log",
    ),
    (
        r"PACKAGE_NOT_INSTALLED.*?\n(.{0,120})",
        UsageError,
        "Spark Connect needs more packages ({found[1]}): {install}",
    ),
)
"""What Spark says, as patterns of its condition and text, and what we say."""


def own_version() -> str:
    """Return the version of this package, which must be that of every worker."""
    try:
        return version("submission-harness")
    except PackageNotFoundError:
        return "not installed"
