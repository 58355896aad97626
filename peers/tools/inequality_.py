"""PySAL's inequality: the Gini coefficient of any counts."""

import numpy as np
from inequality.gini import Gini

from tools import Exam, Scores, top


def score(exam: Exam) -> Scores:
    """Count in how many places of all lists each item of the catalogue stands."""
    places = [item for items in top(exam).values() for item in items]
    counts = np.array([places.count(item) for item in exam["catalogue"]])
    return {"Gini": (None, float(Gini(counts).g))}
