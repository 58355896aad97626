"""The same evaluation on Spark: users in partitions, each worked on by the local code."""

from typing import Never

from harness.core.errors import UsageError
from harness.spark.evaluate import evaluate
from harness.spark.run import run

__all__ = ["evaluate", "run"]

_INSTEAD = {
    "compare": "harness.compare, which reads run folders that Spark wrote",
    "score": "harness.score for files and frames, harness.spark.evaluate for Spark DataFrames",
    "validate": "harness.validate, for files and frames",
}


def __getattr__(name: str) -> Never:
    if name in _INSTEAD:
        raise UsageError(f"harness.spark.{name} was removed; use {_INSTEAD[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
