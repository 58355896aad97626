"""A chart as SVG within a page: text stays text, and its colours are those of the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from markupsafe import Markup

from harness.results import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_COLOURS = {
    plots.BEST: "var(--best)",
    plots.BASELINE: "var(--baseline)",
    plots.CHANCE: "var(--chance)",
    plots.REST: "var(--rest)",
    plots.INK: "var(--ink)",
    plots.GRID: "var(--grid)",
}


def svg(name: str, ax: Axes) -> Markup:
    """Return a chart as an SVG element, as wide as there is room.

    Its ids begin with `name`, which no other chart of the page has.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None, "charts are on figures"  # noqa: S101
    figure.set_facecolor("none")
    ax.set_facecolor("none")
    root = ElementTree.fromstring(plots.as_svg(ax, name))  # noqa: S314 - what matplotlib has just written
    for child in [*root]:
        if child.tag == f"{_SVG}metadata" or child.find(f"{_SVG}style") is not None:
            root.remove(child)
    del root.attrib["width"], root.attrib["height"]
    for element in root.iter():
        _embed(element, name)
    ElementTree.register_namespace("", _SVG[1:-1])
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - texts are escaped


def _embed(element: ElementTree.Element, name: str) -> None:
    """Give an element a hover text, an id that no other chart has, and the page's colours."""
    attributes = element.attrib
    id_, target = attributes.pop("id", ""), attributes.pop(_HREF, "")
    if id_.startswith(plots.HOVER):
        title = ElementTree.Element(f"{_SVG}title")
        title.text = id_.removeprefix(plots.HOVER)
        element.insert(0, title)
    elif id_ and element.tag != f"{_SVG}g":
        attributes["id"] = f"{name}-{id_}"
    if target:
        attributes["href"] = f"#{name}-{target[1:]}"
    if "clip-path" in attributes:
        attributes["clip-path"] = attributes["clip-path"].replace("#", f"#{name}-")
    if "-0" in attributes.get("transform", ""):
        del attributes["transform"]  # matplotlib turns level text by −0°
    for key in attributes.keys() & {"d", "x", "y"}:  # no screen shows more
        attributes[key] = re.sub(r"\d+\.\d+", lambda n: f"{float(n[0]):.2f}", attributes[key])
    style = attributes.get("style", "")
    style = re.sub("#[0-9a-f]{6}", lambda colour: _COLOURS.get(colour[0], colour[0]), style)
    if style:  # the page chooses the typeface
        attributes["style"] = re.sub("; font-family: [^;]*", "", style)
    if not (element.text or "").strip():
        element.text = None
    element.tail = None
