"""
A submission, from a frame to a verdict
=======================================

You build a submission in pandas, check it, score it, and ask if it is really better than the sample submission.
"""

# %%
# Make the files of a competition: training events, the sample submission, and the solution.

import os
import tempfile
from pathlib import Path

import pandas as pd

import harness

ROOT = Path(os.environ.get("HARNESS_ROOT", "."))
folder = Path(tempfile.mkdtemp()) / "competition"
harness.split(ROOT / "configs" / "demo.toml", folder)
train = pd.read_csv(folder / "train.csv", dtype=str)
sample = pd.read_csv(folder / "sample_submission.csv", dtype=str)

# %%
# The idea: list what a customer bought last, then the popular items of the sample submission.

latest = train.sort_values("time", kind="stable", ascending=False)
bought = latest.groupby("customer_id")["article_id"].agg(list)


def first_twelve(row):
    items = bought.get(row.customer_id, []) + row.prediction.split()
    return " ".join(list(dict.fromkeys(items))[:12])


mine = sample.assign(prediction=sample.apply(first_twelve, axis=1))

# %%
# ``validate`` names each fault. Somebody has read the ids as numbers and lost their zeros:

damaged = mine.assign(prediction=mine["prediction"].str.replace(r"\b0", "", regex=True))
harness.validate(damaged, sample=folder / "sample_submission.csv", items=folder / "items.csv", k=12)

# %%
# The file as it should be has no fault. Its score, on the public and the private part:

harness.score(mine, solution=folder / "solution.csv", k=12)

# %%
# **The idea is worth it.** The paired test says that the difference is no luck:

compared = harness.compare(
    {"sample": sample, "bought before": mine}, solution=folder / "solution.csv", k=12
)
compared.to_pandas()[["board", "mean", "mean of other", "difference", "p_adjusted", "verdict"]]

# %%
# Who gains most? Customers with three purchases or more: those with one or two give the list little to start from.

solution = pd.read_csv(folder / "solution.csv", dtype=str)
truth = solution.assign(prediction=solution["prediction"].str.split())


def per_user(submission):
    lists = submission[submission["customer_id"].isin(truth["customer_id"])]
    lists = lists.assign(prediction=lists["prediction"].str.split())
    columns = {"user": "customer_id", "item": "prediction"}
    return harness.evaluate(lists, truth, "MAP@12", per_user=True, **columns)["MAP@12"]


scores = pd.DataFrame({"sample": per_user(sample), "bought before": per_user(mine)})
events = train["customer_id"].value_counts().reindex(scores.index)
group = pd.cut(events, [0, 2, 5, 10, 10_000], labels=["1–2", "3–5", "6–10", "over 10"])
axes = (
    scores.groupby(group, observed=True)
    .mean()
    .plot.bar(
        rot=0, color=["#8a8f98", "#0072b2"], xlabel="purchases before the window", ylabel="MAP@12"
    )
)
axes.spines[["top", "right"]].set_visible(False)
