"""Verdicts, intervals and tests err about as often as they say; tests/nightly has the studies."""

import numpy as np
import pytest
from conftest import hashes

from harness.core.exact_sum import of_one
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.figures import figures_of
from harness.stats.folds import ScoredUsers
from harness.stats.paired import Rules

MAP = parse("MAP@2")


def verdicts(rules: Rules) -> dict[tuple[str, str], tuple[str, bool]]:
    """Return those of nine models whose means rise by little, so that some pairs are close."""
    rng, tables = np.random.default_rng(7), {}
    for level in range(9):
        hits, gains = rng.random((1, 300)) < 0.3 + 0.03 * level, 1 / rng.integers(1, 4, (1, 300))
        tables[f"m{level}"] = ScoreTable({MAP: np.where(hits, gains, 0.0)})
    figures = figures_of(of_one(ScoredUsers(hashes(300), tables)), list(tables), [MAP], rules)
    assert figures.comparison is not None
    pairs = figures.comparison.pairs
    return {(pair.one, pair.other): (pair.verdict, pair.borderline) for pair in pairs}


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_other_draws_decide_otherwise_in_borderline_pairs_alone(correction: str) -> None:
    """By 20 seeds some of 36 pairs have two verdicts; never two that are not marked."""
    result = [verdicts(Rules(correction=correction, seed=seed)) for seed in range(20)]
    every = {pair: {study[pair][0] for study in result} for pair in result[0]}
    certain = {
        pair: {study[pair][0] for study in result if not study[pair][1]} for pair in result[0]
    }
    assert max(len(words) for words in every.values()) == 2
    assert max(len(words) for words in certain.values()) == 1
    assert sum(near for _, near in result[0].values()) < len(every) / 3
