"""ml_metrics: the code that Kaggle's MAP@k is copied from, and its KDD Cup variant."""

from ml_metrics import apk, kdd_apk

from tools import Case, Scores, averaged, truth_items

MEASURES = {
    "MAP": apk,
    "MAP(divisor=trec)": kdd_apk,
    # min(R, L) is Kaggle's min(R, k) at a cut-off as long as the list.
    "MAP(divisor=retrieved)": lambda actual, predicted, k: apk(
        actual, predicted, min(k, len(predicted)) or k
    ),
}


def score(case: Case) -> Scores:
    """Pair each user of the truth with their list; who has none gets an empty one."""
    truth, lists, k = truth_items(case), case["lists"], case["k"]
    return {
        text: averaged({user: ap(truth[user], lists.get(user, []), k) for user in truth})
        for text, ap in MEASURES.items()
    }
