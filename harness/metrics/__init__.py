"""Metrics: what they are called, what they mean, and each user's value."""

import harness.core.compiled  # noqa: F401
from harness.metrics.definition import Better, Cut, Definition
from harness.metrics.definitions import DEFINITIONS
from harness.metrics.judgments import Block, Judgments
from harness.metrics.kernels import LARGEST, apk, discounts, ideal_dcg, mapk
from harness.metrics.ranking import DIVISORS
from harness.metrics.registry import (
    USUAL,
    Metric,
    each_once,
    is_own,
    needs,
    parse,
    per_user,
    value_of,
)

__all__ = [
    "DEFINITIONS",
    "DIVISORS",
    "LARGEST",
    "USUAL",
    "Better",
    "Block",
    "Cut",
    "Definition",
    "Judgments",
    "Metric",
    "apk",
    "discounts",
    "each_once",
    "ideal_dcg",
    "is_own",
    "mapk",
    "needs",
    "parse",
    "per_user",
    "value_of",
]
