"""Our neighbours on the same matrices as LensKit's, RecBole's and similaripy's (Elliot's)."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HERE
from test_recommenders import K, at_random, lists, train_of

from baselines.item_knn import ItemKNN
from baselines.rp3beta import RP3beta
from baselines.user_knn import UserKNN
from harness.models.base import Train

PYTHON = HERE.parent / ".venv-neighbours/bin/python"
ALL, FEW = 100_000, 10
# Theirs are 32-bit numbers, and RecBole adds 1e-6 to denominators.
SIMILARITIES: dict[str, Any] = {
    "cosine": ItemKNN(ALL, shrink=3),
    "asymmetric": ItemKNN(ALL, "asymmetric", shrink=3, alpha=0.2),
    "dot": ItemKNN(ALL, "dot"),
    "jaccard": ItemKNN(ALL, "jaccard", shrink=3),
    "dice": ItemKNN(ALL, "dice", shrink=3),
    "tversky": ItemKNN(ALL, "tversky", shrink=3, alpha=0.3, beta=1.2),
    "rp3beta": RP3beta(0.6, 0.4, ALL),
    "rp3beta, normalized": RP3beta(0.6, 0.4, ALL, normalize=True),
    "recbole 80": ItemKNN(ALL, shrink=3, neighbours_of="candidate"),
}
LENSKIT: dict[str, Any] = {
    "lenskit item": ItemKNN(ALL, min_similarity=0.23),
    "lenskit user": UserKNN(ALL, min_similarity=0.23),
}


@pytest.fixture(scope="module")
def compared() -> list[tuple[Train, dict]]:
    """Return random matrices as training data, and what the peers say of them."""
    if not Path(PYTHON).exists():
        pytest.skip(f"there is no {PYTHON}; `make peers-neighbours` sets it up")
    matrices = [at_random(seed) for seed in (1, 2, 3)]
    documents = [{"users": 300, "items": 80, "pairs": pairs.tolist()} for pairs in matrices]
    command = [PYTHON, HERE / "neighbours.py"]
    run = subprocess.run(command, input=json.dumps(documents), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    return list(zip(map(train_of, matrices), json.loads(run.stdout), strict=True))


@pytest.mark.parametrize("name", SIMILARITIES)
def test_the_same_similarities(name: str, compared: list) -> None:
    for train, theirs in compared:
        votes = SIMILARITIES[name].fit(train).votes_.toarray()
        assert votes == pytest.approx(np.array(theirs[name], float), rel=1e-5)
        assert np.count_nonzero(votes) > 1_000


def test_recbole_keeps_as_like_neighbours_of_each_candidate(compared: list) -> None:
    """Of items as like a candidate the one or the other may be kept; the similarities are equal."""
    for train, theirs in compared:
        votes = ItemKNN(FEW, shrink=3, neighbours_of="candidate").fit(train).votes_.toarray()
        expected = np.array(theirs[f"recbole {FEW}"], float)
        assert np.sort(votes, axis=0) == pytest.approx(np.sort(expected, axis=0), rel=1e-5)
        assert np.count_nonzero(votes, axis=1).max() > FEW, "an item may speak for more"


@pytest.mark.parametrize("name", LENSKIT)
def test_the_same_scores_as_lenskit_has(name: str, compared: list) -> None:
    positions = 0
    for train, theirs in compared:
        has = train.matrix.toarray() > 0
        scores = np.where(has, np.nan, np.array(theirs[name], float))
        for own, row in zip(lists(LENSKIT[name], train), scores, strict=True):
            best = np.sort(row[~np.isnan(row)])[::-1][:K]
            assert row[own[own >= 0]] == pytest.approx(best, rel=1e-5)
            positions += len(best)
    assert positions > 5_000
