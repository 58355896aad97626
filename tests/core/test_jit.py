"""Compiled functions: kept for their user alone, and never run when any source has changed."""

import importlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import small

from harness.core import cache, jit

PLUG_IN = """
import numpy as np
import helper
from harness.core.jit import compiled

@compiled
def answer(values):
    return helper.added(values[0])

print(answer(np.arange(3)))
"""
HELPER = """
from harness.core.jit import compiled

@compiled
def added(value):
    return value + {added}
"""


def test_a_change_of_what_a_plug_in_calls_is_other_code(tmp_path: Path) -> None:
    """numba looks at the file of the calling function alone, which stays as it is."""
    (tmp_path / "plug_in.py").write_text(PLUG_IN)
    printed = []
    for added in (1, 1, 20):
        (tmp_path / "helper.py").write_text(HELPER.format(added=added))
        done = subprocess.run(
            [sys.executable, "-c", "import plug_in"], cwd=tmp_path, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        printed.append(done.stdout.strip())
    assert printed == ["1", "1", "20"]


SHORT = """
from pathlib import Path
import numpy as np
from harness.submission import fields as lines
from harness.submission.keys import PAD

buffer = np.frombuffer(b"ann,1 2\\nbob,3\\n" + bytes(PAD), np.uint8)
print(lines._count(buffer.copy(), 15, 10))
print(sum(lines._count.dispatcher.stats.cache_hits.values()))
"""


def answer(home: Path) -> list[str]:
    """Return what a process of a user with this home prints: lines, and how many were kept code."""
    environment = os.environ | {"XDG_CACHE_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", SHORT], env=environment, text=True, capture_output=True, check=True
    )
    return done.stdout.split()


def test_code_is_kept_in_a_folder_of_the_users_own(tmp_path: Path) -> None:
    assert answer(tmp_path) == ["2", "0"]
    (folder,) = (tmp_path / "submission-harness" / "compiled").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert answer(tmp_path) == ["2", "1"]


def test_code_of_other_source_lies_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another's package here: ours is what other tests run meanwhile."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "strangers"
    small.write(package, {"__init__.py": "", "helper.py": HELPER.format(added=1)})
    importlib.import_module("strangers")
    first = jit._place.__wrapped__("strangers")
    assert jit._place.__wrapped__("strangers") == first
    os.utime(package / "helper.py", (1, 1))
    assert jit._place.__wrapped__("strangers") not in (None, first)


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")
def test_code_in_a_folder_that_others_can_write_to_is_not_run(tmp_path: Path) -> None:
    assert answer(tmp_path) == ["2", "0"]
    (folder,) = (tmp_path / "submission-harness" / "compiled").iterdir()
    folder.chmod(0o777)
    assert answer(tmp_path) == ["2", "0"]
    folder.chmod(0o700)
    assert answer(tmp_path) == ["2", "1"]


def test_a_shared_cache_directory_holds_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "shared"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    place = jit._place.__wrapped__("harness")
    assert place is not None
    assert place.is_relative_to(tmp_path / "own")
    assert cache.folder() == tmp_path / "shared"
