"""Whatever is given where something else is expected: it works, or is refused in one style."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import small

import harness
from harness.core.errors import HarnessError


class Model:
    """No recommender."""


PAIR = pl.DataFrame({"user": ["a"], "item": ["b"]})
BOTH = {"one": PAIR, "two": PAIR}
NOTHING: list[Any] = []
NOBODY: dict[str, Any] = {}
EMPTY = pd.DataFrame()
OTHERS: list[Any] = [{"a": 1}, Model, Model(), 1.5, True, [1], b"x", {1}, len]
ALL = [*OTHERS, NOTHING, NOBODY, EMPTY, PAIR, "nowhere", 7, np.zeros(3), pd.Series([1])]
CALLS: dict[str, Callable[[Any], Any]] = {
    "run": harness.run,
    "run, models": lambda it: harness.run(events=PAIR, split={}, models=it),
    "run, split": lambda it: harness.run(events=PAIR, split=it, models={"m": Model}),
    "run, data": lambda it: harness.run(data=it, split={}, models={"m": Model}),
    "tune": harness.tune,
    "split": lambda it: harness.split(it, "out"),
    "check": lambda it: harness.check(it, "MAP@2 of m >= 0"),
    "check, conditions": lambda it: harness.check("run", it),
    "validate": lambda it: harness.validate(it, solution=PAIR),
    "score": lambda it: harness.score(it, solution=PAIR),
    "score, metrics": lambda it: harness.score(PAIR, solution=PAIR, metrics=it),
    "score, k": lambda it: harness.score(PAIR, solution=PAIR, k=it),
    "compare": harness.compare,
    "compare, one": lambda it: harness.compare({"one": PAIR, "two": it}, solution=PAIR),
    "compare, metric": lambda it: harness.compare(BOTH, solution=PAIR, metric=it),
    "compare, k": lambda it: harness.compare(BOTH, solution=PAIR, k=it),
    "leaderboard": harness.leaderboard,
    "leaderboard, files": lambda it: harness.leaderboard(it, solution=PAIR),
    "evaluate": lambda it: harness.evaluate(it, PAIR, "MAP@3"),
    "evaluate, truth": lambda it: harness.evaluate(PAIR, it, "MAP@3"),
    "evaluate, metrics": lambda it: harness.evaluate(PAIR, PAIR, it),
    "conventions, k": lambda it: harness.conventions(PAIR, PAIR, it),
    "validate, solution": lambda it: harness.validate(PAIR, solution=it),
    "validate, config": lambda it: harness.validate(PAIR, config=it),
    "score, solution": lambda it: harness.score(PAIR, solution=it),
    "score, config": lambda it: harness.score(PAIR, config=it),
    "compare, solution": lambda it: harness.compare(BOTH, solution=it),
    "compare, config": lambda it: harness.compare(BOTH, config=it),
}
WORKS: dict[str, list[Any]] = {
    "validate": [PAIR, EMPTY, "nowhere"],
    "validate, solution": [PAIR],
    "score": [PAIR],
    "score, solution": [PAIR],
    "score, metrics": [NOTHING],
    "score, k": [7],
    "conventions, k": [7],
    "evaluate": [PAIR, NOTHING, NOBODY],
    "evaluate, truth": [PAIR],
}
"""What is no mistake, or what validate tells the mistakes of."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in "run", which is only read."""
    folder = tmp_path_factory.mktemp("here")
    harness.run(small.config(folder, small.POPULAR, small.RANDOM)).write(folder / "run")
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("call", CALLS)
def test_it_works_or_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """By an error that is no page long."""
    monkeypatch.chdir(run)
    works = WORKS.get(call, [])
    for it in works:
        CALLS[call](it)
    for it in (it for it in ALL if not any(it is callable_ for callable_ in works)):
        with pytest.raises(HarnessError) as caught:
            CALLS[call](it)
        assert 0 < len(str(caught.value)) < 600
