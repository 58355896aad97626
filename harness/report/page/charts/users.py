"""How the first metric is spread over users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.report.numbers import percent
from harness.report.page.charts.base import Figure, layout, look, trace
from harness.report.page.view import View

if TYPE_CHECKING:
    from harness.metrics import Floats

_BINS = 20


def distributions(marks: list[Floats]) -> list[Figure]:
    """Return a small histogram for each model of the users' marks that are not 0."""
    others = np.concatenate([values[values != 0] for values in marks])
    if not others.size:
        return []
    low, high = min(0.0, float(others.min())), float(others.max())
    high = 1.0 if low >= 0 and 0.5 < high <= 1 else max(high, low + 1e-12)
    edges = np.linspace(low, high, _BINS + 1)
    counts = [np.histogram(values[values != 0], edges)[0] for values in marks]
    top = max(float((c / len(v)).max()) for c, v in zip(counts, marks, strict=True))
    return [_bars(i, c, len(marks[i]), edges, top) for i, c in enumerate(counts)]


def _bars(i: int, counts: Any, users: int, edges: Any, top: float) -> Figure:
    texts = [
        f"{low:.3g} to {high:.3g}: {percent(count / users)} of users ({count:,})"
        for low, high, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True)
    ]
    bars = trace(
        [i],
        type="bar",
        x=((edges[:-1] + edges[1:]) / 2).round(9).tolist(),
        y=(100 * counts / users).round(7).tolist(),
        hovertext=texts,
        marker={"color": look(i)[0]},
    )
    del bars["mode"]
    x = {"range": [float(edges[0]), float(edges[-1])], "showgrid": False, "nticks": 6}
    y = {"range": [0, 105 * top], "ticksuffix": " %", "nticks": 4}
    small = {"margin": {"l": 8, "r": 12, "t": 6, "b": 24}, "bargap": 0.12}
    return {"data": [bars], "layout": layout(x, y, **small), "grow": {"base": 150}}


def by_user(view: View) -> list[Floats] | None:
    """Return each model's marks under the first metric, a mean over repeats for each user.

    The marks are read by their column, so that no metric of the user's own has to be imported.
    """
    if view.metric not in view.run.marks.columns:
        return None
    of_models = (view.run.marks_of(m["name"])[view.metric].to_numpy() for m in view.models)
    n = len(view.run.user_ids)
    return [values.reshape(-1, n).mean(axis=0) for values in of_models]
