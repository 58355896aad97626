"""A stream that takes all that is written, and knows what was lost unless its reader has gone."""

import errno
import os
from pathlib import Path

from harness.cli.output import Stream


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
