"""The same evaluation on Spark: users in partitions, each worked on by the local code."""

from harness.spark.compare import compare
from harness.spark.evaluate import evaluate
from harness.spark.run import run

__all__ = ["compare", "evaluate", "run"]
