"""Evaluation of recommender systems on fixed users, candidates, truth and k, by one rule.

The names below are imported when they are first used, so that ``import harness`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.comparison.check import check
    from harness.comparison.compare import compare
    from harness.comparison.leaderboard import leaderboard
    from harness.core.errors import HarnessError
    from harness.evaluation.run import run
    from harness.hosting.split import split
    from harness.metrics.evaluate import conventions, evaluate
    from harness.models.base import Draws, Recommender, Train
    from harness.models.topk import fill, top_k
    from harness.scoring.submissions import score
    from harness.scoring.validate import validate
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
    "check": "harness.comparison.check",
    "compare": "harness.comparison.compare",
    "conventions": "harness.metrics.evaluate",
    "evaluate": "harness.metrics.evaluate",
    "fill": "harness.models.topk",
    "leaderboard": "harness.comparison.leaderboard",
    "run": "harness.evaluation.run",
    "score": "harness.scoring.submissions",
    "split": "harness.hosting.split",
    "top_k": "harness.models.topk",
    "tune": "harness.tuning.tuning",
    "validate": "harness.scoring.validate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
