"""A run as it is printed: the answer in words above the tables of models, folds and pairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from harness.core.errors import counted, listed, printable
from harness.core.table import Column, Sheet, digits_of, ends, lift, low_high, number
from harness.metrics import Better
from harness.results.record import Evaluation, ModelRecord, RunRecord, definition_of, lift_of
from harness.stats.intervals import Interval
from harness.stats.pairwise import STYLES, Comparison, against_others, in_folds, pair_table

_SHORT = 6
_PAIRS = 10


def models_sheet(record: RunRecord, *, verbose: bool) -> Sheet:
    """Return the table of a run's models between its lines; `verbose`: with times and funnel."""
    first, *rest = record.models[0].metrics
    digits, title = decimals_of(record), standing_title(record)

    def times(model: ModelRecord) -> str:
        value = lift_of(model, record.chance)
        return "" if value is None and model.vs_random is None else lift(value)

    columns: list[Column[ModelRecord]] = [
        Column("model", name_of, "name"),
        Column(first, partial(_mean, first, digits)),
        Column("95 % interval", partial(_spread, first, digits)),
        Column("lift", times),
        Column(title, partial(standing, record), "words", firm=True),
        *(Column(name, partial(_mean, name, 4)) for name in rest),
    ]
    if verbose:
        columns.append(Column("time", lambda model: f"{sum(model.seconds.values()):.1f} s"))
    # What an error has lines of, such as problems, stands apart in it.
    errors = [[" ".join(line.split()) for line in m.says.splitlines()] for m in record.failed]
    sheet = Sheet.of(
        record.models,
        columns,
        heading=[
            *answer(record),
            *(f"failed  {printable(' · '.join(filter(None, lines)))}" for lines in errors),
            *(f"note  {printable(note)}" for note in record.notes),
        ],
        footing=_footing(record, verbose=verbose),
        styles=STYLES | {"failed": "red"},
    )
    rows = [{"model": printable(failed.name), title: "failed"} for failed in record.failed]
    if record.chance:
        exact = {name: number(chance.mean, 4) for name, chance in record.chance.items()}
        if first in exact:
            exact |= {first: number(record.chance[first].mean, digits), "lift": "1.0"}
        rows.append({"model": "chance (exact)", **exact})
    sheet.rows.extend([row.get(title, "") for title in sheet.titles] for row in rows)
    return sheet


def _mean(metric: str, digits: int, model: ModelRecord) -> str:
    return number(model.metrics[metric].mean, digits)


def _spread(metric: str, digits: int, model: ModelRecord) -> str:
    """Return an estimate's interval, of a model with repeats how far these lie apart."""
    estimate = model.metrics[metric]
    if estimate.sd_repeats is not None:
        return f"± {number(estimate.sd_repeats, digits)}"
    return ends(estimate.ci95, digits)


def decimals(values: Collection[float]) -> int:
    """Return the decimals that a column of numbers needs, fewer where they are large."""
    largest = max(map(abs, values), default=0.0)
    if largest >= 10:
        return 1 if largest >= 100 else 2
    return digits_of(values)


def decimals_of(record: RunRecord) -> int:
    """Return the decimals that the first metric is shown with."""
    return decimals([model.metrics[record.metric].mean for model in record.models])


# The answer, above the table.


def answer(record: RunRecord) -> list[str]:
    """Return what is known of the best model as lines of a terminal."""
    return headline(facts(record), record.better(record.metric))


def scores_of_best(
    name: str, metric: str, mean: str, spread: str, better: Better | None, times: float | None
) -> str:
    """Return what the best model scores, and how many `times` chance that is where it is known."""
    parts = [f"{name}: {metric} {mean}{f' ({spread})' * bool(spread)}"]
    parts += [f"{lift(times)} × chance"] if times is not None else []
    parts += ["lower is better"] if better == "lower" else []
    return ", ".join(parts)


def headline(facts: Sequence[str], better: Better | None) -> list[str]:
    """Return facts of the best model as lines of a terminal."""
    first, *more = facts
    word = "HIGHEST" if better == "neither" else "BEST"
    return [f"{word}  {first}", *(f"      {fact}" for fact in more)]


def compared_headline(
    comparison: Comparison, ci95: Interval | None, times: float | None = None
) -> list[str]:
    """Return the scores of the best model, and how it stands to the others, as two lines."""
    best, *rest = comparison.means
    digits = decimals(comparison.means.values())
    mean, better = number(comparison.means[best], digits), comparison.better
    scores = scores_of_best(
        printable(best), comparison.metric, mean, ends(ci95, digits), better, times
    )
    shown = {name: printable(name) for name in rest}
    return headline([scores, against_others(comparison, best, shown)], better)


def facts(record: RunRecord) -> list[str]:
    """Return what is known of the best model, its scores first."""
    metric, (best, *rest) = record.metric, record.models
    digits, word = decimals_of(record), _chance(best)
    scores = scores_of_best(
        name_of(best),
        metric,
        _mean(metric, digits, best),
        _spread(metric, digits, best),
        record.better(metric),
        lift_of(best, record.chance),
    )
    more = [f"it is {word}"] if word not in ("", "better") else []
    more.append(_pairs(record))
    for word in ("no better than chance", "worse than chance"):
        models = [model for model in rest if _chance(model) == word]
        more += [f"{word}: {listed([name_of(model) for model in models])}"] if models else []
    more += _led_by_others(record)
    return [scores, *more]


def _led_by_others(record: RunRecord) -> list[str]:
    """Return by which of the other metrics another model than the first is better than all."""
    best, leads = record.models[0], list[str]()
    for metric in [*best.metrics][1:]:
        if record.better(metric) not in ("higher", "lower"):
            continue
        sign = 1 if record.better(metric) == "higher" else -1
        top = max(sign * model.metrics[metric].mean for model in record.models)
        leaders = [m for m in record.models if sign * m.metrics[metric].mean == top]
        if best not in leaders:
            names = listed([name_of(model) for model in leaders])
            leads.append(f"{metric} is led by {names} ({_mean(metric, 4, leaders[0])})")
    return [", ".join(leads)] if leads else []


def _pairs(record: RunRecord) -> str:
    """Return which models the best is tied with, which it is better than, and what is unknown."""
    (best, *rest), comparison = record.models, record.comparison
    if not rest:
        return "the only model"
    if comparison is None:
        definition = definition_of(record.metric)
        if definition is not None and definition.of == "set":
            return f"not compared: {record.metric} has one value for all lists"
        return "not compared: one user is not enough to compare models"
    return against_others(comparison, best.name, {model.name: name_of(model) for model in rest})


def standing_title(record: RunRecord) -> str:
    """Return the title of the column whose cells are `standing`."""
    if record.comparison is None:
        return "against chance"
    if record.comparison.baseline is not None:
        return "against the baseline"
    return f"against the {extreme(record)}"


def standing(record: RunRecord, model: ModelRecord) -> str:
    """Return how a model stands, to the model that all are compared with and to chance.

    A model with repeats, as random ones are, has its z as well.
    """
    chance, compared = _chance(model), _compared(record, model.name)
    if compared is not None and chance == "better":
        chance = ""
    if model.repeats > 1 and chance and compared == "behind":
        compared = ""  # a random model stands beside chance
    z = f"z {model.vs_random.z:+.1f}" if model.vs_random and model.repeats > 1 else ""
    return ", ".join(filter(None, [compared, chance, z]))


def _compared(record: RunRecord, name: str) -> str | None:
    """Return how a model stands beside the best, or beside the baseline where there is one."""
    comparison, best = record.comparison, record.models[0].name
    if comparison is None:
        return None
    if comparison.baseline is not None:
        if name == comparison.baseline:
            return "baseline"
        return comparison.verdict(name, comparison.baseline)[0] or ""
    if name == best:
        return extreme(record)
    word = comparison.verdict(best, name)[0]
    return {"better": "behind", "higher": "lower"}.get(word or "", word)


def _better_in(comparison: Comparison, record: RunRecord, model: ModelRecord) -> str:
    """Return in how many folds the best is better than a model, or a model than the baseline."""
    first, second = record.models[0].name, model.name
    if comparison.baseline is not None:
        first, second = model.name, comparison.baseline
    return in_folds(comparison.verdict(first, second)[1], len(record.folds))


def _chance(model: ModelRecord) -> str:
    return "" if model.vs_random is None else model.vs_random.verdict


def name_of(model: ModelRecord) -> str:
    """Return a model's name, with the number of its repeats."""
    return printable(model.name) + (f" × {model.repeats}" if model.repeats > 1 else "")


def extreme(record: RunRecord) -> str:
    """Return what the first model is; a metric may only describe, and call nothing good."""
    return "highest" if record.better(record.metric) == "neither" else "best"


# What stands below the table.


def _footing(record: RunRecord, *, verbose: bool) -> list[str]:
    """Return the evaluation set, and what an estimate, tuning and earlier runs add to the table."""
    tuned, reused = tuned_models(record), [model for model in record.models if model.reused]
    lines = [set_line(record.evaluation), *_leaderboard(record)]
    lines += [f"tuned  on an inner split of train: {tuned}"] if tuned else []
    if reused:
        names = listed([name_of(model) for model in reused])
        lines.append(f"reused  {names}, from an earlier run; --fresh evaluates all again")
    if not verbose:
        return lines
    steps = " → ".join(f"{step.users:,} {step.step}" for step in record.evaluation.funnel)
    lines += [f"users  {steps}"] if steps else []
    models = sum(sum(model.seconds.values()) for model in record.models)
    seconds = {**record.seconds, "models": models}
    return [*lines, f"time   {' · '.join(f'{step} {s:.1f} s' for step, s in seconds.items())}"]


def tuned_models(record: RunRecord) -> str:
    """Return the models whose parameters were searched for, with the number of trials."""
    return ", ".join(
        f"{printable(model.name)} ({counted(model.tuned.trials, 'trial')})"
        for model in record.models
        if model.tuned
    )


def set_line(evaluation: Evaluation, *, short: bool = False) -> str:
    """Return an evaluation set in a line; `short`: without what all folds have in common."""
    users = counted(evaluation.users, "different user" if evaluation.candidates is None else "user")
    if evaluation.funnel and evaluation.in_window != evaluation.users:
        users = f"{evaluation.users:,} of {counted(evaluation.in_window, 'user')}"
    parts = [users]
    if evaluation.candidates is not None:
        parts.append(counted(evaluation.candidates, "candidate"))
    if not short:
        parts += [f"truth: {evaluation.truth}"] if evaluation.hits else []
        parts.append(f"k = {evaluation.k}")
    parts.append(evaluation.fingerprint[:_SHORT])
    parts += [] if short else [evaluation.layout]
    return " · ".join(filter(None, [*parts, evaluation.window]))


def _leaderboard(record: RunRecord) -> list[str]:
    """Return the best model's score as a leaderboard would count it."""
    users, best = record.bridge, record.models[0].name
    if users is None or best not in users.models:
        return []
    if users.sample is None and users.examined == users.examined_with_items == users.with_items:
        return []  # a leaderboard would average just those who are evaluated
    estimate = users.models[best]
    values = {
        f"over the {counted(users.with_items or 0, 'user')} with true items": estimate.window,
        f"over all {counted(users.sample or 0, 'id')} of the sample submission": estimate.sample,
    }
    least = "at least " if estimate.at_least else ""
    parts = (f"{least}{number(v, digits_of([v]))} {u}" for u, v in values.items() if v is not None)
    return [f"leaderboard estimate  {printable(best)}: {' · '.join(parts)}"]


# The other tables.


def folds_sheet(record: RunRecord) -> Sheet:
    """Return the table of the models' scores in each fold."""
    first, digits, comparison = record.metric, decimals_of(record), record.comparison

    def mean(fold: RunRecord, model: ModelRecord) -> str:
        return number(fold.metric_of(model.name, first), digits)

    columns: list[Column[ModelRecord]] = [
        Column("model", name_of, "name"),
        *(
            Column(f"fold {i}", partial(mean, fold), first_out=True)
            for i, fold in enumerate(record.folds, 1)
        ),
    ]
    if comparison is not None:
        title = f"{comparison.words[0]} in"
        title = title if comparison.baseline is not None else f"{extreme(record)} is {title}"
        columns.append(Column(title, partial(_better_in, comparison, record)))
    width = len(str(len(record.folds)))
    heading = [
        f"fold {i:<{width}}  {set_line(fold.evaluation, short=True)}"
        for i, fold in enumerate(record.folds, 1)
    ]
    sheet = Sheet.of(record.models, columns, heading=heading)
    if first in record.chance:
        exact = [number(fold.chance[first].mean, digits) for fold in record.folds]
        sheet.rows.append(["chance (exact)", *exact, *([""] if comparison else [])])
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
    more = f"more   harness compare --pairs prints all {len(comparison.pairs)} pairs"
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
