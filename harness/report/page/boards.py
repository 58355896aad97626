"""The shake-up between a public and a private board, as a matrix of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.report.numbers import percent
from harness.report.page.view import Document, View
from harness.shakeup import FEW


@dataclass(frozen=True)
class Board:
    """One public share.

    Attributes
    ----------
    title, words : str
        The share, and what becomes of its leader.
    order : list of int
        The models, best first by their marks over all users.
    cells : mapping of (row, column) to (share, text)
        How often the two change places.
    """

    title: str
    words: str
    order: list[int]
    cells: dict[tuple[int, int], tuple[float, str]]


def boards(view: View) -> list[Board]:
    """Return every public share that was tried, if it is of users enough to tell anything."""
    tried = view.document["shake_up"]
    return [_board(view, found) for found in tried if found["pairs"] and found["public"] >= FEW]


def few(view: View) -> list[str]:
    """Return what is said of the others."""
    tried = view.document["shake_up"]
    return [
        f"{_title(found)}: not shown, as fewer than {FEW} users tell nothing."
        for found in tried
        if found["public"] < FEW
    ]


def _board(view: View, found: Document) -> Board:
    order = list(dict.fromkeys(view.at[p[end]] for p in found["pairs"] for end in ("one", "other")))
    cells: dict[tuple[int, int], tuple[float, str]] = {}
    for pair in found["pairs"]:
        cells[view.at[pair["one"]], view.at[pair["other"]]] = (
            float(pair["changes"]),
            percent(pair["changes"]),
        )
    return Board(_title(found), _words(found), order, cells)


def _title(found: dict[str, Any]) -> str:
    public, users = found["public"], found["users"]
    return f"{found['share'] * 100:g} % public: {public:,} of {users:,} users"


def _words(found: dict[str, Any]) -> str:
    how_often, times = percent(found["leader_falls"]), found["times"]
    return f"In {how_often} of {times:,} random divisions, no model is first on both boards."
