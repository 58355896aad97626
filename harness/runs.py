"""Run folders read back: what a run found, and every mark of every user."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness import config as config_
from harness.errors import DataError, UsageError
from harness.metrics import Metric
from harness.once import once
from harness.scoring import ScoreTable
from harness.setting import asked


@dataclass(frozen=True, eq=False)
class Run:
    """A folder that `harness run` wrote.

    Attributes
    ----------
    document : dict
        What result.json holds.
    """

    folder: Path
    document: dict[str, Any]

    @property
    def fields(self) -> dict[str, str]:
        """The digest of each part of the exam."""
        return dict(self.document["evaluation"]["fields"])

    @property
    def fingerprint(self) -> str:
        """The digest of the exam."""
        return str(self.document["evaluation"]["fingerprint"])

    @once
    def config(self) -> config_.Config:
        """The resolved config."""
        return config_.read(part(self.folder, "config.toml"))

    @once
    def metrics(self) -> dict[str, Metric]:
        """The metrics by the names that the table gives them.

        A function in a file beside the config is named from there; here it is found from anywhere.
        """
        names = list(self.document["models"][0]["metrics"])
        return dict(zip(names, asked(self.config), strict=True))

    @once
    def environment(self) -> dict[str, str]:
        """The versions of everything, and when the run was written."""
        return {str(k): str(v) for k, v in _json(part(self.folder, "environment.json")).items()}

    @once
    def marks(self) -> pl.DataFrame:
        """One row a user, model and repeat, with a column for each metric of users."""
        path = part(self.folder, "per_user.parquet")
        frame = _parquet(path)
        missing = {"user", "model", "repeat"} - set(frame.columns)
        if missing:
            raise DataError(f"{path}: holds no marks of harness run: no column {min(missing)}")
        return frame.with_columns(pl.col("user").cast(pl.String))

    @once
    def users(self) -> pl.DataFrame:
        """Who the examined users are (`harness.profile`), rows in the order of the tables."""
        return _parquet(part(self.folder, "users.parquet"))

    @once
    def user_ids(self) -> pl.Series:
        """The examined users, in the order of the tables."""
        first = self.document["models"][0]["name"]
        return self.marks.filter(model=first, repeat=0)["user"]

    @once
    def tables(self) -> dict[str, ScoreTable]:
        """The marks of every model."""
        names = {m: n for n, m in self.metrics.items() if m.definition.of == "user"}
        path, n = self.folder / "per_user.parquet", len(self.user_ids)
        found = {}
        for model in self.document["models"]:
            rows = self.marks.filter(model=model["name"])
            if rows.is_empty() or len(rows) % n or not set(names.values()) <= set(rows.columns):
                raise DataError(f'{path}: has not all marks of model "{model["name"]}"')
            marks = {m: rows[name].to_numpy().reshape(-1, n) for m, name in names.items()}
            if not all(np.isfinite(values).all() for values in marks.values()):
                raise DataError(f'{path}: a mark of model "{model["name"]}" is no number')
            found[str(model["name"])] = ScoreTable(marks)
        return found


def read(folder: Path) -> Run:
    """Return the run in a folder.

    Raises
    ------
    UsageError, DataError
        No such folder, or it holds no run.
    """
    path = part(folder, "result.json")
    document = _json(path)
    try:
        dict(document["evaluation"]["fields"]), str(document["evaluation"]["fingerprint"])
        dict(document["models"][0]["metrics"]), [str(m["name"]) for m in document["models"]]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(f"{path}: is no result of harness run ({error!r})") from error
    return Run(folder, document)


def part(folder: Path, name: str) -> Path:
    """Return a file of a run's folder.

    Raises
    ------
    UsageError
        It is not there.
    """
    if not (folder / name).is_file():
        raise UsageError(f"{folder}: is no run folder: it holds no {name}; harness run makes one")
    return folder / name


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: is no result of harness run ({error})") from error


def _parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
