"""Where the tools part from us and from each other: a few rows each, the cause in the name.

A marker holds lists, truth and k; an item is a letter, and the user is u where there is one. The
training events of all cases are p-a, q-a, q-b, r-c; the catalogue is a, b, c, d.
"""

from math import log2

import pytest
from scored import Scored

REPEAT = {"u": "aab"}, {"u": "ab"}, 3
REPEAT_BEHIND_K = {"u": "aba"}, {"u": "ac"}, 2
REPEATED_TRUTH = {"u": "ab"}, {"u": "aab"}, 3
LIST_OF_ONE_USER = {"u": "a"}, {"u": "a", "v": "a"}, 3
TRUTH_OF_ONE_USER = {"u": "a", "v": "b"}, {"u": "a"}, 3
EMPTY_TRUTH = {"u": "a", "v": "a"}, {"u": "", "v": "b"}, 3


def exactly(value: float) -> object:
    return pytest.approx(value, rel=0, abs=1e-12)


# A repeated prediction: for us no second hit, but it uses its rank. Hits at 1 and 3.


@pytest.mark.case(*REPEAT)
def test_ml_metrics_lets_a_repeated_prediction_use_its_rank_as_we_do(scored: Scored) -> None:
    for text in ("MAP", "MAP(divisor=trec)", "MAP(divisor=retrieved)"):
        assert scored.user("ours", text) == exactly((1 + 2 / 3) / 2)
        assert scored.user("ml_metrics", text) == exactly((1 + 2 / 3) / 2)


@pytest.mark.case(*REPEAT)
def test_trec_tools_drop_a_repeated_prediction_and_its_rank(scored: Scored) -> None:
    """Their lists map items to scores, so that the list is a, b."""
    for tool in ("pytrec_eval", "ir_measures", "ranx"):
        assert scored.user(tool, "MAP(divisor=trec)") == 1
        assert scored.user(tool, "RPrecision") == 1
    assert scored.user("ours", "MAP(divisor=trec)") == exactly((1 + 2 / 3) / 2)
    assert scored.user("ours", "RPrecision") == 1 / 2


@pytest.mark.case(*REPEAT)
def test_replay_counts_a_repeated_prediction_again(scored: Scored) -> None:
    """MAP and NDCG see three hits of two; precision and recall compare sets."""
    assert scored.user("replay", "MAP") == (1 + 1 + 1) / 2
    ideal = 1 + 1 / log2(3)
    assert scored.user("replay", "NDCG") == exactly((ideal + 1 / 2) / ideal)
    assert scored.user("ours", "NDCG") == exactly((1 + 1 / 2) / ideal)
    assert scored.user("replay", "Precision") == scored.user("ours", "Precision") == 2 / 3


@pytest.mark.case(*REPEAT)
def test_recommenders_counts_a_repeated_prediction_again(scored: Scored) -> None:
    assert scored.mean("recommenders", "MAP") == (1 + 1 + 1) / 2
    assert scored.mean("recommenders", "Recall") == 3 / 2
    assert scored.mean("ours", "Recall") == 2 / 2


@pytest.mark.case(*REPEAT)
def test_rectools_counts_a_repeated_prediction_as_hit_and_as_truth(scored: Scored) -> None:
    """Its join of truth with lists has three rows, which are R = 3 and three hits."""
    assert scored.user("rectools", "MAP(divisor=trec)") == (1 + 1 + 1) / 3
    assert scored.user("rectools", "MAP(divisor=k)") == (1 + 1 + 1) / 3
    assert scored.user("ours", "MAP(divisor=k)") == exactly((1 + 2 / 3) / 3)


@pytest.mark.case(*REPEAT)
def test_sklearn_counts_a_repeated_prediction_again(scored: Scored) -> None:
    """It is given positions, not items: whoever marks them as hits must leave repetitions out."""
    assert scored.user("sklearn", "MAP(divisor=hits)") == 1
    assert scored.user("ours", "MAP(divisor=hits)") == exactly((1 + 2 / 3) / 2)


@pytest.mark.case(*REPEAT)
def test_recommenders_leaves_pairs_of_the_same_item_out_of_diversity(scored: Scored) -> None:
    """The distances of a-a, a-b, a-b are 0, 1, 1; RecTools and we take the mean of all three."""
    assert scored.mean("recommenders", "ILD") == 1
    assert scored.mean("rectools", "ILD") == exactly(2 / 3)
    assert scored.mean("ours", "ILD") == exactly(2 / 3)


@pytest.mark.case(*REPEAT_BEHIND_K)
def test_rectools_counts_a_repetition_behind_k_as_truth(scored: Scored) -> None:
    """A hit at 1 and R = 2, but the join has the rows a-1, a-3 and c."""
    assert scored.user("rectools", "MAP(divisor=trec)") == 1 / 3
    assert scored.user("rectools", "Recall") == 1 / 3
    assert scored.user("ours", "MAP(divisor=trec)") == scored.user("ours", "Recall") == 1 / 2


@pytest.mark.case(*REPEAT_BEHIND_K)
def test_recommenders_ndcg_counts_a_repetition_behind_k_again(scored: Scored) -> None:
    """It joins the hits with the whole lists, where a stands twice."""
    assert scored.mean("recommenders", "NDCG") == exactly(2 * scored.mean("ours", "NDCG"))
    assert scored.mean("ours", "NDCG") == exactly(1 / (1 + 1 / log2(3)))


# A repeated row of truth: for us truth is a set.


@pytest.mark.case(*REPEATED_TRUTH)
def test_trec_tools_take_truth_as_a_set_as_we_do(scored: Scored) -> None:
    for tool in ("ours", "pytrec_eval", "ir_measures", "ranx"):
        assert scored.user(tool, "MAP(divisor=trec)") == 1


@pytest.mark.case(*REPEATED_TRUTH)
def test_ml_metrics_and_replay_count_repeated_truth_in_the_divisor(scored: Scored) -> None:
    assert scored.user("ml_metrics", "MAP") == scored.user("replay", "MAP") == (1 + 1) / 3
    assert scored.user("ours", "MAP") == (1 + 1) / 2


@pytest.mark.case(*REPEATED_TRUTH)
def test_rectools_weighs_repeated_truth_double(scored: Scored) -> None:
    """The hits of its join stand at the ranks 1, 1, 2: (1/1 + 2/1 + 3/2) / 3, more than 1."""
    assert scored.user("rectools", "MAP(divisor=trec)") == exactly(7 / 6)
    assert scored.user("ours", "MAP(divisor=trec)") == 1


@pytest.mark.case(*REPEATED_TRUTH)
def test_recommenders_weighs_repeated_truth_double(scored: Scored) -> None:
    """(1/1 + 2/1 + 3/2) / min(3, 3) as in RecTools, but the ranks are counted anew: 1, 2, 3."""
    assert scored.mean("recommenders", "MAP") == 1.5
    assert scored.mean("ours", "MAP") == 1


# Who is averaged: for us every user of the truth, and nobody else.


@pytest.mark.case(*LIST_OF_ONE_USER)
def test_most_tools_count_a_user_without_a_list_as_zero_as_we_do(scored: Scored) -> None:
    for tool in ("ours", "ir_measures", "ranx", "rectools", "replay"):
        assert scored.mean(tool, "Recall") == 1 / 2


@pytest.mark.case(*LIST_OF_ONE_USER)
def test_pytrec_eval_leaves_out_users_without_lists(scored: Scored) -> None:
    assert scored.mean("pytrec_eval", "MAP(divisor=trec)") == 1
    assert scored.mean("ours", "MAP(divisor=trec)") == 1 / 2


@pytest.mark.case(*LIST_OF_ONE_USER)
def test_recommenders_leaves_out_users_without_lists_except_in_ndcg(scored: Scored) -> None:
    assert scored.mean("recommenders", "MAP") == 1
    assert scored.mean("ours", "MAP") == 1 / 2
    assert scored.mean("recommenders", "NDCG") == scored.mean("ours", "NDCG") == 1 / 2


@pytest.mark.case({"u": "ab", "v": "ba", "w": "dd"}, {"u": "a", "v": "a", "w": "a"}, 2)
def test_recommenders_r_precision_leaves_out_users_without_an_early_hit(scored: Scored) -> None:
    """R = 1 for all, and only u has a hit at 1."""
    assert scored.mean("recommenders", "RPrecision") == 1
    assert scored.mean("ours", "RPrecision") == exactly(1 / 3)


@pytest.mark.case(*LIST_OF_ONE_USER)
def test_tools_leave_users_without_lists_out_of_novelty_and_popularity(scored: Scored) -> None:
    """The share of a is 2/3, its count 2; an empty list has 0 of both for us."""
    assert scored.mean("rectools", "Novelty") == exactly(-log2(2 / 3))
    assert scored.mean("ours", "Novelty") == exactly(-log2(2 / 3) / 2)
    assert scored.mean("rectools", "Popularity") == 2
    assert scored.mean("ours", "Popularity") == 2 / 2


@pytest.mark.case(*TRUTH_OF_ONE_USER)
def test_tools_cover_the_catalogue_with_lists_of_users_without_truth(scored: Scored) -> None:
    assert scored.mean("rectools", "Coverage") == 2 / 4
    assert scored.mean("ours", "Coverage") == 1 / 4


@pytest.mark.case(*EMPTY_TRUTH)
def test_ml_metrics_scores_1_where_truth_is_empty(scored: Scored) -> None:
    """So does the released package; its repository says 0 since, as its kdd_apk and we do."""
    assert scored.user("ml_metrics", "MAP") == 1
    assert scored.user("ml_metrics", "MAP(divisor=trec)") == 0
    assert scored.user("ours", "MAP") == 0


@pytest.mark.case(*EMPTY_TRUTH)
def test_pytrec_eval_and_rectools_leave_out_users_whose_truth_is_empty(scored: Scored) -> None:
    for tool in ("pytrec_eval", "rectools"):
        assert scored.results[tool]["Recall"]["users"] == {"v": 0}
    assert scored.results["ours"]["Recall"]["users"] == {"u": 0, "v": 0}


# Other rules.


@pytest.mark.case({"u": "a"}, {"u": "abc"}, 10)
def test_the_divisor_of_a_short_list_has_five_conventions(scored: Scored) -> None:
    """One hit at 1; R = 3, k = 10, L = 1."""
    expected = {
        ("ml_metrics", "MAP"): 1 / 3,
        ("pytrec_eval", "MAP(divisor=trec)"): 1 / 3,
        ("rectools", "MAP(divisor=k)"): 1 / 10,
        ("ml_metrics", "MAP(divisor=retrieved)"): 1 / 1,
        ("sklearn", "MAP(divisor=hits)"): 1 / 1,
    }
    for (tool, text), value in expected.items():
        assert scored.user(tool, text) == scored.user("ours", text) == exactly(value)


@pytest.mark.case({"u": "abc"}, {"u": "abcd"}, 2)
def test_rectools_r_precision_divides_by_k_where_truth_is_larger(scored: Scored) -> None:
    """Two hits, R = 4: RecTools says 2/min(4, 2), trec_eval and we 2/4."""
    assert scored.user("rectools", "RPrecision") == 2 / 2
    assert scored.user("pytrec_eval", "RPrecision") == scored.user("ours", "RPrecision") == 2 / 4


@pytest.mark.case({"u": "ba"}, {"u": "a"}, 2)
def test_rectools_r_precision_looks_behind_the_first_r_positions(scored: Scored) -> None:
    """The one true item stands at 2."""
    assert scored.user("rectools", "RPrecision") == 1
    assert scored.user("pytrec_eval", "RPrecision") == scored.user("ours", "RPrecision") == 0


@pytest.mark.case({"u": {"b": 1.0, "a": 1.0}}, {"u": "b"}, 2)
def test_trec_eval_orders_equal_scores_by_falling_id_and_we_by_rising_id(scored: Scored) -> None:
    """For trec_eval the list is b, a, for us a, b."""
    assert scored.user("pytrec_eval", "MAP(divisor=trec)") == 1
    assert scored.user("ir_measures", "MAP(divisor=trec)") == 1
    assert scored.user("ours", "MAP(divisor=trec)") == 1 / 2


@pytest.mark.case({"u": {"a": 1.0, "b": 1.0}}, {"u": "b"}, 2)
def test_ir_measures_orders_equal_scores_in_two_ways(scored: Scored) -> None:
    """It takes AP@k from trec_eval, for which b is first, and RR@k from a tool that keeps a, b."""
    assert scored.user("ir_measures", "MAP(divisor=trec)") == 1
    assert scored.user("ir_measures", "MRR") == 1 / 2


@pytest.mark.case({"u": "ad"}, {"u": "a"}, 2)
def test_rectools_and_replay_take_an_unseen_item_for_one_that_one_user_has(scored: Scored) -> None:
    """No training event has d; the share of a is 2/3. For us d adds 0."""
    assert scored.user("rectools", "Novelty") == exactly((-log2(2 / 3) - log2(1 / 3)) / 2)
    assert scored.user("replay", "Novelty") == exactly((-log2(2 / 3) - log2(1 / 3)) / 2)
    assert scored.user("ours", "Novelty") == exactly(-log2(2 / 3) / 2)


@pytest.mark.case({"u": "b"}, {"u": "a"}, 2)
def test_replay_divides_the_novelty_of_a_short_list_by_k(scored: Scored) -> None:
    assert scored.user("replay", "Novelty") == exactly(-log2(1 / 3) / 2)
    assert scored.user("ours", "Novelty") == exactly(-log2(1 / 3) / 1)


@pytest.mark.case({"u": "a", "v": "bc"}, {"u": "a", "v": "a"}, 2)
def test_recommenders_takes_novelty_of_events_and_averages_over_positions(scored: Scored) -> None:
    """Of 4 events a has 2, b and c 1 each; of 3 users a has 2, b and c 1 each."""
    assert scored.mean("recommenders", "Novelty") == exactly((1 + 2 + 2) / 3)
    assert scored.mean("ours", "Novelty") == exactly((-log2(2 / 3) - log2(1 / 3)) / 2)


@pytest.mark.case({"u": "ad"}, {"u": "a"}, 2)
def test_replay_and_recommenders_cover_the_items_of_training(scored: Scored) -> None:
    """The catalogue is a, b, c, d, training has no d; recommenders counts d in the lists alone."""
    assert scored.mean("replay", "Coverage") == exactly(1 / 3)
    assert scored.mean("recommenders", "Coverage") == exactly(2 / 3)
    assert scored.mean("rectools", "Coverage") == scored.mean("ours", "Coverage") == 2 / 4
