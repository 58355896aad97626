"""A reader who does all that a page says, and compares what comes out."""

import ast
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Cli
from pages.steps import Step, save, steps


def follow(page: str, folder: Path, cli: Cli, capfd: pytest.CaptureFixture[str]) -> None:
    """Save each file of a page, type each command and run each block, in a copy of the samples."""
    for name in ("configs", "data"):
        shutil.copytree(ROOT / name, folder / name)
    space: dict[str, object] = {}
    status, err, todo = 0, "", list(steps(ROOT / page))
    assert todo, "a page that shows nothing to do"
    for step in todo:
        out = ""
        if step.kind == "save":
            save(step, folder)
        elif step.kind == "python":
            tree = ast.Interactive(ast.parse(step.text).body)  # prints values, as a notebook does
            exec(compile(tree, page, "single"), space)  # noqa: S102
            out = capfd.readouterr().out
        elif step.text == "echo $?":
            out, status = f"{status}\n", 0
        else:
            assert status == 0, err
            status, out, err = _typed(step.text, cli)
        _compare(step, out)
    assert status == 0, err


def _typed(command: str, cli: Cli) -> tuple[int, str, str]:
    """Return the exit status, output and errors of a command of a page."""
    name, *words = [
        path
        for word in shlex.split(command, comments=True)
        for path in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    if name == "harness":
        return cli(words)
    program = sys.executable if name == "python" else name
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def _compare(step: Step, out: str) -> None:
    """Check that a page shows what came out.

    A line of … alone is any lines, and … at the end of a line the rest of it.
    """
    lines = [
        r"(?:.*\n)*?" if line == "…" else re.escape(line) + r"\n"
        for line in step.expected.splitlines()
    ]
    want = "".join(lines).replace(r"…\n", r".*\n")
    assert not step.expected or re.fullmatch(want, out), f"{step.text}\n{out}"
