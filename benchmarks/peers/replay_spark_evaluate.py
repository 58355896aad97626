"""Time RePlay's three metrics on Spark DataFrames in the form it asks for; see timed.py."""

import os
import sys

from pyspark.sql import SparkSession
from replay.metrics import MAP, NDCG, OfflineMetrics, Recall
from timed import FEW, file, report

K = 12
os.environ["PYSPARK_PYTHON"] = sys.executable
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "4g")
    .config("spark.sql.shuffle.partitions", "6")  # three a core, as its own get_spark_session has
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)


def read(name):
    frame = spark.read.parquet(str(file(name)))
    return frame.withColumnRenamed("user", "query_id").withColumnRenamed("item", "item_id")


recs = read("recs").selectExpr("query_id", "item_id", "-cast(rank as double) as rating")
truth = read("truth")


def metrics(recs, truth):
    return OfflineMetrics([MAP(K), NDCG(K), Recall(K)])(recs, truth), {}


few = recs.limit(FEW * K)
report(
    lambda: metrics(recs, truth),
    lambda: metrics(few, truth.join(few.select("query_id").distinct(), on="query_id")),
)
