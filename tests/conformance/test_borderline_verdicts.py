"""Other draws decide otherwise only where a verdict is marked as borderline."""

import numpy as np
import pytest
from conftest import hashes

from harness.core import steps
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.estimates import ScoredUsers, bootstrap_steps, keys_of
from harness.stats.paired import Rules, compare_steps
from harness.stats.pairwise import comparison_of

METRIC = parse("MAP@2")
CLOSE = np.random.default_rng(7)
TABLES = {
    f"m{level}": ScoreTable(
        {
            METRIC: np.where(
                CLOSE.random((1, 300)) < 0.3 + 0.03 * level, 1 / CLOSE.integers(1, 4, (1, 300)), 0.0
            )
        }
    )
    for level in range(9)
}
"""Models whose means rise by little, so that the verdict of some pairs is close."""


def verdicts(seed: int, rules: Rules) -> dict[tuple[str, str], tuple[str, bool]]:
    names = list(TABLES)
    drawn = bootstrap_steps(keys_of(names, [METRIC]), rules.resamples, seed)
    both = steps.side_by_side([compare_steps(names, METRIC, rules), drawn])
    part = ScoredUsers(hashes(300), TABLES)
    paired, resampled = steps.found(both, steps.of_one(part))
    pairs = comparison_of(paired, resampled, METRIC, rules).pairs
    return {(pair.one, pair.other): (pair.verdict, pair.borderline) for pair in pairs}


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_other_draws_decide_otherwise_in_borderline_pairs_alone(correction: str) -> None:
    """By 20 seeds some of 36 pairs have two verdicts; never two that are not marked."""
    found = [verdicts(seed, Rules(correction=correction, seed=seed)) for seed in range(20)]
    every = {pair: {one[pair][0] for one in found} for pair in found[0]}
    certain = {pair: {one[pair][0] for one in found if not one[pair][1]} for pair in found[0]}
    assert max(len(words) for words in every.values()) == 2
    assert max(len(words) for words in certain.values()) == 1
    assert sum(near for _, near in found[0].values()) < len(every) / 3


def test_more_draws_leave_fewer_pairs_borderline() -> None:
    few, many = (
        sum(near for _, near in verdicts(42, Rules(resamples=resamples, seed=42)).values())
        for resamples in (10_000, 200_000)
    )
    assert many < few
