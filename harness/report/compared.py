"""A comparison as tables: the models, every pair of them, and slices of the users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.comparison import Comparison, Pair
from harness.errors import printable
from harness.report.numbers import digits_of, ends, number, p_value, percent, signed
from harness.report.sheet import STYLES, Sheet, pair_word
from harness.shakeup import FEW, ShakeUp, Swap
from harness.slices import Slice

if TYPE_CHECKING:
    from harness.compared import Compared

CORRECTED = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def sheets(compared: Compared) -> list[Sheet]:
    """Return the models, the pairs, and a table for each column of slices."""
    found = [_models(compared), pairs(compared.comparison, compared.shake_ups)]
    columns = dict.fromkeys(part.by for part in compared.slices)
    return found + [
        sliced([part for part in compared.slices if part.by == by], compared) for by in columns
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
    titles = ["model", compared.metric, *intervals, "users above 0", "run"]
    words = frozenset({6})
    return Sheet(titles, rows, words | {0}, [_exam(compared)], kept=3, wrapped=words)


def _exam(compared: Compared) -> str:
    exam = compared.exam
    which = [str(exam[part]) for part in ("layout", "window") if part in exam]
    parts = [*which, f"k = {exam['k']}", f"{compared.comparison.users:,} users"]
    return f"exam   {' · '.join(parts)} · {exam['fingerprint'][:6]}"


def pairs(
    comparison: Comparison, shaken: Sequence[ShakeUp] = (), shown: Sequence[Pair] | None = None
) -> Sheet:
    """Return the table of pairs, those `shown` or all."""
    rules, chosen = comparison.rules, comparison.pairs if shown is None else shown
    corrected = CORRECTED[rules.correction]
    titles = ["model", "against", "difference", "verdict", f"p ({corrected})", "95 % interval"]
    titles += ["relative", "effect", "wins/ties/losses", "p sign flip", "p t", "detectable"]
    told = [one for one in shaken if not one.few]
    titles += [f"swaps at {100 * one.share:g} %" for one in told]
    digits = digits_of(comparison.means.values())
    heading = (
        f"pairs  {comparison.metric} · p by {comparison.flips:,} sign flips, {corrected} over "
        f"{len(comparison.pairs):,} pair{'s' if len(comparison.pairs) > 1 else ''} · seed "
        f"{rules.seed}"
    )
    rows = [[*_pair(pair, digits), *_swaps(pair, told)] for pair in chosen]
    words, notes = frozenset({0, 1, 3}), list(map(_leaderboard, shaken))
    return Sheet(titles, rows, words, [heading], notes, kept=5, styles=STYLES)


def _leaderboard(shaken: ShakeUp) -> str:
    """Return how often a public leaderboard's first is not the private one's."""
    public = f"{100 * shaken.share:g} % public ({shaken.public:,} of {shaken.users:,} users)"
    if shaken.few:
        return f"leaderboards  {public}: not shown, as fewer than {FEW} users tell nothing"
    return (
        f"leaderboards  {public}: nobody is first on both, the public and the private one, in "
        f"{percent(shaken.leader_falls)} of {shaken.times:,} splits"
    )


def _pair(pair: Pair, digits: int) -> list[str]:
    return [
        printable(pair.one),
        printable(pair.other),
        signed(pair.difference, digits),
        pair_word(pair.verdict),
        p_value(pair.p_adjusted),
        ends(pair.ci95, digits),
        "" if pair.relative is None else f"{100 * pair.relative:+.1f} %",
        signed(pair.effect_size, 3),
        f"{pair.wins:,}/{pair.ties:,}/{pair.losses:,}",
        p_value(pair.p_sign_flip),
        p_value(pair.p_t),
        number(pair.detectable, digits),
    ]


def _swaps(pair: Pair, shaken: Sequence[ShakeUp]) -> list[str]:
    """Return how often the two change places, for each public share."""
    return [
        percent(swap.changes) + (f", tied in {percent(swap.ties)}" if swap.ties else "")
        for swap in (_swap_of(pair, one) for one in shaken)
    ]


def _swap_of(pair: Pair, shaken: ShakeUp) -> Swap:
    return next(s for s in shaken.pairs if {s.one, s.other} == {pair.one, pair.other})


def sliced(parts: Sequence[Slice], compared: Compared) -> Sheet:
    """Return the table of one column's slices, a column a model."""
    names, metric = list(compared.models), compared.metric
    digits = digits_of(figure.mean for figure in compared.models.values())
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
    words = frozenset({0})
    return Sheet(titles, rows, words, heading, footing, kept=4, wrapped=words)


def _mean(part: Slice, name: str, digits: int) -> str:
    figure = part.models[name]
    bounds = "" if figure.ci95 is None else f" ({ends(figure.ci95, digits)})"
    return number(figure.mean, digits) + bounds


def records(comparison: Comparison, shaken: Sequence[ShakeUp] = ()) -> list[dict[str, object]]:
    """Return one record a pair with full figures."""
    return [_record(pair, shaken) for pair in comparison.pairs]


def _record(pair: Pair, shaken: Sequence[ShakeUp]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in vars(pair).items():
        if name.startswith("ci95"):
            low, high = value or (None, None)
            found |= {f"{name} low": low, f"{name} high": high}
        else:
            found[name] = value
    for one in shaken:
        swap = _swap_of(pair, one)
        found[f"swaps at {one.share:g}"], found[f"level at {one.share:g}"] = swap.changes, swap.ties
    return found
