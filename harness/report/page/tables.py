"""The tables of models and of their pairs."""

from __future__ import annotations

from dataclasses import replace

from harness.report.compared import CORRECTED
from harness.report.numbers import MISSING, p_value, percent
from harness.report.numbers import lift as times
from harness.report.page.cells import Cell, Column, Row, Table, figure, model, words
from harness.report.page.view import Document, View, decimals, shown, spread
from harness.report.sheet import chance_word, pair_word


def models(view: View) -> Table:
    """Return the main table, and last the exact chance."""
    order = "descending" if view.higher_first else "ascending"
    others = view.metrics[1:]
    columns = [
        Column("model", words=True),
        Column(view.metric, "with its 95 % interval", order=order),
        Column("", "mean and interval as a bar", sorts=False),
        Column("× chance", "times what a random ranking earns"),
        Column("verdict", "against chance, by the first metric", words=True),
        *(Column(name) for name in others),
        *(Column(name, _HINTS.get(name.partition("@")[0], "")) for name in _described(view)),
        Column("time", "fitting, recommending and marking"),
    ]
    rows = [Row(_cells(view, i), (i,)) for i in range(len(view.models))]
    return Table(columns, rows, _floor(view, len(columns)))


_HINTS = {
    "Coverage": "share of the candidates that stand in any list",
    "Popularity": "mean training events of the items listed",
}


def _described(view: View) -> list[str]:
    return list(dict.fromkeys(name for m in view.models for name in m["described"]))


def _cells(view: View, i: int) -> list[Cell]:
    found = view.models[i]
    mean, ends, against = view.mean(found), view.ends(found), found["vs_random"] or {}
    lift = against.get("lift")
    columns = {name: [m["metrics"][name]["mean"] for m in view.models] for name in view.metrics[1:]}
    return [
        model(view, i),
        figure(mean, view.decimals, spread(ends, view.decimals) if ends else ""),
        Cell("", kind="bar", bar=_bar(view, mean, ends)),
        Cell(MISSING if lift is None else times(lift), lift),
        Cell(_verdict(against.get("verdict")), kind="verdict"),
        *(figure(found["metrics"][n]["mean"], decimals(all_)) for n, all_ in columns.items()),
        *(_description(n, found["described"].get(n)) for n in _described(view)),
        _seconds(sum(found["seconds"].values())),
    ]


def _verdict(word: str | None) -> str:
    """Return the verdict on chance, in the word that the terminal has for it."""
    return chance_word(word or MISSING)


def _seconds(value: float) -> Cell:
    return Cell(f"{shown(value, 2 if value < 10 else 0)} s", value)


def _description(name: str, value: float | None) -> Cell:
    if name.startswith("Coverage") and value is not None:
        return Cell(percent(value), value)
    return figure(value, 1)


def _bar(view: View, mean: float, ends: tuple[float, float] | None) -> dict[str, float]:
    """Return where a bar and its whisker end, in per cent of the widest; none below 0."""
    tops = [max(view.mean(m), *(view.ends(m) or (0.0,))) for m in view.models]
    widest = max(tops) or 1.0
    low, high = ends or (mean, mean)
    places = {"mean": mean, "low": low, "high": high, "chance": (view.chance or {}).get("mean", -1)}
    return {name: round(100 * value / widest, 2) for name, value in places.items()}


def _floor(view: View, columns: int) -> list[Row]:
    chance: Document = view.document["chance"]
    if not chance:
        return []
    own = [_exact(view, name) for name in view.metrics]
    if view.chance:
        own[0] = replace(own[0], note=f"± {shown(view.chance['sd'], view.decimals)}")
    lift = Cell("1.0" if view.chance else MISSING)
    dash = Cell(MISSING)
    head = [words("chance (exact)"), own[0], words(""), lift, words("")]
    return [Row([*head, *own[1:], *[dash] * (columns - len(head) - len(own) + 1)])]


def _exact(view: View, name: str) -> Cell:
    means = [m["metrics"][name]["mean"] for m in view.models]
    found = view.document["chance"].get(name)
    return figure(found and found["mean"], decimals(means))


def pairs(view: View) -> Table | None:
    """Return every pair with its tests."""
    if view.comparison is None:
        return None
    columns = [
        Column("pair", "the first less the second", words=True),
        Column("difference", "with its 95 % interval, not corrected"),
        Column("verdict", words=True),
        Column("p adjusted", f"sign flip, corrected by {correction(view)}"),
        Column("p sign flip", "randomisation test"),
        Column("p t", "paired t test"),
        Column("effect size", "mean difference in standard deviations of the differences"),
        Column("wins / ties / losses", "users; sorted by wins less losses"),
        Column("detectable", "the smallest true difference found with a chance of 80 %"),
    ]
    return Table(columns, [_pair(view, pair) for pair in view.comparison["pairs"]])


def correction(view: View) -> str:
    """Return the name of the correction for the number of pairs."""
    name = (view.comparison or {}).get("correction", "")
    return CORRECTED.get(name, str(name))


def _pair(view: View, pair: Document) -> Row:
    places = view.decimals
    tally = f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}"
    both = view.at[pair["one"]], view.at[pair["other"]]
    cells = [
        Cell(pair["one"], kind="pair", note=f"− {pair['other']}"),
        figure(pair["difference"], places, spread(pair["ci95"], places)),
        Cell(pair_word(pair["verdict"]), kind="verdict"),
        *(Cell(p_value(pair[p]), pair[p]) for p in ("p_adjusted", "p_sign_flip", "p_t")),
        figure(pair["effect_size"], 2),
        Cell(tally, pair["wins"] - pair["losses"]),
        figure(pair["detectable"], places),
    ]
    return Row(cells, both, ("all", *map(str, both)))
