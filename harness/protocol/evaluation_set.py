"""The evaluation set: fixed users, candidates, truth and k, with a fingerprint of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
import polars as pl
from pydantic import NonNegativeInt

from harness.config import Config, EvaluationConfig
from harness.core.arrays import (
    Bool,
    Floats,
    Int32,
    Int64,
    Ragged,
    UInt64,
    distinct,
    places,
    stacked,
)
from harness.core.errors import EmptyEvaluationSetError, UsageError, suggest
from harness.core.exact_sum import Sums, add
from harness.core.random import id_hashes
from harness.data.dataset import NO_TIME, Dataset, Events
from harness.data.layout import CandidateRule
from harness.metrics import Judgments
from harness.models.item_stats import Catalogue
from harness.protocol.fingerprint import (
    Leaves,
    fields_of,
    fingerprint_of,
    leaf_sums,
    leaves_of,
    leaves_of_sums,
)
from harness.protocol.split import Split


def require_types(dataset: Dataset, config: EvaluationConfig) -> None:
    """Raise UsageError where no event has a type that is to count as a hit."""
    for name in config.hits or ():
        if name not in dataset.kinds:
            there = list(dict.fromkeys(dataset.kinds))
            raise UsageError(
                f'[evaluation] hits: no event has the type "{name}"; {suggest(name, there)}; if '
                "the log has such events, check [data] kind, which names the column of event "
                "types, and [data] where, which leaves out rows"
            )


def roles_of_types(dataset: Dataset, config: Config) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the event types that are truth, and those that are history alone, if there are."""
    if not config.layout().tells_types:
        return (), ()
    codes = dataset.valid_kinds or range(len(dataset.kinds))
    true = tuple(config.evaluation.hits or [dataset.kinds[code] for code in codes])
    return true, tuple(kind for kind in dataset.kinds if kind not in true)


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


ACTIVE = "active in the window"
LOG, CORE = "in the log", "in the k-core"
"""The steps of a funnel that come before the window, where a k-core is asked for."""
SEEN, REGISTERED = "seen in train", "registered and seen in train"
HIT = "with a candidate hit"


@dataclass(frozen=True)
class Step:
    """One rule that selects users, and how many remain after it."""

    step: str
    users: NonNegativeInt


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """Who is evaluated, and against what; it never changes."""

    users: Int32  # positions among the data set's, (n,), in id order
    user_ids: pl.Series  # text, (n,)
    candidates: Int32  # positions among the data set's items, (N,), in id order
    candidate_ids: pl.Series  # text, (N,)
    truth: Ragged  # candidate positions of each user's true items, n rows
    relevant: Int64  # R of each user: true items, candidates or not, (n,)
    outside_ids: pl.Series  # true items that are no candidates, by user and id; only R counts them
    seen: Ragged | None  # candidates in each user's training, where ``seen_items = "drop"``, n rows
    k: int  # the length of the longest list that is scored
    funnel: tuple[Step, ...]  # the rules that selected the users, in order
    n_seen: Int64 | None = None  # how many `seen` has, (n,), where it is on disk
    of_parts: Leaves | None = None  # of a set that was merged from parts
    grades: Floats | None = None  # of each entry of `truth`, above 0, where events have values
    outside_grades: Floats | None = None  # of each of `outside_ids`

    @property
    def n_candidates(self) -> Int64:
        """N of each user: candidates that may be recommended to this user."""
        n = np.full(len(self.users), len(self.candidates), np.int64)
        taken = self.n_seen if self.seen is None else self.seen.sizes
        return n if taken is None else n - taken

    def judgments(self, catalogue: Catalogue | None = None) -> Judgments:
        """Return what lists of these users are scored by."""
        return Judgments(
            self.truth, self.relevant, self.grades, self.outside_grades, catalogue=catalogue
        )

    @cached_property
    def user_hashes(self) -> UInt64:
        """`id_hashes` of its users, (n,)."""
        return id_hashes(self.user_ids)

    @cached_property
    def leaves(self) -> Leaves:
        """The digests of its users, as parts of an evaluation set merge them."""
        if self.of_parts is not None:
            return self.of_parts
        return leaves_of(
            self.user_ids,
            self.user_hashes,
            self.candidate_ids,
            self.truth,
            self.relevant,
            self.outside_ids,
            self.seen,
            self.grades,
            self.outside_grades,
        )

    @cached_property
    def fields(self) -> dict[str, str]:
        """A digest of each field, to say which one differs."""
        return fields_of(self.leaves, self.candidate_ids, self.k)

    @property
    def fingerprint(self) -> str:
        """The digest of all fields: equal for equal sets, whatever files they came from."""
        return fingerprint_of(self.fields)


def build(dataset: Dataset, split: Split, config: EvaluationConfig) -> EvaluationSet:
    """Return the evaluation set of a split by the rules of a config."""
    require_types(dataset, config)
    rule = config.candidates or dataset.candidates
    evaluation_set = of_candidates(dataset, split, config, candidates_of(dataset, split, rule))
    refuse_empty(evaluation_set.funnel, len(evaluation_set.candidates), rule, split)
    return evaluation_set


def of_candidates(
    dataset: Dataset, split: Split, config: EvaluationConfig, candidates: Int32
) -> EvaluationSet:
    """Return the same for given candidates, also where nobody is left, as may be in a bucket."""
    position = places(candidates, len(dataset.item_ids))
    hits = of_types(dataset, split.valid, config)
    active = distinct(hits.user)
    true, seen = true_pairs(dataset, split, config, hits, active, position)
    users = active
    rule = ACTIVE if config.hits is None else f"with {' or '.join(config.hits)} in the window"
    steps = [Step(name, n_users) for name, n_users in dataset.steps]
    steps.append(Step(rule, len(users)))
    if config.users == "seen":
        known = np.diff(split.train.user_starts(len(dataset.user_ids))) > 0
        if dataset.registered is not None and split.cutoff is not None:
            in_table = dataset.registered != NO_TIME
            known &= in_table & (dataset.registered < split.cutoff)
        users = users[known[users]]
        name = SEEN if dataset.registered is None else REGISTERED
        steps.append(Step(name, len(users)))
    if config.require_hit:
        hit = true.where(position[true.pairs % len(position)] >= 0).pairs // len(position)
        users = np.intersect1d(users, distinct(hit).astype(np.int32), assume_unique=True)
        steps.append(Step(HIT, len(users)))
    return _set(dataset, candidates, users, true, seen, config.k, tuple(steps))


def without_seen(part: EvaluationSet) -> EvaluationSet:
    """Return the same with how many items each user has seen, and not which."""
    n_seen = None if part.seen is None else part.seen.sizes
    return replace(part, seen=None, n_seen=n_seen, of_parts=part.leaves)


def merged(parts: Sequence[EvaluationSet]) -> tuple[EvaluationSet, Int64]:
    """Return the evaluation set of all users by those of buckets, `without_seen`.

    Also return the order by which users that stand bucket by bucket are sorted by their ids.
    """
    first = parts[0]
    ids = pl.concat([part.user_ids for part in parts])
    order = ids.arg_sort().to_numpy().astype(np.int64)
    outside = pl.concat([part.outside_ids for part in parts])
    truth = stacked([part.truth for part in parts])
    relevant = np.concatenate([part.relevant for part in parts])
    ends = np.concatenate(([0], np.cumsum(relevant - truth.sizes)))
    outside_order, true_order = _moved(ends, order), _moved(truth.indptr, order)
    steps = zip(*(part.funnel for part in parts), strict=True)
    n_seen = [part.n_seen for part in parts if part.n_seen is not None]
    every = EvaluationSet(
        users=np.arange(len(ids), dtype=np.int32),
        user_ids=ids.gather(order),
        candidates=first.candidates,
        candidate_ids=first.candidate_ids,
        truth=truth.gather(order),
        relevant=relevant[order],
        outside_ids=outside.gather(outside_order),
        seen=None,
        k=first.k,
        funnel=tuple(Step(row[0].step, sum(step.users for step in row)) for row in steps),
        n_seen=np.concatenate(n_seen)[order] if n_seen else None,
        of_parts=leaves_of_sums(reduce(add, (leaf_sums(part.leaves) for part in parts))),
        grades=_in_order([part.grades for part in parts], true_order),
        outside_grades=_in_order([part.outside_grades for part in parts], outside_order),
    )
    return every, order


def _moved(ends: Int64, order: Int64) -> Int32:
    """Return where the entries of rows stood when the rows stand in another order."""
    return Ragged(ends, np.arange(ends[-1], dtype=np.int32)).gather(order).indices


def _in_order(parts: Sequence[Floats | None], order: Int32) -> Floats | None:
    held = [part for part in parts if part is not None]
    return np.concatenate(held)[order] if held else None


def refuse_empty(
    funnel: tuple[Step, ...], n_candidates: int, rule: CandidateRule, split: Split
) -> None:
    """Raise EmptyEvaluationSetError where no user or no candidate is left."""
    if n_candidates > 0 and funnel[-1].users > 0:
        return
    steps = "\n".join(f"  {s.users:>12,}  {s.step}" for s in funnel)
    if n_candidates == 0:
        cause = f'there are no candidates: candidates = "{rule}" leaves none'
    else:
        emptied = next(s.step for s in funnel if s.users == 0)
        cause = f'no user is left after the rule "{emptied}"; {_cure(emptied, split)}'
    raise EmptyEvaluationSetError(f"{cause}\nusers\n{steps}\n  {n_candidates:>12,}  candidates")


def sums(part: EvaluationSet) -> Sums:
    """Return users by rule, leaves of the fingerprint and users with a true item; parts add up."""
    return {
        "funnel": {step.step: np.array([step.users]) for step in part.funnel},
        "leaves": leaf_sums(part.leaves),
        "with_items": np.array([np.count_nonzero(part.relevant > 0)]),
    }


def left_out(
    evaluation_set: EvaluationSet, dataset: Dataset, split: Split, config: EvaluationConfig
) -> EvaluationSet:
    """Return the users with true items whom an evaluation set leaves out, on its candidates."""
    position = places(evaluation_set.candidates, len(dataset.item_ids))
    hits = of_types(dataset, split.valid, config)
    unevaluated = np.setdiff1d(distinct(hits.user), evaluation_set.users, assume_unique=True)
    true, seen = true_pairs(dataset, split, config, hits, unevaluated, position)
    users = distinct(true.pairs // len(position)).astype(np.int32)
    return _set(dataset, evaluation_set.candidates, users, true, seen, evaluation_set.k, ())


def _set(
    dataset: Dataset,
    candidates: Int32,
    users: Int32,
    true: TruePairs,
    seen: Int64 | None,
    k: int,
    funnel: tuple[Step, ...],
) -> EvaluationSet:
    position = places(candidates, len(dataset.item_ids))
    true = true.where(among(users, len(dataset.user_ids))[true.pairs // len(position)])
    truth, outside = _lists(true.pairs, users, position)
    inside = position[true.pairs % len(position)] >= 0
    return EvaluationSet(
        users=users,
        user_ids=dataset.user_ids.gather(users),
        candidates=candidates,
        candidate_ids=dataset.item_ids.gather(candidates),
        truth=truth,
        relevant=truth.sizes + outside.sizes,
        outside_ids=dataset.item_ids.gather(outside.indices),
        seen=None if seen is None else _lists(seen, users, position)[0],
        k=k,
        funnel=funnel,
        grades=true.where(inside).grades,
        outside_grades=true.where(~inside).grades,
    )


def items_of(evaluation_set: EvaluationSet, dataset: Dataset, events: Events) -> Ragged:
    """Return the candidate positions of every evaluated user's items among `events`, n rows."""
    users = evaluation_set.users
    position = places(evaluation_set.candidates, len(dataset.item_ids))
    return _lists(pairs_of(dataset, events, users), users, position)[0]


def candidates_of(
    dataset: Dataset, split: Split, rule: CandidateRule, in_train: Bool | None = None
) -> Int32:
    """Return the items that a rule allows, in id order; `in_train` are those with training events.

    Raises UsageError where the rule does not go with the layout or the split.
    """
    if rule == "train":
        if in_train is None:
            in_train = among(split.train.item, len(dataset.item_ids))
        return np.flatnonzero(in_train).astype(np.int32)
    if dataset.catalogue is None:
        raise UsageError(
            f'[evaluation] candidates = "{rule}" needs a table of items; name one as [data] '
            'items, or use candidates = "train"'
        )
    if rule == "catalogue":
        return distinct(dataset.catalogue)
    if dataset.shown_from is None or split.cutoff is None or split.until is None:
        raise UsageError(
            '[evaluation] candidates = "shown" needs the time each item was first shown '
            '(layout "ponpare") and [split] strategy = "time"'
        )
    shown = dataset.shown_from[dataset.catalogue]
    return distinct(dataset.catalogue[(shown >= split.cutoff) & (shown < split.until)])


def _lists(pairs: Int64, users: Int32, position: Int32) -> tuple[Ragged, Ragged]:
    """Return the pairs of `users` as rows: candidate positions, and other items' positions."""
    user, item = np.divmod(pairs, len(position))
    row = places(users, int(max(user.max(initial=-1), users.max(initial=-1))) + 1)[user]
    item, row = item[row >= 0], row[row >= 0]
    candidate = position[item]
    inside = candidate >= 0
    return (
        _grouped(row[inside], candidate[inside], len(users)),
        _grouped(row[~inside], item[~inside].astype(np.int32), len(users)),
    )


def _grouped(row: Int32, values: Int32, n_rows: int) -> Ragged:
    return Ragged(np.append(0, np.cumsum(np.bincount(row, minlength=n_rows))), values)


def _cure(emptied: str, split: Split) -> str:
    """Return what to change, in the words of how the events were split."""
    if emptied == HIT and split.in_both == split.n_events[1]:
        return f"{split.in_both_told}; remove these events from one of the tables"
    if emptied == HIT:
        return (
            "check that the candidates and the events write ids the same way; or set "
            '[evaluation] require_hit = false; or, with seen_items = "drop", set seen_items = '
            '"keep"'
        )
    known = emptied in (SEEN, REGISTERED)
    if split.cuts is not None:  # a split per user
        cure = f"hold out {'fewer' if known else 'more'} events under [split]"
    elif split.until is not None:
        cure = f"take a {'shorter' if known else 'longer'} window under [split]"
    elif known:
        same = "check that [data] events and [split] valid write users the same way"
        cure = "; ".join([*split.alike, same])
    else:
        cure = "name a file with more events as [split] valid"
    return f'{cure}, or set [evaluation] users = "all"' if known else cure
