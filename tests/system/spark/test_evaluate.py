"""harness.spark.evaluate: the bits of harness.evaluate, whatever the partitions; its refusals."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from conftest import exactly, refusal
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.core.errors import DataError, HarnessError, UsageError
from harness.spark import evaluate
from spark.conftest import NOISE, sides, small

pytestmark = NOISE


@pytest.fixture(autouse=True)
def _few_partitions(spark: Any) -> None:
    """The session is that of all these tests, which set it otherwise."""
    small(spark)


Frame = Mapping[str, Sequence[Any]]
LISTS: Frame = {
    "user": ["ann", "bob", "ann", "ann", "bob"],
    "item": ["a", "y", "x", "b", "c"],
    "rank": [1, 1, 2, 3, 2],
}
TRUTH: Frame = {"user": ["ann", "ann", "bob"], "item": ["a", "b", "c"]}
TRAIN: Frame = {"user": ["u", "v", "v", "w"], "item": ["a", "a", "b", "c"]}
KINDS: Frame = {"item": ["a", "b", "c", "x", "y"], "kind": ["p", "p", "q", "q", "r"]}
EVERY = [
    *("MAP@3", "NDCG@2", "Recall@3", "MRR", "pFound@3", "MAP(divisor=trec)@10"),
    *("TotalRecall@2", "MicroRecall@2"),
]
BEYOND = ["Novelty@3", "Popularity@12", "Serendipity@2", "ILD@3", "Coverage@2", "Gini@3", "MRR"]


def frame(spark: Any, rows: Frame, partitions: int = 3, types: str | None = None) -> Any:
    made = spark.createDataFrame(list(zip(*rows.values(), strict=True)), types or list(rows))
    return made.repartition(partitions)


def test_a_mean_is_rounded_once(spark: Any) -> None:
    """One user scores 1, and 3,999 score 2^−54, of which nothing is left where it is added to 1."""
    pairs = {"user": [f"u{n}" for n in range(4000)], "item": ["a"] * 4000}
    lists = pairs | {"rank": [1] * 4000}
    truth = pairs | {"grade": [1.0] + [2.0**-54] * 3999}
    result = evaluate(frame(spark, lists), frame(spark, truth), "pFound@1")
    assert result["pFound@1"] == (1 + 3999 / 2**54) / 4000


def test_users_outside_the_truth_are_left_out_and_told(spark: Any) -> None:
    truth = {"user": ["bob"], "item": ["c"]}
    with pytest.warns(UserWarning, match="left out: 3 rows of 1 user .* such as 'ann'") as caught:
        result = evaluate(frame(spark, LISTS), frame(spark, truth), "MRR")
    assert [warning.filename for warning in caught if warning.category is UserWarning] == [__file__]
    assert (result["MRR"], result.attrs["rows_outside"]) == (1 / 2, 3)


def test_the_truth_may_have_names_of_its_own(spark: Any) -> None:
    truth = {"customer": TRUTH["user"], "article": TRUTH["item"]}
    names = {"truth_user": "customer", "truth_item": "article"}
    lists, true = frame(spark, LISTS), frame(spark, truth)
    assert evaluate(lists, true, "MRR", **names)["MRR"] == (1 + 1 / 2) / 2
    result = evaluate(lists, true, ["Recall@1", "MRR"], **names, per_user=True)
    assert result.columns == ["customer", "Recall@1", "MRR"]
    assert sorted(map(tuple, result.collect())) == [("ann", 1 / 2, 1.0), ("bob", 0.0, 1 / 2)]
    with pytest.raises(HarnessError, match='truth_user="…"'):
        evaluate(lists, true, "MRR")


def test_a_column_that_is_not_used_may_have_any_type(spark: Any) -> None:
    lists = frame(spark, LISTS).selectExpr("*", "make_interval(1) as since")
    assert evaluate(lists, frame(spark, TRUTH), "MRR")["MRR"] == (1 + 1 / 2) / 2


def test_lists_in_arrays(spark: Any) -> None:
    lists = frame(spark, {"user": ["ann", "bob"], "items": [["a", "x", "b"], ["y", "c"]]})
    assert evaluate(lists, frame(spark, TRUTH), "MAP@3")["MAP@3"] == exactly((5 / 6 + 1 / 2) / 2)


def test_whole_numbers_of_any_width_are_the_same_ids(spark: Any) -> None:
    ids = {"user": [1], "item": [7], "rank": [1]}
    lists = frame(spark, ids, types="user int, item short, rank int")
    truth = frame(spark, {"user": [1], "item": [7]})
    assert evaluate(lists, truth, "MRR")["MRR"] == 1
    assert evaluate(lists, truth, "MRR", per_user=True).collect()[0]["user"] == 1


def test_metrics_beyond_accuracy(spark: Any) -> None:
    tables = LISTS, TRUTH, TRAIN, KINDS
    lists, truth, train, kinds = (frame(spark, table) for table in tables)
    result = evaluate(lists, truth, BEYOND, train=train, attributes=kinds)
    lists, truth, train, kinds = map(pl.DataFrame, tables)
    expected = harness.evaluate(lists, truth, BEYOND, train=train, attributes=kinds)
    assert result.to_dict() == expected.to_dict()
    assert result.attrs == expected.attrs


def test_candidates(spark: Any) -> None:
    lists, truth = frame(spark, LISTS), frame(spark, TRUTH)
    result = evaluate(lists, truth, "Coverage@3", candidates=["a", "b", "z", "q"])
    assert (result["Coverage@3"], result.attrs["items_no_candidates"]) == (2 / 4, 3)  # x, y and c


ids = st.sampled_from(["a", "b", "c", "dd", "é", "10", "9"])
numbers = st.integers(-3, 6)


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[Frame, Frame]:
    """Draw lists with ranks or scores, a truth with grades or without, of ids of either kind."""
    users, items = draw(st.sampled_from([(ids, ids), (numbers, ids), (ids, numbers)]))
    pairs = draw(st.lists(st.tuples(users, items), min_size=1, max_size=25, unique=True))
    users_of_pairs = [user for user, _ in pairs]
    if draw(st.booleans()):
        order = {
            "rank": [users_of_pairs[: n + 1].count(user) for n, user in enumerate(users_of_pairs)]
        }
    else:
        order = {"score": [draw(st.integers(-3, 3)) / 8 for _ in pairs]}
    lists = {"user": users_of_pairs, "item": [i for _, i in pairs], **order}
    drawn = draw(st.dictionaries(st.tuples(users, items), st.integers(1, 3), max_size=20))
    true = drawn | {pairs[0]: 1}  # lists and truth speak of the same ids
    truth: dict[str, Any] = {"user": [u for u, _ in true], "item": [i for _, i in true]}
    graded = {"grade": [grade / 3 for grade in true.values()]} if draw(st.booleans()) else {}
    return lists, truth | graded


@settings(max_examples=settings.default.max_examples // 8, deadline=None)  # a second a call
@given(evaluations(), st.sampled_from([1, 2, 7]), st.randoms(use_true_random=False))
def test_the_bits_of_a_local_call(spark: Any, drawn: Any, partitions: int, shuffled: Any) -> None:
    lists, truth = drawn
    asked = [*EVERY, "NDCG(gain=linear)@3"] if "grade" in truth else EVERY
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = harness.evaluate(pl.DataFrame(lists), pl.DataFrame(truth), asked)
        values = harness.evaluate(
            pl.DataFrame(lists), pl.DataFrame(truth), asked[:4], per_user=True
        )
        listed, true = [
            frame(spark, in_another_order(side, shuffled), partitions) for side in (lists, truth)
        ]
        result = evaluate(listed, true, asked)
        of_users = evaluate(listed, true, asked[:4], per_user=True).collect()
    assert result.to_dict() == expected.to_dict()
    assert result.attrs == expected.attrs
    rows = {row["user"]: list(row)[1:] for row in of_users}
    assert rows == {
        user: list(row) for user, row in zip(values.index, values.to_numpy(), strict=True)
    }


def in_another_order(rows: Frame, shuffled: Any) -> Frame:
    order = list(range(len(next(iter(rows.values())))))
    shuffled.shuffle(order)
    return {name: [values[n] for n in order] for name, values in rows.items()}


ONE: Frame = {"user": ["ann"], "item": ["x"], "rank": [1]}
WRITTEN: Frame = {"user": ["ann", "bob"], "item": ["[a]", "[b]"]}
NO_ORDER = "Spark does not keep the order of rows; name the column that ranks the items of a user: "
REFUSED: list[tuple[Frame, Frame, dict[str, Any], str]] = [
    ({"user": ["a"], "item": ["x"]}, TRUTH, {}, NO_ORDER + 'rank="…" (1 first) or score="…"'),
    ({"user": ["a"], "item": ["x"], "prediction": [0.5]}, TRUTH, {}, NO_ORDER + 'score="predicti'),
    (LISTS, TRUTH, {"score": False}, NO_ORDER),
    ({**ONE, "user": [1.0]}, TRUTH, {}, 'column "user" holds Float64 values; ids are text'),
    ({**ONE, "user": [1]}, TRUTH, {}, 'column "user" holds long, truth: column "user" holds str'),
    ({**LISTS, "item": ["a", "y", "x", "b", None]}, TRUTH, {},
     "predictions: column \"item\", a row of user 'bob': the id is missing"),
    ({**ONE, "user": ["u1"]}, TRUTH, {},
     "predictions: none of the users is in the truth: 'u1' here, 'ann' there"),
    (LISTS, WRITTEN, {}, "truth: '[a]' looks like a whole list written as text"),
    (LISTS, {"user": ["ann", "bob"], "item": ["a", "c"], "label": [0, 1]}, {},
     'truth: column "label" holds 0'),
    (LISTS, TRUTH, {"metrics": "Coverage@2", "candidates": "abc"},
     "candidates: found str; give a list of item ids"),
    (LISTS, TRUTH, {"metrics": "Novelty@3", "train": {"user": ["u", None], "item": ["a", "b"]}},
     'train: column "user": an id is missing'),
]  # fmt: skip
"""By what only this engine decides; all else is refused by the code of harness.evaluate."""


@pytest.mark.parametrize(("lists", "truth", "more", "words"), REFUSED)
def test_what_is_refused(
    spark: Any, lists: Frame, truth: Frame, more: dict[str, Any], words: str
) -> None:
    asked = {"metrics": "MRR"} | more
    if "train" in more:
        asked["train"] = frame(spark, more["train"])
    with refusal(HarnessError, words):
        evaluate(frame(spark, lists), frame(spark, truth), **asked)


def test_nobody_to_evaluate_and_frames_of_other_libraries(spark: Any) -> None:
    empty = spark.createDataFrame([], "user string, item string")
    with refusal(DataError, "truth: there are no rows, so there are no users to evaluate"):
        evaluate(frame(spark, LISTS), empty, "MRR")
    with refusal(UsageError, "predictions: found polars DataFrame", "harness.evaluate"):
        evaluate(pl.DataFrame(LISTS), frame(spark, TRUTH), "MRR")  # type: ignore[arg-type,unused-ignore]


def test_items_that_are_true_for_others_are_known(spark: Any) -> None:
    """Ann is recommended bob's item, and they lie in different partitions: nothing to warn of."""
    lists = {"user": ["ann", "bob"], "item": ["b", "a"], "rank": [1, 1]}
    truth = {"user": ["ann", "bob"], "item": ["a", "b"]}
    spark.conf.set("spark.sql.shuffle.partitions", "64")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert evaluate(frame(spark, lists), frame(spark, truth), "MRR")["MRR"] == 0
    small(spark)
    with pytest.warns(UserWarning, match="no recommended item is a true item of any user"):
        evaluate(frame(spark, lists | {"item": ["x", "y"]}), frame(spark, truth), "MRR")


def test_another_python(spark: Any, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    version = "{}.{}".format(*sys.version_info)
    monkeypatch.setattr(spark.sparkContext, "pythonVer", "3.9")
    with refusal(UsageError, f"a worker runs Python {version}, the driver Python 3.9"):
        evaluate(*sides(spark, rows), "MRR")


def test_another_version_of_our_package(
    spark: Any, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["harness.spark.evaluate"]
    monkeypatch.setattr(module, "installed_version", lambda: "9.9")
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
    rdd = spark.sparkContext.parallelize(pairs, 2)
    result = evaluate(*sides(spark, rows), "MAP(divisor=trec)@12")
    theirs = RankingMetrics(rdd)
    assert result.iloc[0] == exactly(theirs.meanAveragePrecision)
    recommendations, true = rows
    by_tool = harness.conventions(recommendations, true, 5)["MAP@5"]["spark"]
    assert by_tool == exactly(theirs.meanAveragePrecisionAt(5))
