"""How often tests reject what is true, and how often intervals hold what they should.

Lists are simulated whose first ranks hit more often, so that most users score 0 and a few score
high, as in shops. Every number is a share of simulations, with the limits within which it should
lie; what is tested is the code that the commands call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from harness.core.exact_sum import of_one
from harness.core.random import mixed
from harness.evaluation.run import run
from harness.metrics import Metric, parse
from harness.metrics.scores import ScoreTable
from harness.stats import intervals, resampling
from harness.stats.chance import Verdicts
from harness.stats.chance_law import law
from harness.stats.estimates import estimate
from harness.stats.figures import results_of
from harness.stats.folds import Folds, ScoredUsers
from harness.stats.intervals import LEVEL, Sample
from harness.stats.paired import Pairs, Rules

ROOT = Path(__file__).resolve().parents[1]
K = 12
METRIC = parse(f"MAP@{K}")
SIMULATIONS = 5000
SIZES = (500, 2_000, 20_000)
SHARES = (0.2, 0.1, 0.05)
"""Shares of users with any hit: a film site, a shop, a shop with many articles."""
SHARED = 0.25
CANDIDATES = (300, 800, 3000)
MODELS = 10
FLIPS = 999
Work = Callable[[Any], np.ndarray]


@dataclass(frozen=True)
class Table:
    """Shares of simulations by case, and the limits within which each column should lie."""

    title: str
    head: tuple[str, ...]
    rows: dict[tuple[str, ...], tuple[float, ...]]
    limits: tuple[tuple[float, float] | None, ...]

    def text(self) -> str:
        """Return it in Markdown; what lies outside its limits is bold."""
        cases = len(self.head) - len(self.limits)
        wanted = ["" if limit is None else f"{limit[0]:g} … {limit[1]:g}" for limit in self.limits]
        lines = [self.head, ["--:"] * len(self.head), ["", *[""] * (cases - 1), *wanted]]
        lines += [
            [*case, *map(self._cell, shares, self.limits)] for case, shares in self.rows.items()
        ]
        return "\n".join([f"{self.title}:", "", *(f"| {' | '.join(line)} |" for line in lines)])

    @property
    def outside(self) -> int:
        """How many shares lie outside their limits."""
        return self.text().count("**") // 2

    @staticmethod
    def _cell(share: float, limit: tuple[float, float] | None) -> str:
        text = f"{share:.3f}"
        return text if limit is None or limit[0] <= float(text) <= limit[1] else f"**{text}**"


def user_scores(rng: np.random.Generator, users: int, hits: float, models: int) -> np.ndarray:
    """Return AP@12 of equally good models, (users, models), a share `hits` of them above 0.

    R is geometric with mean 3; a quarter of the hits are those of all models (what anyone would
    recommend), the others are each model's own; ranks hit with weights 1/√rank.
    """
    relevant = np.minimum(rng.geometric(1 / 3, users), 30)
    weights = 1 / np.sqrt(np.arange(1, K + 1))
    rate = -np.log1p(-hits) * weights / weights.sum()
    shared = rng.random((users, K)) < rate * SHARED
    found = np.empty((users, models))
    for model in range(models):
        hit = shared | (rng.random((users, K)) < rate * (1 - SHARED))
        count = np.cumsum(hit, axis=1)
        hit &= count <= relevant[:, None]
        precision = (hit * count / np.arange(1, K + 1)).sum(axis=1)
        found[:, model] = precision / np.minimum(relevant, K)
    return found


def true_mean(hits: float) -> float:
    """Return the mean that such scores have: walk down the ranks, c hits so far, for each R."""
    weights = 1 / np.sqrt(np.arange(1, K + 1))
    rate = -np.log1p(-hits) * weights / weights.sum()
    chance = 1 - (1 - SHARED * rate) * (1 - (1 - SHARED) * rate)
    before = np.zeros((K, K + 1))  # the chance of c hits above rank i
    counts = np.eye(1, K + 1)[0]
    for i, p in enumerate(chance):
        before[i] = counts
        counts = counts * (1 - p) + np.roll(counts, 1) * p
    adds = chance[:, None] * before * np.arange(1, K + 2) / np.arange(1, K + 1)[:, None]
    of_r = [adds[:, :r].sum() / min(r, K) for r in range(1, 31)]
    share = [(2 / 3) ** (r - 1) / 3 for r in range(1, 30)]
    return float(np.dot(of_r, [*share, 1 - sum(share)]))


def two_equal_models(task: tuple[int, float, int, int]) -> np.ndarray:
    """Return what happened in some simulations: tests that rejected, intervals that held."""
    users, hits, simulations, block = task
    mean = true_mean(hits)
    rng = np.random.default_rng([users, int(1000 * hits), block])
    happened = np.zeros(6)
    for simulation in range(simulations):
        one, other = user_scores(rng, users, hits, 2).T
        seed = block * simulations + simulation
        (pair,) = compared({"one": one, "other": other}, seed).pairs
        found, sample = estimate(METRIC, one), Sample.of(one)
        boots = resampled(one, seed)
        happened += [
            pair.p_t < LEVEL,
            pair.p_sign_flip < LEVEL,
            holds(pair.ci95, 0.0),
            holds(found.ci95, mean),
            holds(intervals.student(sample), mean),
            holds(intervals.percentile(boots), mean),
        ]
    return happened


def sample_scores() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the scores of every model of the sample competitions, and of the next one."""
    found = {}
    for name in ("demo", "demo-ponpare"):
        result = run(ROOT / "configs" / f"{name}.toml")
        models = [model for model in result.models if model.repeats == 1]
        metric = result.metrics[result.record.metric]
        values = [result.scores[model.name].of_users(metric) for model in models]
        others = [*values[1:], values[0]]
        for model, own, other in zip(models, values, others, strict=True):
            found[f"{result.evaluation.layout}: {model.name}"] = own, other
    return found


def drawn_users(task: tuple[np.ndarray, np.ndarray, int, int, int]) -> np.ndarray:
    """Return which intervals held where users are drawn from those of a real evaluation set."""
    own, other, users, simulations, block = task
    rng = np.random.default_rng([users, len(own), block])
    mean, difference = own.mean(), (own - other).mean()
    happened = np.zeros(4)
    for simulation in range(simulations):
        drawn = rng.integers(len(own), size=users)
        one, sample = own[drawn], Sample.of(own[drawn])
        seed = block * simulations + simulation
        boots = resampled(one, seed)
        happened += [
            holds(intervals.student(Sample.of(one - other[drawn])), difference),
            holds(estimate(METRIC, one).ci95, mean),
            holds(intervals.student(sample), mean),
            holds(intervals.percentile(boots), mean),
        ]
    return happened


def ten_equal_models(task: tuple[int, float, int, int]) -> np.ndarray:
    """Return in how many simulations Holm called any of 45 pairs different."""
    users, hits, simulations, block = task
    rng = np.random.default_rng([users, int(1000 * hits), block, MODELS])
    wrong = 0
    for simulation in range(simulations):
        found = dict(zip("abcdefghij", user_scores(rng, users, hits, MODELS).T, strict=True))
        pairs = compared(found, seed=block * simulations + simulation, flips=1999).pairs
        wrong += any(pair.verdict != "tied" for pair in pairs)
    return np.array([float(wrong)])


def random_models(task: tuple[int, int, int, int]) -> np.ndarray:
    """Return in how many simulations a random model was called better or worse than chance."""
    users, candidates, simulations, block = task
    rng = np.random.default_rng([users, candidates, block])
    relevant = np.minimum(rng.geometric(1 / 3, users), 30)
    known = law(METRIC, np.full(users, candidates), relevant, relevant)
    wrong = 0
    for _ in range(simulations):
        tables = tables_of({"m": random_scores(rng, relevant, candidates)})
        wrong += is_called_other_than_random(SimpleNamespace(tables=tables, law=known))
    return np.array([float(wrong)])


def random_scores(rng: np.random.Generator, relevant: np.ndarray, candidates: int) -> np.ndarray:
    """Return AP@12 of random lists."""
    hits, precision = np.zeros(len(relevant)), np.zeros(len(relevant))
    for rank in range(1, K + 1):
        hit = rng.random(len(relevant)) < (relevant - hits) / (candidates - rank + 1)
        hits += hit
        precision += hit * hits / rank
    return precision / np.minimum(relevant, K)


def is_called_other_than_random(part: Any, folds: Folds | None = None) -> bool:
    (verdicts,) = results_of([Verdicts(["m"], METRIC, folds)], of_one(part))
    return verdicts["m"].verdict != "no better than chance"


def compared(columns: dict[str, np.ndarray], seed: int, flips: int = FLIPS):
    """Compare models as the commands do, with fewer resamples."""
    users = hashes(len(next(iter(columns.values()))))
    return compared_users(ScoredUsers(users, tables_of(columns)), seed, flips)


def tables_of(columns: dict[str, np.ndarray]) -> dict[str, ScoreTable]:
    return {name: ScoreTable({METRIC: values[None, :]}) for name, values in columns.items()}


def compared_users(
    part: ScoredUsers,
    seed: int,
    flips: int = FLIPS,
    metric: Metric = METRIC,
    folds: Folds | None = None,
):
    none = {(name, metric): np.zeros(1) for name in part.tables}  # the bootstrap is not looked at
    rules = Rules(resamples=flips, seed=seed)
    (comparison_by,) = results_of([Pairs(list(part.tables), metric, rules, folds)], of_one(part))
    return comparison_by(none)


def resampled(values: np.ndarray, seed: int) -> np.ndarray:
    """Return the means of resamples of the users."""
    grid = resampling.exponents(np.abs(values[:, None]).max(axis=0), len(values))
    sums = resampling.resampled_sums(values[:, None], hashes(len(values)), grid, FLIPS, seed)
    return resampling.resampled_means(*sums, grid)[:, 0]


def hashes(users: int) -> np.ndarray:
    """Return what ids of users have: 64 bits that look random."""
    return mixed(np.arange(1, users + 1, dtype=np.uint64))


def holds(bounds: tuple[float, float] | None, value: float) -> bool:
    return bounds is not None and bounds[0] <= value <= bounds[1]


EQUAL = {
    "t test": (0.04, 0.06),
    "randomization test": (0.04, 0.06),
    "t interval of the difference": (0.94, 0.96),
    "our interval of the mean": (0.94, 0.96),
    "Student's": None,
    "percentile bootstrap": None,
}
"""What is counted of two equal models, and within which limits it should lie."""


Happened = Callable[..., np.ndarray]
"""Of what a simulation may end in, shares: of a piece of work, and the case that it is given."""
Study = Callable[[Happened, tuple[int, ...]], Iterator[Table]]


def one_evaluation_set(happened: Happened, sizes: tuple[int, ...]) -> Iterator[Table]:
    """Yield every table."""
    yield Table(
        "Two equal models: tests that reject, intervals that hold the truth",
        ("with a hit", "users", *EQUAL),
        {
            (f"{hits:.0%}", f"{users:,}"): tuple(happened(two_equal_models, users, hits))
            for hits in SHARES
            for users in sizes
        },
        tuple(EQUAL.values()),
    )
    drawn = sample_scores()
    yield Table(
        "Users drawn from those of the sample competitions: intervals that hold the truth",
        ("scores of", "with a hit", "users", *list(EQUAL)[2:]),
        {
            (name, f"{(own > 0).mean():.0%}", f"{users:,}"): tuple(
                happened(drawn_users, own, other, users)
            )
            for name, (own, other) in drawn.items()
            for users in sizes[:2]
        },
        tuple(EQUAL.values())[2:],
    )
    yield Table(
        "Ten equal models: simulations in which Holm calls any of 45 pairs different",
        ("with a hit", "users", "any"),
        {
            ("10%", f"{users:,}"): tuple(happened(ten_equal_models, users, 0.1))
            for users in sizes[:2]
        },
        ((0, 0.055),),
    )
    yield Table(
        "A random model: simulations in which it is called better or worse than chance",
        ("candidates", "users", "better or worse"),
        {
            (f"{candidates:,}", f"{users:,}"): tuple(happened(random_models, users, candidates))
            for candidates in CANDIDATES
            for users in sizes
        },
        ((0.04, 0.06),),
    )


def main(study: Study = one_evaluation_set) -> int:
    """Print the tables, and write them to the file that is named; 1 if a share is outside."""
    from measure import TINY, announce, sized

    announce()
    simulations, sizes, blocks = sized((SIMULATIONS, SIZES, 20), (4, SIZES[:1], 2))
    text, outside = [], 0
    with ProcessPoolExecutor() as pool:

        def happened(work: Work, *case: Any) -> np.ndarray:
            """Run blocks of simulations by several processes."""
            tasks = [(*case, simulations // blocks, block) for block in range(blocks)]
            return sum(pool.map(work, tasks)) / (simulations // blocks * blocks)

        for table in study(happened, sizes):
            if TINY:
                table = replace(table, limits=(None,) * len(table.limits))
            print(f"{table.text()}\n", flush=True)
            text.append(table.text())
            outside += table.outside
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text("\n\n".join(text) + "\n", encoding="utf-8")
    return min(outside, 1)


if __name__ == "__main__":
    sys.exit(main())
