"""
A colleague's CSV
=================

Check a submission, score it, and ask whether it is really better than yours.
"""

# %%
# ``validate`` names every fault of a file. Here an id lost its leading zero.

import pandas as pd

import harness

truth = pd.DataFrame({"user": [f"0{n}" for n in range(10, 60)], "items": ["a b"] * 50})
mine = truth.assign(items="a x")
theirs = truth.assign(items="x a")
damaged = mine.assign(user=mine["user"].str.lstrip("0"))
harness.validate(damaged, solution=truth, k=12)

# %%
# The score of the whole file:

harness.score(mine, solution=truth, k=12)

# %%
# And the difference, user by user:

harness.compare({"mine": mine, "theirs": theirs}, solution=truth, k=12)
