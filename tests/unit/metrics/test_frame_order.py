"""Where the order of a list comes from, and ids that are told apart."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import evaluate
from harness.metrics import scores as scoring

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
BY_NUMBER = (Fraction(5, 6) + Fraction(1, 2)) / 2
AS_THEY_STAND = (Fraction(5, 6) + 1) / 2

quick = settings(deadline=None, max_examples=40)


def figure(lists: Any, truth: Any = TRUTH, metric: str = "MAP@3", **named: Any) -> Any:
    """Return one figure."""
    return evaluate(lists, truth, metric, **named).iloc[0]


@pytest.mark.parametrize(
    ("columns", "named", "expected", "order"),
    [
        (["rank"], {}, BY_NUMBER, 'ranks in column "rank"'),
        (["score"], {}, BY_NUMBER, 'scores in column "score", ties by item id'),
        ([], {}, AS_THEY_STAND, "rows as they stand"),
    ],
)
def test_a_column_of_that_name_orders_or_else_the_rows_do(
    columns: list[str], named: dict[str, str], expected: Fraction, order: str
) -> None:
    found = evaluate(ROWS[["user", "item", *columns]], TRUTH, "MAP@3", **named)
    assert found.iloc[0] == pytest.approx(float(expected))
    assert found.attrs["order"] == order


def test_rank_goes_before_score() -> None:
    rows = ROWS.assign(score=[1, 2, 3, 4, 5])
    assert figure(rows) == pytest.approx(float(BY_NUMBER))
    rows = ROWS.assign(rank=[1, 1, 2, 2, 3])
    assert figure(rows) == pytest.approx(float(AS_THEY_STAND))


def test_a_column_that_is_named_goes_before_one_that_is_not() -> None:
    rows = ROWS.assign(rank=[1, 1, 2, 2, 3], position=ROWS["rank"], probability=ROWS["score"])
    assert figure(rows, rank="position") == pytest.approx(float(BY_NUMBER))
    assert figure(rows, score="probability") == pytest.approx(float(BY_NUMBER))
    assert figure(rows, score="score") == pytest.approx(float(BY_NUMBER))


@pytest.mark.parametrize("column", ["rank", "score"])
@given(order=st.permutations(range(5)))
@quick
def test_the_order_of_rows_does_not_matter_where_a_column_orders(
    column: str, order: list[int]
) -> None:
    rows = ROWS[["user", "item", column]].iloc[order]
    assert figure(rows) == pytest.approx(float(BY_NUMBER))


@given(
    scores=st.lists(st.sampled_from([-1.5, 0.0, 0.5, 2.0]), min_size=2, max_size=12),
    shuffle=st.randoms(use_true_random=False),
    k=st.integers(1, 13),
)
@quick
def test_ties_are_broken_by_item_id_as_text(scores: list[float], shuffle: Any, k: int) -> None:
    rows = [(item, score) for item, score in enumerate(scores)]
    best_first = [i for i, _ in sorted(rows, key=lambda row: (-row[1], str(row[0])))]
    shuffle.shuffle(rows)
    frame = pd.DataFrame(rows, columns=["item", "score"]).assign(user=1)
    wanted = best_first[min(k, len(rows)) - 1]
    found = figure(frame, {1: [wanted]}, f"MRR@{k}")
    assert found == pytest.approx(1 / min(k, len(rows)))


def test_ids_of_text_are_compared_byte_by_byte() -> None:
    rows = pd.DataFrame({"user": "ann", "item": ["ä", "z", "B", "b", "10", "9"], "score": 1})
    for place, item in enumerate(["10", "9", "B", "b", "z", "ä"], start=1):
        assert figure(rows, {"ann": [item]}, "MRR") == 1 / place


def test_whole_scores_beyond_two_to_the_53_that_differ_by_one_are_told_apart() -> None:
    top = 2**62
    rows = pd.DataFrame({"user": "ann", "item": ["a", "b", "c"], "score": [top, top + 1, top + 2]})
    for place, item in enumerate("cba", start=1):
        assert figure(rows, {"ann": [item]}, "MRR") == 1 / place
    lists = {"ann": {"a": top, "b": top + 1, "c": top + 2}}
    assert figure(lists, {"ann": ["c"]}, "MRR") == 1
    of_numpy = {"ann": {"a": np.int64(top), "b": top + 1, "c": np.uint64(top + 2)}}
    assert figure(of_numpy, {"ann": ["c"]}, "MRR") == 1


def test_scores_may_be_infinite_or_the_lowest_there_are() -> None:
    scores = [-np.inf, np.inf, 0.0, -1e308, np.inf]
    rows = pd.DataFrame({"user": "ann", "item": list("abcde"), "score": scores})
    for place, item in enumerate("becda", start=1):
        assert figure(rows, {"ann": [item]}, "MRR") == 1 / place
    low = pd.DataFrame({"user": "ann", "item": ["a", "b"], "score": [-(2**63), -(2**63) + 1]})
    assert figure(low, {"ann": ["a"]}, "MRR") == 1 / 2


def test_minus_zero_and_zero_are_a_tie() -> None:
    rows = pd.DataFrame({"user": "ann", "item": ["b", "a"], "score": [0.0, -0.0]})
    assert figure(rows, {"ann": ["a"]}, "MRR") == 1


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint32", "Float64", "Int64"])
def test_scores_of_every_type_of_number(dtype: str) -> None:
    rows = ROWS[["user", "item"]].assign(score=pd.Series([1, 2, 2, 3, 3]).astype(dtype))
    assert figure(rows) == pytest.approx(float(BY_NUMBER))


@pytest.mark.parametrize("dtype", ["float64", "uint8", "Int64", "object"])
def test_ranks_of_every_type_of_number(dtype: str) -> None:
    rows = ROWS[["user", "item"]].assign(rank=ROWS["rank"].astype(dtype))
    assert figure(rows) == pytest.approx(float(BY_NUMBER))


def test_a_rank_is_a_place_also_where_ranks_are_missing_between() -> None:
    rows = pd.DataFrame({"user": ["ann", "ann"], "item": ["a", "b"], "rank": [9, 4]})
    found = evaluate(rows, {"ann": ["a", "b"]}, ["MAP@9", "MAP@8", "MRR"])
    assert found.tolist() == pytest.approx([(1 / 4 + 2 / 9) / 2, (1 / 4) / 2, 1 / 4])


def test_a_rank_far_beyond_the_cut_off_takes_no_place() -> None:
    rows = pd.DataFrame({"user": ["ann", "ann"], "item": ["a", "b"], "rank": [1, 10**15]})
    assert figure(rows, {"ann": ["a", "b"]}, "Recall@3") == 1 / 2


@pytest.mark.parametrize("places", [16, 17, 33, 100, 1000])
@pytest.mark.parametrize("order", ["rows", "rank", "score", "list"])
def test_lists_may_be_long(places: int, order: str) -> None:
    rows = pd.DataFrame({"user": "ann", "item": range(places)})
    lists: Any = {
        "rows": rows,
        "rank": rows.assign(rank=rows["item"] + 1),
        "score": rows.assign(score=-rows["item"]),
        "list": {"ann": list(range(places))},
    }[order]
    last = {"ann": [places - 1]}
    assert figure(lists, last, "MRR") == 1 / places
    assert figure(lists, last, f"MRR@{places}") == 1 / places
    assert figure(lists, {"ann": [places - 1, 0]}, f"Recall@{places - 1}") == 1 / 2


def test_a_repeated_prediction_is_no_second_hit_and_uses_its_place() -> None:
    expected = Fraction(1 + Fraction(2, 3)) / 2
    frame = pd.DataFrame({"user": "ann", "item": ["a", "a", "b"]})
    for lists in (
        {"ann": ["a", "a", "b"]},
        frame,
        frame.assign(rank=[1, 2, 3]),
        frame.assign(score=[3, 2, 1]),
    ):
        assert figure(lists, {"ann": ["a", "b"]}) == pytest.approx(float(expected))


def evaluation_set(seed: int, form: str) -> tuple[Any, pd.DataFrame]:
    """Return random lists of 7 users, some long, and a truth; rows of users lie apart."""
    draw = np.random.default_rng(seed)
    rows = pd.DataFrame({"user": draw.integers(0, 7, 150), "item": draw.integers(0, 60, 150)})
    rows = rows.drop_duplicates(ignore_index=True)
    truth = pd.DataFrame({"user": np.repeat(range(7), 9), "item": draw.integers(0, 60, 63)})
    place = rows.groupby("user").cumcount() + 1
    lists = {
        "rows": rows,
        "rank": rows.assign(rank=place).sample(frac=1, random_state=seed),
        "score": rows.assign(score=-place / 4).sample(frac=1, random_state=seed),
        "wide": rows.groupby("user")["item"].agg(list).reset_index(),
    }[form]
    return lists, truth


METRICS = ["MAP@5", "MAP(divisor=hits)@40", "pFound", "Novelty@5", "Coverage@5", "Gini@5"]


@pytest.mark.parametrize("form", ["rows", "rank", "score"])
def test_every_form_of_order_says_what_the_lists_say(form: str) -> None:
    lists, truth = evaluation_set(6, form)
    as_lists, _ = evaluation_set(6, "wide")
    expected = evaluate(as_lists, truth, METRICS, train=truth)
    assert evaluate(lists, truth, METRICS, train=truth).to_dict() == expected.to_dict()


@pytest.mark.parametrize("block", [1, 2, 3, 6])
def test_blocks_of_users_and_threads_change_nothing(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    lists, truth = evaluation_set(7, "rank")
    of_users = [*METRICS[:4], "NDCG(gain=linear)@5"]
    graded = truth.drop_duplicates().assign(grade=0.5)
    whole = evaluate(lists, graded, METRICS, train=truth)
    each = evaluate(lists, graded, of_users, train=truth, per_user=True)
    monkeypatch.setattr(scoring, "BLOCK_USERS", block)
    assert evaluate(lists, graded, METRICS, train=truth).to_dict() == whole.to_dict()
    again = evaluate(lists, graded, of_users, train=truth, per_user=True)
    pd.testing.assert_frame_equal(again, each, check_exact=True)


far_apart = st.one_of(
    st.integers(0, 50),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([10**15, -(10**15), 2**22, 2**63 - 1, -(2**63)]),
)


@given(ids=st.lists(far_apart, min_size=3, max_size=12, unique=True))
@quick
def test_numbers_however_far_apart_are_told_apart(ids: list[int]) -> None:
    rows = pd.DataFrame({"user": ids, "item": ids[::-1]})
    found = evaluate(rows, rows, "MRR@1", per_user=True)
    assert found["MRR@1"].tolist() == [1] * len(ids)
    assert found.index.tolist() == sorted(ids)


@given(ids=st.lists(far_apart, min_size=4, max_size=12, unique=True))
@quick
def test_ids_that_only_the_lists_have_keep_their_users_and_items(ids: list[int]) -> None:
    half = len(ids) // 2
    truth = pd.DataFrame({"user": ids, "item": ids})
    hit = [*ids[:half], *ids[half + 1 :], ids[half]]  # the later half misses: moved by one
    lists = pd.DataFrame({"user": ids, "item": hit})
    expected = {user: float(user == item) for user, item in zip(ids, hit, strict=True)}
    found = evaluate(lists, truth, "HitRate@1", per_user=True)["HitRate@1"]
    assert found.to_dict() == expected


@pytest.mark.parametrize("column", ["rank", "score"])
def test_no_rows_at_all(column: str) -> None:
    """A column without cells has no type."""
    rows = pl.DataFrame({"user": [], "item": [], column: []})
    assert evaluate(rows, TRUTH, "MAP@3")["MAP@3"] == 0
