"""A result as text: the table on one screen, Markdown or CSV."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from harness.errors import printable
from harness.report import answer
from harness.report.compared import pairs
from harness.report.numbers import digits_of, lift, number
from harness.report.sheet import STYLES, Sheet
from harness.results import ModelResult, Result

_SHORT = 6
_NAME, _STANDING = 0, 4
_KEPT = 5
_PAIRS = 10


def heading(result: Result) -> list[str]:
    """Return the lines above the table: the answer, and what to know before it is believed."""
    return [*answer.lines(result), *(f"note  {printable(note)}" for note in result.notes)]


def footing(result: Result, verbose: bool = False) -> list[str]:
    """Return the lines below the table: the exam, who was tuned, what a leaderboard would say."""
    exam = result.exam
    funnel, users = exam.funnel, f"{len(exam.users):,} users"
    if funnel[0].users != len(exam.users):
        users = f"{len(exam.users):,} of {funnel[0].users:,} users"
    parts = [users, f"{len(exam.candidates):,} candidates", f"k = {exam.k}"]
    parts += [exam.fingerprint[:_SHORT], result.layout, result.window]
    lines = [" · ".join(parts), *_bridge(result), *_tuned(result)]
    if not verbose:
        return lines
    steps = " → ".join(f"{step.users:,} {step.step}" for step in funnel)
    return [*lines, f"users  {steps}", _time(result)]


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


def columns(result: Result, verbose: bool = False) -> list[str]:
    """Return the column titles; the first metric stands first, with its interval."""
    first, *others = [str(m) for m in result.metrics]
    titles = ["model", first, "95 % interval", "× chance", answer.title(result), *others]
    return [*titles, "time"] if verbose else titles


def rows(result: Result, verbose: bool = False) -> list[list[str]]:
    """Return one row a model, and last the exact chance value."""
    first, *others = [str(m) for m in result.metrics]
    digits = answer.digits(result)
    found = [_row(result, model, digits, verbose) for model in result.models]
    if result.chance:
        floors = [number(result.chance[m].mean, 4) if m in result.chance else "" for m in others]
        own = number(result.chance[first].mean, digits) if first in result.chance else ""
        floor = ["chance (exact)", own, "", "1.0" if own else "", "", *floors]
        found.append([*floor, ""] if verbose else floor)
    return found


def _row(result: Result, model: ModelResult, digits: int, verbose: bool) -> list[str]:
    first, *others = [str(m) for m in result.metrics]
    cells = [
        answer.name_of(model),
        number(model.metrics[first].mean, digits),
        answer.spread(model, first, digits),
        "" if model.verdict is None else lift(model.verdict.lift),
        answer.standing(result, model),
        *(number(model.metrics[m].mean, 4) for m in others),
    ]
    return [*cells, f"{sum(model.seconds.values()):.1f} s"] if verbose else cells


def sheet(result: Result, verbose: bool = False) -> Sheet:
    """Return the table of the models between its lines; `verbose`, with times and the funnel."""
    return Sheet(
        columns(result, verbose),
        rows(result, verbose),
        left=frozenset({_NAME, _STANDING}),
        heading=heading(result),
        footing=footing(result, verbose),
        kept=_KEPT,
        wrapped=frozenset({_STANDING}),
        styles=STYLES,
    )


def sheets(result: Result, verbose: bool = False) -> list[Sheet]:
    """Return the table; `verbose`, the pairs too: all, or of many each model and the next."""
    found, comparison = sheet(result, verbose), result.comparison
    if comparison is None or not verbose:
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
