"""Which items are true for whom: the events that count as hits, as pairs with grades."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.config import Config, EvaluationConfig
from harness.core.arrays import Bool, Floats, Int32, Int64, distinct
from harness.core.errors import UsageError, suggest
from harness.data.dataset import Dataset, Events
from harness.protocol.split import Split


def require_types(dataset: Dataset, config: EvaluationConfig) -> None:
    """Raise UsageError where no event has a type that is to count as a hit."""
    for name in config.hits or ():
        if name not in dataset.kinds:
            there = list(dict.fromkeys(dataset.kinds))
            raise UsageError(
                f'[evaluation] hits: no event is of the type "{name}"; {suggest(name, there)}; if '
                "the log has such events, look at [data] where, which leaves rows out"
            )


def true_types(dataset: Dataset, config: Config) -> tuple[str, ...]:
    """Return the event types that are truth; none where events have no types."""
    if not config.layout().tells_types:
        return ()
    codes = dataset.valid_kinds or range(len(dataset.kinds))
    return tuple(config.evaluation.hits or [dataset.kinds[code] for code in codes])


def of_types(dataset: Dataset, events: Events, config: EvaluationConfig) -> Events:
    """Return the events that count as hits."""
    if config.hits is None:
        return events
    counted = np.array([kind in config.hits for kind in dataset.kinds])
    return events.where(counted[events.kind])


def highest_grade(dataset: Dataset, split: Split, config: EvaluationConfig) -> Floats:
    """Return the highest value of the events that count as hits, (1,); none: no value above 0."""
    value = of_types(dataset, split.valid, config).value
    return np.zeros(1) if value is None else np.array([value.max(initial=0.0)])


class TruePairs(NamedTuple):
    """True pairs (user, item), ascending, as user · n_items + item, and their grades."""

    pairs: Int64
    grades: Floats | None

    def where(self, keep: Bool) -> TruePairs:
        """Return those that `keep` selects."""
        return TruePairs(self.pairs[keep], None if self.grades is None else self.grades[keep])


def true_pairs(
    dataset: Dataset,
    split: Split,
    config: EvaluationConfig,
    hits: Events,
    users: Int32,
    position: Int32,
) -> tuple[TruePairs, Int64 | None]:
    """Return the true pairs of `users`, and their seen ones where these are dropped."""
    seen = pairs_of(dataset, split.train, users) if config.seen_items == "drop" else None
    if hits.value is None:
        true = TruePairs(pairs_of(dataset, hits, users), None)
    else:  # the grade of a pair is its highest value, above 0
        keep = among(users, len(dataset.user_ids))[hits.user] & (hits.value > 0)
        pairs = hits.user[keep].astype(np.int64) * len(dataset.item_ids) + hits.item[keep]
        order = np.lexsort((hits.value[keep], pairs))
        pairs, grades = pairs[order], hits.value[keep][order]
        highest = np.append(pairs[1:] != pairs[:-1], True)[: len(pairs)]
        true = TruePairs(pairs[highest], grades[highest])
    if seen is not None:
        true = true.where(np.isin(true.pairs, seen, assume_unique=True, invert=True))
    if config.truth == "candidates":
        true = true.where(position[true.pairs % len(position)] >= 0)
    return true, seen


def pairs_of(dataset: Dataset, events: Events, users: Int32) -> Int64:
    """Return each (user, item) of `users` once, ascending, as user · n_items + item."""
    keep = among(users, len(dataset.user_ids))[events.user]
    n_items = len(dataset.item_ids)
    return distinct(events.user[keep].astype(np.int64) * n_items + events.item[keep])


def among(numbers: Int32, n: int) -> Bool:
    """Return which of the numbers below `n` are there."""
    there = np.zeros(n, np.bool_)
    there[numbers] = True
    return there


def with_candidates(true: TruePairs, position: Int32) -> Int32:
    """Return the users with at least one true item among the candidates."""
    n_items = len(position)
    return distinct(true.pairs[position[true.pairs % n_items] >= 0] // n_items).astype(np.int32)
