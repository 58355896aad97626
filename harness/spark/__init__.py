"""The same evaluation on Spark: users in partitions, each worked on by the local code."""

from harness.spark.compare import compare
from harness.spark.evaluate import evaluate
from harness.spark.run import run
from harness.spark.score import score
from harness.spark.validate import validate

__all__ = ["compare", "evaluate", "run", "score", "validate"]
