"""A comparison as tables: the models, every pair of them, and slices of the users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.comparison import Comparison, Pair
from harness.errors import printable
from harness.report.numbers import digits_of, ends, number, p_value, percent, signed
from harness.report.sheet import STYLES, Sheet
from harness.shakeup import ShakeUp
from harness.slices import Slice

if TYPE_CHECKING:
    from harness.compared import Compared

CORRECTED = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def sheets(compared: Compared) -> list[Sheet]:
    """Return the models, the pairs, and a table for each column of slices."""
    found = [_models(compared), pairs(compared.comparison, compared.shake_ups)]
    columns = dict.fromkeys(part.by for part in compared.slices)
    names = list(compared.models)
    return found + [
        sliced([part for part in compared.slices if part.by == by], names, compared.metric)
        for by in columns
    ]


def _models(compared: Compared) -> Sheet:
    digits = digits_of(f.mean for f in compared.models.values())
    hits = compared.comparison.any_hit
    rows = [
        [
            printable(name),
            number(figure.mean, digits),
            ends(figure.ci95, digits),
            ends(figure.ci95_t, digits),
            ends(figure.ci95_bootstrap, digits),
            percent(hits[name]),
            printable(compared.origin[name]),
        ]
        for name, figure in compared.models.items()
    ]
    intervals = ["95 % interval", "Student's", "bootstrap"]
    users = f"{compared.comparison.users:,} users · {compared.fingerprint[:6]}"
    titles = ["model", compared.metric, *intervals, "users with any", "run"]
    return Sheet(titles, rows, frozenset({0, 6}), [f"exam   {users}"], kept=3)


def pairs(
    comparison: Comparison, shaken: Sequence[ShakeUp] = (), shown: Sequence[Pair] | None = None
) -> Sheet:
    """Return the table of pairs, those `shown` or all."""
    rules, chosen = comparison.rules, comparison.pairs if shown is None else shown
    corrected = CORRECTED[rules.correction]
    titles = ["model", "against", "difference", "95 % interval", "verdict", f"p ({corrected})"]
    titles += ["relative", "effect", "wins/ties/losses", "p sign flip", "p t", "detectable"]
    titles += [f"swaps at {100 * one.share:g} %" for one in shaken]
    digits = digits_of(pair.difference for pair in comparison.pairs)
    heading = (
        f"pairs  {comparison.metric} · p by {comparison.flips:,} sign flips, {corrected} over "
        f"{len(comparison.pairs):,} pair{'s' if len(comparison.pairs) > 1 else ''} · seed "
        f"{rules.seed}"
    )
    notes = [
        f"boards  {100 * one.share:g} % public ({one.public:,} of {one.users:,} users): its first "
        f"is not the private board's in {percent(one.leader_falls)} of {one.times:,} splits"
        for one in shaken
    ]
    rows = [[*_pair(pair, digits), *_swaps(pair, shaken)] for pair in chosen]
    left = frozenset({0, 1, 4})
    return Sheet(titles, rows, left, [heading], notes, kept=5, styles=STYLES)


def _pair(pair: Pair, digits: int) -> list[str]:
    return [
        printable(pair.one),
        printable(pair.other),
        signed(pair.difference, digits),
        ends(pair.ci95, digits),
        pair.verdict,
        p_value(pair.p_adjusted),
        "" if pair.relative is None else f"{100 * pair.relative:+.1f} %",
        signed(pair.effect_size, 3),
        f"{pair.wins:,}/{pair.ties:,}/{pair.losses:,}",
        p_value(pair.p_sign_flip),
        p_value(pair.p_t),
        number(pair.detectable, digits),
    ]


def _swaps(pair: Pair, shaken: Sequence[ShakeUp]) -> list[str]:
    """Return how often the two change places, for each public share."""
    both = {pair.one, pair.other}
    found = [next(s for s in one.pairs if {s.one, s.other} == both) for one in shaken]
    return [
        percent(swap.changes) + (f", level in {percent(swap.ties)}" if swap.ties else "")
        for swap in found
    ]


def sliced(parts: Sequence[Slice], names: Sequence[str], metric: str) -> Sheet:
    """Return the table of one column's slices, a column a model."""
    digits = digits_of(part.models[name].mean for part in parts for name in names)
    rows = [
        [
            printable(part.label),
            f"{part.users:,}",
            "few" if part.small else "",
            *(_mean(part, name, digits) for name in names),
        ]
        for part in parts
    ]
    titles = [parts[0].by, "users", "", *map(printable, names)]
    heading = [f"slices  {metric} by {printable(parts[0].by)}"]
    few = ["few    under 100 users, or under 10 with any: too few to tell models apart"]
    footing = few if any(part.small for part in parts) else []
    return Sheet(titles, rows, frozenset({0}), heading, footing, kept=4)


def _mean(part: Slice, name: str, digits: int) -> str:
    figure = part.models[name]
    bounds = "" if figure.ci95 is None else f" ({ends(figure.ci95, digits)})"
    return number(figure.mean, digits) + bounds


def records(comparison: Comparison) -> list[dict[str, object]]:
    """Return one record a pair with full figures."""
    return [_record(pair) for pair in comparison.pairs]


def _record(pair: Pair) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in vars(pair).items():
        if name.startswith("ci95"):
            low, high = value or (None, None)
            found |= {f"{name} low": low, f"{name} high": high}
        else:
            found[name] = value
    return found
