"""A session of Spark, opened or taken; and what Spark raises, in words that a person can act on."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.errors import DataError, HarnessError, UsageError, printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST = 4
"""The oldest major version of Spark, here and on a Connect server."""
LEAST_JAVA = 17
_INSTALL = f'pip install "pyspark[connect]>={LEAST}.0"'
_WAIT = 10.0
"""Seconds that a master or server may take to answer."""
_PORTS = {"spark": 7077, "sc": 15002}
_LOOPBACK = ("localhost", "127.", "[::1]")
_LOG = Path(__file__).with_name("log4j2.properties")
_QUIET = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOG.as_uri()}",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
}
_LOCAL = {"spark.driver.memory": "2g"}
"""Where the driver does all the work."""
_SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
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
    with spark_errors():
        active = _active()
        if active is not None:
            _refuse_another(active, master, remote)
            yield active
            return
        with _restored(*_SET_BY_PYSPARK):
            opened = _opened(master, remote)
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
        raise UsageError(f"Spark needs PySpark, which is not installed: {_INSTALL}") from error
    if int(found.partition(".")[0]) < LEAST:
        raise UsageError(
            f"PySpark {found} is installed; version {LEAST}.0 or later is needed: {_INSTALL}"
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
    connected = _is_connected(active)
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


def _is_connected(active: SparkSession) -> bool:
    return ".connect." in type(active).__module__


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
        return found
    _check_java()
    if master is not None:
        _check_master(master)
    builder = SparkSession.builder
    builder = builder if master is None else builder.master(master)
    for name, value in _settings(master or "local").items():
        builder = builder.config(name, value)
    with _restored("PYSPARK_PYTHON"):
        if _is_near(master or os.environ.get("MASTER") or "local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        opened: SparkSession = builder.getOrCreate()
    return opened


def _settings(master: str) -> dict[str, str]:
    """Return the settings that we need and that nobody else has made."""
    wanted = _QUIET | _SQL | (_LOCAL if master.startswith("local") else {})
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
        raise UsageError(f"{wanted}: {where} cannot be run ({error}); {get}") from error
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    if done.returncode != 0 or found is None:
        raise UsageError(f"{wanted}: {java} -version ended with status {done.returncode}; {get}")
    if int(found[1]) < LEAST_JAVA:
        named = "JAVA_HOME names" if home else "PATH has"
        raise UsageError(f"{wanted}; {named} Java {found[1]} ({java}); {get}")


def _check_master(master: str) -> None:
    """Raise UsageError where nothing answers at any address of a standalone master."""
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
    failed = re.search(r"most recent failure: [^:]*\([^()]*\)[^:]*: (.*)", text)
    first = failed[1] if failed else text.strip().partition("\n")[0]
    return printable(re.sub(r"^(?:\[[A-Z0-9_.]+\]\s*|[\w.$]+Exception: )+", "", first))[:500]


def _gone(_: re.Match[str]) -> HarnessError:
    return UsageError(
        "Spark's driver has ended while it was asked; where it ran out of memory, give it more "
        "(spark.driver.memory, or SPARK_DRIVER_MEMORY=4g)"
    )


def _refused_by_master(_: re.Match[str]) -> HarnessError:
    return UsageError(
        "the master does not answer as one of this version does; look for its address and version "
        "on its page"
    )


def _no_package(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f'a worker has no Python module "{found[1]}"; install this package and what it needs on '
        "every worker, for the Python that PYSPARK_PYTHON names, or ship an environment with "
        "--archives (docs/scale.md)"
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
    return DataError(f"Spark: {_essence(found.string.partition(chr(10))[2])}")


def _out_of_memory(found: re.Match[str]) -> HarnessError:
    return UsageError(
        f"an executor ran out of memory ({found[1]}): give each more (spark.executor.memory), or "
        "make partitions smaller (spark.sql.shuffle.partitions)"
    )


def _lost_server(_: re.Match[str]) -> HarnessError:
    return UsageError("the Spark Connect server does not answer any more; look at its log")


def _no_grpc(found: re.Match[str]) -> HarnessError:
    return UsageError(f"Spark Connect needs more packages ({found[1]}): {_INSTALL}")


_KNOWN = (
    (r"No module named '(?P<module>[\w.]+)'", _no_package),
    (r"Can't get attribute '\w+' on <module 'harness[^>]*>", _another_package),
    (r"Python in worker has different version: (\d+\.\d+).*?driver: (\d+\.\d+)", _another_python),
    (r'Cannot run program "([^"]+)"', _no_python),
    (r"java\.lang\.(OutOfMemoryError[^\n]{0,80})", _out_of_memory),
    (r"^(?:TABLE_OR_VIEW_NOT_FOUND|PATH_NOT_FOUND|UNRESOLVED_COLUMN|UNABLE_TO_INFER)", _not_found),
    (r"All masters are unresponsive|Master removed our application", _refused_by_master),
    (r"stopped SparkContext|SparkContext was shut down|JAVA_GATEWAY_EXITED", _gone),
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
