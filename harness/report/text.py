"""A result as text: the table on one screen, Markdown or CSV."""

from __future__ import annotations

from collections.abc import Sequence

from harness.comparison import Verdict
from harness.errors import printable
from harness.report import sheet as sheet_
from harness.report.sheet import Sheet
from harness.results import Figure, ModelResult, Result

_SHORT = 6
_LEFT = frozenset({0, 4})  # names and verdicts
_KEPT = 5


def heading(result: Result) -> list[str]:
    """Return the lines above the table: the exam, the funnel, what to know."""
    exam = result.exam
    funnel = [f"{exam.funnel[0].users:,} {exam.funnel[0].step}"]
    funnel += [f"{s.users:,} {s.step}" for s in exam.funnel[1:]]
    lines = [
        f"exam   {result.layout} · {result.window} · k = {exam.k} · {len(exam.users):,} users · "
        f"{len(exam.candidates):,} candidates · {exam.fingerprint[:_SHORT]}",
        f"users  {' → '.join(funnel)}",
    ]
    return lines + [f"note   {printable(note)}" for note in result.notes]


def footing(result: Result) -> str:
    """Return the line below the table: the time of every step before the models."""
    steps = [f"{name} {seconds:.1f} s" for name, seconds in result.seconds.items()]
    models = sum(sum(m.seconds.values()) for m in result.models)
    return " · ".join([f"time   {steps[0]}", *steps[1:], f"models {models:.1f} s"])


def columns(result: Result) -> list[str]:
    """Return the column titles; the first metric stands first, with its interval."""
    first, *others = [str(m) for m in result.metrics]
    return ["model", first, "95 % interval", "× chance", "verdict", *others, "time"]


def rows(result: Result) -> list[list[str]]:
    """Return one row a model, and last the exact chance value."""
    first = str(result.metrics[0])
    digits = _digits([m.metrics[first].mean for m in result.models])
    found = [_row(result, m, digits) for m in result.models]
    if result.chance:
        others = [str(m) for m in result.metrics[1:]]
        floors = [_number(result.chance[m].mean, 4) if m in result.chance else "" for m in others]
        own = _number(result.chance[first].mean, digits) if first in result.chance else ""
        found.append(["chance (exact)", own, "", "1.0" if own else "", "", *floors, ""])
    return found


def _row(result: Result, model: ModelResult, digits: int) -> list[str]:
    first, *others = [str(m) for m in result.metrics]
    figure, verdict = model.metrics[first], model.verdict
    name = printable(model.name)
    return [
        f"{name} × {model.repeats}" if model.repeats > 1 else name,
        _number(figure.mean, digits),
        _spread(figure, digits),
        "" if verdict is None else _lift(verdict.lift),
        "" if verdict is None else _verdict(model, verdict),
        *(_number(model.metrics[m].mean, 4) for m in others),
        f"{sum(model.seconds.values()):.1f} s",
    ]


def _spread(figure: Figure, digits: int) -> str:
    if figure.sd_repeats is not None:
        return f"± {_number(figure.sd_repeats, digits)}"
    if figure.ci95 is None:
        return ""
    return " … ".join(_number(end, digits) for end in figure.ci95)


def _verdict(model: ModelResult, verdict: Verdict) -> str:
    word = verdict.word.replace("not distinguishable", "as chance")
    return f"{word}, z {verdict.z:+.1f}" if model.repeats > 1 else word


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


def _lift(lift: float) -> str:
    if lift != lift:
        return "–"
    return f"{lift:.1f}" if lift < 1000 else f"{lift:,.0f}"


def _digits(means: Sequence[float]) -> int:
    """Return decimals enough to tell the smallest mean from 0, at least 4 and at most 7."""
    smallest = min((m for m in means if m > 0), default=1.0)
    digits = 4
    while digits < 7 and smallest < 20 * 10**-digits:
        digits += 1
    return digits


def sheet(result: Result) -> Sheet:
    """Return the whole result as it is printed."""
    return Sheet(
        columns(result),
        rows(result),
        left=_LEFT,
        heading=heading(result),
        footing=[footing(result)],
        kept=_KEPT,
        styles=_STYLES,
    )


def plain(result: Result) -> str:
    """Return the result as text for a file or a pipe."""
    return sheet_.plain(sheet(result))


def records(result: Result) -> list[dict[str, object]]:
    """Return one record a model with full figures."""
    return [_record(result, model) for model in result.models]


def _record(result: Result, model: ModelResult) -> dict[str, object]:
    v = model.verdict
    record: dict[str, object] = {
        "model": model.name,
        "repeats": model.repeats,
        "lift": None if v is None else v.lift,
        "p": None if v is None else v.p,
        "verdict": None if v is None else v.word,
    }
    for name in map(str, result.metrics):
        f = model.metrics[name]
        low, high = f.ci95 or (None, None)
        figures = {"mean": f.mean, "low": low, "high": high, "sd_repeats": f.sd_repeats}
        record |= {f"{name} {end}": value for end, value in figures.items()}
    return record


_STYLES = {"better": "green", "worse": "red", "as chance": "yellow"}
