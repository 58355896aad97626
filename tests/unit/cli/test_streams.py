"""A stream that takes all that is written, and knows what was lost unless its reader has gone."""

import errno
import os
from pathlib import Path

import pytest

from harness.cli.streams import Stream


def test_a_pipe_that_is_full_and_does_not_let_writers_wait_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    filler = os.write(write, b"." * (1 << 20))
    taken = []

    def emptied(*_: object) -> tuple[list[int], list[int], list[int]]:
        taken.append(len(os.read(read, 1 << 20)))
        return [], [write], []

    monkeypatch.setattr("select.select", emptied)
    with Stream(write, "w") as stream:
        assert stream.write(b"lines") == 5
        assert stream.failure is None
    assert (taken, os.read(read, 9)) == ([filler], b"lines")
    os.close(read)


def test_a_reader_that_has_gone_is_no_failure() -> None:
    read, write = os.pipe()
    os.close(read)
    with Stream(write, "w") as stream:
        assert (stream.write(b"lines"), stream.failure) == (5, None)


def test_a_full_device_is_one() -> None:
    with Stream(os.open(Path("/dev/full"), os.O_WRONLY), "w") as stream:
        assert stream.write(b"lines") == 5
        assert stream.failure is not None
        assert stream.failure.errno == errno.ENOSPC
