"""A result as text: the table on one screen, Markdown or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from harness.comparison import Verdict
from harness.errors import printable
from harness.results import Figure, ModelResult, Result

_SHORT = 6
_LEFT = (0, 4)  # the columns of text, names and verdicts; the others are figures
_KEPT = 5  # columns that are never left out
_GAP = 2


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


def plain(result: Result) -> str:
    """Return the whole result as text for a file or a pipe."""
    table = [columns(result), *rows(result)]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = ["  ".join(_aligned(row, widths)).rstrip() for row in table]
    return "\n".join([*heading(result), "", *lines, "", footing(result)])


def _aligned(row: list[str], widths: list[int]) -> list[str]:
    return [
        cell.ljust(w) if i in _LEFT else cell.rjust(w)
        for i, (cell, w) in enumerate(zip(row, widths, strict=True))
    ]


def markdown(result: Result) -> str:
    """Return the result as a Markdown table under its heading."""
    titles = columns(result)
    rule = [":--" if i in _LEFT else "--:" for i in range(len(titles))]
    table = [titles, rule, *rows(result)]
    lines = ["| " + " | ".join(_escaped(c) for c in row) + " |" for row in table]
    return "\n".join([*(f"{line}  " for line in heading(result)), "", *lines])


def _escaped(cell: str) -> str:
    """Return a Markdown cell whose bars end no column, even behind a backslash."""
    return cell.replace("\\", "\\\\").replace("|", "\\|")


def as_csv(result: Result) -> str:
    """Return one line a model with full figures, for spreadsheets and scripts."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [str(m) for m in result.metrics]
    ends = [f"{n} {end}" for n in names for end in ("mean", "low", "high", "sd_repeats")]
    writer.writerow(["model", "repeats", "lift", "p", "verdict", *ends])
    for m in result.models:
        v = m.verdict
        about = ["", "", ""] if v is None else [repr(v.lift), repr(v.p), v.word]
        figures = [m.metrics[n] for n in names]
        cells = [x for f in figures for x in (f.mean, *(f.ci95 or (None, None)), f.sd_repeats)]
        writer.writerow(
            [
                _harmless(printable(m.name)),
                m.repeats,
                *about,
                *("" if c is None else repr(c) for c in cells),
            ]
        )
    return out.getvalue().rstrip("\n")


def _harmless(text: str) -> str:
    """Return text that a spreadsheet does not take for a formula (CWE-1236)."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def print_rich(result: Result) -> None:
    """Print the result to a terminal, in colour and as wide as it is."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for line in heading(result):
        label, _, rest = line.partition("  ")
        console.print(Text(label, "bold"), Text(rest.strip()), soft_wrap=True)
    titles, cells = columns(result), rows(result)
    shown = _fitting([titles, *cells], console.width)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, _GAP // 2), header_style="bold")
    for i in shown:
        justify = "left" if i in _LEFT else "right"
        table.add_column(titles[i], justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in cells:
        table.add_row(*(Text(row[i], _STYLES.get(row[i].partition(",")[0], "")) for i in shown))
    console.print(table)
    if len(shown) < len(titles):
        hidden = ", ".join(title for i, title in enumerate(titles) if i not in shown)
        console.print(Text(f"this terminal is too narrow for: {hidden}", "dim"))
    label, _, rest = footing(result).partition("  ")
    console.print(Text(label, "bold"), Text(rest.strip()), soft_wrap=True)


def _fitting(table: list[list[str]], width: int) -> list[int]:
    """Return the columns that fit: the last are left out first, but for those on chance."""
    shown = list(range(len(table[0])))
    widths = [max(len(row[i]) for row in table) + _GAP for i in shown]
    while len(shown) > _KEPT and sum(widths[i] for i in shown) + _GAP > width:
        shown.pop()
    return shown


_STYLES = {"better": "green", "worse": "red", "as chance": "yellow"}
