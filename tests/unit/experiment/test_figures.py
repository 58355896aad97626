"""Figures of parts of the users: to the last bit those of all users at once."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small

from harness.core import steps
from harness.core.steps import of_parts
from harness.experiment.figures import EvaluatedUsers, Figures, figure_steps
from harness.metrics import parse
from harness.metrics.scores import ScoreTable

METRICS = [parse("MAP@3"), parse("Popularity@3")]
CONFIG = small.config_of(
    Path(),
    *(small.POPULAR | {"name": name} for name in ("one", "two", "three")),
    evaluation={"k": 3, "seed": 5},
    compare={"resamples": 130, "public_shares": [0.4]},
)
COLUMNS = ("activity", "town")
RNG = np.random.default_rng(4)
USERS = 60
SCORES = np.where(RNG.random((2, 3, 2, USERS)) < 0.3, RNG.random((2, 3, 2, USERS)), 0.0)
HASHES = RNG.integers(0, 2**64, USERS, np.uint64)
CASES = np.full(USERS, 40), RNG.integers(1, 4, USERS), RNG.integers(4, 6, USERS)
PROFILE = pl.DataFrame(
    {"activity": RNG.integers(0, 9, USERS), "town": RNG.choice(["Ulm", "Bern", ""], USERS)}
)


def part(users: Any) -> EvaluatedUsers:
    """Return some users, in the order given."""
    tables = {
        model.name: ScoreTable({m: SCORES[i][j][:, users] for i, m in enumerate(METRICS)})
        for j, model in enumerate(CONFIG.models)
    }
    n, r, relevant = (of[users] for of in CASES)
    return EvaluatedUsers(
        HASHES[users], tables, PROFILE[users], (n, r, relevant), 3, METRICS[0], None
    )


def figures(*shares: Any) -> Figures:
    total = of_parts(lambda: [part(users) for users in shares])
    return steps.found(figure_steps(CONFIG, METRICS, COLUMNS, USERS), total)


ALL = figures(np.arange(USERS))
SOME = (SCORES[0] > 0).any(axis=(0, 1))
ORDER = RNG.permutation(USERS)
PARTS = {
    "in another order": [ORDER],
    "many, one of nobody": [*np.array_split(ORDER, 7), ORDER[:0]],
    "all with a score in one": [np.flatnonzero(SOME), np.flatnonzero(~SOME)],
}


@pytest.mark.parametrize("parts", PARTS)
def test_however_users_are_divided(parts: str) -> None:
    assert vars(figures(*PARTS[parts])) == vars(ALL)


def test_all_users_are_in_means_and_in_one_slice_of_each_column() -> None:
    for at, model in enumerate(CONFIG.models):
        found = ALL.estimates[model.name, METRICS[0]].mean
        assert found == pytest.approx(SCORES[0][at].mean(), rel=1e-12)
    for column in COLUMNS:
        assert sum(part.users for part in ALL.slices if part.by == column) == USERS
