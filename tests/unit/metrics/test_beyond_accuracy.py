"""Metrics of what lists are made of, against plain Python; a journey has figures by hand."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log2, sqrt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import evaluate

# test_evaluate.py has the warning of items that nobody lists.
pytestmark = pytest.mark.filterwarnings("ignore:.* none of the items is known")

Lists = Mapping[str, Sequence[str]]
TRUTH = {"ann": ["a", "b", "c", "d"], "bob": ["d"]}
LISTS = {"ann": ["a", "b", "c"], "bob": ["d", "a", "e"]}

items = st.sampled_from("abcdef")
rows = st.lists(items, max_size=7)
logs = st.dictionaries(st.sampled_from("uvwx"), rows, min_size=1)
cuts = st.integers(1, 8)
evaluation_sets = st.fixed_dictionaries({"ann": rows, "bob": rows, "cem": st.just(["a"])})
"""Lists of three users; the last one hits, so that there is nothing to warn of."""
THREE = TRUTH | {"cem": ["a"]}


def test_a_value_does_not_hang_on_the_length_of_others_lists() -> None:
    letters = "qwertyuiopasdfghjklzxcvbnm"
    train = {f"u{n}": sorted(letters)[: n + 1] for n in range(26)}
    lists = {"ann": list(letters[:7]), "bob": list(letters[-20:])}
    both = evaluate(lists, {"ann": ["q"], "bob": ["m"]}, "Novelty@26", train=train, per_user=True)
    alone = evaluate({"ann": lists["ann"]}, {"ann": ["q"]}, "Novelty@26", train=train)
    assert both.loc["ann"].item() == alone.item()


def test_equally_popular_items_stand_in_the_order_of_ids_as_text() -> None:
    lists = {1: [9], 2: [10]}
    result = evaluate(lists, lists, "Serendipity@1", train=lists, per_user=True)
    assert result["Serendipity@1"].tolist() == [1, 0]  # "10" comes before "9"


@given(lists=evaluation_sets, train=logs, k=cuts)
def test_what_training_says_is_what_plain_python_says(lists: Lists, train: Lists, k: int) -> None:
    holders = Counter(item for held in train.values() for item in set(held))
    count = Counter(item for held in train.values() for item in held)
    users = sum(1 for held in train.values() if held)
    popular = sorted(count, key=lambda item: (-count[item], item))[:k]
    names = [f"Novelty@{k}", f"Popularity@{k}", f"Serendipity@{k}"]
    result = evaluate(lists, THREE, names, train=train, per_user=True)
    for user, row in lists.items():
        first = row[:k]
        caught = [-log2(holders[item] / users) if holders[item] else 0.0 for item in first]
        expected = [
            sum(caught) / max(1, len(first)),
            sum(count[item] for item in first) / max(1, len(first)),
            len(set(first) & set(THREE[user]) - set(popular)) / k,
        ]
        assert result.loc[user].tolist() == pytest.approx(expected, abs=1e-12)


COLOURS, KINDS = ["red", "red", "blue", None], ["shirt", "hat", "hat", "hat"]
LOOKS = pl.DataFrame(
    {"item": list("abcd"), "colour": COLOURS, "kind": KINDS, "size": [3.0, 4.0, -3.0, 0.0]}
)


def test_attributes_that_are_named_and_an_item_that_has_none() -> None:
    names = ["ILD(attributes=colour+size)@2", "ILD(attributes=colour)@2", "ILD(attributes=kind)@2"]
    lists = {"ann": ["a", "b"], "bob": ["d", "e"]}  # d has no colour, and e is in no table
    result = evaluate(lists, TRUTH, names, attributes=LOOKS, per_user=True)
    assert result.loc["ann"].tolist() == pytest.approx([1 - 13 / sqrt(10 * 17), 0, 1])
    assert result.loc["bob"].tolist() == [1, 1, 1]


def test_the_size_of_numbers_does_not_matter_to_a_cosine() -> None:
    for small in (1e-308, 5e-324):
        sizes = pl.DataFrame({"item": ["a", "b", "c"], "size": [small, small, -small]})
        lists = {"ann": ["a", "b"], "bob": ["a", "c"]}
        result = evaluate(lists, TRUTH, "ILD@2", attributes=sizes, per_user=True)
        assert result["ILD@2"].tolist() == pytest.approx([0, 2], abs=1e-12)


def test_all_attributes_are_every_column_in_any_frame_and_row_order() -> None:
    named_by_numbers = LOOKS.to_pandas().rename(columns={"size": 0, "kind": 1})
    for looks in (named_by_numbers, LOOKS.reverse().to_arrow()):
        result = evaluate({"ann": ["a", "c"]}, {"ann": ["a"]}, "ILD@3", attributes=looks)
        assert result.iloc[0] == pytest.approx(1 + 9 / 11)  # (1, 1, 0, 0, 3) and (0, 0, 1, 1, -3)


def test_an_attribute_may_have_the_name_that_our_own_columns_have() -> None:
    long = pl.DataFrame({"user": ["ann", "ann"], "article": ["a", "b"]})
    looks = pl.DataFrame({"article": ["a", "b"], "item": ["shirt", "hat"]})
    assert evaluate(long, long, "ILD@2", item="article", attributes=looks).iloc[0] == 1


def cosine(x: Mapping[Any, float], y: Mapping[Any, float]) -> float:
    """Return the cosine of two sparse vectors; 0 where one has no direction."""
    length = sqrt(sum(v * v for v in x.values()) * sum(v * v for v in y.values()))
    return sum(v * y.get(key, 0) for key, v in x.items()) / length if length else 0.0


colours, sizes = st.none() | st.sampled_from(["red", "blue"]), st.integers(-3, 3).map(float)
looks = st.tuples(colours, st.none() | sizes)


@given(lists=evaluation_sets, known=st.dictionaries(items, looks, min_size=1), k=cuts)
def test_diversity_is_the_mean_over_all_pairs(lists: Lists, known: Any, k: int) -> None:
    vectors: dict[str, dict[Any, float]] = {item: {} for item in "abcdef"}
    for item, (colour, size) in known.items():
        vectors[item] = {"size": size or 0.0} | ({colour: 1.0} if colour else {})

    def diversity(row: Sequence[str]) -> float:
        pairs = [1 - cosine(vectors[x], vectors[y]) for x, y in combinations(row[:k], 2)]
        return sum(pairs) / max(1, len(pairs))

    schema = {"item": pl.String, "colour": pl.String, "size": pl.Float64}
    table = pl.DataFrame([(item, *values) for item, values in known.items()], schema, orient="row")
    result = evaluate(lists, THREE, f"ILD@{k}", attributes=table, per_user=True)
    expected = [diversity(row) for _, row in sorted(lists.items())]
    assert result.iloc[:, 0].tolist() == pytest.approx(expected, abs=1e-12)


def test_candidates_are_any_sequence_of_ids_or_else_the_items_of_training() -> None:
    """Of a, b, c and d, which may be said twice, the first places have a and d."""
    for candidates in (list("aabcd"), tuple("abcd"), set("abcd"), pl.Series(list("abcd"))):
        result = evaluate(LISTS, TRUTH, ["Coverage@1", "Gini@1"], candidates=candidates)
        assert result.tolist() == [2 / 4, (-3 * 0 - 1 * 0 + 1 + 3) / (4 * 2)]
    train = {"ann": ["a", "a", "b"], "bob": ["a", "c"]}
    assert evaluate(LISTS, TRUTH, "Coverage@1", train=train).iloc[0] == 1 / 3


@given(lists=evaluation_sets, candidates=st.sets(st.sampled_from("abcdefgh"), min_size=1), k=cuts)
def test_gini_is_the_mean_absolute_difference(lists: Lists, candidates: set[str], k: int) -> None:
    places = Counter(item for row in lists.values() for item in row[:k])
    x = [places[item] for item in candidates]
    between = sum(abs(a - b) for a in x for b in x)
    expected = between / (2 * len(x) * sum(x)) if sum(x) else 0.0  # 2·n²·mean = 2·n·sum
    result = evaluate(lists, THREE, [f"Gini@{k}", f"Coverage@{k}"], candidates=sorted(candidates))
    assert result.tolist() == pytest.approx([expected, sum(map(bool, x)) / len(x)], abs=1e-12)
