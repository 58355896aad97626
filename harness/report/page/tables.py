"""The tables of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from harness.core.errors import counted
from harness.core.table import MISSING, lift, p_value, percent
from harness.protocol.leaderboard_estimate import LeaderboardEstimate
from harness.report.page.view import View, decimals, shown, spread
from harness.results.record import RunRecord, lift_of
from harness.results.wording import better_folds
from harness.stats.pairwise import CORRECTED, in_folds
from harness.stats.shakeup import FEW, ShakeUp


def models(view: View) -> Table:
    """Return the main table, and last the exact chance."""
    order = "descending" if view.higher_first else "ascending"
    others = view.metrics[1:]
    columns = [
        Column("model", words=True),
        Column(view.metric, "with its 95 % interval", order=order),
        Column("", "mean and interval as a bar", sorts=False),
        Column("lift", "times the mean of a random ranking"),
        Column("verdict", "against chance, by the first metric", words=True),
        *([Column(f"{view.verdicts[0]} in")] if view.record.folds else []),
        *(Column(f"fold {at}", fold.evaluation.window) for at, fold in _folds(view)),
        *(Column(name) for name in others),
        *(Column(name, _HINTS.get(name.partition("@")[0], "")) for name in _described(view)),
        Column("time", "fitting, recommending and scoring"),
    ]
    rows = [Row(_cells(view, i)) for i in range(len(view.models))]
    dash = Cell(MISSING)
    failed = [  # why is among the notes
        Row([words(one.name), dash, words(""), dash, words("failed"), *[dash] * (len(columns) - 5)])
        for one in view.record.failed
    ]
    return Table(columns, rows, [*failed, *_floor(view, len(columns))])


def _folds(view: View) -> Iterator[tuple[int, RunRecord]]:
    return enumerate(view.record.folds, 1)


def folds(view: View) -> Table | None:
    """Return the evaluation sets of several folds."""
    if not view.record.folds:
        return None
    columns = [
        Column("fold"),
        Column("held out", words=True),
        Column("users"),
        Column("candidates"),
        Column("evaluation set", words=True),
    ]
    rows = [
        Row(
            [
                figure(at, 0),
                words(fold.evaluation.window),
                figure(fold.evaluation.users, 0),
                figure(fold.evaluation.candidates, 0),
                words(fold.evaluation.fingerprint[:6]),
            ]
        )
        for at, fold in _folds(view)
    ]
    return Table(columns, rows)


_HINTS = {
    "Coverage": "share of the candidates that are in any list",
    "Popularity": "mean training events of the items listed",
}


def _described(view: View) -> list[str]:
    return list(dict.fromkeys(name for m in view.models for name in m.described))


def _cells(view: View, i: int) -> list[Cell]:
    found = view.models[i]
    mean, ends, against = view.mean(found), view.ends(found), found.vs_random
    times = lift_of(found, view.record.chance)
    columns = {name: [m.metrics[name].mean for m in view.models] for name in view.metrics[1:]}
    seconds, of_folds = sum(found.seconds.values()), list[Cell]()
    if view.record.folds:
        better = better_folds(view.names[0], found.name, view.record.comparison)
        of_folds.append(words(in_folds(better, len(view.record.folds)) or MISSING))
        for _, fold in _folds(view):
            of_folds.append(figure(fold.metric_of(found.name, view.metric), view.decimals))
    return [
        model(view, i),
        figure(mean, view.decimals, spread(ends, view.decimals) if ends else ""),
        Cell("", kind="bar", bar=_bar(view, mean, ends)),
        Cell(lift(times), times),
        Cell(MISSING if against is None else against.verdict, kind="verdict"),
        *of_folds,
        *(figure(found.metrics[n].mean, decimals(all_)) for n, all_ in columns.items()),
        *(_description(n, found.described.get(n)) for n in _described(view)),
        Cell(f"{shown(seconds, 2 if seconds < 10 else 0)} s", seconds),
    ]


def _description(name: str, value: float | None) -> Cell:
    if name.startswith("Coverage") and value is not None:
        return Cell(percent(value), value)
    return figure(value, 1)


def _bar(view: View, mean: float, ends: tuple[float, float] | None) -> dict[str, float]:
    """Return where a bar and its whisker end, in per cent of the widest; none below 0."""
    tops = [max(view.mean(m), *(view.ends(m) or (0.0,))) for m in view.models]
    widest = max(tops) or 1.0
    low, high = ends or (mean, mean)
    chance = view.chance.mean if view.chance else -1
    places = {"mean": mean, "low": low, "high": high, "chance": chance}
    return {name: round(100 * value / widest, 2) for name, value in places.items()}


def _floor(view: View, columns: int) -> list[Row]:
    if not view.record.chance:
        return []
    own = []
    for name in view.metrics:
        exact = view.record.chance.get(name)
        places = decimals([m.metrics[name].mean for m in view.models])
        own.append(figure(None if exact is None else exact.mean, places))
    if view.chance and view.chance.sd is not None:
        own[0] = replace(own[0], note=f"± {shown(view.chance.sd, view.decimals)}")
    by_chance = Cell("1.0" if view.chance else MISSING)
    dash = Cell(MISSING)
    head = [words("chance (exact)"), own[0], words(""), by_chance, words("")]
    head += [words("")] if view.record.folds else []
    for _, fold in _folds(view):
        found = fold.chance.get(view.metric)
        head.append(figure(None if found is None else found.mean, view.decimals))
    return [Row([*head, *own[1:], *[dash] * (columns - len(head) - len(own) + 1)])]


def pairs(view: View) -> Table | None:
    """Return every pair with its tests."""
    if view.comparison is None:
        return None
    columns = [
        Column("pair", "the first less the second", words=True),
        Column("difference", "with its 95 % interval, not corrected"),
        Column("verdict", words=True),
        Column("p adjusted", f"randomization test, corrected by {correction(view)}"),
        Column("p randomization", "randomization test"),
        Column("p t", "paired t test"),
        Column("effect size", "mean difference in standard deviations of the differences"),
        Column("wins / ties / losses", "users; sorted by wins less losses"),
        Column("min. detectable", "the smallest true difference found with a chance of 80 %"),
    ]
    rows, places = [], view.decimals
    for pair in view.comparison.pairs:
        tally = f"{pair.wins:,} / {pair.ties:,} / {pair.losses:,}"
        both = view.at[pair.one], view.at[pair.other]
        cells = [
            Cell(pair.one, kind="pair", note=f"− {pair.other}"),
            figure(pair.difference, places, spread(pair.ci95, places)),
            Cell(pair.verdict, kind="verdict"),
            *(Cell(p_value(p), p) for p in (pair.p_adjusted, pair.p_sign_flip, pair.p_t)),
            figure(pair.effect_size, 2),
            Cell(tally, pair.wins - pair.losses),
            figure(pair.detectable, places),
        ]
        rows.append(Row(cells, ("all", *map(str, both))))
    return Table(columns, rows)


def correction(view: View) -> str:
    """Return the name of the correction for the number of pairs."""
    name = view.comparison.correction if view.comparison else ""
    return CORRECTED.get(name, name)


def slice_columns(view: View) -> list[str]:
    """Return the columns by which users are divided."""
    return list(dict.fromkeys(part.by for part in view.record.slices))


def slices(view: View) -> list[Table]:
    """Return a table for each column, with a row a model and a column a slice."""
    tables = []
    for _, group in groupby(view.record.slices, key=lambda part: part.by):
        parts = list(group)
        columns = [Column("model", words=True)]
        for part in parts:
            few = ", few users" if part.small else ""
            columns.append(Column(part.label, f"n = {part.users:,}{few}"))
        rows = []
        for i, name in enumerate(view.names):
            found = [part.models[name] for part in parts]
            cells = [figure(f.mean, view.decimals, spread(f.ci95, view.decimals)) for f in found]
            rows.append(Row([model(view, i), *cells]))
        tables.append(Table(columns, rows))
    return tables


def leaderboard_estimates(view: View) -> Table | None:
    """Return every model's leaderboard estimates; None for a metric that has none."""
    found = view.bridge
    if found is None or not found.models:
        return None
    wider = {"users with true items": found.with_items}
    if found.sample is not None:
        wider["all ids of the sample submission"] = found.sample
    columns = [
        Column("model", words=True),
        Column("this evaluation set", counted(found.examined, "user")),
        *(Column(title, counted(users or 0, "user")) for title, users in wider.items()),
    ]
    means = {name: (by.window, by.sample)[: len(wider)] for name, by in found.models.items()}
    values = [value for of_model in means.values() for value in of_model if value is not None]
    places = max(view.decimals, decimals(values))
    rows = [
        Row(
            [
                model(view, i),
                figure(view.mean(view.models[i]), places),
                *(_estimate(v, found.models[name], places) for v in means[name]),
            ]
        )
        for i, name in enumerate(view.names)
    ]
    return Table(columns, rows)


def _estimate(value: float | None, of_model: LeaderboardEstimate, places: int) -> Cell:
    cell = figure(value, places)
    least = value is not None and of_model.at_least
    return replace(cell, text=f"at least {cell.text}") if least else cell


@dataclass(frozen=True)
class RankFlips:
    """How often models change their order, for one public share.

    Attributes
    ----------
    title, words : str
        The share, and how often no model is first on both leaderboards.
    order : list of int
        The models, best first over all users.
    cells : mapping of (row, column) to (share, text)
        How often the two change their order.
    """

    title: str
    words: str
    order: list[int]
    cells: dict[tuple[int, int], tuple[float, str]]


def rank_flips(view: View) -> list[RankFlips]:
    """Return every public share that was tried and has users enough to show anything."""
    flips = []
    for tried in view.record.shake_up:
        if not tried.pairs or tried.few:
            continue
        order = list(dict.fromkeys(view.at[name] for p in tried.pairs for name in (p.one, p.other)))
        cells = {
            (view.at[pair.one], view.at[pair.other]): (pair.changes, percent(pair.changes))
            for pair in tried.pairs
        }
        words = (
            f"In {percent(tried.leader_falls)} of {tried.times:,} random divisions, no model is "
            "first on both leaderboards."
        )
        flips.append(RankFlips(_title(tried), words, order, cells))
    return flips


def few(view: View) -> list[str]:
    """Return a line for each share that has too few."""
    return [
        f"{_title(found)}: not shown, as fewer than {FEW} users tell nothing."
        for found in view.record.shake_up
        if found.few
    ]


def _title(found: ShakeUp) -> str:
    return f"{found.share * 100:g} % public: {found.public:,} of {counted(found.users, 'user')}"


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes
    ----------
    value : float, optional
        What it is sorted by; without it, words by their text and numbers last.
    kind : str
        ``figure``, ``text``, ``model``, ``verdict`` or ``bar``.
    note : str
        A second line, smaller.
    """

    text: str
    value: float | None = None
    kind: str = "figure"
    note: str = ""
    bar: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column's title; `hint` says more, `words` stand to the left, `order` is that of the rows.

    A column that cannot be sorted by is a picture.
    """

    title: str
    hint: str = ""
    words: bool = False
    order: str = ""
    sorts: bool = True


@dataclass(frozen=True)
class Row:
    """A row, shown for some choices; without any it is always shown."""

    cells: list[Cell]
    pick: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table; `last` stands below however the others are sorted."""

    columns: list[Column]
    rows: list[Row]
    last: list[Row] = field(default_factory=list)


def figure(value: float | None, places: int, note: str = "") -> Cell:
    """Return a number's cell, a dash where there is none."""
    return Cell(shown(value, places), value, note=note)


def words(text: str) -> Cell:
    """Return a cell of words."""
    return Cell(text, kind="text")


def model(view: View, place: int) -> Cell:
    """Return a model's name, and what is special about it."""
    repeats, tuned = view.models[place].repeats, view.models[place].tuned
    notes = [f"mean of {repeats} repeats"] if repeats > 1 else []
    notes += [f"tuned on train × {tuned.trials:,}"] if tuned else []
    return Cell(view.names[place], kind="model", note="; ".join(notes))
