"""Metrics: what they are called, what they mean, and their values for marked lists."""

from harness.metrics.formulas import DEFINITIONS, DIVISORS, Definition, Divisor
from harness.metrics.metric import Metric, parse, per_user
from harness.metrics.ml_metrics import apk, mapk
from harness.metrics.tally import LARGEST, Counts, Floats, Tally, discounts, ideal_dcg

__all__ = [
    "DEFINITIONS",
    "DIVISORS",
    "LARGEST",
    "Counts",
    "Definition",
    "Divisor",
    "Floats",
    "Metric",
    "Tally",
    "apk",
    "discounts",
    "ideal_dcg",
    "mapk",
    "parse",
    "per_user",
]
