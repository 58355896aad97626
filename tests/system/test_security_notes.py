"""SECURITY.md: its commands run as they stand."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)


def run(block: str, folder: Path) -> str:
    """Run a block of commands in a folder; return what it prints."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    harness = programs / "harness"
    here = f"PYTHONPATH={ROOT} exec {sys.executable} -m harness"
    harness.write_text(f'#!/bin/sh\n{here} "$@"\n')
    harness.chmod(0o700)
    line, env = ["/bin/sh", "-eu", "-c", block], {"PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_uploads_are_scored_as_it_says(tmp_path: Path) -> None:
    (prepare, score), worker = BLOCKS, tmp_path / "worker"
    worker.mkdir(mode=0o700)
    (tmp_path / "solution.csv").write_text("user,items\nann,a b\nbob,c\n")
    (tmp_path / "upload.csv").write_text("user,items\nann,a x\nbob,c\n")
    run(prepare, tmp_path)
    assert (worker / "cache").stat().st_mode & 0o077 == 0
    assert run(score, tmp_path) == "0\n"
    assert json.loads((worker / "result.json").read_text())["metrics"]["MAP@12"]["mean"] == 3 / 4
    (tmp_path / "upload.csv").write_bytes(b"")
    assert run(score, tmp_path) == "1\n"
    (problem,) = json.loads((worker / "result.json").read_text())["problems"]["found"]
    assert problem["code"] == "SUB003"
    (tmp_path / "solution.csv").write_bytes(b"")
    assert run(score, tmp_path) == "2\n"
    assert "solution.csv" in (worker / "messages.txt").read_text()
