"""What all charts share: the look of a model, safe labels, axes.

A chart is what ``page.js`` takes: ``data`` and ``layout`` for plotly.js, and beside them

- ``grow``: the height, of a fixed part and one for each row and each point that is shown;
- ``narrow``: labels for small screens, by the name of the axis;
- ``filter``: the choice (a select) that its traces belong to;
- ``scales``: what changes between a linear and a logarithmic axis.

Each trace says under ``meta`` which models it belongs to, and for which choices it is shown.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from harness.report.page.view import cut

Figure = dict[str, Any]

# Okabe and Ito's colours without black and yellow, which vanish on dark and on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7F87")
# As many as share no divisor with the colours, so that 56 models look different.
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "x",
    "pentagon",
)
WIDE, NARROW = 30, 15
"""How many letters a label may have."""


def look(place: int) -> tuple[str, str]:
    """Return the colour and the marker of the model at a place."""
    return COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)]


def label(name: str, longest: int = WIDE) -> str:
    """Return text that plotly.js shows as it is: it would read <b>, <a> and &amp; as markup.

    Examples
    --------
    >>> label("<b>A&B</b>")
    '&lt;b&gt;A&amp;B&lt;/b&gt;'
    """
    return html.escape(cut(name, longest), quote=False)


def full(name: str) -> str:
    """Return a whole name for a hover text, in lines of readable length."""
    text = cut(name, 240)
    lines = [text[i : i + 60] for i in range(0, len(text), 60)]
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def trace(models: list[int], pick: list[str] | None = None, **given: Any) -> Figure:
    """Return a trace of some models, shown for some choices."""
    meta = {"models": models, "pick": pick}
    return {"type": "scatter", "mode": "markers", "hoverinfo": "text", "meta": meta} | given


def marker(place: int, hollow: bool = False, size: int = 9) -> Figure:
    """Return the marker of a model."""
    colour, symbol = look(place)
    line = {"width": 1.5, "color": colour} if hollow else {"width": 0}
    return {"color": colour, "symbol": symbol + "-open" * hollow, "size": size, "line": line}


def whisker(value: float, ends: Any, colour: str) -> Figure:
    """Return a horizontal error bar from one end of an interval to the other."""
    low, high = ends or (value, value)
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value],
        "arrayminus": [value - low],
        "color": colour,
        "thickness": 1.5,
        "width": 0,
    }


def layout(x: Figure, y: Figure, **given: Any) -> Figure:
    """Return a layout with the common margins; the colours of text and lines come from CSS."""
    common: Figure = {"automargin": True, "fixedrange": True, "zeroline": False}
    common |= {"ticklabelstandoff": 4, "tickangle": 0}
    return {
        "xaxis": common | x,
        "yaxis": common | y,
        "margin": {"l": 8, "r": 16, "t": 8, "b": 40},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        **given,
    }


def row(place: int) -> str:
    """Return the category of a row; one that is a number could be taken for a place."""
    return f"row {place}"


def rows(labels: Sequence[str]) -> Figure:
    """Return a vertical axis of rows, the first on top; hidden ones leave no gap."""
    return {
        "type": "category",
        "autorange": "reversed",
        "tickmode": "array",
        "tickvals": [row(place) for place in range(len(labels))],
        "ticktext": list(labels),
        "showgrid": True,
    }


def title(text: str) -> Figure:
    """Return the title of an axis."""
    return {"text": html.escape(text, quote=False), "standoff": 12, "font": {"size": 12.5}}


def thinned(texts: list[str]) -> list[str]:
    """Return the labels of an axis on a small screen: about three of them.

    Examples
    --------
    >>> thinned(["1", "2", "5", "10", "20"])
    ['1', '', '5', '', '20']
    """
    every = max(1, -(-len(texts) // 3))
    return [text if i % every == 0 else "" for i, text in enumerate(texts)]


def log_axis(low: float, high: float) -> Figure:
    """Return a logarithmic axis from one value to another, its numbers written out.

    Examples
    --------
    >>> log_axis(0.0004, 0.0106)["ticktext"]
    ['0.0005', '0.001', '0.002', '0.005', '0.01']
    >>> log_axis(1.1, 1.35)["ticktext"]
    ['1.1', '1.2', '1.3']
    """
    ends = math.log10(low), math.log10(high)
    decades = range(math.floor(ends[0]), math.ceil(ends[1]))
    for enough, steps in _STEPS:
        ticks = [float(f"{step}e{n}") for n in decades for step in steps]
        kept = [tick for tick in ticks if low <= tick <= high]
        if len(kept) >= enough:
            break
    return {
        "type": "log",
        "range": list(ends),
        "tickmode": "array",
        "tickvals": kept,
        "ticktext": [f"{tick:,.10g}" if tick >= 1 else f"{tick:.10f}".rstrip("0") for tick in kept],
    }


_STEPS: tuple[tuple[int, Sequence[float]], ...] = (
    (4, (1,)),
    (3, (1, 2, 5)),
    (2, range(1, 10)),
    (0, [i / 10 for i in range(10, 100)]),
)
"""How many numbers an axis needs, and where they stand within a decade; the first that do."""
