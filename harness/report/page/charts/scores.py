"""Charts of scores: every model's means, and how values differ from user to user."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.core.table import percent
from harness.report.page.charts import base
from harness.report.page.charts.base import Figure, full, label
from harness.report.page.view import View, shown, spread
from harness.results.folder import PER_USER
from harness.stats.folds import values_of

if TYPE_CHECKING:
    from harness.core.arrays import Floats

_BINS = 20


def distributions(user_scores: list[Floats]) -> list[Figure]:
    """Return a small histogram for each model of the per-user values that are not 0."""
    others = np.concatenate([values[values != 0] for values in user_scores])
    if not others.size:
        return []
    low, high = min(0.0, float(others.min())), float(others.max())
    high = 1.0 if low >= 0 and 0.5 < high <= 1 else max(high, low + 1e-12)
    edges = np.linspace(low, high, _BINS + 1)
    counts = [np.histogram(values[values != 0], edges)[0] for values in user_scores]
    top = max(float((c / len(v)).max()) for c, v in zip(counts, user_scores, strict=True))
    x = {"range": [float(edges[0]), float(edges[-1])], "showgrid": False, "nticks": 6}
    y = {"range": [0, 105 * top], "ticksuffix": " %", "nticks": 4}
    small = {"margin": {"l": 8, "r": 12, "t": 6, "b": 24}, "bargap": 0.12}
    figures = []
    for i, (sizes, values) in enumerate(zip(counts, user_scores, strict=True)):
        texts = [
            f"{low:.3g} to {high:.3g}: {percent(count / len(values))} of users ({count:,})"
            for low, high, count in zip(edges[:-1], edges[1:], sizes.tolist(), strict=True)
        ]
        bars = base.trace(
            [i],
            type="bar",
            x=((edges[:-1] + edges[1:]) / 2).round(9).tolist(),
            y=(100 * sizes / len(values)).round(7).tolist(),
            hovertext=texts,
            marker={"color": base.look(i)[0]},
        )
        del bars["mode"]
        layout = base.layout(x, y, **small)
        figures.append({"data": [bars], "layout": layout, "grow": {"base": 150}})
    return figures


def by_user(view: View) -> list[Floats] | None:
    """Return each model's per-user values of the first metric, the mean over repeats.

    They are read by their column, so that no metric of the user's own has to be imported.
    """
    folds, by_model = view.run.folds, []
    for model in view.models:
        several = []
        for fold in folds:
            rows = fold.table(PER_USER, model.name)
            if view.metric not in rows.columns:
                return None
            values = rows[view.metric].to_numpy()
            several.append(values.reshape(-1, len(fold.user_ids)).mean(axis=0))
        by_model.append(values_of(several, [fold.user_ids for fold in folds]))
    return by_model


_FAR_APART = 12
"""Means that differ by this factor are easier to compare on a logarithmic axis."""


def against_chance(view: View) -> Figure:
    """Return every model's mean and interval, and the line of chance with its band."""
    names = [label(name) for name in view.names]
    linear, log = _linear(view), _log(view)
    x = {"title": base.title(view.metric)} | linear
    found = base.layout(x, base.rows(names), shapes=_line(view), annotations=_word(view))
    found["margin"]["t"] = 24
    narrow = {"yaxis": [label(name, base.NARROW) for name in view.names]}
    scales = {"linear": _scale(view, linear)}
    if log:
        scales["log"] = _scale(view, log)
        narrow["xaxis"] = base.thinned(log["ticktext"])
    return {
        "data": [_mean(view, i) for i in range(len(view.models))],
        "layout": found,
        "grow": {"base": 104, "row": 26},
        "narrow": narrow,
        "scales": scales,
        "scale": first_scale(view, scales),
    }


def first_scale(view: View, scales: Mapping[str, Any]) -> str:
    """Return the scale that the chart begins with."""
    means = [view.mean(m) for m in view.models]
    far = "log" in scales and min(means) > 0 and max(means) > _FAR_APART * min(means)
    return "log" if far else "linear"


def _mean(view: View, i: int) -> Figure:
    model = view.models[i]
    mean, ends = view.mean(model), view.ends(model)
    text = (
        f"<b>{full(view.names[i])}</b><br>{label(view.metric)} {shown(mean, view.decimals)}"
        f"<br>95 % interval {spread(ends, view.decimals)}"
    )
    return base.trace(
        [i],
        x=[mean],
        y=[base.row(i)],
        hovertext=[text],
        marker=base.marker(i, size=10),
        error_x=base.whisker(mean, ends, base.look(i)[0]),
    )


def _line(view: View) -> list[Figure]:
    if view.chance is None:
        return []
    mean, sd = view.chance.mean, view.chance.sd
    tall = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    line = {"type": "line", "x0": mean, "x1": mean, "line": {"width": 1.5, "dash": "4px,3px"}}
    if sd is None:
        return [tall | line]
    low = max(mean - sd, mean / 1000)  # a logarithmic axis has no 0
    band = {"type": "rect", "x0": low, "x1": mean + sd, "line": {"width": 0}, "opacity": 0.16}
    return [tall | band | {"fillcolor": "#7A7F87"}, tall | line]


def _word(view: View) -> list[Figure]:
    if view.chance is None:
        return []
    text = f"chance {shown(view.chance.mean, view.decimals)}"
    place = {"x": view.chance.mean, "y": 1, "yref": "paper", "yanchor": "bottom"}
    return [{"text": text, "showarrow": False, "xanchor": "left", **place}]


def _shown_values(view: View) -> list[float]:
    """Return every value that the chart shows."""
    means = [view.mean(m) for m in view.models]
    ends = [end for m in view.models for end in view.ends(m) or ()]
    chance = view.chance
    return [*means, *ends, *([chance.mean, chance.mean + (chance.sd or 0)] if chance else [])]


def _linear(view: View) -> Figure:
    """Return an axis from 0, or from below it where a value is."""
    values = _shown_values(view)
    low, high = min(0.0, *values), max(0.0, *values)
    margin = 0.06 * (high - low) or 1.0
    return {
        "type": "linear",
        "range": [low - margin * (low < 0), high + margin],
        "tickmode": "auto",
    }


def _log(view: View) -> Figure | None:
    """Return a logarithmic axis, where every mean is above 0."""
    if min(view.mean(m) for m in view.models) <= 0:
        return None
    positive = [value for value in _shown_values(view) if value > 0]
    return base.log_axis(min(positive) * 0.7, max(positive) * 1.4)


def _scale(view: View, axis: Figure) -> Figure:
    """Return what the chart changes to show an axis; labels are moved along."""
    changes: Figure = {f"xaxis.{name}": value for name, value in axis.items()}
    if view.chance is None:
        return changes
    at = view.chance.mean
    return changes | {"annotations[0].x": math.log10(at or 1) if axis["type"] == "log" else at}


def growth(view: View) -> Figure | None:
    """Return the first metric at every cut-off, or nothing where it has none."""
    if not any(len(m.curve) > 1 for m in view.models):
        return None
    longest = max(k for m in view.models for k in m.curve)
    x: Figure = {"title": base.title("length of the list, k"), "range": [0.6, longest * 1.02 + 0.2]}
    x |= {"showgrid": False} | ({"dtick": 1} if longest <= 15 else {})
    y = {"title": base.title(view.metric.partition("@")[0] + "@k"), "rangemode": "tozero"}
    lines = []
    for i, model in enumerate(view.models):
        if not model.curve:
            continue
        texts = [
            f"<b>{full(view.names[i])}</b><br>k = {k}: {shown(v, view.decimals)}"
            for k, v in model.curve.items()
        ]
        line = base.trace(
            [i],
            mode="lines+markers",
            cliponaxis=False,
            x=list(model.curve),
            y=list(model.curve.values()),
            hovertext=texts,
            marker=base.marker(i, size=7),
            line={"color": base.look(i)[0], "width": 1.75},
        )
        lines.append(line)
    return {"data": lines, "layout": base.layout(x, y), "grow": {"base": 380}}
