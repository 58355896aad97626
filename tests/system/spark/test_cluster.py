"""harness.spark.evaluate on a real standalone cluster, and by Spark Connect."""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import exactly, refusal

import harness
from harness.core.errors import UsageError
from harness.spark import evaluate, scoring
from spark.conftest import LOOPBACK, NOISE

pytestmark = NOISE
ASKED = ["MAP@12", "NDCG@12", "Recall@5", "MRR", "TotalRecall@12"]
USERS, K = 3000, 12


@pytest.fixture(scope="module")
def rows() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return lists of twelve items and a truth of one to five, of which a few hit; in no order."""
    draw = np.random.default_rng(11)
    users = np.char.add("u", np.arange(USERS).astype(str))
    lists = [draw.choice(200, K, replace=False) for _ in users]
    true = [draw.choice(200, draw.integers(1, 6), replace=False) for _ in users]
    listed, truth = (
        {
            "user": np.repeat(users, list(map(len, items))),
            "item": np.char.add("i", np.concatenate(items).astype(str)),
        }
        for items in (lists, true)
    )
    listed["rank"] = np.tile(np.arange(1, K + 1), USERS)
    one, other = (
        pl.DataFrame(of).sample(fraction=1, shuffle=True, seed=7) for of in (listed, truth)
    )
    return one, other


def sides(spark: Any, rows: tuple[pl.DataFrame, pl.DataFrame]) -> list[Any]:
    return [spark.createDataFrame(frame.to_arrow()) for frame in rows]


def test_the_bits_of_a_local_call(on_cluster: Any, rows: Any) -> None:
    expected = harness.evaluate(*rows, ASKED)
    found = evaluate(*sides(on_cluster, rows), ASKED)
    assert found.to_dict() == expected.to_dict()
    assert found.attrs == expected.attrs
    assert on_cluster.conf.get("spark.master").startswith(f"spark://{LOOPBACK}:")


def test_the_bits_of_a_local_call_by_connect(connected: Any, rows: Any) -> None:
    expected = harness.evaluate(*rows, ASKED)
    found = evaluate(*sides(connected, rows), ASKED)
    assert found.to_dict() == expected.to_dict()
    of_users = harness.evaluate(*rows, ASKED[:3], per_user=True)
    values = evaluate(*sides(connected, rows), ASKED[:3], per_user=True).toArrow()
    seen = pl.DataFrame(values).sort("user")
    assert seen["user"].to_list() == of_users.index.tolist()
    assert seen.drop("user").rows() == list(of_users.itertuples(index=False, name=None))


def test_a_mistake_is_told_by_connect_as_by_a_classic_session(connected: Any, rows: Any) -> None:
    lists, truth = rows
    bad = lists.with_columns(rank=pl.col("rank") - 1)
    with refusal(Exception, 'predictions: column "rank", user \'u', "found 0") as caught:
        evaluate(*sides(connected, (bad, truth)), "MRR")
    assert "\n" not in str(caught.value)


def test_another_python(spark: Any, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "{}.{}".format(*sys.version_info)
    monkeypatch.setattr(spark.sparkContext, "pythonVer", "3.9")
    with refusal(UsageError, f"a worker runs Python {own}, the driver Python 3.9"):
        evaluate(*sides(spark, rows), "MRR")


def test_another_version_of_our_package(
    spark: Any, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["harness.spark.evaluate"], "own_version", lambda: "9.9")
    monkeypatch.setattr(scoring.Call, "scored", lambda *_: None)  # which is not asked of the driver
    with refusal(UsageError, "a worker has version", "the driver has 9.9"):
        evaluate(*sides(spark, rows), "MRR")


def test_mllib_finds_the_same_map(spark: Any, rows: Any) -> None:
    """PySpark's meanAveragePrecision divides by R, as trec_eval does."""
    from pyspark.mllib.evaluation import RankingMetrics

    lists, truth = (
        frame.sort([c for c in ("rank",) if c in frame.columns])
        .group_by("user", maintain_order=True)
        .agg("item")
        for frame in rows
    )
    pairs = lists.join(truth, on="user").select("item", "item_right").rows()
    given = spark.sparkContext.parallelize(pairs, 2)
    found = evaluate(*sides(spark, rows), "MAP(divisor=trec)@12")
    theirs = RankingMetrics(given)
    assert found.iloc[0] == exactly(theirs.meanAveragePrecision)
    by_tool = harness.conventions(*rows, 5)["MAP@5"]["spark"]
    assert by_tool == exactly(theirs.meanAveragePrecisionAt(5))
