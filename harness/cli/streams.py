"""What strangers print must not mix with the figures."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Let everything that is printed go to standard error, by Python or by anything it starts."""
    try:
        kept = os.dup(sys.stdout.fileno())
    except (OSError, ValueError):  # no real file behind it, as in a notebook
        kept = None
    with redirect_stdout(sys.stderr):
        if kept is not None:
            os.dup2(sys.stderr.fileno(), 1)
        try:
            yield
        finally:
            if kept is not None:
                os.dup2(kept, 1)
                os.close(kept)
