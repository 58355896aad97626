"""harness.spark.evaluate: the bits of harness.evaluate, whatever the partitions; its refusals."""

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
from spark.conftest import NOISE

pytestmark = NOISE

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


def locally(rows: Frame) -> pl.DataFrame:
    return pl.DataFrame(rows)


def test_means_over_all_users_of_the_truth(spark: Any) -> None:
    found = evaluate(frame(spark, LISTS), frame(spark, TRUTH), ["MAP@3", "Recall@1", "MRR"])
    assert found.to_dict() == {
        "MAP@3": exactly((5 / 6 + 1 / 2) / 2),  # (1 + 2/3)/2 and 1/2
        "Recall@1": (1 / 2 + 0) / 2,
        "MRR": (1 + 1 / 2) / 2,
    }
    assert found.attrs["order"] == 'ranks in column "rank"'
    assert (found.attrs["users"], found.attrs["users_without_list"]) == (2, 0)


def test_a_mean_is_rounded_once(spark: Any) -> None:
    """One user scores 1, and 3,999 score 2^−54, of which nothing is left where it is added to 1."""
    users = [f"u{n}" for n in range(4000)]
    lists = {"user": users, "item": ["a"] * 4000, "rank": [1] * 4000}
    truth = {"user": users, "item": ["a"] * 4000, "grade": [1.0] + [2.0**-54] * 3999}
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    found = evaluate(frame(spark, lists), frame(spark, truth), "pFound@1")
    assert found["pFound@1"] == (1 + 3999 / 2**54) / 4000


def test_a_value_for_each_user(spark: Any) -> None:
    found = evaluate(frame(spark, LISTS), frame(spark, TRUTH), ["Recall@1", "MRR"], per_user=True)
    assert found.columns == ["user", "Recall@1", "MRR"]
    rows = sorted(map(tuple, found.collect()))
    assert rows == [("ann", 1 / 2, 1.0), ("bob", 0.0, 1 / 2)]


def test_users_outside_the_truth_are_left_out_and_told(spark: Any) -> None:
    truth = {"user": ["bob"], "item": ["c"]}
    with pytest.warns(UserWarning, match="left out: 3 rows of 1 user .* such as 'ann'") as said:
        found = evaluate(frame(spark, LISTS), frame(spark, truth), "MRR")
    assert [one.filename for one in said if one.category is UserWarning] == [__file__]
    assert (found["MRR"], found.attrs["rows_outside"]) == (1 / 2, 3)


def test_the_truth_may_have_names_of_its_own(spark: Any) -> None:
    truth = {"customer": TRUTH["user"], "article": TRUTH["item"]}
    names = {"truth_user": "customer", "truth_item": "article"}
    both = frame(spark, LISTS), frame(spark, truth)
    expected = harness.evaluate(locally(LISTS), locally(TRUTH), "MAP@3")
    assert evaluate(*both, "MAP@3", **names).to_dict() == expected.to_dict()
    rows = evaluate(*both, "MRR", **names, per_user=True).collect()
    assert sorted(tuple(row) for row in rows) == [("ann", 1.0), ("bob", 1 / 2)]
    with pytest.raises(HarnessError, match='truth_user="…"'):
        evaluate(*both, "MRR")


def test_lists_in_arrays(spark: Any) -> None:
    lists = frame(spark, {"user": ["ann", "bob"], "items": [["a", "x", "b"], ["y", "c"]]})
    assert evaluate(lists, frame(spark, TRUTH), "MAP@3")["MAP@3"] == exactly((5 / 6 + 1 / 2) / 2)


def test_whole_numbers_of_any_width_are_the_same_ids(spark: Any) -> None:
    lists = frame(
        spark, {"user": [1], "item": [7], "rank": [1]}, types="user int, item short, rank int"
    )
    truth = frame(spark, {"user": [1], "item": [7]})
    assert evaluate(lists, truth, "MRR")["MRR"] == 1
    assert evaluate(lists, truth, "MRR", per_user=True).collect()[0]["user"] == 1


@pytest.mark.parametrize("metric", BEYOND)
def test_metrics_beyond_accuracy(spark: Any, metric: str) -> None:
    known = evaluate(
        frame(spark, LISTS),
        frame(spark, TRUTH),
        [metric],
        train=frame(spark, TRAIN),
        attributes=frame(spark, KINDS),
    )
    expected = harness.evaluate(
        locally(LISTS),
        locally(TRUTH),
        [metric],
        train=locally(TRAIN),
        attributes=locally(KINDS),
    )
    assert known.to_dict() == expected.to_dict()
    assert known.attrs == expected.attrs


def test_candidates(spark: Any) -> None:
    sides = frame(spark, LISTS), frame(spark, TRUTH)
    found = evaluate(*sides, ["Coverage@1", "Coverage@3"], candidates=["a", "b", "z", "q"])
    assert found.to_dict() == {"Coverage@1": 1 / 4, "Coverage@3": 2 / 4}  # a; a and b
    assert found.attrs["items_no_candidates"] == 3  # x, y and c


ids = st.sampled_from(["a", "b", "c", "dd", "é", "10", "9"])
numbers = st.integers(-3, 6)


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[Frame, Frame, dict[str, Any]]:
    """Draw lists with ranks or scores, a truth with grades or without, of ids of either kind."""
    users, items = draw(st.sampled_from([(ids, ids), (numbers, ids), (ids, numbers)]))
    pairs = draw(st.lists(st.tuples(users, items), min_size=1, max_size=25, unique=True))
    ranked = draw(st.booleans())
    scores = draw(st.lists(st.integers(-3, 3), min_size=len(pairs), max_size=len(pairs)))
    counts: dict[Any, int] = {}
    ranks = [counts.setdefault(u, 0) or 0 for u, _ in pairs]
    for at, (u, _) in enumerate(pairs):
        counts[u] += 1
        ranks[at] = counts[u]
    order = {"rank": ranks} if ranked else {"score": [s / 8 for s in scores]}
    lists = {"user": [u for u, _ in pairs], "item": [i for _, i in pairs], **order}
    true = draw(
        st.dictionaries(st.tuples(users, items), st.integers(1, 3), min_size=1, max_size=20)
    )
    true[pairs[0]] = 1  # a known user with a known item: lists and truth speak of the same ids
    truth: dict[str, Any] = {"user": [u for u, _ in true], "item": [i for _, i in true]}
    graded = draw(st.booleans())
    if graded:
        truth["grade"] = [grade / 3 for grade in true.values()]
    return lists, truth, {}


@settings(max_examples=settings.default.max_examples // 5, deadline=None)  # a second a call
@given(evaluations(), st.sampled_from([1, 2, 7, 64]), st.randoms(use_true_random=False))
def test_the_bits_of_a_local_call(spark: Any, drawn: Any, partitions: int, shuffled: Any) -> None:
    lists, truth, _ = drawn
    asked = [*EVERY, "NDCG(gain=linear)@3"] if "grade" in truth else EVERY
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = harness.evaluate(locally(lists), locally(truth), asked)
        values = harness.evaluate(locally(lists), locally(truth), asked[:4], per_user=True)
        sides = [frame(spark, in_another_order(of, shuffled), partitions) for of in (lists, truth)]
        found = evaluate(*sides, asked)
        of_users = evaluate(*sides, asked[:4], per_user=True).collect()
    assert found.to_dict() == expected.to_dict()
    assert found.attrs == expected.attrs
    rows = {row["user"]: list(row)[1:] for row in of_users}
    assert rows == {
        user: list(row) for user, row in zip(values.index, values.to_numpy(), strict=True)
    }


def in_another_order(rows: Frame, shuffled: Any) -> Frame:
    lines = list(zip(*rows.values(), strict=True))
    shuffled.shuffle(lines)
    return dict(zip(rows, map(list, zip(*lines, strict=True)), strict=True))


REFUSED: dict[str, tuple[Frame, Frame, dict[str, Any], type[Exception], list[str]]] = {
    "no order": (
        {"user": ["a"], "item": ["x"]},
        TRUTH,
        {},
        UsageError,
        ["predictions", "no order of rows", 'rank="…"', 'score="…"'],
    ),
    "numbers that may order": (
        {"user": ["a"], "item": ["x"], "prediction": [0.5]},
        TRUTH,
        {},
        UsageError,
        ['score="prediction"'],
    ),
    "the order of rows": (LISTS, TRUTH, {"score": False}, UsageError, ["no order of rows"]),
    "no such column": (
        {"usr": ["a"], "item": ["x"], "rank": [1]},
        TRUTH,
        {},
        DataError,
        ['predictions: no column "user"', 'did you mean "usr"?'],
    ),
    "decimals": (
        {"user": [1.0], "item": ["x"], "rank": [1]},
        TRUTH,
        {},
        DataError,
        ['predictions: column "user"', "double", "text or whole numbers"],
    ),
    "two kinds": (
        {"user": [1], "item": ["x"], "rank": [1]},
        TRUTH,
        {},
        DataError,
        ['predictions: column "user" holds whole numbers, truth: column "user" holds text'],
    ),
    "a missing id": (
        {"user": ["ann", "bob"], "item": ["a", None], "rank": [1, 1]},
        TRUTH,
        {},
        DataError,
        ["predictions: column \"item\", a row of user 'bob': the id is missing"],
    ),
    "a rank of 0": (
        {"user": ["ann", "bob"], "item": ["a", "b"], "rank": [0, 0]},
        TRUTH,
        {},
        DataError,
        ['predictions: column "rank", user \'', "found 0; a rank is a whole number from 1"],
    ),
    "a rank twice": (
        {"user": ["ann", "ann"], "item": ["a", "b"], "rank": [2, 2]},
        TRUTH,
        {},
        DataError,
        ["predictions: user 'ann' has rank 2 twice; give a rank one item"],
    ),
    "other users": (
        {"user": ["u1", "u2"], "item": ["a", "b"], "rank": [1, 1]},
        TRUTH,
        {},
        DataError,
        ["predictions: not one of the users is in the truth: 'u1' here, 'ann' there"],
    ),
    "written lists": (
        {"user": ["ann", "bob"], "item": ["a", "b"], "rank": [1, 1]},
        {"user": ["ann", "bob"], "item": ["[a]", "[b]"]},
        {},
        DataError,
        ["truth: '[a]' looks like a whole list written as text"],
    ),
    "candidates that are text": (
        LISTS,
        TRUTH,
        {"metrics": "Coverage@2", "candidates": "abc"},
        UsageError,
        ["candidates: found str; give a list of item ids"],
    ),
    "candidates of another kind": (
        LISTS,
        TRUTH,
        {"metrics": "Coverage@2", "candidates": [1, 2]},
        DataError,
        ["candidates holds whole numbers", "no id would match"],
    ),
    "no grades": (LISTS, TRUTH, {"metrics": "NDCG(gain=linear)@3"}, UsageError, ["needs grades"]),
    "no train": (LISTS, TRUTH, {"metrics": "Novelty@3"}, UsageError, ["needs training events"]),
    "two grades": (
        LISTS,
        {"user": ["ann", "ann"], "item": ["a", "a"], "grade": [1, 2]},
        {},
        DataError,
        ["truth: user 'ann', item 'a' has two grades, 1 and 2; give it one"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(spark: Any, name: str) -> None:
    lists, truth, more, kind, words = REFUSED[name]
    types = {"a missing id": "user string, item string, rank int"}.get(name)
    with refusal(kind, *words):
        asked = {"metrics": "MRR"} | more
        evaluate(frame(spark, lists, types=types), frame(spark, truth), **asked)


def test_nobody_to_evaluate(spark: Any) -> None:
    empty = spark.createDataFrame([], "user string, item string")
    with refusal(DataError, "truth: there are no rows, so there is nobody to evaluate"):
        evaluate(frame(spark, LISTS), empty, "MRR")
    lists = spark.createDataFrame([], "user string, item string, rank int")
    with refusal(DataError, "truth: there are no rows, so there is nobody to evaluate"):
        evaluate(lists, empty, "MRR")


def test_frames_of_other_libraries(spark: Any) -> None:
    with refusal(UsageError, "predictions: found polars DataFrame", "harness.evaluate"):
        evaluate(locally(LISTS), frame(spark, TRUTH), "MRR")  # type: ignore[arg-type,unused-ignore]


def test_zeros_that_nobody_named(spark: Any) -> None:
    truth = {"user": ["ann", "bob"], "item": ["a", "c"], "label": [0, 1]}
    with pytest.warns(UserWarning, match='truth: column "label" holds zeros'):
        evaluate(frame(spark, LISTS), frame(spark, truth), "MRR")


def test_items_that_are_true_for_others_are_known(spark: Any) -> None:
    """Ann is recommended bob's item, and they lie in different partitions: nothing to warn of."""
    lists = {"user": ["ann", "bob"], "item": ["b", "a"], "rank": [1, 1]}
    truth = {"user": ["ann", "bob"], "item": ["a", "b"]}
    spark.conf.set("spark.sql.shuffle.partitions", "64")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert evaluate(frame(spark, lists), frame(spark, truth), "MRR")["MRR"] == 0
    with pytest.warns(UserWarning, match="no recommended item is a true item of anyone"):
        evaluate(frame(spark, lists | {"item": ["x", "y"]}), frame(spark, truth), "MRR")
