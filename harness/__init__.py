"""Evaluation of recommender systems on fixed users, candidates, truth and k, by one rule.

The names below are imported when they are first used, so that ``import harness`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.comparison.check import check as check
    from harness.comparison.compare import compare as compare
    from harness.comparison.leaderboard import leaderboard as leaderboard
    from harness.core.errors import HarnessError as HarnessError
    from harness.evaluation.run import run as run
    from harness.hosting.split import split as split
    from harness.metrics.evaluate import conventions as conventions
    from harness.metrics.evaluate import evaluate as evaluate
    from harness.models.base import Draws as Draws
    from harness.models.base import Recommender as Recommender
    from harness.models.base import Train as Train
    from harness.models.topk import fill as fill
    from harness.models.topk import top_k as top_k
    from harness.scoring.submissions import score as score
    from harness.scoring.validate import validate as validate
    from harness.tuning.tuning import tune as tune

_HOME = {
    "comparison.check": ["check"],
    "comparison.compare": ["compare"],
    "comparison.leaderboard": ["leaderboard"],
    "core.errors": ["HarnessError"],
    "evaluation.run": ["run"],
    "hosting.split": ["split"],
    "metrics.evaluate": ["conventions", "evaluate"],
    "models.base": ["Draws", "Recommender", "Train"],
    "models.topk": ["fill", "top_k"],
    "scoring.submissions": ["score"],
    "scoring.validate": ["validate"],
    "tuning.tuning": ["tune"],
}
_MODULES = {name: f"harness.{module}" for module, names in _HOME.items() for name in names}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
