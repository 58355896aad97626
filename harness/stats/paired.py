"""Pairs of models: what all users' differences tell, added up over parts of the users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from harness.core.arrays import Floats, Int32
from harness.core.errors import UsageError, suggest
from harness.core.exact_sum import Exact, Largest, Sums
from harness.metrics import Metric
from harness.stats import resampling, tests
from harness.stats.folds import Folds, ScoredUsers, errors
from harness.stats.intervals import Sample, in_threads, moments

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Rules:
    """How models are compared.

    All others are compared with the `baseline`, or every two; `correction` is ``holm`` or ``bh``;
    `resamples` those of the bootstrap and of the randomization test.
    """

    baseline: str | None = None
    correction: str = "holm"
    resamples: int = resampling.RESAMPLES
    seed: int = 42


@dataclass(frozen=True, eq=False)
class Paired:
    """What all users' values tell of pairs of models, best first, before p values are corrected."""

    users: int
    flips: int
    means: dict[str, float]
    any_hit: dict[str, float]
    pairs: Mapping[tuple[str, str], Facts]


@dataclass(frozen=True)
class Facts:
    """What the users' differences of two models tell, p before it is corrected."""

    sample: Sample
    higher: int
    lower: int
    p: float


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of some models, or those with a baseline: their differences, and a test of each.

    It raises UsageError for fewer than two models, an unknown baseline and a metric of all lists.
    """

    names: Sequence[str]
    metric: Metric
    rules: Rules
    folds: Folds | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        names, baseline = list(self.names), self.rules.baseline
        if self.metric.definition.of == "set":
            raise UsageError(
                f"metric {self.metric} has one value for all lists, none per user, so models "
                "cannot be compared by it"
            )
        if len(names) < 2:
            raise UsageError("only one model; a comparison needs two")
        if baseline is not None and baseline not in names:
            raise UsageError(f'no model "{baseline}" to compare with; {suggest(baseline, names)}')

    def first(self, part: ScoredUsers) -> Sums:
        """Return the sums of each model's values, and the largest of all."""
        sums, largest = dict[str, Any](), 0.0
        for name in self.names:
            values, repeats = self._values(part, name), part.tables[name].values[self.metric]
            largest = max(largest, float(np.abs(values).max(initial=0.0)))
            cells = np.array([np.count_nonzero(repeats), repeats.size])
            sums[name] = {"sum": Exact.of(values), "hits": cells}
        users, size = np.array([len(part.hashes)]), Largest(np.array([largest]))
        return {"users": users, "largest": size, "models": sums}

    def _values(self, part: ScoredUsers, name: str) -> Floats:
        return part.tables[name].of_users(self.metric)

    def _grid(self, first: Any) -> Int32:
        return resampling.exponents(first["largest"].values[0], int(first["users"][0]))

    def _means(self, first: Any) -> dict[str, float]:
        """Return the models' means, best first."""
        sums, users, sign = first["models"], int(first["users"][0]), self.metric.definition.sign
        if self.folds is None:
            means = {name: sums[name]["sum"].total / users for name in self.names}
        else:  # of the folds' means, as estimates are
            means = {name: self.folds.mean((name, self.metric)) for name in self.names}
        return dict(sorted(means.items(), key=lambda mean: sign * mean[1]))

    def _pairs(self, order: Mapping[str, float]) -> list[tuple[str, str]]:
        if self.rules.baseline is None:
            return list(combinations(order, 2))
        return [(name, self.rules.baseline) for name in order if name != self.rules.baseline]

    def _flips(self, n_pairs: int) -> int:
        return max(self.rules.resamples, tests.deciding_draws(n_pairs))

    def second(self, part: ScoredUsers, first: Any) -> Sums:
        """Return the sums of every pair's differences, and those of values under random signs."""
        order = self._means(first)
        pairs = self._pairs(order)
        values = {name: self._values(part, name) for name in order}
        flipped = resampling.randomized_sums(
            np.column_stack(list(values.values())),
            part.hashes,
            self._grid(first),
            self._flips(len(pairs)),
            self.rules.seed,
        )
        values = _with_any(values)
        shares = values
        if self.folds is not None:
            shares = _with_any({n: errors(part, (n, self.metric), self.folds) for n in order})
        return {"flipped": flipped, "pairs": in_threads(partial(_sums_of, values, shares), pairs)}

    def result(self, first: Any, second: Any) -> Paired:
        """Return what `harness.stats.pairwise.comparison_of` makes a comparison of."""
        means, users = self._means(first), int(first["users"][0])
        hits = {name: first["models"][name]["hits"].tolist() for name in means}
        freedom = None if self.folds is None else self.folds.freedom
        pairs, facts = self._pairs(means), {}
        flipped = dict(zip(means, np.ldexp(second["flipped"].T, self._grid(first)), strict=True))
        for number, pair in enumerate(pairs):
            sums = second["pairs"][number]
            total, absolute = sums["total"].total, sums["absolute"].total
            p = tests.randomization_test(total, absolute, flipped[pair[0]] - flipped[pair[1]])
            sample = Sample.of_moments(sums["moments"], users, freedom)
            higher, lower = sums["outcomes"].tolist()
            facts[pair] = Facts(sample, higher, lower, p)
        return Paired(
            users=users,
            flips=self._flips(len(pairs)),
            means=means,
            any_hit={name: hit / cells for name, (hit, cells) in hits.items()},
            pairs=facts,
        )


def _with_any(columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return columns without the users who have 0 in all of them: they are most."""
    rows = np.flatnonzero(np.any([values != 0 for values in columns.values()], axis=0))
    return {name: values[rows] for name, values in columns.items()}


def _sums_of(
    values: Mapping[str, Floats], shares: Mapping[str, Floats], pair: tuple[str, str]
) -> Sums:
    """Return how many users each of two serves better, and sums of the differences."""
    first, second = pair
    differences = _differences(values[first], values[second])
    apart = differences[differences != 0]
    wins = int(np.count_nonzero(apart > 0))
    return {
        "outcomes": np.array([wins, len(apart) - wins]),
        "total": Exact.of(apart),
        "absolute": Exact.of(np.abs(apart)),
        "moments": moments(
            differences if values is shares else _differences(shares[first], shares[second])
        ),
    }


def _differences(first: Floats, second: Floats) -> Floats:
    """Return the users' differences; values that differ by rounding alone are equal."""
    differences = first - second
    users = np.flatnonzero(differences)
    size = np.maximum(np.abs(first[users]), np.abs(second[users]))
    differences[users[np.abs(differences[users]) <= _ROUNDING * size]] = 0.0
    return differences
