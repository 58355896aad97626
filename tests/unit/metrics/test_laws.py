"""What holds for every metric, whatever the data: ranges, orders, ranks beyond the cut."""

import math
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import evaluate
from harness.metrics import DIVISORS, parse

OF_USERS = [
    *(f"MAP(divisor={divisor})@3" for divisor in DIVISORS),
    *("Precision@3", "Recall@3", "F1@3", "HitRate@3", "MRR@3", "RPrecision@3", "pFound@3"),
    *("NDCG@3", "NDCG(gain=linear)@3", "NDCG(gain=exponential,ideal=retrieved)@3"),
    *("pFound(p_break=0.5)@3", "Novelty@3", "Popularity@3", "Serendipity@3", "ILD@3"),
]
ALL = [*OF_USERS, "TotalRecall@3", "MicroRecall@3", "Coverage@3", "Gini@3"]
ITEMS = "abcdefgh"
TRAIN = {"ann": list("aab"), "bob": list("ac"), "dee": list("gde")}
LOOKS = pl.DataFrame({"item": list(ITEMS), "kind": list("xyxyxyxy"), "size": range(1, 9)})

FEWER = settings(max_examples=settings.default.max_examples // 2)
"""An example takes a fifth of a second."""

items = st.sampled_from(ITEMS)
rows, unique_rows = st.lists(items, max_size=6), st.lists(items, max_size=6, unique=True)
truths = st.dictionaries(items, st.sampled_from([0.25, 0.5, 1.0]), min_size=1, max_size=5)


def evaluation_sets(row: st.SearchStrategy[list[str]]) -> st.SearchStrategy[Any]:
    """Return lists and graded truth of three users; cem hits, so that nothing is to warn of."""
    lists = st.fixed_dictionaries({"ann": row, "bob": row, "cem": st.just(["a"])})
    truth = st.fixed_dictionaries({"ann": truths, "bob": truths, "cem": st.just({"a": 1.0})})
    return st.tuples(lists, truth)


def figures(lists: Any, truth: Any) -> dict[str, float]:
    result: dict[str, float] = evaluate(lists, truth, ALL, train=TRAIN, attributes=LOOKS).to_dict()
    return result


@FEWER
@given(known=evaluation_sets(rows))
def test_values_lie_within_the_declared_range_and_their_mean_is_the_figure(known: Any) -> None:
    lists, truth = known
    each = evaluate(lists, truth, OF_USERS, train=TRAIN, attributes=LOOKS, per_user=True)
    result = figures(lists, truth)
    for name, value in [*each.melt().to_numpy().tolist(), *result.items()]:
        low, high = parse(name).definition.range
        assert low <= value <= high, name
    for name in OF_USERS:
        assert result[str(parse(name))] == math.fsum(each[str(parse(name))]) / 3, name


@FEWER
@given(evaluation_set=evaluation_sets(st.lists(items, min_size=3, max_size=3)), more=rows)
def test_what_follows_the_cut_changes_nothing(evaluation_set: Any, more: list[str]) -> None:
    lists, truth = evaluation_set
    longer = lists | {user: lists[user] + more for user in ("ann", "bob")}
    assert figures(longer, truth) == figures(lists, truth)
