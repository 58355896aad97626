"""A run as one HTML page that needs nothing else: charts, tables, and how to repeat it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree

from markupsafe import Markup

from harness.core.errors import HarnessError, counted, in_toml, printable
from harness.core.progress import doing
from harness.core.table import Column, Sheet, digits_of, ends, number, percent
from harness.results import plots
from harness.results.folder import part
from harness.results.plots import label, labels
from harness.results.record import ModelRecord, RunRecord
from harness.results.run import Run
from harness.results.tables import ContradictionError
from harness.results.wording import (
    decimals_of,
    extreme,
    facts,
    folds_sheet,
    models_sheet,
    name_of,
    tuned_models,
)
from harness.stats.pairwise import pair_table
from harness.stats.slices import Slice, column_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")
_BEGINNING = 1 << 12
_GENERATOR = b'<meta name="generator" content="submission-harness">'
_NAME = 60
"""Letters of a model's name in a table."""


def is_page(path: Path) -> bool:
    """Return whether a file is such a page."""
    with path.open("rb") as file:
        return _GENERATOR in file.read(_BEGINNING)


def page(run: Run, users: int | None = None) -> str:
    """Return the page, with at most so many users to look at one by one; see `users_of`.

    DataError where the run's scores contradict its result.json.
    """
    import jinja2

    one_by_one = None
    if users is not None:
        from harness.report.users import users_of  # slow to import

        one_by_one = users_of(run, users)
    loader = jinja2.PackageLoader("harness.report", "")
    env = jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    env.filters |= {"cut": label, "figure": _figure, "tone": _tone}
    env.globals["zip"] = zip
    return env.get_template("page.html.j2").render(_content(run), users=one_by_one)


def _figure(text: str) -> str:
    """Return a figure with true minus signs, which may break into lines at its brackets alone."""
    text = re.sub(r" (?=[…%s])|(?<=[…±]) ", "\N{NO-BREAK SPACE}", text)
    return text.replace("-", "\N{MINUS SIGN}")


def _tone(cell: str, sheet: Sheet) -> str:
    """Return the colour of the word that a cell says, alone or behind a comma."""
    return next((sheet.styles[word] for word in cell.split(", ") if word in sheet.styles), "")


def _content(run: Run) -> dict[str, Any]:
    """Return what the template shows."""
    record, evaluation = run.record, run.record.evaluation
    chance, slices = record.chance.get(record.metric), _slice_tables(record)
    columns = list(dict.fromkeys(part.by for part in record.slices))
    charts, missing = _charts(run, columns)
    name = _readable(lambda: str(run.config["data"]["name"]))
    folder = _readable(lambda: Path(run.config["data"]["path"]).name)
    main, names = _main_table(record), [model.name for model in record.models]
    scores, *more = facts(record)
    return {
        "record": record,
        "evaluation": evaluation,
        "data": name or folder or evaluation.layout,
        "extreme": extreme(record),
        "scores": scores,
        "facts": more,
        "chance": chance and number(chance.mean, decimals_of(record)),
        "deviation": chance and number(chance.sd, decimals_of(record)),
        "charts": charts,
        "missing": missing,
        "names": names,
        "labels": labels([*names, *(row[0] for row in main.rows)], _NAME),
        "models": main,
        "folds": folds_sheet(record) if record.folds else None,
        "pairs": record.comparison and pair_table(record.comparison, record.shake_up),
        "slices": slices,
        "descriptions": _descriptions(record),
        "estimates": _leaderboard_estimates(record),
        "made_of": _made_of(record),
        "tuned": tuned_models(record),
        "environment": _readable(lambda: run.environment) or {},
        "config": _readable(lambda: part(run.folder, "config.toml").read_text(encoding="utf-8")),
        **_code(),
    }


def _main_table(record: RunRecord) -> Sheet:
    """Return the main table: the verdict stands beside the mean, chance beside the verdict."""
    sheet = models_sheet(record, verbose=True)
    mean, interval, lift, verdict = sheet.columns[1:5]
    lift = replace(lift, title="× chance")
    return replace(
        sheet,
        columns=[sheet.columns[0], mean, verdict, lift, interval, *sheet.columns[5:]],
        rows=[[row[0], row[1], row[4], row[3], row[2], *row[5:]] for row in sheet.rows],
    )


def _of_models(record: RunRecord, cells: dict[str, Callable[[ModelRecord], str]]) -> Sheet:
    columns = [Column(title, cell) for title, cell in cells.items()]
    return Sheet.of(record.models, [Column("model", name_of, "name"), *columns])


def _slice_tables(record: RunRecord) -> dict[str, Sheet]:
    """Return a table for each column of users, with a row a model and a column a group."""
    digits = decimals_of(record)

    def mean(part: Slice, model: ModelRecord) -> str:
        estimate = part.models[model.name]
        bounds = f" ({ends(estimate.ci95, digits)})" if estimate.ci95 else ""
        return number(estimate.mean, digits) + bounds

    return {
        column_title(by): _of_models(
            record, {f"{part.label}, n = {part.users:,}": partial(mean, part) for part in parts}
        )
        for by, parts in groupby(record.slices, key=lambda part: part.by)
    }


def _descriptions(record: RunRecord) -> Sheet:
    """Return the coverage and the popularity of every model's lists."""

    def shown(name: str, model: ModelRecord) -> str:
        value = model.described.get(name)
        if value is None:
            return ""
        return percent(value) if name.startswith("Coverage") else number(value, 1)

    names = dict.fromkeys(name for model in record.models for name in model.described)
    return _of_models(record, {name: partial(shown, name) for name in names})


def _leaderboard_estimates(record: RunRecord) -> Sheet | None:
    """Return every model's leaderboard estimates; None for a metric that has none."""
    bridge = record.bridge
    if bridge is None or not bridge.models:
        return None
    values = [v for by in bridge.models.values() for v in (by.window, by.sample) if v is not None]
    digits = max(decimals_of(record), digits_of(values))

    def estimated(key: str, model: ModelRecord) -> str:
        by = bridge.models[model.name]
        value = getattr(by, key)
        return "at least " * (by.at_least and value is not None) + number(value, digits)

    cells: dict[str, Callable[[ModelRecord], str]] = {
        f"these {counted(bridge.examined, 'user')}": lambda model: number(
            model.metrics[record.metric].mean, digits
        ),
        f"{counted(bridge.with_items or 0, 'user')} with true items": partial(estimated, "window"),
    }
    if bridge.sample is not None:
        ids = f"all {counted(bridge.sample, 'id')} of the sample submission"
        cells[ids] = partial(estimated, "sample")
    return _of_models(record, cells)


def _made_of(record: RunRecord) -> Sheet:
    """Return what each model is; runs of earlier versions do not say it."""

    def text(model: ModelRecord) -> str:
        if model.use is None:
            return f"lists of {', '.join(model.lists)}" if model.lists else ""
        params = [
            f"{key} = {'none' if value is None else in_toml(value)}"
            for key, value in model.params.items()
        ]
        base_models = f", made of {' and '.join(model.of)}" if model.of else ""
        return printable(f"{model.use}({', '.join(params)}){base_models}")

    columns = [Column("model", name_of, "name"), Column("made with", text, "words")]
    return Sheet.of(record.models, columns)


def _readable(read: Callable[[], T]) -> T | None:
    """Return what a file of the run says; None where it cannot be read."""
    try:
        return read()
    except (HarnessError, OSError, ValueError, KeyError, TypeError):
        return None


_WIDTHS = {"wide": (8.6, 34), "narrow": (4.0, 16)}
"""Inches of a chart, and letters of a model's name in it: of a page, and of a small screen."""


def _charts(run: Run, columns: list[str]) -> tuple[dict[str, dict[str, Markup]], dict[str, str]]:
    """Return each chart in both widths, or else why it cannot be drawn."""
    from matplotlib import style  # slow to import

    charts: dict[str, dict[str, Markup]] = {}
    missing = dict[str, str]()
    count = len(_WIDTHS) * (6 + len(columns))
    # The default style, whatever the user's own is.
    with doing("drawing charts", count, " charts") as stage, style.context("default"):
        for size, (width, longest) in _WIDTHS.items():
            plot = replace(run.plot, longest=longest, width=width)
            draw: dict[str, Callable[[], Axes]] = {
                "chance": plot.forest,
                "differences": plot.differences,
                "growth": plot.by_k,
                "folds": plot.folds,
                "users": plot.spread,
                "coverage": plot.coverage,
            }
            draw |= {f"slices-{n}": partial(plot.slices, by=by) for n, by in enumerate(columns)}
            for name, chart in draw.items():
                try:
                    charts.setdefault(name, {})[size] = _svg(f"{name}-{size}", chart())
                except ContradictionError:
                    raise
                except (HarnessError, ValueError) as error:
                    charts.pop(name, None)
                    missing[name] = str(error)
                stage.update()
    return charts, missing


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


def _svg(name: str, ax: Axes) -> Markup:
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


def _code() -> dict[str, Any]:
    """Return the style and the script."""
    # The policy names the script by its hash, so a browser runs no other, whatever a name holds.
    here = files("harness.report")
    script = "".join(here.joinpath(name).read_text("utf-8") for name in ("page.js", "users.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    style = here.joinpath("style.css").read_text("utf-8")
    return {"policy": policy, "style": Markup(style), "script": Markup(script)}  # noqa: S704 - ours
