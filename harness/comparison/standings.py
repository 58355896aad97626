"""Submissions against each other, on each leaderboard: what was found, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from harness.core.errors import counted, printable
from harness.core.table import Column, Sheet, Shown, digits_of, ends, low_high, number
from harness.scoring.score import left_out_lines
from harness.stats.intervals import Interval
from harness.stats.pairwise import CORRECTED, Comparison, pair_table
from harness.stats.resampling import MOST_RESAMPLES


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
class ComparedSubmissions(Shown):
    """Submissions compared pair by pair, on each leaderboard; names are the keys of its JSON.

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
        """Return of every leaderboard the submissions and the pairs."""
        several = len(self.boards) > 1
        found = []
        for board in self.boards:
            found += [_submissions(self, board), pair_table(board.comparison)]
            if several:
                found[-1].heading[0] = found[-1].heading[0].replace("  ", f"  {board.name} · ", 1)
        return _with_notes(found, self)

    def records(self) -> list[dict[str, object]]:
        """Return one record a leaderboard and pair, in full precision."""
        records = list[dict[str, object]]()
        for board in self.boards:
            means = {standing.submission: standing.mean for standing in board.standings}
            for pair in board.comparison.records():
                one, other = str(pair["one"]), str(pair["other"])
                forced = ", ".join(name for name in (one, other) if self.submissions[name].errors)
                mean = {"mean": means[one], "mean of other": means[other], "forced": forced}
                records.append({"board": board.name, **pair, **mean})
        return records


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(ComparedSubmissions):
    """Submissions as `ComparedSubmissions`, shown by their ranks."""

    def sheets(self) -> list[Sheet]:
        """Return one table, a row a submission, in the order of the board that ranks them."""
        return _with_notes([_ranks(self)], self)

    def records(self) -> list[dict[str, object]]:
        """Return one record a leaderboard and submission, in full precision; and of the refused."""
        ranked: list[dict[str, object]] = [
            {
                "board": board.name,
                **{n: v for n, v in vars(one).items() if n not in ("ci95", "tied", "borderline")},
                "tied": ", ".join(one.tied),
                "borderline": ", ".join(one.borderline),
                **low_high(one.ci95),
                "forced": bool(self.submissions[one.submission].errors),
                "error": "",
            }
            for board in self.boards
            for one in board.standings
        ]
        nothing = dict.fromkeys(ranked[0])
        refused = self.refused.items()
        return ranked + [nothing | {"submission": name, "error": why} for name, why in refused]


def _submissions(found: ComparedSubmissions, board: Board) -> Sheet:
    columns: list[Column[Standing]] = [
        Column("submission", partial(_name, found), "name"),
        Column(found.metric, lambda s: number(s.mean, _digits(board))),
        Column("95 % interval", lambda s: ends(s.ci95, _digits(board))),
        Column("file", lambda s: printable(found.submissions[s.submission].file), "words"),
    ]
    return Sheet.of(board.standings, columns, heading=[_board_line(found, board)], kept=3)


def _name(found: ComparedSubmissions, one: Standing) -> str:
    forced = " (forced)" if found.submissions[one.submission].errors else ""
    return f"{printable(one.submission)}{forced}"


def _digits(board: Board) -> int:
    return digits_of(one.mean for one in board.standings)


def _board_line(found: ComparedSubmissions, board: Board) -> str:
    which = [] if found.fingerprint is None else [found.fingerprint[:6]]
    return f"{board.name}  {' · '.join([counted(board.users, 'user'), *which])}"


def _ranks(found: Ranking) -> Sheet:
    """Return the table of ranks: of the private leaderboard, or of all; beside the public one's."""
    boards = {board.name: board for board in found.boards}
    last = boards.get("Private", found.boards[0])
    columns: list[Column[Standing]] = [
        Column("rank", lambda s: str(s.rank)),
        Column("submission", partial(_name, found), "name"),
        Column(found.metric, lambda s: number(s.mean, _digits(last))),
        Column("could be", _range),
        Column("95 % interval", lambda s: ends(s.ci95, _digits(last))),
    ]
    if "Public" in boards:
        public = boards["Public"]
        own = {one.submission: one for one in public.standings}
        columns += [
            Column("public rank", lambda s: str(own[s.submission].rank)),
            Column("moved", partial(_moved, own)),
            Column("public", lambda s: number(own[s.submission].mean, _digits(public))),
        ]
    columns.append(Column("tied with", lambda s: _some(s.tied), "words"))
    pairs = counted(len(last.comparison.pairs), "pair")
    heading = [
        f"{_board_line(found, last)} · randomization test, {last.comparison.flips:,} draws, "
        f"{CORRECTED[last.comparison.correction]} over {pairs} · seed {last.comparison.seed}"
    ]
    ahead, behind = last.comparison.words
    if last.comparison.better == "neither":
        heading.append(f"rank 1 is the highest: by {found.metric} neither end is better")
    footing = [
        f"could be   from right behind those that are really {ahead} to right before those that "
        f"are really {behind}",
        "tied with  those that the test cannot tell apart from it",
        *_borderline(last),
    ]
    return Sheet.of(last.standings, columns, heading=heading, footing=footing, kept=4)


def _borderline(board: Board) -> list[str]:
    """Return which verdicts of the board that ranks other draws could change."""
    pairs = [pair for pair in board.comparison.pairs if pair.borderline]
    if not pairs:
        return []
    told = _some([f"{pair.one} and {pair.other} ({pair.verdict})" for pair in pairs])
    more = min(10 * board.comparison.flips, MOST_RESAMPLES)
    hint = f"; more leave fewer open: --resamples {more}" if more > board.comparison.flips else ""
    return [f"borderline  {told}: other draws could say otherwise{hint}"]


def _range(one: Standing) -> str:
    if one.best_rank == one.worst_rank:
        return str(one.best_rank)
    return f"{one.best_rank}–{one.worst_rank}"


def _moved(of: Mapping[str, Standing], one: Standing) -> str:
    """Return how many places it is further up than on another leaderboard."""
    places = of[one.submission].rank - one.rank
    return f"{places:+d}" if places else ""


_SHOWN = 3


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(printable(name) for name in names[:_SHOWN]) + more


def _with_notes(sheets: list[Sheet], found: ComparedSubmissions) -> list[Sheet]:
    """Return tables, the last with what was left out below it."""
    lines = [f"note  {note}" for note in found.notes]
    names: dict[str, list[str]] = {}
    for name, own in found.submissions.items():
        told = left_out_lines(own.left_out)
        told += [f"{counted(own.errors, 'kind')} of errors, forced"] if own.errors else []
        told += [f"{counted(own.warnings, 'kind')} of warnings"] if own.warnings else []
        if own.codes:
            told[-1] += f" ({', '.join(own.codes)})"
        if told:
            names.setdefault("; ".join(told), []).append(name)
    lines += [f"note  {_some(of)}: {told}" for told, of in names.items()]
    lines += [f"not ranked  {printable(name)}: {why}" for name, why in found.refused.items()]
    sheets[-1].footing.extend(lines)
    return sheets
