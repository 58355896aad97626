"""Charts of pairs, slices and coverage; labels are put where none covers another or a point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.core.errors import counted
from harness.core.table import p_value, percent
from harness.report.page.charts import base
from harness.report.page.charts.base import Figure, full, label
from harness.report.page.view import View, cut, shown, spread
from harness.stats.pairwise import Pair
from harness.stats.slices import Slice, column_title

NEAR = 1
"""A label no further above or below its point needs no line to it."""

_LETTER, _LINE, _STEP = 7.0, 17.0, 19
_MOST = 12
"""Steps away from the point that are tried."""

Box = tuple[float, float, float, float]
Point = tuple[float, float]

VERDICTS = {"better": "#0072B2", "higher": "#0072B2", "worse": "#D55E00", "lower": "#D55E00"}
_GREY = "#7A7F87"
_WIDTH, _HEIGHT = 600.0, 320.0


def differences(view: View) -> Figure | None:
    """Return every pair's difference with its interval, one row each."""
    if view.comparison is None:
        return None
    pairs = view.comparison.pairs
    names = [f"{label(p.one)} − {label(p.other)}" for p in pairs]
    small = [f"{label(p.one, base.NARROW)}<br>− {label(p.other, base.NARROW)}" for p in pairs]
    x = {
        "title": base.title(f"difference in {view.metric}"),
        "zeroline": True,
        "zerolinewidth": 1.5,
    }
    x |= {"rangemode": "tozero"}
    return {
        "data": [_difference(view, i, pair) for i, pair in enumerate(pairs)],
        "layout": base.layout(x, base.rows(names)),
        "grow": {"base": 80, "row": 24, "narrow_row": 46},
        "narrow": {"yaxis": small},
        "filter": "pairs",
    }


def _difference(view: View, i: int, pair: Pair) -> Figure:
    colour = VERDICTS.get(pair.verdict, _GREY)
    models = [view.at[pair.one], view.at[pair.other]]
    places_ = view.decimals
    text = (
        f"<b>{full(pair.one)}</b><br>− <b>{full(pair.other)}</b>"
        f"<br>{shown(pair.difference, places_)} ({spread(pair.ci95, places_)})"
        f"<br>adjusted p {p_value(pair.p_adjusted)}: {pair.verdict}"
    )
    hollow = pair.verdict not in VERDICTS
    look_ = {"color": colour, "size": 9, "symbol": "circle-open" if hollow else "circle"}
    return base.trace(
        models,
        ["all", *map(str, models)],
        x=[pair.difference],
        y=[base.row(i)],
        hovertext=[text],
        marker=look_ | {"line": {"width": 1.5 if hollow else 0, "color": colour}},
        error_x=base.whisker(pair.difference, pair.ci95, colour),
    )


def slices(view: View, columns: list[str]) -> Figure | None:
    """Return every model's mean in every slice, the slices of one column at a time."""
    parts = view.record.slices
    if not parts:
        return None
    names, small = (
        [
            f"{label(part.label, longest)}<br>n = {part.users:,}{'<br>few users' * part.small}"
            for part in parts
        ]
        for longest in (30, 14)
    )
    x = {"title": base.title(view.metric), "rangemode": "tozero"}
    group = {"scattermode": "group", "scattergap": 0.2}
    return {
        "data": [
            _point(view, i, place, str(columns.index(part.by)), part)
            for place, part in enumerate(parts)
            for i in range(len(view.models))
        ],
        "layout": base.layout(x, base.rows(names) | {"showgrid": False}, **group),
        "grow": {"base": 80, "row": 14, "point": 13},
        "narrow": {"yaxis": small},
        "filter": "slices",
    }


def _point(view: View, i: int, place: int, pick: str, part: Slice) -> Figure:
    figure = part.models[view.names[i]]
    text = (
        f"<b>{full(view.names[i])}</b><br>{label(column_title(part.by))}: {label(part.label)}"
        f"<br>{shown(figure.mean, view.decimals)} ({spread(figure.ci95, view.decimals)})"
        f"<br>{counted(part.users, 'user')}{', too few to tell' if part.small else ''}"
    )
    return base.trace(
        [i],
        [pick],
        x=[figure.mean],
        y=[base.row(place)],
        orientation="h",
        offsetgroup=str(i),
        hovertext=[text],
        marker=base.marker(i, hollow=part.small),
        error_x=base.whisker(figure.mean, figure.ci95, base.look(i)[0]),
    )


def coverage(view: View) -> Figure | None:
    """Return how much of the catalogue each model shows, against how popular its items are."""
    points = dict(described(view))
    if not points:
        return None
    top = 100 * max(covered for covered, _ in points.values()) or 100
    log = all(popularity > 0 for _, popularity in points.values())
    low, high = (end(popularity for _, popularity in points.values()) for end in (min, max))
    if log:
        ratio = max(high / low, 2.0) ** 0.12
        axis = base.log_axis(low / ratio, high * ratio)
    else:
        axis = {"range": [low - 0.1 * (high - low) - 1, high + 0.1 * (high - low) + 1]}
    x = {"title": base.title("mean training events of the items listed")} | axis
    y: Figure = {
        "title": base.title("coverage"),
        "ticksuffix": " %",
        "range": [-0.08 * top, 1.12 * top],
    }
    data = []
    for i, (covered, popularity) in points.items():
        text = (
            f"<b>{full(view.names[i])}</b><br>coverage {percent(covered)}"
            f"<br>popularity {popularity:,.1f}"
        )
        place: Figure = {"x": [popularity], "y": [100 * covered]}
        marker = base.marker(i, size=11)
        data.append(base.trace([i], **place, hovertext=[text], marker=marker, cliponaxis=False))
    return {
        "data": data,
        "layout": base.layout(x, y, annotations=_labels(view, points, (axis["range"], y["range"]))),
        "labels": list(points),
        "narrow": {"xaxis": base.thinned(axis["ticktext"])} if log else {},
        "grow": {"base": 400},
    }


def described(view: View) -> list[tuple[int, tuple[float, float]]]:
    """Return each model's coverage and popularity, where both are known."""
    found = []
    for i, model in enumerate(view.models):
        figures = {name.partition("@")[0]: v for name, v in model.described.items()}
        if {"Coverage", "Popularity"} <= figures.keys():
            found.append((i, (figures["Coverage"], figures["Popularity"])))
    return found


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
    found = labels(pixels, names, _WIDTH, _HEIGHT)
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
            "arrowcolor": _GREY if abs(dy) > NEAR else "rgba(0,0,0,0)",
            "standoff": 7,
            "borderpad": 1,
        }
        for (x, y), name, (dx, dy) in zip(at, names, found, strict=True)
    ]


def labels(
    points: Sequence[Point], texts: Sequence[str], width: float, height: float
) -> list[tuple[int, int]]:
    """Return how far right of and below its point each label's near end is.

    Parameters
    ----------
    points : sequence of (x, y)
        In pixels of a picture of `width` and `height`, from its upper left corner.
    """
    taken: list[Box] = [(x - 7, y - 7, x + 7, y + 7) for x, y in points]
    found: dict[int, tuple[int, int]] = {}
    # From the right: lines to labels further left then pass none of those that are there.
    for i in sorted(range(len(points)), key=lambda i: -points[i][0]):
        point, text = points[i], texts[i]
        others = taken[:i] + taken[i + 1 :]
        free = (
            (place, box)
            for place, box in _tried(point, len(text) * _LETTER)
            if _inside(box, width, height) and not any(_overlap(box, other) for other in others)
        )
        place, box = next(free, ((11, 0), taken[i]))
        taken.append(box)
        found[i] = place
    return [found[i] for i in range(len(points))]


def _tried(point: Point, wide: float) -> Iterator[tuple[tuple[int, int], Box]]:
    """Yield positions of a label: beside its point, then above and below, to the right first."""
    away = [sign * step * _STEP for step in range(1, _MOST) for sign in (-1, 1)]
    places = [(11, 0), (-11, 0), *((11, down) for down in away), *((-11, down) for down in away)]
    for right, down in places:
        x, y = point[0] + right, point[1] + down
        left = x if right > 0 else x - wide
        yield (right, down), (left, y - _LINE / 2, left + wide, y + _LINE / 2)


def _inside(box: Box, width: float, height: float) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
