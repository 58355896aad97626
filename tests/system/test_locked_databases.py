"""Databases that another program or connection holds."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import duckdb
import pytest
from conftest import refusal
from event_files import log

from harness.core.errors import DataError
from harness.data.loading import load

HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"


def test_a_file_of_duckdb_that_another_process_writes_to(tmp_path: Path) -> None:
    with closing(duckdb.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE log AS SELECT 1 AS user, 1 AS item, 1 AS time")
    command = [sys.executable, "-c", HOLD, str(tmp_path / "x.db")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        with refusal(DataError, "cannot be read by DuckDB", "lock", "stop the program that writes"):
            load(log(tmp_path, events="x.db::log"))
        process.communicate(b"\n")


def test_a_locked_file_of_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sqlite3.connect
    with closing(real(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE log (user, item, time)")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(sqlite3, "connect", partial(real, timeout=0.05))
        with refusal(DataError, "cannot be read by SQLite: database is locked; stop the program"):
            load(log(tmp_path, events="x.db::log"))
