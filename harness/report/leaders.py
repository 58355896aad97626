"""The leaderboard of a folder of runs as tables, one an exam."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import printable
from harness.report.numbers import digits_of, ends, lift, number
from harness.report.sheet import STYLES, Sheet, chance_word

if TYPE_CHECKING:
    from harness.leaders import Entry, Group, Leaderboard

_SHORT = 6
_BETTER = {"higher": "", "lower": " · lower is better", "neither": " · neither end is better"}


def sheets(board: Leaderboard) -> list[Sheet]:
    """Return a table an exam; below the last, what is left out."""
    found = [_group(group) for group in board.groups]
    if board.left_out:
        lines = [f"left out  {printable(reason)}" for reason in board.left_out]
        found[-1].footing.extend(lines)
    return found


def _group(group: Group) -> Sheet:
    digits = digits_of(entry.mean for entry in group.entries)
    metric = printable(group.metric)
    titles = ["model", metric, "95 % interval", "run", "× chance", "against chance", "date"]
    titles += ["settings", "seed", "runs", "not as the first's config"]
    counted = f"{group.runs:,} run{'s' if group.runs > 1 else ''}"
    if group.without:
        counted += f", {group.without:,} without {metric} left out"
    heading = (
        f"exam   {printable(group.fingerprint[:_SHORT])} · k = {group.k} · {group.users:,} users · "
        f"{counted}{_BETTER[group.better]}"
    )
    rows = [_row(entry, digits) for entry in group.entries]
    words = frozenset({3, 5, 6, 7, 10})
    return Sheet(
        titles,
        rows,
        left=words | {0},
        heading=[heading],
        firm=frozenset({1, 2, 4}),
        wrapped=words,
        styles=STYLES,
    )


def _row(entry: Entry, digits: int) -> list[str]:
    return [
        printable(entry.model) + (f" · tuned × {entry.tuned:,}" if entry.tuned else ""),
        number(entry.mean, digits),
        ends(entry.ci95, digits),
        printable(entry.run),
        "" if entry.lift is None else lift(entry.lift),
        printable(chance_word(entry.verdict or "")),
        printable(entry.date[:16].replace("T", " ")),
        printable(entry.settings),
        "" if entry.seed is None else str(entry.seed),
        str(entry.runs),
        printable(", ".join(entry.differs)),
    ]


def records(board: Leaderboard) -> list[dict[str, object]]:
    """Return one record an entry with full figures."""
    return [
        {"fingerprint": group.fingerprint, "metric": group.metric, **_record(entry)}
        for group in board.groups
        for entry in group.entries
    ]


def _record(entry: Entry) -> dict[str, object]:
    low, high = entry.ci95 or (None, None)
    found = {name: value for name, value in vars(entry).items() if name != "ci95"}
    return found | {"low": low, "high": high, "differs": ", ".join(entry.differs)}
