"""Processes that are killed: nothing half-written stays."""

import gzip
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.core.io import unpacked, whole_file, whole_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from harness.core import io as files

kind, path = sys.argv[1], Path(sys.argv[2])
whole = {"file": files.whole_file, "unpacked": files.unpacked}.get(kind, files.whole_folder)
if kind == "swap":
    replace = Path.replace
    def killed(self, target):
        if self.name.endswith(".part"):
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(self, target)
    Path.replace = killed
with whole(path) as there:
    if kind == "file":
        there.write_text("half")
    elif kind != "unpacked":
        (there / "half").touch()
    if kind != "swap":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def kill(kind: str, path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, kind, str(path)])
    assert done.returncode == -signal.SIGKILL


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_half_written_goes_and_what_was_put_aside_comes_back(tmp_path: Path) -> None:
    kill("file", tmp_path / "out.csv")
    kill("folder", tmp_path / "new")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").touch()
    kill("swap", tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert len(names(tmp_path)) >= 4
    with whole_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("whole")
    for name in ("new", "run"):
        with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / name):
            raise ZeroDivisionError
    assert names(tmp_path) == ["out.csv", "run"]
    assert names(tmp_path / "run") == ["old"]


def test_an_unpacked_copy_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, copies = tmp_path / "a.csv.gz", tmp_path / "temporary"
    packed.write_bytes(gzip.compress(b"text"))
    copies.mkdir()
    monkeypatch.setenv("TMPDIR", str(copies))
    monkeypatch.setattr(tempfile, "tempdir", None)
    kill("unpacked", packed)
    assert len(names(copies)) == 1
    with unpacked(packed):
        assert len(names(copies)) == 1  # its own
    assert names(copies) == []
