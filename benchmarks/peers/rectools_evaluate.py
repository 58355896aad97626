"""Time RecTools' three metrics on pandas frames; its MAP divides by R, not by min(R, k)."""

import pandas as pd
from rectools.metrics import MAP, NDCG, Recall, calc_metrics
from timed import FEW, file, report

K = 12
METRICS = {
    f"MAP(divisor=trec)@{K}": MAP(K),
    f"NDCG@{K}": NDCG(K, divide_by_achievable=True),
    f"Recall@{K}": Recall(K),
}
NAMES = {"user": "user_id", "item": "item_id"}
reco = pd.read_parquet(file("recs")).rename(columns=NAMES)
truth = pd.read_parquet(file("truth")).rename(columns=NAMES)


def metrics(reco, truth):
    return calc_metrics(METRICS, reco, truth), {}


few = reco.head(FEW * K)
report(
    lambda: metrics(reco, truth),
    lambda: metrics(few, truth[truth["user_id"].isin(few["user_id"])]),
)
