"""Formulas on literal rows, their laws, and how metrics are written and misspelled."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import ragged, refusal
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.core.errors import UsageError
from harness.metrics import DIVISORS, Block, Judgments, Metric, apk, mapk, parse, per_user

ALL = [
    *(f"MAP(divisor={divisor})" for divisor in DIVISORS),
    *("Precision", "Recall", "F1", "HitRate", "MRR", "NDCG", "NDCG(ideal=retrieved)"),
    *("RPrecision", "pFound", "pFound(p_break=0.5)"),
]


def value(name: str, ranked: Sequence[int], truth: Sequence[int], k: int) -> float:
    lists = np.array([ranked], np.int32).reshape(1, -1)
    rows = ragged([truth])
    result = per_user(parse(f"{name}@{k}"), Block(lists, Judgments(rows, rows.sizes), k))
    assert result.dtype == np.float64
    return float(result[0])


@pytest.mark.parametrize("name", ALL)
def test_without_truth_or_list_the_value_is_0(name: str) -> None:
    for ranked, truth in (([1, 2], []), ([], [1]), ([], []), ([-1, -1], [1])):
        assert value(name, ranked, truth, 3) == 0.0
    assert 0 < value(name, [5], [5], 2**31 - 1) <= 1  # the largest cut-off


def test_a_block_of_another_cut_off_is_refused() -> None:
    scored = Block(np.array([[1]], np.int32), Judgments(ragged([[1]]), np.array([1])), 5)
    with pytest.raises(ValueError, match=r"MAP@12 needs lists cut at k = 12, got k = 5"):
        per_user(parse("MAP@12"), scored)


lists = st.lists(st.integers(-1, 15), max_size=15)
unique_lists = st.lists(st.integers(0, 15), unique=True, min_size=2, max_size=15)
truths = st.sets(st.integers(0, 15), max_size=9).map(sorted)
cuts = st.integers(1, 18)


@given(truth=truths.filter(bool), k=cuts, rest=lists)
def test_a_perfect_list_gets_exactly_1(truth: list[int], k: int, rest: list[int]) -> None:
    fractions = ("MAP", "HitRate", "MRR", "NDCG", "NDCG(ideal=retrieved)")
    for name in (*fractions, "pFound", "pFound(p_break=0.5)"):
        assert value(name, truth + rest, truth, k) == 1.0, name


@given(ranked=unique_lists, truth=truths, k=cuts)
def test_moving_a_hit_up_never_lowers(ranked: list[int], truth: list[int], k: int) -> None:
    moves = [i for i, (a, b) in enumerate(pairwise(ranked)) if b in truth and a not in truth]
    assume(moves)
    for i in moves:
        better = [*ranked[:i], ranked[i + 1], ranked[i], *ranked[i + 2 :]]
        for name in ALL:
            # One more hit within the cut also raises these divisors: the law does not hold.
            if i + 1 == k and name in ("MAP(divisor=hits)", "NDCG(ideal=retrieved)"):
                continue
            assert value(name, better, truth, k) >= value(name, ranked, truth, k) - 1e-15, name


@given(ranked=lists, truth=st.lists(st.integers(0, 15), max_size=9), k=cuts)
def test_apk_is_the_kernel_to_the_last_bit(ranked: list[int], truth: list[int], k: int) -> None:
    assert apk(truth, ranked, k) == value("MAP", ranked, sorted(set(truth)), k)


@given(ranked=lists, truth=truths, k=cuts)
def test_the_f1_of_sets_counts_an_item_once(ranked: list[int], truth: list[int], k: int) -> None:
    """F1 is the harmonic mean of |T ∩ S|/|S| and |T ∩ S|/|T|, S the set of what is listed."""
    listed = {item for item in ranked[:k] if item >= 0}
    hits = len(listed & set(truth))
    precision, recall = hits / max(len(listed), 1), hits / max(len(truth), 1)
    expected = 2 * precision * recall / (precision + recall) if hits else 0.0
    assert value("SetF1", ranked, truth, k) == pytest.approx(expected, rel=1e-14)


def test_mapk_is_the_mean_over_all_users_and_refuses_surplus_ones_and_none() -> None:
    assert mapk([["a"], [], ["c"]], [["a"], ["b"], ["x", "c"]]) == 0.5
    assert apk(range(1, 6), [6, 4, 7, 1, 2], 2) == 1 / 4  # ml_metrics' own test
    assert apk(np.array([1, 2]), np.array([3, 2])) == 1 / 4
    with pytest.raises(ValueError, match="truth of 2 and lists of 1 users"):
        mapk([["a"], ["b"]], [["a"]])
    with pytest.raises(ValueError, match="at least one user"):
        mapk([], [])
    with pytest.raises(ValueError, match="at least 1, got 0"):
        apk(["a"], ["a"], 0)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (" NDCG ( ideal = retrieved ) @ 10 ", "NDCG(ideal=retrieved)@10"),
        ("MAP(divisor=kaggle)@012", "MAP@12"),  # a default is not written
        ("pFound(p_break=0.15)", "pFound"),
        ("pFound(p_break=.30)@2147483647", "pFound(p_break=0.3)@2147483647"),
        ("pFound(p_break=1e-3)@10", "pFound(p_break=0.001)@10"),
        ("pFound(p_break=-0)@10", "pFound(p_break=0.0)@10"),
        ("NDCG(ideal=retrieved,gain=linear)@5", "NDCG(gain=linear,ideal=retrieved)@5"),
        ("ILD(attributes=colour+kind)@12", "ILD(attributes=colour+kind)@12"),
        ("ILD(attributes=all)@12", "ILD@12"),
    ],
)
def test_text_is_read_and_printed(text: str, printed: str) -> None:
    assert str(parse(text)) == printed
    assert parse(printed) == parse(text)
    assert hash(parse(printed)) == hash(parse(text))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("map@12", ['"map"', 'did you mean "MAP@12"?']),
        ("banana@12", ['"banana"', "allowed: MAP, Precision, Recall, F1, "]),
        ("MAP", ['"MAP"', "no cut-off", '"MAP@10"']),
        ("MAP@0", ["MAP@0", "from 1", "got 0"]),
        ("MAP@" + "9" * 5000, ["2147483647"]),
        ("MAP@ten", ['"MAP@ten"', "MAP@12"]),
        ("", ['""', "MAP(divisor=trec)@10"]),
        ("MAP(divider=trec)@10", ["MAP", '"divider"', 'did you mean "divisor"?']),
        ("MAP(divisor=treck)@10", ['"treck"', 'did you mean "trec"?']),
        ("MAP(divisor)@10", ['"divisor"', "name=value"]),
        ("MAP(divisor=k,divisor=trec)@10", ["MAP", "twice"]),
        ("pFound(p_break=2)@10", ["pFound", 'p_break cannot be "2"', "from 0 to 1"]),
        ("pFound(p_break=often)@10", ['p_break cannot be "often"', "a number", "as 0.15"]),
        ("pFound(p_break=nan)@10", ['p_break cannot be "nan"', "a number"]),
        ("RPrecision(gain=linear)@10", ["RPrecision takes no parameters", '"RPrecision@10"']),
    ],
)
def test_what_is_misspelled_is_named_with_what_was_meant(text: str, named: list[str]) -> None:
    with refusal(UsageError, named):
        parse(text)


@given(st.text(max_size=30) | st.text("MAPRdivsork(=,)@12", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert parse(str(parse(text))) == parse(text)
    except UsageError as refusal:
        assert str(refusal)


def test_a_metric_made_by_hand_is_checked_too() -> None:
    assert Metric("MAP", 12, (("divisor", "kaggle"),)) == parse("MAP@12")
    with pytest.raises(UsageError, match="banana"):
        Metric("MAP", 12, (("divisor", "banana"),))
    faulty: Any = [("MAP", "12"), ("MAP", 12.5), ("MAP", True), (5, 3)]
    for name, k in faulty:
        with pytest.raises(UsageError):
            Metric(name, k)
