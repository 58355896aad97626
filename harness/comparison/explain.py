"""One user's list, position by position: its hits, what each adds, what others would print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from harness.core.arrays import repeats
from harness.core.errors import UsageError, printable
from harness.core.progress import doing
from harness.core.table import MISSING, Column, Sheet, Shown, number
from harness.evaluation.rescore import lists_of
from harness.metrics import DEFINITIONS, Block, Metric, parse, per_user
from harness.metrics.conventions import map_by_convention
from harness.metrics.grades import allows
from harness.metrics.inputs.lists import id_order
from harness.metrics.kernels import discounts
from harness.metrics.scores import user_scores
from harness.results.run import read
from harness.scoring.score import convention_columns, on_conventions
from harness.scoring.submissions import SubmittedLists
from harness.scoring.terms import which_fold


def of_run(
    folder: Path,
    model: str,
    repeat: int = 0,
    metrics: tuple[Metric, ...] = (),
    fold: int | None = None,
) -> SubmittedLists:
    """Return the lists of a run's model; a run that has none written down gives them again.

    Of several folds, from 1, the earliest, the last is taken by default.
    """
    lists = lists_of(read(folder), model, repeat, fold, again=True)
    which = f", repeat {repeat}" if lists.model.repeats > 1 else ""
    return lists.on_task(f'model "{model}" of {folder}{which}', metrics)


_K = _SHOWN_TRUTH = 12


@dataclass(frozen=True)
class ListPosition:
    """One position of a list.

    Attributes
    ----------
    item : str, optional
        None where the position is empty.
    hit, repeat : bool
        A true item for the first time; an item that an earlier position holds.
    precision : float
        P(i), the hits among the first i positions over i.
    contribution : float
        P(i)·hit(i)/D, what the position adds to AP@k.
    discount : float
        1/log2(i+1), what a hit adds to DCG.
    """

    rank: int
    item: str | None
    hit: bool
    repeat: bool
    precision: float
    contribution: float
    discount: float


@dataclass(frozen=True)
class Explanation:
    """A user's list and its score by every metric.

    Attributes
    ----------
    truth : tuple of str
        The true items, in order of id; `candidates` of them could be recommended.
    divisor : int
        D = min(R, k).
    averaged : bool
        Whether the user counts in means; who has no true items does not, where a solution's file
        says who counts.
    places : tuple of ListPosition
        Down to the last that is not empty.
    metrics : mapping of text to value
        The one that was asked for, every metric of accuracy, and AP under every divisor.
    conventions : mapping of name to value
        AP as each convention computes it; None where it would not count this user.
    """

    user: str
    k: int
    truth: tuple[str, ...]
    candidates: int
    divisor: int
    averaged: bool
    places: tuple[ListPosition, ...]
    metrics: dict[str, float]
    conventions: dict[str, float | None]


@dataclass(frozen=True, repr=False)
class Explanations(Shown):
    """The explanations of some users; names are the keys of its JSON.

    Attributes
    ----------
    paper : str
        Where their lists are from.
    folds : int
        How many evaluation sets the config has.
    fold : int
        Which of these is theirs, from 1.
    """

    paper: str
    users: tuple[Explanation, ...]
    folds: int = 1
    fold: int = 1

    def sheets(self) -> list[Sheet]:
        """Return the positions of each user, and the list's score by every metric and convention.

        Above the first stands which fold it is.
        """
        metrics: list[Column[tuple[str, float]]] = [
            Column("metric", lambda row: row[0], "name"),
            Column("value", lambda row: number(row[1], 6)),
        ]
        sheets, note = list[Sheet](), which_fold(self.fold, self.folds, "explain")
        for user in self.users:
            conventions = on_conventions(user.conventions)
            sheets += [
                _positions_table(user, self.paper, "" if sheets else note),
                Sheet.of(user.metrics.items(), metrics),
                Sheet.of(conventions, convention_columns(f"AP@{user.k}"), kept=2),
            ]
        return sheets

    def records(self) -> list[dict[str, object]]:
        """Return one record a position in full precision; an empty one where there is no list."""
        empty = dict.fromkeys(ListPosition.__annotations__)
        return [
            {"user": user.user, "k": user.k, **position}
            for user in self.users
            for position in ([vars(place) for place in user.places] or [empty])
        ]


@doing("scoring")
def explain_users(
    submitted: SubmittedLists, users: Sequence[str], worst: int, best: int
) -> Explanations:
    """Return the explanations of the users named, and of the `worst` and the `best`; ties by id.

    They go by the first metric of the solution, or MAP@12, and its cut-off. Users who are not
    averaged are neither.

    Raises
    ------
    UsageError
        A user is not evaluated, or users have no value by the metric.
    """
    solution = submitted.solution
    by = next(iter(solution.metrics), parse(f"MAP@{_K}"))
    solution.require(by)
    if by.definition.of == "set":
        raise UsageError(f"metric {by} has no value for a user; name another with --metric")
    fold, row_of = solution.fold or solution.folds, {u: row for row, u in enumerate(solution.users)}
    for user in users:
        if user not in row_of:
            which = which_fold(fold, solution.folds, "explain")
            raise UsageError(
                f'no user "{user}" among the {len(row_of):,} of the evaluation set'
                f'{f" ({which})" if which else ""}; one is "{solution.users[0]}"'
            )
    rows = [row_of[user] for user in users]
    values = user_scores(submitted.lists, solution.judgments, [by])[by]
    for keys, count in ((values, worst), (-values, best)):
        order = np.lexsort((id_order(solution.users), keys))
        rows += order[solution.counted[order]][:count].tolist()
    k = by.k or solution.k or _K
    explanations = tuple(explain(submitted, row, k, by) for row in dict.fromkeys(rows))
    return Explanations(submitted.title, explanations, solution.folds, fold)


def explain(submitted: SubmittedLists, row: int, k: int, by: Metric | None = None) -> Explanation:
    """Return the explanation of the user in a row of submitted lists, at the cut-off `k`.

    It has every metric of accuracy, and others at `k` that are asked for, if grades allow it; one
    with a choice is there once under each value of its first parameter.

    Parameters
    ----------
    by : Metric, optional
        Shown first, whatever it looks at; without a cut-off, or with this one.
    """
    solution, metrics = submitted.solution, [] if by is None else [by]
    for name, definition in DEFINITIONS.items():
        param, values = next(iter(definition.choices.items()), ("", ()))
        metrics += [parse(f"{name}({param}={value})@{k}") for value in values]
        metrics += [] if values else [parse(f"{name}@{k}")]
    metrics += [m for m in solution.metrics if m.k == k and m.definition.of == "user"]
    judgments = solution.judgments.rows(row, row + 1)
    block = Block(submitted.lists[row : row + 1], judgments, k)
    candidates = submitted.items.gather(judgments.truth.indices)
    relevant = np.asarray(solution.judgments.relevant)
    outside = relevant - solution.judgments.truth.sizes
    no_candidates = solution.outside.slice(int(outside[:row].sum()), int(outside[row]))
    divisor = min(int(relevant[row]), k)
    return Explanation(
        user=solution.users[row],
        k=k,
        truth=tuple(sorted([*candidates, *no_candidates])),
        candidates=len(candidates),
        divisor=divisor,
        averaged=bool(solution.counted[row]),
        places=_list_positions(submitted.items, block, max(divisor, 1)),
        metrics={
            str(metric): float(per_user(metric, block)[0])
            for metric in dict.fromkeys(metrics)
            if metric == by
            or (not metric.definition.needs and allows(metric, solution.judgments.grades))
        },
        conventions=map_by_convention(submitted.whole[row : row + 1], judgments, k),
    )


def _list_positions(ids: pl.Series, block: Block, divisor: int) -> tuple[ListPosition, ...]:
    items = block.lists[0]
    hit = np.zeros(len(items), np.bool_)
    hit[block.found.rank - 1] = True
    again = repeats(block.lists)[0]
    precision = np.cumsum(hit) / np.arange(1, len(items) + 1)
    discount = discounts(len(items))
    last = len(items) - int(np.argmax(items[::-1] >= 0)) if (items >= 0).any() else 0
    return tuple(
        ListPosition(
            rank=i + 1,
            item=None if items[i] < 0 else ids[int(items[i])],
            hit=bool(hit[i]),
            repeat=bool(again[i]),
            precision=float(precision[i]),
            contribution=float(precision[i] / divisor) if hit[i] else 0.0,
            discount=float(discount[i]),
        )
        for i in range(last)
    )


def _positions_table(user: Explanation, title: str, note: str) -> Sheet:
    hits = [position for position in user.places if position.hit]
    shown = ", ".join(printable(item) for item in user.truth[:_SHOWN_TRUTH])
    more = len(user.truth) - _SHOWN_TRUTH
    beyond = len(user.truth) - user.candidates
    total = sum(position.precision for position in hits)
    columns: list[Column[ListPosition]] = [
        Column("rank", lambda p: str(p.rank)),
        Column("item", lambda p: MISSING if p.item is None else printable(p.item), "name"),
        Column("hit", lambda p: "hit" if p.hit else "repeated" if p.repeat else "", "name"),
        Column("P(i)", lambda p: number(p.precision, 4)),
        Column("adds to AP", lambda p: number(p.contribution, 6) if p.hit else ""),
        Column("discount", lambda p: number(p.discount, 4)),
    ]
    return Sheet.of(
        user.places,
        columns,
        heading=[
            f"lists  {printable(title)}",
            *([f"note   {note}"] if note else []),
            f"user   {printable(user.user)} · k = {user.k}",
            f"truth  R = {len(user.truth)}: {shown}" + (f" and {more} more" if more > 0 else ""),
            *([f"note   {beyond} of them could not be recommended"] if beyond else []),
            *([] if user.averaged else ["note   no true items: the user is not averaged"]),
            *([] if user.places else ["note   no list"]),
        ],
        footing=[
            f"AP@{user.k} = {' + '.join(f'{p.precision:.4f}' for p in hits) or '0'} over "
            f"D = min({len(user.truth)}, {user.k}) = {user.divisor}: "
            f"{total:.6f} / {max(user.divisor, 1)} = {total / max(user.divisor, 1):.6f}"
        ],
        kept=6,
        styles={"hit": "green", "repeated": "yellow"},
    )
