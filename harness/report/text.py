"""A result as text: the table on one screen, Markdown or CSV."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from harness.chance import Verdict
from harness.errors import printable
from harness.figures import Figure
from harness.report.compared import pairs
from harness.report.numbers import digits_of, ends, lift, number
from harness.report.sheet import STYLES, Sheet, chance_word
from harness.results import ModelResult, Result

_SHORT = 6
_LEFT = frozenset({0, 4})  # names and verdicts
_KEPT = 5
_PAIRS = 10


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


def footing(result: Result) -> list[str]:
    """Return the lines below the table: who was tuned, what leaderboards would say, the time."""
    return [*_tuned(result), *_bridge(result), _time(result)]


def _tuned(result: Result) -> list[str]:
    """Return which models had their parameters chosen, and from how many trials."""
    tuned = {printable(m.name): m.tuned.trials for m in result.models if m.tuned}
    told = [f"{name} ({n:,} trial{'s' if n != 1 else ''})" for name, n in tuned.items()]
    return [f"tuned  on an inner split of train: {', '.join(told)}"] if told else []


def _bridge(result: Result) -> list[str]:
    """Return the best model's score as a leaderboard would count it."""
    people, best = result.population, result.models[0]
    if best.estimate is None or _same(result):
        return []
    over = [(best.estimate.mean, f"over the {people.with_items:,} users with true items")]
    sample = people.over_sample(best.estimate)
    if sample is not None:
        over.append((sample, f"over all {people.sample:,} ids of the sample submission"))
    least = "at least " if best.estimate.at_least else ""
    told = " · ".join(f"{least}{number(v, digits_of([v]))} {users}" for v, users in over)
    return [f"leaderboard estimate  {printable(best.name)}: {told}"]


def _same(result: Result) -> bool:
    """Return whether a leaderboard would average just those who are examined."""
    people, with_items = result.population, int((result.exam.relevant > 0).sum())
    return people.sample is None and people.examined == with_items == people.with_items


def _time(result: Result) -> str:
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
    digits = digits_of([m.metrics[first].mean for m in result.models])
    found = [_row(result, m, digits) for m in result.models]
    if result.chance:
        others = [str(m) for m in result.metrics[1:]]
        floors = [number(result.chance[m].mean, 4) if m in result.chance else "" for m in others]
        own = number(result.chance[first].mean, digits) if first in result.chance else ""
        found.append(["chance (exact)", own, "", "1.0" if own else "", "", *floors, ""])
    return found


def _row(result: Result, model: ModelResult, digits: int) -> list[str]:
    first, *others = [str(m) for m in result.metrics]
    figure, verdict = model.metrics[first], model.verdict
    name = printable(model.name)
    return [
        f"{name} × {model.repeats}" if model.repeats > 1 else name,
        number(figure.mean, digits),
        _spread(figure, digits),
        "" if verdict is None else lift(verdict.lift),
        "" if verdict is None else _verdict(model, verdict),
        *(number(model.metrics[m].mean, 4) for m in others),
        f"{sum(model.seconds.values()):.1f} s",
    ]


def _spread(figure: Figure, digits: int) -> str:
    if figure.sd_repeats is not None:
        return f"± {number(figure.sd_repeats, digits)}"
    return ends(figure.ci95, digits)


def _verdict(model: ModelResult, verdict: Verdict) -> str:
    word = chance_word(verdict.word)
    return f"{word}, z {verdict.z:+.1f}" if model.repeats > 1 else word


def sheet(result: Result) -> Sheet:
    """Return the whole result as it is printed."""
    return Sheet(
        columns(result),
        rows(result),
        left=_LEFT,
        heading=heading(result),
        footing=footing(result),
        kept=_KEPT,
        styles=STYLES,
    )


def sheets(result: Result) -> list[Sheet]:
    """Return the table, and the pairs: all where they are few, else each model and the next."""
    found, comparison = sheet(result), result.comparison
    if comparison is None:
        return [found]
    shown = comparison.pairs
    if comparison.rules.baseline is None and len(shown) > _PAIRS:
        names = list(comparison.means)
        next_to = set(pairwise(names))
        shown = tuple(pair for pair in shown if (pair.one, pair.other) in next_to)
    compared = pairs(comparison, result.shake_ups, shown)
    if len(shown) < len(comparison.pairs):
        more = f"more   harness compare prints all {len(comparison.pairs)} pairs"
        compared = replace(compared, footing=[*compared.footing, more])
    return [found, compared]


def records(result: Result) -> list[dict[str, object]]:
    """Return one record a model with full figures."""
    return [_record(result, model) for model in result.models]


def _record(result: Result, model: ModelResult) -> dict[str, object]:
    v = model.verdict
    record: dict[str, object] = {
        "model": model.name,
        "repeats": model.repeats,
        "tuned": 0 if model.tuned is None else model.tuned.trials,
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
