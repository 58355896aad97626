"""Time the random baseline, drawn and marked: ``python benchmarks/random_baseline.py``.

Beside it the way of the notebooks: the whole catalogue is shuffled for each user and cut at k.
"""

import statistics
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from measure import Bound, bounds, interleaved, once, spread, table

from baselines.random_items import RandomItems
from harness.draws import Draws, user_hashes
from harness.evaluation import EvaluationSet
from harness.metrics import parse
from harness.ragged import Ragged
from harness.scoring import ScoreTable, score
from harness.sitting import recommend

USERS, CANDIDATES, K, REPEATS = 69_000, 105_542, 12, 10
ROUNDS, NOTEBOOK_USERS = 5, 200
METRICS = [parse(f"{name}@{K}") for name in ("MAP", "Recall", "NDCG")]
OURS = "this harness: drawn, checked, three metrics for each user"


def main() -> None:
    exam = make_exam()
    hashes = user_hashes(exam.user_ids)
    scale = USERS * REPEATS / NOTEBOOK_USERS
    calls: dict[str, Callable[[], float]] = {
        OURS: lambda: once(lambda: sit(exam, hashes)),
        **{name: lambda way=way: once(way) * scale for name, way in NOTEBOOK.items()},
    }
    interleaved(calls, 1)
    report(interleaved(calls, ROUNDS))


def make_exam() -> EvaluationSet:
    """Return an exam of every user and candidate in which a user has three truth items or so."""
    draw = np.random.default_rng(2020)
    sizes = draw.poisson(2, USERS) + 1
    pairs = np.repeat(np.arange(USERS), sizes) * CANDIDATES
    pairs = np.unique(pairs + draw.integers(0, CANDIDATES, len(pairs)))
    sizes = np.bincount(pairs // CANDIDATES, minlength=USERS)
    truth = Ragged(np.concatenate(([0], np.cumsum(sizes))), (pairs % CANDIDATES).astype(np.int32))
    return EvaluationSet(
        users=np.arange(USERS, dtype=np.int32),
        user_ids=pl.Series([f"{user:064x}" for user in range(USERS)]),
        candidates=np.arange(CANDIDATES, dtype=np.int32),
        candidate_ids=pl.Series([f"{item:010d}" for item in range(CANDIDATES)]),
        truth=truth,
        relevant=truth.sizes,
        outside_ids=pl.Series([], dtype=pl.String),
        seen=None,
        k=K,
        funnel=(),
    )


def sit(exam: EvaluationSet, hashes: Any) -> ScoreTable:
    """Draw and mark all repeats as `harness run` does."""
    train: Any = SimpleNamespace(candidates=exam.candidates)
    model = RandomItems().fit(train)
    repeats = [
        recommend("random", model, exam, train, Draws(42, repeat, hashes))
        for repeat in range(REPEATS)
    ]
    return score(repeats, exam, METRICS)


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
    print(f"Medians of {ROUNDS} rounds in turn, kernels compiled before; the notebooks' ways are")
    print(f"measured on {NOTEBOOK_USERS} users and scaled to all users and repeats.\n")
    rows = [
        (name, f"{middle[name]:.2f}", spread(times[name]), f"{middle[name] / middle[OURS]:,.0f}")
        for name in times
    ]
    size = f"{REPEATS} × {USERS:,} users × {CANDIDATES:,} candidates"
    table((size, "s", "range", "× ours"), rows)
    bounds(Bound("ten repeats, drawn and marked", middle[OURS], 1.5, " s"))


if __name__ == "__main__":
    main()
