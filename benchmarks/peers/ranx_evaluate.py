"""Time ranx's three metrics, making its Qrels and Run included; its MAP divides by R."""

import time

import pandas as pd
from ranx import Qrels, Run, evaluate
from timed import FEW, file, report

K = 12
MEASURES = {f"MAP(divisor=trec)@{K}": "map", f"NDCG@{K}": "ndcg", f"Recall@{K}": "recall"}
recs = pd.read_parquet(file("recs"))
recs = recs.assign(score=K + 1.0 - recs.pop("rank"))
truth = pd.read_parquet(file("truth")).assign(score=1)


def metrics(recs, truth):
    start = time.perf_counter()
    qrels = Qrels.from_df(truth, "user", "item", "score")
    run = Run.from_df(recs, "user", "item", "score")
    making = time.perf_counter() - start
    measures = [f"{name}@{K}" for name in MEASURES.values()]
    seen = evaluate(qrels, run, measures, make_comparable=True)
    values = dict(zip(MEASURES, (seen[measure] for measure in measures), strict=True))
    return values, {"making": making}


few = recs.head(FEW * K)
report(
    lambda: metrics(recs, truth),
    lambda: metrics(few, truth[truth["user"].isin(few["user"])]),
)
