"""What ends a command: its exit status, interrupts, and faults that are ours."""

import signal
import sys
from pathlib import Path

import pytest
import small
from polars.exceptions import PanicException

from harness.__main__ import main as started
from harness.cli import guarded, main
from harness.cli.output import to_type
from harness.core.errors import DataError

INTERRUPTED = "interrupted; no output is half-written\n"


def raising(error: BaseException) -> object:
    raise error


@pytest.mark.parametrize("fault", [LookupError("a bug"), PanicException("a fault of its own")])
def test_an_unknown_fault_is_ours_and_keeps_its_traceback(fault: BaseException) -> None:
    with pytest.raises(type(fault)):
        guarded(lambda: raising(fault))


MEMORY = "out of memory (8 GB); use a smaller k, or fewer rows\n"
PLAIN = "log.csv: \N{REPLACEMENT CHARACTER}[2Jno\nsuch\n"


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (DataError("log.csv: \x1b[2Jno\nsuch"), 2, PLAIN),
        (KeyboardInterrupt(), 130, INTERRUPTED),
        # Polars imports parts of NumPy when they are needed, and panics where that is interrupted.
        (PanicException("no array: PyErr { type: KeyboardInterrupt }"), 130, INTERRUPTED),
        (MemoryError("8 GB"), 2, MEMORY),
        (SystemExit(3), 3, ""),
        (SystemExit("why"), 1, ""),
    ],
)
def test_the_exit_status(
    capsys: pytest.CaptureFixture[str], error: BaseException, status: int, message: str
) -> None:
    assert guarded(lambda: raising(error)) == status
    assert capsys.readouterr() == ("", message)


def test_an_interrupt_that_the_option_parser_caught(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(lambda: 130) == 130
    assert capsys.readouterr().err == INTERRUPTED


def test_an_interrupt_before_the_command_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.cli.guard_streams", lambda: raising(KeyboardInterrupt()))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit, match="130"):
        main()


def test_an_interrupt_while_the_command_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def find_spec(self, name: str, path: object, target: object = None) -> None:
            if name == "harness.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "harness.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises(SystemExit, match="130"):
        started()


@pytest.mark.parametrize(
    ("typed", "shown"),
    [(".venv/bin/harness", ".venv/bin/harness"), ("bin/harness", "harness"), ("pytest", "harness")],
)
def test_the_next_step_is_typed_as_the_command_was(
    here: Path, monkeypatch: pytest.MonkeyPatch, typed: str, shown: str
) -> None:
    """By its path, unless a shell finds the name."""
    small.write(here, {"bin/harness": ""})
    (here / "bin" / "harness").chmod(0o755)
    monkeypatch.setenv("PATH", typed.removesuffix("/harness"))
    monkeypatch.setattr("sys.argv", [typed])
    assert to_type("report", "runs/one two") == f"{shown} report 'runs/one two'"
