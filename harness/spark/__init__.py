"""The same evaluation on Spark: users in partitions, each worked on by the local code."""

from harness.spark.evaluate import evaluate

__all__ = ["evaluate"]
