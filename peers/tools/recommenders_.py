"""recommenders (Microsoft's): means over frames; a mean is all that its accuracy metrics give."""

import numpy as np
import pandas as pd
from recommenders.evaluation import python_evaluation as evaluation

from tools import Case, Scores, top, wanted

NAMES = {"col_user": "user", "col_item": "item"}
ACCURACY = {
    "MAP": (evaluation.map_at_k, {}),
    "MAP(divisor=trec)": (evaluation.map, {}),
    "Precision": (evaluation.precision_at_k, {}),
    "Recall": (evaluation.recall_at_k, {}),
    "RPrecision": (evaluation.r_precision_at_k, {}),
    "NDCG": (evaluation.ndcg_at_k, {"score_type": "binary"}),
    "NDCG(gain=linear)": (evaluation.ndcg_at_k, {"score_type": "raw"}),
    "NDCG(gain=exponential)": (evaluation.ndcg_at_k, {"score_type": "exp"}),
}


def score(case: Case) -> Scores:
    """Score frames in which a falling prediction stands for the rank."""
    rows = ((user, item, grade) for user, graded in case["truth"].items() for item, grade in graded)
    truth = _frame((row for row in rows if row[2] > 0), "rating")
    predicted = _predicted(case["lists"])
    means = {
        text: (None, float(_mean(metric, truth, predicted, case["k"], options)))
        for text, (metric, options) in wanted(ACCURACY, case).items()
    }
    train = pd.DataFrame(case["train"], columns=["user", "item"])
    cut = _predicted(top(case))[["user", "item"]]
    return means | {
        "ILD": _diversity(train, cut, case["attributes"]),
        "Novelty": (None, float(evaluation.novelty(train, cut, **NAMES))),
        "Coverage": (None, float(evaluation.catalog_coverage(train, cut, **NAMES))),
    }


def _mean(metric, truth: pd.DataFrame, predicted: pd.DataFrame, k: int, options: dict) -> float:
    columns = NAMES | {"col_rating": "rating", "col_prediction": "prediction"}
    return metric(truth, predicted, k=k, discfun_type="log2", **columns, **options)


def _diversity(train: pd.DataFrame, cut: pd.DataFrame, attributes: dict):
    vectors = [(item, np.asarray(vector)) for item, vector in attributes.items()]
    features = pd.DataFrame(vectors, columns=["item", "features"])
    like = {"item_feature_df": features, "item_sim_measure": "item_feature_vector"}
    values = evaluation.user_diversity(train, cut, **like, **NAMES)
    per_user = values.set_index("user")["user_diversity"]
    return per_user.to_dict(), float(per_user.mean())


def _predicted(lists: dict[str, list[str]]) -> pd.DataFrame:
    rows = ((user, item, -place) for user in lists for place, item in enumerate(lists[user]))
    return _frame(rows, "prediction")


def _frame(rows, value: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["user", "item", value]).astype({value: float})
