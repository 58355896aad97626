"""From 60 columns on no command cuts or wraps a figure, however long names are."""

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import small
from conftest import Cli

SHARED = "neighbours of items in the log of a shop, with shrinkage, counts and half-life"
NAMES = [f"{SHARED}, cosine", f"{SHARED}, tf-idf", "last", f"best {SHARED}, cosine"]


def toml(*names: str, **keys: Any) -> str:
    models = [
        {"name": name, "use": "baselines.popular:Popular", "params": {"window_days": 9 - n}}
        for n, name in enumerate(names)
    ]
    metrics = {"metrics": ["MAP@2", "Recall@2", "NDCG(ideal=retrieved)@2"]}
    compare = {"public_shares": [0.5], "resamples": 100}
    sections = {"evaluation": metrics, "compare": compare, "tune": {"trials": 4}}
    return small.toml(models[0] | keys, *models[1:], **sections)


FILES = {
    "log.csv": small.LOG + "bob,a,2020-01-07\n",  # the day that is tuned on
    "shop.toml": toml(*NAMES),
    "tune.toml": toml(NAMES[0], space={"window_days": [1, 6], "half_life_days": [0.5, 2.0]}),
    "truth.csv": "user,items\nann,a b c\nbob,c\ncid,a\n",
    "lists.csv": "user,items\nann,a a b\nbob,x c\n",
    "bad.csv": "user,items\nann,a a b\nann,x c\n" + "".join(f"u{i},a\n" for i in range(1200)),
}
RUNS = {"first": "shop.toml"}
COMMANDS = {
    "run": "run shop.toml --out again",
    "run -v": "run shop.toml --out again -v",
    "compare": "compare first --slices truth",
    "leaderboard": "leaderboard .",
    "score": "score lists.csv --solution truth.csv --k 2 --conventions",
    "explain": "explain first --model last --worst 1",
    "validate": "validate bad.csv --solution truth.csv",
    "tune": "tune tune.toml --force --search grid",
    "list": "list conventions",
}
WIDTHS = (0, 40, 60, 80, 200)
"""Below 60 something is printed, and nothing more is asked."""

Printed = Callable[[str, int | None], str]


@pytest.fixture
def printed(harness: Cli, monkeypatch: pytest.MonkeyPatch) -> Printed:
    """Return a function: a command and a width in, what a terminal (or a pipe) shows out."""

    def call(line: str, width: int | None) -> str:
        monkeypatch.setenv("COLUMNS", str(80 if width is None else width))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: width is not None)
        return re.sub(r"\x1b\[[0-9;]*m", "", harness(*line.split())[1])

    return call


def figures(text: str) -> set[str]:
    """Return every token of digits, with the signs that belong to it; times apart."""
    text = re.sub(r"\d+\.\d+ s\b", "", text)
    return set(re.findall(r"[<>+-]?\d(?:[\d.,:/-]*\d)?", text))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_figure_is_whole(printed: Printed, command: str) -> None:
    whole = printed(COMMANDS[command], None)
    if command == "run":  # a pipe has no width
        assert [name for name in (*NAMES, "NDCG(ideal=retrieved)@2") if name not in whole] == []
    for width in WIDTHS:
        shown = printed(COMMANDS[command], width)
        assert shown.strip()
        if width < 60:
            continue
        assert figures(shown) - figures(whole) == set()
        for line in shown.splitlines():
            assert len(line) <= width
            assert not re.search(r"^\s*[…×±]|\d\.\d+ […×]$|±$", line)  # an interval on two lines
