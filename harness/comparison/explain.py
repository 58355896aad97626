"""One user's list, position by position: its hits, what each adds, what others would print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from harness.core.arrays import repeats
from harness.core.errors import UsageError, printable, suggest
from harness.core.table import MISSING, Column, Sheet, Shown, number
from harness.evaluation.rescore import lists_of
from harness.metrics import DEFINITIONS, DIVISORS, Block, Metric, parse, per_user
from harness.metrics.conventions import map_by_convention
from harness.metrics.grades import allows
from harness.metrics.inputs.lists import id_order
from harness.metrics.kernels import discounts
from harness.metrics.scores import user_scores
from harness.protocol.truth import Solution
from harness.results.run import read
from harness.scoring.score import convention_columns, on_conventions
from harness.scoring.submitted_lists import SubmittedLists
from harness.scoring.terms import which_of


def of_run(
    folder: Path,
    model: str,
    repeat: int = 0,
    metrics: tuple[Metric, ...] = (),
    fold: int | None = None,
) -> SubmittedLists:
    """Return the lists of a run's model; a run that has none written down gives them again.

    Parameters
    ----------
    fold : int, optional
        Which of several, from 1, the earliest; the last by default.

    Raises
    ------
    UsageError
        No such run, model, repeat or fold; a model that failed; or the data has changed since the
        run.
    """
    found = lists_of(read(folder), model, repeat, fold, again=True)
    which = f", repeat {repeat}" if found.model.repeats > 1 else ""
    return found.on_task(f'model "{model}" of {folder}{which}', metrics)


_SEARCHED = 10_000
"""Among more users than this, the nearest name would take long to find."""


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
        """Return the tables of each user; above the first stands which fold it is."""
        which = [which_of(self.fold, self.folds, "explain")] if self.folds > 1 else []
        return [
            sheet
            for at, one in enumerate(self.users)
            for sheet in sheets(one, self.paper, which if at == 0 else [])
        ]

    def records(self) -> list[dict[str, object]]:
        """Return one record a position of each user."""
        return [record for one in self.users for record in records(one)]


def explain(submitted: SubmittedLists, row: int, k: int, by: Metric | None = None) -> Explanation:
    """Return the explanation of the user in a row of submitted lists, at the cut-off `k`.

    Parameters
    ----------
    by : Metric, optional
        Shown first, whatever it looks at; without a cut-off, or with this one.
    """
    solution = submitted.solution
    judgments = solution.judgments.rows(row, row + 1)
    block = Block(submitted.lists[row : row + 1], judgments, k)
    tally = block.tally
    d = DIVISORS["kaggle"].value(tally.relevant, k, tally.length, tally.hits)
    divisor = int(np.max(d))
    candidates = submitted.items.gather(judgments.truth.indices)
    outside = np.asarray(solution.judgments.relevant) - solution.judgments.truth.sizes
    start = int(outside[:row].sum())
    no_candidates = solution.outside[start : start + int(outside[row])]
    return Explanation(
        user=solution.users[row],
        k=k,
        truth=tuple(sorted([*candidates, *no_candidates])),
        candidates=len(candidates),
        divisor=divisor,
        averaged=bool(solution.counted[row]),
        places=_list_positions(submitted.items, block, max(divisor, 1)),
        metrics={
            str(m): float(per_user(m, block)[0])
            for m in dict.fromkeys([*([] if by is None else [by]), *_metrics(solution, k)])
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


def _metrics(solution: Solution, k: int) -> list[Metric]:
    """Return every metric of accuracy, and others at `k` that are asked for, if grades allow it.

    One with a choice is there once under each value of its first parameter.
    """
    own = [m for m in solution.metrics if m.k == k and m.definition.of == "user"]
    found = []
    for name, definition in DEFINITIONS.items():
        param, values = next(iter(definition.choices.items()), ("", ()))
        texts = [f"{name}({param}={value})" for value in values] or [name]
        found += [parse(f"{text}@{k}") for text in texts if not definition.needs]
    found += [metric for metric in own if not metric.definition.needs]
    return [metric for metric in found if allows(metric, solution.judgments.grades)]


def rows_of(solution: Solution, users: Sequence[str]) -> list[int]:
    """Return the rows of users by id.

    Raises
    ------
    UsageError
        A user whom the evaluation set does not have.
    """
    known = dict(zip(solution.users.to_list(), range(len(solution.users)), strict=True))
    for user in users:
        if user not in known:
            near = suggest(user, known) if len(known) <= _SEARCHED else ""
            hint = near if near.startswith("did you mean") else f'one is "{solution.users[0]}"'
            folds = solution.folds
            told = which_of(solution.fold or folds, folds, "explain")
            which = f" ({told})" if told else ""
            raise UsageError(
                f'no user "{user}" among the {len(known):,} of the evaluation set{which}; {hint}'
            )
    return [known[user] for user in users]


def extremes(submitted: SubmittedLists, metric: Metric, worst: int, best: int) -> list[int]:
    """Return the rows of the `worst` and the `best` users by a metric; ties by user id.

    Users who are not averaged are neither.

    Raises
    ------
    UsageError
        The solution does not tell what the metric needs.
    """
    solution = submitted.solution
    solution.require(metric)
    values = user_scores(submitted.lists, solution.judgments, [metric])[metric]
    by_id = id_order(solution.users)
    orders = (np.lexsort((by_id, by)) for by in (values, -values))
    low, high = (order[solution.counted[order]] for order in orders)
    return list(dict.fromkeys([*low[:worst].tolist(), *high[:best].tolist()]))


_SHOWN_TRUTH = 12


def sheets(found: Explanation, title: str, notes: Sequence[str] = ()) -> list[Sheet]:
    """Return the positions, and the list's score by every metric and convention."""
    columns: list[Column[tuple[str, float]]] = [
        Column("metric", lambda row: row[0], "name"),
        Column("value", lambda row: number(row[1], 6)),
    ]
    conventions = on_conventions(found.conventions)
    return [
        _positions_table(found, title, notes),
        Sheet.of(found.metrics.items(), columns),
        Sheet.of(conventions, convention_columns(f"AP@{found.k}"), kept=2),
    ]


def _positions_table(found: Explanation, title: str, notes: Sequence[str]) -> Sheet:
    hits = [position for position in found.places if position.hit]
    shown = ", ".join(printable(item) for item in found.truth[:_SHOWN_TRUTH])
    more = len(found.truth) - _SHOWN_TRUTH
    beyond = len(found.truth) - found.candidates
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
        found.places,
        columns,
        heading=[
            f"lists  {printable(title)}",
            *(f"note   {note}" for note in notes),
            f"user   {printable(found.user)} · k = {found.k}",
            f"truth  R = {len(found.truth)}: {shown}" + (f" and {more} more" if more > 0 else ""),
            *([f"note   {beyond} of them could not be recommended"] if beyond else []),
            *([] if found.averaged else ["note   no true items: the user is not averaged"]),
            *([] if found.places else ["note   no list"]),
        ],
        footing=[
            f"AP@{found.k} = {' + '.join(f'{p.precision:.4f}' for p in hits) or '0'} over "
            f"D = min({len(found.truth)}, {found.k}) = {found.divisor}: "
            f"{total:.6f} / {max(found.divisor, 1)} = {total / max(found.divisor, 1):.6f}"
        ],
        kept=6,
        styles={"hit": "green", "repeated": "yellow"},
    )


def records(found: Explanation) -> list[dict[str, object]]:
    """Return one record a position in full precision; an empty one where there is no list."""
    positions = [vars(p) for p in found.places] or [dict.fromkeys(ListPosition.__annotations__)]
    return [{"user": found.user, "k": found.k, **position} for position in positions]
