"""Run folders: what they hold, and where one may be written."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.core.errors import DataError, UsageError, counted, printable
from harness.core.io import exists, written

PER_USER, USERS, RECOMMENDATIONS = "per_user.parquet", "users.parquet", "recommendations.parquet"
TABLES = (PER_USER, USERS, RECOMMENDATIONS)
"""Of a run on Spark they are folders; the last one may be left out."""
FILES = ("result.json", PER_USER, USERS, "config.toml", "environment.json")
FOLD = "fold"  # the column of a fold's number, from 1, where a run has several
PAGE = "report.html"  # what ``harness report`` adds to a run folder

_PACKAGES = ("submission-harness", "numpy", "pandas", "polars", "scipy")


def part(folder: Path, name: str) -> Path:
    """Return a file of a run's folder; raise UsageError where it is not there."""
    if exists(folder / name):
        return folder / name
    runs = sorted(path.parent for path in folder.glob(f"*/{name}")) if exists(folder) else []
    if runs:
        raise UsageError(
            f"{folder}: not a run folder, but it has {counted(len(runs), 'run')}; name one, such "
            f"as {runs[-1]}, or rank all of them: "
            f"{shlex.join(['harness', 'leaderboard', str(folder)])}"
        )
    raise UsageError(f"{folder}: not a run folder: it has no {name}; harness run makes one")


def table(folder: Path, name: str) -> Path:
    """Return a table of a run's folder; raise UsageError where it is not there."""
    if exists(folder / name):
        return folder / name
    known = environment(folder) if (folder / "environment.json").is_file() else {}
    if "tables" in known:  # such as hdfs://…/run-1
        raise UsageError(
            f"{folder}: has no {name}: Spark wrote its tables to {printable(known['tables'])}; "
            f"copy {name} from there into {folder}"
        )
    raise UsageError(f"{folder}: has no {name}; {again(folder)}")


def environment(folder: Path) -> dict[str, str]:
    """Return the versions of everything, and when the run was written."""
    path = part(folder, "environment.json")
    try:
        values = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: not the environment of a run ({error})") from error
    return {str(key): str(value) for key, value in values.items()}


def again(folder: Path) -> str:
    """Return the next step where a run cannot be used as it is."""
    words = ["harness", "run", str(folder / "config.toml"), "--out", str(folder)]
    return f"run it again: {shlex.join(words)}"


def is_run(folder: Path) -> bool:
    """Return whether a folder holds nothing but what a run writes, so that it may be replaced."""
    return folder.is_dir() and {path.name for path in folder.iterdir()} <= {*FILES, *TABLES, PAGE}


def is_run_of(folder: Path, config: Mapping[str, Any]) -> bool:
    """Return whether a folder holds a run of a resolved config, and nothing else."""
    import tomli_w

    try:
        text = (folder / "config.toml").read_text(encoding="utf-8")
        return is_run(folder) and text == tomli_w.dumps(config)
    except (OSError, ValueError):
        return False


def check_out(
    folder: Path, may_replace: Callable[[Path], bool] = is_run, what: str = "run folder"
) -> None:
    """Raise UsageError where a run, or `what` else, could not be written, before work is done."""
    with written(folder):
        taken = folder.is_symlink() or (folder.exists() and not may_replace(folder))
        above = next(p for p in folder.absolute().parents if p.exists())
        writable = above.is_dir() and os.access(above, os.W_OK)
    if taken:
        raise UsageError(f"{folder}: exists and is not a {what}; choose another --out")
    if not writable:
        raise UsageError(f"{folder}: cannot be written; choose another --out")


def installed_version(package: str = "submission-harness") -> str:
    """Return the version of a package, of this one by default; nothing where it is missing."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def environment_now() -> dict[str, str]:
    """Return the versions that a score may depend on, and the time."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{package: installed_version(package) or "not installed" for package in _PACKAGES},
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }
