"""Evaluation of recommender systems on fixed users, candidates, truth and k, by one rule.

The names below are imported when they are first used, so that ``import harness`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.core.errors import HarnessError
    from harness.experiment.check import check
    from harness.experiment.comparing import compare, leaderboard
    from harness.experiment.run import run
    from harness.experiment.split_files import split
    from harness.experiment.submissions import score
    from harness.experiment.validate import validate
    from harness.metrics.evaluate import conventions, evaluate
    from harness.models.base import Draws, Recommender, Train
    from harness.models.topk import fill, top_k
    from harness.tuning.tuning import tune

__all__ = [
    "Draws",
    "HarnessError",
    "Recommender",
    "Train",
    "check",
    "compare",
    "conventions",
    "evaluate",
    "fill",
    "leaderboard",
    "run",
    "score",
    "split",
    "top_k",
    "tune",
    "validate",
]

_HOME = {
    "Draws": "harness.models.base",
    "HarnessError": "harness.core.errors",
    "Recommender": "harness.models.base",
    "Train": "harness.models.base",
    "check": "harness.experiment.check",
    "compare": "harness.experiment.comparing",
    "conventions": "harness.metrics.evaluate",
    "evaluate": "harness.metrics.evaluate",
    "fill": "harness.models.topk",
    "leaderboard": "harness.experiment.comparing",
    "run": "harness.experiment.run",
    "score": "harness.experiment.submissions",
    "split": "harness.experiment.split_files",
    "top_k": "harness.models.topk",
    "tune": "harness.tuning.tuning",
    "validate": "harness.experiment.validate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
