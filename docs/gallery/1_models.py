"""
Which model is better?
======================

Three recommenders on the H&M sample, on the same users and candidates, with intervals and paired tests.
"""

# %%
# A model is any class with ``fit`` and ``recommend``. Frames go in as they are.

import os
from pathlib import Path

import pandas as pd

import harness

DATA = Path(os.environ["HARNESS_ROOT"]) / "data" / "hm-sample"
events = pd.read_csv(DATA / "transactions_train.csv.gz", dtype=str)
articles = pd.read_csv(DATA / "articles.csv.gz", dtype=str)


class LatestFirst:
    def fit(self, train):
        self.latest_ = train.candidates_by_last_event()
        return self

    def recommend(self, users, k, draws, exclude=None):
        return harness.top_k(self.latest_, users, k, exclude)


result = harness.run(
    events=events,
    items=articles,
    data={"user": "customer_id", "item": "article_id", "time": "t_dat"},
    split={"strategy": "time", "valid_days": 7},
    evaluation={"candidates": "catalogue"},
    models={
        "latest first": LatestFirst,
        "popular": "baselines.popular:Popular",
        "repurchase": "baselines.repurchase:Repurchase",
        "random": {"use": "baselines.random_items:RandomItems", "repeats": 10},
    },
)
result

# %%
# The table says it in words. The forest plot shows every mean with its interval, and the chance line.

result.plot.forest()

# %%
# Every pair by the paired randomization test.

result.comparison.pairs
