"""A run as one HTML page that needs nothing else: charts, tables, and how to repeat it."""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from harness.core.errors import HarnessError
from harness.core.table import percent
from harness.report.page import tables, words
from harness.report.page.charts import base, parts, scores
from harness.report.page.view import View, cut
from harness.results.folder import part
from harness.results.run import Run
from harness.results.tables import ContradictionError
from harness.stats.slices import column_title

_BEGINNING = 1 << 12
_GENERATOR = b'<meta name="generator" content="submission-harness">'


def is_page(path: Path) -> bool:
    """Return whether a file is such a page."""
    with path.open("rb") as file:
        return _GENERATOR in file.read(_BEGINNING)


def page(run: Run) -> str:
    """Return the page.

    Raises
    ------
    UsageError
        The run was made by an earlier version, and lacks what the page shows.
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
    env.filters |= {"cut": cut, "percent": percent, "breakable": _breakable}
    return env.get_template("page.html.j2").render(_content(View(run)))


def _breakable(title: str) -> Markup:
    """Return a title that may break before a cut-off, and not behind a sign."""
    return Markup("<wbr>@").join(escape(title.replace("× ", "×\N{NO-BREAK SPACE}")).split("@"))


def _content(view: View) -> dict[str, Any]:
    """Return what the template shows."""
    spread, zeros, unread = _distributions(view)
    charts = _charts(view, spread)
    return {
        "view": view,
        "record": view.record,
        "evaluation": view.record.evaluation,
        "charts": charts,
        "zeros": zeros,
        "unread": unread,
        "models": tables.models(view),
        "folds": tables.folds(view),
        "pairs": tables.pairs(view),
        "correction": tables.correction(view),
        "by": [column_title(by) for by in tables.slice_columns(view)],
        "slices": tables.slices(view),
        "estimates": tables.leaderboard_estimates(view),
        "rank_flips": tables.rank_flips(view),
        "few_public": tables.few(view),
        "verdicts": view.verdicts,
        "short": words.in_short(view),
        "made_of": words.made_of(view),
        "few": any(part.small for part in view.record.slices),
        "look": base.look,
        "symbols": base.SYMBOLS,
        "environment": _environment(view.run),
        "config": _config(view.run),
        "seed": _seed(view),
        **_code(charts),
    }


def _charts(view: View, spread: list[base.Figure]) -> dict[str, base.Figure]:
    """Return the figures that there is anything to draw for, by name."""
    found = {
        "chance": scores.against_chance(view),
        "differences": parts.differences(view),
        "growth": scores.growth(view),
        "slices": parts.slices(view, tables.slice_columns(view)),
        "coverage": parts.coverage(view),
        **{f"users-{i}": figure for i, figure in enumerate(spread)},
    }
    return {name: figure for name, figure in found.items() if figure is not None}


def _distributions(view: View) -> tuple[list[base.Figure], list[float], str]:
    """Return histograms of users, the shares of users at 0, or else why there are none."""
    try:
        user_scores = scores.by_user(view)
    except ContradictionError:
        raise
    except (HarnessError, ValueError) as error:
        return [], [], f"The per-user values cannot be read: {error}"
    if user_scores is None:
        return [], [], f"{view.metric} has one value for all lists, none for a user."
    figures = scores.distributions(user_scores)
    zeros = [float((values == 0).mean()) for values in user_scores]
    return figures, zeros, "" if figures else "Every user's value is 0 for every model."


def _environment(run: Run) -> dict[str, str]:
    try:
        return run.environment
    except (HarnessError, AttributeError):
        return {}


def _config(run: Run) -> str:
    try:
        return part(run.folder, "config.toml").read_text(encoding="utf-8")
    except (HarnessError, OSError, ValueError):
        return ""


def _seed(view: View) -> int | None:
    """Return the evaluation's seed as its config says it."""
    try:
        return int(tomllib.loads(_config(view.run))["evaluation"]["seed"])
    except (ValueError, KeyError, TypeError):
        return None


def _code(charts: Mapping[str, base.Figure]) -> dict[str, Any]:
    """Return the style, the scripts and the data, safe inside their elements.

    The policy names the scripts by their hashes, so a browser runs no other, whatever a name holds.
    """
    here = files("harness.report.page")
    plotly = files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8")
    own = here.joinpath("page.js").read_text("utf-8")
    scripts = [script.replace("</script", r"<\/script") for script in (plotly, own)]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()) for script in scripts]
    hashes = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src {hashes}"
    )
    style = here.joinpath("style.css").read_text("utf-8")
    return {
        "policy": policy,
        "style": Markup(style),  # noqa: S704 - our own file
        "scripts": [Markup(script) for script in scripts],  # noqa: S704 - ours, and the library's
        "figures": Markup(embedded(charts)),  # noqa: S704 - see there
    }


def embedded(value: object) -> str:
    r"""Return JSON for a script element: no letter of it can end the element or open a comment.

    Examples
    --------
    >>> embedded("</script><!-- &")
    '"\\u003c/script\\u003e\\u003c!-- \\u0026"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\N{LINE SEPARATOR}\N{PARAGRAPH SEPARATOR}":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
