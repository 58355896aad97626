"""What a page says in sentences."""

from __future__ import annotations

from harness.core import table
from harness.core.errors import in_toml, printable
from harness.report.page.view import View, shown, spread
from harness.results.plots import label
from harness.results.record import lift_of

_NAMED = 3
"""More models than these are counted, not named."""


def in_short(view: View) -> list[str]:
    """Return the outcome: which model is best, how far above chance, better than which others."""
    return [_best(view), *_against_others(view)]


def _best(view: View) -> str:
    best = view.models[0]
    which = "highest" if view.higher_first else "lowest"
    ends = view.ends(best)
    interval = f" (95 % interval {spread(ends, view.decimals)})" if ends else ""
    score = f"{view.metric}, {shown(view.mean(best), view.decimals)}{interval}"
    lift = lift_of(best, view.record.chance)
    times = f", {table.lift(lift)} times chance" if lift else ""
    if len(view.models) == 1:
        return f"{name(view.names[0])} is the only model: {score}{times}."
    return f"{name(view.names[0])} has the {which} {score}{times}."


def _against_others(view: View) -> list[str]:
    """Return which models the best one is better than, or how many are better than the baseline."""
    if view.comparison is None:
        return []
    if view.comparison.baseline is not None:
        verdicts = [pair.verdict for pair in view.comparison.pairs]
        words = ("better", "higher", "lower", "worse", "tied")
        counts = [f"{verdicts.count(word)} {word}" for word in words if word in verdicts]
        baseline = name(view.comparison.baseline)
        return [f"Of the others, compared with {baseline}: {', '.join(counts)}."]
    pairs = [pair for pair in view.comparison.pairs if pair.one == view.names[0]]
    even = [pair.other for pair in pairs if pair.verdict == "tied"]
    beaten = len(pairs) - len(even)
    word = next((pair.verdict for pair in pairs if pair.other not in even), "better")
    if not even:
        return [f"It is {word} than {_each(beaten)}."]
    if not beaten:
        return [f"It is tied with {_each(len(even))}."]
    *most, last = map(name, even)
    named = f"{', '.join(most)} and {last}" if most else last
    if len(even) > _NAMED:
        named = f"{len(even)} others"
    return [f"It is tied with {named}, and {word} than the other {beaten}."]


def _each(count: int) -> str:
    return "the other model" if count == 1 else f"each of the {count} others"


def made_of(view: View) -> list[tuple[str, str]]:
    """Return names of models, and what each is; runs of earlier versions do not say it."""
    made = []
    for model in view.models:
        text = f"lists of {', '.join(model.lists)}" if model.lists else ""
        if model.use is not None:
            params = [
                f"{key} = {'none' if value is None else in_toml(value)}"
                for key, value in model.params.items()
            ]
            base_models = f", made of {' and '.join(map(name, model.of))}" if model.of else ""
            text = f"{model.use}({', '.join(params)}){base_models}"
        if text:
            made.append((label(model.name, 240), printable(text)))
    return made


def name(text: str) -> str:
    """Return a model's name within a sentence."""
    return f"“{printable(text)}”"
