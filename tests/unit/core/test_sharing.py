"""Work that is shared, where no worker is started."""

import threading
from typing import Any

import pytest

from harness.core import sharing
from harness.core.sharing import Work, Workers

UNUSED: Any = None
WORK = Work[str, str](UNUSED, UNUSED, UNUSED, UNUSED, here="{} here".format, lost=UNUSED)


def test_without_workers_all_is_done_here_in_order() -> None:
    with Workers("no_such_module", 0) as workers:
        done = [(item, get()) for item, get in workers.share([["a", "b"], ["c"]], WORK)]
    assert done == [("a", "a here"), ("b", "b here"), ("c", "c here")]


def test_short_work_starts_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(sharing, "Worker", lambda *how: started.append(how))
    with Workers("no_such_module", 2, patience=3600) as workers:
        done = [get() for _, get in workers.share([["a"], ["b"], ["c"]], WORK)]
        for thread in threading.enumerate():
            if thread.name == "share":
                thread.join(120)
    assert done == ["a here", "b here", "c here"]
    assert started == []
