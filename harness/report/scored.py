"""A marked file as a table: figures for everyone and each board, or the audit of conventions."""

from __future__ import annotations

from harness.errors import printable
from harness.figures import Figure
from harness.metrics.conventions import CONVENTIONS
from harness.report.sheet import Sheet
from harness.scored import Scored
from harness.submission.problems import Validation

_DIGITS = 6


def sheets(scored: Scored) -> list[Sheet]:
    """Return the figures, and the audit where it was asked for."""
    found = [_figures(scored)]
    return found if scored.conventions is None else [*found, _audit(scored)]


def records(scored: Scored) -> list[dict[str, object]]:
    """Return one record a metric and one a convention, with full figures."""
    return [
        *(_record("metric", n, f.mean, f.ci95, scored) for n, f in scored.metrics.items()),
        *(_record("convention", n, v, None, scored) for n, v in (scored.conventions or {}).items()),
    ]


def _record(
    kind: str,
    name: str,
    value: float | None,
    ci95: tuple[float, float] | None,
    scored: Scored,
) -> dict[str, object]:
    low, high = ci95 or (None, None)
    boards = {board: figures.get(name) for board, figures in scored.boards.items()}
    return {
        "kind": kind,
        "name": name,
        "value": value,
        "low": low,
        "high": high,
        **{board: None if figure is None else figure.mean for board, figure in boards.items()},
    }


def _figures(scored: Scored) -> Sheet:
    boards = list(scored.boards)
    rows = [
        [name, _number(figure.mean), _ends(figure), *(_of_board(scored, b, name) for b in boards)]
        for name, figure in scored.metrics.items()
    ]
    return Sheet(
        ["metric", "mean", "95 % interval", *boards],
        rows,
        heading=_heading(scored),
    )


def _heading(scored: Scored) -> list[str]:
    paper = scored.paper
    exam = "" if paper.fingerprint is None else f" · {paper.fingerprint[:6]}"
    users = int(paper.counted.sum())
    lines = [f"paper  {printable(paper.title)} · {users:,} users{exam}"]
    counts = {name: count for name, count in paper.left_out.items() if count > 0}
    if counts.get("rows_outside") == counts.get("users_outside"):
        counts.pop("rows_outside", None)  # a row a user says nothing new
    lines += [f"note   {_NOTES[name]}: {count:,}" for name, count in counts.items()]
    return lines + _problems(scored.validation)


def _problems(found: Validation | None) -> list[str]:
    """Return a line on each kind of thing that is wrong with the file."""
    problems = () if found is None else found.problems
    lines = [
        f"{p.severity:8}{p.code} {p.message}" + (f" (× {p.count:,})" if p.count > 1 else "")
        for p in problems
    ]
    forced = found is not None and not found.valid
    return [*lines, *(["note   marked with its errors, as it was forced"] if forced else [])]


_NOTES = {
    "users_without_items": "users without true items, who are not averaged, as in H&M on Kaggle",
    "users_without_items_kept": "users without true items, who score 0",
    "users_without_list": "users without a list, who score 0",
    "users_outside": "users of the file who are not examined",
    "rows_outside": "rows of those users, left out",
    "users_ignored": "users whom the solution ignores",
    "items_unknown": "places that hold no candidate and never hit",
    "true_items_repeated": "true items that stand again, counted once",
}


def _audit(scored: Scored) -> Sheet:
    values = scored.conventions or {}
    own = values.get("ml_metrics" if scored.paper.averaged is None else "kaggle")
    rows = [
        [
            name,
            "not counted" if value is None else _number(value),
            "" if value is None or own is None else f"{value - own:+.{_DIGITS}f}",
            *(CONVENTIONS[name].to_dict()[key] for key in ("tools", "divisor", "repeats", "users")),
        ]
        for name, value in values.items()
    ]
    titles = [
        "convention",
        f"MAP@{scored.k}",
        "difference",
        "who prints it",
        "divisor D",
        "repeated item",
        "users averaged",
    ]
    words = frozenset({3, 4, 5, 6})
    return Sheet(titles, rows, left=words | {0}, kept=3, wrapped=words)


def _of_board(scored: Scored, board: str, metric: str) -> str:
    figure = scored.boards[board].get(metric)
    return "" if figure is None else _number(figure.mean)


def _ends(figure: Figure) -> str:
    return "" if figure.ci95 is None else " … ".join(map(_number, figure.ci95))


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}f}"
