"""Spark for tests: sessions on this machine, a real standalone cluster, a Connect server."""

import ctypes
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from harness.spark.session import session

LOOPBACK = "127.0.0.1"
PATIENCE = 60.0
"""Seconds that a process may take until it serves."""
SMALL = {
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}
"""Settings of tests' sessions: more than one partition, whatever little there is."""
LONG = pytest.mark.skipif(
    "HARNESS_LONG" not in os.environ, reason="takes a minute; make nightly sets HARNESS_LONG"
)
NOISE = [
    pytest.mark.filterwarnings(f"ignore::{kind}Warning")
    for kind in ("Future", "Deprecation", "Resource")
]
"""Marks of tests that use PySpark, which warns of itself."""
SENT = [*NOISE, pytest.mark.usefixtures("by_value")]
"""Marks of those with functions of their own, which go to workers."""


def missing() -> str | None:
    """Return what is missing for tests of Spark, and how it is installed."""
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    if importlib.util.find_spec("pyspark") is None or not java:
        return "PySpark or Java is not installed; make spark installs them"
    return None


@pytest.fixture(scope="session")
def installed() -> None:
    """Skip where PySpark or Java is missing, or fail where they are required."""
    if why := missing():
        (pytest.fail if os.environ.get("HARNESS_SPARK") == "required" else pytest.skip)(why)


@pytest.fixture(scope="module")
def by_value(installed: None, request: pytest.FixtureRequest) -> None:
    """Send workers the functions of the module of tests, which they do not have."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(request.module)


@pytest.fixture(scope="session")
def on_loopback(installed: None) -> Iterator[None]:
    """Let drivers listen on the loopback address alone."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SPARK_LOCAL_IP", LOOPBACK)
        yield


@pytest.fixture(scope="module")
def spark(on_loopback: None) -> Iterator[Any]:
    """Return a session of two threads on this machine."""
    with session("local[2]") as opened:
        small(opened)
        yield opened


def small(opened: Any) -> None:
    for name, value in SMALL.items():
        opened.conf.set(name, value)


def free_port() -> int:
    with socket.socket() as held:
        held.bind((LOOPBACK, 0))
        port: int = held.getsockname()[1]
        return port


def until(what: str, done: Callable[[], bool]) -> None:
    """Wait until something is so, at most a minute."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"{what} not within {PATIENCE:.0f} s"
        time.sleep(0.1)


def answers(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True


def _with_parent() -> None:
    """End with the process that runs the tests, even where that is killed (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Daemons:
    """Processes of Spark's own scripts, which write into a folder and end with the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, script: str, arguments: list[str]) -> subprocess.Popen[bytes]:
        import pyspark

        command = [str(Path(pyspark.__path__[0]) / "bin" / script), *arguments]
        log = self.folder / f"{len(self._processes)}.log"
        settings = {
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_LOCAL_DIRS": str(self.folder),
            "PYSPARK_PYTHON": sys.executable,
        }
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=os.environ | settings,
                cwd=self.folder,
                start_new_session=True,  # Ctrl-C is for the tests, which then stop it
                preexec_fn=_with_parent,
            )
        self._processes.append(process)
        return process

    def stop(self) -> None:
        running = [process for process in reversed(self._processes) if process.poll() is None]
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Cluster:
    """A standalone master and two workers of one core and 1 GB."""

    def __init__(self, daemons: Daemons) -> None:
        self._daemons = daemons
        self._port, self._page = free_port(), free_port()
        self.url = f"spark://{LOOPBACK}:{self._port}"
        self._start("master.Master", "--port", self._port, "--webui-port", self._page)
        until("the master answers", lambda: answers(self._port) and answers(self._page))
        self.workers = [self.add_worker(), self.add_worker()]
        until("two workers", lambda: self.alive() == 2)

    def _start(self, role: str, *arguments: object) -> subprocess.Popen[bytes]:
        place = ["--host", LOOPBACK, *map(str, arguments)]
        return self._daemons.start("spark-class", [f"org.apache.spark.deploy.{role}", *place])

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self._start(
            "worker.Worker", "--cores", 1, "--memory", "1g", "--webui-port", 0,
            "--work-dir", self._daemons.folder, self.url,
        )  # fmt: skip

    def alive(self) -> int:
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{self._page}/json/") as page:
                alive_workers: int = json.load(page)["aliveworkers"]
        except (OSError, json.JSONDecodeError):  # the page is there before what it tells
            return 0
        return alive_workers


@pytest.fixture(scope="session")
def daemons(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemons]:
    running = Daemons(tmp_path_factory.mktemp("spark"))
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="session")
def cluster(daemons: Daemons) -> Cluster:
    """Return a real cluster on the loopback address."""
    return Cluster(daemons)


@pytest.fixture
def on_cluster(cluster: Cluster, on_loopback: None) -> Iterator[Any]:
    """Return a session of that cluster."""
    with session(cluster.url) as opened:
        small(opened)
        yield opened


@pytest.fixture(scope="session")
def connect_server(daemons: Daemons) -> str:
    """Return the address of a Spark Connect server that works with two threads of its own."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
    }
    options = [text for name, value in settings.items() for text in ("--conf", f"{name}={value}")]
    service = "org.apache.spark.sql.connect.service.SparkConnectServer"
    daemons.start("spark-submit", ["--master", "local[2]", *options, "--class", service])
    until("the Connect server answers", lambda: answers(port))
    return f"sc://{LOOPBACK}:{port}"


@pytest.fixture
def connected(connect_server: str) -> Iterator[Any]:
    """Return a session of that server."""
    with session(remote=connect_server) as opened:
        small(opened)
        yield opened


@pytest.fixture(scope="session")
def rows() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return lists of twelve items and a truth of one to five, of which a few hit; in no order."""
    draw = np.random.default_rng(11)
    users = np.char.add("u", np.arange(3_000).astype(str))
    lists = [draw.choice(200, 12, replace=False) for _ in users]
    true = [draw.choice(200, draw.integers(1, 6), replace=False) for _ in users]
    listed, truth = (
        {
            "user": np.repeat(users, list(map(len, items))),
            "item": np.char.add("i", np.concatenate(items).astype(str)),
        }
        for items in (lists, true)
    )
    listed["rank"] = np.tile(np.arange(1, 13), 3_000)
    first, other = (
        pl.DataFrame(side).sample(fraction=1, shuffle=True, seed=7) for side in (listed, truth)
    )
    return first, other


def sides(spark: Any, rows: tuple[pl.DataFrame, pl.DataFrame]) -> list[Any]:
    return [spark.createDataFrame(frame.to_arrow()) for frame in rows]
