"""Metrics: what they are called, what they mean, and their values for marked lists."""

from harness.metrics.accuracy import DIVISORS, Divisor
from harness.metrics.block import Block, Catalogue, Key, TrainCounts
from harness.metrics.definition import Better, Definition, Example
from harness.metrics.definitions import DEFINITIONS
from harness.metrics.metric import USUAL, Metric, is_own, parse, per_user
from harness.metrics.ml_metrics import apk, mapk
from harness.metrics.tally import LARGEST, Counts, Floats, Tally, discounts, ideal_dcg

__all__ = [
    "DEFINITIONS",
    "DIVISORS",
    "LARGEST",
    "USUAL",
    "Better",
    "Block",
    "Catalogue",
    "Counts",
    "Definition",
    "Divisor",
    "Example",
    "Floats",
    "Key",
    "Metric",
    "Tally",
    "TrainCounts",
    "apk",
    "discounts",
    "ideal_dcg",
    "is_own",
    "mapk",
    "parse",
    "per_user",
]
