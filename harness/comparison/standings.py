"""Submissions against each other, on each leaderboard: the results and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.core.errors import counted, listed, printable
from harness.core.table import Column, Sheet, Shown, digits_of, ends, low_high, number
from harness.results.wording import compared_headline
from harness.scoring.score import left_out_lines
from harness.stats.intervals import Interval
from harness.stats.pairwise import Comparison, verdict_sheets
from harness.submission.rules import RULES

_SHOWN = 3


@dataclass(frozen=True)
class Standing:
    """A submission on one leaderboard.

    Attributes
    ----------
    submission : str
    rank : int
        1 is the best, or the highest where the metric calls neither end better; submissions with
        equal means share one.
    mean : float
    ci95 : (float, float), optional
    tied : tuple of str
        The submissions that the paired test cannot tell from it.
    borderline : tuple of str
        Those of whom other draws of the test could say otherwise, tied or not.
    best_rank, worst_rank : int
        How far it could move: behind those that are really better alone, or before those that are
        really worse alone (really higher and really lower, where neither end is better).
    """

    submission: str
    rank: int
    mean: float
    ci95: Interval | None
    tied: tuple[str, ...]
    borderline: tuple[str, ...]
    best_rank: int
    worst_rank: int


@dataclass(frozen=True)
class Board:
    """The submissions on one leaderboard.

    Attributes
    ----------
    name : str
        ``all``, ``Public`` or ``Private``.
    users : int
        Who are averaged.
    standings : tuple of Standing
        Best first.
    comparison : Comparison
        The pairs.
    """

    name: str
    users: int
    standings: tuple[Standing, ...]
    comparison: Comparison

    @property
    def digits(self) -> int:
        """Decimals of its means."""
        return digits_of(standing.mean for standing in self.standings)


@dataclass(frozen=True)
class Submitted:
    """What was read of a submission.

    Attributes
    ----------
    file : str
    left_out : mapping
        Counts of what was left out, and of users without a list.
    warnings, errors : int
        Of how many kinds are the problems of the file; those with errors were forced.
    codes : tuple of str
        These kinds.
    """

    file: str
    left_out: Mapping[str, int]
    warnings: int
    errors: int
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Shown):
    """Submissions ranked on each leaderboard; names are the keys of its JSON.

    Attributes
    ----------
    metric : str
    k : int, optional
        Positions that the evaluation set looks at.
    fingerprint : str, optional
        That of the evaluation set, where a config sets one.
    submissions : mapping of name to Submitted
    boards : tuple of Board
        All users, and where the solution says so those of the public and the private leaderboard.
    refused : mapping of name to text
        Submissions that are not ranked, and why.
    notes : tuple of str
    """

    metric: str
    k: int | None
    fingerprint: str | None
    submissions: dict[str, Submitted]
    boards: tuple[Board, ...]
    refused: dict[str, str]
    notes: tuple[str, ...]

    def sheets(self) -> list[Sheet]:
        """Return a table of the private leaderboard beside the public one, or of all users."""
        boards = {board.name: board for board in self.boards}
        last = boards.get("Private", self.boards[0])
        sheet = _ranks(self, last, boards.get("Public"))
        sheet.footing.extend(_notes(self))
        return [sheet]

    def records(self) -> list[dict[str, object]]:
        """Return one record a leaderboard and submission, in full precision; and of the refused."""
        ranked: list[dict[str, object]] = [
            {
                "board": board.name,
                **{
                    n: v
                    for n, v in vars(standing).items()
                    if n not in ("ci95", "tied", "borderline")
                },
                "tied": ", ".join(standing.tied),
                "borderline": ", ".join(standing.borderline),
                **low_high(standing.ci95),
                "forced": bool(self.submissions[standing.submission].errors),
                "error": "",
            }
            for board in self.boards
            for standing in board.standings
        ]
        blank = dict.fromkeys(ranked[0])
        return ranked + [
            blank | {"submission": name, "error": why} for name, why in self.refused.items()
        ]


@dataclass(frozen=True, eq=False, repr=False)
class ComparedSubmissions(Ranking):
    """A `Ranking` that is shown pair by pair."""

    def sheets(self, pairs: bool = False) -> list[Sheet]:
        """Return the ranks and verdicts of every leaderboard; `pairs`: every difference as well."""
        sheets = list[Sheet]()
        for board in self.boards:
            ranks = _ranks(self, board)
            ranks.heading[:0] = compared_headline(board.comparison, board.standings[0].ci95)
            verdicts = verdict_sheets(board.comparison, pairs=pairs, noun="submission")
            for sheet in verdicts if len(self.boards) > 1 else ():
                sheet.heading[0] = sheet.heading[0].replace("  ", f"  {board.name} · ", 1)
            sheets += [ranks, *verdicts]
        sheets[-1].footing.extend(_notes(self))
        return sheets

    def records(self) -> list[dict[str, object]]:
        """Return one record a leaderboard and pair, in full precision."""
        records = list[dict[str, object]]()
        for board in self.boards:
            means = board.comparison.means
            for pair, record in zip(
                board.comparison.pairs, board.comparison.records(), strict=True
            ):
                names = pair.one, pair.other
                forced = ", ".join(name for name in names if self.submissions[name].errors)
                mean = {"mean": means[pair.one], "mean of other": means[pair.other]}
                records.append({"board": board.name, **record, **mean, "forced": forced})
        return records


def _ranks(compared: Ranking, board: Board, public: Board | None = None) -> Sheet:
    """Return the table of a leaderboard, and beside it the ranks on the public one."""
    comparison, forced = board.comparison, compared.submissions

    def name(standing: Standing) -> str:
        return printable(standing.submission) + (
            " (forced)" if forced[standing.submission].errors else ""
        )

    def could_be(standing: Standing) -> str:
        ranks = dict.fromkeys((standing.best_rank, standing.worst_rank))
        return "–".join(map(str, ranks))

    def tied(standing: Standing) -> str:
        return listed([*map(printable, standing.tied)], _SHOWN)

    columns: list[Column[Standing]] = [
        Column("rank", lambda standing: str(standing.rank)),
        Column("submission", name, "name"),
        Column(compared.metric, lambda standing: number(standing.mean, board.digits)),
        Column("could be", could_be),
        Column("95 % interval", lambda standing: ends(standing.ci95, board.digits)),
    ]
    if public is not None:
        ranks = {standing.submission: standing.rank for standing in public.standings}
        means, digits = public.comparison.means, public.digits

        def moved(standing: Standing) -> str:
            places = ranks[standing.submission] - standing.rank
            return f"{places:+d}" if places else ""

        columns += [
            Column("public rank", lambda standing: str(ranks[standing.submission])),
            Column("moved", moved),
            Column("public", lambda standing: number(means[standing.submission], digits)),
        ]
    columns.append(Column("tied with", tied, "words"))
    parts = [counted(board.users, "user"), (compared.fingerprint or "")[:6], comparison.tested]
    heading = [f"{board.name}  {' · '.join(filter(None, parts))}"]
    if comparison.better == "neither":
        heading.append(
            f"rank 1 is the highest: for {compared.metric} neither high nor low is better"
        )
    ahead, behind = comparison.words
    footing = [
        f"could be   the ranks that the test allows: behind those that are really {ahead}, ahead "
        f"of those that are really {behind}",
        "tied with  the test finds no difference",
    ]
    near = [
        printable(f"{pair.one} and {pair.other} ({pair.verdict})")
        for pair in comparison.pairs
        if pair.borderline
    ]
    if near:
        footing.append(
            f"borderline  {listed(near, _SHOWN)}: other draws could change the verdict; use more "
            "--resamples"
        )
    return Sheet.of(board.standings, columns, heading=heading, footing=footing)


def _notes(compared: Ranking) -> list[str]:
    """Return the notes, what was left out of submissions, and which of them are not ranked."""
    lines = [f"note  {printable(note)}" for note in compared.notes]
    names: dict[str, list[str]] = {}
    for name, submitted in compared.submissions.items():
        parts = left_out_lines(submitted.left_out)
        faults = [f"{code} ({RULES[code].name})" for code in submitted.codes]
        errors, warnings = faults[: submitted.errors], faults[submitted.errors :]
        if errors:
            parts.append(f"scored with {counted(len(errors), 'error')}: {', '.join(errors)}")
        if warnings:
            parts.append(f"{counted(len(warnings), 'warning')}: {', '.join(warnings)}")
        if parts:
            names.setdefault("; ".join(parts), []).append(printable(name))
    lines += [f"note  {listed(same, _SHOWN)}: {text}" for text, same in names.items()]
    return lines + [f"not ranked  {printable(n)}: {why}" for n, why in compared.refused.items()]
