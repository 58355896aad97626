"""What a run found: frozen figures, their JSON, and the folder they are written to."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.errors import UsageError, printable
from harness.files import whole_folder
from harness.metrics import Metric
from harness.report.shown import Shown

if TYPE_CHECKING:
    import pandas as pd

    from harness.chance import Verdict
    from harness.comparison import Comparison
    from harness.config import TunedRecord
    from harness.evaluation import EvaluationSet
    from harness.figures import Figure
    from harness.leaderboard_estimate import Estimate, Population
    from harness.report.sheet import Sheet
    from harness.scoring import ScoreTable
    from harness.shakeup import ShakeUp
    from harness.slices import Slice

SCHEMA = 1
FILES = ("result.json", "per_user.parquet", "users.parquet", "config.toml", "environment.json")
PAGE = "report.html"
"""What ``harness report`` adds to a run folder."""

_PACKAGES = ("submission-harness", "numba", "numpy", "pandas", "polars", "scipy")


@dataclass(frozen=True)
class Chance:
    """What a uniformly random ranking earns: exact mean and standard deviation over rankings."""

    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class ModelResult:
    """Everything about one model's exam.

    Attributes
    ----------
    verdict : Verdict, optional
        Against chance, on the first metric.
    curve : mapping of cut-off to float
        The first metric's mean at each.
    described : mapping of text to float
        Coverage and popularity of its lists.
    tuned : TunedRecord, optional
        How its parameters were found, where `harness tune` found them.
    estimate : Estimate, optional
        The first metric as a leaderboard would count it.
    """

    name: str
    repeats: int
    metrics: Mapping[str, Figure]
    verdict: Verdict | None
    curve: Mapping[int, float]
    described: Mapping[str, float]
    seconds: Mapping[str, float]
    scores: ScoreTable
    tuned: TunedRecord | None = None
    estimate: Estimate | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Result(Shown):
    """A whole run; models stand best first by the first metric.

    Attributes
    ----------
    config : mapping
        The resolved config.
    layout, window : str
        The data's layout and the split in words.
    comparison : Comparison, optional
        Every pair of models, on the first metric; None for a single model or user.
    shake_ups : tuple of ShakeUp, one a public share
    slices : tuple of Slice
    population : Population
        Whom a leaderboard may count.
    users : polars.DataFrame
        Who the examined users are (`harness.profile`).
    notes : tuple of str
        What was left out or looked odd.
    seconds : mapping of step to float
    """

    config: Mapping[str, Any]
    layout: str
    window: str
    start: str
    exam: EvaluationSet
    metrics: tuple[Metric, ...]
    models: tuple[ModelResult, ...]
    chance: Mapping[str, Chance]
    comparison: Comparison | None
    shake_ups: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]
    population: Population
    users: pl.DataFrame
    notes: tuple[str, ...]
    seconds: Mapping[str, float]

    def sheets(self, verbose: bool = False) -> list[Sheet]:
        """Return the tables that are printed: the models; `verbose`, times and pairs as well."""
        from harness.report import text

        return text.sheets(self, verbose)

    def records(self) -> list[dict[str, object]]:
        """Return one record a model with full figures."""
        from harness.report import text

        return text.records(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of the run; the times under ``seconds`` alone may differ."""
        exam = self.exam
        return {
            "schema": SCHEMA,
            "evaluation": {
                "k": exam.k,
                "users": len(exam.users),
                "candidates": len(exam.candidates),
                "fingerprint": exam.fingerprint,
                "fields": exam.fields,
                "funnel": [{"step": s.step, "users": s.users} for s in exam.funnel],
                "layout": self.layout,
                "window": self.window,
            },
            "metrics": {str(m): {"better": m.definition.better} for m in self.metrics},
            "models": [_model(m) for m in self.models],
            "chance": {k: {"mean": c.mean, "sd": c.sd} for k, c in self.chance.items()},
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "shake_up": [shaken.to_dict() for shaken in self.shake_ups],
            "slices": [part.to_dict() for part in self.slices],
            "bridge": {**self.population.to_dict(), "models": self._estimates()},
            "notes": list(self.notes),
            "seconds": dict(self.seconds),
        }

    def _estimates(self) -> dict[str, dict[str, Any]]:
        """Return every model's score as a leaderboard would count it, where that can be said."""
        return {m.name: m.estimate.to_dict(self.population) for m in self.models if m.estimate}

    def to_json(self) -> str:
        """Return `to_dict` as text; a value that is no number is written as null."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row a model: repeats, every metric's mean and interval, lift, p, verdict.

        ``tuned`` is the number of trials that its parameters were chosen from, 0 for none.
        """
        import pandas as pd

        return pd.DataFrame([_row(m) for m in self.models]).set_index("model")

    def per_user(self) -> pl.DataFrame:
        """Return one row a user, model and repeat, with a column for each metric of users."""
        users = self.exam.user_ids.cast(pl.Categorical)
        frames = [
            pl.DataFrame(
                {
                    "user": users,
                    "model": pl.Series([m.name], dtype=pl.String).new_from_index(0, len(users)),
                    "repeat": pl.Series([repeat], dtype=pl.Int32).new_from_index(0, len(users)),
                    **{
                        str(k): v[repeat]
                        for k, v in m.scores.values.items()
                        if k.definition.of == "user"
                    },
                }
            )
            for m in self.models
            for repeat in range(m.repeats)
        ]
        return pl.concat(frames)

    def write(self, folder: Path | str) -> None:
        """Write the run folder whole, or nothing.

        It holds result.json, per_user.parquet (marks), users.parquet (who the users are),
        config.toml and environment.json (versions, and when it was written).

        Raises
        ------
        UsageError
            `folder` exists and is no run folder, or cannot be written.
        """
        folder = Path(folder)
        check_out(folder)
        try:
            with whole_folder(folder) as target:
                self._write(target)
        except (OSError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
            raise UsageError(
                f"{folder}: cannot be written: {getattr(error, 'strerror', None) or error}; "
                "choose another --out"
            ) from error

    def _write(self, target: Path) -> None:
        import tomli_w

        (target / "result.json").write_text(self.to_json() + "\n", encoding="utf-8")
        self.per_user().write_parquet(target / "per_user.parquet")
        self.users.write_parquet(target / "users.parquet")
        (target / "config.toml").write_text(tomli_w.dumps(self.config), encoding="utf-8")
        written = datetime.now(UTC).isoformat(timespec="seconds")
        environment = json.dumps(environment_of() | {"written": written}, indent=2)
        (target / "environment.json").write_text(environment + "\n", encoding="utf-8")


def is_run(folder: Path) -> bool:
    """Return whether a folder holds nothing but what a run writes, so that it may be replaced."""
    return folder.is_dir() and {path.name for path in folder.iterdir()} <= {*FILES, PAGE}


def check_out(folder: Path) -> None:
    """Raise UsageError where a run could not be written to `folder`, before any work is done."""
    try:
        if (folder.exists() or folder.is_symlink()) and (folder.is_symlink() or not is_run(folder)):
            raise UsageError(f"{folder}: exists and is no run folder; choose another --out")
        above = next(p for p in folder.absolute().parents if p.exists())
        writable = above.is_dir() and os.access(above, os.W_OK)
    except (OSError, ValueError) as error:
        raise UsageError(f"{printable(str(folder))[:200]}: cannot be written: {error}") from error
    if not writable:
        raise UsageError(f"{folder}: cannot be written; choose another --out")


def environment_of() -> dict[str, str]:
    """Return the versions that a figure may depend on."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _model(m: ModelResult) -> dict[str, Any]:
    verdict = m.verdict
    return {
        "name": m.name,
        "repeats": m.repeats,
        "metrics": {name: figure.to_dict() for name, figure in m.metrics.items()},
        "vs_random": None
        if verdict is None
        else {
            "lift": None if np.isnan(verdict.lift) else verdict.lift,
            "z": verdict.z,
            "p": verdict.p,
            "verdict": verdict.word,
        },
        "curve": {str(k): value for k, value in m.curve.items()},
        "described": dict(m.described),
        "seconds": dict(m.seconds),
        "tuned": None if m.tuned is None else m.tuned.model_dump(),
    }


def _ends(figure: Figure) -> tuple[tuple[str, float | None], ...]:
    low, high = figure.ci95 or (None, None)
    return ("low", low), ("high", high), ("sd_repeats", figure.sd_repeats)


def _row(m: ModelResult) -> dict[str, Any]:
    verdict = m.verdict
    return {
        "model": m.name,
        "repeats": m.repeats,
        "tuned": 0 if m.tuned is None else m.tuned.trials,
        **{k: f.mean for k, f in m.metrics.items()},
        **{f"{k} {end}": value for k, f in m.metrics.items() for end, value in _ends(f)},
        "lift": np.nan if verdict is None else verdict.lift,
        "p": np.nan if verdict is None else verdict.p,
        "verdict": None if verdict is None else verdict.word,
    }
