"""What the charts of a run draw, read from matplotlib's Axes."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
from conftest import refusal
from matplotlib.axes import Axes

from harness.core.errors import UsageError
from harness.results.plots import BASELINE, BEST, CHANCE, REST
from harness.results.record import RunRecord
from harness.results.run import Run

matplotlib.use("agg")
EVALUATION = {
    "k": 2,
    "users": 4,
    "candidates": 3,
    "fingerprint": "f" * 64,
    "fields": {},
    "funnel": (),
}
WIDE = "x" * 40 + " $a$"


def model(name: str, mean: float, **more: Any) -> dict[str, Any]:
    ends = (mean - 0.1, mean + 0.1)
    return {"name": name, "repeats": 1, "metrics": {"MAP@2": {"mean": mean, "ci95": ends}}, **more}


def pair(first: str, other: str, difference: float, verdict: str) -> dict[str, Any]:
    ends = (difference - 0.1, difference + 0.1)
    rest = dict.fromkeys(("relative", "effect_size", "detectable"))
    tests = {"p_t": 0.5, "p_sign_flip": 0.5, "p_adjusted": 0.5, "wins": 1, "ties": 2, "losses": 1}
    return {"one": first, "other": other, "difference": difference, "ci95": ends,
            "ci95_bootstrap": ends, "verdict": verdict, **rest, **tests}  # fmt: skip


def run_of(models: Iterable[Mapping[str, Any]], **parts: Any) -> Run:
    record = {
        "evaluation": EVALUATION,
        "models": models,
        "metrics": {"MAP@2": {"better": "higher"}},
    }
    return Run(record=RunRecord.model_validate(record | parts, strict=False))


def compared(pairs: Iterable[Mapping[str, Any]], baseline: str | None = None) -> dict[str, Any]:
    rules = {"baseline": baseline, "correction": "holm", "seed": 1, "resamples": 9, "flips": 9}
    users = {"metric": "MAP@2", "users": 4, "any_hit": {}, "better": "higher"}
    return {**users, **rules, "pairs": tuple(pairs)}


THREE = model("a", 0.5), model("b", 0.4), model(WIDE, 0.3)
PAIRS = pair("a", "b", 0.1, "tied"), pair("a", WIDE, 0.2, "better"), pair("b", WIDE, 0.1, "tied")


def points(ax: Axes) -> list[tuple[float, float, str]]:
    drawn = []
    for line in ax.lines:
        (x, *_), (y, *_) = np.asarray(line.get_data(), float).tolist()
        drawn += [(round(x, 9), y, str(line.get_color()))] * (line.get_marker() == "o")
    return drawn


def rows(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def test_forest_has_a_row_a_model_and_the_line_of_chance() -> None:
    ax = run_of(THREE, chance={"MAP@2": {"mean": 0.25, "sd": 0.125}}).plot.forest()
    assert rows(ax) == ["a", "b", "x" * 14 + "…" + "x" * 11 + " $a$"]
    assert points(ax) == [(0.5, 0, BEST), (0.4, 1, REST), (0.3, 2, REST)]
    (chance,) = [line for line in ax.lines if line.get_color() == CHANCE]
    assert chance.get_xdata() == [0.25, 0.25]
    assert [text.get_text() for text in ax.texts] == ["chance 0.2500"]
    assert ax.get_xscale() == "linear"


def test_means_far_apart_stand_on_a_logarithmic_axis() -> None:
    far = run_of([model("a", 0.5), model("b", 0.01)])
    assert far.plot.forest().get_xscale() == "log"
    assert far.plot.forest(log=False).get_xscale() == "linear"
    with refusal(UsageError, "a mean is 0 or less"):
        run_of([model("a", 0.5), model("b", 0.0)]).plot.forest(log=True)


def test_differences_to_the_best_to_a_model_and_to_the_baseline() -> None:
    plot = run_of(THREE, comparison=compared(PAIRS)).plot
    ax = plot.differences()
    assert points(ax) == [(-0.1, 0, REST), (-0.2, 1, REST)]
    assert ax.lines[0].get_color() == BEST  # the line of 0 is the model that the others are less
    assert [line.get_markerfacecolor() for line in ax.lines if line.get_marker() == "o"] == [
        "none",
        REST,
    ]
    assert points(plot.differences(to=WIDE)) == [(0.2, 0, BEST), (0.1, 1, REST)]
    with refusal(UsageError, 'no model "bb"; did you mean'):
        plot.differences(to="bb")
    beside = compared(PAIRS[1:], baseline=WIDE)
    ax = run_of(THREE, comparison=beside).plot.differences()
    assert rows(ax) == ["a", "b"]
    assert ax.lines[0].get_color() == BASELINE
    with refusal(UsageError, "no two models"):
        run_of(THREE[:1]).plot.differences()


def test_a_lower_value_may_be_the_better_one() -> None:
    """b has the higher value and is worse."""
    pairs = compared([pair("a", "b", -0.2, "better")]) | {"better": "lower"}
    ax = run_of([model("a", 0.2), model("b", 0.4)], comparison=pairs).plot.differences()
    assert points(ax) == [(0.2, 0, REST)]
    assert any(str(line.get_gid()).endswith(", worse") for line in ax.lines)


def test_lines_end_beside_their_names() -> None:
    curves = {"a": {1: 0.5, 2: 0.25}, "b": {1: 0.0, 2: 0.25}}
    ax = run_of([model(name, 0.3, curve=curve) for name, curve in curves.items()]).plot.by_k()
    assert sorted(points(ax)) == [(1, 0.0, REST), (1, 0.5, BEST), (2, 0.25, BEST), (2, 0.25, REST)]
    assert [text.get_text() for text in ax.texts] == ["a", "b"]
    assert ax.get_ylim()[0] == 0
    with refusal(UsageError, "has no curve"):
        run_of(THREE).plot.by_k()


def test_slices_of_a_column() -> None:
    ends = {"mean": 0.5, "ci95": None}
    part = {"by": "country", "label": "no", "users": 2, "models": {"a": ends}, "small": True}
    plot = run_of([model("a", 0.5)], slices=[part]).plot
    assert rows(plot.slices()) == ["no\nn = 2"]
    assert plot.slices().lines[0].get_markerfacecolor() == "none"
    with refusal(UsageError, 'no groups by "age"'):
        plot.slices(by="age")


def test_coverage_by_popularity() -> None:
    described = {"Coverage@2": 0.5, "Popularity@2": 10.0}
    ax = run_of([model("a", 0.5, described=described), model("b", 0.4)]).plot.coverage()
    assert points(ax) == [(10.0, 50.0, BEST)]


def test_it_draws_on_an_axes_of_yours_and_names_keep_apart() -> None:
    from matplotlib.figure import Figure

    names = [f"{'long ' * 8}{n} {'long ' * 8}" for n in range(15)]
    many = [model(name, 0.5, curve={1: 0.5, 2: 0.5}) for name in names]
    ax = Figure((7, 5), dpi=72).subplots()
    assert run_of(many).plot.by_k(ax) is ax
    texts = [text.get_text() for text in ax.texts]
    assert len({*texts}) == 15 and max(map(len, texts)) == 30
    places = [text.xyann[1] * ax.bbox.height for text in ax.texts]  # in points
    assert min(high - low for low, high in pairwise(places)) > 1.2 * ax.texts[0].get_fontsize()
