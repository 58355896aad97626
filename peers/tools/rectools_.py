"""RecTools: frames of recommendations with ranks and of interactions."""

import numpy as np
import pandas as pd
from rectools import metrics
from rectools.metrics.distances import PairwiseDistanceCalculator
from sklearn.metrics.pairwise import paired_cosine_distances

from tools import Case, Scores, truth_items

ACCURACY = {
    "MAP(divisor=trec)": metrics.MAP,
    "MAP(divisor=k)": lambda k: metrics.MAP(k, divide_by_k=True),
    "Precision": metrics.Precision,
    "Recall": metrics.Recall,
    "F1": metrics.F1Beta,
    "HitRate": metrics.HitRate,
    "MRR": metrics.MRR,
    "RPrecision": lambda k: metrics.Precision(k, r_precision=True),
    "NDCG": lambda k: metrics.NDCG(k, divide_by_achievable=True),
}
BEYOND = {"Novelty": metrics.MeanInvUserFreq, "Popularity": metrics.AvgRecPopularity}


class Cosine(PairwiseDistanceCalculator):
    """RecTools has the Hamming distance alone and asks for others in this form."""

    def __init__(self, attributes: dict[str, list[float]]):
        self.attributes = attributes

    def _get_distances_for_item_pairs(self, items_0, items_1):
        vectors = ([self.attributes[item] for item in items] for items in (items_0, items_1))
        return paired_cosine_distances(*map(np.asarray, vectors))


def score(case: Case) -> Scores:
    """Score the frames; ranks are positions in the list, from 1."""
    k, reco = case["k"], _ranked(case["lists"])
    truth = _frame((user, item) for user, items in truth_items(case).items() for item in items)
    train = _frame(case["train"])
    diversity = metrics.IntraListDiversity(k, Cosine(case["attributes"]))
    covered = metrics.CatalogCoverage(k, normalize=True).calc(reco, case["catalogue"])
    return (
        {text: _both(make(k), reco, truth) for text, make in ACCURACY.items()}
        | {text: _both(make(k), reco, train) for text, make in BEYOND.items()}
        | {"ILD": _both(diversity, reco), "Coverage": (None, float(covered))}
    )


def _both(metric, *frames: pd.DataFrame) -> tuple[dict[str, float], float]:
    """Return the metric per user and the mean of that, which is what its `calc` returns."""
    per_user = metric.calc_per_user(*frames)
    return per_user.to_dict(), float(per_user.mean())


def _ranked(lists: dict[str, list[str]]) -> pd.DataFrame:
    rows = [(user, item, rank) for user in lists for rank, item in enumerate(lists[user], 1)]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])


def _frame(rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["user_id", "item_id"])
