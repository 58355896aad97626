"""
Lists against truth
===================

You score lists that you already have, without a run, and see how much the rule behind MAP@k matters.
"""

# %%
# Lists and truth are frames with one row per item, dicts, or arrays.

import pandas as pd

import harness

lists = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["a", "x", "b"], "rank": [1, 2, 1]})
truth = pd.DataFrame({"user": ["ann", "bob", "cem"], "item": ["a", "b", "c"]})
harness.evaluate(lists, truth, ["MAP@12", "NDCG@12", "MRR"])

# %%
# Ann and bob score 1. Cem has no list and scores 0, so the mean is 2/3. Each user's values:

harness.evaluate(lists, truth, ["MAP@12", "NDCG@12"], per_user=True)

# %%
# **Tools disagree on MAP@k.** Here is one list with a repeated item, and a user with five true items:

rules = harness.conventions({"ann": ["a", "a", "b"]}, {"ann": ["a", "b", "c", "d", "e"]}, 4)
rules[["MAP@4", "tools"]]

# %%
# The same list scores from 0.33 to 1.00. So compare only figures that one rule made.

bars = rules["MAP@4"].sort_values()
axes = bars.plot.barh(figsize=(7, 5), color="#8a8f98", xlabel="MAP@4 of the same list", ylabel="")
axes.get_children()[list(bars.index).index("kaggle")].set_color("#0072b2")
axes.spines[["top", "right"]].set_visible(False)
axes.figure.tight_layout()
