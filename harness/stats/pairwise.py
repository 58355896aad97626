"""Models compared pair by pair: which is really better, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from pydantic import NonNegativeInt

from harness.core.errors import counted, listed, printable
from harness.core.table import (
    Column,
    Sheet,
    Shown,
    digits_of,
    ends,
    low_high,
    number,
    p_value,
    percent,
)
from harness.metrics import Better
from harness.stats.intervals import Interval
from harness.stats.shakeup import FEW, ShakeUp

Word = Literal["better", "tied", "worse", "higher", "lower"]
OPPOSITE: Mapping[Word, Word] = {
    "better": "worse",
    "worse": "better",
    "higher": "lower",
    "lower": "higher",
    "tied": "tied",
}
_APART: tuple[Word, Word] = ("higher", "lower")
"""Verdicts where a metric calls neither end better."""


@dataclass(frozen=True)
class Pair:
    """One model's per-user values less another's, over the same users.

    Attributes
    ----------
    difference : float
        The mean of `one` less that of `other`.
    ci95, ci95_bootstrap : (float, float), optional
        Intervals of the difference: Student's, and the percentile bootstrap's. Not corrected for
        the number of pairs.
    relative : float, optional
        The difference as a share of the other's mean (of its size, if that is negative).
    effect_size : float, optional
        The mean difference in standard deviations of the differences (Cohen's d_z).
    p_t, p_sign_flip : float
        Of the paired t test, and of the randomization test.
    p_adjusted : float
        That of the randomization test, corrected for the number of pairs.
    wins, ties, losses : int
        Users whom `one` serves better, alike and worse; where the metric calls neither end better,
        users for whom its value is higher, the same and lower.
    detectable : float, optional
        The minimum detectable difference: the smallest true one that an evaluation set like this
        finds with a chance of 80 %.
    better_folds : (int, int), optional
        Of several folds, in how many the mean of `one` is the better one, and that of `other`; the
        higher one where the metric calls neither end better.
    verdict : str
        ``better`` or ``worse`` if the adjusted p value is below 0.05 (``higher`` or ``lower`` where
        the metric calls neither better); else ``tied``.
    borderline : bool
        Whether other draws of the randomization test could decide otherwise. With a chance of 99 %
        all other verdicts are those of all assignments of signs (`harness.stats.tests.bounds`).
    """

    one: str
    other: str
    difference: float
    ci95: Interval | None
    ci95_bootstrap: Interval
    relative: float | None
    effect_size: float | None
    p_t: float
    p_sign_flip: float
    p_adjusted: float
    wins: NonNegativeInt
    ties: NonNegativeInt
    losses: NonNegativeInt
    detectable: float | None
    verdict: Word
    borderline: bool = False  # the first runs wrote none
    better_folds: tuple[NonNegativeInt, NonNegativeInt] | None = None

    @property
    def ahead(self) -> str | None:
        """Which of both is really better, or higher where neither end is; None of tied ones."""
        if self.verdict == "tied":
            return None
        return self.one if self.verdict in ("better", "higher") else self.other

    def folds_of(self, name: str) -> int:
        """Return in how many folds the mean of one of both is the better one."""
        return 0 if self.better_folds is None else self.better_folds[name != self.one]


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Shown):
    """All pairs under one metric; the better of two stands first.

    Attributes
    ----------
    baseline, correction, resamples, seed
        The rules that it was made by.
    better : str, optional
        Which values of the metric are better: ``higher``, ``lower`` or ``neither``; None in runs of
        earlier versions.
    means : mapping of model to float
        Best first; the highest first where neither end is better.
    flips : int
        How often the randomization test drew the users' signs: B times, or more where the
        correction for many pairs needs smaller p values.
    any_hit : mapping of model to float
        The share of users whose value is not 0, the mean over repeats.
    folds : int
        How many folds the means are of.
    """

    metric: str
    users: NonNegativeInt
    baseline: str | None
    correction: str
    resamples: int
    seed: int
    flips: int
    better: Better | None = None  # earlier versions wrote none
    means: Mapping[str, float] = field(default_factory=dict)  # the first runs wrote none
    any_hit: Mapping[str, float]
    pairs: tuple[Pair, ...]
    folds: NonNegativeInt = 1

    @property
    def corrected(self) -> str:
        """What the correction is called."""
        return CORRECTED.get(self.correction, printable(self.correction))

    @property
    def tested(self) -> str:
        """By which test models are compared."""
        return (
            f"randomization test, {self.flips:,} draws, {self.corrected} over "
            f"{counted(len(self.pairs), 'pair')} · seed {self.seed}"
        )

    @property
    def words(self) -> tuple[Word, Word]:
        """The verdicts of two models that differ, which depend on what the metric calls better."""
        describes = self.better == "neither" or any(p.verdict in _APART for p in self.pairs)
        return _APART if describes else ("better", "worse")

    def verdict(self, first: str, second: str) -> tuple[Word | None, int | None]:
        """Return how a model compares to a second, and in how many folds it is better.

        None where the two are not compared.
        """
        for pair in self.pairs:
            if {pair.one, pair.other} == {first, second}:
                opposite = pair.one != first
                word = OPPOSITE[pair.verdict] if opposite else pair.verdict
                return word, None if pair.better_folds is None else pair.folds_of(first)
        return None, None

    def sheets(self) -> list[Sheet]:
        """Return the tables that are printed."""
        return verdict_sheets(self)

    def records(self, shaken: Sequence[ShakeUp] = ()) -> list[dict[str, object]]:
        """Return one record a pair, with all digits."""
        records = []
        for pair in self.pairs:
            record: dict[str, object] = {}
            for name, value in vars(pair).items():
                if name == "better_folds":
                    better = None if value is None else pair.folds_of(pair.one)
                    record |= {name: better, "folds": self.folds}
                elif name.startswith("ci95"):
                    record |= low_high(value, f"{name} ")
                else:
                    record[name] = value
            for board in shaken:
                flip = board.flip_of(pair.one, pair.other)
                record |= {
                    f"swaps at {board.share:g}": flip.changes,
                    f"level at {board.share:g}": flip.ties,
                }
            records.append(record)
        return records


STYLES = {
    **dict.fromkeys(("best", "better"), "green"),
    **dict.fromkeys(("worse", "worse than chance"), "red"),
    "no better than chance": "yellow",
    "▲": "green",
    "▼": "red",
}
"""Colours of verdicts on a terminal."""


def against_others(comparison: Comparison, best: str, shown: Mapping[str, str]) -> str:
    """Return which models the best is tied with and better than, and what is unknown.

    `shown` is how each of the other models is shown, by its name.
    """
    groups: dict[str | None, list[str]] = {}
    for name in shown:
        groups.setdefault(comparison.verdict(best, name)[0], []).append(name)
    tied, unknown = groups.pop("tied", []), groups.pop(None, [])

    def which(names: Sequence[str]) -> str:
        if len(names) == 1:
            return shown[names[0]]
        count = len(names)
        return f"all {count} others" if count == len(shown) else f"the other {count}"

    facts = [f"tied with {listed([shown[name] for name in tied])}"] if tied else []
    for word, beaten in groups.items():
        facts.append(f"{word} than {which(beaten)}")
        if comparison.folds > 1:
            counts = {comparison.verdict(best, name)[1] or 0 for name in beaten}
            least_most = " to ".join(map(str, sorted({min(counts), max(counts)})))
            facts[-1] += f", in {least_most} of {comparison.folds} folds"
    if unknown:
        baseline = printable(comparison.baseline or "")
        facts.append(f"not compared with {which(unknown)}, only with {baseline}")
    return "; ".join(facts)


def in_folds(better: int | None, folds: int) -> str:
    """Return in how many folds a model is better, as ``3 of 4 folds``."""
    return "" if better is None else f"{better} of {folds} folds"


CORRECTED = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def pair_table(
    comparison: Comparison,
    shaken: Sequence[ShakeUp] = (),
    shown: Sequence[Pair] | None = None,
    noun: str = "model",
) -> Sheet:
    """Return the table of pairs, those `shown` or all."""
    ahead, _ = comparison.words
    digits = digits_of(comparison.means.values())
    columns: list[Column[Pair]] = [
        Column(noun, lambda p: printable(p.one), "name"),
        Column("against", lambda p: printable(p.other), "name"),
        Column("difference", lambda p: number(p.difference, digits, "+")),
        Column("95 % interval", lambda p: ends(p.ci95, digits)),
        Column("verdict", _verdict, "words", firm=True),
        Column(f"p ({comparison.corrected})", lambda p: p_value(p.p_adjusted)),
        Column("relative", lambda p: "" if p.relative is None else f"{100 * p.relative:+.1f} %"),
        Column("effect", lambda p: number(p.effect_size, 3, "+")),
        *(
            [Column(f"{ahead} in", lambda p: in_folds(p.folds_of(p.one), comparison.folds))]
            if comparison.folds > 1
            else []
        ),
        Column("wins/ties/losses", lambda p: f"{p.wins:,}/{p.ties:,}/{p.losses:,}"),
        Column("p randomization", lambda p: p_value(p.p_sign_flip)),
        Column("p t", lambda p: p_value(p.p_t)),
        Column("min. detectable", lambda p: number(p.detectable, digits)),
        *(
            Column(f"rank flips at {100 * board.share:g} %", partial(_rank_flips, board))
            for board in shaken
            if not board.few
        ),
    ]
    return Sheet.of(
        comparison.pairs if shown is None else shown,
        columns,
        heading=[f"pairs  {comparison.metric} · {comparison.tested}"],
        footing=list(map(_leaderboard, shaken)),
        styles=STYLES,
    )


def verdict_sheets(
    comparison: Comparison,
    shaken: Sequence[ShakeUp] = (),
    *,
    pairs: bool = False,
    noun: str = "model",
) -> list[Sheet]:
    """Return the matrix of verdicts, and the table of pairs if it is asked for.

    A single pair, and the pairs with a baseline, have no matrix. `noun` is what is compared.
    """
    table = pair_table(comparison, shaken, noun=noun)
    if comparison.baseline is not None or len(comparison.pairs) < 2:
        return [table]
    sheet = matrix(comparison, noun)
    if pairs:
        return [sheet, table]
    sheet.footing.extend(table.footing)
    return [sheet]


def _verdict(pair: Pair) -> str:
    return f"{pair.verdict}, borderline" if pair.borderline else pair.verdict


def matrix(comparison: Comparison, noun: str = "model") -> Sheet:
    """Return the verdicts of all pairs as a table whose rows and columns are models."""
    names = [*comparison.means]
    borderline = {frozenset((p.one, p.other)) for p in comparison.pairs if p.borderline}
    ahead, behind = comparison.words
    signs: dict[str | None, str] = {ahead: "▲", behind: "▼", "tied": "=", None: ""}
    verdicts = {(p.one, p.other): p.verdict for p in comparison.pairs}
    verdicts |= {(p.other, p.one): OPPOSITE[p.verdict] for p in comparison.pairs}

    def cell(column: str, row: str) -> str:
        if column == row:
            return "·"
        sign = signs[verdicts.get((row, column))]
        return f"{sign}?" if frozenset((row, column)) in borderline else sign

    columns: list[Column[str]] = [
        Column("", lambda name: str(names.index(name) + 1)),
        Column(noun, printable, "name"),
        *(Column(str(n), partial(cell, name), "whole") for n, name in enumerate(names, 1)),
    ]
    legend = f"▲ {ahead} than the {noun} of the column, ▼ {behind}, = tied"
    legend += ", ? borderline: other draws could change the verdict" if borderline else ""
    return Sheet.of(
        names,
        columns,
        heading=[f"verdicts  {comparison.metric} · {comparison.tested}"],
        footing=[legend],
        styles=STYLES,
    )


def _leaderboard(shaken: ShakeUp) -> str:
    """Return how often a public leaderboard's first is not the private one's."""
    users = f"{shaken.public:,} of {counted(shaken.users, 'user')}"
    public = f"{100 * shaken.share:g} % public ({users})"
    if shaken.few:
        return f"leaderboards  {public}: not shown, too few users (under {FEW})"
    return (
        f"leaderboards  {public}: the public and the private leader differ in "
        f"{percent(shaken.leader_falls)} of {shaken.times:,} splits"
    )


def _rank_flips(shaken: ShakeUp, pair: Pair) -> str:
    """Return how often the two change their order between the leaderboards."""
    flip = shaken.flip_of(pair.one, pair.other)
    return percent(flip.changes) + (f", tied in {percent(flip.ties)}" if flip.ties else "")
