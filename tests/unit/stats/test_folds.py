"""Users of several folds, each with one value: by hand, by definition, and by enumeration."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from conftest import exactly
from hypothesis import given
from hypothesis import strategies as st

from harness.core.exact_sum import of_one, of_parts
from harness.core.random import id_hashes
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats import folds as module
from harness.stats import resampling
from harness.stats.chance import Verdicts
from harness.stats.chance_law import Law, law_of_mean
from harness.stats.estimates import Estimates
from harness.stats.figures import figures_of, results_of
from harness.stats.folds import Folds, Part, ScoredFold, ScoredUsers, folded, folds_of
from harness.stats.paired import Rules
from harness.stats.pairwise import Comparison

METRIC, COVERAGE = parse("MAP@1"), parse("Coverage@1")
MODELS = ("one", "other")
ONE, KEYS = ("one", METRIC), [(name, METRIC) for name in MODELS]
Scores = Mapping[str, Any]
"""Of one fold, by user: one model's score, or the scores of `MODELS` in turn."""


def fold(scores: Scores) -> ScoredFold:
    ids = pl.Series(list(scores), dtype=pl.String)
    rows = np.array([np.atleast_1d(values) for values in scores.values()], np.float64)
    columns = rows.reshape(len(scores), -1).T if scores else np.zeros((len(MODELS), 0))
    tables = {
        n: ScoreTable({METRIC: values[None]}) for n, values in zip(MODELS, columns, strict=False)
    }
    return ScoredFold(id_hashes(ids), tables, ids)


def of_all(part: Part) -> Folds:
    return folds_of(of_one(part))


def scored_folds(folds: Sequence[Scores]) -> tuple[ScoredUsers, Folds]:
    part = [fold(scores) for scores in folds]
    joined = of_all(part)
    return folded(joined, part), joined


def compared(users: ScoredUsers, folds: Folds | None = None) -> Comparison:
    rules = Rules(resamples=9999)
    result = figures_of(of_one(users), MODELS, [METRIC], rules, folds=folds).comparison
    assert result is not None
    return result


def estimated(users: ScoredUsers, folds: Folds | None = None, keys: Any = KEYS) -> Any:
    (result,) = results_of([Estimates(keys, 70, 5, folds)], of_one(users))
    return result


def test_freedom_is_that_of_the_smaller_folds() -> None:
    """Other users in folds of 3 and 6: (1/3 + 1/6)² / (3/3⁴ + 6/6⁴) = (1/4) / (9/216) = 6."""
    apart = of_all([fold(dict.fromkeys(names, 1)) for names in ("abc", "defghi")])
    same = of_all([fold(dict.fromkeys("abcdefg", 1))] * 3)
    assert (apart.freedom, same.freedom) == (6 - 1, 7 - 1)


def test_a_fold_of_one_user_leaves_no_interval() -> None:
    """What others in the user's place would score is not known."""
    users, folds = scored_folds([{"ann": (1, 0), "bob": (0, 0), "cid": (0, 1)}, {"ann": (1, 0)}])
    result = estimated(users, folds)[0][ONE]
    assert (result.ci95, result.ci95_t) == (None, None)
    (pair,) = compared(users, folds).pairs
    assert (pair.p_t, pair.detectable) == (1.0, None)


def test_repeats_have_means_of_their_own_and_a_metric_of_all_lists_has_no_users() -> None:
    """Means 1/2 and 1 of the first fold's repeats, 0 and 1/2 of the second's."""
    ids = pl.Series(["ann", "bob"])
    scores = np.array([[1, 0], [1, 1]]), np.array([[0, 0], [0, 1]])
    tables = [ScoreTable({METRIC: values, COVERAGE: np.zeros((2, 1))}) for values in scores]
    part = [ScoredFold(id_hashes(ids), {"one": table}, ids) for table in tables]
    folds = of_all(part)
    assert folds.of_repeats(ONE).tolist() == [1 / 4, 3 / 4]
    assert folds.mean(ONE) == 1 / 2
    assert folds.offsets(ONE).tolist() == [[1 / 4, 1 / 2], [0, 1 / 4]]
    table = folded(folds, part).tables["one"].values
    assert {m: values.tolist() for m, values in table.items()} == {METRIC: [[1 / 2, 0], [1 / 2, 1]]}


def test_two_folds_of_the_same_users_are_one_of_their_means() -> None:
    """To the last bit: sums, signs and intervals are those of the single set."""
    first = {"ann": (1, 0), "bob": (0, 1 / 2), "cid": (1 / 4, 1), "dan": (0, 0)}
    second = {"ann": (0, 1 / 2), "bob": (1 / 2, 1 / 2), "cid": (1 / 4, 0), "dan": (1, 0)}
    users, folds = scored_folds([first, second])
    both = fold({u: np.add(first[u], second[u]) / 2 for u in first})
    one_set = ScoredUsers(both.hashes, both.tables)
    in_folds, in_one = estimated(users, folds)[0], estimated(one_set)[0]
    for key in KEYS:
        assert in_folds[key].ci95_t == in_one[key].ci95_t
        assert in_folds[key].ci95 == in_one[key].ci95
    assert compared(users, folds).means["one"] == in_folds[ONE].mean == folds.mean(ONE)
    (joined,), (single,) = compared(users, folds).pairs, compared(one_set).pairs
    assert joined.better_folds == (1, 1)
    assert replace(joined, better_folds=None) == single


scores = st.sampled_from([0.0, 0.0, 1 / 12, 0.3, 0.5, 1.0])
one_fold = st.dictionaries(st.sampled_from("abcdefg"), st.tuples(scores, scores), min_size=1)
some_folds = st.lists(one_fold, min_size=1, max_size=4)


@given(some_folds)
def test_values_are_as_defined(folds: list[Scores]) -> None:
    """By exact fractions; users stand in the order of their ids.

    Errors are those of the infinitesimal jackknife (Jaeckel 1972).
    """
    users = sorted({user for fold in folds for user in fold})
    for place, name in enumerate(MODELS):
        of_model = [{u: Fraction(s[place]) for u, s in scores.items()} for scores in folds]
        means = [sum(s.values()) / len(s) for s in of_model]
        mean = sum(means) / len(means)
        value, error = dict.fromkeys(users, Fraction()), dict.fromkeys(users, mean)
        for of_fold, of_mean in zip(of_model, means, strict=True):
            for user, score in of_fold.items():
                share = Fraction(len(users), len(folds) * len(of_fold))
                value[user] += share * score
                error[user] += share * (score - of_mean)
        assert sum(value.values()) / len(users) == mean
        known, known_folds = scored_folds(folds)
        errors = module.errors(known, (name, METRIC), known_folds).tolist()
        result = known.tables[name].of_users(METRIC).tolist()
        assert result == exactly([float(value[u]) for u in users])
        assert errors == exactly([float(error[u]) for u in users])


@given(some_folds)
def test_the_bootstrap_resamples_errors(folds: list[Scores]) -> None:
    """What is added up of values and of who is there, is the mean of the resampled errors."""
    users, known_folds = scored_folds(folds)
    errors = module.errors(users, ONE, known_folds)[:, None]
    grid = resampling.exponents(np.abs(errors).max(axis=0), len(errors))
    sums, drawn = resampling.resampled_sums(errors, users.hashes, grid, 70, 5)
    expected = resampling.resampled_means(sums, drawn, grid)[:, 0]
    assert estimated(users, known_folds, [ONE])[1][ONE] == exactly(expected)


@given(some_folds, st.randoms())
def test_neither_the_order_of_users_nor_parts_change_a_bit(
    folds: list[Scores], random: Any
) -> None:
    """In three parts, of which some have no users of a fold."""
    users = sorted({user for fold in folds for user in fold})
    of_part = {user: random.randrange(3) for user in users}
    shuffled = [dict(random.sample(list(scores.items()), len(scores))) for scores in folds]
    parts = [
        [fold({u: s for u, s in scores.items() if of_part[u] == number}) for scores in shuffled]
        for number in range(3)
    ]
    assert facts_of(parts, len(users)) == facts_of([[fold(scores) for scores in folds]], len(users))


def facts_of(parts: Sequence[Part], users: int) -> list[Any]:
    """Return everything that a run of several folds tells of users in parts."""
    folds = folds_of(of_parts(lambda: iter(parts)))
    laws = [[law(*(2 + scored.hashes % 3).tolist()) for scored in part] for part in parts]
    known = [folded(folds, part, of_folds) for part, of_folds in zip(parts, laws, strict=True)]
    total = of_parts(lambda: iter(known))
    result = [folds.users, folds.common, folds.freedom, *(folds.mean(key) for key in KEYS)]
    statistics = [Estimates(KEYS, 70, 3, folds), Verdicts(MODELS, METRIC, folds)]
    (estimates, means), verdicts = results_of(statistics, total)
    result += [estimates, verdicts, *(means[key].tolist() for key in KEYS)]
    if users > 1:
        rules = Rules(resamples=70)
        result.append(figures_of(total, MODELS, [METRIC], rules, folds=folds).comparison)
    return result


def law(*candidates: int) -> Law:
    """Return the law of users' scores where one of so many candidates is true, and one is named.

    With p = 1/n: mean p, variance p(1 − p), third cumulant p(1 − p)(1 − 2p).
    """
    p = np.array([1 / n for n in candidates])
    return Law(p, p * (1 - p), p * (1 - p) * (1 - 2 * p), 1 - p)


candidates = st.dictionaries(st.sampled_from("abc"), st.integers(1, 5), min_size=1)


@given(st.lists(candidates, min_size=1, max_size=3))
def test_the_law_of_the_mean_equals_all_draws(folds: list[dict[str, int]]) -> None:
    """Every user of every fold hits or not; the mean over folds of each of all the ends."""
    part = [fold(dict.fromkeys(sizes, 0)) for sizes in folds]
    result = folded(of_all(part), part, [law(*sizes.values()) for sizes in folds]).law
    assert result is not None
    cases = [(len(sizes), n) for sizes in folds for n in sizes.values()]
    chances, means = [], []
    for hits in product((0, 1), repeat=len(cases)):
        draw = list(zip(hits, cases, strict=True))
        chances.append(np.prod([1 / n if hit else 1 - 1 / n for hit, (_, n) in draw]))
        means.append(sum(hit / size for hit, (size, _) in draw) / len(folds))
    mean = np.average(means, weights=chances)
    deviations = np.array(means) - mean
    of_mean = law_of_mean(result.sums())
    assert of_mean.mean == exactly(mean)
    assert of_mean.sd**2 == exactly(np.average(deviations**2, weights=chances))
    third = np.average(deviations**3, weights=chances)
    assert of_mean.skewness * of_mean.sd**3 == exactly(third)
    assert of_mean.none == exactly(chances[0])
