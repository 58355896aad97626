"""Print the seconds of both sides of two comparisons as JSON; models.py runs it."""

import json
import sys

import numpy as np
import polars as pl
import scipy.linalg
from implicit.nearest_neighbours import CosineRecommender, ItemItemRecommender, normalize
from measure import interleaved, once, sized
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from baselines.ease import EASE, gram
from baselines.item_knn import ItemKNN
from harness.config import Config
from harness.data.dataset import Dataset, Events
from harness.models.base import Train
from harness.protocol.task import make_task

DAYS, NEIGHBOURS = 90, 100
USERS, ITEMS, EACH = sized((100_000, 10_000, 50), (500, 100, 10))


def main(data: str) -> None:
    print(json.dumps(neighbours(data) | linear()))


def neighbours(data: str) -> dict[str, list[float]]:
    """Fit item kNN on the last months; implicit without the rows and columns that are empty."""
    train = make_task(
        Config.model_validate(
            {
                "data": {"layout": "hm", "path": data},
                "split": {"strategy": "time"},
                "models": [{"name": "m", "use": "m:M"}],
            }
        )
    ).train
    train = Train(
        train.dataset, train.events.where(train.last_days(DAYS)), train.candidates, train.cutoff
    )
    every = train.interactions()
    users = np.flatnonzero(np.diff(every.indptr))
    known = every[users][:, np.unique(every.indices)]
    ends = known.indptr.astype(np.int32)  # implicit takes 32-bit numbers
    matrix = csr_matrix((known.data, known.indices.astype(np.int32), ends), shape=known.shape)
    weighed = csr_matrix(normalize(matrix.T).T)
    calls = {
        "knn": lambda: once(lambda: ItemKNN(NEIGHBOURS).fit(train)),
        "implicit": lambda: once(
            lambda: CosineRecommender(K=NEIGHBOURS).fit(matrix, show_progress=False)
        ),
        "implicit bare": lambda: once(
            lambda: ItemItemRecommender(K=NEIGHBOURS).fit(weighed, show_progress=False)
        ),
    }
    return interleaved(calls, sized(5, 1))


def linear() -> dict[str, list[float]]:
    """Fit EASE on random users, each with some items; invert the same matrix by Cholesky."""
    draw = np.random.default_rng(1)
    user = np.repeat(np.arange(USERS, dtype=np.int32), EACH)
    item = np.sort(draw.integers(0, ITEMS, (USERS, EACH)), axis=1).ravel().astype(np.int32)
    events = Events(user, item, np.zeros(len(user), np.int64), np.zeros(len(user), np.uint8))
    ids = (pl.Series([f"{n:06}" for n in range(size)]) for size in (USERS, ITEMS))
    data = Dataset("table", *ids, events, ("event",), "train")
    train = Train(data, events, np.arange(ITEMS, dtype=np.int32), 1)
    square = gram(train.interactions()) + 500 * np.eye(ITEMS)
    gram(train.interactions()[:100])

    def cholesky() -> None:
        factor = scipy.linalg.cho_factor(square, lower=True, check_finite=False)
        scipy.linalg.cho_solve(factor, np.eye(ITEMS), check_finite=False)

    with threadpool_limits(None):
        return interleaved(
            {"ease": lambda: once(lambda: EASE().fit(train)), "cholesky": lambda: once(cholesky)},
            sized(3, 1),
        )


if __name__ == "__main__":
    main(sys.argv[1])
