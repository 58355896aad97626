"""
Which model is better?
======================

You evaluate four recommenders on the H&M sample, and see which differences are real.
"""

# %%
# A model is any class with ``fit`` and ``recommend``. Frames go in as they are.

import os
from pathlib import Path

import pandas as pd

import harness

DATA = Path(os.environ.get("HARNESS_ROOT", ".")) / "data" / "hm-sample"
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
        "popular last week": {
            "use": "baselines.popular:Popular",
            "params": {"window_days": 7},
        },
        "repurchase": "baselines.repurchase:Repurchase",
        "random": {"use": "baselines.random_items:RandomItems", "repeats": 10},
    },
)
result.to_pandas()[["MAP@12", "Recall@12", "NDCG@12"]]

# %%
# **What people bought before is the best guess.** The chart shows each mean with its 95 % interval. The band is one standard
# deviation around the mean of random rankings, which is exact. "Latest first" and "popular" are within reach of luck.

axes = result.plot.forest()

# %%
# **No other model ties with the best one.** The paired test compares two models user by user:

result.comparison.to_pandas()[["one", "other", "difference", "p_adjusted", "verdict"]].head(4)

# %%
# Is it ahead for everybody? Each row is a group of users by their number of events; the best model is blue. For users with
# one or two events, the popular items of the last week are nearly as good.

axes = result.plot.slices(by="activity")
