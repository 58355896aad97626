"""PySAL's inequality: the Gini coefficient of any counts."""

import numpy as np
from inequality.gini import Gini

from tools import Case, Scores, top


def score(case: Case) -> Scores:
    """Count in how many positions of all lists each item of the catalogue stands."""
    positions = [item for items in top(case).values() for item in items]
    counts = np.array([positions.count(item) for item in case["catalogue"]])
    return {"Gini": (None, float(Gini(counts).g))}
