"""The command as a process: who reads its output, signals, and a terminal of its own."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
import small
from small import POPULAR

PLUG_INS = """
import logging
import pathlib
import time
import numpy as np

class Talks:
    def fit(self, train):
        logging.basicConfig(format="mine: %(message)s", level=logging.INFO)
        logging.getLogger("mine").info("epoch 1")
        print("epoch 2")
        return self

    def recommend(self, users, k, draws, exclude=None):
        return np.full((len(users), k), -1)

class Sleeps(Talks):
    def fit(self, train):
        time.sleep(2)
        return self

class Slow(Talks):
    def fit(self, train):
        pathlib.Path("fitting").touch()
        while True:
            time.sleep(0.01)  # a signal that comes just before a sleep is met behind it
"""
FILES = {
    "log.csv": small.LOG,
    "plugged.py": PLUG_INS,
    "shop.toml": small.toml(POPULAR),
    "bad.csv": "user,items\nann,a a\nann,b b\n,a\n",
}
PATIENCE = 300
"""Seconds after which a test gives up; none depends on them to be right."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small.write(tmp_path, FILES)


def harness(folder: Path, command: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "harness", *command.split()]
    return subprocess.run(line, cwd=folder, text=True, timeout=PATIENCE, check=False, **options)


def shell(folder: Path, line: str) -> "subprocess.CompletedProcess[str]":
    """Run a line of Bash that begins with a command of the harness."""
    bash = ["/bin/bash", "-c", f"{sys.executable} -m harness {line}"]
    return subprocess.run(bash, cwd=folder, text=True, capture_output=True, check=False)


def at_terminal(folder: Path, command: str, width: int) -> str:
    """Return what a command that succeeds shows at a terminal, without colours."""
    environment = {name: v for name, v in os.environ.items() if name not in ("COLUMNS", "LINES")}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    line = [sys.executable, "-m", "harness", *command.split()]
    done = subprocess.Popen(
        line, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # Linux says so at the end
        pass
    assert done.wait(PATIENCE) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


@pytest.mark.parametrize(
    ("command", "status", "unbuffered"),
    [("validate bad.csv", 1, ""), ("run shop.toml --out again", 0, "1"), ("run none.toml", 2, "")],
)
def test_a_reader_that_has_gone_changes_nothing(
    folder: Path, command: str, status: int, unbuffered: str
) -> None:
    read, write = os.pipe()
    os.close(read)
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = harness(folder, command, stdout=write, stderr=subprocess.PIPE, env=environment)
    os.close(write)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "standard output" not in done.stderr
    assert "again" not in command or (folder / "again" / "result.json").exists()


def test_a_closed_output_takes_nothing(folder: Path) -> None:
    done = shell(folder, "run shop.toml --out two >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "two" / "result.json").exists()


@pytest.mark.parametrize("line", ["run none.toml 2>&-", "run a <&- >&- 2>&-"])
def test_closed_streams_mix_with_nothing(folder: Path, line: str) -> None:
    done = shell(folder, line)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_model_fits(folder: Path, number: signal.Signals) -> None:
    line = [sys.executable, "-m", "harness", "run", "shop.toml"]
    line += ["--set", "models.0.use=plugged:Slow"]
    with subprocess.Popen(
        line, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as slow:
        deadline = time.monotonic() + PATIENCE
        while not (folder / "fitting").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        slow.send_signal(number)
        out, err = slow.communicate(timeout=PATIENCE)
    assert (slow.returncode, out) == (130, "")
    assert err.strip() == "interrupted; no output is half-written"
    assert not (folder / "runs").exists()


def test_what_a_model_says_is_its_own(folder: Path) -> None:
    """Its own handlers of logs are left alone, and what it prints stays out of the JSON."""
    line = "run shop.toml -v --format json --set models.0.use=plugged:Talks"
    done = harness(folder, line, capture_output=True)
    assert (done.returncode, json.loads(done.stdout)["schema"]) == (0, 1)
    assert done.stderr.count("mine: epoch 1\n") == done.stderr.count("epoch 2\n") == 1
    assert done.stderr.count("wrote the run folder") == 1


@pytest.mark.parametrize(("option", "times"), [("", 1), (" --quiet", 0)])
def test_a_run_says_what_it_does_while_a_model_fits(folder: Path, option: str, times: int) -> None:
    """It is drawn within a second of silence, and the next line takes its place."""
    small.write(folder, {"sleeps.toml": small.toml({"name": "dozy", "use": "plugged.py:Sleeps"})})
    text = at_terminal(folder, f"run sleeps.toml --fresh{option}", 64)
    drawn = re.findall(r"\r\x1b\[K1 of 1  dozy  fitting  1 s(?=\r\x1b\[K)", text)
    assert len(drawn) >= times
    assert ("fitting" in text) == bool(times)
