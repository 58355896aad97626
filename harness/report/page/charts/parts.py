"""Figures of several things at once: pairs of models, slices of users, coverage of items."""

from __future__ import annotations

import math

from harness.report.numbers import p_value, percent
from harness.report.page.charts import places
from harness.report.page.charts.base import (
    NARROW,
    Figure,
    full,
    label,
    layout,
    log_axis,
    look,
    marker,
    row,
    rows,
    thinned,
    title,
    trace,
    whisker,
)
from harness.report.page.view import Document, View, cut, shown, spread
from harness.report.sheet import pair_word

VERDICTS = {"better": "#0072B2", "higher": "#0072B2", "worse": "#D55E00", "lower": "#D55E00"}
_GREY = "#7A7F87"
_WIDTH, _HEIGHT = 600.0, 320.0


def differences(view: View) -> Figure | None:
    """Return every pair's difference with its interval, one row each."""
    if view.comparison is None:
        return None
    pairs = view.comparison["pairs"]
    names = [f"{label(p['one'])} − {label(p['other'])}" for p in pairs]
    small = [f"{label(p['one'], NARROW)}<br>− {label(p['other'], NARROW)}" for p in pairs]
    x = {"title": title(f"difference in {view.metric}"), "zeroline": True, "zerolinewidth": 1.5}
    x |= {"rangemode": "tozero"}
    return {
        "data": [_difference(view, i, pair) for i, pair in enumerate(pairs)],
        "layout": layout(x, rows(names)),
        "grow": {"base": 80, "row": 24, "narrow_row": 46},
        "narrow": {"yaxis": small},
        "filter": "pairs",
    }


def _difference(view: View, i: int, pair: Document) -> Figure:
    colour = VERDICTS.get(pair["verdict"], _GREY)
    models = [view.at[pair["one"]], view.at[pair["other"]]]
    places_ = view.decimals
    text = (
        f"<b>{full(pair['one'])}</b><br>− <b>{full(pair['other'])}</b>"
        f"<br>{shown(pair['difference'], places_)} ({spread(pair['ci95'], places_)})"
        f"<br>adjusted p {p_value(pair['p_adjusted'])}: {pair_word(pair['verdict'])}"
    )
    hollow = pair["verdict"] not in VERDICTS
    look_ = {"color": colour, "size": 9, "symbol": "circle-open" if hollow else "circle"}
    return trace(
        models,
        ["all", *map(str, models)],
        x=[pair["difference"]],
        y=[row(i)],
        hovertext=[text],
        marker=look_ | {"line": {"width": 1.5 if hollow else 0, "color": colour}},
        error_x=whisker(pair["difference"], pair["ci95"], colour),
    )


def slices(view: View, columns: list[str]) -> Figure | None:
    """Return every model's figure in every slice, the slices of one column at a time."""
    parts = view.document["slices"]
    if not parts:
        return None
    names, small = ([_slice(part, longest) for part in parts] for longest in (30, 14))
    x = {"title": title(view.metric), "rangemode": "tozero"}
    group = {"scattermode": "group", "scattergap": 0.2}
    return {
        "data": [
            _point(view, i, place, str(columns.index(part["by"])), part)
            for place, part in enumerate(parts)
            for i in range(len(view.models))
        ],
        "layout": layout(x, rows(names) | {"showgrid": False}, **group),
        "grow": {"base": 80, "row": 14, "point": 13},
        "narrow": {"yaxis": small},
        "filter": "slices",
    }


def _slice(part: Document, longest: int) -> str:
    few = "<br>few users" if part["small"] else ""
    return f"{label(part['label'], longest)}<br>n = {part['users']:,}{few}"


def _point(view: View, i: int, place: int, pick: str, part: Document) -> Figure:
    figure = part["models"][view.names[i]]
    text = (
        f"<b>{full(view.names[i])}</b><br>{label(part['by'])}: {label(part['label'])}"
        f"<br>{shown(figure['mean'], view.decimals)} ({spread(figure['ci95'], view.decimals)})"
        f"<br>{part['users']:,} users{', too few to tell' if part['small'] else ''}"
    )
    return trace(
        [i],
        [pick],
        x=[figure["mean"]],
        y=[row(place)],
        orientation="h",
        offsetgroup=str(i),
        hovertext=[text],
        marker=marker(i, hollow=part["small"]),
        error_x=whisker(figure["mean"], figure["ci95"], look(i)[0]),
    )


def coverage(view: View) -> Figure | None:
    """Return how much of the catalogue each model shows, against how popular its items are."""
    points = dict(described(view))
    if not points:
        return None
    top = 100 * max(covered for covered, _ in points.values()) or 100
    log = all(popularity > 0 for _, popularity in points.values())
    axis = _axis([popularity for _, popularity in points.values()], log)
    x = {"title": title("mean training events of the items listed")} | axis
    y: Figure = {"title": title("coverage"), "ticksuffix": " %", "range": [-0.08 * top, 1.12 * top]}
    return {
        "data": [_item(view, i, *point) for i, point in points.items()],
        "layout": layout(x, y, annotations=_labels(view, points, (axis["range"], y["range"]))),
        "labels": list(points),
        "narrow": {"xaxis": thinned(axis["ticktext"])} if log else {},
        "grow": {"base": 400},
    }


def _item(view: View, i: int, covered: float, popularity: float) -> Figure:
    text = (
        f"<b>{full(view.names[i])}</b><br>coverage {percent(covered)}"
        f"<br>popularity {popularity:,.1f}"
    )
    place: Figure = {"x": [popularity], "y": [100 * covered]}
    return trace([i], **place, hovertext=[text], marker=marker(i, size=11), cliponaxis=False)


def described(view: View) -> list[tuple[int, tuple[float, float]]]:
    """Return each model's coverage and popularity, where both are known."""
    found = []
    for i, model in enumerate(view.models):
        figures = {name.partition("@")[0]: v for name, v in model["described"].items()}
        if figures.get("Coverage") is not None and figures.get("Popularity") is not None:
            found.append((i, (float(figures["Coverage"]), float(figures["Popularity"]))))
    return found


def _axis(values: list[float], log: bool) -> Figure:
    low, high = min(values), max(values)
    if log:
        ratio = max(high / low, 2.0) ** 0.12
        return log_axis(low / ratio, high * ratio)
    return {"range": [low - 0.1 * (high - low) - 1, high + 0.1 * (high - low) + 1]}


def _labels(
    view: View, points: dict[int, tuple[float, float]], ends: tuple[list[float], list[float]]
) -> list[Figure]:
    """Return a label for each point, placed as on a screen of common width."""
    (left, right), (low, high) = ends
    log = all(popularity > 0 for _, popularity in points.values())
    at = [(math.log10(p) if log else p, 100 * covered) for covered, p in points.values()]
    pixels = [
        ((x - left) / (right - left) * _WIDTH, (high - y) / (high - low) * _HEIGHT) for x, y in at
    ]
    names = [cut(view.names[i], 24) for i in points]
    found = places.labels(pixels, names, _WIDTH, _HEIGHT)
    return [
        {
            "x": x,
            "y": y,
            "text": label(name, 24),
            "xanchor": "left" if dx > 0 else "right",
            "ax": dx,
            "ay": dy,
            "arrowhead": 0,
            "arrowwidth": 1,
            "arrowcolor": _GREY if abs(dy) > places.NEAR else "rgba(0,0,0,0)",
            "standoff": 7,
            "borderpad": 1,
        }
        for (x, y), name, (dx, dy) in zip(at, names, found, strict=True)
    ]
