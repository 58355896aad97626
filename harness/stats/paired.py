"""Pairs of models, tested by what all users' differences tell, added up over parts of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from harness.core.arrays import Floats, Int32
from harness.core.errors import UsageError, suggest
from harness.core.exact_sum import Exact, Largest, Sums
from harness.metrics import Better, Metric
from harness.stats import resampling, tests
from harness.stats.folds import Folds, Key, ScoredUsers, errors
from harness.stats.intervals import LEVEL, Sample, in_threads, moments, percentile, student
from harness.stats.pairwise import Comparison, Pair, Word
from harness.stats.tests import CORRECTIONS

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

    def result(self, first: Any, second: Any) -> Callable[[Mapping[Key, Floats]], Comparison]:
        """Return what makes the comparison of the resampled means, (B,), of every model."""
        return partial(self._comparison, first, second)

    def _comparison(self, first: Any, second: Any, resampled: Mapping[Key, Floats]) -> Comparison:
        means, metric, rules = self._means(first), self.metric, self.rules
        pairs = list(enumerate(self._pairs(means)))
        flips, sums = self._flips(len(pairs)), second["pairs"]
        flipped = dict(zip(means, np.ldexp(second["flipped"].T, self._grid(first)), strict=True))
        p = [
            tests.randomization_test(
                sums[n]["total"].total, sums[n]["absolute"].total, flipped[name] - flipped[other]
            )
            for n, (name, other) in pairs
        ]
        correct = CORRECTIONS[rules.correction]
        adjusted = correct(p).tolist()
        low, high = (correct(ends) for ends in tests.bounds(p, flips, len(p)))
        borderline = ((low < LEVEL) & (high >= LEVEL)).tolist()
        hits = {name: first["models"][name]["hits"].tolist() for name in means}
        return Comparison(
            metric=str(metric),
            users=int(first["users"][0]),
            baseline=rules.baseline,
            correction=rules.correction,
            resamples=rules.resamples,
            seed=rules.seed,
            flips=flips,
            better=metric.definition.better,
            means=means,
            any_hit={name: hit / cells for name, (hit, cells) in hits.items()},
            pairs=tuple(
                self._pair(
                    name,
                    other,
                    sums[n],
                    users=int(first["users"][0]),
                    level=means[other],
                    drawn=resampled[name, metric] - resampled[other, metric],
                    p=p[n],
                    p_adjusted=adjusted[n],
                    borderline=borderline[n],
                )
                for n, (name, other) in pairs
            ),
            folds=1 if self.folds is None else len(self.folds.means),
        )

    def _pair(
        self,
        name: str,
        other: str,
        sums: Any,
        *,
        users: int,
        level: float,
        drawn: Floats,
        p: float,
        p_adjusted: float,
        borderline: bool,
    ) -> Pair:
        """Return two models compared, of which the other has the mean `level`."""
        metric, folds = self.metric.definition, self.folds
        sample = Sample.of_moments(sums["moments"], users, None if folds is None else folds.freedom)
        wins, losses = sums["outcomes"].tolist()
        if metric.better == "lower":  # fewer is a win
            wins, losses = losses, wins
        better_folds = None
        if folds is not None:
            ahead = [
                metric.sign * (m[name] - m[other])
                for m in folds.means_of((name, other), self.metric)
            ]
            better_folds = sum(a < 0 for a in ahead), sum(a > 0 for a in ahead)
        return Pair(
            one=name,
            other=other,
            difference=sample.mean,
            ci95=student(sample),
            ci95_bootstrap=percentile(drawn),
            relative=sample.mean / abs(level) if level != 0 else None,
            effect_size=tests.effect_size(sample),
            p_t=tests.t_test(sample),
            p_sign_flip=p,
            p_adjusted=p_adjusted,
            wins=wins,
            ties=sample.n - wins - losses,
            losses=losses,
            detectable=tests.minimum_detectable_difference(sample),
            verdict=_word(p_adjusted, sample.mean, metric.better),
            borderline=borderline,
            better_folds=better_folds,
        )


def _word(p: float, difference: float, better: Better) -> Word:
    if p >= LEVEL:
        return "tied"
    if better == "neither":
        return "higher" if difference > 0 else "lower"
    return "better" if (difference > 0) == (better == "higher") else "worse"


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
