"""Our models on the same matrices as the peers': the same ten items, up to ties."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import HERE, PEERS_PYTHON
from scipy.sparse import csr_array

from baselines.als import ALS
from baselines.ease import EASE
from baselines.item_knn import ItemKNN
from baselines.pure_svd import PureSVD
from harness.core.random import Draws
from harness.data.dataset import Dataset, Events
from harness.models.base import Train

K = 10
ALL = 100_000
MODELS = {
    "cosine": (ItemKNN(ALL), 1e-9),
    "tfidf": (ItemKNN(ALL, "tfidf"), 1e-9),
    "bm25": (ItemKNN(ALL, "bm25"), 1e-9),
    # The vectors or weights of these are 32-bit numbers, ours or theirs.
    "als": (ALS(8), 1e-4),
    "ease": (EASE(5.0), 1e-4),
    "pure_svd": (PureSVD(8), 1e-5),
}
DENSE = ("als", "ease", "pure_svd")
RATINGS = [HERE / "movielens/ratings.csv"]
RATINGS += (HERE.parent / "data/ml-latest-small").glob("ratings.csv")


def at_random(seed: int) -> np.ndarray:
    """Return pairs of 300 users and 80 items in four groups of taste, everybody with some."""
    draw = np.random.default_rng(seed)
    alike = draw.integers(0, 4, 300)[:, None] == draw.integers(0, 4, 80)
    has = draw.random((300, 80)) < np.where(alike, 0.3, 0.03) * draw.random(80)
    has[:, :2] |= ~has.any(axis=1)[:, None]
    has[draw.integers(0, 300, 80), np.arange(80)] = True
    return np.argwhere(has)


def of_movielens(ratings: Path) -> np.ndarray:
    """Return the ratings of 4 and more of films that five users gave."""
    frame = pl.read_csv(ratings).filter(pl.col("rating") >= 4)
    frame = frame.filter(pl.len().over("movieId") >= 5)
    user, item = (np.unique(frame[c], return_inverse=True)[1] for c in ("userId", "movieId"))
    return np.column_stack([user, item])


@pytest.fixture(scope="module")
def compared() -> list[tuple[Train, dict]]:
    """Return every matrix as training data, and what the peers recommend on it."""
    matrices = [*map(at_random, (1, 2, 3)), *map(of_movielens, RATINGS)]
    documents = [
        {"users": int(p[:, 0].max() + 1), "items": int(p[:, 1].max() + 1), "pairs": p.tolist()}
        for p in matrices
    ]
    if not Path(PEERS_PYTHON).exists():
        pytest.fail(f"there is no {PEERS_PYTHON}; `make peers` sets it up", pytrace=False)
    command = [PEERS_PYTHON, HERE / "recommending.py"]
    run = subprocess.run(command, input=json.dumps(documents), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    return list(zip(map(train_of, matrices), json.loads(run.stdout), strict=True))


def train_of(pairs: np.ndarray) -> Train:
    user, item = pairs[np.lexsort(pairs.T[::-1])].T.astype(np.int32)
    events = Events(user, item, np.zeros(len(user), np.int64), np.zeros(len(user), np.uint8))
    names = [pl.Series([f"{n:06}" for n in range(column.max() + 1)]) for column in (user, item)]
    data = Dataset("table", *names, events, ("event",), "train")
    return Train(data, events, np.arange(len(names[1]), dtype=np.int32), cutoff=1)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_ten_items(name: str, compared: list) -> None:
    model, tolerance = MODELS[name]
    positions = 0
    for train, theirs in compared:
        for user, own in enumerate(lists(model, train)):
            listed = [item for item in own.tolist() if item >= 0]
            positions += same(listed, name, theirs[name], user, tolerance)
    assert positions > 5_000


def same(listed: list, name: str, theirs: dict, user: int, tolerance: float) -> int:
    """Hold one list against theirs: the same scores by position, so the same items up to ties."""
    known = dict(zip(theirs["items"][user], theirs["scores"][user], strict=True))
    scored = [score for score in known.values() if score > 0 or name in DENSE]
    assert len(listed) == len(scored)
    # An item that they do not list may only tie with the last that they do.
    own = [known.get(item, min(scored)) for item in listed]
    assert own == pytest.approx(scored, abs=tolerance), f"{name}, user {user}"
    tied = sum(score <= min(scored) + tolerance for score in scored) if scored else 0
    assert sum(item not in known for item in listed) <= tied
    return len(listed)


@pytest.mark.parametrize("name", ["cosine", "tfidf"])
def test_the_same_neighbours(name: str, compared: list) -> None:
    """Of many neighbours that tie the one or the other may be kept; the similarities are equal."""
    for train, theirs in compared:
        kept = ItemKNN(20, name).fit(train).votes_
        for item, expected in enumerate(theirs["similar"][name]):
            own = kept.data[kept.indptr[item] : kept.indptr[item + 1]]
            assert sorted(own, reverse=True) == pytest.approx(expected, rel=1e-9)


def test_rectools_divides_by_the_other_item(compared: list) -> None:
    """RecTools learns EASE's weights and multiplies by their transpose.

    Steck's score of j is Σ xᵢ · −P[i, j] / P[j, j]; RecTools 0.19 lists by
    Σ xᵢ · −P[i, j] / P[i, i], since its ranker takes rows of the weights for items. Ours,
    transposed, are its lists.
    """
    differing = 0
    for train, theirs in compared:
        model = EASE(5.0).fit(train)
        correct = lists(model, train)
        model.weights_ = np.ascontiguousarray(model.weights_.T)
        for user, own in enumerate(recommended(model, train)):
            listed = [item for item in own.tolist() if item >= 0]
            same(listed, "ease", theirs["ease as listed"], user, 1e-4)
            differing += set(listed) != set(correct[user].tolist())
    assert differing > 100


def lists(model: Any, train: Train) -> np.ndarray:
    return recommended(model.fit(train), train)


def recommended(model: Any, train: Train) -> np.ndarray:
    users = np.arange(len(train.user_ids), dtype=np.int32)
    has = csr_array(train.matrix > 0)
    return model.recommend(users, K, Draws(0, 0, np.zeros(0, np.uint64)), exclude=has)
