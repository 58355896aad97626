"""One user on a screen: what they did before, what was true, the list rank by rank with hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from harness.core.arrays import Counts, Floats, Int64, repeats
from harness.core.errors import DataError, UsageError, listed, printable
from harness.core.progress import doing
from harness.core.table import MISSING, Column, Sheet, Shown, number
from harness.evaluation.rescore import RunTask, task_of
from harness.metrics import DEFINITIONS, Block, Metric, each_once, parse, per_user
from harness.metrics.conventions import map_by_convention
from harness.metrics.grades import allows
from harness.metrics.inputs.lists import id_order
from harness.metrics.kernels import discounts
from harness.metrics.scores import user_scores
from harness.protocol.history import TrainingEvent, histories, titles_of
from harness.protocol.task import Task
from harness.protocol.truth import Solution
from harness.results.run import Run
from harness.scoring.submissions import SubmittedLists, convention_columns, on_conventions
from harness.scoring.terms import which_fold

_K = _SHOWN_TRUTH = 12
_TITLED_TRUTH = 4
"""So many true items are shown with their titles; of more the ids alone."""


@dataclass(frozen=True)
class ListPosition:
    """One position of a list."""

    rank: int
    item: str | None
    """None where the position is empty."""
    hit: bool
    """A true item, for the first time."""
    repeat: bool
    """An item that an earlier position holds."""
    precision: float
    """P(i), the hits among the first i positions over i."""
    contribution: float
    """P(i)·hit(i)/D, what the position adds to AP@k."""
    discount: float
    """1/log2(i+1), what a hit adds to DCG."""


@dataclass(frozen=True)
class Explanation:
    """A user's list and its score by every metric."""

    user: str
    k: int
    truth: tuple[str, ...]
    """The true items, in order of id; `candidates` of them could be recommended."""
    candidates: int
    divisor: int
    """D = min(R, k)."""
    averaged: bool
    """Whether the user counts in means; who has no true items does not, where a solution's file
    says who counts."""
    places: tuple[ListPosition, ...]
    """Down to the last that is not empty."""
    metrics: dict[str, float]
    """The one that was asked for, every metric of accuracy, and AP under every divisor."""
    conventions: dict[str, float | None]
    """AP as each convention computes it; None where it would not count this user."""
    history: tuple[TrainingEvent, ...] | None = None
    """The last events before the window, the latest first; None where they are not known."""
    events: int | None = None
    """How many there are in all."""
    titles: dict[str, str] = field(default_factory=dict)
    """Of the items above, where the items' table has titles."""
    best_value: float | None = None
    """What the run's best model has, where users are ordered by that."""


@dataclass(frozen=True, repr=False)
class Explanations(Shown):
    """The explanations of some users; names are the keys of its JSON."""

    paper: str
    """Where their lists are from."""
    users: tuple[Explanation, ...]
    folds: int = 1
    """How many evaluation sets the config has."""
    fold: int = 1
    """Which of these is theirs, from 1."""
    metrics: tuple[str, ...] = ()
    """Those that are shown first; users are ordered by the first."""
    notes: tuple[str, ...] = ()
    """What is left out, and why."""
    models: tuple[str, ...] = ()
    """The model of a run whose lists these are, and the one that it is compared with."""
    best_model: str | None = None
    """The run's best model, where users are ordered by what it has for them."""
    against: str | None = None
    """Where the lists are from that these are compared with."""
    against_users: tuple[Explanation, ...] = ()
    """The same users with those lists."""

    def sheets(self, every: bool = False) -> list[Sheet]:
        """Return what each user did before the window, and the list with its hits.

        `every`: each metric and convention as well.
        """
        fold = which_fold(self.fold, self.folds, runs=True)
        notes = [f"note   {note}" for note in (fold, *self.notes) if note]
        sheets = list[Sheet]()
        for lists in zip(*filter(None, (self.users, self.against_users)), strict=True):
            user = lists[0]
            heading = [*self._titles(), *([] if sheets else notes), *self._facts(lists)]
            if user.history:
                heading.append(f"train  the last {len(user.history)} of {user.events:,} events")
                sheets.append(_history_sheet(user, heading))
                heading = []
            sheets.append(_list_sheet(lists, self.models, heading))
            for each in lists if every else ():
                sheets += _every_score(each)
        return sheets

    def _titles(self) -> list[str]:
        titles = {"lists  ": self.paper, "and    ": self.against}
        return [label + printable(title) for label, title in titles.items() if title is not None]

    def _facts(self, lists: tuple[Explanation, ...]) -> list[str]:
        """Return the lines on a user, whose lists are one or two."""
        user, *others = lists
        values = {name: [each.metrics[name] for each in lists] for name in self.metrics}
        metric, lines = next(iter(values), ""), [f"user   {printable(user.user)} · k = {user.k}"]
        if others and metric:
            value, theirs = values[metric]
            difference = number(value - theirs, 4, "+")
            lines.append(f"diff   {metric} {difference} ({value:.4f} against {theirs:.4f})")
        elif metric:
            scores = (f"{name} {value:.4f}" for name, (value,) in values.items())
            lines.append(f"score  {' · '.join(scores)}")
        if self.best_model is not None and user.best_value is not None:
            best = f'model "{printable(self.best_model)}" has {metric} {user.best_value:.4f}'
            lines.append(f"best   {best}")
        beyond = len(user.truth) - user.candidates
        titles = user.titles if len(user.truth) <= _TITLED_TRUTH else {}
        items = [f"{item} {titles[item]}" if item in titles else item for item in user.truth]
        lines.append(f"truth  R = {len(items)}: {listed([*map(printable, items)], _SHOWN_TRUTH)}")
        notes = {
            f"{beyond} of them are not candidates": beyond > 0,
            "no true items: the mean leaves this user out": not user.averaged,
            "no list": not user.places,
            "no training events": user.events == 0,
        }
        return lines + [f"note   {text}" for text, holds in notes.items() if holds]

    def records(self) -> list[dict[str, object]]:
        """Return one record a position in full precision; an empty one where there is no list."""
        empty = dict.fromkeys(ListPosition.__annotations__)
        return [
            {"user": user.user, "k": user.k, **position, "lists": paper}
            for paper, users in ((self.paper, self.users), (self.against, self.against_users))
            for user in users
            for position in (map(vars, user.places) if user.places else [empty])
        ]


def explain_run(
    run: Run,
    models: Sequence[str],
    users: Sequence[str] = (),
    *,
    repeat: int = 0,
    fold: int | None = None,
    metrics: tuple[Metric, ...] = (),
    worst: int = 0,
    best: int = 0,
    most_different: int = 0,
) -> Explanations:
    """Return the explanations of users by the lists of a run's model, or of two side by side.

    A run without lists makes them again. `worst` are the users for whom the model lost most against
    the best of the run. `repeat` is of models that have several. Folds count from 1, the earliest;
    the last is the default. HarnessError where data or lists are gone, or have changed since.
    """
    drawn = [model for model in models if run.model_of(model, 0).repeats > 1] or models
    repeat_of = {model: repeat if model in drawn else 0 for model in models}
    for model in models:
        run.model_of(model, repeat_of[model])  # known before any event is read
    try:
        evaluated = task_of(run, fold)
    except DataError as error:
        raise DataError(
            f"{error}\nthe true items come from the log: fix it, or write its place into "
            f"{run.folder}/config.toml"
        ) from error
    first, *others = (_submitted(evaluated, model, repeat_of[model], metrics) for model in models)
    metric = _metric_of(first)
    best_model = _best_by(run, metric) if worst > 0 else None
    if best_model in models:
        best_model = None
    explanations = explain_users(
        first,
        users,
        worst=worst,
        best=best,
        best_values=None if best_model is None else _values_of(evaluated, best_model, metric),
        against=others[0] if others else None,
        most_different=most_different,
        task=evaluated.task,
    )
    return replace(explanations, models=tuple(models), best_model=best_model)


def _submitted(
    evaluated: RunTask, model: str, repeat: int, metrics: tuple[Metric, ...]
) -> SubmittedLists:
    lists, run = evaluated.lists(model, repeat, again=True), evaluated.whole
    which = f", repeat {repeat}" if run.model_of(model, repeat).repeats > 1 else ""
    return evaluated.submitted(f'model "{model}" of {run.folder}{which}', lists, metrics)


def _values_of(evaluated: RunTask, model: str, metric: Metric) -> Floats:
    """Return what the first repeat of a model has for each user."""
    run = evaluated.run
    if metric in run.user_metrics.values() and metric not in run.changed_metrics:
        return np.asarray(run.scores[model].values[metric][0])
    lists = _submitted(evaluated, model, 0, (metric,))
    return user_scores(lists.lists, lists.solution.judgments, [metric])[metric]


def _best_by(run: Run, metric: Metric) -> str:
    """Return the best model by a metric of the run, else the first."""
    name, sign = run.name_of(metric), metric.definition.sign
    means = {m.name: sign * m.metrics[name].mean for m in run.models if name in m.metrics}
    return min(means, key=means.__getitem__) if means else run.models[0].name


def _metric_of(submitted: SubmittedLists) -> Metric:
    """Return what users are ordered by: the first metric of the solution, or MAP@12."""
    metric = next(iter(submitted.solution.metrics), parse(f"MAP@{_K}"))
    submitted.solution.require(metric)
    if metric.definition.of == "set":
        raise UsageError(
            f"metric {metric} has one value for all lists, none per user; name "
            "another with --metric"
        )
    return metric


def worst_first(
    users: pl.Series, values: Floats, hits: Counts, best: Floats | None = None
) -> Int64:
    """Return the rows of users with hits to get, in order of what they lost.

    Of `values`, the higher are the better; `hits` are the true items that could be recommended.
    With the `best` model's values the largest loss stands first, ties by value, then by id.
    Without, the lowest value stands first, then most true items, then ids.
    """
    keys = (-hits, values) if best is None else (values, values - best)
    order = np.lexsort((id_order(users), *keys))
    return order[hits[order] > 0]


def best_first(users: pl.Series, values: Floats) -> Int64:
    """Return the rows of users, the highest value first; ties by id."""
    return np.lexsort((id_order(users), -values))


def most_different_first(users: pl.Series, first: Floats, second: Floats) -> Int64:
    """Return the rows of users whose two values differ, the most first; ties by id."""
    difference = np.abs(first - second)
    order = np.lexsort((id_order(users), -difference))
    return order[difference[order] > 0]


@doing("scoring")
def explain_users(
    submitted: SubmittedLists,
    users: Sequence[str] = (),
    *,
    worst: int = 0,
    best: int = 0,
    best_values: Floats | None = None,
    against: SubmittedLists | None = None,
    most_different: int = 0,
    task: Task | None = None,
) -> Explanations:
    """Return the explanations of the users named, and of the worst, best and most different.

    They go by the first metric of the solution, or MAP@12, and its cut-off; users who are not
    averaged are left out. `best_values`, one a user, are those of the best model: see
    `worst_first`. `against` are other lists of the same users. `task` has histories and titles.
    """
    solution, by = submitted.solution, _metric_of(submitted)
    fold, k = solution.fold or solution.folds, by.k or solution.k or _K
    sides = [submitted] if against is None else [submitted, against]
    sign = -by.definition.sign  # of an error, low values are good
    values = [sign * user_scores(side.lists, solution.judgments, [by])[by] for side in sides]
    goal = None if best_values is None else sign * best_values
    hits = solution.judgments.truth.sizes
    orders = [
        (worst_first(solution.users, values[0], hits, goal), worst),
        (best_first(solution.users, values[0]), best),
        (most_different_first(solution.users, values[0], values[-1]), most_different),
    ]
    rows = _rows_of(users, solution, fold)
    for order, count in orders:
        rows += order[solution.counted[order]][:count].tolist()
    rows = list(dict.fromkeys(rows))
    explained = [[explain(side, row, k, by) for row in rows] for side in sides]
    if task is not None:
        explained = [_with_history(of_side, task, rows) for of_side in explained]
    if best_values is not None:
        explained[0] = [
            replace(user, best_value=float(value))
            for user, value in zip(explained[0], best_values[rows], strict=True)
        ]
    shown = map(str, dict.fromkeys([by, *solution.metrics]))
    return Explanations(
        paper=submitted.title,
        users=tuple(explained[0]),
        folds=solution.folds,
        fold=fold,
        metrics=tuple(name for name in shown if rows and name in explained[0][0].metrics),
        notes=() if task is not None else (_NO_HISTORY,),
        against=None if against is None else against.title,
        against_users=() if against is None else tuple(explained[1]),
    )


def _rows_of(users: Sequence[str], solution: Solution, fold: int) -> list[int]:
    """Return the rows of users; UsageError where one is not evaluated."""
    row_of = {user: row for row, user in enumerate(solution.users)} if users else {}
    for user in users:
        if user not in row_of:
            which = which_fold(fold, solution.folds, runs=True)
            raise UsageError(
                f'no user "{user}" among the {len(solution.users):,} of the evaluation set'
                f'{f" ({which})" if which else ""}; one is "{solution.users[0]}"'
            )
    return [row_of[user] for user in users]


_NO_HISTORY = (
    "a solution has no training events, so there is no history; name --config CONFIG to see it"
)


def _with_history(
    explained: Sequence[Explanation], task: Task, rows: Sequence[int]
) -> list[Explanation]:
    """Return the same with what users did before the window, and the titles of all items."""
    explained = [
        replace(user, history=history.events, events=history.total)
        for user, history in zip(explained, histories(task, rows), strict=True)
    ]
    items = [
        {
            *(event.item for event in user.history or ()),
            *(place.item for place in user.places if place.item is not None),
            *user.truth,
        }
        for user in explained
    ]
    titles = titles_of(task.data, sorted(set().union(*items)))
    return [
        replace(user, titles={item: titles[item] for item in sorted(shown) if item in titles})
        for user, shown in zip(explained, items, strict=True)
    ]


def explain(submitted: SubmittedLists, row: int, k: int, by: Metric | None = None) -> Explanation:
    """Return the explanation of the user in a row of submitted lists, at the cut-off `k`.

    It has every metric of accuracy, and others at `k` that are asked for, if grades allow it; one
    with a choice is there once under each value of its first parameter. `by` stands first, whatever
    it looks at; it has no cut-off, or this one.
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
            for metric in each_once(metrics)
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
    last = int(np.flatnonzero(items >= 0).max(initial=-1))
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
        for i in range(last + 1)
    )


def _history_sheet(user: Explanation, heading: list[str]) -> Sheet:
    """Return the last training events; a column that says nothing is left out."""
    columns: list[Column[TrainingEvent]] = [
        Column("day", lambda event: event.day or "", "name", firm=True),
        Column("item", lambda event: printable(event.item), "name"),
        Column("title", lambda event: printable(user.titles.get(event.item, "")), "name"),
        Column("type", lambda event: printable(event.type or ""), "name"),
    ]
    return Sheet.of(user.history or (), columns, heading=heading).filled()


def _list_sheet(lists: tuple[Explanation, ...], models: Sequence[str], heading: list[str]) -> Sheet:
    """Return a list rank by rank, or two side by side, with what hits add to AP below."""
    is_single = len(lists) == 1
    names = ["item"] if is_single else list(map(printable, models))
    columns: list[Column[int]] = [Column("rank", str, firm=True)]
    for name, user in zip(names, lists, strict=True):
        columns += _columns_of(name, user, first_out=not is_single)
    if is_single:
        places = lists[0].places
        columns += [
            Column("P(i)", lambda rank: number(places[rank - 1].precision, 4)),
            Column(
                "adds to AP",
                lambda rank: number(places[rank - 1].contribution, 6) * places[rank - 1].hit,
            ),
            Column("discount", lambda rank: number(places[rank - 1].discount, 4), first_out=True),
        ]
    sums = zip(names, map(_sum_of, lists), strict=True)
    length = max(len(user.places) for user in lists)
    return Sheet.of(
        range(1, length + 1),
        columns,
        heading=heading,
        footing=[text if is_single else f"{name}: {text}" for name, text in sums],
        styles={"hit": "green", "repeated": "yellow"},
    )


def _columns_of(name: str, user: Explanation, *, first_out: bool) -> list[Column[int]]:
    """Return the columns of the items of a list, by rank, and of which are hits."""
    items = {place.rank: place.item or "" for place in user.places}
    words = {p.rank: "hit" if p.hit else "repeated" if p.repeat else "" for p in user.places}
    titles = {rank: user.titles.get(item, "") for rank, item in items.items()}

    def title(rank: int) -> str:
        return printable(titles.get(rank, ""))

    return [
        Column(name, lambda rank: printable(items.get(rank) or MISSING), "name"),
        *([Column("title", title, "name", first_out=first_out)] if any(titles.values()) else []),
        Column("hit", lambda rank: words.get(rank, ""), "name"),
    ]


def _sum_of(user: Explanation) -> str:
    """Return how AP is summed up, in a line."""
    precisions = [place.precision for place in user.places if place.hit]
    total, divisor = sum(precisions), max(user.divisor, 1)
    return (
        f"AP@{user.k} = {' + '.join(f'{precision:.4f}' for precision in precisions) or '0'} over "
        f"D = min({len(user.truth)}, {user.k}) = {user.divisor}: "
        f"{total:.6f} / {divisor} = {total / divisor:.6f}"
    )


def _every_score(user: Explanation) -> list[Sheet]:
    """Return a list's score by every metric and every convention."""
    metrics: list[Column[tuple[str, float]]] = [
        Column("metric", lambda row: row[0], "name"),
        Column("value", lambda row: number(row[1], 6)),
    ]
    conventions = on_conventions(user.conventions)
    return [
        Sheet.of(user.metrics.items(), metrics),
        Sheet.of(conventions, convention_columns(f"AP@{user.k}")),
    ]
