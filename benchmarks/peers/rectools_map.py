"""Print the median seconds of RecTools' MAP on the lists and true items in the file CASE; runs beside pandas 2."""

import os
import statistics
import time

import numpy as np
import pandas as pd
from rectools import Columns
from rectools.metrics import MAP

case = np.load(os.environ["CASE"])
users, k = case["items"].shape
reco = pd.DataFrame(
    {
        Columns.User: np.repeat(np.arange(users), k),
        Columns.Item: case["items"].ravel(),
        Columns.Rank: np.tile(np.arange(1, k + 1), users),
    }
)
interactions = pd.DataFrame(
    {
        Columns.User: np.repeat(np.arange(users), np.diff(case["indptr"])),
        Columns.Item: case["indices"],
    }
)
times = []
for _ in range(4):
    start = time.perf_counter()
    MAP(k=k).calc_per_user(reco, interactions)
    times.append(time.perf_counter() - start)
print(statistics.median(times[1:]))
