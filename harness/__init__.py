"""One exam for recommender systems: fixed users, candidates, truth and k, marked by one rule.

The names below are imported when they are first used, so that ``import harness`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.compared import compare
    from harness.leaders import leaderboard
    from harness.lists import fill, top_k
    from harness.marking import audit, evaluate
    from harness.recommender import Draws, Recommender, Train
    from harness.runner import run
    from harness.submissions import score, validate
    from harness.tuning import tune

__all__ = [
    "Draws",
    "Recommender",
    "Train",
    "audit",
    "compare",
    "evaluate",
    "fill",
    "leaderboard",
    "run",
    "score",
    "top_k",
    "tune",
    "validate",
]

_HOME = {
    "Draws": "harness.recommender",
    "Recommender": "harness.recommender",
    "Train": "harness.recommender",
    "audit": "harness.marking",
    "compare": "harness.compared",
    "evaluate": "harness.marking",
    "fill": "harness.lists",
    "leaderboard": "harness.leaders",
    "run": "harness.runner",
    "score": "harness.submissions",
    "top_k": "harness.lists",
    "tune": "harness.tuning",
    "validate": "harness.submissions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
