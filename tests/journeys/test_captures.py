"""What commands show at terminals of 60, 80 and 120 columns, however long names are."""

import re
import shlex
import sys
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from shutil import rmtree

import pytest
import small
from conftest import COMMAND, Cli
from rich.cells import cell_len

from harness.core import table
from harness.core.table import Sheet, print_rich

WIDTHS = 60, 80, 120
LONG = "popularity over the days before the window, weighted by recency, settings "
MIDDLE = "nearest neighbours by the cosine of items, k = {}, shrinkage 10, of the last 30 days"
WIDE = "人気ランキング先週分と協調フィルタリングを混ぜたモデル"
NAMES = [f"{LONG}A", WIDE, f"{LONG}B", "a|b: repurchase | trending", f"{LONG}longer"]
NAMES += [MIDDLE.format(k) for k in (10, 100, 500)]
NAMES += [f"ALS with {factors} factors" for factors in (8, 16, 32, 64)]
COUNTS = 3, 12


def toml(*names: str, **sections: object) -> str:
    """Return a config of models whose metrics are those of every user, and of types of events."""
    models = [
        {**small.POPULAR, "name": name, "params": {"window_days": days}}
        for days, name in enumerate(names, 1)
    ]
    models[-1] |= sections.pop("keys", {})  # type: ignore[call-overload]
    metrics = {"metrics": ["MAP@12", "Recall@12", "NDCG@12"], "k": 12, "hits": ["sale", "a, b"]}
    of_all = {"evaluation": metrics, "compare": {"public_shares": [0.5], "resamples": 100}}
    return small.toml(models=models, data={"kind": "event"}, **of_all | sections)


TRUTH = "user_id,item_ids\nann,a b\nbob,c d\ncid,b\n"
LAST = {"strategy": "last_n", "n": 1}
FILES = {
    "log.csv": small.MANY.replace("view", '"a, b"'),
    **{f"{count}.toml": toml(*NAMES[:count]) for count in COUNTS},
    "folds.toml": toml(*NAMES[:3], split={"strategy": "time", "valid_days": 2, "folds": 2}),
    "tune.toml": toml(NAMES[0], keys={"space": {"window_days": [1, 5]}}, tune={"split": LAST}),
    "truth.csv": TRUTH,
    f"{LONG}A.csv": TRUTH,
    f"{LONG}B.csv": "user_id,item_ids\nann,a a x\nBob,c  d\ncid ,q\n",
    f"{WIDE}.csv": "user_id,item_ids\nann,x b\nbob,x c\ncid,b\n",
}
RUNS = {f"runs/{name}": f"{name}.toml" for name in (*COUNTS, "folds")}
BY = "--solution truth.csv"
SUBMISSIONS = f"{shlex.quote(f'{LONG}A.csv')} {WIDE}.csv truth.csv {BY}"
TWO = f"--model {shlex.quote(NAMES[0])} --model {shlex.quote(NAMES[2])}"
TABLES = [
    *(f"{command} runs/{count}" for count in COUNTS for command in ("compare", "compare --pairs")),
    *(f"run {count}.toml --out runs/{count}" for count in COUNTS),
    f"compare runs/12 --baseline {shlex.quote(NAMES[0])} --slices activity",
    f"compare {SUBMISSIONS} --pairs",
    "run folds.toml --verbose --out runs/folds",
    "leaderboard runs",
    f"leaderboard {SUBMISSIONS}",
    f"explain runs/12 {TWO} --most-different 1",
    f"explain {LONG.replace(' ', chr(92) + ' ')}A.csv --user ann --all {BY}",
    "score runs/12",
    f"score {WIDE}.csv --conventions {BY}",
    f"check runs/12 --at-least {shlex.quote(f'MAP@12 of {NAMES[0]} >= {NAMES[2]}')}",
    "tune tune.toml --search grid --force",
    *(f"list {topic}" for topic in ("baselines", "layouts", "checks", "datasets")),
]
TEXTS = [
    "list metrics",
    "list conventions",
    f"validate {shlex.quote(f'{LONG}B.csv')} {BY}",
    "init log.csv --out out/new.toml",
    f"submit 3.toml --model {WIDE} --out out/lists.csv",
    "split 3.toml --out out/files",
    "synth hm --users 20 --items 10 --events 90 --out out/made",
    "fetch ml-100k --out films",
    "--help",
]


@pytest.fixture(autouse=True)
def films(harness: Cli) -> None:
    small.films(Path("films"))


@pytest.mark.parametrize("line", TABLES)
def test_tables(harness: Cli, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets, plain = list[Sheet](), table.plain

    def kept(sheet: Sheet) -> str:
        sheets.append(sheet)
        return plain(sheet)

    monkeypatch.setattr(table, "plain", kept)
    _, _, err = harness(*shlex.split(line))
    assert sheets, err
    for sheet, width in product(sheets, WIDTHS):
        monkeypatch.setenv("COLUMNS", str(width))
        with redirect_stdout(StringIO()) as shown:
            print_rich(sheet)
        is_whole(shown.getvalue(), plain(sheet), width)


@pytest.mark.parametrize("line", [*TEXTS, *(f"{name} --help" for name in COMMAND.commands)])
def test_texts(harness: Cli, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(width: int) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        rmtree("out", ignore_errors=True)
        Path("out").mkdir()
        _, text, err = harness(*shlex.split(line))
        assert text, err
        return re.sub(r"\d+\.\d s\b", "", text)

    whole = shown(100)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for width in WIDTHS:
        is_whole(shown(width), whole, width)


def is_whole(shown: str, whole: str, width: int) -> None:
    """Check that no line is wider than a terminal, but for commands, and no word is broken.

    Words of more than 18 columns may be, in a table.
    """
    lines = [line for line in shown.splitlines() if not line.startswith("next  harness ")]
    assert [line for line in lines if cell_len(line) > width] == []
    words, hint = set(whole.split()), r"this terminal is too narrow for: .*? has all\)"
    long = " ".join(word for word in words if cell_len(word) > 18)
    parts = re.sub(hint, "", " ".join(shown.split())).split()
    parts = [word for word in parts if word == "…" or "…" not in word]  # else a name that is cut
    assert [part for part in parts if part not in words and part not in long] == []
