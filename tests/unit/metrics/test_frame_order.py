"""Where the order of a list comes from, and ids that are told apart."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import evaluate

TRUTH = {"ann": ["a", "b"], "bob": ["c"]}
ROWS = pd.DataFrame(
    {
        "user": ["ann", "bob", "ann", "bob", "ann"],
        "item": ["b", "c", "x", "y", "a"],
        "rank": [3, 2, 2, 1, 1],
        "score": [0.1, -7.5, 0.2, -7.25, 0.3],
    }
)
"""By rank and by score: ann a, x, b; bob y, c. As they stand: ann b, x, a; bob c, y."""
BY_NUMBER = float(Fraction(5, 6) + Fraction(1, 2)) / 2
AS_THEY_STAND = float(Fraction(5, 6) + 1) / 2


def figure(lists: Any, truth: Any = TRUTH, metric: str = "MAP@3", **named: Any) -> Any:
    return evaluate(lists, truth, metric, **named).iloc[0]


@pytest.mark.parametrize(
    ("columns", "expected", "order"),
    [
        (["rank"], BY_NUMBER, 'ranks in column "rank"'),
        (["score"], BY_NUMBER, 'scores in column "score", ties by item id'),
        (["score", "rank"], BY_NUMBER, 'ranks in column "rank"'),
        ([], AS_THEY_STAND, "rows in their own order"),
    ],
)
def test_a_column_of_that_name_orders_or_else_the_rows_do(
    columns: list[str], expected: float, order: str
) -> None:
    result = evaluate(ROWS[["user", "item", *columns]], TRUTH, "MAP@3")
    assert result.iloc[0] == pytest.approx(expected)
    assert result.attrs["order"] == order


def test_a_column_that_is_named_goes_before_both() -> None:
    rows = ROWS.assign(rank=[1, 1, 2, 2, 3], position=ROWS["rank"], probability=ROWS["score"])
    assert figure(rows) == pytest.approx(AS_THEY_STAND)
    for named in ({"rank": "position"}, {"score": "probability"}, {"score": "score"}):
        assert figure(rows, **named) == pytest.approx(BY_NUMBER)


@given(
    scores=st.lists(st.sampled_from([-1.5, 0.0, 0.5, 2.0]), min_size=2, max_size=12),
    shuffle=st.randoms(use_true_random=False),
    k=st.integers(1, 13),
)
def test_ties_are_broken_by_item_id_as_text(scores: list[float], shuffle: Any, k: int) -> None:
    rows = [(item, score) for item, score in enumerate(scores)]
    best_first = [i for i, _ in sorted(rows, key=lambda row: (-row[1], str(row[0])))]
    shuffle.shuffle(rows)
    frame = pd.DataFrame(rows, columns=["item", "score"]).assign(user=1)
    wanted = best_first[min(k, len(rows)) - 1]
    assert figure(frame, {1: [wanted]}, f"MRR@{k}") == pytest.approx(1 / min(k, len(rows)))


TOP, LOW = 2**62, -(2**63)
INFINITE = [-np.inf, np.inf, 0.0, -1e308, np.inf]


@pytest.mark.parametrize(
    ("items", "scores", "best_first"),
    [
        (["ä", "z", "B", "a", "10", "9"], [1] * 6, ["10", "9", "B", "a", "z", "ä"]),
        (list("abc"), [np.int64(TOP), TOP + 1, np.uint64(TOP + 2)], "cba"),  # beyond 2 to the 53
        (list("abc"), [LOW, LOW + 1, LOW], "bac"),
        (list("abcde"), INFINITE, "becda"),
        (list("ba"), [0.0, -0.0], "ab"),
    ],
)
def test_scores_are_compared_exactly_and_ties_by_the_bytes_of_ids(
    items: list[str], scores: list[Any], best_first: Any
) -> None:
    in_rows = pd.DataFrame({"user": "ann", "item": items, "score": scores})
    for lists in (in_rows, {"ann": dict(zip(items, scores, strict=True))}):
        for place, item in enumerate(best_first, start=1):
            assert figure(lists, {"ann": [item]}, "MRR") == 1 / place


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint32", "Float64", "Int64", "object"])
def test_ranks_and_scores_of_every_type_of_number(dtype: str) -> None:
    for column, numbers in (("score", [1, 2, 2, 3, 3]), ("rank", [3, 2, 2, 1, 1])):
        rows = ROWS[["user", "item"]].assign(**{column: pd.Series(numbers, dtype=dtype)})
        assert figure(rows) == pytest.approx(BY_NUMBER)


def test_a_rank_is_a_place_also_where_ranks_are_missing_between() -> None:
    rows = pd.DataFrame({"user": "ann", "item": ["a", "b", "c"], "rank": [9, 4, 10**15]})
    result = evaluate(rows, {"ann": ["a", "b"]}, ["MAP@9", "MAP@8", "MRR@8"])
    assert result.tolist() == pytest.approx([(1 / 4 + 2 / 9) / 2, (1 / 4) / 2, 1 / 4])
    rows = pd.DataFrame({"user": "ann", "item": range(1000), "rank": range(1, 1001)})
    assert figure(rows.sample(frac=1, random_state=1), {"ann": [999]}, "MRR") == 1 / 1000


far_apart = st.one_of(
    st.integers(0, 50),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([10**15, -(10**15), 2**22, 2**63 - 1, -(2**63)]),
)


@given(ids=st.lists(far_apart, min_size=4, max_size=12, unique=True))
def test_numbers_however_far_apart_are_told_apart(ids: list[int]) -> None:
    """Also those that the lists alone have: the later half misses, moved by one."""
    half = len(ids) // 2
    listed = [*ids[:half], *ids[half + 1 :], ids[half]]
    lists = pd.DataFrame({"user": ids, "item": listed})
    truth = pd.DataFrame({"user": ids, "item": ids})
    result = evaluate(lists, truth, "HitRate@1", per_user=True)["HitRate@1"]
    assert result.index.tolist() == sorted(ids)
    assert result.to_dict() == {u: float(u == i) for u, i in zip(ids, listed, strict=True)}
