"""scikit-learn: one user at a time, every document with its relevance and its score.

Documents that no list holds stand behind the list's empty positions, so that they never enter the
first k; the empty positions are documents without relevance.
"""

import numpy as np
from sklearn.metrics import average_precision_score, ndcg_score, recall_score

from tools import Case, Scores, averaged, top, truth_items, wanted

GAINS = {
    "NDCG": lambda grade: min(grade, 1),
    "NDCG(gain=linear)": lambda grade: grade,
    "NDCG(gain=exponential)": lambda grade: 2**grade - 1,
}


def score(case: Case) -> Scores:
    """Score the lists of the truth's users, an absent list as an empty one."""
    k, lists = case["k"], top(case)
    users = {user: (lists.get(user, []), dict(rows)) for user, rows in case["truth"].items()}
    scores = {"MAP(divisor=hits)": {user: _ap(*both) for user, both in users.items()}}
    for text, gain in wanted(GAINS, case).items():
        scores[text] = {user: _ndcg(*both, gain, k) for user, both in users.items()}
        scores[_of_retrieved(text)] = {
            user: _ndcg(items, _held(truth, items), gain, k)
            for user, (items, truth) in users.items()
        }
    found = {text: averaged(values) for text, values in scores.items()}
    return found | {"MicroRecall": (None, _micro_recall(lists, truth_items(case)))}


def _micro_recall(lists: dict[str, list[str]], true: dict[str, list[str]]) -> float:
    """Score the users of the truth as samples, the items as labels: true or not, listed or not."""
    items = sorted({item for rows in (*lists.values(), *true.values()) for item in rows})
    y_true = [[item in true[user] for item in items] for user in true]
    y_pred = [[item in lists.get(user, []) for item in items] for user in true]
    return float(recall_score(y_true, y_pred, average="micro", zero_division=0))


def _of_retrieved(text: str) -> str:
    return f"{text[:-1]},ideal=retrieved)" if "(" in text else f"{text}(ideal=retrieved)"


def _ap(items: list[str], truth: dict[str, int]) -> float:
    """Score what was retrieved and nothing else: the divisor is the number of hits."""
    relevance = [int(truth.get(item, 0) > 0) for item in items]
    if not any(relevance):
        return 0.0
    return float(average_precision_score(relevance, -np.arange(len(items))))


def _ndcg(items: list[str], truth: dict[str, int], gain, k: int) -> float:
    missed = [grade for item, grade in truth.items() if item not in items]
    listed = [gain(truth[item]) if item in truth else 0 for item in items]
    relevance = listed + [0] * k + [gain(grade) for grade in missed]
    relevance += [0] * (len(relevance) == 1)  # it refuses a single document
    return float(ndcg_score([relevance], [-np.arange(len(relevance))], k=k))


def _held(truth: dict[str, int], items: list[str]) -> dict[str, int]:
    return {item: grade for item, grade in truth.items() if item in items}
