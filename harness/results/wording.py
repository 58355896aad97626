"""The answer of a run in words: which model is best, tied, no better than chance."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.errors import printable
from harness.core.table import digits_of, ends, lift, number
from harness.results.record import ModelRecord, RunRecord, definition_of, lift_of
from harness.stats.pairwise import Comparison, Pair

_NAMED = 8
"""More models than these are counted, not named."""
_INDENT = " " * 6
OPPOSITE = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}


def lines(record: RunRecord) -> list[str]:
    """Return what is known of the best model, the first of the lines its scores."""
    best, *rest = record.models
    word = _chance(best)
    facts = [f"it is {word}"] if word not in ("", "better") else []
    facts.append(_pairs(record))
    for word in ("no better than chance", "worse than chance"):
        models = [model for model in rest if _chance(model) == word]
        facts += [f"{word}: {listed(models)}"] if models else []
    return [_best(record), *(_INDENT + line for line in facts)]


def title(record: RunRecord) -> str:
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


def name_of(model: ModelRecord) -> str:
    """Return a model's name, with the number of its repeats."""
    name = printable(model.name)
    return f"{name} × {model.repeats}" if model.repeats > 1 else name


def spread(model: ModelRecord, metric: str, digits: int) -> str:
    """Return an estimate's interval, of a model with repeats how far these lie apart."""
    estimate = model.metrics[metric]
    if estimate.sd_repeats is not None:
        return f"± {number(estimate.sd_repeats, digits)}"
    return ends(estimate.ci95, digits)


def digits(record: RunRecord) -> int:
    """Return the decimals that the first metric is printed with."""
    return digits_of(model.metrics[record.metric].mean for model in record.models)


def extreme(record: RunRecord) -> str:
    """Return what the first model is; a metric may only describe, and call nothing good."""
    return "highest" if record.better(record.metric) == "neither" else "best"


def _best(record: RunRecord) -> str:
    metric, best = record.metric, record.models[0]
    bounds = spread(best, metric, digits(record))
    mean = number(best.metrics[metric].mean, digits(record))
    parts = [f"{name_of(best)}: {metric} {mean}" + (f" ({bounds})" if bounds else "")]
    times = lift_of(best, record.chance)
    if times is not None:
        parts.append(f"{lift(times)} × chance")
    if record.better(metric) == "lower":
        parts.append("the lower the better")
    return f"{extreme(record).upper()}  {', '.join(parts)}"


def _pairs(record: RunRecord) -> str:
    """Return which models the best is tied with, which it is better than, and what is unknown."""
    best, *rest = record.models
    if record.comparison is None:
        if not rest:
            return "the only model"
        definition = definition_of(record.metric)
        if definition is not None and definition.of == "set":
            return f"not compared: {record.metric} is one value for all lists"
        return "not compared: one user tells no two models apart"
    groups: dict[str | None, list[ModelRecord]] = {}
    for model in rest:
        groups.setdefault(_verdict(record.comparison, best.name, model.name), []).append(model)
    tied, unknown = groups.pop("tied", []), groups.pop(None, [])
    facts = [f"tied with {listed(tied)}"] if tied else []
    for word, beaten in groups.items():
        in_folds = _in_folds(record.comparison, best.name, beaten)
        facts.append(f"{word} than {_counted(beaten, rest)}{in_folds}")
    if unknown:
        baseline = printable(record.comparison.baseline or "")
        facts.append(f"not compared with {_counted(unknown, rest)}, only with {baseline}")
    return "; ".join(facts)


def better_folds(best: str, name: str, comparison: Comparison | None) -> int | None:
    """Return in how many folds the best is better than a model, or a model than the baseline.

    None of the best and of the baseline, of models that are not compared, and of a single fold.
    """
    if comparison is None or comparison.folds == 1:
        return None
    first, second = (best, name) if comparison.baseline is None else (name, comparison.baseline)
    pair = _pair(comparison, first, second)
    return None if pair is None else pair.folds_of(first)


def _in_folds(comparison: Comparison, best: str, beaten: Sequence[ModelRecord]) -> str:
    """Return in how many folds the best is better than each of those that it beats."""
    if comparison.folds == 1:
        return ""
    pairs = [_pair(comparison, best, model.name) for model in beaten]
    counts = {pair.folds_of(best) for pair in pairs if pair}
    least, most = min(counts), max(counts)
    some = f"{least}" if least == most else f"{least} to {most}"
    return f", in {some} of {comparison.folds} folds"


def _chance(model: ModelRecord) -> str:
    return "" if model.vs_random is None else model.vs_random.verdict


def _compared(record: RunRecord, name: str) -> str | None:
    """Return how a model stands beside the best, or beside the baseline where there is one."""
    comparison, best = record.comparison, record.models[0].name
    if comparison is None:
        return None
    if comparison.baseline is not None:
        known = _verdict(comparison, name, comparison.baseline)
        return "baseline" if name == comparison.baseline else known or ""
    if name == best:
        return extreme(record)
    word = _verdict(comparison, best, name)
    return {"better": "behind", "higher": "lower"}.get(word or "", word)


def _verdict(comparison: Comparison, first: str, second: str) -> str | None:
    """Return what the comparison says of the first model; None where it has no such pair."""
    pair = _pair(comparison, first, second)
    if pair is None:
        return None
    return pair.verdict if pair.one == first else OPPOSITE.get(pair.verdict, pair.verdict)


def _pair(comparison: Comparison, first: str, second: str) -> Pair | None:
    return next((p for p in comparison.pairs if {p.one, p.other} == {first, second}), None)


def listed(models: Sequence[ModelRecord]) -> str:
    """Return the names of models; of many the first."""
    more = len(models) - _NAMED
    first = [name_of(model) for model in models[:_NAMED]]
    # Quotes, for a name that a comma does not end.
    names = ", ".join(f'"{name}"' if "," in name else name for name in first)
    return f"{names} and {more} more" if more > 0 else names


def _counted(models: Sequence[ModelRecord], rest: Sequence[ModelRecord]) -> str:
    """Return some of the other models: by name if it is one, else by number."""
    if len(models) == 1:
        return name_of(models[0])
    count = len(models)
    return f"all {count} others" if count == len(rest) else f"the other {count}"
