"""The tables of a run that are printed: its models, their scores in each fold, its pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise

from harness.core.errors import counted, printable
from harness.core.table import Column, Sheet, digits_of, lift, low_high, number
from harness.results import wording
from harness.results.record import Evaluation, ModelRecord, RunRecord, lift_of
from harness.stats.pairwise import STYLES, Comparison, in_folds, pair_table

_SHORT = 6
_PAIRS = 10


def models_sheet(record: RunRecord, changed: Mapping[str, str], *, verbose: bool) -> Sheet:
    """Return the table of a run's models between its lines; `verbose`: with times and funnel."""
    first, *rest = record.models[0].metrics
    digits, standing = wording.digits(record), wording.title(record)

    def times(model: ModelRecord) -> str:
        value = lift_of(model, record.chance)
        return "" if value is None and model.vs_random is None else lift(value)

    columns: list[Column[ModelRecord]] = [
        Column("model", wording.name_of, "name"),
        Column(first, lambda model: number(model.metrics[first].mean, digits)),
        Column("95 % interval", lambda model: wording.spread(model, first, digits)),
        Column("lift", times),
        Column(standing, partial(wording.standing, record), "words"),
        *(Column(name, partial(_mean, name)) for name in rest),
    ]
    if verbose:
        columns.append(Column("time", lambda model: f"{sum(model.seconds.values()):.1f} s"))
    notes = [f"note  {printable(note)}" for note in record.notes]
    sheet = Sheet.of(
        record.models,
        columns,
        heading=[*wording.lines(record), *_failures(record), *notes],
        footing=[
            set_line(record.evaluation),
            *_leaderboard(record),
            *_tuned(record),
            *_reused(record, changed),
            *(_times(record) if verbose else ()),
        ],
        styles=STYLES | {"failed": "red"},
    )
    rows = [{"model": printable(failed.name), standing: "failed"} for failed in record.failed]
    if record.chance:
        exact = {name: number(chance.mean, 4) for name, chance in record.chance.items()}
        if first in exact:
            exact |= {first: number(record.chance[first].mean, digits), "lift": "1.0"}
        rows.append({"model": "chance (exact)", **exact})
    sheet.rows.extend([row.get(title, "") for title in sheet.titles] for row in rows)
    return sheet


def _mean(metric: str, model: ModelRecord) -> str:
    return number(model.metrics[metric].mean, 4)


def _failures(record: RunRecord) -> list[str]:
    """Return a line a model; what an error has lines of, such as problems, stands apart in it."""
    errors = [[" ".join(line.split()) for line in m.says.splitlines()] for m in record.failed]
    return [f"failed  {printable(' · '.join(filter(None, lines)))}" for lines in errors]


def set_line(evaluation: Evaluation, *, short: bool = False) -> str:
    """Return an evaluation set in a line; `short`: without what all folds have in common."""
    of_one_set = bool(evaluation.funnel)
    users = counted(evaluation.users, "user" if of_one_set else "different user")
    if of_one_set and evaluation.in_window != evaluation.users:
        users = f"{evaluation.users:,} of {counted(evaluation.in_window, 'user')}"
    parts = [users]
    if evaluation.candidates is not None:
        parts.append(counted(evaluation.candidates, "candidate"))
    if not short:
        parts += [f"truth: {evaluation.truth}"] if evaluation.hits else []
        parts.append(f"k = {evaluation.k}")
    parts.append(evaluation.fingerprint[:_SHORT])
    if not short:
        parts.append(evaluation.layout)
    return " · ".join([*parts, evaluation.window])


def _leaderboard(record: RunRecord) -> list[str]:
    """Return the best model's score as a leaderboard would count it."""
    users, best = record.bridge, record.models[0].name
    if users is None or best not in users.models:
        return []
    if users.sample is None and users.examined == users.examined_with_items == users.with_items:
        return []  # a leaderboard would average just those who are evaluated
    estimate = users.models[best]
    ids = counted(users.sample or 0, "id")
    values = {
        f"over the {counted(users.with_items or 0, 'user')} with true items": estimate.window,
        f"over all {ids} of the sample submission": estimate.sample,
    }
    least = "at least " if estimate.at_least else ""
    parts = (f"{least}{number(v, digits_of([v]))} {u}" for u, v in values.items() if v is not None)
    return [f"leaderboard estimate  {printable(best)}: {' · '.join(parts)}"]


def _tuned(record: RunRecord) -> list[str]:
    """Return which models had their parameters chosen, and from how many trials."""
    tuned = {printable(m.name): m.tuned.trials for m in record.models if m.tuned}
    trials = [f"{name} ({counted(n, 'trial')})" for name, n in tuned.items()]
    return [f"tuned  on an inner split of train: {', '.join(trials)}"] if trials else []


def _reused(record: RunRecord, changed: Mapping[str, str]) -> list[str]:
    """Return which models an earlier run finished, and which of them had to be evaluated anew."""
    reused = [model for model in record.models if model.reused]
    fresh = {model.name for model in record.models if not model.reused}
    anew = [f"{printable(n)} ({printable(why)})" for n, why in changed.items() if n in fresh]
    parts = [f"{wording.listed(reused)}, of an earlier run"] if reused else []
    parts += [f"evaluated anew: {', '.join(anew)}"] if anew else []
    if not reused:
        return parts
    return [f"reused  {'; '.join([*parts, '--fresh evaluates all anew'])}"]


def _times(record: RunRecord) -> list[str]:
    """Return the users after every rule, and how long each step took."""
    steps = " → ".join(f"{step.users:,} {step.step}" for step in record.evaluation.funnel)
    seconds = [f"{name} {seconds:.1f} s" for name, seconds in record.seconds.items()]
    models = sum(sum(model.seconds.values()) for model in record.models)
    time = " · ".join([*seconds, f"models {models:.1f} s"])
    return [*([f"users  {steps}"] if steps else []), f"time   {time}"]


def folds_sheet(record: RunRecord) -> Sheet:
    """Return the table of the models' scores in each fold."""
    first, digits, comparison = record.metric, wording.digits(record), record.comparison
    best, n = record.models[0].name, len(record.folds)
    compared = comparison is not None and comparison.baseline is not None
    ahead = "better" if comparison is None else comparison.words[0]

    def mean(fold: RunRecord, model: ModelRecord) -> str:
        return number(fold.metric_of(model.name, first), digits)

    def better_in(model: ModelRecord) -> str:
        return in_folds(wording.better_folds(best, model.name, comparison), n)

    columns: list[Column[ModelRecord]] = [
        Column("model", wording.name_of, "name"),
        *(
            Column(f"fold {i}", partial(mean, fold), first_out=True)
            for i, fold in enumerate(record.folds, 1)
        ),
        Column(
            f"{ahead} in" if compared else f"{wording.extreme(record)} is {ahead} in", better_in
        ),
    ]
    heading = [
        f"fold {i:<{len(str(n))}}  {set_line(fold.evaluation, short=True)}"
        for i, fold in enumerate(record.folds, 1)
    ]
    sheet = Sheet.of(record.models, columns, heading=heading, kept=len(columns))
    if first in record.chance:
        exact = [number(fold.chance[first].mean, digits) for fold in record.folds]
        sheet.rows.append(["chance (exact)", *exact, ""])
    return sheet


def pairs_sheet(record: RunRecord, comparison: Comparison) -> Sheet:
    """Return the table of pairs; of many those of neighbours alone."""
    pairs = comparison.pairs
    if comparison.baseline is None and len(pairs) > _PAIRS:
        neighbours = set(pairwise(comparison.means))
        pairs = tuple(pair for pair in pairs if (pair.one, pair.other) in neighbours)
    sheet = pair_table(comparison, record.shake_up, pairs)
    if len(pairs) == len(comparison.pairs):
        return sheet
    more = f"more   harness compare prints all {len(comparison.pairs)} pairs"
    return replace(sheet, footing=[*sheet.footing, more])


def model_row(record: RunRecord, model: ModelRecord) -> dict[str, object]:
    """Return what is known of a model in full precision."""
    verdict, times = model.vs_random, lift_of(model, record.chance)
    if verdict is not None and verdict.lift is None:
        times = float("nan")  # chance has a mean of 0
    row: dict[str, object] = {
        "model": model.name,
        "repeats": model.repeats,
        "tuned": 0 if model.tuned is None else model.tuned.trials,
        "lift": times,
        "p": None if verdict is None else verdict.p,
        "verdict": None if verdict is None else verdict.verdict,
        "error": None,
    }
    for name, estimate in model.metrics.items():
        row |= {f"{name} mean": estimate.mean, **low_high(estimate.ci95, f"{name} ")}
        row[f"{name} sd_repeats"] = estimate.sd_repeats
        for i, fold in enumerate(record.folds, 1):
            row[f"{name} fold {i}"] = fold.metric_of(model.name, name)
    return row
