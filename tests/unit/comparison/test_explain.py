"""One user's list, position by position: what each adds, and who is worth a look."""

from dataclasses import replace
from math import fsum, log2

import numpy as np
import polars as pl
import pytest
from conftest import exactly, refusal
from hypothesis import given
from hypothesis import strategies as st
from letters import submitted, with_solution

from harness.comparison import explain
from harness.comparison.explain import Explanation, Explanations
from harness.core import table
from harness.core.errors import UsageError
from harness.metrics import DEFINITIONS, DIVISORS, parse
from harness.metrics.conventions import CONVENTIONS
from harness.scoring.submissions import SubmittedLists


def with_users(lists: SubmittedLists, users: list[str]) -> SubmittedLists:
    return with_solution(lists, users=pl.Series(users))


def of_one(row: str, truth: str, k: int) -> Explanation:
    return explain.explain(submitted([row], [truth]), 0, k)


def shown(explanation: Explanation) -> list[str]:
    return table.plain(Explanations("lists.csv", (explanation,)).sheets()[0]).splitlines()


def test_a_list_by_hand() -> None:
    """Truth a, b, c; the list a, a, x, b: hits at 1 and 4, D = min(3, 4)."""
    explanation = of_one("aaxb", "abc", 4)
    assert (explanation.k, explanation.truth, explanation.divisor) == (4, ("a", "b", "c"), 3)
    assert [p.contribution for p in explanation.places] == exactly([1 / 3, 0, 0, 2 / 4 / 3])
    assert explanation.metrics["MAP@4"] == exactly((1 + 2 / 4) / 3)
    lines = shown(explanation)
    assert lines[:3] == ["lists  lists.csv", "user   u0 · k = 4", "truth  R = 3: a, b, c"]
    cells = [line.split() for line in lines[5:9]]
    assert cells[0] == ["1", "a", "hit", "1.0000", "0.333333", "1.0000"]
    assert cells[1] == ["2", "a", "repeated", "0.5000", "0.6309"]
    assert cells[3] == ["4", "b", "hit", "0.5000", "0.166667", "0.4307"]
    assert lines[-1] == "AP@4 = 1.0000 + 0.5000 over D = min(3, 4) = 3: 1.500000 / 3 = 0.500000"


def test_no_list_has_no_places() -> None:
    explanation = of_one("---", "a", 3)
    assert explanation.places == ()
    assert (explanation.metrics["MAP@3"], explanation.divisor) == (0, 1)
    assert (explanation.conventions["kaggle"], explanation.conventions["lenskit"]) == (0, None)
    assert "note   no list" in shown(explanation)
    assert shown(explanation)[-1] == "AP@3 = 0 over D = min(1, 3) = 1: 0.000000 / 1 = 0.000000"


def test_true_items_that_are_no_candidates_count_in_r_and_are_named() -> None:
    new = [f"n{i:02}" for i in range(14)]
    lists = submitted(["ab", "b", "c"], ["a", "b", "c"], [["new"], [], new])
    first, second, third = (explain.explain(lists, row, 2) for row in range(3))
    assert (first.truth, first.candidates, first.divisor) == (("a", "new"), 1, 2)
    assert first.metrics["MAP@2"] == exactly(1 / 2)
    assert (second.truth, second.candidates) == (("b",), 1)
    assert (third.truth, third.candidates, third.divisor) == (("c", *new), 1, 2)
    assert "note   14 of them are not candidates" in shown(third)
    assert f"truth  R = 15: c, {', '.join(new[:11])} and 3 more" in shown(third)
    assert not any("of them are not candidates" in line for line in shown(second))


def test_every_metric_of_accuracy_and_every_convention_is_there() -> None:
    explanation = of_one("a", "a", 3)
    names = {parse(name).name for name in explanation.metrics}
    assert names == {name for name, d in DEFINITIONS.items() if not d.needs}
    assert {parse(name).k for name in explanation.metrics} == {3}
    for divisor in DIVISORS:
        assert str(parse(f"MAP(divisor={divisor})@3")) in explanation.metrics
    assert list(explanation.conventions) == list(CONVENTIONS)


words = st.text("abcdefgh-", max_size=8)
truths = st.lists(st.sampled_from("abcdefgh"), unique=True).map("".join)


@given(row=words, truth=truths, k=st.integers(1, 9))
def test_places_are_what_definitions_say_and_add_up_to_the_metrics(
    row: str, truth: str, k: int
) -> None:
    explanation = of_one(row, truth, k)
    assert len(explanation.places) == len(row[:k].rstrip("-"))
    for p in explanation.places:
        before, letter = row[: p.rank - 1], row[p.rank - 1]
        assert p.item == (None if letter == "-" else letter)
        assert p.repeat == (letter != "-" and letter in before)
        assert p.hit == (letter in truth and letter not in before)
        assert p.precision == exactly(len(set(row[: p.rank]) & set(truth)) / p.rank)
        assert p.discount == exactly(1 / log2(p.rank + 1))
    hits = [p for p in explanation.places if p.hit]
    added = fsum(p.contribution for p in explanation.places)
    assert added == pytest.approx(explanation.metrics[f"MAP@{k}"], rel=0, abs=1e-15)
    ideal = sum(1 / log2(i + 2) for i in range(min(len(truth), k)))
    dcg = fsum(p.discount for p in hits)
    assert explanation.metrics[f"NDCG@{k}"] == exactly(dcg / ideal if ideal else 0)
    assert explanation.metrics[f"Precision@{k}"] == exactly(len(hits) / k)
    assert explanation.metrics[f"MRR@{k}"] == exactly(1 / hits[0].rank if hits else 0)
    assert {p.item for p in hits} == set(row[:k]) & set(truth)


# Who is worth a look.

FEW = ["dee", "bob", "ann", "cid"]
FOUR = with_users(submitted(["a", "x", "xa", "x"], ["a", "a", "a", "ab"]), FEW)
"""MRR is 1 for dee, 1/2 for ann, 0 for bob, who has one item to get, and for cid, with two."""
BY_MRR = with_solution(FOUR, metrics=(parse("MRR"),))


@pytest.mark.parametrize(
    ("worst", "best", "names"),
    [
        (3, 0, "cid bob ann"),
        (0, 3, "dee ann bob"),
        (2, 1, "cid bob dee"),
        (9, 9, "cid bob ann dee"),
    ],
)
def test_extremes_stand_in_order_and_nobody_twice(worst: int, best: int, names: str) -> None:
    """Of the worst with one value those with most to get come first; of the best, ids decide."""
    users = explain.explain_users(BY_MRR, worst=worst, best=best).users
    assert [explanation.user for explanation in users] == names.split()


def test_the_worst_lost_most_against_the_best_model() -> None:
    """It has 1 for everyone but bob, 0.5: ann and bob lose 1/2, and bob has the lower value."""
    best = np.array([1, 0.5, 1, 1])
    explained = explain.explain_users(BY_MRR, worst=3, best_values=best)
    assert [user.user for user in explained.users] == ["cid", "bob", "ann"]
    assert [user.best_value for user in explained.users] == [1, 0.5, 1]


def test_who_has_nothing_to_get_is_not_the_worst() -> None:
    ids, values, hits = pl.Series(["ann", "bob", "cid"]), np.array([0, 0.5, 0]), np.array([1, 1, 0])
    assert explain.worst_first(ids, values, hits).tolist() == [0, 1]


def test_two_lists_stand_side_by_side_where_they_differ_most() -> None:
    """The others have 1 for ann and 1/2 for cid, and the same for dee and bob."""
    second = with_users(submitted(["a", "x", "a", "xb"], ["a", "a", "a", "ab"]), FEW)
    explained = explain.explain_users(BY_MRR, against=second, most_different=9)
    assert [user.user for user in explained.users] == ["ann", "cid"]
    assert [user.places[0].item for user in explained.against_users] == ["a", "x"]
    lines = str(replace(explained, models=("one", "two"))).splitlines()
    assert lines[:2] == ["lists  lists.csv", "and    lists.csv"]
    assert lines[4:6] == ["diff   MRR -0.5000 (0.5000 against 1.0000)", "truth  R = 1: a"]
    cells = [line.split() for line in lines[7:10]]
    assert cells[0] == ["rank", "one", "hit", "two", "hit"]
    assert cells[1:] == [["1", "x", "a", "hit"], ["2", "a", "hit", "–"]]
    assert lines[11].startswith("one: AP@12 = 0.5000 over D = min(1, 12) = 1")
    first, *records = explained.records()
    assert [first["lists"], *(row["lists"] for row in records)] == ["lists.csv"] * 6
    assert {name: first[name] for name in ("user", "k", "rank", "item", "hit", "precision")} == {
        "user": "ann", "k": 12, "rank": 1, "item": "x", "hit": False, "precision": 0.0
    }  # fmt: skip


def test_extremes_need_what_the_metric_needs() -> None:
    for metric, words in (
        ("Novelty@2", "Novelty@2 needs the training events"),
        ("MAP@3", "MAP@3 looks at 3 positions, but the evaluation set has k = 2"),
    ):
        lists = with_solution(FOUR, metrics=(parse(metric),), k=2)
        with refusal(UsageError, words):
            explain.explain_users(lists, worst=1)


def test_users_by_name_and_an_unknown_one() -> None:
    users = explain.explain_users(FOUR, ["cid", "dee"]).users
    assert [explanation.user for explanation in users] == ["cid", "dee"]
    with refusal(UsageError, 'no user "zzz" among the 4 of the evaluation set; one is "dee"'):
        explain.explain_users(FOUR, ["ann", "zzz"])
