"""
Lists against truth
===================

``harness.evaluate`` scores lists that you already have, without a run.
"""

# %%
# Lists and truth are frames with a row an item, dicts, or arrays.

import pandas as pd

import harness

lists = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["a", "x", "b"], "rank": [1, 2, 1]})
truth = pd.DataFrame({"user": ["ann", "bob", "cem"], "item": ["a", "b", "c"]})
harness.evaluate(lists, truth, ["MAP@12", "NDCG@12", "MRR"])

# %%
# Ann and bob score 1, and cem, who has no list, scores 0: 2/3. Each user's values:

harness.evaluate(lists, truth, ["MAP@12", "NDCG@12"], per_user=True)

# %%
# No two tools agree on MAP@k. The same lists by sixteen written rules:

harness.conventions({"ann": ["a", "a", "b"]}, {"ann": ["a", "b", "c", "d", "e"]}, 4)
