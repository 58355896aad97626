"""Pairs of models by hand; test_folds.py has the same for any order of users."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import hashes, refusal
from scipy import stats

from harness.core.errors import UsageError
from harness.core.exact_sum import of_one
from harness.metrics import Metric, parse
from harness.metrics.scores import ScoreTable
from harness.results.wording import compared_headline
from harness.stats.figures import figures_of
from harness.stats.folds import ScoredUsers
from harness.stats.paired import Rules
from harness.stats.pairwise import Comparison

METRIC = parse("MAP@2")
RNG = np.random.default_rng(4)
MANY = {
    name: np.where(RNG.random(400) < 0.2, RNG.random(400) * scale, 0.0)
    for name, scale in {"weak": 0.3, "same": 0.31, "strong": 1.0}.items()
}


def compared(user_scores: dict[str, Any], metric: Metric = METRIC, **named: Any) -> Comparison:
    scores = {name: np.atleast_2d(np.array(values, float)) for name, values in user_scores.items()}
    tables = {name: ScoreTable({metric: values}) for name, values in scores.items()}
    names, rules = list(tables), Rules(**named)
    users = hashes(scores[names[0]].shape[1])
    result = figures_of(of_one(ScoredUsers(users, tables)), names, [metric], rules).comparison
    assert result is not None
    return result


def test_a_pair_by_hand() -> None:
    """Differences 1, 1/2, 0, −1/2: mean 1/4, variance 5/12, so d_z = 0.3873."""
    (pair,) = compared({"b": [0, 0.5, 0, 0.5], "a": [1, 1, 0, 0]}).pairs
    assert (pair.one, pair.other, pair.difference) == ("a", "b", 0.25)
    assert pair.relative == 1
    assert (pair.wins, pair.ties, pair.losses) == (2, 1, 1)
    assert pair.effect_size == pytest.approx(0.25 / (5 / 12) ** 0.5)
    assert pair.p_t == pytest.approx(stats.ttest_1samp([1, 0.5, 0, -0.5], 0).pvalue, rel=1e-10)
    # Of the signs of 1, 1/2 and 1/2, sums as far out as 1 come up in 6 of 8: 2, 1, 1, −2, −1, −1.
    assert pair.p_sign_flip == pytest.approx(6 / 8, abs=0.02)
    assert pair.verdict == "tied"


def test_the_headline_says_where_lower_is_better() -> None:
    result = replace(compared({"a": [1, 1], "b": [1, 1]}), better="lower")
    scores = "BEST  a: MAP@2 1.0000 (0.5000 … 1.0000), lower is better"
    assert compared_headline(result, (0.5, 1.0)) == [scores, "      tied with b"]


def test_the_interval_is_students_and_the_bootstraps_agrees() -> None:
    (pair,) = compared({name: MANY[name] for name in ("strong", "weak")}).pairs
    d = MANY["strong"] - MANY["weak"]
    expected = stats.t.interval(0.95, 399, d.mean(), stats.sem(d))
    assert pair.ci95 == pytest.approx(expected, rel=1e-9)
    assert pair.ci95_bootstrap == pytest.approx(expected, abs=0.1 * stats.sem(d))


def test_verdicts_and_corrections() -> None:
    strong, same = compared(MANY, baseline="weak").pairs
    assert [strong.one, strong.other, strong.verdict] == ["strong", "weak", "better"]
    assert [same.one, same.other, same.verdict] == ["same", "weak", "tied"]
    assert strong.p_adjusted == pytest.approx(2 * strong.p_sign_flip)  # Holm, of two
    last = compared(MANY, baseline="weak", correction="bh").pairs[1]
    assert last.p_adjusted == last.p_sign_flip  # the largest is not corrected
    below = compared(MANY, baseline="strong").pairs
    assert {(pair.verdict, pair.difference < 0) for pair in below} == {("worse", True)}


def test_the_matrix_says_who_is_better_than_whom() -> None:
    """Only "strong" is apart; its row has wins, and the columns of the others' rows a loss."""
    (sheet,) = compared(MANY).sheets()
    assert sheet.titles == ["", "model", "1", "2", "3"]
    first, *rest = sheet.rows
    assert first == ["1", "strong", "·", "▲", "▲"]
    assert [row[2:] for row in rest] == [["▼", "·", "="], ["▼", "=", "·"]]
    assert "▲ better than the model of the column, ▼ worse, = tied" in sheet.footing
    assert [len(each.rows) for each in compared(MANY, baseline="weak").sheets()] == [2]


LOWER = Metric("MAP", 2, definition=replace(METRIC.definition, better="lower"))


@pytest.mark.parametrize(
    ("metric", "first", "verdict"),
    [(LOWER, "low", "better"), (parse("Popularity@2"), "high", "higher")],
)
def test_where_lower_or_neither_is_better(metric: Metric, first: str, verdict: str) -> None:
    (pair,) = compared({"high": MANY["strong"], "low": MANY["weak"]}, metric).pairs
    assert (pair.one, pair.verdict) == (first, verdict)
    assert (pair.difference < 0) == (first == "low")
    assert pair.wins > pair.losses


def test_equal_models_tie_everywhere() -> None:
    """All 400 users against none is certain; alike, every sign is as far from 0."""
    zeros, ones = np.zeros(400), np.ones(400)
    pairs = compared({"a": MANY["weak"], "b": MANY["weak"], "all": ones, "none": zeros}).pairs
    assert [pair.borderline for pair in pairs] == [False] * 6
    (pair,) = (pair for pair in pairs if (pair.one, pair.other) == ("a", "b"))
    assert (pair.difference, pair.ties, pair.p_t, pair.p_sign_flip) == (0, 400, 1, 1)
    assert (pair.ci95, pair.verdict) == ((0, 0), "tied")
    assert (pair.effect_size, pair.detectable) == (None, None)


def test_values_that_differ_by_rounding_alone_are_equal() -> None:
    """0.1 + 0.2 is not 0.3, and the mean of ten equal repeats may be off by a bit."""
    value = np.full(300, 0.1 + 0.2)
    (pair,) = compared({"a": value, "b": np.full(300, 0.3)}).pairs
    assert (pair.ties, pair.p_sign_flip, pair.verdict) == (300, 1, "tied")
    user_scores = np.random.default_rng(1).random(300)
    (pair,) = compared({"one": user_scores, "many": np.tile(user_scores, (7, 1))}).pairs
    assert (pair.ties, pair.difference, pair.p_sign_flip) == (300, 0, 1)


def test_a_share_of_a_negative_mean_keeps_its_sign_and_of_zero_there_is_none() -> None:
    (pair,) = compared({"a": [-1.0, -2.0], "b": [-2.0, -2.0]}).pairs
    assert (pair.one, pair.relative) == ("a", 0.25)
    (pair,) = compared({"a": [1, 0, 0.5], "b": [0, 0, 0]}).pairs
    assert pair.relative is None


def test_repeats_are_averaged() -> None:
    result = compared({"a": [1, 1], "r": [[0, 1], [1, 0], [0, 0], [0, 0]]})
    assert result.pairs[0].difference == 0.75
    assert result.means == {"a": 1, "r": 0.25}
    assert result.any_hit == {"a": 1, "r": 0.25}  # in one repeat, not in any of the four


def test_pairs_stand_best_first_and_are_judged_alike_whoever_else_is_there() -> None:
    """But for the correction: users and signs depend on the seed alone."""
    (alone,) = compared({name: MANY[name] for name in ("weak", "strong")}).pairs
    everyone = compared(MANY)
    pairs = [("strong", "same"), ("strong", "weak"), ("same", "weak")]
    assert [(pair.one, pair.other) for pair in everyone.pairs] == pairs
    assert list(everyone.any_hit) == ["strong", "same", "weak"]
    assert everyone.any_hit["weak"] == (MANY["weak"] > 0).mean()
    among = next(p for p in everyone.pairs if {p.one, p.other} == {"weak", "strong"})
    assert (alone.p_sign_flip, alone.p_t) == (among.p_sign_flip, among.p_t)
    assert alone.ci95_bootstrap == among.ci95_bootstrap
    reverse = compared({name: MANY[name] for name in reversed(list(MANY))})
    assert everyone.to_dict() == reverse.to_dict()


def test_many_pairs_get_more_flips() -> None:
    """Of 15 models 105 pairs: (1 − 0.05/105)^20895 is 0.01/210; of 3, (1 − 0.05/3)^381 0.01/6."""
    rng = np.random.default_rng(2)
    user_scores = {f"m{i}": rng.random(50) for i in range(15)}
    assert compared(user_scores, resamples=100).flips == 20_895
    assert compared(MANY, resamples=100).flips == 381
    assert compared(MANY).flips == 10_000


def test_what_cannot_be_compared() -> None:
    two = {"popular": [1, 0], "b": [0, 0]}
    with refusal(UsageError, '"popluar"', '"popular"'):
        compared(two, baseline="popluar")
    with refusal(UsageError, "Coverage@2 has one value for all lists"):
        compared(two, parse("Coverage@2"))
    with refusal(UsageError, "only one model"):
        compared({"popular": [1, 0]})
