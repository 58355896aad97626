"""The tables of the page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby

from harness.core.errors import counted
from harness.core.table import MISSING, lift, p_value, percent
from harness.report.page.view import View, shown, spread
from harness.results.record import RunRecord, lift_of
from harness.results.wording import better_in, decimals
from harness.stats.pairwise import CORRECTED
from harness.stats.shakeup import FEW, ShakeUp


@dataclass(frozen=True)
class Cell:
    """A cell; `note` is a second line, smaller.

    It is sorted by its `value`; without it, words by their text and numbers last. Its kind is
    ``figure``, ``text``, ``model``, ``pair``, ``verdict`` or ``bar``.
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


_DASH = Cell(MISSING)


def figure(value: float | None, places: int, note: str = "") -> Cell:
    """Return a number's cell, a dash where there is none."""
    return Cell(shown(value, places), value, note=note)


def words(text: str) -> Cell:
    """Return a cell of words."""
    return Cell(text, kind="text")


def _model(view: View, place: int) -> Cell:
    """Return a model's name, and what is special about it."""
    repeats, tuned = view.models[place].repeats, view.models[place].tuned
    notes = [f"mean of {repeats} repeats"] if repeats > 1 else []
    notes += [f"tuned on train × {tuned.trials:,}"] if tuned else []
    return Cell(view.names[place], kind="model", note="; ".join(notes))


_HINTS = {
    "Coverage": "share of the candidates that are in any list",
    "Popularity": "mean training events of the items listed",
}


def models(view: View) -> Table:
    """Return the main table, and last the models that failed and the exact chance."""
    order = "descending" if view.higher_first else "ascending"
    described = list(dict.fromkeys(name for m in view.models for name in m.described))
    folds = view.record.folds
    columns = [
        Column("model", words=True),
        Column(view.metric, "with its 95 % interval", order=order),
        Column("", "mean and interval as a bar", sorts=False),
        Column("lift", "times the mean of a random ranking"),
        Column("verdict", "against chance, by the first metric", words=True),
        *([Column(f"{view.verdicts[0]} in")] if folds else []),
        *(Column(f"fold {n}", fold.evaluation.window) for n, fold in enumerate(folds, 1)),
        *(Column(name) for name in view.metrics[1:]),
        *(Column(name, _HINTS.get(name.partition("@")[0], "")) for name in described),
        Column("time", "fitting, recommending and scoring"),
    ]
    rows = [Row(_cells(view, place, described)) for place in range(len(view.models))]
    blank, none = words(""), [_DASH] * (len(columns) - 5)
    last = [  # why is among the notes
        Row([words(model.name), _DASH, blank, _DASH, words("failed"), *none])
        for model in view.record.failed
    ]
    if view.record.chance:
        last.append(Row([*_chance(view), *[_DASH] * (len(described) + 1)]))
    return Table(columns, rows, last)


def _cells(view: View, place: int, described: list[str]) -> list[Cell]:
    model, record = view.models[place], view.record
    mean, ends, times = view.mean(model), view.ends(model), lift_of(model, record.chance)
    seconds = sum(model.seconds.values())
    return [
        _model(view, place),
        figure(mean, view.decimals, spread(ends, view.decimals) if ends else ""),
        Cell("", kind="bar", bar=_bar(view, mean, ends)),
        Cell(lift(times), times),
        Cell(MISSING if model.vs_random is None else model.vs_random.verdict, kind="verdict"),
        *([words(better_in(record, model) or MISSING)] if record.folds else []),
        *(figure(f.metric_of(model.name, view.metric), view.decimals) for f in record.folds),
        *(figure(model.metrics[name].mean, view.places[name]) for name in view.metrics[1:]),
        *(_description(name, model.described.get(name)) for name in described),
        Cell(f"{shown(seconds, 2 if seconds < 10 else 0)} s", seconds),
    ]


def _description(name: str, value: float | None) -> Cell:
    if name.startswith("Coverage") and value is not None:
        return Cell(percent(value), value)
    return figure(value, 1)


def _bar(view: View, mean: float, ends: tuple[float, float] | None) -> dict[str, float]:
    """Return where a bar and its whisker end, in per cent of the widest; none below 0."""
    widest = max(max(view.mean(m), *(view.ends(m) or (0.0,))) for m in view.models) or 1.0
    low, high = ends or (mean, mean)
    places = {"mean": mean, "low": low, "high": high}
    places["chance"] = view.chance.mean if view.chance else -1
    return {name: round(100 * value / widest, 2) for name, value in places.items()}


def _chance(view: View) -> list[Cell]:
    """Return the row of the exact chance, up to the last metric."""

    def exact(record: RunRecord, name: str) -> Cell:
        chance = record.chance.get(name)
        return figure(None if chance is None else chance.mean, view.places[name])

    first, *rest = (exact(view.record, name) for name in view.metrics)
    if view.chance and view.chance.sd is not None:
        first = replace(first, note=f"± {shown(view.chance.sd, view.decimals)}")
    return [
        words("chance (exact)"),
        first,
        words(""),
        Cell("1.0" if view.chance else MISSING),
        words(""),
        *([words("")] if view.record.folds else []),
        *(exact(fold, view.metric) for fold in view.record.folds),
        *rest,
    ]


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
    rows = []
    for number, fold in enumerate(view.record.folds, 1):
        evaluation = fold.evaluation
        sizes = figure(evaluation.users, 0), figure(evaluation.candidates, 0)
        names = words(evaluation.window), words(evaluation.fingerprint[:6])
        rows.append(Row([figure(number, 0), names[0], *sizes, names[1]]))
    return Table(columns, rows)


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
        cells = [
            Cell(pair.one, kind="pair", note=f"− {pair.other}"),
            figure(pair.difference, places, spread(pair.ci95, places)),
            Cell(pair.verdict, kind="verdict"),
            *(Cell(p_value(p), p) for p in (pair.p_adjusted, pair.p_sign_flip, pair.p_t)),
            figure(pair.effect_size, 2),
            Cell(f"{pair.wins:,} / {pair.ties:,} / {pair.losses:,}", pair.wins - pair.losses),
            figure(pair.detectable, places),
        ]
        both = (str(view.names.index(name)) for name in (pair.one, pair.other))
        rows.append(Row(cells, ("all", *both)))
    return Table(columns, rows)


def correction(view: View) -> str:
    """Return the name of the correction for the number of pairs."""
    name = view.comparison.correction if view.comparison else ""
    return CORRECTED.get(name, name)


def slices(view: View) -> dict[str, Table]:
    """Return a table for each column of users, with a row a model and a column a slice."""
    tables = {}
    for by, group in groupby(view.record.slices, key=lambda part: part.by):
        parts, columns = list(group), [Column("model", words=True)]
        for part in parts:
            few = ", few users" if part.small else ""
            columns.append(Column(part.label, f"n = {part.users:,}{few}"))
        rows = []
        for place, name in enumerate(view.names):
            means = [part.models[name] for part in parts]
            cells = [figure(m.mean, view.decimals, spread(m.ci95, view.decimals)) for m in means]
            rows.append(Row([_model(view, place), *cells]))
        tables[by] = Table(columns, rows)
    return tables


def leaderboard_estimates(view: View) -> Table | None:
    """Return every model's leaderboard estimates; None for a metric that has none."""
    bridge = view.record.bridge
    if bridge is None or not bridge.models:
        return None
    wider = {"users with true items": bridge.with_items}
    if bridge.sample is not None:
        wider["all ids of the sample submission"] = bridge.sample
    columns = [
        Column("model", words=True),
        Column("this evaluation set", counted(bridge.examined, "user")),
        *(Column(title, counted(users or 0, "user")) for title, users in wider.items()),
    ]
    means = {name: (by.window, by.sample)[: len(wider)] for name, by in bridge.models.items()}
    values = [value for of_model in means.values() for value in of_model if value is not None]
    places, rows = max(view.decimals, decimals(values)), []
    for place, name in enumerate(view.names):
        cells = [_model(view, place), figure(view.mean(view.models[place]), places)]
        for value in means[name]:
            least = "at least " * (value is not None and bridge.models[name].at_least)
            cells.append(Cell(least + shown(value, places), value))
        rows.append(Row(cells))
    return Table(columns, rows)


@dataclass(frozen=True)
class RankFlips:
    """How often models change their order, for one public share.

    `words` say how often no model is first on both leaderboards; models stand in an `order`, best
    first over all users, and `cells` say how often two of them change it, as number and text.
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
        cells = {
            (view.names.index(p.one), view.names.index(p.other)): (p.changes, percent(p.changes))
            for p in tried.pairs
        }
        sentence = (
            f"In {percent(tried.leader_falls)} of {tried.times:,} random divisions, no model is "
            "first on both leaderboards."
        )
        order = list(dict.fromkeys(place for both in cells for place in both))
        flips.append(RankFlips(_title(tried), sentence, order, cells))
    return flips


def few(view: View) -> list[str]:
    """Return a line for each share that has too few."""
    return [
        f"{_title(tried)}: not shown, as fewer than {FEW} users tell nothing."
        for tried in view.record.shake_up
        if tried.few
    ]


def _title(tried: ShakeUp) -> str:
    return f"{tried.share * 100:g} % public: {tried.public:,} of {counted(tried.users, 'user')}"
