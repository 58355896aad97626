"""Verdicts, intervals and tests err about as often as they say; tests/nightly has the studies."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import hashes

from harness.core import steps
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.chance import chance_steps
from harness.stats.chance_law import law
from harness.stats.estimates import ScoredUsers, bootstrap_steps, keys_of
from harness.stats.intervals import Sample, skewed
from harness.stats.paired import Rules, compare_steps
from harness.stats.pairwise import comparison_of
from harness.stats.tests import minimum_detectable_difference, t_test


def test_independent_repeats_count_each() -> None:
    """A random model, of one or of ten repeats, is held for another in 5 %: 2 to 8 of 500."""
    rng, metric = np.random.default_rng(3), parse("MAP@1")
    known = law(metric, np.full(300, 20), 1, 1)
    for repeats in (1, 10):
        rejected = 0
        for _ in range(500):
            hits = (rng.random((repeats, 300)) < 1 / 20).astype(float)
            part: Any = SimpleNamespace(tables={"m": ScoreTable({metric: hits})}, law=known)
            result = steps.found(chance_steps(["m"], metric), steps.of_one(part))["m"]
            rejected += result.verdict != "no better than chance"
        assert 10 <= rejected <= 40


def test_an_interval_covers_the_mean_of_rare_hits() -> None:
    """2,000 samples of 500 users: 94 to 97 %; Student's interval covers 83 %."""
    rng = np.random.default_rng(3)
    drawn = np.where(rng.random((2000, 500)) < 0.02, 1 / rng.integers(1, 13, (2000, 500)), 0.0)
    mean = 0.02 * np.mean(1 / np.arange(1, 13))
    result = (skewed(Sample.of(x), 0, 1) or (1, 0) for x in drawn)
    assert 0.935 <= np.mean([low <= mean <= high for low, high in result]) <= 0.97


def test_a_test_finds_what_it_could_detect_in_four_of_five_evaluation_sets() -> None:
    rng = np.random.default_rng(5)
    size = minimum_detectable_difference(Sample.of(rng.normal(0, 1, 200)))
    assert size is not None
    p = [t_test(Sample.of(rng.normal(size, 1, 200))) for _ in range(2000)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.8, abs=0.08)


MAP = parse("MAP@2")


def verdicts(rules: Rules) -> dict[tuple[str, str], tuple[str, bool]]:
    """Return those of nine models whose means rise by little, so that some pairs are close."""
    rng, tables = np.random.default_rng(7), {}
    for level in range(9):
        hits, gains = rng.random((1, 300)) < 0.3 + 0.03 * level, 1 / rng.integers(1, 4, (1, 300))
        tables[f"m{level}"] = ScoreTable({MAP: np.where(hits, gains, 0.0)})
    drawn = bootstrap_steps(keys_of(list(tables), [MAP]), rules.resamples, rules.seed)
    both = steps.side_by_side([compare_steps(list(tables), MAP, rules), drawn])
    paired, resampled = steps.found(both, steps.of_one(ScoredUsers(hashes(300), tables)))
    pairs = comparison_of(paired, resampled, MAP, rules).pairs
    return {(pair.one, pair.other): (pair.verdict, pair.borderline) for pair in pairs}


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_other_draws_decide_otherwise_in_borderline_pairs_alone(correction: str) -> None:
    """By 20 seeds some of 36 pairs have two verdicts; never two that are not marked."""
    result = [verdicts(Rules(correction=correction, seed=seed)) for seed in range(20)]
    every = {pair: {one[pair][0] for one in result} for pair in result[0]}
    certain = {pair: {one[pair][0] for one in result if not one[pair][1]} for pair in result[0]}
    assert max(len(words) for words in every.values()) == 2
    assert max(len(words) for words in certain.values()) == 1
    assert sum(near for _, near in result[0].values()) < len(every) / 3
