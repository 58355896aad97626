"""Time the random baseline, drawn and scored: ``python benchmarks/random_baseline.py``.

Beside it the way of the notebooks: the whole catalogue is shuffled for each user and cut at k.
"""

import statistics
from collections.abc import Callable

import numpy as np
import polars as pl
from measure import Bound, announce, bounds, interleaved, once, sized, spread, table

from baselines.random_items import RandomItems
from harness.config import Config
from harness.data.dataset import DAY_US, Dataset, Events
from harness.evaluation.answers import recommend
from harness.metrics import parse
from harness.metrics.scores import ScoreTable, score
from harness.protocol.split import Split
from harness.protocol.task import Task, task_of

USERS, CANDIDATES, K, REPEATS = sized((69_000, 105_542, 12, 10), (200, 300, 12, 3))
ROUNDS, NOTEBOOK_USERS = sized((5, 200), (1, 20))
METRICS = [parse(f"{name}@{K}") for name in ("MAP", "Recall", "NDCG")]
OURS = "this harness: drawn, checked, three metrics for each user"


def main() -> None:
    announce()
    task = the_task()
    scale = USERS * REPEATS / NOTEBOOK_USERS
    calls: dict[str, Callable[[], float]] = {
        OURS: lambda: once(lambda: evaluate_model(task)),
        **{name: lambda way=way: once(way) * scale for name, way in NOTEBOOK.items()},
    }
    interleaved(calls, 1)
    report(interleaved(calls, ROUNDS))


def the_task() -> Task:
    """Return the task of every user and item, in which a user has three true items or so."""
    draw = np.random.default_rng(2020)
    users, items = np.arange(USERS, dtype=np.int32), np.arange(CANDIDATES, dtype=np.int32)
    train = bought(users, draw.integers(0, CANDIDATES, USERS), day=0)
    pairs = np.repeat(users, draw.poisson(2, USERS) + 1).astype(np.int64) * CANDIDATES
    pairs = np.unique(pairs + draw.integers(0, CANDIDATES, len(pairs)))
    valid = bought(pairs // CANDIDATES, pairs % CANDIDATES, day=1)
    data = Dataset(
        "made up",
        pl.Series([f"{user:064x}" for user in users]),
        pl.Series([f"{item:010d}" for item in items]),
        train,
        ("event",),
        "catalogue",
        catalogue=items,
    )
    model = {"name": "random", "use": "baselines.random_items:RandomItems"}
    settings = {"data": {"layout": "hm", "path": "."}, "split": {"strategy": "time"}}
    config = Config.model_validate(settings | {"evaluation": {"k": K}, "models": [model]})
    return task_of(config, data, Split(train, valid, 0, DAY_US, 2 * DAY_US))


def bought(user: np.ndarray, item: np.ndarray, day: int) -> Events:
    """Return events of one day; users ascend."""
    n = len(user)
    time, kind = np.full(n, day * DAY_US, np.int64), np.zeros(n, np.uint8)
    return Events(user.astype(np.int32), item.astype(np.int32), time, kind)


def evaluate_model(task: Task) -> ScoreTable:
    """Draw and score all repeats as `harness run` does."""
    model = RandomItems().fit(task.train)
    repeats = [recommend("random", model, task, repeat) for repeat in range(REPEATS)]
    return score(repeats, task.evaluation_set.judgments(), METRICS)


def permuted() -> None:
    rng, catalogue = np.random.default_rng(42), np.arange(CANDIDATES)
    for _ in range(NOTEBOOK_USERS):
        rng.permutation(catalogue)[:K].tolist()


def shuffled() -> None:
    catalogue = np.arange(CANDIDATES)
    for _ in range(NOTEBOOK_USERS):
        np.random.shuffle(catalogue)  # noqa: NPY002 - what notebooks do
        catalogue[:K].tolist()


NOTEBOOK = {
    "`rng.permutation(catalogue)[:k]` for each user, drawn alone": permuted,
    "`np.random.shuffle(catalogue)` for each user, drawn alone": shuffled,
}


def report(times: dict[str, list[float]]) -> None:
    middle = {name: statistics.median(values) for name, values in times.items()}
    print(f"Medians of {ROUNDS} rounds in turn, the notebooks' ways are")
    print(f"measured on {NOTEBOOK_USERS} users and scaled to all users and repeats.\n")
    rows = [
        (name, f"{middle[name]:.2f}", spread(times[name]), f"{middle[name] / middle[OURS]:,.0f}")
        for name in times
    ]
    size = f"{REPEATS} × {USERS:,} users × {CANDIDATES:,} candidates"
    table((size, "s", "range", "× ours"), rows)
    bounds(Bound("ten repeats, drawn and scored", middle[OURS], 1.5, " s"))


if __name__ == "__main__":
    main()
