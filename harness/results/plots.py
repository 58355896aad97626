"""The charts of a run, drawn with matplotlib: for a paper, a notebook and the report page."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

import numpy as np

from harness.core.errors import UsageError, printable, suggest
from harness.core.table import percent, shortened
from harness.results import wording
from harness.results.record import RunRecord
from harness.stats.pairwise import OPPOSITE
from harness.stats.slices import column_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.core.arrays import Floats

BEST, BASELINE, CHANCE, REST = "#0072b2", "#d55e00", "#00855f", "#7a7f87"
"""Colours of the best model, the baseline, chance, and all others (after Okabe and Ito)."""
INK, GRID = "#1b2026", "#d5dae0"
"""Colours of text and of lines behind the data."""
HOVER = "hover: "  # what the ids of artists begin with that have a text to show on hover

_FAR_APART = 12  # means that differ by this factor are easier to compare on a logarithmic axis
_FONT = 9
_LINE = 1.35 * _FONT  # points from one label to the next


@dataclass(frozen=True, eq=False)
class Plots:
    """The charts of a run: ``result.plot.forest()``.

    Each method draws on `ax`, or on the Axes of a new figure, and returns the Axes. The best model
    has one colour, the baseline one, chance one; all others are grey.

    Examples
    --------
    >>> import harness.results.run
    >>> ax = harness.results.run.read("runs/demo").plot.forest()  # doctest: +SKIP
    >>> ax.figure.savefig("forest.pdf")  # doctest: +SKIP
    """

    record: RunRecord
    by_user: Callable[[], Sequence[Floats] | None]
    """Returns each model's values of the first metric, one a user, where there are any."""
    longest: int = 30
    """How many letters of a model's name a label shows."""
    width: float | None = None
    """In inches, of figures that pyplot does not know; by default it shows them."""

    def forest(self, ax: Axes | None = None, *, log: bool | None = None) -> Axes:
        """Draw every model's mean with its 95 % interval, and the line of chance.

        Parameters
        ----------
        log : bool, optional
            Whether the axis is logarithmic; by default where means are far apart.
        """
        record, models = self.record, self.record.models
        ax = self._rows(ax, list(self._labels.values()))
        metric, chance = record.metric, record.chance.get(record.metric)
        for row, model in enumerate(models):
            mean, ends = model.metrics[metric].mean, model.metrics[metric].ci95
            text = f"{printable(model.name)}: {self._number(mean)}{self._ends(ends)}"
            _interval(ax, row, mean, ends, self._colour(model.name), text)
        means = [model.metrics[metric].mean for model in models]
        if chance is not None:
            ax.axvline(chance.mean, color=CHANCE, linestyle=(0, (4, 3)), linewidth=1.4, zorder=1)
            if chance.sd is not None:
                low, high = chance.mean - chance.sd, chance.mean + chance.sd
                ax.axvspan(low, high, color=CHANCE, alpha=0.15, linewidth=0)
            ax.annotate(
                f"chance {self._number(chance.mean)}",
                (chance.mean, 1),
                xytext=(0, 3),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                color=CHANCE,
                fontsize=_FONT,
            )
        positive = min(means) > 0
        if log and not positive:
            raise UsageError(
                f"{metric}: a mean is 0 or less, so a logarithmic axis is not possible"
            )
        if positive and (log or (log is None and max(means) > _FAR_APART * min(means))):
            _logarithmic(ax)
        else:
            ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        ax.set_xlabel(printable(metric), parse_math=False)
        return ax

    def differences(self, ax: Axes | None = None, *, to: str | None = None) -> Axes:
        """Draw the difference of each model to one of them, with its 95 % interval.

        Parameters
        ----------
        to : str, optional
            A model; by default the baseline of the run, or else the best model.
        """
        comparison = self.record.comparison
        if comparison is None:
            raise UsageError("this run compares no two models, so there is no difference")
        names = [model.name for model in self.record.models]
        base = to or comparison.baseline or names[0]
        if base not in names:
            raise UsageError(f'no model "{printable(base)}"; {suggest(base, names)}')
        pairs = {p.other if p.one == base else p.one: p for p in comparison.pairs
                 if base in (p.one, p.other)}  # fmt: skip
        if not pairs:
            raise UsageError(
                f'"{printable(base)}" is not compared with the others, only with '
                f'"{printable(comparison.baseline or "")}"; remove to='
            )
        rows = [name for name in names if name in pairs]
        ax = self._rows(ax, [self._labels[name] for name in rows])
        ax.axvline(0, color=self._colour(base), linewidth=1.4, zorder=1)
        for row, name in enumerate(rows):
            pair, sign = pairs[name], 1 if pairs[name].one == name else -1
            low, high = sorted(sign * end for end in pair.ci95 or (pair.difference,) * 2)
            tied = pair.verdict == "tied"
            word = pair.verdict if sign > 0 else OPPOSITE[pair.verdict]
            text = (
                f"{printable(name)} − {printable(base)}: {self._number(sign * pair.difference)}"
                f"{self._ends((low, high))}, {word}"
            )
            colour, difference = self._colour(name), sign * pair.difference
            _interval(ax, row, difference, (low, high), colour, text, hollow=tied)
        title = f"difference in {printable(comparison.metric)} to {self._labels[base]}"
        ax.set_xlabel(title, parse_math=False)
        return ax

    def by_k(self, ax: Axes | None = None) -> Axes:
        """Draw the first metric for every length of the list."""
        curves = {model.name: model.curve for model in self.record.models if len(model.curve) > 1}
        if not curves:
            raise UsageError(f"{self.record.metric} has no curve over list lengths")
        ax = self._lines(ax, curves, "k = {}")
        ax.set_xlabel("length of the list, k")
        metric = printable(self.record.metric).partition("@")[0]
        ax.set_ylabel(f"{metric}@k", parse_math=False)
        return ax

    def folds(self, ax: Axes | None = None) -> Axes:
        """Draw the first metric in every fold, the earliest first."""
        record = self.record
        if not record.folds:
            raise UsageError(
                "this run has one evaluation set and no folds; set [split] folds to get them"
            )
        means = {
            model.name: {
                n: fold.metric_of(model.name, record.metric)
                for n, fold in enumerate(record.folds, 1)
            }
            for model in record.models
        }
        ax = self._lines(ax, means, "fold {}")
        ax.set_xlabel("fold, the earliest first")
        ax.set_ylabel(printable(record.metric), parse_math=False)
        return ax

    def _lines(self, ax: Axes | None, lines: Mapping[str, Mapping[int, float]], place: str) -> Axes:
        from matplotlib.ticker import MaxNLocator

        ax = self._axes(ax, max(3.4, (len(lines) + 3) * _LINE / 72))
        for name, values in reversed([*lines.items()]):  # the best one on top
            colour = self._colour(name)
            (line,) = ax.plot(*zip(*values.items(), strict=True), color=colour, linewidth=1.6)
            line.set_gid(HOVER + printable(name))
            for x, y in [*values.items()][:: -max(1, len(values) // 12)]:
                text = f"{printable(name)}, {place.format(x)}: {self._number(y)}"
                _point(ax, x, y, colour, text, 4)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if all(y >= 0 for values in lines.values() for y in values.values()):
            ax.set_ylim(bottom=0)
        self._names_beside(ax, {name: [*values.items()][-1] for name, values in lines.items()})
        return ax

    def spread(self, ax: Axes | None = None) -> Axes:
        """Draw how many users have which value of the first metric; models are rows.

        Values other than 0 are in four parts of about as many users, over all models; the darker,
        the higher.
        """
        metric, values = printable(self.record.metric), self.by_user()
        if values is None:
            raise UsageError(f"{metric} has one value for all lists, none per user")
        parts, shares = shares_of(values)
        ax = self._rows(ax, list(self._labels.values()))
        starts, rows = np.zeros(len(values)), range(len(values))
        for step, part in enumerate(parts):
            bars = ax.barh(rows, shares[step], 0.62, starts, label=part, clip_on=False)
            for bar, model, share in zip(bars, self.record.models, shares[step], strict=True):
                bar.set(facecolor=self._colour(model.name), alpha=0.15 + 0.85 * step / len(parts))
                name = printable(model.name)
                hover = f"{HOVER}{name}: {percent(share / 100)} of users at {part}"
                bar.set(gid=hover, in_layout=False)
            starts += shares[step]
        ax.set_xlim(0, 100)
        ax.set_xlabel(f"share of users by their {metric}, %", parse_math=False)
        legend = ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=max(2, int(ax.figure.bbox.width / ax.figure.dpi / 1.6)),
            frameon=False,
            fontsize=_FONT,
            labelcolor=INK,
            handlelength=1,
            columnspacing=1.2,
        )
        for handle in legend.get_patches():
            handle.set_facecolor(REST)
        return ax

    def slices(self, ax: Axes | None = None, *, by: str | None = None) -> Axes:
        """Draw every model's mean in each group of users.

        Parameters
        ----------
        by : str, optional
            A column of ``[compare] slices``; the first by default.
        """
        columns = list(dict.fromkeys(part.by for part in self.record.slices))
        if not columns:
            raise UsageError("this run has no groups of users; name columns in [compare] slices")
        by = by or columns[0]
        if by not in columns:
            raise UsageError(f'no groups by "{printable(by)}"; {suggest(by, columns)}')
        parts = [part for part in self.record.slices if part.by == by]
        texts = shortened([printable(part.label) for part in parts], self.longest)
        rows = [f"{text}\nn = {part.users:,}" for text, part in zip(texts, parts, strict=True)]
        ax = self._rows(ax, rows, 0.4)
        for row, part in enumerate(parts):
            for name, estimate in reversed([*part.models.items()]):
                colour = self._colour(name)
                text = (
                    f"{printable(name)}, {printable(part.label)}: {self._number(estimate.mean)}"
                    f"{self._ends(estimate.ci95)}{', too few users to tell' if part.small else ''}"
                )
                ends = estimate.ci95 if colour != REST else None
                _interval(ax, row, estimate.mean, ends, colour, text, hollow=part.small)
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        metric, title = printable(self.record.metric), printable(column_title(by))
        ax.set_xlabel(f"{metric}, users by {title}", parse_math=False)
        return ax

    def coverage(self, ax: Axes | None = None) -> Axes:
        """Draw how much of the catalogue each model lists, by how popular its items are."""
        points = {
            model.name: (described["Popularity"], 100 * described["Coverage"])
            for model in self.record.models
            if (described := {name.partition("@")[0]: v for name, v in model.described.items()})
            .keys() >= {"Coverage", "Popularity"}
        }  # fmt: skip
        if not points:
            raise UsageError("coverage and popularity were not measured in this run")
        ax = self._axes(ax, 4.2)
        for name, (popularity, covered) in reversed([*points.items()]):
            shown = f"coverage {percent(covered / 100)}, popularity {popularity:,.1f}"
            _point(ax, popularity, covered, self._colour(name), f"{printable(name)}: {shown}", 8)
        if all(popularity > 0 for popularity, _ in points.values()):
            _logarithmic(ax)
        ax.set_xlabel("mean training events of the items listed")
        ax.set_ylabel("share of the candidates listed, %")
        self._names_beside(ax, points)
        return ax

    def _axes(self, ax: Axes | None, height: float) -> Axes:
        """Return an Axes in the style of all charts; of a new figure of that height in inches."""
        if ax is None and self.width is None:
            from matplotlib import pyplot as plt

            ax = plt.subplots(figsize=(7.2, height), layout="constrained")[1]
        elif ax is None:
            from matplotlib.figure import Figure

            ax = Figure((self.width or 0, height), layout="constrained").subplots()
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(GRID)
        ax.tick_params(which="both", colors=INK, labelsize=_FONT, length=0)
        ax.xaxis.label.set(color=INK, fontsize=_FONT + 0.5, wrap=True)
        ax.yaxis.label.set(color=INK, fontsize=_FONT + 0.5)
        ax.grid(color=GRID, linewidth=0.7)
        ax.set_axisbelow(True)
        return ax

    def _rows(self, ax: Axes | None, texts: Sequence[str], height: float = 0.27) -> Axes:
        """Return an Axes with a row for each text, the first on top."""
        ax = self._axes(ax, 1.0 + height * len(texts))
        ax.set_yticks(range(len(texts)), texts, parse_math=False)
        ax.set_ylim(len(texts) - 0.4, -0.6)
        ax.locator_params(axis="x", nbins=int(ax.figure.bbox.width / ax.figure.dpi))
        ax.grid(axis="y", visible=False)
        return ax

    def _names_beside(self, ax: Axes, points: Mapping[str, tuple[float, float]]) -> None:
        """Write names in a column right of the Axes, each as near to its point as there is room."""
        points = dict(sorted(points.items(), key=lambda point: -point[1][0]))  # lines cross less
        height = ax.get_window_extent().height * 72 / ax.figure.dpi
        low, high = ax.get_ylim()
        wanted = [(y - low) / (high - low) * height for _, y in points.values()]
        for (name, point), y in zip(points.items(), apart(wanted, _LINE, height), strict=True):
            colour = self._colour(name)
            ax.annotate(
                self._labels[name],
                point,
                xytext=(1.03, y / height),
                textcoords="axes fraction",
                color=INK if colour == REST else colour,
                fontsize=_FONT,
                verticalalignment="center",
                annotation_clip=False,
                parse_math=False,
                arrowprops={
                    "arrowstyle": "-",
                    "color": colour,
                    "alpha": 0.4,
                    "relpos": (0, 0.5),
                    "patchA": None,  # to cut the line at the text's box takes long
                    "shrinkA": 4,
                },
            )

    @cached_property
    def _labels(self) -> dict[str, str]:
        return labels([model.name for model in self.record.models], self.longest)

    def _colour(self, name: str) -> str:
        comparison = self.record.comparison
        if name == self.record.models[0].name:
            return BEST
        return BASELINE if comparison and name == comparison.baseline else REST

    def _number(self, value: float) -> str:
        return f"{value:,.{wording.decimals_of(self.record)}f}".replace("-", "−")

    def _ends(self, ends: Sequence[float] | None) -> str:
        return "" if ends is None else f" ({' … '.join(map(self._number, ends))})"


def as_svg(ax: Axes, name: str) -> str:
    """Return a chart as an SVG document in which text stays text; `name` makes its ids differ."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure, svg = ax.get_figure(root=True), StringIO()
    assert figure is not None, "charts are on figures"  # noqa: S101
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), catch_warnings():
        filterwarnings("ignore", "Glyph .* missing from font")  # a browser's fonts have it
        canvas: Any = FigureCanvasSVG(figure)  # savefig draws twice
        canvas.print_svg(svg, metadata={"Date": None, "Creator": None})
    return svg.getvalue()


def image(ax: Axes, text: str) -> str:
    """Return a chart as an image element of HTML, with a text that stands for it."""
    data = base64.b64encode(as_svg(ax, "chart").encode()).decode("ascii")
    return f'<img alt="{html.escape(text)}" src="data:image/svg+xml;base64,{data}">'


def label(name: str, longest: int) -> str:
    """Return a name short enough for a label; both ends stay, as names often differ at the end."""
    return shortened([printable(name)], longest)[0]


def labels(names: Sequence[str], longest: int) -> dict[str, str]:
    """Return a label for each name; names that would look alike show where they differ."""
    return dict(zip(names, shortened(list(map(printable, names)), longest), strict=True))


def shares_of(values: Sequence[Floats]) -> tuple[list[str], list[Floats]]:
    """Return parts of the values that users have, and each model's share of users in them, in %.

    Examples
    --------
    One of two users has 0. The others' values are one part, as they are equal.

    >>> shares_of([np.array([0.0, 0.5])])
    (['0', '0.5'], [array([50.]), array([50.])])
    """
    nonzero, n_users = [of_model[of_model != 0] for of_model in values], len(values[0])
    every = np.concatenate(nonzero)
    zeros = 100 * (np.array([n_users - len(some) for some in nonzero]) / n_users)
    edges = np.unique(np.quantile(every, [0, 0.25, 0.5, 0.75, 1])) if len(every) else every
    if len(edges) == 1:
        return ["0", f"{edges[0]:.2g}"], [zeros, 100 - zeros]
    counts = [np.histogram(of_model, edges)[0] for of_model in nonzero] if len(edges) else []
    parts = [f"{low:.2g} to {high:.2g}" for low, high in pairwise(edges.tolist())]
    return ["0", *parts], [zeros, *(100 * (np.transpose(counts) / n_users))]


def _logarithmic(ax: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1,) if high > 100 * low else (1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def _interval(
    ax: Axes,
    row: float,
    mean: float,
    ends: Sequence[float] | None,
    colour: str,
    text: str,
    *,
    hollow: bool = False,
) -> None:
    if ends is not None:
        ax.plot(ends, (row, row), color=colour, linewidth=1.6, solid_capstyle="butt", zorder=2)
    _point(ax, mean, row, colour, text, 7, hollow=hollow)


def _point(
    ax: Axes, x: float, y: float, colour: str, text: str, size: float, *, hollow: bool = False
) -> None:
    face = "none" if hollow else colour
    (point,) = ax.plot(x, y, "o", color=colour, markerfacecolor=face, markersize=size, zorder=3)
    point.set(gid=HOVER + text, clip_on=False, in_layout=False)


def apart(places: Sequence[float], gap: float, high: float) -> list[float]:
    """Return places from 0 to `high` that are a gap apart, in the same order, moved a little.

    Where there is no room for all, they reach beyond 0.

    Examples
    --------
    Three labels want to stand at 10, 11 and 30. Two of them move by half of what is missing.

    >>> apart([10, 11, 30], 5, 100)
    [8.0, 13.0, 30.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[tuple[float, int]] = []  # the middle of labels that touch, and how many they are
    for i in order:
        middle, n = min(float(places[i]), high), 1
        while groups and middle - n * gap / 2 < groups[-1][0] + groups[-1][1] * gap / 2:
            last, m = groups.pop()
            middle, n = (middle * n + last * m) / (n + m), n + m
        half = (n - 1) * gap / 2
        groups.append((min(max(middle, half), high - half), n))
    placed = [middle + (i - (n - 1) / 2) * gap for middle, n in groups for i in range(n)]
    return [placed[order.index(i)] for i in range(len(places))]
