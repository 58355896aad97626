"""A command's exit status never depends on who reads its output; output that is lost is told."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import small
from small import POPULAR

CONFIG = small.toml(POPULAR, compare={"resamples": 100})
COMMANDS = {
    "validate bad.csv": 1,
    "score good.csv --solution good.csv": 0,
    "run shop.toml --out again": 0,
    "list metrics": 0,
    "--help": 0,
    "run none.toml": 2,
}


FULL = "standard output cannot be written: No space left on device"
CLOSED = "standard output cannot be written: Bad file descriptor"


def harness(folder: Path, command: str, **given: Any) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "harness", *command.split()]
    return subprocess.run(line, cwd=folder, text=True, timeout=100, check=False, **given)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all that the commands above need."""
    folder = tmp_path_factory.mktemp("made")
    files = {
        "log.csv": small.LOG,
        "shop.toml": CONFIG,
        "good.csv": "user,items\nann,a b\nbob,b\n",
        "bad.csv": "user,items\nann,a a\nann,b b\n,a\n",
    }
    small.write(folder, files)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_has_gone_changes_nothing(made: Path, command: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = harness(made, command, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert done.returncode == COMMANDS[command]
    assert "Traceback" not in done.stderr
    assert "standard output" not in done.stderr


@pytest.mark.parametrize("lines", [1, 2])
def test_a_reader_that_leaves_after_a_line_changes_nothing(made: Path, lines: int) -> None:
    """By the shell's own pipe: command or reader may be first."""
    line = f"{sys.executable} -m harness validate bad.csv | head -{lines} > head.txt"
    script = f'{line}; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["/bin/bash", "-c", script], cwd=made, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


def test_what_a_command_writes_is_written_though_the_reader_has_gone(made: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = harness(made, "validate bad.csv --fix mended.csv", stdout=write, stderr=write)
    os.close(write)
    assert done.returncode in (0, 1)
    assert (made / "mended.csv").exists()


@pytest.mark.parametrize("command", ["validate bad.csv", "list metrics"])
def test_a_full_device_is_told_and_is_status_2(made: Path, command: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = harness(made, command, stdout=full, stderr=subprocess.PIPE)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    assert FULL in done.stderr


@pytest.mark.parametrize("command", ["run shop.toml --out two", "--version"])
def test_a_closed_output_is_told_and_is_status_2(made: Path, command: str) -> None:
    line = f"{sys.executable} -m harness {command} >&-"
    done = subprocess.run(
        ["/bin/bash", "-c", line], cwd=made, stderr=subprocess.PIPE, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stderr.count(CLOSED)) == (2, 1)
    assert "two" not in command or (made / "two" / "result.json").exists()


def test_a_closed_error_stream_does_not_mix_with_the_figures(made: Path) -> None:
    line = f"{sys.executable} -m harness run none.toml 2>&-"
    done = subprocess.run(["/bin/bash", "-c", line], cwd=made, stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


def test_all_three_streams_closed_is_a_status_alone(made: Path) -> None:
    line = f"{sys.executable} -m harness validate bad.csv <&- >&- 2>&-"
    assert subprocess.run(["/bin/bash", "-c", line], cwd=made, check=False).returncode == 2


def test_a_reader_that_is_slow_gets_everything(made: Path) -> None:
    """A pipe that is full and does not let writers wait, as some programs hand them over."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    filler = os.write(write, b"." * (1 << 20))
    line = [sys.executable, "-m", "harness", "list", "metrics"]
    with subprocess.Popen(line, cwd=made, stdout=write, stderr=subprocess.PIPE) as child:
        os.close(write)
        time.sleep(2)
        with open(read, "rb") as pipe:  # noqa: PTH123 - a descriptor
            found = pipe.read()[filler:].decode()
        assert (child.wait(), child.stderr and child.stderr.read()) == (0, b"")
    whole = harness(made, "list metrics", stdout=subprocess.PIPE)
    assert found == whole.stdout
