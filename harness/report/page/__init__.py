"""A run as one HTML page that needs nothing else: charts, tables, and how to repeat it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from markupsafe import Markup, escape

from harness.core.errors import HarnessError
from harness.core.table import percent
from harness.report.page import tables, words
from harness.report.page.svg import svg
from harness.report.page.users import users_of
from harness.report.page.view import View
from harness.results.folder import part
from harness.results.plots import label
from harness.results.run import Run
from harness.results.tables import ContradictionError
from harness.stats.slices import column_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")
_BEGINNING = 1 << 12
_GENERATOR = b'<meta name="generator" content="submission-harness">'


def is_page(path: Path) -> bool:
    """Return whether a file is such a page."""
    with path.open("rb") as file:
        return _GENERATOR in file.read(_BEGINNING)


def page(run: Run, users: int | None = None) -> str:
    """Return the page, with so many users to look at one by one; see `users_of`.

    Raises
    ------
    DataError
        Its scores contradict its result.json.
    """
    import jinja2

    loader = jinja2.PackageLoader("harness.report.page", "")
    env = jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    env.filters |= {"cut": label, "percent": percent, "breakable": _breakable}
    return env.get_template("page.html.j2").render(_content(View(run)) | users_of(run, users))


def _breakable(title: str) -> Markup:
    """Return a title that may break before a cut-off, and not behind a sign."""
    return Markup("<wbr>@").join(escape(title.replace("× ", "×\N{NO-BREAK SPACE}")).split("@"))


def _content(view: View) -> dict[str, Any]:
    """Return what the template shows."""
    slices, run = tables.slices(view), view.run
    charts, missing = _charts(view, list(slices))
    return {
        "view": view,
        "record": view.record,
        "evaluation": view.record.evaluation,
        "charts": charts,
        "missing": missing,
        "models": tables.models(view),
        "folds": tables.folds(view),
        "pairs": tables.pairs(view),
        "correction": tables.correction(view),
        "slices": {column_title(by): table for by, table in slices.items()},
        "estimates": tables.leaderboard_estimates(view),
        "rank_flips": tables.rank_flips(view),
        "few_public": tables.few(view),
        "verdicts": view.verdicts,
        "short": words.in_short(view),
        "made_of": words.made_of(view),
        "few": any(part.small for part in view.record.slices),
        "environment": _readable(lambda: run.environment) or {},
        "config": _readable(lambda: part(run.folder, "config.toml").read_text(encoding="utf-8")),
        "seed": _readable(lambda: int(run.config["evaluation"]["seed"])),
        **_code(),
    }


def _readable(read: Callable[[], T]) -> T | None:
    """Return what a file of the run says; None where it cannot be read."""
    try:
        return read()
    except (HarnessError, OSError, ValueError, KeyError, TypeError):
        return None


_WIDTHS = {"wide": (8.6, 30), "narrow": (4.0, 14)}
"""Inches of a chart, and letters of a model's name in it: of a page, and of a small screen."""


def _charts(view: View, columns: list[str]) -> tuple[dict[str, dict[str, Markup]], dict[str, str]]:
    """Return each chart in both widths, or else why it cannot be drawn."""
    from matplotlib import style  # slow to import

    charts: dict[str, dict[str, Markup]] = {}
    missing = dict[str, str]()
    for size, (width, longest) in _WIDTHS.items():
        plot = replace(view.run.plot, longest=longest, width=width)
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
                with style.context("default"):  # whatever the user's own is
                    charts.setdefault(name, {})[size] = svg(f"{name}-{size}", chart())
            except ContradictionError:
                raise
            except (HarnessError, ValueError) as error:
                charts.pop(name, None)
                missing[name] = str(error)
    return charts, missing


def _code() -> dict[str, Any]:
    """Return the style and the script.

    The policy names the script by its hash, so a browser runs no other, whatever a name holds.
    """
    here = files("harness.report.page")
    script = "".join(here.joinpath(name).read_text("utf-8") for name in ("page.js", "users.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    style = here.joinpath("style.css").read_text("utf-8")
    return {"policy": policy, "style": Markup(style), "script": Markup(script)}  # noqa: S704 - ours
