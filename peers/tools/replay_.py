"""RePlay: dictionaries of scored lists; without a frame it ranks by score, ties as they stand."""

import math
import warnings

from replay import metrics
from replay.metrics.base_metric import MetricDuplicatesWarning

from tools import Case, Scores, averaged, truth_items

ACCURACY = {
    "MAP": metrics.MAP,
    "Precision": metrics.Precision,
    "Recall": metrics.Recall,
    "HitRate": metrics.HitRate,
    "MRR": metrics.MRR,
    "NDCG": metrics.NDCG,
}
warnings.simplefilter("ignore", MetricDuplicatesWarning)


def score(case: Case) -> Scores:
    """Score dictionaries; RePlay's surprisal is novelty in units of log2(training users)."""
    k, lists = case["k"], _scored(case["lists"])
    truth, train = truth_items(case), _by_user(case["train"])
    surprisal, _ = _both(metrics.Surprisal, k, lists, train)
    covered = metrics.Coverage(k)(lists, train)[f"Coverage@{k}"]
    unit = math.log2(len(train))
    return {text: _both(metric, k, lists, truth) for text, metric in ACCURACY.items()} | {
        "Novelty": averaged({user: value * unit for user, value in surprisal.items()}),
        "Coverage": (None, covered),
    }


def _both(metric, k: int, lists: dict, other: dict) -> tuple[dict[str, float], float]:
    """Return the metric per user and its mean over its own users."""
    name = metric.__name__
    per_user = metric(k, mode=metrics.PerUser())(lists, other)[f"{name}-PerUser@{k}"]
    return per_user, metric(k)(lists, other)[f"{name}@{k}"]


def _scored(lists: dict[str, list[str]]) -> dict[str, list[tuple[str, float]]]:
    return {
        user: [(item, float(-place)) for place, item in enumerate(items)]
        for user, items in lists.items()
    }


def _by_user(rows: list[list[str]]) -> dict[str, list[str]]:
    items: dict[str, list[str]] = {}
    for user, item in rows:
        items.setdefault(user, []).append(item)
    return items
